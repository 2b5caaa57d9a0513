"""Buffers of reductions, running sums and what is spread over a tensor after them.

Measured on TTNN 0.81.1 mock devices, per program factory. Where the number depends on the shape of the work, the most
is taken.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.program import Buffers, Program
from ttnn_mcp.hardware import TILE_BYTES

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
CHUNK = 8  # tiles that reductions read at a time
_AXIS = re.compile(r"AccumulationParams\((\d+),")
_NEGATED = re.compile(r", 1, [\d.]+, ScalerMode")  # printed before the scale's bits
FEW = 2  # tiles read at a time where a core has few of them
SEVERAL = 4  # tiles of rows, or columns, for each core, from which on eight tiles are read at a time
NORMED = 18  # tiles of a batch norm: two each of operands, output and what lies between


def reduced(program: Program) -> Buffers | None:
    """Tiles in, up to eight at a time, the scale, and two out; rows pass through tiles first.

    reduce_op_multi_core_w_program_factory.cpp and the one for columns beside it.
    """
    x, out = program.x, program.out
    along_row = program.factory == "ReduceMultiCoreWProgramFactory"
    layout = "HEIGHT_SHARDED" if along_row else "WIDTH_SHARDED"  # then cores hold all that they add up
    in_place = all(spec.held is not None and spec.held[0] == layout for spec in (x, out))
    negated = _NEGATED.search(program.attributes)  # the least of block floats is the most of what is negated
    if negated and not along_row:
        return None  # it grows with what a core is given
    buffers = {
        "IN": (FEW if in_place else _read(program, along_row=along_row, negated=negated is not None))
        * x.tile_bytes,
        "SCALE": max(_HALF, x.tile_bytes),
        "OUT": 0 if in_place else 2 * out.tile_bytes,
        "NEGATED": 2 * out.tile_bytes if negated else 0,
    }
    if x.tiled:
        return buffers
    rows = 2 * (min(CHUNK, x.columns) if along_row else 1)
    return {**buffers, "ROWS": rows * x.tile_bytes, "ZEROS": x.tile_bytes, "SUMS": out.tile_bytes}


def _read(program: Program, *, along_row: bool, negated: bool) -> int:
    """Tiles read at a time: eight, but two where a core has few of them."""
    x, cores = program.x, program.machine.cores
    if not x.tiled:
        return max(FEW, min(CHUNK, x.columns if along_row else x.rows))
    if along_row:
        each = max(x.batch * x.rows // cores, 1)  # rows of tiles on the core with least of them
        return FEW if each * x.columns < SEVERAL or (negated and each == 1) else CHUNK
    # a few high columns are cut across cores: then the output has a row for each part
    if program.out.shape[-2] > 1:
        return FEW if x.dtype == "FLOAT32" else CHUNK
    return FEW if x.batch * x.columns < SEVERAL * cores else CHUNK


def spread(program: Program) -> Buffers:
    """Variance and deviation: all tiles along the reduced side, at least eight; two sides: four and one more."""
    x, out = program.x, program.out
    rows, columns = (
        (x.shape[side] != out.shape[side] for side in (-2, -1)) if len(x.shape) == len(out.shape) else (1, 1)
    )
    if rows and columns:
        return {"IN": max(CHUNK, x.rows) * x.tile_bytes, "OUT": 2 * out.tile_bytes, "STATISTICS": 5 * _FULL}
    tiles = (x.columns if columns else x.rows) // CHUNK * CHUNK
    return {"IN": max(CHUNK, tiles) * x.tile_bytes, "OUT": 2 * out.tile_bytes}


def reduced_outside(program: Program) -> Buffers:
    """Sum over batches or channels: two tiles of each, of at most eight, zeros, two out."""
    x, out = program.x, program.out
    summed = min(CHUNK, ceil(x.tiles / max(out.tiles, 1)))
    return {"IN": 2 * summed * x.tile_bytes, "ZEROS": _HALF, "OUT": 2 * out.tile_bytes}


def multiplied(program: Program) -> Buffers:
    """A product over one dimension: two tiles in, two out."""
    return {"IN": 2 * program.x.tile_bytes, "OUT": 2 * program.out.tile_bytes}


def added_outside(program: Program) -> Buffers | None:
    """A sum over a dimension outside of the tiles: two tiles in, zeros, two out."""
    if program.factory != "MorehSumNCFactory" or program.fp32:
        return None
    return {**multiplied(program), "ZEROS": _HALF}


def multiplied_all(program: Program) -> Buffers:
    """A product of all: two tiles in, two out."""
    return multiplied(program)


def accumulated(program: Program) -> Buffers:
    """Running sums and products: four tiles in and out; across tiles the sum in FLOAT32, and its rest."""
    x, out = program.x, program.out
    axis = _AXIS.match(program.attributes)
    is_inside = axis is not None and int(axis[1]) >= len(x.shape) - 2  # then the unit that adds keeps the sum
    several = 2 if x.dtype == "FLOAT32" and "CUMSUM" in program.attributes else 1
    return {"IN": 4 * x.tile_bytes, "OUT": 4 * out.tile_bytes, "SUMS": 0 if is_inside else several * _FULL}


def spread_over(program: Program) -> Buffers:
    """One value a row, column or matrix, spread over a tensor: two tiles of each."""
    return {"IN": 2 * sum(spec.tile_bytes for spec in program.inputs), "OUT": 2 * program.out.tile_bytes}


def batch_norm(program: Program) -> Buffers:
    """Two tiles of each of nine tensors."""
    return {"TILES": NORMED * max(_HALF, program.x.tile_bytes)}
