"""Buffers of ops that work tile by tile.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.program_models.program import Program
    from ttnn_mcp.readers.graph.specs import Spec

_HALF = TILE_BYTES["BFLOAT16"]
_WITH_SCRATCH = ("LOGIT", "CBRT")  # unary ops that keep a copy
# binary ops that do something to an operand first, as no attribute prints
_PREPARED = re.compile(r"BinaryOpType::(?:(LOGICAL_\w+|LOGADDEXP2?|HYPOT|LDEXP)|RSUB)\b")


def binary(program: Program) -> int:
    """Two pages of each operand and of the output, unless all lie in like shards; one for each activation before."""
    out = program.out
    tensors = list(program.inputs[:2])
    sizes = [] if _in_like_shards([*tensors, out]) else [2 * tensor.tile_bytes for tensor in [*tensors, out]]
    if len(tensors) == 1:
        sizes.append(max(out.tile_bytes, _HALF))  # the scalar
    if len(tensors) > 1 and tensors[0].shape[-2:] != tensors[1].shape[-2:]:
        sizes.append(2 * max(tensor.tile_bytes for tensor in tensors))  # the one that is spread
    prepared = _PREPARED.search(program.attributes)
    before = 0 if prepared is None else 2 if prepared[1] else 1
    activations = min(program.attributes.count("UnaryOpType") + before, 2)
    return sum(sizes) + activations * max(_HALF, *(tensor.tile_bytes for tensor in tensors))


def _in_like_shards(tensors: Sequence[Spec]) -> bool:
    """Whether all lie in L1 in the same shards, all of them full: then a program works on them where they lie."""
    shards = {spec.placement.shard if spec.placement and spec.sharded_in_l1 else None for spec in tensors}
    shard = tensors[0].shard
    holders = tensors[0].placement.cores if tensors[0].placement else None
    return (
        len(shards) == 1
        and shard is not None
        and len({spec.shape for spec in tensors}) == 1
        and tensors[0].tiles == shard[0] * shard[1] * (holders or 0)
    )


def ternary(program: Program) -> int:
    """Two pages of each of three operands and of the output."""
    most = max(tensor.tile_bytes for tensor in [*program.inputs, program.out])
    return 8 * most


def unary(program: Program) -> int:
    """Two pages in, two out; a few kinds keep a copy."""
    x, out = program.x, program.out
    scratch = 2 * x.tile_bytes if any(name in program.attributes for name in _WITH_SCRATCH) else 0
    return 2 * (x.tile_bytes + out.tile_bytes) + scratch
