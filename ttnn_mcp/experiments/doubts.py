"""Reasons to doubt an experiment that only its statement, its step and its wall times can tell, or the log.

The log tells copies, repeats, and a baseline that moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.reasons import Code, Reason
from ttnn_mcp.experiments.doubts_of_walls import wall_above_window, wall_below_kernels, wall_measured_again
from ttnn_mcp.experiments.rules import HOST_STEPS
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import exchanges, family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.engaged import Engaged
    from ttnn_mcp.analyses.comparison.noise import Measured
    from ttnn_mcp.experiments.experiment import Experiment, RunSeen
    from ttnn_mcp.experiments.rules import Walls
    from ttnn_mcp.experiments.statement import Statement
    from ttnn_mcp.experiments.story import Story

_CONVERSIONS = ("layout", "movement", "shape")  # come and go with formats and placements
_STAMP = re.compile(r"\d{4}(?:_\d\d){5}")  # in ops_perf_results_<time>.csv, written by the profiler


def doubts_of_change(
    comparison: Comparison,
    statement: Statement,
    changes: Sequence[Engaged],
    step: int | None,
    walls: Walls | None,
) -> Iterator[Reason]:
    """The reasons that stand."""
    sides = comparison.before.run, comparison.after.run
    files = [run.performance_report.csv.path.name for run in sides]
    doubts = (
        not_engaged(statement, changes),
        gain_not_from_change(comparison, statement, changes),
        kernels_worse(comparison) if step in HOST_STEPS else None,
        wall_below_kernels(comparison, walls) if walls else None,
        wall_above_window(comparison, walls) if walls else None,
        older_than_baseline(*files),
    )
    yield from (doubt for doubt in doubts if doubt is not None)


def unexplained(reasons: Sequence[Reason], statement: Statement) -> list[Reason]:
    """The reasons that the statement does not explain: trace that was meant, ops that were named as gone."""
    explained: set[Code] = set()
    if "trace" in statement.kinds:
        explained.add("trace_on_one_side")
    for reason in reasons:
        gone, _, _ = reason.what.partition(" gone")  # the names of the ops
        if reason.code == "ops_missing" and statement.names(gone):
            explained.add(reason.code)
    return [reason for reason in reasons if reason.code not in explained]


def not_engaged(statement: Statement, changes: Sequence[Engaged]) -> Reason | None:
    """None of the values that the change names is new on any op."""
    if not statement.values or statement.meant(changes):
        return None
    named = ", ".join(value for _, value in statement.values)
    return Reason("not_engaged", f"no op became {named}: 0 ops show the change")


def gain_not_from_change(comparison: Comparison, statement: Statement, changes: Sequence[Engaged]) -> Reason | None:
    """All of the gain lies on ops that the statement is not about, nor on conversions that came or went with it."""
    meant = statement.meant(changes)
    if not meant or not comparison.alignment.complete or comparison.change_share >= -comparison.noise.share:
        return None
    followed = [
        change for change in changes if change.kind in ("fusion", "added") and family(change.op) in _CONVERSIONS
    ]
    acted = sum(change.delta_ns for change in {*meant, *followed})
    if any(change.kind == "trace" for change in meant):
        acted += _waited_ns(comparison)
    if acted < -comparison.noise.share * comparison.total.before_ns:
        return None
    total = comparison.total.delta_ns / 1e3
    return Reason(
        "gain_elsewhere",
        f"ops with the stated change {figure(acted / 1e3, '+,.1f')} us, the window {figure(total, '+,.1f')} us",
    )


def kernels_worse(comparison: Comparison) -> Reason | None:
    """Kernels that became slower in a step that leaves kernels as they are; waiting for other chips may move there."""
    slower_ns = comparison.total.delta_ns - max(0, _waited_ns(comparison))
    if slower_ns <= comparison.noise.share * comparison.total.before_ns:
        return None
    return Reason(
        "kernels_worse",
        f"kernel time {figure(comparison.change_share, '+.1%')}; trace and queues leave kernels as they are",
    )


def _waited_ns(comparison: Comparison) -> int:
    """What exchanges take more, beyond those of the quickest device: they wait for chips that the host feeds late."""
    before, after = (_waits_ns(side) for side in (comparison.before, comparison.after))
    return round(after * comparison.clock_ratio - before)


def _waits_ns(side: Measured) -> float:
    ops = side.scope.ops
    times = np.where(ops.texts("op_code").where(exchanges), ops.numbers("kernel_ns"), 0.0)
    sums = ops.by_device(times)
    return sums[side.scope.critical_device] - min(sums.values())


def older_than_baseline(before: str, after: str) -> Reason | None:
    """A candidate whose report was written before the baseline's, by the time in the names of the files."""
    stamps = [match.group() if (match := _STAMP.search(name)) else "" for name in (before, after)]
    if not all(stamps) or stamps[0] <= stamps[1]:
        return None
    return Reason("older_than_baseline", f"the candidate was measured at {stamps[1]}, the baseline at {stamps[0]}")


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
        _baseline_moved(story, experiment, part=part),
        _measured_again(known, story, experiment),
        wall_measured_again(known, experiment),
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
            if was.id == now.id and not (part and _of_another_part(earlier, was, experiment)):
                role = "candidate" if was is earlier.candidate else "baseline"
                what = f"the same run as the {role} of experiment {earlier.id}: {earlier.verdict}"
                return Reason("recorded_before", what)
            if was.id != now.id and _is_copy(was, now):
                what = f"its kernel times are those of run {was.id}, experiment {earlier.id}"
                return Reason("recorded_before", what)
    return None


def _of_another_part(earlier: Experiment, was: RunSeen, experiment: Experiment) -> bool:
    """Whether an earlier record of the candidate is about other rows of it; the same rows changed as much."""
    return was.reading != experiment.candidate.reading and earlier.change_share != experiment.change_share


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


def _baseline_moved(story: Story | None, experiment: Experiment, *, part: bool) -> Reason | None:
    """A baseline that is not the best run so far, and a candidate that is not faster than the best either.

    The time of a part says nothing of that.
    """
    if story is None or experiment.baseline.id == story.best.id:
        return None
    best = story.best
    if (
        not part
        and experiment.candidate.kernel_ns < best.kernel_ns * (1 - experiment.noise_share)
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
