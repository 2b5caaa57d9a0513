"""What earlier runs took for an op: the rows that op_detail shows, and the sentence that check_setting quotes."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.archive.memory_of_ops import Remembered, remembered
from ttnn_mcp.archive.precedents import Precedent, telling
from ttnn_mcp.archive.settings_apart import has_value, written
from ttnn_mcp.quoting import figure
from ttnn_mcp.replay.kept import cited
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.parts.op_at import row_at
from ttnn_mcp.wire import Columns, Table

SEEN_SHOWN = 3
QUOTED_IN_A_SENTENCE = 2
SEEN_ROWS = Columns(
    *("was", "kernel_us", "settings", "run", "op", "ops", "runs", "noise_share"), quoted=("settings", "run")
)
PRINTED_AS = {"core_grid": ("compute_with_storage_grid_size", "grid_size", "core_grid")}  # where names differ


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
