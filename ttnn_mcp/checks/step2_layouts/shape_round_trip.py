"""A reshape, transpose or permute is undone by the next one.

Code written module by module brings a tensor into the shape that a module likes and back behind it: VoVNet reshaped
and unsharded after each conv although the next one took the tensor as it was; with such ops only where they are needed,
and other changes, it went from 102 to 127 frames per second (tt-metal #27876).

The line: a reshape whose result a reshape brings back to the very shape, or a transpose or permute that another one
undoes, type and placement as before; together 0.5 % of the window. The bound is the time of the second, and of the
first where nobody else reads what it made. At least is that too where a linked memory report proves it.

Silent on permutes of a tensor with two equal dims (shapes do not show then which of them moved), and where an op stands
between the two.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.round_trips import RoundTrips, ends_as_it_began, round_trips
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, OPERANDS
from ttnn_mcp.checks.wording import cite_op, time_of
from ttnn_mcp.checks.worth import SAFE, Worth

TURNS = ("Transpose", "Permute")


@check(
    title="a shape that is changed and restored",
    lever=LAYOUT,
    of=ops_named("no reshapes, transposes or permutes", "Reshape", *TURNS),
    needs=(OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such pairs."""
    trips = _undone(facts)
    sure = trips.surely_saves(facts.run, facts.ops, facts.kernel_ns)
    tell = partial(_tell, trips)
    at_most, pairs = trips.saves(facts.kernel_ns), trips.pairs_ns(facts.kernel_ns)
    yield Problem(trips.rows, at_most, at_least_ns=sure, tell=tell, about=trips.out, weigh_ns=pairs)


def _tell(trips: RoundTrips, ops: Affected) -> Words:
    facts, back = ops.facts, trips.undone_by(ops.row)
    return Words(
        claim=(
            f"{ops.many('change')} of shape, undone by the next op ({time_of(facts, trips.rows)}): {ops.name} "
            f"{ops.example} and back at line {facts.line(back)}"
        ),
        assumption="the second gives the tensor that the first one took",
        also=cite_op(facts, back),
        fix=f"drop the ops at lines {ops.line} and {facts.line(back)}: pass on what the first one reads",
        verify="re-profile; compare_runs.removed lists both; PCC unchanged",
        caveat="readers are inferred from shapes; keep the first where another op needs its shape",
    )


def _undone(facts: WindowFacts) -> RoundTrips:
    ops, reshapes, turns = facts.ops, facts.named("Reshape"), facts.named(*TURNS)
    by_shape = round_trips(ops, facts.flow, reshapes, reshapes)
    by_turn = round_trips(ops, facts.flow, turns, turns)
    dims = np.sort(ops.inputs[0].logical[by_turn.out], axis=1)
    twice = ((np.diff(dims, axis=1) == 0) & (dims[:, 1:] > 1)).any(axis=1)
    trips = [by_shape, by_turn.where(~twice)]
    out, back, sole = (np.concatenate([getattr(one, leg) for one in trips]) for leg in ("out", "back", "sole"))
    both = RoundTrips(out, back, sole)
    x, y = ops.inputs[0].logical, ops.outputs[0].logical
    restored = (x[out] == y[back]).all(axis=1) & (y[out] == x[back]).all(axis=1) & (x[out] != y[out]).any(axis=1)
    return both.where(restored & ends_as_it_began(ops, both))
