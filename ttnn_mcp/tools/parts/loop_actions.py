"""What the actions of `experiments` do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.comparability import judgement_of
from ttnn_mcp.analyses.memory.accuracy import losses_of, worst_global
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.experiments.exchange import read_document, write_document
from ttnn_mcp.experiments.experiment import Experiment
from ttnn_mcp.experiments.rules import Walls, decide, measure, several_changes
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.experiments.story import flags_of, overwritten, story_of
from ttnn_mcp.experiments.targets import parse_target
from ttnn_mcp.session.places import lies_in, place_of
from ttnn_mcp.tools.parts.comparing import Windows, compared, runs_compared
from ttnn_mcp.tools.parts.loop_answer import Answer, Arguments, Moved, Recorded
from ttnn_mcp.tools.parts.loop_finding import finding_of, tried
from ttnn_mcp.tools.parts.loop_runs import best_run_now, log_of, seen, seen_alone
from ttnn_mcp.tools.parts.loop_story import target_progress
from ttnn_mcp.wire import BeforeAfterMs, NextCall

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.readers.memory.report import MemoryReport
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session

EXPORT = "experiments.json"


async def record(session: Session, asked: Arguments) -> Answer:
    """Measure a change, judge it, and write it down.

    Raises:
        ArgumentsInvalid: `finding` is no check.
        QuestionRefused: no baseline is known, or its report was overwritten.
        StoreUnusable: the log cannot be written.
    """
    finding = finding_of(asked)
    store = log_of(session)
    known, targets = await store.all()
    baseline = asked.baseline
    if baseline is None:
        latest = story_of(known, targets)
        if latest is None:
            raise QuestionRefused("Nothing is recorded yet: give `baseline`, the run before the change.")
        baseline = latest.best.id
    pair = await runs_compared(session, baseline, asked.candidate)
    _check_identity(pair.before, baseline, known)
    _check_identity(pair.after, asked.candidate, known)
    windows = Windows(start_signpost=asked.start_signpost, end_signpost=asked.end_signpost)
    comparison = await asyncio.to_thread(compared, pair, windows)
    experiment = await asyncio.to_thread(_judged, comparison, asked)
    story = story_of(known, targets, experiment.baseline.id) or story_of(known, targets, experiment.candidate.id)
    odd = [*flags_of(story, experiment), *experiment.flags]
    changed = (overwritten(known, run) for run in (experiment.baseline, experiment.candidate))
    odd += [sentence for sentence in changed if sentence]
    attempt = await tried(pair.before, finding)
    saved = await store.add(replace(experiment, flags=tuple(odd), **attempt._asdict()))
    now = story_of([*known, saved], targets, saved.baseline.id)
    progress = target_progress(now, None) if now else None
    met = progress is not None and progress.status == "met"
    return Answer(experiment=_recorded(saved, comparison), target=progress, next=() if met else (_next(saved),))


def _check_identity(run: Run, wanted: str | None, known: list[Experiment]) -> None:
    """A run asked for by an id on record must still be that run: ids are of contents."""
    ids = {one.id for experiment in known for one in (experiment.baseline, experiment.candidate)}
    if wanted in ids and run.id != wanted:
        raise QuestionRefused(
            f"Run {wanted} no longer exists: its report was overwritten, the file now holds run {run.id}. "
            "Give that id if you mean it, or the path of a copy of the old report."
        )


def _judged(comparison: Comparison, asked: Arguments) -> Experiment:
    walls = None
    if asked.wall_before_ms is not None and asked.wall_after_ms is not None:
        walls = Walls(asked.wall_before_ms, asked.wall_after_ms, profiled=False)
    measured = measure(comparison, asked.step, walls)
    memory = comparison.after.run.memory
    recorded = worst_global(memory) if memory is not None else None
    pcc = recorded if asked.pcc is None else asked.pcc
    verdict, why = decide(measured, pcc)
    doubts = [several_changes(comparison), *(_doubts_of_accuracy(memory, asked.pcc) if memory is not None else [])]
    total = comparison.total
    return Experiment(
        change=(asked.change or "").strip(),
        step=asked.step,
        baseline=seen(comparison.before.run, total.before_ns, warm=comparison.before.scope.window.warm),
        candidate=seen(comparison.after.run, total.after_ns, warm=comparison.after.scope.window.warm),
        pcc=pcc,
        wall_before_ms=asked.wall_before_ms,
        wall_after_ms=asked.wall_after_ms,
        measured=judgement_of(comparison).verdict,
        judged_by=measured.judged_by,
        change_share=measured.change_share,
        noise_share=measured.noise_share,
        verdict=verdict,
        why=why,
        flags=tuple(doubt for doubt in doubts if doubt),
        hypothesis=asked.hypothesis,
        note=asked.note,
    )


def _doubts_of_accuracy(memory: MemoryReport, pcc: float | None) -> list[str]:
    """What the candidate's own comparison records say of its accuracy."""
    recorded = worst_global(memory)
    doubts = [loss.sentence for loss in losses_of(memory)[:1]]
    if pcc is None and recorded is not None:
        doubts.append(f"PCC {recorded:.4f} is the lowest global comparison of the memory report: none was given")
    return doubts


def _recorded(one: Experiment, comparison: Comparison) -> Recorded:
    total = comparison.total
    return Recorded(
        id=one.id,
        verdict=one.verdict,
        why=one.why,
        flags=one.flags,
        judged_by=one.judged_by,
        change_share=one.change_share,
        noise_share=one.noise_share,
        kernel_ms=BeforeAfterMs(before=total.before_ns / 1e6, after=total.after_ns / 1e6),
        baseline=one.baseline.id,
        candidate=one.candidate.id,
    )


def _next(experiment: Experiment) -> NextCall:
    if experiment.verdict != "inconclusive":
        return NextCall(tool="experiments", arguments={"action": "next"}, why="one finding to try, or why to stop")
    return NextCall(
        tool="compare_runs",
        arguments={"baseline": experiment.baseline.id, "candidate": experiment.candidate.id},
        why="where the time went; more iterations lower the noise",
    )


async def set_target(session: Session, asked: Arguments, text: str) -> Answer:
    """Set when to stop, for the loop that holds the baseline.

    Raises:
        ArgumentsInvalid: the target cannot be understood.
        StoreUnusable: the log cannot be written.
    """
    store = log_of(session)
    known, targets = await store.all()
    story = story_of(known, targets) if asked.baseline is None else None
    baseline = (
        story.baseline
        if story
        else await seen_alone(await session.run(asked.baseline), asked.start_signpost, asked.end_signpost)
    )
    target = parse_target(text, baseline, asked.batch)
    await store.set_target(replace(target, rounds=asked.rounds, hours=asked.hours))
    known, targets = await store.all()
    story = story_of(known, targets, baseline.id)
    return Answer(target=target_progress(story, await best_run_now(session, story)) if story else None)


async def export(session: Session, path: str | None) -> Answer:
    """Write the whole log as JSON.

    Raises:
        QuestionRefused: the path is not ours to write.
        StoreUnusable: the log cannot be read, or the file not written.
    """
    folder = session.settings.state_folder
    if path is not None and session.settings.confined:
        raise QuestionRefused(f"Over HTTP an export goes to {EXPORT} in the state folder: leave out `path`.")
    target = _user_path(path) if path else folder / EXPORT
    known, targets = await Store(folder).all()
    await asyncio.to_thread(write_document, target, known, targets)
    return Answer(file=Moved(path=str(target), experiments=len(known)))


async def bring_in(session: Session, path: str) -> Answer:
    """Add the experiments of an export that are not there yet.

    Raises:
        ReportMissing, QuestionRefused: there is no export at the path.
        StoreUnusable: the log cannot be written.
    """
    source = _user_path(path)
    folder = session.settings.state_folder
    if session.settings.confined and not await asyncio.to_thread(_lies_in, source, folder):
        raise QuestionRefused("Over HTTP only files in the state folder can be imported. Put the export there.")
    document = await asyncio.to_thread(read_document, source)
    new = await Store(folder).merge(document.experiments, document.targets)
    return Answer(file=Moved(path=str(source), experiments=len(document.experiments), new=new))


def _user_path(text: str) -> Path:
    return place_of(text)


def _lies_in(path: Path, folder: Path) -> bool:
    return lies_in(path, [folder])
