"""Claims beside what replays and earlier runs measured: the change that a claim advises, on the same work and chip.

What was faster raises the least that the claim saves; what was slower or alike becomes its caveat. Only a change
of what the fix asks to change counts: another one proves nothing about this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.archive.memory_of_ops import Remembered, remembered
from ttnn_mcp.archive.settings_apart import is_advised, is_spelt_out
from ttnn_mcp.checks.expectation import A_REPLAY, AN_EARLIER_RUN, COVERED, Expectation
from ttnn_mcp.quoting import figure
from ttnn_mcp.replay.kept import tried_alone
from ttnn_mcp.wire import Evidence

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.archive.precedents import Precedent
    from ttnn_mcp.checks.check import Check, Claim

OWN_EVIDENCE = 3  # cells of the claim's own report that stay in front of the citation
KERNEL = "DEVICE KERNEL DURATION [ns]"


def backed(facts: WindowFacts, claims: Sequence[tuple[Check, Claim]]) -> list[tuple[Check, Claim]]:
    """The claims, each with what earlier runs say of its change."""
    rows = [claim.rows for _, claim in claims if _is_of_ops(claim)]
    if not rows:
        return [*claims]
    lines = facts.ops.lines[np.unique(np.concatenate(rows))]
    earlier = remembered(facts.run, facts.scope.ops, lines)
    alone = tried_alone(facts.run, facts.ops, lines)
    earlier = {**earlier, **{line: _first(one, earlier.get(line)) for line, one in alone.items()}}
    return [(check, _backed(facts, claim, earlier)) for check, claim in claims] if earlier else [*claims]


def _first(replayed: Remembered, earlier: Remembered | None) -> Remembered:
    """Both, the replays of the op itself first."""
    return Remembered(replayed.ours, (*replayed.precedents, *(earlier.precedents if earlier else ())))


def _is_of_ops(claim: Claim) -> bool:
    """Whether it promises to save time of ops."""
    return bool(claim.promise_ns) and claim.gap_ns is None


def _backed(facts: WindowFacts, claim: Claim, earlier: Mapping[int, Remembered]) -> Claim:
    if not _is_of_ops(claim):
        return claim
    measured = {
        place: (earlier[line], tried)
        for place, line in enumerate(facts.ops.lines[claim.rows].tolist())
        if line in earlier and (tried := _tried(earlier[line], claim.fix))
    }
    sure = np.zeros(len(claim.rows))
    for place, (_, tried) in measured.items():
        if tried.verdict == "faster":
            saved = facts.kernel_ns[claim.rows[place]] - tried.surely_us * 1e3
            sure[place] = min(max(saved, 0.0), claim.at_most_ns[place])
    claim = _expecting(facts, claim, {place: tried for place, (_, tried) in measured.items()})
    if sure.any():
        return _surer(claim, sure, *measured[int(np.argmax(sure))])
    doubts = [place for place, (_, tried) in measured.items() if tried.verdict != "faster"]
    heaviest = max(doubts, key=lambda place: facts.kernel_ns[claim.rows[place]], default=None)
    return claim if heaviest is None else _doubted(claim, *measured[heaviest])


def _expecting(facts: WindowFacts, claim: Claim, tried: Mapping[int, Precedent]) -> Claim:
    """The claim with what earlier runs let expect, where they tried its change on most of its time."""
    if sum(claim.at_most_ns[place] for place in tried) < COVERED * claim.at_most_ns.sum():
        return claim
    saved, low, high = np.zeros((3, len(claim.rows)))
    for place, precedent in tried.items():
        if precedent.verdict == "faster":
            took, then = facts.kernel_ns[claim.rows[place]], precedent.earlier.timing.median_us * 1e3
            noise = precedent.noise_share * then
            saved[place], low[place], high[place] = took - then, took - then - noise, took - then + noise
    replayed = all(precedent.earlier.cell for precedent in tried.values())
    basis = A_REPLAY if replayed else AN_EARLIER_RUN
    expected = Expectation(saved, low, high, basis).within(claim.at_least_ns, claim.at_most_ns)
    return replace(claim, expected=expected)


def _tried(earlier: Remembered, fix: str) -> Precedent | None:
    """The fastest earlier settings like those that the fix asks for; else exactly those, which were no faster."""
    faster = (
        precedent
        for precedent in earlier.precedents
        if precedent.verdict == "faster" and is_advised(precedent.differences, fix)
    )
    spelt_out = (precedent for precedent in earlier.precedents if is_spelt_out(precedent.differences, fix))
    return next(chain(faster, spelt_out), None)


def _surer(
    claim: Claim, sure: np.ndarray[tuple[int], np.dtype[np.float64]], ours: Remembered, tried: Precedent
) -> Claim:
    least = sure if claim.at_least_ns is None else np.maximum(sure, claim.at_least_ns)
    expected = claim.expected and claim.expected.within(least, claim.at_most_ns)
    here = f"{figure(ours.ours.median_us, '.1f')} here, noise {figure(tried.noise_share, '.0%')}"
    return replace(
        claim,
        at_least_ns=least,
        expected=expected,
        assumption=f"{claim.assumption}; at least what was measured: {tried.spoken}, {here}",
        evidence=(*claim.evidence[:OWN_EVIDENCE], _cited(tried)),
    )


def _doubted(claim: Claim, ours: Remembered, tried: Precedent) -> Claim:
    outcome = "was slower" if tried.verdict == "slower" else "gained nothing"
    doubt = (
        f"{outcome} before: {tried.spoken}, {figure(ours.ours.median_us, '.1f')} "
        f"here, noise {figure(tried.noise_share, '.0%')}"
    )
    return replace(
        claim,
        caveat="; ".join(filter(None, (claim.caveat, doubt))),
        evidence=(*claim.evidence[:OWN_EVIDENCE], _cited(tried)),
    )


def _cited(tried: Precedent) -> Evidence:
    column, cell = tried.earlier.cell or (KERNEL, round(tried.earlier.timing.median_us * 1e3))
    return Evidence(source=tried.earlier.run, row=tried.earlier.line, column=column, value=cell)
