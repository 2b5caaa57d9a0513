"""The plan of optimization_check as tables: one line for each edit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.hints import hint_of
from ttnn_mcp.checks.plan.configs import Configs, Served
from ttnn_mcp.checks.plan.edits import Edit, Resolved
from ttnn_mcp.checks.plan.expected import TriedSaving, tried_saving
from ttnn_mcp.checks.plan.plan import Plan, Ranked
from ttnn_mcp.checks.shared.roles import place_in_layers
from ttnn_mcp.checks.unexplained import NO_EDIT, NO_FLOOR, Unexplained
from ttnn_mcp.errors import shown, shown_path
from ttnn_mcp.wire import Columns, Table

PLAN = Columns(
    *("rank", "edit", "what", "where", "share", "expected_us", "low_us", "high_us", "if_gains_us", "basis"),
    *("alone_us", "then_us", "accuracy", "relation"),
    maybe=("if_gains_us",),
    quoted=("where",),
)
TRIALS = Columns("edit", "what", "where", "if_gains_us", "basis", quoted=("where",))
RISKS = Columns("edit", "what", "where", quoted=("where",))
UNEXPLAINED = Columns(
    *("op_code", "ops", "above_us", "now_us", "why", "heaviest_op", "hint"), maybe=("hint",), quoted=("op_code",)
)
SETTINGS = Columns("edit", "shapes", "lines", "sets", "with", maybe=("with",), quoted=("shapes",))
HINTED = 3  # of the heaviest kinds: page one holds 6.3 kB (ours)
SYMPTOM = "symptom, so last"  # whatever it saves: edits above change most of its ops, and may be its causes
LINES_OF_GROUP = 6  # of a group of shapes; of more the number is told
MOSTLY_LEFT = 0.5  # of the time of a kind of op: the edits reach the smaller part of it (ours)
LINES_NAMED = 2  # of an edit's ops; of more the heaviest is named


def plan_table(facts: WindowFacts, plan: Plan, least_ns: float) -> Table:
    """The edits that save at least so much alone, in their order."""
    kept = [(place, ranked) for place, ranked in enumerate(plan.ranked) if ranked.alone_ns >= least_ns]
    saved = [_expected(plan, ranked) for _, ranked in kept]
    rows = [
        (
            place + 1,
            ranked.edit.name,
            ranked.edit.what,
            where(facts, ranked.rows),
            ranked.time_ns / plan.before_ns,
            *expected,
            ranked.alone_ns / 1e3,
            ranked.then_ns / 1e3,
            "may cost" if ranked.edit.costs_accuracy else "none",
            relation(plan, ranked),
        )
        for (place, ranked), expected in zip(kept, saved, strict=True)
    ]
    if any(if_gains is not None for *_, if_gains, _ in saved):
        return PLAN.table(rows)
    at = PLAN.names.index("if_gains_us")
    return PLAN.table([(*row[:at], *row[at + 1 :]) for row in rows], without=("if_gains_us",))


def _expected(plan: Plan, ranked: Ranked) -> tuple[float | None, float | None, float | None, float | None, str]:
    """What it is expected to save alone, the ends of 8 of 10, what it saves if it gains, and what that rests on."""
    expected = ranked.expected
    if expected is not None:
        return expected.saved_ns / 1e3, expected.low_ns / 1e3, expected.high_ns / 1e3, None, expected.kind
    trial = tried_saving(plan.ground, ranked.edit.parts)
    if trial is None:
        return None, None, None, None, "trial"
    return None, None, None, trial.saved_us, trial.basis


def relation(plan: Plan, ranked: Ranked) -> str | None:
    """'instead of matmul-config', 'after placement', 'symptom, so last': how it stands to edits above."""
    standings = [SYMPTOM] if ranked.symptom else []
    if ranked.instead_of is not None:
        standings.append(f"instead of {plan.ranked[ranked.instead_of].edit.name}")
    elif ranked.after:
        standings.append(f"after {', '.join(plan.ranked[place].edit.name for place in ranked.after)}")
    return "; ".join(standings) or None


def trials_table(facts: WindowFacts, plan: Plan, least_ns: float) -> Table | None:
    """What each check has not seen tried, those first that brought most elsewhere; None where there is nothing."""
    rows = [
        (edit, parts, tried_saving(plan.ground, parts))
        for edit in plan.trials_from(least_ns)
        for parts in _by_check(edit)
    ]
    rows.sort(key=lambda row: -_counts_ns(*row[1:]))
    lines = [
        (
            edit.name,
            parts[0].check.title.removesuffix(", a trial"),
            where(facts, np.unique(np.concatenate([part.change.rows for part in parts]))),
            None if trial is None else trial.saved_us,
            None if trial is None else trial.basis,
        )
        for edit, parts, trial in rows
    ]
    return TRIALS.table(lines) if lines else None


def _counts_ns(parts: Sequence[Resolved], trial: TriedSaving | None) -> float:
    """What such a try brings on average; what may cost accuracy counts half, as in the plan."""
    return 0.0 if trial is None else trial.counts_ns / (1 + parts[0].check.costs_accuracy)


def _by_check(edit: Edit) -> list[list[Resolved]]:
    """The parts of an edit, those of one check together."""
    groups: dict[str, list[Resolved]] = {}
    for part in edit.parts:
        groups.setdefault(part.check.id, []).append(part)
    return list(groups.values())


def risks_table(facts: WindowFacts, plan: Plan) -> Table | None:
    """What may go wrong; None where nothing may."""
    rows = [(edit.name, edit.what, where(facts, edit.rows)) for edit in plan.risks]
    return RISKS.table(rows) if rows else None


def settings_table(facts: WindowFacts, configs: Configs, edits: Sequence[Edit]) -> Table | None:
    """What these edits and those above them set of each group of shapes; None where they set no config."""
    rows = [
        (edit.name, _shapes(facts, group), _lines(facts, np.concatenate(group.rows)), group.value, group.beside)
        for edit in edits
        for group in configs.groups(edit)
    ]
    if not any(row[-1] for row in rows):
        return SETTINGS.table([row[:-1] for row in rows], without=("with",)) if rows else None
    return SETTINGS.table(rows)


def _shapes(facts: WindowFacts, group: Served) -> str:
    """Those of the heaviest op: '8192x128 * 128x512 -> 8192x512 and 2 shapes more'."""
    first = group.rows[0]
    shapes = facts.shapes(int(first[np.argmax(facts.kernel_ns[first])]))
    more = len(group.rows) - 1
    return f"{shapes} and {more} shape{'s' * (more > 1)} more" if more else shapes


def _lines(facts: WindowFacts, rows: Rows) -> str:
    """'289, 227 and 11 more', the heaviest first."""
    heaviest = rows[np.argsort(-facts.kernel_ns[rows], kind="stable")]
    named = ", ".join(str(facts.line(int(row))) for row in heaviest[:LINES_OF_GROUP])
    left = len(rows) - LINES_OF_GROUP
    return f"{named} and {left} more" if left > 0 else named


def where(facts: WindowFacts, rows: Rows) -> str:
    """'roles 2-4 of 29 in each of 32 layers', 'line 66 and 14 more (model.py:34)'."""
    if not len(rows):
        return ""
    if len(rows) == len(facts):
        return "all ops"
    layers = place_in_layers(facts, rows).partition(":")[0]
    if layers:
        return layers
    heaviest = int(rows[np.argmax(facts.kernel_ns[rows])])
    source = facts.run.source_at(facts.line(heaviest))
    called = f" ({shown_path(source).rsplit('/', 1)[-1]})" if source else ""
    if len(rows) <= LINES_NAMED:
        return f"line{'s' * (len(rows) > 1)} {', '.join(str(facts.line(int(row))) for row in rows)}{called}"
    return f"line {facts.line(heaviest)} and {len(rows) - 1} more{called}"


def unexplained_table(facts: WindowFacts, left: Unexplained) -> Table:
    """The heaviest kinds of op above their floors, and what is known of those of which edits save the smaller part."""
    first = facts.ops.inputs[:1]
    hints = [
        hint_of(kind.name, sharded=any(one.sharded[kind.heaviest] for one in first))
        if place < HINTED and (kind.why in (NO_EDIT, NO_FLOOR) or kind.above_ns >= MOSTLY_LEFT * kind.now_ns)
        else None
        for place, kind in enumerate(left.kinds)
    ]
    rows = [
        (shown(kind.name), kind.ops, kind.above_ns / 1e3, kind.now_ns / 1e3, kind.why, facts.line(kind.heaviest))
        for kind in left.kinds
    ]
    if not any(hints):
        return UNEXPLAINED.table(rows, without=("hint",))
    return UNEXPLAINED.table([(*row, hint) for row, hint in zip(rows, hints, strict=True)])
