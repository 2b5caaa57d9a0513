"""The same few ops run again and again on one tensor, each time on another part of it.

A loop in the model's code that writes or adds part by part becomes a chain of equal ops, and each of them pays its
launch and passes the whole tensor through. One op over all parts does the same work once: 64 scatters of zeros, each
with its untilize and tilize, became one and saved 2.3 ms of a step (tt-xla, DeepSeek port).

The line: eight repetitions and more of the same sequence of up to eight ops that only move or map elements, equal in
name, operands and shapes, where each repetition reads what the one before made; together 1 % of the window. The
bound is all repetitions but one.

Silent on sequences with matmuls, convs, norms or attention (those are layers), on equal ops
that do not read each other, and across records copied from an earlier call.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.wording import op_name
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.op_table import OpTable

LONGEST = 8  # ops of one repetition: a loop body of the model's code, not a layer (ours)
TIMES = 8  # repetitions: a shorter loop over heads or experts is often intended (ours)
MOVES = ("eltwise", "shape", "layout", "movement")
BY_USER = ("PagedFillCache", "PagedUpdateCache")  # checks of step 3 tell what to call instead
WRITES = ("Scatter", "Gather", "IndexFill", "FillCache", "UpdateCache")


def small(facts: WindowFacts) -> Mask:
    """Ops that only move or map elements."""
    return (facts.of_family(*MOVES) | facts.named(*WRITES)) & ~facts.joins.doubtful & ~facts.named(*BY_USER)


@check(
    title="one small sequence repeated on a tensor",
    of=Subject(small, "no ops that only move or map elements"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="write the loop over slices as one indexed assignment or torch.scatter over all indices",
)
def look(facts: WindowFacts) -> Problems:
    """Yield the chains one by one, the three costliest at most."""
    chains = repetitions_of(facts.ops, facts.joins, small(facts))
    chains.sort(key=lambda chain: -float(facts.kernel_ns[chain.rows].sum()))
    for chain in chains[:3]:
        saved, gone = (
            facts.kernel_ns[chain.rows] * (1 - 1 / chain.times),
            chain.rows[len(chain.rows) // chain.times :],
        )
        yield Problem(chain.rows, saved, gone=gone, tell=partial(_tell, chain))


def _tell(chain: Repetition, ops: Affected) -> Words:
    names = [op_name(ops.facts, int(row)) for row in chain.rows[: chain.period]]
    return Words(
        claim=(
            f"{chain.times} times in a row: {', '.join(names)} ({ops.time}), each on the result of the one before; "
            f"{ops.example}"
        ),
        assumption="one op over all parts takes no longer than one repetition now",
        fix=(
            f"coalesce the {chain.times} repetitions into one {ops.name}: concatenate indices and "
            "values once, before the model runs where they are constants, and convert layouts once around it"
        ),
        verify="re-profile; compare_runs.removed lists the repeated ops; PCC unchanged",
        caveat="repetitions that overwrite each other must keep their order: the last value of a place wins",
    )


@dataclass(frozen=True)
class Repetition:
    """A sequence that repeats: its rows in order, and the number of ops of one repetition."""

    rows: Rows
    period: int

    @property
    def times(self) -> int:
        """The number of repetitions."""
        return len(self.rows) // self.period


def repetitions_of(ops: OpTable, joins: Joins, able: Mask) -> list[Repetition]:
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
            rows: Rows = np.arange(first, first + times * period, dtype=np.int64)
            if times >= TIMES and _passed_on(joins, rows, period):
                repetitions.append(Repetition(rows, period))
                taken[rows] = True
    return repetitions


def _kinds(ops: OpTable) -> Rows:
    """Per op a number that equal ops share: name and operands."""
    operands = (*ops.inputs, *ops.outputs)
    columns = [ops.texts("op_code").codes, *(column for operand in operands for column in operand.described_by)]
    return numbered(len(ops), columns)


def _passed_on(joins: Joins, rows: Rows, period: int) -> bool:
    """Whether each repetition reads an output of the one before it."""
    makers, readers = joins.edges
    within = (readers <= rows[-1]) & (makers >= rows[0])
    number = (readers[within] - rows[0]) // period
    before = (makers[within] - rows[0]) // period == number - 1
    return len(np.unique(number[before])) == len(rows) // period - 1
