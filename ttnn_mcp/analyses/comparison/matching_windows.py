"""Like beside like: where one side's iteration is found to be several of the other's.

A model of equal layers and nothing else repeats by layer, so its "iteration" is a layer; put one reshard into one
layer and the iteration becomes the whole pass. Both reports hold the same passes, so the shorter iterations are
taken together until both windows hold one pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.analyses.comparison.noise import Measured
from ttnn_mcp.run.iterations import device_order
from ttnn_mcp.run.window import Scope

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run

Iteration = Literal["last", "all"] | int
ABOUT_THE_SAME = 2.0  # times the ops: a change moves the count of ops by less


def like_windows(before: Run, after: Run) -> tuple[Measured, Measured]:
    """The last iteration of both runs, made to span the same pass of the model."""
    sides = measured(before), measured(after)
    counts = [one.scope.window.of_iterations or 0 for one in sides]
    for own, other in ((0, 1), (1, 0)):
        times = counts[own] // counts[other] if counts[other] else 0
        if times < 2 or counts[own] % counts[other] or sides[own].scope.window.kind != "iteration":
            continue
        ratio = len(sides[other].scope.ops) / (times * len(sides[own].scope.ops))
        if 1 / ABOUT_THE_SAME < ratio < ABOUT_THE_SAME:
            joined = _joined(sides[own], times)
            return (joined, sides[1]) if own == 0 else (sides[0], joined)
    return sides


def measured(
    run: Run, iteration: Iteration = "last", bracket: tuple[str | None, str | None] = (None, None)
) -> Measured:
    """A run with the window asked for."""
    return Measured(run, run.scope(iteration, *bracket), run.scope("all", *bracket))


def _joined(one: Measured, times: int) -> Measured:
    """The last `times` iterations as one window."""
    report, window = one.run.timed, one.scope.window
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
    return Measured(one.run, Scope(rows, spanned, nothing), one.everything, times)
