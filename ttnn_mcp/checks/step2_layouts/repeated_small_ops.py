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

import numpy as np

from ttnn_mcp.analyses.op_kinds.repetitions import Repetition, repetitions_of
from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, Subject, WindowFacts
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.wording import cite_op, example, op_name, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

MOVES = ("eltwise", "shape", "layout", "movement")
BY_USER = ("PagedFillCache", "PagedUpdateCache")  # caches-written-apart tells what to call instead
WRITES = ("Scatter", "Gather", "IndexFill", "FillCache", "UpdateCache")


def look(facts: WindowFacts) -> Claims:
    """Yield a claim per chain, the three costliest at most."""
    chains = repetitions_of(facts.ops, facts.joins, small(facts))
    chains.sort(key=lambda chain: -float(facts.kernel_ns[chain.rows].sum()))
    for chain in chains[:3]:
        yield _claim(facts, chain)


def small(facts: WindowFacts) -> Mask:
    """Ops that only move or map elements."""
    return (facts.of_family(*MOVES) | facts.named(*WRITES)) & ~facts.joins.doubtful & ~facts.named(*BY_USER)


def _claim(facts: WindowFacts, chain: Repetition) -> Claim:
    rows, times = chain.rows, chain.times
    names = [op_name(facts, int(row)) for row in rows[: chain.period]]
    row = int(rows[np.argmax(facts.kernel_ns[rows])])
    took = facts.kernel_ns[rows]
    return Claim(
        claim=(
            f"{times} times in a row: {', '.join(names)} ({time_of(facts, rows)}), each on the result of the one "
            f"before; {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=took * (1 - 1 / times),
        assumption="one op over all parts takes no longer than one repetition now",
        evidence=cite_op(facts, row),
        fix=(
            f"coalesce the {times} repetitions into one {op_name(facts, row)}: concatenate indices and "
            "values once, before the model runs where they are constants, and convert layouts once around it"
        ),
        verify="re-profile; compare_runs.removed lists the repeated ops; PCC unchanged",
        caveat="repetitions that overwrite each other must keep their order: the last value of a place wins",
    )


CHECK = Check(
    id="repeated-small-ops",
    title="one small sequence repeated on a tensor",
    step=2,
    look=look,
    of=Subject(small, "no ops that only move or map elements"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="write the loop over slices as one indexed assignment or torch.scatter over all indices",
)
