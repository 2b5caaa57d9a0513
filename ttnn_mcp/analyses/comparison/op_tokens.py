"""What makes an op the same op in another report: numbers for names, shapes and formats that compare across runs.

Names are folded (`OptimizedConvNew` is `Conv2d`), device handles are left out, and shapes are the logical ones
where both reports write them. Three numbers per op, each telling more ops apart than the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand
    from ttnn_mcp.run.ops.texts import Texts

    Numbers = NDArray[np.int64]

_SHAPING_INPUTS = 2  # what decides an op's work; later inputs are biases, scales, index tables
_FORMAT = ("dtype", "layout", "placement")  # attributes of an operand


@dataclass(frozen=True, slots=True)
class Tokens:
    """Numbers per op of a table; they compare with those of the tables that were numbered with it.

    Attributes:
        name: the op's one name.
        shape: and the shapes of its first two inputs and its first output.
        record: and data type, layout and placement of every operand.
    """

    name: Numbers
    shape: Numbers
    record: Numbers

    def __len__(self) -> int:
        return len(self.name)


def tokens_of(before: OpTable, after: OpTable, *, padded: bool = False) -> tuple[Tokens, Tokens]:
    """The tokens of two tables; `padded` where one of the two reports writes no logical shapes."""
    tables = before, after
    rows = len(before) + len(after)
    spelled: dict[str, int] = {}

    def both(column: Callable[[OpTable], Numbers]) -> Numbers:
        return np.concatenate([column(ops) for ops in tables])

    def text(texts: Texts, folded: Callable[[str], str] = str) -> Numbers:
        return texts.mapped(
            lambda one: spelled.setdefault(folded(one), len(spelled) + 1), missing=0, dtype=np.int64
        )

    inputs, outputs = (
        max(len(operands) for operands in pair)
        for pair in ([ops.inputs for ops in tables], [ops.outputs for ops in tables])
    )
    columns = [both(lambda ops: text(ops.texts("op_code"), canonical))]
    name = numbered(rows, columns)
    for place in range(min(inputs, _SHAPING_INPUTS)):
        columns += [both(lambda ops, n=place, dim=dim: _dim(ops, ops.inputs, n, dim, padded)) for dim in range(4)]
    columns += [both(lambda ops, dim=dim: _dim(ops, ops.outputs, 0, dim, padded)) for dim in range(4)]
    shape = numbered(rows, columns)
    columns = [shape]
    for side, count in (("inputs", inputs), ("outputs", outputs)):
        for place in range(count):
            columns += [
                both(lambda ops, s=side, n=place, part=part: _spelled(ops, getattr(ops, s), n, part, text))
                for part in _FORMAT
            ]
    record = numbered(rows, columns)
    split = [np.split(numbers, [len(before)]) for numbers in (name, shape, record)]
    first, second = (Tokens(*(parts[side] for parts in split)) for side in (0, 1))
    return first, second


def dims_of(operand: Operand, *, padded: bool) -> NDArray[np.int64]:
    """(rows, 4) dims as both reports tell them."""
    return operand.padded if padded else operand.logical


def _dim(ops: OpTable, operands: tuple[Operand, ...], place: int, dim: int, padded: bool) -> Numbers:
    """One dim of an operand; 0 where an op, or its whole report, has no such operand."""
    if place >= len(operands):
        return np.zeros(len(ops), dtype=np.int64)
    operand = operands[place]
    return np.where(operand.present, dims_of(operand, padded=padded)[:, dim], 0)


def _spelled(
    ops: OpTable, operands: tuple[Operand, ...], place: int, part: str, text: Callable[[Texts], Numbers]
) -> Numbers:
    """A number for one text of an operand, 0 where it is absent."""
    if place >= len(operands):
        return np.zeros(len(ops), dtype=np.int64)
    return np.where(operands[place].present, text(getattr(operands[place], part)) + 1, 0)
