"""What the plan sets of each op: one value for all findings, checked as a whole.

Edits that save time set theirs together, in the order of the plan. A trial comes on top of them and of the trials
before it, so it can be taken back alone. What does not fit L1 beside the rest is left out, and what an edit above sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.op_config import COMPUTE_AS_NOW, OpConfig, Sets, present, set_alone
from ttnn_mcp.checks.plan.edits import Edit, Resolved
from ttnn_mcp.checks.plan.plan import Plan
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered

GROUPS_SHOWN = 4  # values of an edit: those for the heaviest ops (ours)


class Setting(NamedTuple):
    """A part of an edit that sets something; `rows` are the ops that no edit above sets already."""

    edit: Edit
    part: Resolved
    sets: Sets
    rows: Rows


class Served(NamedTuple):
    """Ops that get one value, those of each shape together, the heaviest first; `beside`: other edits in the value."""

    rows: tuple[Rows, ...]
    value: str
    beside: str


class Fix(NamedTuple):
    """A fix in the plan.

    Attributes:
        text: it.
        caveat: of the finding.
        value: the part of the text that is the value of a config; empty where it has none.
        fields: the fields of that config which this finding wants.
    """

    text: str
    caveat: str | None
    value: str = ""
    fields: tuple[str, ...] = ()

    def after(self, check: str) -> Fix:
        """The fix where the finding of another check has printed the same value."""
        wanted = f"{', '.join(self.fields)}: in the config of {check}, one value for both"
        return self._replace(text=self.text.replace(self.value, wanted))


class Planned(NamedTuple):
    """The value of an op, and the places of the claims that had a part in it."""

    config: OpConfig
    places: frozenset[int]


class Configs:
    """The configs of all ops after a plan."""

    def __init__(self, facts: WindowFacts, plan: Plan) -> None:
        self._facts = facts
        ranked = [(each.edit, each.overruled) for each in plan.ranked]
        self._together = len([*_steps(ranked)])
        others = [(edit, tuple(_none(part) for part in edit.parts)) for edit in (*plan.trials, *plan.risks)]
        self._steps = [*_steps([*ranked, *others])]
        self._ranked = {each.edit.name: each.instead_of for each in plan.ranked}
        self._names = [each.edit.name for each in plan.ranked]
        self._known: dict[tuple[int, int], Planned] = {}

    def fix(self, edit: Edit, part: Resolved) -> Fix:
        """The fix of a finding with the value that all findings agree on, and a caveat where they do not."""
        claim = part.claim
        if claim.row is None:  # unmoved: a fix of no op keeps no config
            return Fix(claim.fix, claim.caveat)
        if claim.sets is None:
            return Fix(self._beside(edit, claim.fix, claim.row), claim.caveat)
        alone = set_alone(self._facts, claim.row, claim.sets)
        planned = next((one for one in self._heaviest(edit, part) if part.place in one.places), None)
        if planned is None:
            return Fix(claim.fix, _joined(claim.caveat, self._overruled(edit)))
        pairs = zip(alone.texts, planned.config.texts, strict=True)
        before, value = next((pair for pair in pairs if pair[0] and pair[0] in claim.fix), ("", ""))
        fix = claim.fix.replace(before, value) if before else claim.fix
        line = f"# line {self._facts.line(planned.config.row)}"
        moved = planned.config.row != claim.row and line not in fix
        fix = f"{fix}  {line}" if moved else fix
        beside = self._beside_it(edit, planned, value)
        caveat = _joined(claim.caveat, f"the value holds {beside} too" if beside else "")
        return Fix(fix + self._others(edit, part, alone.program), caveat, value, alone.changed_fields)

    def groups(self, edit: Edit) -> list[Served]:
        """What an edit sets of its ops: the values that serve most of their time."""
        steps = [step for step in self._steps if step.edit == edit]  # unmoved: of other ops its value is empty
        if not steps:
            return []
        facts, rows = self._facts, np.unique(np.concatenate([step.rows for step in steps]))
        parts = [np.isin(rows, step.rows).astype(np.int64) for step in self._steps]
        kinds = numbered(
            len(rows), [signatures(facts.ops)[rows], facts.ops.texts("attributes").codes[rows], *parts]
        )
        times = np.bincount(kinds, facts.kernel_ns[rows])
        groups: dict[tuple[tuple[str, ...], str], list[Rows]] = {}
        for kind in np.argsort(-times, kind="stable").tolist():
            alike = rows[kinds == kind]
            heaviest = int(alike[np.argmax(facts.kernel_ns[alike])])
            planned = self._at(heaviest, self._stop(edit))
            texts = self._own(edit, planned)
            value = texts, self._beside_it(edit, planned, "; ".join(texts))
            if texts and (value in groups or len(groups) < GROUPS_SHOWN):
                groups.setdefault(value, []).append(alike)
        return [Served(tuple(alike), "; ".join(texts), beside) for (texts, beside), alike in groups.items()]

    def _beside_it(self, edit: Edit, planned: Planned, value: str) -> str:
        """The other edits of which a value holds a field: who leaves one of them out, leaves its fields as now."""
        names: dict[str, str] = {}
        for step in self._steps:
            if step.edit == edit or step.part.place not in planned.places:
                continue
            fields = set_alone(self._facts, planned.config.row, step.sets).field_codes
            if any(f"{name}={code}" in value for name, code in fields.items()):
                names[step.edit.name] = " (may cost accuracy)" * step.edit.costs_accuracy
        return ", ".join(f"{name}{costs}" for name, costs in names.items())

    def _own(self, edit: Edit, planned: Planned) -> tuple[str, ...]:
        """Of a value the arguments that this edit has a part in."""
        config = planned.config
        own = [step.sets for step in self._steps if step.edit == edit and step.part.place in planned.places]
        alone = {argument for sets in own for argument in set_alone(self._facts, config.row, sets).changes}
        return tuple(text for argument, text in config.changes.items() if argument in alone)

    def _others(self, edit: Edit, part: Resolved, program: str) -> str:
        """That other shapes get other program configs: blocks that fit one shape leave cores idle on another."""
        sets, rows = part.claim.sets, self._facts.heaviest(part.claim.rows)
        if not program or sets is None:  # unmoved: only asked of what sets something
            return ""
        differ = sum(set_alone(self._facts, row, sets).program not in ("", program) for row in rows)
        return f"; other shapes differ: details={edit.name}" if differ else ""

    def _heaviest(self, edit: Edit, part: Resolved) -> Iterator[Planned]:
        """The values of the op that the fix is written for, then of the heaviest ones that no edit above sets."""
        free = next((step.rows for step in self._steps if step.part is part), part.change.rows)
        rows = [part.claim.row or 0, *self._facts.heaviest(free)]
        yield from (
            self._at(row, self._stop(edit))
            for row in dict.fromkeys(rows)
            if row in free  # unmoved: spares others
        )

    def _stop(self, edit: Edit) -> int:
        """How many steps the values of an edit include."""
        if edit.name in self._ranked:
            return self._together
        places = [place for place, step in enumerate(self._steps, 1) if step.edit == edit]
        return max(places, default=self._together)

    def _at(self, row: int, stop: int) -> Planned:
        """The value of an op after so many steps."""
        known = self._known.get((row, stop))
        if known is not None:  # unmoved: only spares making it again
            return known
        config, places = present(self._facts, row), set[int]()
        for _, part, sets, rows in islice(self._steps, stop):
            at = int(np.searchsorted(rows, row))
            if at == len(rows) or rows[at] != row:
                continue
            changed = sets(config)
            if changed is not None and changed.fits:
                config = changed
                places.add(part.place)
        self._known[row, stop] = planned = Planned(config, frozenset(places))
        return planned

    def _beside(self, edit: Edit, fix: str, row: int) -> str:
        """A fix that keeps the compute config, with the one that the plan has."""
        if COMPUTE_AS_NOW not in fix:  # unmoved: then there is nothing to replace
            return fix
        planned = self._at(row, self._stop(edit)).config
        return fix if planned.compute == planned.now.compute else fix.replace(COMPUTE_AS_NOW, planned.compute_text)

    def _overruled(self, edit: Edit) -> str:
        """Why the value of a finding is not part of the whole."""
        above = self._ranked.get(edit.name)
        if above is not None:
            return f"instead of {self._names[above]}, not with it"
        return "not with the configs of the edits above: no room in L1 for both, or they set the same"


def _steps(edits: Sequence[tuple[Edit, tuple[Mask, ...]]]) -> Iterator[Setting]:
    for edit, overruled in edits:
        for part, lost in zip(edit.parts, overruled, strict=True):
            if part.claim.sets is not None:
                rows = part.claim.set_rows(part.change.rows[~lost])
                yield Setting(edit, part, part.claim.sets, rows)


def _none(part: Resolved) -> Mask:
    return np.zeros(len(part.change), dtype=np.bool_)


def _joined(first: str | None, other: str) -> str | None:
    return "; ".join(text for text in (first, other) if text) or None
