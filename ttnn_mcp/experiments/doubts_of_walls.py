"""Reasons to doubt the wall times of an experiment: another unit, another part of the model, or another measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.experiments.rules import WALL_NOISE_SHARE, wall_ns
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.experiments.experiment import Experiment
    from ttnn_mcp.experiments.rules import Walls

# times the window's wall under the profiler: a time in us is a thousand times too large, and above this even where the
# profiler makes a pass ten times slower; what the host does beside the window may take a hundred of it (ours)
WALL_AT_MOST = 100.0
WALLS_APART = 2.0  # times: no two measurements of one run differ so (ours)


def wall_below_kernels(comparison: Comparison, walls: Walls) -> Reason | None:
    """Wall times that are shorter than the kernels in them: another unit, or another part of the model."""
    busy_ms = [side.kernel_ns / 1e6 for side in (comparison.before, comparison.after)]
    for label, wall_ms, kernel_ms in zip(
        ("before", "after"), (walls.before_ms, walls.after_ms), busy_ms, strict=True
    ):
        if wall_ms < kernel_ms * (1 - comparison.noise.share):
            return Reason(
                "wall_below_kernels",
                f"wall_{label}_ms {figure(wall_ms, '.4g')} is below {figure(kernel_ms, '.4g')} ms of kernels",
            )
    return None


def wall_above_window(comparison: Comparison, walls: Walls) -> Reason | None:
    """Wall times far longer than the same warm window under the profiler, which makes it slower, not quicker."""
    sides = (("before", walls.before_ms, comparison.before), ("after", walls.after_ms, comparison.after))
    for label, wall_ms, side in sides:
        profiled_ms = wall_ns(side) / 1e6 if side.scope.window.warm else 0.0
        if profiled_ms and wall_ms > WALL_AT_MOST * profiled_ms:
            return Reason(
                "wall_above_window",
                f"wall_{label}_ms {figure(wall_ms, '.4g')} is {figure(wall_ms / profiled_ms, ',.0f')} times the "
                f"{figure(profiled_ms, '.4g')} ms of the window under the profiler",
            )
    return None


def wall_measured_again(known: Sequence[Experiment], experiment: Experiment) -> Reason | None:
    """A wall time of the baseline that hides how fast it was on record, or cannot be of the same run."""
    now_ms, after_ms, run = experiment.wall_before_ms, experiment.wall_after_ms, experiment.baseline
    recorded = (
        (earlier.id, wall_ms)
        for earlier in reversed(known)
        for was, wall_ms in ((earlier.candidate, earlier.wall_after_ms), (earlier.baseline, earlier.wall_before_ms))
        if (was.id, was.reading) == (run.id, run.reading) and wall_ms and not earlier.has_wrong_walls
    )
    number, was_ms = next(recorded, (0, None))
    if was_ms is None or now_ms is None or after_ms is None:
        return None
    noise = max(WALL_NOISE_SHARE, experiment.noise_share)
    gained = after_ms < was_ms * (1 - noise)
    apart = max(now_ms / was_ms, was_ms / now_ms) > WALLS_APART
    if not apart and (gained or now_ms <= was_ms * (1 + noise)):
        return None
    what = f"wall_before_ms {figure(now_ms, '.4g')}, and {figure(was_ms, '.4g')} ms in experiment {number}"
    return Reason("wall_measured_again", f"{what} for the same run {run.id}")
