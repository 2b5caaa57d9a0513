"""The loop's rules: the verdict on a measured change and its accuracy.

Accuracy comes first: a change with a PCC below 0.99 is reverted however fast it is, and a change without a PCC is
never kept. A change within the noise is inconclusive, unless it lowers the peak of L1 where time and accuracy hold.
Steps 4 and 5 do not change kernel time, so wall time counts: given, or that of the profiles. Nothing is kept while a
reason to doubt it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.comparability import judgement_of
from ttnn_mcp.analyses.comparison.noise import FLOOR_SHARE
from ttnn_mcp.analyses.devices.host_gaps import timelines_of
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparability import Judgement
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.noise import Measured
    from ttnn_mcp.analyses.comparison.reasons import Code, Reason
    from ttnn_mcp.analyses.memory.memory_comparison import MemoryDelta
    from ttnn_mcp.experiments.experiment import JudgedBy, Verdict

LEAST_BYTES = TILE_BYTES["BFLOAT16"]  # L1 is given out in pages, and most pages are tiles of bfloat16
PCC_AT_LEAST = 0.99  # the skill's bound, against the original reference
HOST_STEPS = (4, 5)  # Metal Trace and multiple command queues
WALL_NOISE_SHARE = 0.02  # of wall time between two runs: host clocks, Python and other users of the machine
DOUBTFUL_FIGURE: frozenset[Code] = frozenset(  # these can make a change look slower as well as faster
    (
        "doubtful_report",
        "other_clock",
        "profiler_on_one_side",
        "dropped_rows",
        "baseline_damaged",
        "impossible_times",
        "collapsed",
        "nothing_aligned",
        "recorded_before",  # a file of another change says nothing of this one
    )
)


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


def measure(
    comparison: Comparison, step: int | None, walls: Walls | None, judgement: Judgement | None = None
) -> Measurement:
    """The figure that counts: kernel time, kernel time per sample, or wall time where kernels do not change."""
    judgement = judgement or judgement_of(comparison)
    by_wall = step in HOST_STEPS or (step is None and walls is not None and judgement.verdict == "unchanged")
    if by_wall and not judgement.other_hardware and (walls or judgement.verdict != "not_comparable"):
        return _by_wall(comparison, walls or profiled_walls(comparison), per_sample=judgement.only_batch)
    if judgement.verdict != "not_comparable":
        apart = f"{judgement.why}. Record each stage apart, between its signposts"
        barrier = apart if judgement.verdict == "mixed" else None
        return Measurement(
            "kernel", comparison.change_share, comparison.noise.share, judgement.figures, barrier=barrier
        )
    per = comparison.per_sample
    if judgement.only_batch and per is not None:  # unmoved: another batch has times per sample
        summary = (
            f"{judgement.barriers[0]}: kernel {figure(per.before_ns / 1e6, '.4g')} -> "
            f"{figure(per.after_ns / 1e6, '.4g')} ms per sample"
        )
        return Measurement(
            "per_sample",
            per.change_share,
            comparison.noise.share,
            f"{summary} ({figure(per.change_share, '+.1%')})",
        )
    return Measurement(
        "kernel", comparison.change_share, comparison.noise.share, judgement.why, barrier=judgement.why
    )


def by_blocks(before: Sequence[float], after: Sequence[float], judged_by: JudgedBy = "wall") -> Measurement:
    """Times in ms of blocks of replays: each block of the candidate has to beat each block of the control."""
    was, now = median(before), median(after)
    several = min(len(before), len(after)) > 1
    summary = f"{judged_by} {figure(was, '.4g')} -> {figure(now, '.4g')} ms ({figure(now / was - 1, '+.1%')})"
    apart = max(after) < min(before) or min(after) > max(before)
    overlap = len(before) + len(after) > 2 and not apart
    why = f"{summary}: not every block of one side beats every block of the other" if overlap else None
    noise = FLOOR_SHARE if several else WALL_NOISE_SHARE
    return Measurement(judged_by, now / was - 1, noise, summary, barrier=why)


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
    summary = f"wall{under} {figure(walls.before_ms, '.4g')} -> {figure(walls.after_ms, '.4g')} ms"
    batch = comparison.work.batch
    if per_sample and batch is not None:  # unmoved: what is told per sample has two batches
        change = (walls.after_ms / batch[1]) / (walls.before_ms / batch[0]) - 1
        summary += f", batch {batch[0]} -> {batch[1]}: per sample"
    blocks = by_blocks(*walls.blocks) if max(map(len, walls.blocks)) > 1 else None
    return Measurement(
        "wall",
        change,
        blocks.noise_share if blocks else noise,
        f"{summary} ({figure(change, '+.1%')})",
        barrier=blocks.barrier if blocks else None,
    )


def decide(
    measured: Measurement,
    pcc: float | None,
    reasons: Sequence[Reason] = (),
    memory: MemoryGain | None = None,
) -> tuple[Verdict, str]:
    """The verdict and the reason for it.

    Args:
        measured: the figure.
        pcc: accuracy against the reference; None where nobody gave one.
        reasons: why the figure may not be what it seems. Nothing is kept while one stands, and nothing is reverted
            for a figure that is doubtful itself.
        memory: a lower peak of L1; it counts where the time did not change.
    """
    if pcc is not None and pcc < PCC_AT_LEAST:
        return "revert", f"PCC {_below_bound(pcc)} is below {PCC_AT_LEAST}: accuracy first; {measured.summary}"
    if measured.barrier is not None:
        return "inconclusive", measured.barrier
    if measured.slower:
        wrong = [reason for reason in reasons if reason.code in DOUBTFUL_FIGURE]
        return ("inconclusive" if wrong else "revert"), f"{measured.summary}{_but(wrong)}"
    if measured.faster:
        return _of_gain(measured.summary, pcc, reasons)
    if memory is not None:
        return _of_gain(f"{memory.summary}; {measured.summary}", pcc, reasons)
    noise = (
        "" if measured.judged_by == "kernel" else f" is within the noise of {figure(measured.noise_share, '.2%')}"
    )
    return "inconclusive", f"{measured.summary}{noise}{_but(reasons)}"


def _below_bound(pcc: float) -> str:
    """A PCC in five digits, or as many as it takes to differ from the bound."""
    texts = (figure(pcc, f".{digits}g") for digits in (5, 9, 13))
    return next((text for text in texts if float(text) < PCC_AT_LEAST), repr(pcc))


def _of_gain(gain: str, pcc: float | None, reasons: Sequence[Reason]) -> tuple[Verdict, str]:
    if reasons:
        return "inconclusive", f"{gain}{_but(reasons)}"
    if pcc is None:
        return "inconclusive", f"{gain}, but no PCC was given: measure it and record again"
    return "keep", f"{gain}; PCC {figure(pcc, '.5g')}"


def _but(reasons: Sequence[Reason]) -> str:
    codes = [reason.code for reason in reasons]
    return f"; but {', '.join(codes)}" if codes else ""


@dataclass(frozen=True, slots=True)
class MemoryGain:
    """A lower peak of L1, in bytes of one bank."""

    before: int
    after: int

    @property
    def change_share(self) -> float:
        """Relative change; negative is less."""
        return self.after / self.before - 1

    @property
    def summary(self) -> str:
        """The figures in words."""
        return f"L1 peak {self.before:,} -> {self.after:,} bytes per bank ({figure(self.change_share, '+.1%')})"


def memory_gain(delta: MemoryDelta | None) -> MemoryGain | None:
    """The gain; None where there is none, or where a peak is in doubt and proves nothing."""
    return None if delta is None or delta.caveats else _lower_peak(delta)


def unproven_gain(delta: MemoryDelta | None) -> str | None:
    """A lower peak that is no gain, because a report does not tell all; None where there is none."""
    if delta is None or not delta.caveats or (peak := _lower_peak(delta)) is None:
        return None
    return f"{peak.summary}, but that is no proof: {'; '.join(delta.caveats)}"


def _lower_peak(delta: MemoryDelta) -> MemoryGain | None:
    peak = next((figure for figure in delta.figures if figure.name == "l1_peak"), None)
    if peak is None or not peak.before or peak.after is None or peak.before - peak.after < LEAST_BYTES:
        return None
    return MemoryGain(peak.before, peak.after)


@dataclass(frozen=True, slots=True)
class Walls:
    """Milliseconds of one iteration before and after; `profiled` where the profiler was on.

    `blocks` are those of traced replays on each side, in ms, where they are known: before and after are their medians.
    """

    before_ms: float
    after_ms: float
    profiled: bool
    blocks: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())

    @property
    def change_share(self) -> float:
        """Relative change; negative is faster."""
        return self.after_ms / self.before_ms - 1


def walls_of_blocks(before: Sequence[float], after: Sequence[float]) -> Walls:
    """Those that a person measured, in ms, with the profiler off."""
    return Walls(median(before), median(after), profiled=False, blocks=(tuple(before), tuple(after)))


def profiled_walls(comparison: Comparison) -> Walls | None:
    """Wall times of both windows under the profiler; None unless both are warm."""
    sides = (comparison.before, comparison.after)
    if not all(side.scope.window.warm for side in sides):
        return None
    before, after = map(wall_ns, sides)
    return Walls(before / 1e6, after / 1e6, profiled=True) if before > 0 else None


def wall_ns(side: Measured) -> float:
    """Wall time of a window under the profiler, on the device that took longest."""
    return max(line.wall_ns for line in timelines_of(side.scope.ops, side.run.chip))
