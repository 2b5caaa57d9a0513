"""Buffers of layer norm, RMS norm and softmax over interleaved tensors, and of sharded norms.

Measured on TTNN 0.81.1 mock devices (its dry captures name the bytes of every dataflow buffer) over widths of 64 to
16,384 and all operands; the shape of the formulas is that of layernorm_op_multi_core.cpp and
softmax_program_factory_attention_optimized.cpp in tt-metal's ttnn/cpp/ttnn/operations/normalization.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.program_models.matmuls import fp32_of
from ttnn_mcp.analyses.settings.norm_plan import ShardedNorm, ShardedSoftmax
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.nesting import parse_struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.analyses.memory.programs import Room
    from ttnn_mcp.analyses.program_models.machine import Machine
    from ttnn_mcp.readers.graph.launches import Launch

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
MOST_TILES = 112  # of a row that a core holds at a time where the row does not fit: layernorm_op_multi_core.cpp
SOFTMAX_TILES = 80  # the same for softmax
_OWN_CONFIG = re.compile(r", 1\)$")  # printed last: the caller gave a compute kernel config
COLUMN_BYTES = 512 * 1024  # softmax along the height keeps a whole column below it


def layer_norm(launch: Launch, room: Room, machine: Machine, asked: Mapping[str, str]) -> int | None:
    """Bytes per core of a layer norm or RMS norm; `asked` has the printed program config of the call."""
    if launch.inputs[0].sharded_in_l1:
        return _sharded_norm(launch, asked.get("program_config", ""))
    if launch.factory not in ("", "LayerNormMultiCoreProgramFactory") or not launch.outputs:
        return None
    whole = _norm_bytes(launch, None)
    return whole if whole <= room.running else _norm_bytes(launch, MOST_TILES)


def _norm_bytes(launch: Launch, most: int | None) -> int:
    """With all of a row on a core, or with at most so many tiles of it at a time."""
    x, out = launch.inputs[0], launch.outputs[0]
    root_mean_square, fp32 = "RMSNORM" in launch.attributes, fp32_of(launch, unprinted=True)
    others = list(launch.inputs[1:])
    residual = others.pop(0) if others and others[0].shape == x.shape and x.rows * x.batch > 1 else None
    block, middle = (DST_TILES_FP32, _FULL) if fp32 else (DST_TILES, _HALF)
    tiles = ceil(x.columns / block) * block
    if most is not None:
        tiles = most // (2 if fp32 else 1) // (2 if others or x.dtype == "FLOAT32" else 1)
    several = 2 * block
    sums = tiles * middle * (2 if not root_mean_square or most is not None or residual is not None else 1)
    sizes = [
        several * (x.tile_bytes + residual.tile_bytes) if residual is not None else tiles * x.tile_bytes,
        several * out.tile_bytes,
        2 * _HALF + 2 * _HALF,  # what sums are scaled by, epsilon
        (2 if root_mean_square else 4) * middle,  # variance; mean
        sums,
        8 * middle,
        middle if most is not None else 0,
        tiles * middle if residual is not None and not root_mean_square else 0,
        several * middle if others else 0,
        *(tiles * weight.tile_bytes for weight in others),
    ]
    return sum(sizes)


def softmax(launch: Launch, room: Room, machine: Machine, asked: Mapping[str, str]) -> int | None:
    """Bytes per core of a softmax."""
    x = launch.inputs[0]
    if x.sharded_in_l1:
        return _sharded_softmax(launch, asked.get("program_config", ""))
    if launch.factory in ("SoftmaxProgramFactoryGeneralHSmall", "SoftmaxProgramFactoryGeneralHLarge"):
        return _along_height(launch)
    if launch.factory not in ("", "SoftmaxProgramFactoryAttentionOptimized"):
        return None
    whole = _softmax_bytes(launch, None)
    return whole if whole <= room.running else _softmax_bytes(launch, SOFTMAX_TILES)


def _softmax_bytes(launch: Launch, most: int | None) -> int:
    x = launch.inputs[0]
    out = launch.outputs[0] if launch.outputs else x
    masks = launch.inputs[1:]
    fp32 = fp32_of(launch)
    # sums follow the accumulation where the caller asked for it: before 0.78 nobody says who did
    wide = x.dtype == "FLOAT32" or (fp32 and (not launch.factory or _OWN_CONFIG.search(launch.attributes) is not None))
    middle = _FULL if wide else _HALF
    most_together = DST_TILES_FP32 if fp32 else DST_TILES
    block = next(size for size in range(most_together, 0, -1) if x.columns % size == 0)
    tiles = x.columns if most is None else most
    first = tiles * x.tile_bytes
    scalars = 2 * _HALF + max(x.tile_bytes if x.dtype == "FLOAT32" else 0, _HALF) + 2 * _HALF + _HALF + middle
    sizes = [first, 2 * block * out.tile_bytes, scalars, tiles * middle]
    if not launch.factory:
        sizes.append(tiles * middle)  # until 0.70: scores less their maximum
    if most is not None:
        sizes += [tiles * middle, 4 * middle + _HALF]
    if x.shape[-1] % TILE_SIDE:
        sizes.append(2 * _HALF)  # the mask of the last tile
    for mask in masks:  # the mask, the scaled input beside it, the scale, the maxima
        sizes += [(tiles + block) * mask.tile_bytes, 2 * tiles * middle, 3 * _HALF]
    return sum(sizes)


def _along_height(launch: Launch) -> int:
    x, out = launch.inputs[0], launch.outputs[0] if launch.outputs else launch.inputs[0]
    per_tile = x.tile_bytes + out.tile_bytes + 2 * _FULL
    fixed = 3 * _HALF + 3 * _FULL
    small = launch.factory.endswith("HSmall") or (
        not launch.factory and x.rows * per_tile + fixed <= COLUMN_BYTES
    )
    return (x.rows if small else 2) * per_tile + fixed


def _sharded_norm(launch: Launch, config: str) -> int | None:
    x, shard = launch.inputs[0], launch.inputs[0].shard
    if shard is None or x.placement is None or x.placement.shard is None or not x.placement.shard.ranges:
        return None
    if "NOT_DISTRIBUTED" not in launch.attributes or "use_welford=1" in config.replace("True", "1"):
        return None
    struct = parse_struct(config)
    ranges = x.placement.shard.ranges
    columns = max(end[0] for _, end in ranges) - min(start[0] for start, _ in ranges) + 1
    rows = max(end[1] for _, end in ranges) - min(start[1] for start, _ in ranges) + 1
    sizes = [float(spec.tile_bytes) for spec in launch.inputs[1:] if not spec.sharded_in_l1]
    plan = ShardedNorm(
        rows=x.batch * x.rows,
        columns=x.columns,
        shards=(columns, rows),
        grid=(columns, rows),
        block_h=(struct.number("block_h") if struct else None) or shard[0],
        block_w=(struct.number("block_w") if struct else None) or shard[1],
        subblock_w=1,
        root_mean_square="RMSNORM" in launch.attributes,
        fp32=fp32_of(launch),
        weight_bytes=sizes[0] if sizes else 0.0,
        bias_bytes=sizes[1] if len(sizes) > 1 else 0.0,
    )
    return sum(plan.buffers.values())


def _sharded_softmax(launch: Launch, config: str) -> int | None:
    x, shard = launch.inputs[0], launch.inputs[0].shard
    if shard is None:
        return None
    mask = float(launch.inputs[1].tile_bytes) if len(launch.inputs) > 1 else 0.0
    struct = parse_struct(config)
    width = (struct.number("block_w") if struct else None) or shard[1]
    plan = ShardedSoftmax(shard, (1, 1), (1, 1), shard[0], width, 1, fp32_of(launch), mask_bytes=mask)
    return sum(plan.buffers.values())
