"""A tensor is cast to another data type and straight back.

A typecast reads and writes the whole tensor and computes nothing. Most producers can write the type their consumer
wants (`dtype=`).

The line: a Typecast whose input another Typecast made from the same type (both can go if no other op reads the copy,
otherwise only the second); together 1 % of the window. Joins rest on equal size, type, layout and placement.

Silent if an op between the two needs the other type (for example an integer scan), and on constants that are cast in
every iteration (constant-cast-repeatedly).
"""

from __future__ import annotations

from functools import partial

from ttnn_mcp.analyses.op_kinds.round_trips import RoundTrips, ends_as_it_began, round_trips
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.wording import cite_op, time_of
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="cast there and back",
    lever=LAYOUT,
    of=ops_named("no Typecast ops", "Typecast"),
    worth=Worth(saving=USUAL),
    compiled="drop the .to() pair in the model; cast constants once, outside forward()",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all pairs of casts that undo each other."""
    casts = facts.named("Typecast")
    trips = round_trips(facts.ops, facts.flow, casts, casts)
    trips = trips.where(ends_as_it_began(facts.ops, trips))
    sure = trips.surely_saves(facts.run, facts.ops, facts.kernel_ns)
    at_most, pairs = trips.saves(facts.kernel_ns), trips.pairs_ns(facts.kernel_ns)
    tell = partial(_tell, trips)
    yield Problem(trips.rows, at_most, at_least_ns=sure, tell=tell, about=trips.out, weigh_ns=pairs)


def _tell(trips: RoundTrips, ops: Affected) -> Words:
    facts, back = ops.facts, trips.undone_by(ops.row)
    return Words(
        claim=(
            f"{len(ops.rows)} tensors are cast and cast straight back ({time_of(facts, trips.rows)}); heaviest "
            f"{ops.example} and {facts.line(back)}"
        ),
        assumption="both casts go if no other op reads the copy, otherwise the second one",
        cells=((facts.input(0), "DATATYPE"),),
        also=cite_op(facts, back, (facts.output(), "DATATYPE")),
        fix="drop both ttnn.typecast calls, or let the producer write the type: ttnn.linear(..., dtype=...)",
        verify="re-profile: tensor_formats.conversions lists fewer Typecast ops; PCC unchanged",
        caveat="joined by size, type and placement; a narrow type in between rounds values, so PCC may rise",
    )
