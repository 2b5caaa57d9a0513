"""Numbers that identify ops across two reports: by name, by name and shapes, and by their whole record.

Names are canonical (`OptimizedConvNew` is `Conv2d`), device handles are left out, and shapes are logical ones if both
reports have them. Each of the three numbers tells more ops apart than the one before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.run.ops.texts import Texts

_SHAPING_INPUTS = 2  # inputs that decide an op's work; later ones are biases, scales, index tables
_FORMAT = ("dtype", "layout", "placement")  # attributes of an operand


@dataclass(frozen=True, slots=True)
class Tokens:
    """Three numbers per op of a table, comparable with those of the table that was numbered with it.

    Attributes:
        name: equal for the same canonical name.
        shape: equal if also the shapes of the first two inputs and the first output are.
        record: equal if also data type, layout and placement of every operand are.
    """

    name: Integers
    shape: Integers
    record: Integers

    def __len__(self) -> int:
        return len(self.name)


def tokens_of(before: OpTable, after: OpTable, *, padded: bool = False) -> tuple[Tokens, Tokens]:
    """The tokens of two tables; `padded` compares padded shapes, for reports without logical ones."""
    tables = before, after
    rows = len(before) + len(after)
    numbers_of_texts: dict[str, int] = {}

    def over_both_tables(column: Callable[[OpTable], Integers]) -> Integers:
        return np.concatenate([column(ops) for ops in tables])

    def text_numbers(texts: Texts, folded: Callable[[str], str] = str) -> Integers:
        return texts.mapped(
            lambda word: numbers_of_texts.setdefault(folded(word), len(numbers_of_texts) + 1),
            missing=0,
            dtype=np.int64,
        )

    inputs, outputs = (
        max(len(operands) for operands in pair)
        for pair in ([ops.inputs for ops in tables], [ops.outputs for ops in tables])
    )
    columns = [over_both_tables(lambda ops: text_numbers(ops.texts("op_code"), canonical))]
    name = numbered(rows, columns)
    for place in range(min(inputs, _SHAPING_INPUTS)):
        columns += [
            over_both_tables(lambda ops, n=place, dim=dim: _dim(ops, ops.inputs, n, dim, padded))
            for dim in range(4)
        ]
    columns += [over_both_tables(lambda ops, dim=dim: _dim(ops, ops.outputs, 0, dim, padded)) for dim in range(4)]
    shape = numbered(rows, columns)
    columns = [shape]
    for side, count in (("inputs", inputs), ("outputs", outputs)):
        for place in range(count):
            columns += [
                over_both_tables(
                    lambda ops, s=side, n=place, part=part: _spelled(ops, getattr(ops, s), n, part, text_numbers)
                )
                for part in _FORMAT
            ]
    record = numbered(rows, columns)
    split = [np.split(numbers, [len(before)]) for numbers in (name, shape, record)]
    tokens_before, tokens_after = (Tokens(*(parts[side] for parts in split)) for side in (0, 1))
    return tokens_before, tokens_after


def dims_of(operand: Operand, *, padded: bool) -> Integers:
    """The padded or the logical dims of an operand, shape (rows, 4)."""
    return operand.padded if padded else operand.logical


def _dim(ops: OpTable, operands: tuple[Operand, ...], place: int, dim: int, padded: bool) -> Integers:
    """One dim of an operand; 0 where an op, or its whole report, has no such operand."""
    if place >= len(operands):
        return np.zeros(len(ops), dtype=np.int64)
    operand = operands[place]
    return np.where(operand.present, dims_of(operand, padded=padded)[:, dim], 0)


def _spelled(
    ops: OpTable, operands: tuple[Operand, ...], place: int, part: str, text: Callable[[Texts], Integers]
) -> Integers:
    """A number for one text of an operand, 0 where it is absent."""
    if place >= len(operands):
        return np.zeros(len(ops), dtype=np.int64)
    return np.where(operands[place].present, text(getattr(operands[place], part)) + 1, 0)
