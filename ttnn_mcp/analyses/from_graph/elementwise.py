"""Buffers of ops that work tile by tile.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ttnn_mcp.analyses.from_graph.program import CALL, Buffers, Program
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.graph.specs import Spec

_HALF = TILE_BYTES["BFLOAT16"]
_WITH_SCRATCH = ("LOGIT",)  # unary ops that keep a copy
# binary ops that do something to operands first, as no attribute prints
_PREPARED = re.compile(r"BinaryOpType::(?:(LOGICAL_\w+|LOGADDEXP2?|HYPOT|LDEXP)|RSUB)\b")
_KIND = re.compile(r"BinaryOpType::(\w+)")
_EXPONENTS = {"LOGADDEXP", "LOGADDEXP2", "LDEXP"}  # taken in BFLOAT16: binary_ng_program_factory.cpp, op_has_exp
_BEFORE = re.compile(r"BinaryOpType::\w+, SmallVector\((\[.*?\])\), SmallVector\((\[.*?\])\), SmallVector")
TOGETHER, FEW = 8, 2  # tiles of a shard that are prepared at a time: by the matrix unit, by the vector unit


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
