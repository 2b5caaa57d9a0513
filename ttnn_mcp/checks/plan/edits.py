"""Claims as edits: the changes of code that resolve them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.op_kinds.attention_blocks import attention_blocks
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import Check, Claim
from ttnn_mcp.checks.levers import ATTENTION, JOINED_MATMULS, LAYOUT, Lever
from ttnn_mcp.checks.plan.remaining import Relief
from ttnn_mcp.records import dataclass

OF_ATTENTION = {ATTENTION.name, JOINED_MATMULS.name, LAYOUT.name}  # what one rewrite of an attention resolves


class Resolved(NamedTuple):
    """A claim, or the part of it that one edit resolves.

    Attributes:
        place: of the claim among all.
        check: that made it.
        claim: all of it.
        change: on the ops of this part.
    """

    place: int
    check: Check
    claim: Claim
    change: Relief

    @property
    def at_least_ns(self) -> float:
        """What it saves for certain."""
        if self.claim.gap_ns is not None:
            return self.claim.gap_ns[0]
        return 0.0 if self.claim.at_least_ns is None else float(self.claim.at_least_ns[self.change.at].sum())


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of code.

    Attributes:
        name: of its lever, numbered where several have one: in the order of the plan.
        lever: what it changes.
        parts: the claims that it resolves, the one that saves most first.
    """

    name: str
    lever: Lever
    parts: tuple[Resolved, ...]

    @property
    def what(self) -> str:
        """In a few words: of one check, its title."""
        titles = dict.fromkeys(part.check.title for part in self.parts)
        return next(iter(titles)) if len(titles) == 1 else self.lever.what

    @property
    def rows(self) -> Rows:
        """Its ops, in order."""
        return np.unique(np.concatenate([part.change.rows for part in self.parts]))

    @property
    def changes(self) -> list[Relief]:
        """What its parts change, in their order."""
        return [part.change for part in self.parts]

    @property
    def promises(self) -> bool:
        """Whether it saves time; else it is a trial, as what was not tried and expects nothing, or a risk."""
        return any(part.claim.promise_ns > 0 and not _is_trial(part) for part in self.parts)

    @property
    def risk(self) -> bool:
        """Whether all of it only warns."""
        return all(part.check.risk for part in self.parts)

    @property
    def general(self) -> bool:
        """Whether it names symptoms only, whose causes other edits may name."""
        return all(part.check.general for part in self.parts)

    @property
    def costs_accuracy(self) -> bool:
        """Whether a part may lower the PCC."""
        return any(part.check.costs_accuracy for part in self.parts)


def edits_of(facts: WindowFacts, claims: Sequence[tuple[Check, Claim]]) -> list[Edit]:
    """The edits that resolve the claims, in no order; several may have one name."""
    groups: list[tuple[Lever, list[Resolved]]] = []
    inside = _in_attention(facts)
    for place, (check, claim) in enumerate(claims):
        for lever, part in _parts(place, check, claim, inside):
            _add(groups, lever, part)
    return [
        Edit(lever.name, lever, tuple(sorted(parts, key=lambda part: -_promise(part)))) for lever, parts in groups
    ]


def numbered(edits: Sequence[Edit]) -> list[Edit]:
    """The edits in their order; a name that stands twice gets a number."""
    counts: dict[str, int] = {}
    named: list[Edit] = []
    for edit in edits:
        counts[edit.name] = number = counts.get(edit.name, 0) + 1
        named.append(edit if number == 1 else replace(edit, name=f"{edit.name}-{number}"))
    return named


def _in_attention(facts: WindowFacts) -> Mask:
    inside = np.zeros(len(facts), dtype=np.bool_)
    for block in attention_blocks(facts.ops, facts.flow):
        inside[block.start : block.stop] = True
    return inside


def _parts(place: int, check: Check, claim: Claim, inside: Mask) -> list[tuple[Lever, Resolved]]:
    """The claim, cut where some of its ops belong to attention blocks."""
    if claim.lever is not None:
        return [(claim.lever, Resolved(place, check, claim, Relief.of(claim, claim.lever.slot)))]
    if check.lever.name not in OF_ATTENTION or not inside[claim.rows].any():
        return [(check.lever, Resolved(place, check, claim, Relief.of(claim, check.slot)))]
    within = inside[claim.rows]
    if check.lever == ATTENTION or within.all():  # unmoved: both parts of such a claim are of one edit
        return [(ATTENTION, Resolved(place, check, claim, Relief.of(claim, check.slot)))]
    return [
        (lever, Resolved(place, check, claim, Relief.of(claim, check.slot, among)))
        for lever, among in ((ATTENTION, within), (check.lever, ~within))
    ]


def _add(groups: list[tuple[Lever, list[Resolved]]], lever: Lever, part: Resolved) -> None:
    """To the group of the same lever that it belongs to, which may be a new one."""
    alike = [parts for other, parts in groups if other.name == lever.name]
    for parts in alike:
        if _belongs(part, parts, lever):
            parts.append(part)
            return
    groups.append((lever, [part]))


def _belongs(part: Resolved, parts: list[Resolved], lever: Lever) -> bool:
    """Whether one change of code resolves it too: an alternative for the same ops is another one."""
    risky = part.check.risk or not part.claim.promise_ns
    if risky != (parts[0].check.risk or not parts[0].claim.promise_ns):
        return False
    if risky:
        return part.check == parts[0].check
    if _is_trial(part) != _is_trial(parts[0]):  # of which nothing is known: last, and in no sum
        return False
    rivals = [other for other in parts if other.change.slot == part.change.slot and other.check != part.check]
    if any(_overlap(part, other) for other in rivals):
        return False
    if lever.merges:
        return True
    return any(other.check == part.check or _overlap(part, other) for other in parts)


def _is_trial(part: Resolved) -> bool:
    return (part.claim.lever or part.check.lever).tries and part.claim.expected is None


def _overlap(part: Resolved, other: Resolved) -> bool:
    return bool(np.isin(part.change.rows, other.change.rows).any())


def _promise(part: Resolved) -> float:
    return part.claim.promise_ns if part.change.in_gaps else float(part.claim.at_most_ns[part.change.at].sum())
