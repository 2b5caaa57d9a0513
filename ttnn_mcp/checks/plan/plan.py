"""The plan: all edits of a window, ranked, with what each saves alone and after those above it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Check, Claim
from ttnn_mcp.checks.plan.edits import Edit, edits_of, numbered
from ttnn_mcp.checks.plan.expected import ExpectedSaving, expected_after, expected_alone
from ttnn_mcp.checks.plan.remaining import Ground, Remaining, ground_of, saved_by, time_of
from ttnn_mcp.records import dataclass

ACCURACY_COUNTS = 0.5  # of a saving that may cost accuracy: as likely as not the PCC forbids it (ours)
BOUND_COUNTS = 0.5  # of a bound where nothing is expected: the saving may be anything up to it (ours)
MOST_RELATED = 62  # edits: a number of 64 bits holds as many
MATTERS = 0.01  # of a saving: what another edit takes less of it says nothing about their order (ours)
MOSTLY = 0.5  # of what an edit saves, or is about: above it other edits decide how it stands to them (ours)


class Alone(NamedTuple):
    """What an edit saves by itself, in nanoseconds: at most, and as expected.

    A symptom has no cause of its own: others change most of its ops, and may take it away.
    """

    edit: Edit
    rows: Rows
    saves_ns: float
    expected: ExpectedSaving | None
    symptom: bool = False

    @property
    def counts_ns(self) -> float:
        """What it counts in the order of the plan."""
        level = all(part.claim.law_of_no_gain for part in self.edit.parts)
        saves_ns = self.saves_ns * BOUND_COUNTS * (not level) if self.expected is None else self.expected.saved_ns
        return saves_ns * (ACCURACY_COUNTS if self.edit.costs_accuracy else 1.0)

    def counts_of(self, slot: str, ops: int) -> Floats:
        """What it counts on each of so many ops by what it sets there."""
        counted = np.zeros(ops)
        for part in self.edit.parts:
            if part.change.slot == slot:
                known, at = part.claim.expected, part.change.at
                bound = part.claim.at_most_ns[at] * BOUND_COUNTS * (not part.claim.law_of_no_gain)
                counted[part.change.rows] += bound if known is None else known.saved_ns[at]
        return counted * (ACCURACY_COUNTS if self.edit.costs_accuracy else 1.0)


@dataclass(frozen=True, slots=True)
class Ranked:
    """An edit in its place, in nanoseconds of the window.

    Attributes:
        edit: it.
        rows: its ops.
        time_ns: what they take now, with the gaps that it shortens or that go with an op.
        alone_ns: what it saves at most by itself.
        expected: what it is expected to save by itself; None where nothing is known: a trial.
        then_ns: what it saves at most after all edits above it.
        after: places of edits above that change some of its ops too.
        instead_of: the place of an edit above that sets the same on its ops, or takes them away; None without one.
        left_ns: what is left of the window after it.
        overruled: per part, its ops on which an edit above sets the same.
        symptom: whether it stands last, since others may take away what it is about.
    """

    edit: Edit
    rows: Rows
    time_ns: float
    alone_ns: float
    expected: ExpectedSaving | None
    then_ns: float
    after: tuple[int, ...]
    instead_of: int | None
    left_ns: float
    overruled: tuple[Mask, ...]
    symptom: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """All edits of a window.

    Attributes:
        of: the whole that all shares speak of: kernels and gaps of the warm window, or kernels alone.
        before_ns: that whole.
        ranked: edits that save time, in their order.
        trials: edits whose saving is not known.
        risks: what may go wrong.
        expected_ns: what is left of the whole if each edit saves what is expected of it, and others nothing.
        left_ns: per op, what is left of it after all edits.
        floors_ns: per op, what it must take after all edits.
        left_gaps_ns: per op, what is left of the gap before it.
        ground: the window before.
    """

    of: Literal["kernels and gaps", "kernels"]
    before_ns: float
    ranked: tuple[Ranked, ...]
    trials: tuple[Edit, ...]
    risks: tuple[Edit, ...]
    expected_ns: float
    left_ns: Floats
    floors_ns: Floats
    left_gaps_ns: Floats
    ground: Ground

    @property
    def after_ns(self) -> float:
        """What is left of the whole."""
        return float(self.left_ns.sum() + self.left_gaps_ns.sum())

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All of them: those that save time, trials, risks."""
        return (*(each.edit for each in self.ranked), *self.trials, *self.risks)

    def trials_from(self, least_ns: float) -> list[Edit]:
        """The trials that save at least so much, and those of which no bound is known."""
        return [edit for edit in self.trials if not 0 < saved_by(self.ground, edit.changes) < least_ns]

    @property
    def touched(self) -> Mask:
        """The ops of which an edit saves something; a trace only shortens the gaps between them."""
        return self.left_ns < self.ground.spent

    def place_of(self, name: str) -> int | None:
        """Of the edit of this name among those that save time."""
        return next((place for place, each in enumerate(self.ranked) if each.edit.name == name), None)

    def only(self, names: Collection[str]) -> Plan:
        """What it is if these of its edits are made, and no others."""
        kept = [each for each in self.ranked if each.edit.name in names]
        ordered = [Alone(each.edit, each.rows, each.alone_ns, each.expected, each.symptom) for each in kept]
        return _of(self.ground, ordered, [edit for edit in (*self.trials, *self.risks) if edit.name in names])


def plan_of(facts: WindowFacts, claims: Sequence[tuple[Check, Claim]]) -> Plan:
    """The plan for some claims: those of all checks, or of some."""
    ground = ground_of(facts)
    edits = edits_of(facts, claims)
    ordered = _in_order(ground, [edit for edit in edits if edit.promises])
    others = sorted(
        (edit for edit in edits if not edit.promises), key=lambda edit: (edit.risk, edit.costs_accuracy)
    )
    named = numbered([*(each.edit for each in ordered), *others])
    ordered = [each._replace(edit=edit) for edit, each in zip(named, ordered, strict=False)]
    return _of(ground, ordered, named[len(ordered) :])


def _of(ground: Ground, ordered: Sequence[Alone], others: Sequence[Edit]) -> Plan:
    """The plan of edits that have their names and their order."""
    remaining = Remaining(ground)
    return Plan(
        of="kernels and gaps" if ground.gaps.any() else "kernels",
        before_ns=ground.whole,
        ranked=tuple(_made(ground, remaining, ordered)),
        trials=tuple(edit for edit in others if not edit.risk),
        risks=tuple(edit for edit in others if edit.risk),
        expected_ns=expected_after(ground, [(each.edit.parts, each.expected) for each in ordered]),
        left_ns=remaining.ops_ns,
        floors_ns=remaining.floors_ns,
        left_gaps_ns=remaining.gaps_ns,
        ground=ground,
    )


def _in_order(ground: Ground, edits: list[Edit]) -> list[Alone]:
    """The most expected first; what may cost accuracy or is only bounded counts half, symptoms stand last."""
    causes = _causes(ground, edits)
    alone = [
        Alone(
            edit,
            edit.rows,
            saved_by(ground, edit.changes),
            expected_alone(ground, edit.parts),
            edit.general
            and bool((causes * ground.spent)[edit.rows].sum() >= MOSTLY * ground.spent[edit.rows].sum()),
        )
        for edit in edits
    ]
    saving = (each for each in alone if each.saves_ns > 0)
    return _better_first(ground, sorted(saving, key=lambda each: (each.symptom, -each.counts_ns)))


def _better_first(ground: Ground, ordered: list[Alone]) -> list[Alone]:
    """Of two that set the same on some ops, the one that counts more on these stands first: they get its value."""
    order: list[Alone] = []
    for edit in ordered:
        beaten = (
            place
            for place, above in enumerate(order)
            if above.symptom == edit.symptom and _is_better(ground, edit, above)
        )
        order.insert(next(beaten, len(order)), edit)
    return order


def _is_better(ground: Ground, below: Alone, above: Alone) -> bool:
    """Whether an edit counts more on the ops where both set the same, and these matter to the other one."""
    for slot in {part.change.slot for part in below.edit.parts} - {""}:
        counted, counted_above = (each.counts_of(slot, len(ground.spent)) for each in (below, above))
        both = (counted > 0) & (counted_above > 0)
        other = float(counted_above[both].sum())
        if other > MATTERS * above.counts_ns and counted[both].sum() > (1 + MATTERS) * other:
            return True
    return False


def _causes(ground: Ground, edits: list[Edit]) -> Mask:
    """The ops that edits change whose reason is no symptom: not formats and passes, which lessen it at most."""
    changed = np.zeros(len(ground.spent), dtype=np.bool_)
    for edit in edits:
        if not edit.general and not edit.costs_accuracy:
            for part in edit.parts:
                changed[part.change.rows] |= not part.change.in_gaps
    return changed


def _made(ground: Ground, remaining: Remaining, ordered: Sequence[Alone]) -> Iterator[Ranked]:
    """Make one edit after the other."""
    made: list[Edit] = []
    changed_by = np.zeros(len(ground.spent), dtype=np.int64)  # a bit for each edit
    left = remaining.whole_ns
    for edit, rows, alone, expected, symptom in ordered:
        taken = [remaining.set_by_others(part.change) for part in edit.parts]
        away = [
            mask if part.change.in_gaps else mask | remaining.gone_from(part.change)
            for part, mask in zip(edit.parts, taken, strict=True)
        ]
        rival = _rival(ground, edit, away, made)
        bits = _united(changed_by[rows])
        for part in edit.parts:
            remaining.make(part.change)
        then, left = left - remaining.whole_ns, remaining.whole_ns
        less = then < alone - MATTERS * alone
        shared = [place for place in range(min(len(made), MOST_RELATED)) if less and bits >> place & 1]
        yield Ranked(
            edit=edit,
            rows=rows,
            time_ns=time_of(ground, edit.changes),
            alone_ns=alone,
            expected=expected,
            then_ns=min(max(then, 0.0), alone),
            after=tuple(place for place in shared if place != rival),
            instead_of=rival,
            left_ns=left,
            overruled=tuple(taken),
            symptom=symptom,
        )
        if len(made) < MOST_RELATED and then > 0:
            changed_by[rows] |= 1 << len(made)
        made.append(edit)


def _united(bits: Rows) -> int:
    """The bits that any of them has."""
    united = 0
    for each in np.unique(bits).tolist():
        united |= each
    return united


def _rival(ground: Ground, edit: Edit, taken: list[Mask], made: list[Edit]) -> int | None:
    """The edit above that sets the same on the ops with most of what this one saves, or takes these ops away."""
    lost, saved = 0.0, 0.0
    for part, mask in zip(edit.parts, taken, strict=True):
        bounds = part.claim.at_most_ns[part.change.at] if not part.change.in_gaps else np.zeros(len(mask))
        saved += float(bounds.sum())
        lost += float(bounds[mask].sum())
    if lost < MOSTLY * saved:
        return None
    shared = [_shared(ground, edit, taken, other) for other in made]
    best = max(range(len(made)), key=shared.__getitem__, default=None)
    return best if best is not None and max(shared[best]) > 0 else None


def _shared(ground: Ground, edit: Edit, taken: list[Mask], other: Edit) -> tuple[float, float]:
    """The time of the taken ops on which another edit sets the same, and on which it changes kernels or gaps alike."""
    same, alike = 0.0, 0.0
    for part, mask in zip(edit.parts, taken, strict=True):
        for theirs in (each.change for each in other.parts if each.change.in_gaps == part.change.in_gaps):
            time = float(ground.spent[np.intersect1d(part.change.rows[mask], theirs.rows)].sum())
            alike += time
            same += time if theirs.slot == part.change.slot else 0.0
    return same, alike
