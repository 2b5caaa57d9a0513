"""Buffers of layer norm and RMS norm, interleaved and sharded.

Measured on TTNN 0.81.1 mock devices (its dry captures name the bytes of every dataflow buffer) over widths of 64 to
16,384 and all operands; the shape of the formulas is that of layernorm_op_multi_core.cpp in tt-metal's
ttnn/cpp/ttnn/operations/normalization/layernorm.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.settings.norm_plan import ShardedNorm
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES
from ttnn_mcp.readers.printed.nesting import parse_struct

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
MOST_TILES = 112  # of a row that a core holds at a time if the row does not fit: layernorm_op_multi_core.cpp


def layer_norm(program: Program) -> int | None:
    """Bytes per core of a layer norm or RMS norm."""
    if program.x.sharded_in_l1:
        return _sharded_norm(program)
    if program.factory not in {"", "LayerNormMultiCoreProgramFactory"}:
        return None
    with_whole_row = _norm_bytes(program, None)
    return with_whole_row if with_whole_row <= program.room.running else _norm_bytes(program, MOST_TILES)


def _norm_bytes(program: Program, most: int | None) -> int:
    """With a whole row on a core, or with at most `most` tiles of it at a time."""
    x, out = program.x, program.out
    root_mean_square, fp32 = "RMSNORM" in program.attributes, program.fp32 or not program.is_printed
    others = list(program.inputs[1:])
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
        2 * _HALF + 2 * _HALF,  # scale of the sums, epsilon
        (2 if root_mean_square else 4) * middle,  # variance; mean
        sums,
        8 * middle,
        middle if most is not None else 0,
        tiles * middle if residual is not None and not root_mean_square else 0,
        several * middle if others else 0,
        *(tiles * weight.tile_bytes for weight in others),
    ]
    return sum(sizes)


def _sharded_norm(program: Program) -> int | None:
    x, shard = program.x, program.x.shard
    if shard is None or x.placement is None or x.placement.shard is None or not x.placement.shard.ranges:
        return None
    if "NOT_DISTRIBUTED" not in program.attributes or "use_welford=1" in program.config.replace("True", "1"):
        return None
    struct = parse_struct(program.config)
    ranges = x.placement.shard.ranges
    columns = max(end[0] for _, end in ranges) - min(start[0] for start, _ in ranges) + 1
    rows = max(end[1] for _, end in ranges) - min(start[1] for start, _ in ranges) + 1
    sizes = [float(spec.tile_bytes) for spec in program.inputs[1:] if not spec.sharded_in_l1]
    plan = ShardedNorm(
        rows=x.batch * x.rows,
        columns=x.columns,
        shards=(columns, rows),
        grid=(columns, rows),
        block_h=(struct.number("block_h") if struct else None) or shard[0],
        block_w=(struct.number("block_w") if struct else None) or shard[1],
        subblock_w=1,
        root_mean_square="RMSNORM" in program.attributes,
        fp32=program.fp32,
        weight_bytes=sizes[0] if sizes else 0.0,
        bias_bytes=sizes[1] if len(sizes) > 1 else 0.0,
    )
    return sum(plan.buffers.values())
