"""Buffers of layer norm, RMS norm and softmax, interleaved and sharded, also of norms that several chips share.

Measured on TTNN 0.81.1 mock devices (its dry captures name the bytes of every dataflow buffer) over widths of 64 to
16,384 and all operands; the shapes of the formulas are those of layernorm_op_multi_core.cpp and
softmax_program_factory_attention_optimized.cpp in tt-metal's ttnn/cpp/ttnn/operations/normalization. The two steps of a
shared norm, before its statistics are gathered and after, are measured for interleaved tiles.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.program import Buffers, Program
from ttnn_mcp.analyses.programs.norms import ShardedNorm, ShardedSoftmax
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.nesting import parse_struct

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
MOST_TILES = 112  # of a row that a core holds at a time where the row does not fit: layernorm_op_multi_core.cpp
_ALL_OTHERS = 3  # residual, weight, bias
RESIDUAL = "residual_input_tensor"
_NORMS = {"RMSNORM": (1, 4), "LAYERNORM": (3, 7)}  # rows of tiles between, beside input and output; single tiles
USABLE = 0.95  # of the room: what 0.81.1 lets these buffers fill, as its refusals say
BLOCKS = (6, 4, 3, 2, 1)  # tiles that may be written together; tt-metal's find_max_divisor leaves out 5 and 7
SOFTMAX_TILES = 80  # of a row that a core holds at a time where the row does not fit
# numeric_stable; from 0.81 on: the caller gave a compute config
_FLAGS = re.compile(r"\), [01], ([01])(?:, ([01]))?\)$")


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
