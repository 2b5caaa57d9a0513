"""Buffers of ops that work tile by tile: elementwise, reductions, running sums, topk.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program


_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
CHUNK = 8  # tiles that reductions read at a time
FEW_COLUMNS = 2  # tiles of a row that is read at once
SMALL_PLACES = 65_535  # the largest index in 16 bits
_WITH_SCRATCH = ("LOGIT", "CBRT")  # unary ops that keep a copy
_KEPT = re.compile(r"TopkParams\((\d+),")


def binary(program: Program) -> int:
    """Two pages of each operand and of the output; one for each activation of an operand."""
    out = program.out
    tensors = list(program.inputs[:2])
    sizes = [2 * tensor.tile_bytes for tensor in [*tensors, out]]
    if len(tensors) == 1:
        sizes.append(out.tile_bytes)  # the scalar
    if len(tensors) > 1 and tensors[0].shape[-2:] != tensors[1].shape[-2:]:
        sizes.append(2 * max(tensor.tile_bytes for tensor in tensors))  # the operand that is broadcast
    activations = min(program.attributes.count("UnaryOpType"), 2)
    return sum(sizes) + activations * max(_HALF, *(tensor.tile_bytes for tensor in tensors))


def ternary(program: Program) -> int:
    """Two pages of each of three operands and of the output."""
    most = max(tensor.tile_bytes for tensor in [*program.inputs, program.out])
    return 8 * most


def unary(program: Program) -> int:
    """Two pages in, two out; a few kinds keep a copy."""
    x, out = program.x, program.out
    scratch = 2 * x.tile_bytes if any(name in program.attributes for name in _WITH_SCRATCH) else 0
    return 2 * (x.tile_bytes + out.tile_bytes) + scratch


def reduced(program: Program) -> int:
    """Up to eight tiles in, the scale, and two tiles out (along a row) or four (along columns, several at a time)."""
    x, out = program.x, program.out
    along_row = program.factory == "ReduceMultiCoreWProgramFactory"
    tiles_read = 2 if along_row and x.columns <= FEW_COLUMNS else CHUNK
    return tiles_read * x.tile_bytes + max(_HALF, x.tile_bytes) + (2 if along_row else 4) * out.tile_bytes


def reduced_outside(program: Program) -> int:
    """Sum over batches or channels: two tiles of each, of at most eight, zeros, two out."""
    x, out = program.x, program.out
    summed = min(CHUNK, ceil(x.tiles / max(out.tiles, 1)))
    return 2 * summed * x.tile_bytes + _HALF + 2 * out.tile_bytes


def accumulated(program: Program) -> int:
    """Running sums: four tiles in and out, and up to two for the sums."""
    x, out = program.x, program.out
    added = {_HALF: 0, _FULL: 2 * _FULL}.get(x.tile_bytes, _FULL)
    return 4 * (x.tile_bytes + out.tile_bytes) + added


def top_k(program: Program) -> int | None:
    """On one core: six tiles of values and of their indices, and three of both for each tile of the result."""
    printed = _KEPT.match(program.attributes)
    if program.factory != "TopKSingleCoreProgramFactory" or printed is None:
        return None
    x = program.x
    result_tiles = ceil(int(printed[1]) / TILE_SIDE)
    place = _HALF if x.shape[-1] <= SMALL_PLACES else TILE_BYTES["UINT32"]
    return (6 + 3 * result_tiles) * (max(x.tile_bytes, _HALF) + place)
