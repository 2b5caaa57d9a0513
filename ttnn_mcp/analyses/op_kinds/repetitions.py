"""Sequences of ops that repeat directly, each working on the output of the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.dataflow.readers import Joins
    from ttnn_mcp.run.ops.op_table import OpTable

LONGEST = 8  # ops of one repetition: a loop body of the model's code, not a layer
TIMES = 8  # repetitions: a shorter loop over heads or experts is often intended


@dataclass(frozen=True)
class Repetition:
    """A sequence that repeats: its rows in order, and the number of ops of one repetition."""

    rows: NDArray[np.int64]
    period: int

    @property
    def times(self) -> int:
        """The number of repetitions."""
        return len(self.rows) // self.period


def repetitions_of(ops: OpTable, joins: Joins, able: NDArray[np.bool_]) -> list[Repetition]:
    """The repetitions among `able` ops, shortest sequences first; no op is in two."""
    kinds = _kinds(ops)
    taken = ~able
    repetitions: list[Repetition] = []
    for period in range(1, LONGEST + 1):
        again = np.zeros(len(kinds), dtype=np.bool_)
        again[period:] = (kinds[period:] == kinds[:-period]) & ~taken[period:] & ~taken[:-period]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], again, [False])).astype(np.int8)))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            first = start - period
            times = (stop - first) // period
            rows: NDArray[np.int64] = np.arange(first, first + times * period, dtype=np.int64)
            if times >= TIMES and _passed_on(joins, rows, period):
                repetitions.append(Repetition(rows, period))
                taken[rows] = True
    return repetitions


def _kinds(ops: OpTable) -> NDArray[np.int64]:
    """Per op a number that equal ops share: name and operands."""
    operands = (*ops.inputs, *ops.outputs)
    columns = [ops.texts("op_code").codes, *(column for operand in operands for column in operand.described_by)]
    return np.ravel(np.unique(np.stack(columns), axis=1, return_inverse=True)[1])


def _passed_on(joins: Joins, rows: NDArray[np.int64], period: int) -> bool:
    """Whether each repetition reads an output of the one before it."""
    makers, readers = joins.edges
    within = (readers <= rows[-1]) & (makers >= rows[0])
    number = (readers[within] - rows[0]) // period
    before = (makers[within] - rows[0]) // period == number - 1
    return len(np.unique(number[before])) == len(rows) // period - 1
