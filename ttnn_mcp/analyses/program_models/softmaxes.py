"""Buffers of softmax, interleaved and sharded.

Measured on TTNN 0.81.1 mock devices (its dry captures name the bytes of every dataflow buffer) over widths of 64 to
16,384; the shape of the formulas is that of softmax_program_factory_attention_optimized.cpp in tt-metal's
ttnn/cpp/ttnn/operations/normalization/softmax.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.settings.norm_plan import ShardedSoftmax
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.nesting import parse_struct

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
SOFTMAX_TILES = 80  # of a row that a core holds at a time where the row does not fit
_OWN_CONFIG = re.compile(r", 1\)$")  # printed last: the caller gave a compute kernel config
COLUMN_BYTES = 512 * 1024  # softmax along the height keeps a whole column below it


def softmax(program: Program) -> int | None:
    """Bytes per core of a softmax."""
    x = program.x
    if x.sharded_in_l1:
        return _sharded_softmax(program)
    if program.factory in {"SoftmaxProgramFactoryGeneralHSmall", "SoftmaxProgramFactoryGeneralHLarge"}:
        return _along_height(program)
    if program.factory not in {"", "SoftmaxProgramFactoryAttentionOptimized"}:
        return None
    whole = _softmax_bytes(program, None)
    return whole if whole <= program.room.running else _softmax_bytes(program, SOFTMAX_TILES)


def _softmax_bytes(program: Program, most: int | None) -> int:
    x = program.x
    out = program.out
    masks = program.inputs[1:]
    fp32 = program.fp32
    # sums follow the accumulation where the caller asked for it: before 0.78 nobody says who did
    wide = x.dtype == "FLOAT32" or (
        fp32 and (not program.factory or _OWN_CONFIG.search(program.attributes) is not None)
    )
    middle = _FULL if wide else _HALF
    most_together = DST_TILES_FP32 if fp32 else DST_TILES
    block = next(size for size in range(most_together, 0, -1) if x.columns % size == 0)
    whole = x.columns
    if block == 1 and whole > 1:  # no divisor: the row is filled up with tiles
        block, whole = most_together, ceil(whole / most_together) * most_together
    tiles = whole if most is None else most
    first = tiles * x.tile_bytes
    scalars = 2 * _HALF + max(x.tile_bytes if x.dtype == "FLOAT32" else 0, _HALF) + 2 * _HALF + _HALF + middle
    sizes = [first, 2 * block * out.tile_bytes, scalars, tiles * middle]
    if not program.factory:
        sizes.append(tiles * middle)  # until 0.70: scores less their maximum
    if most is not None:
        sizes += [tiles * middle, 4 * middle + _HALF]
    if x.shape[-1] % TILE_SIDE:
        sizes.append(2 * _HALF)  # the mask of the last tile
    for mask in masks:  # the mask, the scaled input beside it, the scale, the maxima
        sizes += [(tiles + block) * mask.tile_bytes, 2 * tiles * middle, 3 * _HALF]
    return sum(sizes)


def _along_height(program: Program) -> int:
    x, out = program.x, program.out
    per_tile = x.tile_bytes + out.tile_bytes + 2 * _FULL
    fixed = 3 * _HALF + 3 * _FULL
    small = program.factory.endswith("HSmall") or (
        not program.factory and x.rows * per_tile + fixed <= COLUMN_BYTES
    )
    return (x.rows if small else 2) * per_tile + fixed


def _sharded_softmax(program: Program) -> int | None:
    shard = program.x.shard
    if shard is None:
        return None
    mask = float(program.inputs[1].tile_bytes) if len(program.inputs) > 1 else 0.0
    struct = parse_struct(program.config)
    width = (struct.number("block_w") if struct else None) or shard[1]
    plan = ShardedSoftmax(shard, (1, 1), (1, 1), shard[0], width, 1, program.fp32, mask_bytes=mask)
    return sum(plan.buffers.values())
