"""Windows that match: where one iteration of a run corresponds to several of the other run.

If a model consists of equal layers only, its ops repeat by layer, and each layer is taken for an iteration. One
reshard in one layer makes the whole pass the iteration. Both reports contain the same passes, so the shorter
iterations are joined until both windows are one pass.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ttnn_mcp.analyses.comparison.noise import Measured
from ttnn_mcp.analyses.roofline.beyond_peak import doubted_by_work
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.run.iterations import device_order
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.window import Scope

Iteration: TypeAlias = Literal["last", "all"] | int
ABOUT_THE_SAME = 2.0  # times the ops: a change of a model alters the number of its ops by less


def like_windows(before: Run, after: Run) -> tuple[Measured, Measured]:
    """The last iteration of both runs, one side joined so that both are the same pass of the model."""
    sides = measured(before), measured(after)
    counts = [side.scope.window.of_iterations or 0 for side in sides]
    for shorter, longer in ((0, 1), (1, 0)):
        times = counts[shorter] // counts[longer] if counts[longer] else 0
        if times < 2 or counts[shorter] % counts[longer] or sides[shorter].scope.window.kind != "iteration":
            continue
        if sides[shorter].run.performance_report.iterations.short:  # together they would lack times
            continue
        ratio = len(sides[longer].scope.ops) / (times * len(sides[shorter].scope.ops))
        if 1 / ABOUT_THE_SAME < ratio < ABOUT_THE_SAME:
            joined = _joined(sides[shorter], times)
            return (joined, sides[1]) if shorter == 0 else (sides[0], joined)
    return sides


def measured(
    run: Run, iteration: Iteration = "last", bracket: tuple[str | None, str | None] = (None, None)
) -> Measured:
    """A run with its window: an iteration, within the signposts of `bracket` (start, end)."""
    scope = run.scope(iteration, *bracket)
    roofline = roofline_of(scope.critical, run.chip.on(scope.critical_device))
    scope = doubted_by_work(scope, roofline, some_ops=False)  # below_floor tells of some ops
    return Measured(run, scope, run.scope("all", *bracket))


def _joined(side: Measured, times: int) -> Measured:
    """The last `times` iterations as one window."""
    report, window = side.run.performance_report, side.scope.window
    count = report.iterations.count
    rows = report.steady.take(report.iterations.number > count - times)
    rows = rows.take(device_order(rows))
    spanned = window.model_copy(
        update={
            "rows": len(rows),
            "first_row": int(rows.lines.min()),
            "last_row": int(rows.lines.max()),
            "iteration": count // times,
            "of_iterations": count // times,
            "why": f"the last {times} of {count} iterations together: the other side's iteration is as long",
        }
    )
    nothing = rows.take(np.zeros(len(rows), dtype=np.bool_))
    return Measured(side.run, Scope(rows, spanned, nothing), side.everything, times)
