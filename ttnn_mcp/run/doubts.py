"""The cross-examination of a performance report: figures that contradict each other, or what any chip can do.

A report may be readable, consistent in form, and false: columns swapped, microseconds under a header of nanoseconds,
cycles that overlap. Each doubt is one such contradiction among the rows of a window. Whoever answers from the window
carries it, and no comparison reaches a verdict beside it.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.quoting import figure
from ttnn_mcp.run import doubts_of_cycles as cycles
from ttnn_mcp.run import doubts_of_rows as rows
from ttnn_mcp.run.doubt import Doubt
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.window import Scope

NEIGHBOURS = 3  # passes: one odd pass among them does not move the median (ours)
UNLIKE = 0.1  # of the kernel time of the other passes: passes of one program on real reports differ by under 1 %


def doubts_of(report: Performance, scope: Scope) -> tuple[Doubt, ...]:
    """What contradicts itself among the rows of a window, doubts about all its times first."""
    lines = scope.ops.lines
    every = report.rows
    of_window = every.take(every.at_lines(lines))
    as_written = of_window.take(~of_window.at_lines(report.told_otherwise))
    doubts = (
        cycles.clock(report),
        cycles.wrapped(every.take(~every.at_lines(report.told_otherwise))),
        rows.below_firmware(report.ops_as_written),
        cycles.backwards(as_written),
        cycles.at_odds(report, as_written),
        rows.above_firmware(as_written),
        rows.not_of_cores(as_written),
        rows.told_from_firmware(report, of_window),
        rows.shapes_lost(report, of_window),
        None if _has_all_times(report, scope) else rows.times_lost(report, of_window),
        rows.device_at_odds(every, lines),
        cycles.not_in_order(report.ops, lines),
        rows.twice(every, lines),
        rows.replays_alike(every, lines),
        rows.too_short(of_window),
        rows.outside_grid(report, of_window),
        cycles.above_wall(report, scope.critical),
        cycles.gaps_at_odds(report, scope.critical),
        _unlike_other_passes(report, scope),
    )
    return tuple(doubt for doubt in doubts if doubt is not None)


def _has_all_times(report: Performance, scope: Scope) -> bool:
    """Whether it is known that the ops beside the window that lost their times are other iterations'."""
    iterations, window = report.iterations, scope.window
    if window.iteration not in iterations.whole:
        return False
    rows_of_it = int((iterations.number == window.iteration).sum())  # between signposts they are numbered anew
    return rows_of_it == window.rows and bool(scope.ops.numbers("kernel_ns").all())


def _unlike_other_passes(report: Performance, scope: Scope) -> Doubt | None:
    number, iterations = scope.window.iteration, report.iterations
    count = iterations.count
    if number is None or count < 2 or scope.window.of_iterations != count:
        return None
    if iterations.may_be_layers or report.impossible or iterations.short:
        return None
    on_device = report.steady.numbers("device") == scope.critical_device
    kernel = report.steady.numbers("kernel_ns")[on_device]
    sums = np.bincount(iterations.number[on_device], weights=kernel, minlength=count + 1)[1:]
    away = np.abs(np.arange(1, count + 1) - number)
    near = np.argsort(away, kind="stable")[1 : 1 + NEIGHBOURS]  # a decode step grows with its position, slowly
    mine, others = float(sums[number - 1]), float(np.median(sums[near]))
    if others <= 0 or abs(mine / others - 1) <= UNLIKE:
        return None
    what = (
        f"iteration {number} has {figure(mine / 1e3, ',.1f')} us of kernels, "
        f"those beside it {figure(others / 1e3, ',.1f')} us"
    )
    return Doubt("pass_unlike_others", f"{what}: savings are of this one; ask of another with iteration=")
