"""Buffers of ops that move, cut, join or convert tensors.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program


_HALF = TILE_BYTES["BFLOAT16"]
REPEATED = 8  # pages that repeats read at a time
ROWS_OF_SLICE = 8192  # bytes
ROWS_TOGETHER = 65_536  # bytes: padding by rows works on 32 rows while they fit, then on 16
_ALIGNED_IN, _ALIGNED_OUT = 128, 16  # bytes that a reshape by rows adds to each row


def cut_out(program: Program) -> int:
    """A slice: two tiles; in ROW_MAJOR 8 kB of rows, or two rows if they are longer."""
    out = program.out
    return (2 * out.tile_bytes if out.tiled else max(ROWS_OF_SLICE, 2 * out.row_bytes)) + TILE_SIDE


def into_shards(program: Program) -> int:
    """Interleaved to sharded and back: two pages to convert; rows use a buffer of four aligned rows."""
    x, out = program.x, program.out
    if not x.tiled:
        return 4 * (min(x.row_bytes, out.row_bytes) + 2 * TILE_SIDE)
    return 0 if x.dtype == out.dtype else 2 * max(x.tile_bytes, out.tile_bytes)


def two_pages(program: Program) -> int:
    """Two pages of the input or output, whichever is larger, and some words: concat, split, upsample."""
    return 2 * max(program.x.page_bytes, program.out.page_bytes) + TILE_SIDE


def copied(program: Program) -> int:
    """Tiles: two, and two more to convert. Rows: three."""
    x, out = program.x, program.out
    if not x.tiled:
        return 3 * max(x.row_bytes, out.row_bytes)
    return 2 * (x.tile_bytes + (out.tile_bytes if out.dtype != x.dtype else 0))


def moved(program: Program) -> int | None:
    """Shards need no buffer, interleaved tensors two pages; overlapping ones use a copy, which is not modelled."""
    x = program.x
    if x.sharded_in_l1:
        return 0
    return None if "Overlap" in program.factory or not program.factory else 2 * x.page_bytes


def nothing(program: Program) -> int | None:
    """No buffer: reads and writes shards in place."""
    outputs = program.outputs
    return 0 if all(spec.sharded_in_l1 for spec in outputs) and not program.factory.startswith("Nd") else None


def turned(program: Program) -> int:
    """Transpose and permute: up to three double buffers of tiles, or two rows if rows stay whole."""
    x = program.x
    if program.factory == "MultiCoreRowInvariant":
        return 2 * x.row_bytes
    copies = 3 if "Generic" in program.factory or not program.factory else 2
    return 2 * copies * x.tile_bytes + 2 * TILE_SIDE


def reshaped(program: Program) -> int:
    """Tiles: one in, one out and the map between them. Rows: two in and two out of the longer kind, aligned."""
    x, out = program.x, program.out
    if x.tiled:
        return x.tile_bytes + out.tile_bytes + _HALF
    longer = max(x.row_bytes, out.row_bytes)
    return 2 * (longer + _ALIGNED_IN) + 2 * (longer + _ALIGNED_OUT)


def padded(program: Program) -> int:
    """Tiles: two and one of padding. Rows: 32 or 16 at a time, and one of padding."""
    out = program.out
    if out.tiled:
        return 3 * out.tile_bytes
    rows = TILE_SIDE if TILE_SIDE * out.row_bytes <= ROWS_TOGETHER else TILE_SIDE // 2
    return (rows + 1) * out.row_bytes


def filled(program: Program) -> int:
    """Padding of the last tiles: two tiles in, a mask, two tiles out."""
    return 5 * program.x.tile_bytes


def repeated(program: Program) -> int:
    """Eight pages of the output."""
    return REPEATED * program.out.page_bytes
