"""The columns of a plain CSV (no quotes, equal rows), read block by block with numpy.

It takes a quarter of the time of a parser of CSV (200,000 rows: 0.8 s of CPU, pandas 3.5): a report repeats its texts
from iteration to iteration, and its numbers are whole. Texts of fields side by side repeat together, so they are looked
up together. Whatever is not plain is not read here at all, so that there is one reading of an odd file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ttnn_mcp.arrays import Booleans, Codes, Floats, Integers
from ttnn_mcp.readers.performance.cells import is_number
from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.readers.performance.plain_blocks import BLOCK_BYTES, block_at, shape_of
from ttnn_mcp.readers.performance.plain_numbers import Numbers
from ttnn_mcp.readers.regular_file import opened

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from ttnn_mcp.readers.performance.header import Header
    from ttnn_mcp.readers.performance.plain_blocks import Block, RowShape

KNOWN_BYTES_AT_MOST = 1 << 26  # of different texts of one group; real reports have some hundred kB
ROOM = 1.05  # for the rows to come, if they are as long as the ones before
# What a block takes is freed with it. glibc gives freed memory back to the system, and each page costs time when it
# is asked for again, unless a larger piece was freed before (mallopt(3): M_MMAP_THRESHOLD grows with it). Measured
# with 200,000 rows: 165,000 page faults and 0.4 s without, 2,400 with. With a million rows a column has 8 MB.
FREED_BYTES = 16_777_216  # unmoved: it only spares time
Number = TypeVar("Number", bound=np.generic)


class Wanted(NamedTuple):
    """What is asked of the rows.

    Attributes:
        columns: place of each field that is read -> its column (our name, or the operand's header).
        blanks: texts that mean an empty cell.
        rows_at_most: reading ends some rows beyond so many.
    """

    columns: dict[int, str]
    blanks: tuple[str, ...]
    rows_at_most: int


class PlainRows:
    """Rows of one file on their way into columns.

    Attributes:
        rows: how many were read.
        groups: fields of text that stand side by side.
        is_filled: which number columns have a number.
        numbers: shape (number columns, rows and room for more); the blank columns hold anything.
        texts: the number of each row's text by group, shape (groups, rows and room for more).
    """

    def __init__(self, descriptor: int, shape: RowShape, wanted: Wanted) -> None:
        self._descriptor = descriptor
        self._shape = shape
        self._wanted = wanted
        places = sorted(wanted.columns)
        self._number_places: Integers = np.array(
            [place for place in places if is_number(wanted.columns[place])], dtype=np.int64
        )
        self._numbers = Numbers(wanted.blanks)
        self.groups = _grouped([place for place in places if not is_number(wanted.columns[place])])
        self.numbers: Floats = np.empty((len(self._number_places), 0))
        self.texts: Codes = np.empty((len(self.groups), 0), dtype=np.int32)
        self.is_filled: Booleans = np.zeros(len(self.numbers), dtype=np.bool_)
        self.rows = 0

    def read(self) -> bool:
        """Read the rows, until there are more than are asked for; False where they are not plain.

        Raises:
            OSError: the file cannot be read.
        """
        np.empty(FREED_BYTES, dtype=np.uint8)  # freed at once
        begin, end = self._shape.begin, self._shape.size
        for at, until in pairwise((*range(begin, end, BLOCK_BYTES), end)):
            if self.rows > self._wanted.rows_at_most:
                break
            block = block_at(self._descriptor, at, until, self._shape)
            if block is None or not self._add(block, (end - begin) / (until - begin)):
                return False
        return True

    def _fill(self, columns: Integers, until: int) -> None:
        """Note that these columns have numbers in the next rows, up to `until`, and that the others have none there."""
        new = columns[~self.is_filled[columns]]
        self.numbers[new, : self.rows], self.is_filled[new] = np.nan, True
        others = np.array(self.is_filled)
        others[columns] = False
        self.numbers[others, self.rows : until] = np.nan

    def frame(self) -> Frame:
        """All rows as columns."""
        filled = self.is_filled.tolist()
        numbers = [values[: self.rows * is_filled] for values, is_filled in zip(self.numbers, filled, strict=True)]
        by_place: dict[int, TextColumn | Floats] = dict(zip(self._number_places.tolist(), numbers, strict=True))
        for group, codes in zip(self.groups, self.texts[:, : self.rows], strict=True):
            for place, (distinct, parts) in enumerate(group.columns(self._wanted.blanks), group.first):
                small = parts.astype(np.min_scalar_type(-max(len(distinct), 1)))
                by_place[place] = TextColumn(small[codes], tuple(distinct), codes)
        return Frame(self.rows, {self._wanted.columns[place]: by_place[place] for place in sorted(by_place)})

    def _add(self, block: Block, share: float) -> bool:
        """Add the rows of a block; `share` is the bytes of all blocks as a multiple of those up to its end."""
        read = self._numbers.of(block, self._number_places)
        texts = [group.of(block) for group in self.groups]
        known = [codes for codes in texts if codes is not None]
        if read is None or len(known) < len(texts):
            return False
        until = self.rows + block.rows
        if until > self.texts.shape[1]:
            # a large page (2 MB) is cleared for the first cell of each column: small reports get small columns
            room = max(until, int(min(until * share * ROOM, self._wanted.rows_at_most + block.rows)))
            self.numbers = _widened(self.numbers, self.rows, room)
            self.texts = _widened(self.texts, self.rows, room)
        columns, numbers = read
        self._fill(columns, until)
        for column, values in zip(columns.tolist(), numbers, strict=True):
            self.numbers[column, self.rows : until] = values
        for group, codes in enumerate(known):
            self.texts[group, self.rows : until] = codes
        self.rows = until
        return True


def _grouped(places: list[int]) -> list[TextGroup]:
    """One group for each run of places side by side."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return [TextGroup(run[0], run[-1]) for run in runs]


def _widened(columns: NDArray[Number], rows: int, room: int) -> NDArray[Number]:
    wider = np.empty((len(columns), room), dtype=columns.dtype)
    wider[:, :rows] = columns[:, :rows]
    return wider


class TextGroup:
    """Fields from `first` to `last`, side by side: one number per row, each distinct text stored once."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self._known: dict[bytes, int] = {}
        self._known_bytes = 0

    def of(self, block: Block) -> Codes | None:
        """The number of each row's text; None if too many differ."""
        contents, number_of = block.contents, self._known.get
        begins: list[int] = (block.before[:, self.first] + 1).tolist()
        ends: list[int] = block.after[:, self.last].tolist()
        codes = [number_of(contents[begin:end], -1) for begin, end in zip(begins, ends, strict=True)]
        numbers = np.array(codes, dtype=np.int32)
        for row in np.flatnonzero(numbers < 0).tolist():
            numbers[row] = self._number(contents[begins[row] : ends[row]])
        return None if self._known_bytes > KNOWN_BYTES_AT_MOST else numbers

    def _number(self, text: bytes) -> int:
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self._known)
            self._known_bytes += len(text)
        return number

    def columns(self, blanks: Sequence[str]) -> list[tuple[list[str], Codes]]:
        """Per field: its distinct texts in order, and the place of each group text's part among them (-1 = blank)."""
        columns: list[tuple[list[str], Codes]] = []
        for cells in zip(*(text.split(b",") for text in self._known), strict=True):
            texts = [cell.decode("utf-8", errors="replace") for cell in cells]
            distinct = sorted(set(texts).difference(blanks))
            place = {text: number for number, text in enumerate(distinct)}
            columns.append((distinct, np.array([place.get(text, -1) for text in texts], dtype=np.int32)))
        return columns or [([], np.zeros(0, dtype=np.int32))] * (self.last - self.first + 1)


def plain_frame(path: Path, header: Header, rows_at_most: int, blanks: tuple[str, ...]) -> Frame | None:
    """The columns of the file at `path`, at most some more rows than `rows_at_most`; None if it is not plain."""
    wanted = Wanted(header.read, blanks, rows_at_most)
    try:
        with opened(path, buffering=0) as file:
            before = os.fstat(file.fileno())
            rows = _plain_rows(file.fileno(), len(header.names), wanted)
            after = os.fstat(file.fileno())
    except OSError:
        return None  # reading it the other way says what is wrong
    is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return rows.frame() if rows is not None and is_same else None


def _plain_rows(descriptor: int, fields: int, wanted: Wanted) -> PlainRows | None:
    shape = shape_of(descriptor, fields)
    rows = None if shape is None else PlainRows(descriptor, shape, wanted)
    return rows if rows is not None and rows.read() else None
