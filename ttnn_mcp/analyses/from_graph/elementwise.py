"""Buffers of ops that work tile by tile.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.from_graph.program import CALL
from ttnn_mcp.hardware import TILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.from_graph.program import Program
    from ttnn_mcp.readers.graph.specs import Spec

_HALF = TILE_BYTES["BFLOAT16"]
_WITH_SCRATCH = ("LOGIT", "CBRT")  # unary ops that keep a copy
# binary ops that do something to operands first, as no attribute prints
_PREPARED = re.compile(r"BinaryOpType::(?:(LOGICAL_\w+|LOGADDEXP2?|HYPOT|LDEXP)|RSUB)\b")
_KIND = re.compile(r"BinaryOpType::(\w+)")
_BEFORE = re.compile(r"BinaryOpType::\w+, SmallVector\((\[.*?\])\), SmallVector\((\[.*?\])\), SmallVector")
TOGETHER, FEW = 8, 2  # tiles of a shard that are prepared at a time: by the matrix unit, by the vector unit


def binary(program: Program) -> int:
    """Two pages of each operand and of the output, unless all lie in like shards; one for each activation before."""
    out = program.out
    tensors = list(program.inputs[:2])
    in_place = _in_like_shards([*tensors, out])
    sizes = [] if in_place else [2 * tensor.tile_bytes for tensor in [*tensors, out]]
    if len(tensors) == 1:
        sizes.append(max(out.tile_bytes, _HALF))  # the scalar
    if len(tensors) > 1 and tensors[0].shape[-2:] != tensors[1].shape[-2:]:
        sizes.append(2 * max(tensor.tile_bytes for tensor in tensors))  # the one that is spread
    before = _prepared(program)
    if in_place:
        return sum(sizes) + before * _together(program) * program.x.tile_bytes
    return sum(sizes) + before * max(_HALF, *(tensor.tile_bytes for tensor in tensors))


def _prepared(program: Program) -> int:
    """Operands that something is done to first."""
    printed, prepared = _BEFORE.search(program.attributes), _PREPARED.search(program.attributes)
    if printed is None:
        asked = program.attributes.count("UnaryOpType")
    else:
        asked = sum("UnaryOpType" in operand for operand in printed.groups())
    return min(asked + (0 if prepared is None else 2 if prepared[1] else 1), 2)


def _together(program: Program) -> int:
    """Tiles of a shard prepared at a time: few where the vector unit works, on FLOAT32, products and quotients."""
    kind = _KIND.search(program.attributes)
    name, dtypes = kind[1] if kind else "", {tensor.dtype for tensor in program.inputs[:2]}
    is_vector = dtypes == {"FLOAT32"} or name == "DIV" or (name == "MUL" and dtypes == {"BFLOAT16"})
    return FEW if is_vector else TOGETHER


def _in_like_shards(tensors: Sequence[Spec]) -> bool:
    """Whether all lie in L1 in the same shards, all of them full: then a program works on them where they lie."""
    first = tensors[0]
    if first.held is None or len({(spec.placement, spec.shape) for spec in tensors}) > 1:
        return False
    _, rows, columns = first.held
    holders = first.placement.cores if first.placement else None
    return first.tiles == rows * columns * (holders or 0)


def ternary(program: Program) -> int:
    """Two pages of each of three operands and of the output, unless all lie in like shards; three to spread one."""
    if _in_like_shards([*program.inputs, program.out]):
        return 0
    most = max(tensor.tile_bytes for tensor in [*program.inputs, program.out])
    is_spread = any(tensor.shape[-2:] != program.out.shape[-2:] for tensor in program.inputs)
    return (14 if is_spread else 8) * most


def unary(program: Program) -> int:
    """Two pages in, two out, unless both lie in like shards; a few kinds keep a copy."""
    x, out = program.x, program.out
    kinds = program.attributes + program.settings.get(CALL, "").upper()  # 0.81 prints no kind that has parameters
    scratch = 2 * x.tile_bytes if any(name in kinds for name in _WITH_SCRATCH) else 0
    in_place = x.dtype == out.dtype and _in_like_shards([x, out])
    return scratch if in_place else 2 * (x.tile_bytes + out.tile_bytes) + scratch
