"""Differences in how the two were captured: clock, trace, profiler options, rows that were dropped.

Signs of dropped rows are those on one side only, or on both alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.trust import caveats_of, dropped_rows

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.run.run import Run

CUT_OFF = "the last iteration is cut off"
_OPTIONS = {  # columns that are filled only if the profiler was asked for more, which costs time
    "NoC trace": "noc_util_pct",
    "hardware counters": "fpu_util_pct",
    "circular-buffer waits": "wait_front_ns",
    "times per processor": "ncrisc_ns",
}


def other_clock(comparison: Comparison) -> Reason | None:
    """Clocks that differ so that cycles and nanoseconds disagree: DRAM does not follow the clock of the cores.

    They disagree where they change differently, or by more than the noise apart: no figure is then sure.
    """
    if comparison.clock_ratio == 1.0:  # unmoved: at one clock, cycles and time say the same
        return None
    if not comparison.total.before_ns:
        return None
    noise, in_cycles = comparison.noise.share, comparison.change_share
    in_time = float(comparison.ops[1].numbers("kernel_ns").sum() / comparison.total.before_ns - 1)
    signs = [np.sign(share) * (abs(share) > noise) for share in (in_cycles, in_time)]
    if signs[0] == signs[1] and abs(in_cycles - in_time) <= noise:
        return None
    clocks = " -> ".join(
        f"{figure(run.performance_report.clock_ghz, '.3g')}"
        for run in (comparison.before.run, comparison.after.run)
    )
    return Reason(
        "other_clock",
        f"clock {clocks} GHz: {figure(in_cycles, '+.1%')} in cycles, {figure(in_time, '+.1%')} in time",
    )


def trace_on_one_side(comparison: Comparison) -> Reason | None:
    """Replays of a trace in one window only."""
    before, after = (bool(np.isfinite(ops.numbers("trace_id")).any()) for ops in comparison.ops)
    if before == after:
        return None
    side = "candidate" if after else "baseline"
    return Reason("trace_on_one_side", f"only the {side} replays a trace: gaps and wall time do not compare")


def profiler_on_one_side(comparison: Comparison) -> Reason | None:
    """Profiler options that only one side was measured with."""
    filled = [
        {name for name, column in _OPTIONS.items() if (np.nan_to_num(ops.numbers(column)) > 0).any()}
        for ops in comparison.ops
    ]
    odd = sorted(filled[0] ^ filled[1])
    if not odd:
        return None
    side = "baseline" if odd[0] in filled[0] else "candidate"
    return Reason("profiler_on_one_side", f"{', '.join(odd)} in the {side} only: profiling more takes time")


def rows_dropped(comparison: Comparison) -> Reason | None:
    """Signs in the candidate that the profiler dropped ops, which the baseline does not share."""
    signs = new_signs(comparison.after.run, comparison.before.run)
    return Reason("dropped_rows", signs[0]) if signs else None


def baseline_damaged(comparison: Comparison) -> Reason | None:
    """The same signs in the baseline only."""
    signs = new_signs(comparison.before.run, comparison.after.run)
    return Reason("baseline_damaged", signs[0]) if signs else None


def new_signs(run: Run, other: Run) -> list[str]:
    """Signs of a run that the other run does not show; figures may differ."""
    shared = {_without_figures(sign) for sign in _signs(other)}
    return [sign for sign in _signs(run) if _without_figures(sign) not in shared]


def shared_signs(run: Run, other: Run) -> list[str]:
    """Signs of a run that the other run shows too: what is missing may be missing alike."""
    new = new_signs(run, other)
    return [sign for sign in _signs(run) if sign not in new]


def _signs(run: Run) -> list[str]:
    """All signs."""
    report = run.performance_report
    cut_off = [caveat for caveat in caveats_of(report) if caveat.startswith(CUT_OFF)]
    return [*cut_off, *dropped_rows(report)]


def _without_figures(sign: str) -> str:
    return re.sub(r"\d+", "", sign)
