"""The loop's rules: what a measured change with its accuracy amounts to.

Accuracy first: a PCC below 0.99 is reverted however fast, and none at all never yields keep. What does not leave
the noise is inconclusive. Steps 4 and 5 leave kernel time alone by design, so they are judged by wall time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.comparability import judged
from ttnn_mcp.analyses.devices.host_gaps import timelines_of
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.noise import Measured
    from ttnn_mcp.experiments.experiment import JudgedBy, Verdict

PCC_AT_LEAST = 0.99  # the skill's bound, against the original reference
HOST_STEPS = (4, 5)  # Metal Trace and multiple command queues
WALL_NOISE_SHARE = 0.02  # of wall time between two runs: host clocks, Python and other users of the machine
_CONVERSIONS = ("layout", "movement", "shape")  # families of ops that come and go with formats and placements


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
    """The one figure a change is judged by; `barrier` says why there is none."""

    judged_by: JudgedBy
    change_share: float
    noise_share: float
    said: str
    barrier: str | None = None

    @property
    def faster(self) -> bool:
        """Faster by more than the noise."""
        return self.barrier is None and self.change_share < -self.noise_share

    @property
    def slower(self) -> bool:
        """Slower by more than the noise."""
        return self.barrier is None and self.change_share > self.noise_share


def measure(found: Comparison, step: int | None, walls: Walls | None) -> Measurement:
    """The figure that counts: kernel time, kernel time per sample, or wall time where kernels are left alone."""
    verdict = judged(found)
    by_wall = step in HOST_STEPS or (step is None and walls is not None and verdict.verdict == "unchanged")
    if by_wall and not verdict.other_hardware and (walls or verdict.verdict != "not_comparable"):
        return _by_wall(found, walls or profiled_walls(found), per_sample=verdict.only_batch)
    if verdict.verdict != "not_comparable":
        return Measurement("kernel", found.change_share, found.noise.share, verdict.why)
    per = found.per_sample
    if verdict.only_batch and per is not None:
        said = f"{verdict.barriers[0]}: kernel {per.before_ns / 1e6:.4g} -> {per.after_ns / 1e6:.4g} ms per sample"
        return Measurement("per_sample", per.change_share, found.noise.share, f"{said} ({per.change_share:+.1%})")
    return Measurement("kernel", found.change_share, found.noise.share, verdict.why, barrier=verdict.why)


def _by_wall(found: Comparison, walls: Walls | None, *, per_sample: bool) -> Measurement:
    noise = max(WALL_NOISE_SHARE, found.noise.share)
    if walls is None:
        why = (
            "this step leaves kernel time alone: give wall_before_ms and wall_after_ms of one iteration, measured "
            "with the profiler off, or profile warm iterations on both sides"
        )
        return Measurement("wall", 0.0, noise, why, barrier=why)
    change = walls.change_share
    under = " under the profiler" if walls.profiled else ""
    said = f"wall{under} {walls.before_ms:.4g} -> {walls.after_ms:.4g} ms"
    batch = found.work.batch
    if per_sample and batch is not None:
        change = (walls.after_ms / batch[1]) / (walls.before_ms / batch[0]) - 1
        said += f", batch {batch[0]} -> {batch[1]}: per sample"
    return Measurement("wall", change, noise, f"{said} ({change:+.1%})")


def profiled_walls(found: Comparison) -> Walls | None:
    """Wall times of both windows as profiled; None unless both are warm."""
    sides = (found.before, found.after)
    if not all(side.scope.window.warm for side in sides):
        return None
    before, after = map(_wall_ns, sides)
    return Walls(before / 1e6, after / 1e6, profiled=True) if before > 0 else None


def _wall_ns(side: Measured) -> float:
    return max(line.wall_ns for line in timelines_of(side.scope.ops, side.run.chip.clock_ghz))


def decide(measured: Measurement, pcc: float | None) -> tuple[Verdict, str]:
    """The verdict and why."""
    if pcc is not None and pcc < PCC_AT_LEAST:
        return "revert", f"PCC {pcc:.5g} is below {PCC_AT_LEAST}: accuracy first; {measured.said}"
    if measured.barrier is not None:
        return "inconclusive", measured.barrier
    if measured.slower:
        return "revert", measured.said
    if not measured.faster:
        noise = "" if measured.judged_by == "kernel" else f" is within the noise of {measured.noise_share:.2%}"
        return "inconclusive", f"{measured.said}{noise}"
    if pcc is None:
        return "inconclusive", f"{measured.said}, but no PCC was given: measure it and record again"
    return "keep", f"{measured.said}; PCC {pcc:.5g}"


def several_changes(found: Comparison) -> str | None:
    """What looks like more than one change at a time; None where it looks like one."""
    kinds = {kind for change in found.changes for kind in change.families if kind in ("formats", "placement")}
    names = found.names(0), found.names(1)
    for edit in found.alignment.edits:
        touched = [*(names[0][row] for row in edit.before), *(names[1][row] for row in edit.after)]
        if any(family(name) not in _CONVERSIONS for name in touched):
            kinds.add("the ops themselves")
    if len(kinds) < 2 or found.little_in_common:
        return None
    return f"{' and '.join(sorted(kinds))} changed: if that was more than one change, nobody can tell which helped"
