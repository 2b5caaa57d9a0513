"""The op that a call names by its line in the CSV, and what earlier runs took for it.

The rows that op_detail shows, and the sentence that check_setting quotes.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts, facts_of
from ttnn_mcp.archive.memory_of_ops import Remembered, remembered
from ttnn_mcp.archive.precedents import Precedent, telling
from ttnn_mcp.archive.settings_apart import has_value, written
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.replay.kept import cited
from ttnn_mcp.run.run import Run
from ttnn_mcp.wire import Columns, Table

SEEN_SHOWN = 3
QUOTED_IN_A_SENTENCE = 2
SEEN_ROWS = Columns(
    *("was", "kernel_us", "settings", "run", "op", "ops", "runs", "noise_share"), quoted=("settings", "run")
)
PRINTED_AS = {"core_grid": ("compute_with_storage_grid_size", "grid_size", "core_grid")}  # where names differ


def facts_at(run: Run, line: int) -> WindowFacts | None:
    """The window that holds the op: the default one, else the whole report; None of a const-eval op."""
    scopes = (run.scope(), run.scope("all"))
    return next((facts_of(run, scope) for scope in scopes if scope.ops.at_line(line) is not None), None)


def doubt_at(run: Run, line: int) -> str:
    """Why no figure of the op may be trusted; empty where one may."""
    facts = facts_at(run, line) if run.performance is not None else None
    return facts.scope.in_doubt if facts else ""


def row_at(run: Run, line: int) -> int:
    """Position in `run.performance_report.ops` of the op at `line`.

    Raises:
        QuestionRefused: no timed device op stands there; says what does.
    """
    ops, rows = run.performance_report.ops, run.performance_report.rows
    row = ops.at_line(line)
    if row is not None:
        return row
    if not len(ops):
        raise QuestionRefused("This report holds no timed device ops. Profile again with `python -m tracy -r`.")
    any_row = rows.at_line(line)
    if any_row is not None:
        kind = shown(rows.texts("op_type")[any_row] or "a row without device time")
        name = shown(rows.texts("op_code")[any_row])
        raise QuestionRefused(f"Line {line} is '{name}' ({kind}): no timed device op. list_ops gives the lines.")
    first, last = int(ops.lines.min()), int(ops.lines.max())
    raise QuestionRefused(f"No op at line {line}: device ops stand on lines {first} to {last}. Use list_ops.")


def seen_of(run: Run, line: int) -> Table | None:
    """Earlier ops with the same work as the op at `line`; None where none is known."""
    earlier = _remembered(run, line)
    rows = [
        (
            precedent.verdict,
            precedent.earlier.timing.median_us,
            written(precedent.differences) or "the same",
            precedent.earlier.run,
            precedent.earlier.line,
            precedent.earlier.timing.ops,
            precedent.earlier.runs,
            precedent.noise_share,
        )
        for precedent in (telling(earlier.precedents, SEEN_SHOWN) if earlier else ())
    ]
    return SEEN_ROWS.table(rows) if rows else None


def tried_before(run: Run, line: int, setting: str, value: object) -> str | None:
    """What the op took when the setting had this value, or any other value where none is asked for."""
    alone = cited(run, run.performance_report.ops.take(np.array([row_at(run, line)])), {setting: value})
    earlier = _remembered(run, line)
    names = PRINTED_AS.get(setting, (setting,))

    def is_asked(precedent: Precedent) -> bool:
        return any(
            each.name in names and (value is None or has_value(each, value)) for each in precedent.differences
        )

    if earlier is None:
        return alone or None
    tried = sorted(filter(is_asked, earlier.precedents), key=lambda precedent: len(precedent.differences))
    parts = [f"{precedent.verdict}, {precedent.spoken}" for precedent in tried[:QUOTED_IN_A_SENTENCE]]
    here = (
        f"{figure(earlier.ours.median_us, '.1f')} here, noise {figure(tried[0].noise_share, '.0%')}"
        if tried
        else ""
    )
    return "; ".join([*([alone] if alone else []), *([*parts, here] if parts else [])]) or None


def _remembered(run: Run, line: int) -> Remembered | None:
    """The op among those of the default window; alone if it lies outside."""
    ops = run.scope().ops
    if ops.at_line(line) is None:
        ops = run.performance_report.ops.take(np.array([row_at(run, line)]))
    return remembered(run, ops, np.array([line])).get(line)
