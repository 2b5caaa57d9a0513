"""What else differs between two windows: to be read with the figures, no reason to doubt them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.barriers import window_name
from ttnn_mcp.analyses.comparison.drop_signs import shared_signs
from ttnn_mcp.analyses.devices.host_gaps import slowest_timeline
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison

SIGNPOSTS_NAMED = 2
GAPS_MOVED = 2.0  # times: below that, Python and the profiler move the gaps of an unchanged model too (ours)


def caveats_of(comparison: Comparison) -> list[str]:
    """The caveats, those about the windows first."""
    before, after = comparison.before, comparison.after
    windows = before.scope.window, after.scope.window
    caveats: list[str] = []
    if before.run.id == after.run.id and windows[0] != windows[1]:
        caveats.append("both sides are the same run")
    if comparison.mixed_windows:
        differ = f"windows differ: baseline {window_name(windows[0])}, candidate {window_name(windows[1])}"
        caveats.append(f"{differ}; kernel times hold where both are one pass, gaps do not")
    elif windows[0].warm != windows[1].warm:
        names = f"baseline {window_name(windows[0])}, candidate {window_name(windows[1])}"
        caveats.append(f"{names}: kernel times hold, gaps do not")
    elif not windows[0].warm:
        caveats.append("both windows are cold: kernel times hold, gaps do not; profile 2 or more iterations")
    else:
        caveats += _moved_gaps(comparison)
    if comparison.clock_ratio != 1.0:
        clocks = (run.performance_report.clock_ghz for run in (before.run, after.run))
        moved = " -> ".join(f"{figure(clock, '.3g')}" for clock in clocks)
        caveats.append(f"clock {moved} GHz: the candidate's times are its cycles at the baseline's clock")
    if not comparison.alignment.complete:
        caveats.append("too many ops to align: groups only, nothing is said of shapes")
    elif comparison.little_in_common:
        caveats.append("hardly an op has a partner of the same shapes: the same model? Nothing was aligned")
    caveats += [
        f"both sides: {sign}" for sign in shared_signs(after.run, before.run)[:1] if after.run.id != before.run.id
    ]
    slowest = [side.scope.critical_device for side in (before, after)]
    if slowest[0] != slowest[1]:
        caveats.append(f"slowest device {slowest[0]} -> {slowest[1]}: their ops may differ without any change")
    return [*caveats, *_common_signposts(comparison)]


def _moved_gaps(comparison: Comparison) -> list[str]:
    """Time between ops that grew or shrank: a verdict about kernel time does not see it."""
    sides = comparison.before, comparison.after
    if sides[0].run.performance_report.traced != sides[1].run.performance_report.traced:
        return []  # a reason to doubt says so: such gaps do not compare
    lines = [slowest_timeline(side.scope.ops, side.run.chip) for side in sides]
    before_ns, after_ns = (line.gap_ns for line in lines)
    little = abs(after_ns - before_ns) <= comparison.noise.share * lines[0].wall_ns
    if little or max(before_ns, after_ns) < GAPS_MOVED * min(before_ns, after_ns):
        return []
    moved = f"time between ops {figure(before_ns / 1e6, '.3f')} -> {figure(after_ns / 1e6, '.3f')} ms"
    return [f"{moved}, which the verdict on kernel time leaves out: wall_ms has both, host_overhead says where"]


def _common_signposts(comparison: Comparison) -> list[str]:
    """Signposts that both whole files hold: between them is often the part that the change is about."""
    windows = comparison.before.scope.window, comparison.after.scope.window
    if any(window.kind != "whole_report" for window in windows):
        return []
    names = [
        side.run.performance_report.signposts.texts("op_code") for side in (comparison.before, comparison.after)
    ]
    of_candidate = {*names[1].occurring()}
    codes, first_rows = np.unique(names[0].codes, return_index=True)
    in_order: list[int] = codes[np.argsort(first_rows)].tolist()
    common = [name for code in in_order if code >= 0 and (name := names[0].distinct[code]) in of_candidate]
    if not common:
        return []
    listed = ", ".join(f"'{shown(name)}'" for name in common[:SIGNPOSTS_NAMED])
    count = f" and {len(common) - SIGNPOSTS_NAMED} more" if len(common) > SIGNPOSTS_NAMED else ""
    return [
        f"whole files are compared; both hold signposts {listed}{count}: start_signpost, end_signpost choose a part"
    ]
