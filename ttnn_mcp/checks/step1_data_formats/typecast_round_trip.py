"""A tensor is cast to another data type and straight back, or the same constant is cast in every iteration.

A typecast reads and writes the whole tensor and computes nothing. Most producers can write the type their consumer
wants (`dtype=`), and constants can be cast once, before the loop.

The line: a Typecast whose input another Typecast made from the same type (both can go if no other op reads the copy,
otherwise only the second); or, in a window that is one of several iterations, a Typecast of a tensor that no op of the
iteration made. Together 1 % of the window. Joins rest on equal size, type, layout and placement.

Silent on a first pass, which casts constants once as it should, and if an op between the two needs the other type (for
example an integer scan).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.layouts import reads_unmade
from ttnn_mcp.analyses.op_kinds.round_trips import ends_as_it_began, round_trips
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_named
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield a claim over the round trips, and one over the constants."""
    yield from _there_and_back(facts)
    yield from _constants(facts)


def _there_and_back(facts: WindowFacts) -> Claims:
    casts = facts.named("Typecast")
    trips = round_trips(facts.ops, facts.flow, casts, casts)
    trips = trips.where(ends_as_it_began(facts.ops, trips))
    if not len(trips.out):
        return
    row = facts.heaviest(trips.out)[0]
    back = trips.undone_by(row)
    yield Claim(
        claim=(
            f"{len(trips.out)} tensors are cast and cast straight back ({time_of(facts, trips.rows)}); heaviest "
            f"{example(facts, row)} and {facts.line(back)}"
        ),
        rows=trips.rows,
        at_most_ns=trips.saves(facts.kernel_ns),
        at_least_ns=trips.surely_saves(facts.run, facts.ops, facts.kernel_ns),
        assumption="both casts go if no other op reads the copy, otherwise the second one",
        evidence=(
            *cite_op(facts, row, (facts.input(0), "DATATYPE")),
            *cite_op(facts, back, (facts.output(), "DATATYPE")),
        ),
        fix="drop both ttnn.typecast calls, or let the producer write the type: ttnn.linear(..., dtype=...)",
        verify="re-profile: tensor_formats.conversions lists fewer Typecast ops; PCC unchanged",
        caveat="joined by size, type and placement; a narrow type in between rounds values, so PCC may rise",
    )


def _constants(facts: WindowFacts) -> Claims:
    repeats = (facts.scope.window.of_iterations or 0) > 1
    rows = np.flatnonzero(facts.named("Typecast") & reads_unmade(facts.ops, facts.flow))
    if not repeats or not len(rows):
        return
    row = facts.heaviest(rows)[0]
    yield Claim(
        claim=(
            f"{len(rows)} casts per iteration ({time_of(facts, rows)}) read tensors that no op of it made: constants, "
            f"or inputs; heaviest {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="all of them are constants and are cast once, before the loop",
        evidence=cite_op(facts, row, (facts.input(0), "DATATYPE"), (facts.output(), "DATATYPE")),
        fix="cast where it is loaded, outside forward(): w = ttnn.typecast(w, ttnn.bfloat8_b)",
        verify="re-profile: tensor_formats.conversions lists fewer Typecast ops",
        caveat="the model's own inputs may be among them: upload those in the type that is needed",
    )


CHECK = Check(
    id="typecast-round-trip",
    title="cast there and back, or cast again and again",
    step=1,
    look=look,
    of=ops_named("no Typecast ops", "Typecast"),
    worth=Worth(saving=USUAL),
    compiled="drop the .to() pair in the model; cast constants once, outside forward()",
)
