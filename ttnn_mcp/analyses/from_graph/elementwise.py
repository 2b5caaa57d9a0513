"""Buffers of ops that work tile by tile, of reductions, of running sums and of what is spread over a tensor after them.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from ttnn_mcp.analyses.from_graph.program import CALL, Buffers, Program
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.graph.specs import Spec

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
_WITH_SCRATCH = ("LOGIT",)  # unary ops that keep a copy
# binary ops that do something to operands first, as no attribute prints
_PREPARED = re.compile(r"BinaryOpType::(?:(LOGICAL_\w+|LOGADDEXP2?|HYPOT|LDEXP)|RSUB)\b")
_KIND = re.compile(r"BinaryOpType::(\w+)")
_EXPONENTS = {"LOGADDEXP", "LOGADDEXP2", "LDEXP"}  # taken in BFLOAT16: binary_ng_program_factory.cpp, op_has_exp
_BEFORE = re.compile(r"BinaryOpType::\w+, SmallVector\((\[.*?\])\), SmallVector\((\[.*?\])\), SmallVector")
TOGETHER, FEW = 8, 2  # tiles of a shard that are prepared at a time: by the matrix unit, by the vector unit
CHUNK = 8  # tiles that reductions read at a time
_AXIS = re.compile(r"AccumulationParams\((\d+),")
_NEGATED = re.compile(r", 1, [\d.]+, ScalerMode")  # printed before the scale's bits
FEW_REDUCED = 2  # tiles read at a time where a core has few of them
SEVERAL = 4  # tiles of rows, or columns, for each core, from which on eight tiles are read at a time
NORMED = 18  # tiles of a batch norm: two each of operands, output and what lies between


def binary(program: Program) -> Buffers:
    """Two pages of each operand and of the output, unless all lie in like shards; one for each activation before."""
    out = program.out
    tensors = list(program.inputs[:2])
    in_place = _in_like_shards([*tensors, out])
    buffers: Buffers = {}
    if not in_place:
        buffers = {f"IN{place}": 2 * tensor.tile_bytes for place, tensor in enumerate(tensors)}
        buffers["OUT"] = 2 * out.tile_bytes
    if len(tensors) == 1:
        buffers["SCALAR"] = max(out.tile_bytes, _HALF)
    if len(tensors) > 1 and tensors[0].shape[-2:] != tensors[1].shape[-2:]:
        buffers["SPREAD"] = 2 * max(tensor.tile_bytes for tensor in tensors)
    together = _together(program) if in_place else 1
    sizes = [tensor.tile_bytes for tensor in tensors] + [max(out.tile_bytes, _HALF)] * (2 - len(tensors))
    prepared = [_HALF if _kind(program) in _EXPONENTS else size for size in sizes]
    for place, is_prepared in enumerate(_prepared(program)):
        buffers[f"PREPARED{place}"] = together * prepared[place] if is_prepared else 0
    return buffers


def _prepared(program: Program) -> tuple[bool, bool]:
    """Whether something is done to each operand first."""
    printed, prepared = _BEFORE.search(program.attributes), _PREPARED.search(program.attributes)
    if printed is None:
        count = program.attributes.count("UnaryOpType")
        asked = (count > 0, count > 1)
    else:
        asked = ("UnaryOpType" in printed[1], "UnaryOpType" in printed[2])
    if prepared is None or (prepared[1] is None and _is_wide(program)):  # the vector unit subtracts either way
        return asked
    return True, asked[1] or prepared[1] is not None


def _kind(program: Program) -> str:
    kind = _KIND.search(program.attributes)
    return kind[1] if kind else ""


def _is_wide(program: Program) -> bool:
    return {tensor.dtype for tensor in program.inputs[:2]} == {"FLOAT32"}


def _together(program: Program) -> int:
    """Tiles of a shard prepared at a time: few where the vector unit works, on FLOAT32, products and quotients."""
    name, dtypes = _kind(program), {tensor.dtype for tensor in program.inputs[:2]}
    is_vector = _is_wide(program) or name == "DIV" or (name == "MUL" and dtypes == {"BFLOAT16"})
    return FEW if is_vector else TOGETHER


def _in_like_shards(tensors: Sequence[Spec]) -> bool:
    """Whether all lie in L1 in the same shards: then a program works on them where they lie."""
    return tensors[0].held is not None and len({(spec.placement, spec.shape) for spec in tensors}) == 1


def ternary(program: Program) -> Buffers:
    """Two pages of each of three operands and of the output, unless all lie in like shards; three to spread one."""
    if _in_like_shards([*program.inputs, program.out]):
        return {}
    most = max(tensor.tile_bytes for tensor in [*program.inputs, program.out])
    is_spread = any(tensor.shape[-2:] != program.out.shape[-2:] for tensor in program.inputs)
    return {"IN": 6 * most, "OUT": 2 * most, "SPREAD": 6 * most if is_spread else 0}


def unary(program: Program) -> Buffers:
    """Two pages in, two out, unless both lie in like shards; a few kinds keep a copy."""
    x, out = program.x, program.out
    kinds = program.attributes + program.settings.get(CALL, "").upper()  # 0.81 prints no kind that has parameters
    scratch = {"COPY": 2 * x.tile_bytes} if any(name in kinds for name in _WITH_SCRATCH) else {}
    in_place = x.dtype == out.dtype and _in_like_shards([x, out])
    return scratch if in_place else {"IN": 2 * x.tile_bytes, "OUT": 2 * out.tile_bytes, **scratch}


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
        "IN": (FEW_REDUCED if in_place else _read(program, along_row=along_row, negated=negated is not None))
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
        return max(FEW_REDUCED, min(CHUNK, x.columns if along_row else x.rows))
    if along_row:
        each = max(x.batch * x.rows // cores, 1)  # rows of tiles on the core with least of them
        return FEW_REDUCED if each * x.columns < SEVERAL or (negated and each == 1) else CHUNK
    # a few high columns are cut across cores: then the output has a row for each part
    if program.out.shape[-2] > 1:
        return FEW_REDUCED if x.dtype == "FLOAT32" else CHUNK
    return FEW_REDUCED if x.batch * x.columns < SEVERAL * cores else CHUNK


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
    """A product of all, or over one dimension: two tiles in, two out."""
    return {"IN": 2 * program.x.tile_bytes, "OUT": 2 * program.out.tile_bytes}


def added_outside(program: Program) -> Buffers | None:
    """A sum over a dimension outside of the tiles: two tiles in, zeros, two out."""
    if program.factory != "MorehSumNCFactory" or program.fp32:
        return None
    return {**multiplied(program), "ZEROS": _HALF}


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
