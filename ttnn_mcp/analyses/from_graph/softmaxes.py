"""Buffers of softmax, interleaved and sharded.

Measured on TTNN 0.81.1 mock devices (its dry captures name the bytes of every dataflow buffer) over widths of 64 to
16,384; the shape of the formulas is that of softmax_program_factory_attention_optimized.cpp in tt-metal's
ttnn/cpp/ttnn/operations/normalization/softmax.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.programs.norms import ShardedSoftmax
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.nesting import parse_struct

if TYPE_CHECKING:
    from ttnn_mcp.analyses.from_graph.program import Program

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
BLOCKS = (6, 4, 3, 2, 1)  # tiles that may be written together; tt-metal's find_max_divisor leaves out 5 and 7
SOFTMAX_TILES = 80  # of a row that a core holds at a time where the row does not fit
_OWN_CONFIG = re.compile(r", 1\)$")  # printed last: the caller gave a compute kernel config
_STABLE = re.compile(r", 1, [01]\)$")  # numeric_stable, printed before it


def softmax(program: Program) -> int | None:
    """Bytes per core of a softmax."""
    x = program.x
    if x.sharded_in_l1 and program.factory != "SoftmaxProgramFactoryAttentionOptimized":
        return _sharded_softmax(program)
    if program.factory in {"SoftmaxProgramFactoryGeneralHSmall", "SoftmaxProgramFactoryGeneralHLarge"}:
        return _along_height(program)
    if program.factory == "SoftmaxProgramFactoryGeneralCLarge":  # along channels, tile by tile
        return 3 * x.tile_bytes + 2 * program.out.tile_bytes + 5 * _FULL
    if program.factory not in {"", "SoftmaxProgramFactoryAttentionOptimized"}:
        return None
    with_whole_row = _softmax_bytes(program, None)
    return with_whole_row if with_whole_row <= program.room.running else _softmax_bytes(program, SOFTMAX_TILES)


def _softmax_bytes(program: Program, most: int | None) -> int:
    """With a whole row on a core, or with at most `most` tiles of it at a time."""
    x, out, masks = program.x, program.out, program.inputs[1:2]
    # sums have the accumulation's format if the caller set it; before 0.78 the graph does not tell
    is_own, is_wide = _OWN_CONFIG.search(program.attributes) is not None, x.dtype == "FLOAT32"
    if not program.factory:
        is_wide |= program.fp32
    if is_own:
        is_wide = program.fp32
    middle = _FULL if is_wide else _HALF
    scales = 3 if is_own and not program.fp32 else 5
    block, tiles = _blocks_of(x.columns, DST_TILES_FP32 if program.fp32 else DST_TILES)
    if most is not None:
        tiles = most
    is_cut = x.shape[-1] % TILE_SIDE > 0  # then the last tile is masked
    streams = bool(masks) or is_cut  # what is masked is kept, not what comes
    sizes = [
        (2 * block if streams else tiles) * x.tile_bytes,
        2 * block * out.tile_bytes,
        scales * _HALF
        + max(x.tile_bytes if x.dtype == "FLOAT32" else 0, _HALF)
        + middle,  # scale, ones, maxima, sums
        tiles * middle,  # exponents
        *(tiles * mask.tile_bytes + (tiles + block * streams) * middle + _HALF for mask in masks),
    ]
    if most is not None:
        sizes.append(tiles * middle + 4 * middle + _HALF)
    if not program.factory or (masks and _STABLE.search(program.attributes)):
        sizes.append(tiles * middle + _HALF)  # scores less their maximum; until 0.70 without a mask, too
    if is_cut:
        sizes.append(2 * _HALF if masks else tiles * middle)
    return sum(sizes)


def _blocks_of(columns: int, most: int) -> tuple[int, int]:
    """Tiles written together, and tiles of a row, filled up where fewer a time would take more times."""
    times = ceil(columns / most)
    even = (size for size in BLOCKS if size <= most and columns % size == 0 and columns // size <= times)
    block = next(even, most)
    return block, ceil(columns / block) * block


def _along_height(program: Program) -> int:
    """A column of tiles in and out and two of FLOAT32, or two tiles at a time."""
    x, out = program.x, program.out
    of_a_tile = x.tile_bytes + out.tile_bytes + _FULL
    fixed = 3 * _HALF + 3 * _FULL
    if program.factory.endswith("HLarge"):
        return 2 * of_a_tile + _FULL + fixed
    return x.rows * (of_a_tile + _FULL) + fixed


def _sharded_softmax(program: Program) -> int | None:
    shard = program.x.shard
    if shard is None:
        return None
    mask = float(program.inputs[1].tile_bytes) if len(program.inputs) > 1 else 0.0
    struct = parse_struct(program.config)
    width = (struct.number("block_w") if struct else None) or shard[1]
    plan = ShardedSoftmax(shard, (1, 1), (1, 1), shard[0], width, 1, program.fp32, mask_bytes=mask)
    return sum(plan.buffers.values())
