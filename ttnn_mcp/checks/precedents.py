"""Precedents inside the run: what an edit brings is first what this run shows of the form that it brings.

A run often has the answer itself: the same work as another op, with another config or with activations in L1, and its
time. `faster-elsewhere` and `same-work-elsewhere-faster` find such twins. Any other change that makes of an op what its
twin is expects what the twin shows, before a law or cases measured elsewhere; it may do better than the twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Floats, Rows
from ttnn_mcp.checks.check import Check, Claim
from ttnn_mcp.checks.expectation import COVERED, MEASURED, Expectation, kinds_of
from ttnn_mcp.checks.levers import PLACEMENT, PROGRAM
from ttnn_mcp.checks.op_config import set_alone


def by_precedents(facts: WindowFacts, claims: Sequence[tuple[Check, Claim]]) -> list[tuple[Check, Claim]]:
    """The claims; those that bring an op into a form which this run has faster elsewhere expect what it shows."""
    ends, twins = np.zeros((3, len(facts))), np.full(len(facts), -1, dtype=np.int64)
    for _, claim in claims:
        precedent = claim.expected
        if precedent is not None and precedent.twins is not None:
            twins[claim.rows] = precedent.twins
            ends[:, claim.rows] = precedent.saved_ns, precedent.low_ns, precedent.high_ns
    return [(check, _precedented(facts, check, claim, ends, twins)) for check, claim in claims]


def _precedented(facts: WindowFacts, check: Check, claim: Claim, ends: Floats, twins: Rows) -> Claim:
    before, shown = claim.expected, np.flatnonzero(twins[claim.rows] >= 0)
    known = before is not None and (before.twins is not None or before.basis in MEASURED)
    if known or not len(shown):
        return claim
    able = np.zeros(len(claim.rows), dtype=np.bool_)
    for places in kinds_of(facts, claim.rows[shown]):
        row = int(claim.rows[shown[places[0]]])
        able[shown[places]] = _brings(facts, check, claim, row, int(twins[row]))
    most = claim.at_most_ns
    if not able.any() or (before is None and most[able].sum() < COVERED * most.sum()):
        return claim
    none = np.zeros(len(most))
    saved, low, high = (none, none, none) if before is None else (before.saved_ns, before.low_ns, before.high_ns)
    here = ends[:, claim.rows]
    high = np.where(able, np.maximum(here[2], saved), high)  # the edit may do better than what the run has
    saved, low = (np.where(able, of_run, other) for of_run, other in zip(here, (saved, low), strict=False))
    heaviest = int(claim.rows[able][np.argmax(facts.kernel_ns[claim.rows[able]])])
    basis = f"precedent: line {facts.line(heaviest)} as {facts.line(int(twins[heaviest]))}"
    basis = basis if before is None or able.all() else f"{basis}; {before.basis}"
    return replace(claim, expected=Expectation(saved, low, high, basis).within(claim.at_least_ns, most))


def _brings(facts: WindowFacts, check: Check, claim: Claim, row: int, twin: int) -> bool:
    """Whether the change makes of an op what its twin is: another program or op, or a place in L1."""
    operands = (facts.ops.inputs[0], facts.ops.outputs[0])
    placed = [(each.placement[row], each.placement[twin]) for each in operands]
    if check.slot == PLACEMENT.slot:
        to_l1 = any(then.startswith("L1") and not now.startswith("L1") for now, then in placed)
        return to_l1 and facts.names[row] == facts.names[twin]
    if check.slot != PROGRAM or claim.sets is None or any(now != then for now, then in placed):
        return False
    program = set_alone(facts, row, claim.sets).program
    return bool(program) and ("inimal" in program) == facts.names[twin].startswith("Minimal")
