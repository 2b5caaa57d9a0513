"""The bytes of a CSV on their way to the parser: an impossible file is refused before the parser reads all of it.

Otherwise an endless line, a quote that is never closed or a block of NULs would fill the memory first. And pandas
leaves out the fields beyond the header without a word where columns are chosen by name. But a row is too long because a
text holds a comma without quotes: the cells behind it stand under the wrong headers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ttnn_mcp.errors import ReportBroken, ReportMissing, shown, shown_path
from ttnn_mcp.readers.performance.header import does_not_read
from ttnn_mcp.readers.regular_file import opened

_SEPARATOR, _NEWLINE, _QUOTE = b',\n"'  # as numbers
LINE_BYTES = 1 << 20  # the longest real line has 3 kB; a cell comes from one of Tracy's messages, at most 64 KiB
QUOTE, NEWLINE = b'"', b"\n"


class CsvBytes:
    """A file for pandas to read from: `read` returns bytes, up to the size that the file had when it was opened.

    Attributes:
        tail: the bytes after the last line break so far.
        lengths: of the rows so far.
    """

    def __init__(self, path: Path, fields: int) -> None:
        self._path = path
        try:
            self._file = opened(path, buffering=0)
        except OSError as failed:
            raise ReportMissing(f"{shown_path(path)} cannot be opened ({failed.strerror}).") from None
        self._size = self._left = os.fstat(self._file.fileno()).st_size
        self._quoted = False  # whether the next byte is inside quotes
        self._cell = 0  # bytes since the quote was opened, counted in whole blocks
        self.tail = b""
        self.lengths = RowLengths(fields)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __iter__(self) -> Iterator[bytes]:  # pandas accepts only files that can be iterated
        while block := self.read(LINE_BYTES):
            yield block

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`.

        Raises:
            ReportBroken: they hold NULs, a line that is too long, or a quote that is never closed; or reading fails.
        """
        count = self._left if size < 0 else min(size, self._left)
        try:
            block = self._file.read(count)
        except OSError as failed:
            raise ReportBroken(f"{shown(self._path.name)} cannot be read to its end ({failed.strerror}).") from None
        self._left = self._left - len(block) if block else 0
        self._look_at(block)
        return block

    @property
    def caveats(self) -> list[str]:
        """One sentence if the file grew or shrank while it was read; otherwise empty."""
        delivered = self._file.tell()
        current_size = os.fstat(self._file.fileno()).st_size
        if delivered < self._size or current_size < self._size:
            return ["the file became shorter while it was read: rows are missing, read it again"]
        if current_size > self._size:
            return ["the file grew while it was read: what was added is left out"]
        return []

    def _look_at(self, block: bytes) -> None:
        name = shown(self._path.name)
        if b"\0" in block:
            raise ReportBroken(f"{name} holds NUL bytes: it is binary, or was not written to its end.")
        last_break = block.rfind(NEWLINE)
        first_line = len(self.tail) + (block.find(NEWLINE) if last_break >= 0 else len(block))
        self.tail = block[last_break + 1 :] if last_break >= 0 else self.tail + block
        if first_line > LINE_BYTES:
            raise ReportBroken(f"{name} has a line of more than {LINE_BYTES} bytes: it is no performance report.")
        self.lengths.add(block)
        quotes = block.count(QUOTE)
        self._cell = self._cell + len(block) if self._quoted and not quotes else 0
        if self._cell > LINE_BYTES:
            raise ReportBroken(does_not_read(self._path))
        self._quoted ^= quotes % 2 == 1


class RowLengths:
    """Counts separators outside of quotes, line by line.

    Attributes:
        may_be_long: whether a row has more fields than the header; a stray quote inside a cell may mislead it.
    """

    def __init__(self, fields: int) -> None:
        self._separators_at_most = fields - 1
        self._is_quoted = False  # whether the next byte is inside quotes
        self._separators = 0  # in the line so far
        self.may_be_long = False

    def add(self, block: bytes) -> None:
        """Take the next bytes into account."""
        if not block:
            return
        cells = np.frombuffer(block, dtype=np.uint8)
        outside = np.logical_xor.accumulate(cells == _QUOTE) == self._is_quoted
        ends = np.flatnonzero((cells == _NEWLINE) & outside)
        separators = ((cells == _SEPARATOR) & outside).view(np.uint8)
        counts = np.add.reduceat(separators, [0, *ends.tolist()], dtype=np.int32)  # at last the line that goes on
        counts[0] += self._separators
        self._separators = int(counts[-1])
        self._is_quoted = not outside[-1]
        self.may_be_long |= bool((counts > self._separators_at_most).any())
