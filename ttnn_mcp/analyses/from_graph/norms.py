"""Buffers of layer norm and RMS norm, interleaved and sharded, also of those that several chips share.

Measured on TTNN 0.81.1 mock devices (its dry captures name the bytes of every dataflow buffer) over widths of 64 to
16,384 and all operands; the shape of the formulas is that of layernorm_op_multi_core.cpp in tt-metal's
ttnn/cpp/ttnn/operations/normalization/layernorm. The two steps of a shared norm, before its statistics are gathered and
after, are measured for interleaved tiles.
"""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.analyses.programs.norms import ShardedNorm
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.nesting import parse_struct

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
MOST_TILES = 112  # of a row that a core holds at a time where the row does not fit: layernorm_op_multi_core.cpp
_ALL_OTHERS = 3  # residual, weight, bias
RESIDUAL = "residual_input_tensor"
_NORMS = {"RMSNORM": (1, 4), "LAYERNORM": (3, 7)}  # rows of tiles between, beside input and output; single tiles
USABLE = 0.95  # of the room: what 0.81.1 lets these buffers fill, as its refusals say


def layer_norm(program: Program) -> Buffers | None:
    """Bytes per core of a layer norm or RMS norm."""
    if program.x.sharded_in_l1:
        return _sharded_norm(program)
    if program.factory not in {"", "LayerNormMultiCoreProgramFactory"}:
        return None
    whole = _norm_buffers(program, None)
    if not program.factory:  # before 0.78: one size for every row that does not fit
        fits = sum(whole.values()) <= program.room.running
        return whole if fits else _norm_buffers(program, _most_tiles(program))
    usable = USABLE * program.room.before
    if sum(whole.values()) <= usable:
        return whole
    step = _block(program)
    plans = [_norm_buffers(program, tiles) for tiles in range(_most_tiles(program), 0, -step)]
    return next((plan for plan in plans if sum(plan.values()) <= usable), plans[-1])


def _block(program: Program) -> int:
    """Tiles that are written together."""
    return DST_TILES_FP32 if _in_fp32(program) else DST_TILES


def _in_fp32(program: Program) -> bool:
    return program.fp32 or not program.is_printed


def _most_tiles(program: Program) -> int:
    """Tiles of a row that a core holds at a time, at most: half for FLOAT32 within, and half for other operands."""
    others = len(program.inputs) - 1 - (_residual(program) is not None)
    return MOST_TILES // (2 if _in_fp32(program) else 1) // (2 if others or program.x.dtype == "FLOAT32" else 1)


def _residual(program: Program) -> Spec | None:
    """What is added before: an operand as large as the first. Of a single row a weight is as large: the call tells."""
    x, others = program.x, program.inputs[1:]
    is_row = x.shape[-2] * x.batch == 1 and len(others) < _ALL_OTHERS and RESIDUAL not in program.settings
    return others[0] if others and others[0].shape == x.shape and not is_row else None


def _norm_buffers(program: Program, most: int | None) -> Buffers:
    """With all of a row on a core, or with so many tiles of it at a time."""
    x, out = program.x, program.out
    root_mean_square, residual = "RMSNORM" in program.attributes, _residual(program)
    others = program.inputs[1 if residual is None else 2 :]
    block, middle = _block(program), _FULL if _in_fp32(program) else _HALF
    tiles = ceil(x.columns / block) * block if most is None else most
    several = 2 * block
    sums = tiles * middle * (2 if not root_mean_square or most is not None or residual is not None else 1)
    return {
        "IN": tiles * x.tile_bytes if residual is None else several * x.tile_bytes,
        "RESIDUAL": several * residual.tile_bytes if residual is not None else 0,
        "OUT": several * out.tile_bytes,
        "SCALARS": 2 * _HALF + 2 * _HALF,  # scale of the sums, epsilon
        "STATISTICS": (2 if root_mean_square else 4) * middle,  # variance; mean
        "CENTERED": sums,
        "REDUCED": 8 * middle + (middle if most is not None else 0),
        "ADDED": tiles * middle if residual is not None and not root_mean_square else 0,
        "SCALED": several * middle if others else 0,
        "WEIGHTS": sum(tiles * weight.tile_bytes for weight in others),
    }


def _sharded_norm(program: Program) -> Buffers | None:
    x, shard, ranges = program.x, program.x.shard, program.x.ranges
    if shard is None or not ranges:
        return None
    if "NOT_DISTRIBUTED" not in program.attributes or "use_welford=1" in program.config.replace("True", "1"):
        return None
    struct = parse_struct(program.config)
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
    return plan.buffers


def before_gather(program: Program) -> Buffers | None:
    """A row of tiles twice, its squares twice, the scale, and the statistics."""
    x, out = program.x, program.out
    if program.factory != "LayerNormPreAllGatherProgramFactory" or x.sharded_in_l1:
        return None
    middle = _FULL if program.fp32 else _HALF
    return {
        "IN": 2 * x.columns * x.tile_bytes,
        "SQUARES": 2 * x.columns * middle,
        "SCALE": _HALF,
        "STATISTICS": out.columns * out.tile_bytes,
    }


def after_gather(program: Program) -> Buffers | None:
    """A row of tiles in and out and of weight and bias, what lies between, and the statistics of all chips."""
    kind = next((name for name in _NORMS if f"::{name}" in program.attributes), None)
    if kind is None or program.factory != "LayerNormPostAllGatherProgramFactory" or program.x.sharded_in_l1:
        return None
    x, statistics, *weights = program.inputs
    rows, singles = _NORMS[kind]
    middle = _FULL if program.fp32 else _HALF
    return {
        "IN": x.columns * x.tile_bytes,
        "OUT": x.columns * program.out.tile_bytes,
        "WEIGHTS": x.columns * len(weights) * _HALF,
        "BETWEEN": (x.columns * rows + singles) * middle,
        "STATISTICS": statistics.columns * statistics.tile_bytes,
    }
