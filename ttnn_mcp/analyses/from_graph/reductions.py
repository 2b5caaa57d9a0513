"""Buffers of reductions, running sums and what is spread over a tensor after them.

Measured on TTNN 0.81.1 mock devices, per program factory. Where the number depends on the shape of the work, the most
is taken.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES

if TYPE_CHECKING:
    from ttnn_mcp.analyses.from_graph.program import Program

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
CHUNK = 8  # tiles that reductions read at a time
_NEGATED = re.compile(r", 1, [\d.]+, ScalerMode")  # printed before the scale's bits
FEW_COLUMNS = 2  # tiles read at a time where a core has one row, or one column
SEVERAL = 4  # columns for each core, from which on eight tiles are read at a time
NORMED = 18  # tiles of a batch norm: two each of operands, output and what lies between


def reduced(program: Program) -> int | None:
    """Up to eight tiles in, the scale, and out two (along a row or one column) or four (several columns at a time)."""
    x, out = program.x, program.out
    along_row = program.factory == "ReduceMultiCoreWProgramFactory"
    scale = max(_HALF, x.tile_bytes)
    is_short = x.columns <= FEW_COLUMNS and x.batch * x.rows <= program.machine.cores
    # a few high columns are cut across cores: then the output has a row for each part
    is_alone = out.shape[-2] == 1
    has_few = is_short if along_row else is_alone and x.batch * x.columns < SEVERAL * program.machine.cores
    read = FEW_COLUMNS if has_few else CHUNK
    size = read * x.tile_bytes + scale + (2 if along_row or is_alone else 4) * out.tile_bytes
    if not x.tiled:  # rows pass through tiles first
        size += (2 * read if along_row else 2) * x.tile_bytes + scale + out.tile_bytes
    if _NEGATED.search(program.attributes):  # the least of block floats is the most of what is negated
        return size + 2 * x.tile_bytes if along_row else None  # along columns it grows with what a core is given
    return size


def spread(program: Program) -> int:
    """Variance and deviation: all tiles along the reduced side, at least eight; two sides: four and one more."""
    x, out = program.x, program.out
    rows, columns = (
        (x.shape[side] != out.shape[side] for side in (-2, -1)) if len(x.shape) == len(out.shape) else (1, 1)
    )
    if rows and columns:
        return max(CHUNK, x.rows) * x.tile_bytes + 2 * out.tile_bytes + 5 * _FULL
    return max(CHUNK, x.columns if columns else x.rows) * x.tile_bytes + 2 * out.tile_bytes


def reduced_outside(program: Program) -> int:
    """Sum over batches or channels: two tiles of each, of at most eight, zeros, two out."""
    x, out = program.x, program.out
    summed = min(CHUNK, ceil(x.tiles / max(out.tiles, 1)))
    return 2 * summed * x.tile_bytes + _HALF + 2 * out.tile_bytes


def multiplied(program: Program) -> int:
    """A product over one dimension: two tiles in, two out."""
    return 2 * (program.x.tile_bytes + program.out.tile_bytes)


def added_outside(program: Program) -> int | None:
    """A sum over a dimension outside of the tiles: two tiles in, zeros, two out."""
    if program.factory != "MorehSumNCFactory" or program.fp32:
        return None
    return 2 * (program.x.tile_bytes + program.out.tile_bytes) + _HALF


def multiplied_all(program: Program) -> int:
    """A product of all: two tiles in, two out."""
    return 4 * max(program.x.tile_bytes, _HALF)


def accumulated(program: Program) -> int:
    """Running sums: four tiles in and out, and two to add up in."""
    x, out = program.x, program.out
    return 4 * (x.tile_bytes + out.tile_bytes) + 2 * max(x.tile_bytes, _HALF)


def spread_over(program: Program) -> int:
    """One value a row, column or matrix, spread over a tensor: two tiles of each."""
    return 2 * sum(spec.tile_bytes for spec in (*program.inputs, program.out))


def batch_norm(program: Program) -> int:
    """Two tiles of each of nine tensors."""
    return NORMED * max(_HALF, program.x.tile_bytes)
