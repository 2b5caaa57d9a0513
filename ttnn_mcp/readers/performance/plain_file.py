"""A whole plain CSV as columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ttnn_mcp.readers.checksum import PIECE_BYTES
from ttnn_mcp.readers.performance.plain_rows import PlainRows, Wanted
from ttnn_mcp.readers.performance.row_shape import shape_of
from ttnn_mcp.readers.regular_file import opened

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.readers.checksum import PieceSums
    from ttnn_mcp.readers.performance.frame import Frame
    from ttnn_mcp.readers.performance.header import Header


def plain_frame(
    path: Path,
    header: Header,
    rows_at_most: int,
    blanks: tuple[str, ...],
    sums: PieceSums | None = None,
) -> Frame | None:
    """The columns of the file at `path`, at most some more rows than `rows_at_most`; None if it is not plain.

    `sums` gets the checksums of all pieces that were read.
    """
    wanted = Wanted(header.read, blanks, rows_at_most, sums is not None)
    try:
        with opened(path, buffering=0) as file:
            before = os.fstat(file.fileno())
            rows = _plain_rows(file.fileno(), len(header.names), wanted, sums)
            after = os.fstat(file.fileno())
    except OSError:
        return None  # reading it the other way says what is wrong
    is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return rows.frame() if rows is not None and is_same else None


def _plain_rows(descriptor: int, fields: int, wanted: Wanted, sums: PieceSums | None) -> PlainRows | None:
    shape = shape_of(descriptor, fields)
    if shape is None:
        return None
    rows = PlainRows(descriptor, shape, wanted)
    if not rows.read():
        return None
    if sums is not None:
        sums.by_place.update(rows.sums.by_place)
        sums.add(0, os.pread(descriptor, PIECE_BYTES, 0))  # with the header
    return rows
