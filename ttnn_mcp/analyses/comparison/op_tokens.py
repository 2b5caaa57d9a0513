"""What makes an op the same op in another report: hashes of names, shapes and formats that compare across runs.

Names are folded (`OptimizedConvNew` is `Conv2d`), device handles are left out, and shapes are the logical ones
where both reports write them. Three hashes per op, each narrower than the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand
    from ttnn_mcp.run.ops.texts import Texts

    Hashes = NDArray[np.uint64]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, no pattern (2**64 / golden ratio)
_MISSING = 0x5BD1E995  # the hash of an empty cell
_DIM_WEIGHTS = np.array([1_000_003, 10_007, 103, 1], dtype=np.int64)  # primes: dims keep their places
_SHAPING_INPUTS = 2  # what decides an op's work; later inputs are biases, scales, index tables


@dataclass(frozen=True, slots=True)
class Tokens:
    """One hash per op of a table.

    Attributes:
        name: the op's one name.
        shape: and the shapes of its first two inputs and its first output.
        record: and data type, layout and placement of every operand.
    """

    name: Hashes
    shape: Hashes
    record: Hashes

    def __len__(self) -> int:
        return len(self.name)


def tokens_of(ops: OpTable, *, padded: bool = False) -> Tokens:
    """The tokens of every op; `padded` where one of the two reports writes no logical shapes."""
    name = _of_texts(ops.texts("op_code"), canonical)
    shape = name
    for operand in (*ops.inputs[:_SHAPING_INPUTS], *ops.outputs[:1]):
        dims = dims_of(operand, padded=padded) @ _DIM_WEIGHTS
        shape = np.where(
            operand.present, _mixed(shape, dims), shape
        )  # reports differ in how many columns they have
    record = shape
    for operand in (*ops.inputs, *ops.outputs):
        told = record
        for part in (operand.dtype, operand.layout, operand.placement):
            told = _mixed(told, _of_texts(part))
        record = np.where(operand.present, told, record)
    return Tokens(name, shape, record)


def dims_of(operand: Operand, *, padded: bool) -> NDArray[np.int64]:
    """(rows, 4) dims as both reports tell them."""
    return operand.padded if padded else operand.logical


def _of_texts(texts: Texts, folded: Callable[[str], str] = str) -> Hashes:
    return texts.mapped(lambda text: _hashed(folded(text)), missing=_MISSING, dtype=np.uint64)


def _hashed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _mixed(hashes: Hashes, part: NDArray[np.int64] | Hashes) -> Hashes:
    with np.errstate(over="ignore"):
        mixed = (hashes ^ (part.astype(np.uint64) + _SPREAD)) * _SPREAD
        return mixed ^ (mixed >> np.uint64(29))
