"""The loop's rules: the verdict on a measured change and its accuracy.

Accuracy comes first: a change with a PCC below 0.99 is reverted however fast it is, and a change without a PCC is
never kept. A change within the noise is inconclusive. Steps 4 and 5 do not change kernel time, so wall time counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.comparability import judgement_of
from ttnn_mcp.analyses.devices.host_gaps import timelines_of
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.noise import Measured
    from ttnn_mcp.experiments.experiment import JudgedBy, Verdict

PCC_AT_LEAST = 0.99  # the skill's bound, against the original reference
HOST_STEPS = (4, 5)  # Metal Trace and multiple command queues
WALL_NOISE_SHARE = 0.02  # of wall time between two runs: host clocks, Python and other users of the machine
_CONVERSIONS = (
    "layout",
    "movement",
    "shape",
)  # families of ops that appear and disappear with formats and placements


@dataclass(frozen=True, slots=True)
class Walls:
    """Milliseconds of one iteration before and after; `profiled` where the profiler was on."""

    before_ms: float
    after_ms: float
    profiled: bool

    @property
    def change_share(self) -> float:
        """Relative change; negative is faster."""
        return self.after_ms / self.before_ms - 1


@dataclass(frozen=True, slots=True)
class Measurement:
    """The figure by which a change is judged.

    Attributes:
        judged_by: which figure it is.
        change_share: its relative change; negative is faster.
        noise_share: a smaller relative change is noise.
        summary: the figures in words.
        barrier: why there is no figure; None where there is one.
    """

    judged_by: JudgedBy
    change_share: float
    noise_share: float
    summary: str
    barrier: str | None = None

    @property
    def faster(self) -> bool:
        """Faster by more than the noise."""
        return self.barrier is None and self.change_share < -self.noise_share

    @property
    def slower(self) -> bool:
        """Slower by more than the noise."""
        return self.barrier is None and self.change_share > self.noise_share


def measure(comparison: Comparison, step: int | None, walls: Walls | None) -> Measurement:
    """The figure that counts: kernel time, kernel time per sample, or wall time where kernels do not change."""
    judgement = judgement_of(comparison)
    by_wall = step in HOST_STEPS or (step is None and walls is not None and judgement.verdict == "unchanged")
    if by_wall and not judgement.other_hardware and (walls or judgement.verdict != "not_comparable"):
        return _by_wall(comparison, walls or profiled_walls(comparison), per_sample=judgement.only_batch)
    if judgement.verdict != "not_comparable":
        apart = f"{judgement.why}. Record each stage apart, between its signposts"
        barrier = apart if judgement.verdict == "mixed" else None
        return Measurement(
            "kernel", comparison.change_share, comparison.noise.share, judgement.why, barrier=barrier
        )
    per = comparison.per_sample
    if judgement.only_batch and per is not None:
        summary = (
            f"{judgement.barriers[0]}: kernel {per.before_ns / 1e6:.4g} -> {per.after_ns / 1e6:.4g} ms per sample"
        )
        return Measurement(
            "per_sample", per.change_share, comparison.noise.share, f"{summary} ({per.change_share:+.1%})"
        )
    return Measurement(
        "kernel", comparison.change_share, comparison.noise.share, judgement.why, barrier=judgement.why
    )


def _by_wall(comparison: Comparison, walls: Walls | None, *, per_sample: bool) -> Measurement:
    noise = max(WALL_NOISE_SHARE, comparison.noise.share)
    if walls is None:
        why = (
            "this step leaves kernel time alone: give wall_before_ms and wall_after_ms of one iteration, measured "
            "with the profiler off, or profile warm iterations on both sides"
        )
        return Measurement("wall", 0.0, noise, why, barrier=why)
    change = walls.change_share
    under = " under the profiler" if walls.profiled else ""
    summary = f"wall{under} {walls.before_ms:.4g} -> {walls.after_ms:.4g} ms"
    batch = comparison.work.batch
    if per_sample and batch is not None:
        change = (walls.after_ms / batch[1]) / (walls.before_ms / batch[0]) - 1
        summary += f", batch {batch[0]} -> {batch[1]}: per sample"
    return Measurement("wall", change, noise, f"{summary} ({change:+.1%})")


def profiled_walls(comparison: Comparison) -> Walls | None:
    """Wall times of both windows under the profiler; None unless both are warm."""
    sides = (comparison.before, comparison.after)
    if not all(side.scope.window.warm for side in sides):
        return None
    before, after = map(_wall_ns, sides)
    return Walls(before / 1e6, after / 1e6, profiled=True) if before > 0 else None


def _wall_ns(side: Measured) -> float:
    return max(line.wall_ns for line in timelines_of(side.scope.ops, side.run.chip.clock_ghz))


def decide(measured: Measurement, pcc: float | None) -> tuple[Verdict, str]:
    """The verdict and the reason for it."""
    if pcc is not None and pcc < PCC_AT_LEAST:
        return "revert", f"PCC {pcc:.5g} is below {PCC_AT_LEAST}: accuracy first; {measured.summary}"
    if measured.barrier is not None:
        return "inconclusive", measured.barrier
    if measured.slower:
        return "revert", measured.summary
    if not measured.faster:
        noise = "" if measured.judged_by == "kernel" else f" is within the noise of {measured.noise_share:.2%}"
        return "inconclusive", f"{measured.summary}{noise}"
    if pcc is None:
        return "inconclusive", f"{measured.summary}, but no PCC was given: measure it and record again"
    return "keep", f"{measured.summary}; PCC {pcc:.5g}"


def several_changes(comparison: Comparison) -> str | None:
    """A warning if the comparison looks like more than one change at a time; otherwise None."""
    kinds = {kind for change in comparison.changes for kind in change.families if kind in ("formats", "placement")}
    names = comparison.names(0), comparison.names(1)
    for edit in comparison.alignment.edits:
        touched = [*(names[0][row] for row in edit.before), *(names[1][row] for row in edit.after)]
        if any(family(name) not in _CONVERSIONS for name in touched):
            kinds.add("the ops themselves")
    if len(kinds) < 2 or comparison.little_in_common:
        return None
    return f"{' and '.join(sorted(kinds))} changed: if that was more than one change, nobody can tell which helped"
