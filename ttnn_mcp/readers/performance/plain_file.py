"""A whole plain CSV as columns."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

from ttnn_mcp.readers.performance.plain_rows import PlainRows, Wanted
from ttnn_mcp.readers.performance.row_shape import shape_of
from ttnn_mcp.readers.performance.second_reader import second_reader

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.readers.checksum import RunningChecksum
    from ttnn_mcp.readers.performance.frame import Frame
    from ttnn_mcp.readers.performance.header import Header


def plain_frame(
    path: Path,
    header: Header,
    rows_at_most: int,
    blanks: tuple[str, ...],
    running_sum: RunningChecksum | None = None,
) -> Frame | None:
    """The columns of the file at `path`, at most some more rows than `rows_at_most`; None if it is not plain.

    `running_sum` gets the checksum of all bytes that were read.
    """
    wanted = Wanted(header.read, blanks, rows_at_most, running_sum is not None)
    try:
        with path.open("rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            rows = _plain_rows(file.fileno(), len(header.names), wanted, running_sum)
            after = os.fstat(file.fileno())
    except OSError:
        return None  # reading it the other way says what is wrong
    is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return rows.frame() if rows is not None and is_same else None


def _plain_rows(
    descriptor: int, fields: int, wanted: Wanted, running_sum: RunningChecksum | None
) -> PlainRows | None:
    shape = shape_of(descriptor, fields)
    if shape is None:
        return None
    rows = PlainRows(descriptor, shape, wanted)
    with second_reader(descriptor, shape, wanted) as second:
        begin = second.begin if second else shape.size
        if not rows.read(shape.begin, begin, shape.size):
            return None
        is_done = second is None or rows.are_enough or second.add_to(rows)
        if not is_done and not rows.read(begin, shape.size, shape.size):
            return None
    if running_sum is not None:
        running_sum.add(zlib.crc32(os.pread(descriptor, shape.begin, 0)), shape.begin)
        running_sum.add(rows.running_sum.total, rows.running_sum.length)
    return rows
