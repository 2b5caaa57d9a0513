"""The columns of a plain CSV (no quotes, equal rows), read block by block with numpy.

It takes a quarter of the time of a parser of CSV: a report repeats its texts from iteration to iteration, and its
numbers are whole. Whatever is not plain is not read here at all, so that there is one reading of an odd file.
"""

from __future__ import annotations

import os
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ttnn_mcp.readers.ordered_work import in_order
from ttnn_mcp.readers.performance.cells import is_number
from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.readers.performance.plain_blocks import BLOCK_BYTES, block_at
from ttnn_mcp.readers.performance.plain_numbers import Numbers
from ttnn_mcp.readers.performance.plain_texts import TextGroup
from ttnn_mcp.readers.performance.row_shape import LEAD_BYTES, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from ttnn_mcp.readers.checksum import RunningChecksum
    from ttnn_mcp.readers.performance.header import Header
    from ttnn_mcp.readers.performance.row_shape import RowShape

ROOM = 1.05  # for the rows to come, if they are as long as the ones before
# What a block takes is freed with it. glibc gives freed memory back to the system, and each page costs time when it
# is asked for again, unless a larger piece was freed before (mallopt(3): M_MMAP_THRESHOLD grows with it). Measured
# with 200,000 rows: 165,000 page faults and 0.4 s without, 2,400 with. With a million rows a column has 8 MB.
FREED_BYTES = 1 << 24


Number = TypeVar("Number", bound=np.generic)


class _Read(NamedTuple):
    """What one block holds: its checksum, its rows, the number columns that are not blank, numbers and texts."""

    checksum: int
    rows: int
    filled: NDArray[np.int64]
    numbers: NDArray[np.float64]
    texts: list[NDArray[np.int32]]


class PlainRows:
    """One file on its way into columns."""

    def __init__(
        self,
        descriptor: int,
        header: Header,
        rows_at_most: int,
        blanks: tuple[str, ...],
        running_sum: RunningChecksum | None,
    ) -> None:
        self._descriptor = descriptor
        self._running_sum = running_sum
        self._fields = len(header.names)
        self._rows_at_most = rows_at_most
        self._blanks = blanks
        places = sorted(header.read)
        self._names = [header.read[place] for place in places]
        self._number_places: NDArray[np.int64] = np.array(
            [p for p in places if is_number(header.read[p])], dtype=np.int64
        )
        self._text_names, self._groups = _grouped([p for p in places if not is_number(header.read[p])], header)
        self._number_names = [header.read[place] for place in self._number_places.tolist()]
        self._numbers = Numbers(blanks)

    def frame(self) -> Frame | None:
        """The columns; None if the file is not plain.

        Raises:
            OSError: it cannot be read.
        """
        before = os.fstat(self._descriptor)
        shape = shape_of(self._descriptor, self._fields)
        columns = self._columns(shape) if shape else None
        after = os.fstat(self._descriptor)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            return None
        return columns

    def _columns(self, shape: RowShape) -> Frame | None:
        numbers: NDArray[np.float64] = np.empty((len(self._number_places), 0))
        texts: NDArray[np.int32] = np.empty((len(self._groups), 0), dtype=np.int32)
        is_filled = np.zeros(len(numbers), dtype=np.bool_)
        rows = 0
        np.empty(FREED_BYTES, dtype=np.uint8)  # freed at once
        if self._running_sum is not None:
            self._running_sum.add(zlib.crc32(os.pread(self._descriptor, shape.begin, 0)), shape.begin)
        for read, begin, end in self._blocks(shape):
            if read is None:
                return None
            if self._running_sum is not None:
                self._running_sum.add(read.checksum, end - begin)
            until = rows + read.rows
            if until > texts.shape[1]:
                # a large page (2 MB) is cleared for the first cell of each column: small reports get small columns
                room = max(until, int(min(until * shape.size / end * ROOM, self._rows_at_most + read.rows)))
                numbers, texts = _widened(numbers, rows, room), _widened(texts, rows, room)
            new = read.filled[~is_filled[read.filled]]
            numbers[new, :rows], is_filled[new] = np.nan, True
            numbers[is_filled, rows:until] = np.nan
            for place, values in zip(read.filled.tolist(), read.numbers, strict=True):
                numbers[place, rows:until] = values
            for group, codes in enumerate(read.texts):
                texts[group, rows:until] = codes
            rows = until
            if rows > self._rows_at_most:
                break
        columns = [values[: rows * filled] for values, filled in zip(numbers, is_filled.tolist(), strict=True)]
        return self._as_frame(columns, texts[:, :rows])

    def _blocks(self, shape: RowShape) -> Iterator[tuple[_Read | None, int, int]]:
        """What each block holds, in order (None for one that is not plain), where it begins and where it ends."""
        begins = range(shape.begin, shape.size, BLOCK_BYTES)
        ends = [min(begin + BLOCK_BYTES, shape.size) for begin in begins]
        reads = in_order(lambda piece: self._read(*piece, shape), list(zip(begins, ends, strict=True)))
        with closing(reads):
            yield from zip(reads, begins, ends, strict=True)

    def _read(self, begin: int, end: int, shape: RowShape) -> _Read | None:
        block = block_at(self._descriptor, begin, end, shape)
        if block is None:
            return None
        numbers = self._numbers.of(block, self._number_places)
        if numbers is None:
            return None
        texts = [group.of(block) for group in self._groups]
        known = [codes for codes in texts if codes is not None]
        checksum = (
            0
            if self._running_sum is None
            else zlib.crc32(memoryview(block.contents)[LEAD_BYTES + 1 :][: end - begin])
        )
        return _Read(checksum, block.rows, *numbers, known) if len(known) == len(texts) else None

    def _as_frame(self, numbers: list[NDArray[np.float64]], texts: NDArray[np.int32]) -> Frame:
        columns: dict[str, TextColumn | NDArray[np.float64]] = dict(zip(self._number_names, numbers, strict=True))
        for group, codes in zip(self._groups, texts, strict=True):
            for place, (distinct, parts) in enumerate(group.columns(self._blanks), group.first):
                small = parts.astype(np.min_scalar_type(-max(len(distinct), 1)))
                columns[self._text_names[place]] = TextColumn(small[codes], tuple(distinct), codes)
        return Frame(texts.shape[1], {name: columns[name] for name in self._names})


def plain_frame(
    path: Path,
    header: Header,
    rows_at_most: int,
    blanks: tuple[str, ...],
    running_sum: RunningChecksum | None = None,
) -> Frame | None:
    """The columns of the file at `path`, at most some more rows than `rows_at_most`; None if it is not plain.

    `running_sum` gets the checksum of every block that is read.
    """
    try:
        with path.open("rb", buffering=0) as file:
            return PlainRows(file.fileno(), header, rows_at_most, blanks, running_sum).frame()
    except OSError:
        return None  # reading it the other way says what is wrong


def _grouped(places: list[int], header: Header) -> tuple[dict[int, str], list[TextGroup]]:
    """The names of text fields by their places, and one group for each run of places side by side."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return {place: header.read[place] for place in places}, [TextGroup(run[0], run[-1]) for run in runs]


def _widened(columns: NDArray[Number], rows: int, room: int) -> NDArray[Number]:
    wider = np.empty((len(columns), room), dtype=columns.dtype)
    wider[:, :rows] = columns[:, :rows]
    return wider
