"""Blocks of a CSV without quotes: where each cell of some thousand rows ends, found by numpy in one look.

Every report that TTNN writes is plain: ATTRIBUTES has ';' for ',', and no cell is quoted. Its header line tells where
the rows begin, how they end, and their fields. A file that is not plain (quotes, different line ends, a row with
another number of fields) is left to a parser of CSV.
"""

from __future__ import annotations

import os

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.records import dataclass

LEAD_BYTES = 16  # read before the first row: a number is loaded as the 16 bytes before its end
LINE_BYTES = 1 << 17  # of the last row, which may end beyond the block; the longest real one has 3 kB
QUOTE = b'"'
NOT_PLAIN = (QUOTE, b"\0")
LINE_ENDS = (b"\r\n", b"\n")  # Python's csv module writes the first
BLOCK_BYTES = 1_048_576  # with what is computed of it, it fits into the cache of a core
SEPARATOR, RETURN, NEWLINE = b",\r\n"


@dataclass(frozen=True, slots=True)
class Block:
    """Whole rows.

    Attributes:
        contents: bytes of the file, `LEAD_BYTES` or more before the first row.
        rows: how many rows there are.
        before: the place before each cell in the contents, that of a separator; shape (rows, fields).
        after: the place after each cell, in the same way; after a row's last cell, that of its line end.
    """

    contents: bytes
    rows: int
    before: Integers
    after: Integers


def block_at(descriptor: int, begin: int, end: int, shape: RowShape) -> Block | None:
    """The rows that begin at `begin` or after it and before `end`; None if they are not plain.

    Args:
        descriptor: of the open file.
        begin: a place in the file, after the header.
        end: another place.
        shape: what all rows of the file share.

    Raises:
        OSError: the file cannot be read.
    """
    before = begin - 1 - LEAD_BYTES  # the byte at begin - 1 tells whether a row begins at `begin`
    until = min(end + LINE_BYTES, shape.size)
    contents = os.pread(descriptor, until - before, before)
    if len(contents) != until - before:
        return None  # it became shorter
    if until == shape.size:
        contents += shape.line_end  # the last row may end with the file
    first = contents.find(b"\n", LEAD_BYTES) + 1
    last = contents.find(b"\n", end - 1 - before) + 1  # 0 where a line is too long: then nothing separates
    cells = np.frombuffer(contents, dtype=np.uint8, count=last)
    separates = cells <= RETURN  # carriage returns and line feeds; whatever else is no text either
    separates[: first - 1] = False  # all but the line feed before the first row
    controls = int(np.count_nonzero(separates))
    separates |= cells == SEPARATOR
    separates[: first - 1] = False
    places: Integers = separates.nonzero()[0]
    width = shape.fields - 1 + len(shape.line_end)  # separators of a row: a carriage return ends its last cell
    rows = (len(places) - 1) // width
    feeds = places[::width]
    if (
        len(places) != rows * width + 1
        or controls != rows * len(shape.line_end) + 1
        or not (cells[feeds] == NEWLINE).all()
        or (len(shape.line_end) > 1 and not (cells[places[width - 1 :: width]] == RETURN).all())
        or contents.find(QUOTE, first, last) >= 0
    ):
        return None
    before, after = (np.reshape(side, (rows, width))[:, : shape.fields] for side in (places[:-1], places[1:]))
    return Block(contents, rows, before, after)


@dataclass(frozen=True, slots=True)
class RowShape:
    """What all rows of a file share.

    Attributes:
        begin: where the first row begins.
        size: bytes of the file.
        fields: cells of a row.
        line_end: the bytes that end each line.
    """

    begin: int
    size: int
    fields: int
    line_end: bytes


def shape_of(descriptor: int, fields: int) -> RowShape | None:
    """The shape by the header line; None if that is not plain.

    Raises:
        OSError: the file cannot be read.
    """
    start = os.pread(descriptor, LINE_BYTES, 0)
    begin = start.find(b"\n") + 1
    line_end = next((mark for mark in LINE_ENDS if start.endswith(mark, 0, begin)), b"")
    quoted = any(mark in start[:begin] for mark in NOT_PLAIN)
    if begin <= LEAD_BYTES or quoted or start.count(b"\r", 0, begin) != len(line_end) - 1:
        return None
    return RowShape(begin, os.fstat(descriptor).st_size, fields, line_end)
