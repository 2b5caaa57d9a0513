"""What the actions of `experiments` do that write: `record`, `target`, `export` and `import`.

`record` measures a change, looks for reasons to doubt it, judges it, and writes it down. It also tells which finding an
experiment tried, and what that promised on the baseline.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import NamedTuple

from ttnn_mcp.analyses.memory.memory_comparison import memory_delta
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, TtnnMcpError, shown
from ttnn_mcp.experiments.decision import check_named
from ttnn_mcp.experiments.exchange import Drift, read_document, read_drift, write_document
from ttnn_mcp.experiments.experiment import Experiment, RunSeen
from ttnn_mcp.experiments.judging import Attempt, ExperimentJudged, judged, of_whole_runs
from ttnn_mcp.experiments.ledgers import SUFFIXES, read_ledger
from ttnn_mcp.experiments.outlook import parse_target
from ttnn_mcp.experiments.rules import walls_of_blocks
from ttnn_mcp.experiments.runs_seen import are_other_rows
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.experiments.story import Story, story_of
from ttnn_mcp.replay.results import is_result, read_results
from ttnn_mcp.run.run import Run
from ttnn_mcp.session.places import lies_in, place_of
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.parts.comparing import Windows, compared, runs_compared
from ttnn_mcp.tools.parts.loop_answer import Answer, Arguments, Moved, Recorded, blocks_of
from ttnn_mcp.tools.parts.loop_story import best_run_now, log_of, outlook_now, seen_alone, target_progress
from ttnn_mcp.tools.parts.proof_tables import engaged, suspicious
from ttnn_mcp.wire import BeforeAfterMs, NextCall

EXPORT = "experiments.json"
CHANGES_SHOWN = 2


async def set_target(session: Session, asked: Arguments, text: str) -> Answer:
    """Set when to stop, for the loop that holds the baseline.

    Raises:
        ArgumentsInvalid: the target cannot be understood.
        QuestionRefused: the loop follows another part of its runs.
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
    loop = story_of(known, targets, baseline.id)
    tried = [run for one in loop.experiments for run in (one.baseline, one.candidate)] if loop else []
    if any(run.id == baseline.id and are_other_rows(run, baseline) for run in tried):
        raise QuestionRefused(
            f"This loop follows other rows of run {baseline.id}: give the signposts with which its experiments were "
            "recorded, or none where they had none."
        )
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
    target = place_of(path) if path else folder / EXPORT
    known, targets = await Store(folder).all()
    await asyncio.to_thread(write_document, target, known, targets)
    return Answer(file=Moved(path=str(target), experiments=len(known)))


async def bring_in(session: Session, path: str, control: str | None) -> Answer:
    """Add the experiments of an export or of a ledger that are not there yet; `control` names a ledger's row.

    Raises:
        ReportMissing, QuestionRefused: there is no export or ledger at the path.
        StoreUnusable: the log cannot be written.
    """
    source = await asyncio.to_thread(readable, session, path)
    folder = await asyncio.to_thread(os.path.isdir, source)  # False of a name that is too long, too
    if await asyncio.to_thread(is_result, source):
        results = await asyncio.to_thread(read_results, source)
        await asyncio.to_thread(session.replays.keep, results)
        return Answer(file=Moved(path=str(source), experiments=0, replayed=len(results.candidates)))
    if folder or source.suffix.lower() in SUFFIXES:
        ledger = await asyncio.to_thread(read_ledger, source, control)
        new = await Store(session.settings.state_folder).merge(ledger.experiments, ())
        notes = [f"{ledger.without} rows without a time were left out"] if ledger.without else []
        if ledger.unread:
            notes.append(f"{len(ledger.unread)} rows whose time is not clear were left out: {ledger.unread[0]}")
        return Answer(
            file=Moved(path=str(source), experiments=len(ledger.experiments), new=new), notes=tuple(notes)
        )
    document = await asyncio.to_thread(read_document, source)
    new = await Store(session.settings.state_folder).merge(document.experiments, document.targets)
    return Answer(file=Moved(path=str(source), experiments=len(document.experiments), new=new))


def readable(session: Session, path: str) -> Path:
    """The place of a file that a person names. Blocks.

    Raises:
        ReportMissing: the text is no path.
        QuestionRefused: it lies where this server reads nothing.
    """
    source = place_of(path)
    if session.settings.confined and not lies_in(source, [session.settings.state_folder]):
        raise QuestionRefused("Over HTTP only files in the state folder can be imported. Put the file there.")
    return source


async def record(session: Session, asked: Arguments) -> Answer:
    """Measure a change, judge it, and write it down.

    Raises:
        ArgumentsInvalid: `finding` is no check.
        QuestionRefused: no baseline is known, its report was overwritten, or the loop follows a part of its runs.
        StoreUnusable: the log cannot be written.
    """
    finding = finding_of(asked)
    drift = await asyncio.to_thread(_measured, session, asked.accuracy)
    store = log_of(session)
    known, targets = await store.all()
    baseline = asked.baseline
    if baseline is None:
        latest = story_of(known, targets)
        if latest is None:
            raise QuestionRefused("Nothing is recorded yet: give `baseline`, the run before the change.")
        baseline = latest.best.id
    pair = await runs_compared(session, baseline, asked.candidate, asked.repeats or ())
    _check_identity(pair.before, baseline, known)
    _check_identity(pair.after, asked.candidate, known)
    windows = Windows(start_signpost=asked.start_signpost, end_signpost=asked.end_signpost)
    comparison = await asyncio.to_thread(compared, pair, windows)
    memory = await memory_delta(pair.before, pair.after)
    story = story_of(known, targets, pair.before.id) or story_of(known, targets, pair.after.id)
    attempt = _attempt(asked)
    if not attempt.part and story is not None and await _follows_part(session, story):
        raise QuestionRefused(
            "The target of this loop is of a part of its runs: give the signposts with which it was set, since times "
            "of whole runs are no progress towards it. To compare whole runs, ask compare_runs."
        )
    verdict = await asyncio.to_thread(judged, comparison, attempt, memory, known, story)
    promise = await tried(pair.before, finding, None if attempt.part else verdict.experiment.wall_before_ms)
    experiment = verdict.experiment
    if attempt.part and not _holds_window(story, experiment.baseline):
        whole = await asyncio.to_thread(compared, pair, Windows())
        experiment = of_whole_runs(experiment, whole)
    measured = {"layer_pccs": drift.pccs, "drifts_at": drift.first}
    saved = await store.add(replace(experiment, **promise._asdict(), **measured))
    now = story_of([*known, saved], targets, saved.baseline.id)
    progress = target_progress(now, None) if now else None
    met = progress is not None and progress.status == "met"
    return Answer(
        experiment=_recorded(saved, verdict, _fallen(saved, now.experiments[:-1] if now else ())),
        suspicious=suspicious(verdict.reasons),
        engaged=engaged(verdict.changes, CHANGES_SHOWN),
        change_taken_as=verdict.taken_as,
        target=progress,
        next=() if met else (_next(saved),),
    )


def _holds_window(story: Story | None, run: RunSeen) -> bool:
    """Whether the loop is about this window of the run: its target was set for it."""
    return story is not None and any(
        (one.id, one.kernel_ns) == (run.id, run.kernel_ns)
        for one in (story.baseline, *(experiment.candidate for experiment in story.experiments))
    )


async def _follows_part(session: Session, story: Story) -> bool:
    """Whether the target of the loop was set for a part of its baseline; not where that is no more to be opened."""
    if story.target is None:
        return False
    wanted = story.target.baseline
    try:
        run = await session.run(wanted.id)
    except TtnnMcpError:
        return False
    return are_other_rows(wanted, await seen_alone(run))


def _measured(session: Session, path: str | None) -> Drift:
    return read_drift(readable(session, path)) if path else Drift()


def _attempt(asked: Arguments) -> Attempt:
    walls = None
    if asked.wall_before_ms is not None and asked.wall_after_ms is not None:
        walls = walls_of_blocks(blocks_of(asked.wall_before_ms), blocks_of(asked.wall_after_ms))
    change = (asked.change or "").strip()
    part = asked.start_signpost is not None or asked.end_signpost is not None
    return Attempt(change, asked.step, asked.pcc, walls, asked.hypothesis, asked.note, part)


def _check_identity(run: Run, wanted: str | None, known: list[Experiment]) -> None:
    """A run asked for by an id on record must still be that run: ids are of contents."""
    ids = {one.id for experiment in known for one in (experiment.baseline, experiment.candidate)}
    if wanted in ids and run.id != wanted:
        raise QuestionRefused(
            f"Run {wanted} no longer exists: its report was overwritten, the file now holds run {run.id}. "
            "Give that id if you mean it, or the path of a copy of the old report."
        )


def _fallen(one: Experiment, known: Sequence[Experiment]) -> int | None:
    """The layer whose PCC fell most since the last of the loop that measured layers; None where none fell."""
    former = dict(next((other.layer_pccs for other in reversed(known) if other.layer_pccs), ()))
    falls = {layer: former[layer] - pcc for layer, pcc in one.layer_pccs if layer in former}
    worst = max(falls, key=lambda layer: falls[layer], default=None)
    return worst if worst is not None and falls[worst] > 0 else None


def _recorded(one: Experiment, verdict: ExperimentJudged, fallen: int | None) -> Recorded:
    total = verdict.total
    return Recorded(
        id=one.id,
        verdict=one.verdict,
        why=one.why,
        judged_by=one.judged_by,
        change_share=one.change_share,
        noise_share=one.noise_share,
        kernel_ms=BeforeAfterMs(before=total.before_ns / 1e6, after=total.after_ns / 1e6),
        baseline=one.baseline.id,
        candidate=one.candidate.id,
        drifts_at_layer=one.drifts_at,
        layer_falls_most=fallen,
    )


def _next(experiment: Experiment) -> NextCall:
    if experiment.verdict != "inconclusive":
        return NextCall(tool="experiments", arguments={"action": "next"}, why="one finding to try, or why to stop")
    return NextCall(
        tool="compare_runs",
        arguments={"baseline": experiment.baseline.id, "candidate": experiment.candidate.id},
        why="where the time went; more iterations lower the noise",
    )


class Tried(NamedTuple):
    """A check, and the most that its finding promised; None where it is not known."""

    finding: str | None
    at_most_us: float | None


def finding_of(asked: Arguments) -> str | None:
    """The check that was given, or the one that the texts name.

    Raises:
        ArgumentsInvalid: there is no such check; names the nearest.
    """
    checks = {check.id for check in CATALOGUE}
    if asked.finding is None:
        return check_named(f"{asked.change} {asked.hypothesis}", checks)
    if asked.finding not in checks:
        near = get_close_matches(asked.finding, checks, n=1)
        hint = f"Did you mean '{near[0]}'?" if near else "Take it from a finding's `check` in optimization_check."
        raise ArgumentsInvalid(f"experiments: no check is called '{shown(asked.finding)}'. {hint}")
    return asked.finding


async def tried(baseline: Run, finding: str | None, wall_ms: float | None) -> Tried:
    """What a finding promises on the run before the change; 0 where the run does not have it."""
    if finding is None:
        return Tried(None, None)
    outlook = await outlook_now(baseline, wall_ms, most_ops=inf)
    if outlook is None:
        return Tried(finding, None)
    promises = [each.saving_us.at_most for each in outlook.findings if each.check == finding]
    return Tried(finding, max(promises, default=0.0))
