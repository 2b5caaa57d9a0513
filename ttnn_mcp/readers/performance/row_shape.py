"""What all rows of a plain CSV share, told by its header line: where they begin, how they end, and their fields."""

from __future__ import annotations

import os

from ttnn_mcp.records import dataclass

LEAD_BYTES = 16  # read before the first row: a number is loaded as the 16 bytes before its end
LINE_BYTES = 1 << 17  # of the last row, which may end beyond the block; the longest real one has 3 kB
QUOTE = b'"'
NOT_PLAIN = (QUOTE, b"\0")
LINE_ENDS = (b"\r\n", b"\n")  # Python's csv module writes the first


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
