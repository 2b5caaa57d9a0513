"""Reasons to doubt an experiment that the log tells: copies, repeats, and a baseline that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ttnn_mcp.experiments.experiment import Experiment, RunSeen
    from ttnn_mcp.experiments.story import Story


def doubts_of_log(
    known: Sequence[Experiment], story: Story | None, experiment: Experiment, *, part: bool = False
) -> Iterator[Reason]:
    """The reasons, those about the candidate first.

    Args:
        known: all experiments on record.
        story: the loop that the experiment joins; None where it begins one.
        experiment: the one to be recorded.
        part: whether it is about a part of the runs, between signposts: other parts may be on record.
    """
    doubts = (
        _recorded_before(known, experiment, part=part),
        _tried_before(known, experiment),
        _baseline_moved(story, experiment),
        _measured_again(known, story, experiment),
    )
    yield from (doubt for doubt in doubts if doubt is not None)
    for run in (experiment.baseline, experiment.candidate):
        if (sentence := overwritten(known, run)) is not None:
            yield Reason("overwritten", sentence)


def _recorded_before(known: Sequence[Experiment], experiment: Experiment, *, part: bool) -> Reason | None:
    """The candidate, or another file with its kernel times, is on record; a missing PCC may be given later."""
    now = experiment.candidate
    if _is_copy(experiment.baseline, now):
        return None  # told of the comparison itself
    for earlier in reversed(known):
        if _completes(experiment, earlier):
            continue
        for was in (earlier.candidate, earlier.baseline):
            if was.id == now.id and not (part and was.reading != now.reading):
                what = f"the same candidate run as in experiment {earlier.id}: {earlier.verdict}"
                return Reason("recorded_before", what)
            if was.id != now.id and _is_copy(was, now):
                what = f"its kernel times are those of run {was.id}, experiment {earlier.id}"
                return Reason("recorded_before", what)
    return None


def _completes(experiment: Experiment, earlier: Experiment) -> bool:
    """Whether it gives the PCC or the wall times that an earlier record of the same runs lacked."""
    same = (earlier.baseline.id, earlier.candidate.id) == (experiment.baseline.id, experiment.candidate.id)
    pcc = earlier.pcc is None and experiment.pcc is not None
    walls = earlier.wall_after_ms is None and experiment.wall_after_ms is not None
    return same and earlier.verdict == "inconclusive" and (pcc or walls)


def _tried_before(known: Sequence[Experiment], experiment: Experiment) -> Reason | None:
    """Another measurement of a program that was not kept: the luckiest of several readings proves nothing."""
    now = experiment.candidate
    if now.program is None or now.program == experiment.baseline.program:
        return None
    for earlier in reversed(known):
        was = earlier.candidate
        if was.program == now.program and earlier.verdict != "keep" and not _is_copy(was, now):
            return Reason("tried_before", f"the same program as in experiment {earlier.id}: {earlier.verdict}")
    return None


def _baseline_moved(story: Story | None, experiment: Experiment) -> Reason | None:
    """A baseline that is not the best run so far, and a candidate that is not faster than the best either."""
    if story is None or experiment.baseline.id == story.best.id:
        return None
    best = story.best
    if (
        experiment.candidate.kernel_ns < best.kernel_ns * (1 - experiment.noise_share)
        and best.id != experiment.candidate.id
    ):
        return None
    return Reason("baseline_moved", f"its baseline is not the best run so far ({best.name}, {best.id})")


def _measured_again(known: Sequence[Experiment], story: Story | None, experiment: Experiment) -> Reason | None:
    """A baseline that runs the program of a run on record, and is slower than that run was."""
    now = experiment.baseline
    if story is not None and now.id == story.best.id:
        return None
    runs = (
        run for earlier in known for run in (earlier.baseline, *(() if earlier.flags else (earlier.candidate,)))
    )
    for was in runs:
        if now.program is None or was.program != now.program or was.id == now.id:
            continue
        if now.kernel_ns > was.kernel_ns * (1 + experiment.noise_share):
            figures = (
                f"{figure(was.kernel_ns / 1e6, '.4g')} ms in run {was.id}, "
                f"{figure(now.kernel_ns / 1e6, '.4g')} ms now"
            )
            return Reason("baseline_measured_again", f"the baseline's program took {figures}")
    return None


def _is_copy(was: RunSeen, now: RunSeen) -> bool:
    return was.id == now.id or (was.reading is not None and was.reading == now.reading)


def overwritten(experiments: Iterable[Experiment], run: RunSeen) -> str | None:
    """A sentence if the file of `run` held another run when an experiment was recorded; otherwise None."""
    for experiment in experiments:
        for recorded in (experiment.baseline, experiment.candidate):
            if run.performance is not None and recorded.performance == run.performance and recorded.id != run.id:
                earlier = f"in experiment {experiment.id} that file held run {recorded.id}"
                return f"{run.name}: its report was overwritten; {earlier}"
    return None
