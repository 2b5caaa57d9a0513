"""Buffers of softmax, interleaved and sharded.

Measured on TTNN 0.81.1 mock devices (its dry captures name the bytes of every dataflow buffer) over widths of 64 to
16,384; the shape of the formulas is that of softmax_program_factory_attention_optimized.cpp in tt-metal's
ttnn/cpp/ttnn/operations/normalization/softmax.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.analyses.programs.norms import ShardedSoftmax
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.nesting import parse_struct

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
BLOCKS = (6, 4, 3, 2, 1)  # tiles that may be written together; tt-metal's find_max_divisor leaves out 5 and 7
SOFTMAX_TILES = 80  # of a row that a core holds at a time where the row does not fit
# numeric_stable; from 0.81 on: the caller gave a compute config
_FLAGS = re.compile(r"\), [01], ([01])(?:, ([01]))?\)$")


def softmax(program: Program) -> Buffers | None:
    """Bytes per core of a softmax."""
    x = program.x
    if x.sharded_in_l1 and program.factory != "SoftmaxProgramFactoryAttentionOptimized":
        return _sharded_softmax(program)
    if program.factory in {"SoftmaxProgramFactoryGeneralHSmall", "SoftmaxProgramFactoryGeneralHLarge"}:
        return _along_height(program)
    if program.factory == "SoftmaxProgramFactoryGeneralCLarge":  # along channels, tile by tile
        return {"IN": 3 * x.tile_bytes, "OUT": 2 * program.out.tile_bytes, "SUMS": 5 * _FULL}
    if program.factory not in {"", "SoftmaxProgramFactoryAttentionOptimized"}:
        return None
    whole = _softmax_buffers(program, None)
    return whole if sum(whole.values()) <= program.room.running else _softmax_buffers(program, SOFTMAX_TILES)


def _softmax_buffers(program: Program, most: int | None) -> Buffers:
    """With a whole row on a core, or with at most `most` tiles of it at a time."""
    x, masks = program.x, program.inputs[1:2]
    # sums have the accumulation's format if the caller set it; before 0.78 the graph does not tell
    flags, is_old = _FLAGS.search(program.attributes), not program.factory
    stable, own = flags.groups() if flags is not None else ("", "")
    is_wide = program.fp32 if own == "1" else x.dtype == "FLOAT32" or (is_old and program.fp32)
    middle, scale = (_FULL if wide else _HALF for wide in (is_wide, x.dtype == "FLOAT32"))
    of_sums = _FULL if program.fp32 or is_old else _HALF
    block, tiles = _blocks_of(x.columns, DST_TILES_FP32 if program.fp32 else DST_TILES)
    is_stable = is_old or stable == "1"
    # rows that are masked, or need no maximum before, are read block by block; a last tile that is cut is masked
    streams, is_masked = bool(masks) or not is_stable or x.shape[-1] % TILE_SIDE > 0, bool(masks) or is_old
    buffers: Buffers = {
        "IN": 2 * block * x.tile_bytes if most is None and streams else (most or tiles) * x.tile_bytes,
        "OUT": 2 * block * program.out.tile_bytes,
        "SCALARS": 2 * of_sums + scale + _HALF,
        "EXPONENTS": (most or tiles) * middle,
        "MAXIMA": (middle if is_stable else 0) + (_HALF if is_old else 0),
        "MASK": sum((most or tiles) * mask.tile_bytes for mask in masks),
        "SCALED": len(masks) * ((most or tiles + block) * middle + _HALF),
    }
    if most is not None:
        return {**buffers, "SUMS": 2 * of_sums + middle, "PARTS": most * middle}
    is_centered = is_stable and (is_masked or x.shape[-1] % TILE_SIDE > 0)
    return {**buffers, "CENTERED": tiles * middle if is_centered else 0}


def _blocks_of(columns: int, most: int) -> tuple[int, int]:
    """Tiles written together, and tiles of a row, filled up where fewer a time would take more times."""
    times = ceil(columns / most)
    even = (size for size in BLOCKS if size <= most and columns % size == 0 and columns // size <= times)
    block = next(even, most)
    return block, ceil(columns / block) * block


def _along_height(program: Program) -> Buffers:
    """A column of tiles in and out and two of FLOAT32, or two tiles at a time."""
    x, out = program.x, program.out
    is_large = program.factory.endswith("HLarge")
    tiles = 2 if is_large else x.rows
    return {
        "IN": tiles * x.tile_bytes,
        "OUT": tiles * out.tile_bytes,
        "EXPONENTS": tiles * _FULL,
        "CENTERED": _FULL if is_large else tiles * _FULL,
        "SCALARS": 3 * _HALF + 3 * _FULL,
    }


def _sharded_softmax(program: Program) -> Buffers | None:
    shard = program.x.shard
    if shard is None:
        return None
    mask = float(program.inputs[1].tile_bytes) if len(program.inputs) > 1 else 0.0
    struct = parse_struct(program.config)
    width = (struct.number("block_w") if struct else None) or shard[1]
    plan = ShardedSoftmax(shard, (1, 1), (1, 1), shard[0], width, 1, program.fp32, mask_bytes=mask)
    return plan.buffers
