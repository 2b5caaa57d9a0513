"""The story so far, told in under a thousand tokens: what an assistant needs to take up the loop again.

Its runs are as they were recorded, and the best one is looked at as it is now. `next` tells its next move: one finding
to try on the best run, or why to stop.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import astuple
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.analyses.comparison.noise import DEFAULT_SHARE
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.errors import TtnnMcpError, shown
from ttnn_mcp.experiments.decision import Decision, Position, decide
from ttnn_mcp.experiments.experiment import Experiment, RunSeen
from ttnn_mcp.experiments.outlook import CHEAP_OPS, Outlook, Progress, outlook_of, progress_of, reach_of
from ttnn_mcp.experiments.runs_seen import seen
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.experiments.story import Story, alone, checklist, story_of
from ttnn_mcp.session.registry import SHOWN_CHARS
from ttnn_mcp.session.session import Pair, Session, identity
from ttnn_mcp.tools.parts.loop_answer import (
    CHECKLIST,
    LOG,
    RULED_OUT,
    TRY_NEXT,
    Answer,
    Decided,
    LoopRun,
    TargetProgress,
)
from ttnn_mcp.wire import NextCall, QuotedCell, Table, rounded

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run


LOG_ROWS = 10
CHANGE_CHARS = 60
TRIES_SHOWN = 3
DOUBTS_SHOWN = 3

RULED_OUT_SHOWN = 10


class BestNow(NamedTuple):
    """The best run looked at now.

    Attributes:
        outlook: of its whole window; None where it could not be made.
        gone: why it could not be opened.
        wall_ms: the wall time that is on record of that window; of a part of it none is.
    """

    outlook: Outlook | None
    gone: str | None
    wall_ms: float | None = None


def log_of(session: Session) -> Store:
    """The log, as far as this session may name the runs in it."""
    return Store(session.settings.state_folder, lambda run: session.roots.permits(run.performance, run.memory))


async def best_run_now(session: Session, story: Story | None, most_ops: float = CHEAP_OPS) -> BestNow:
    """Open the best run and ask the checks; windows of more than `most_ops` are left out."""
    if story is None:
        return BestNow(None, None)
    if story.best.of_ledger:
        return BestNow(None, "the best run is a row of a ledger, without a report: record a run of its change")
    try:
        run = await session.run(story.best.id)
        if run.id != story.best.id:
            return BestNow(None, f"the best run's report was overwritten: its file now holds run {run.id}")
        wall_ms = story.likely_wall_ms
        if wall_ms and (await seen_alone(run)).reading == story.best.reading:  # unmoved: it spares a look
            return BestNow(await outlook_now(run, wall_ms, most_ops=most_ops), None, story.wall_ms)
        # none is on record, or that of a part between signposts
        return BestNow(await outlook_now(run, None, most_ops=most_ops), None)
    except TtnnMcpError as gone:
        return BestNow(None, f"the best run cannot be opened: {gone}")


async def outlook_now(run: Run, wall_ms: float | None, *, most_ops: float = CHEAP_OPS) -> Outlook | None:
    """The outlook of a run, whose memory report is replayed first."""
    if run.memory is not None:
        await replay_of(run)  # the checks on memory read it
    return await asyncio.to_thread(lambda: outlook_of(run, wall_ms, most_ops=most_ops))


async def seen_alone(run: Run, start_signpost: str | None = None, end_signpost: str | None = None) -> RunSeen:
    """A run as it is now, with the kernel time of its window."""
    scope = await asyncio.to_thread(run.scope, "last", start_signpost, end_signpost)
    return await asyncio.to_thread(seen, run, scope)


def run_line(run: RunSeen) -> LoopRun:
    """A run of the log, for an answer."""
    return LoopRun(run=run.id, name=shown(run.name), kernel_ms=run.kernel_ns / 1e6)


def best_line(story: Story) -> LoopRun:
    """The best run, and what was gained since the baseline."""
    return run_line(story.best).model_copy(update={"wall_ms": story.wall_ms, "gain_share": story.gain_share})


async def tell(session: Session, baseline: str | None) -> Answer:
    """The story of the loop that holds `baseline`, else of the latest."""
    log = log_of(session)
    known, targets = await log.all()
    wanted = (await session.run(baseline)).id if baseline else None
    story = story_of(known, targets, wanted)
    best = await best_run_now(session, story) if story else BestNow(None, None)
    marks = CHECKLIST.exact(checklist(story, best.outlook))
    if story is None:
        begin = NextCall(tool="open_run", arguments={}, why="a baseline; then target, then record")
        return Answer(log=_log(()), checklist=marks, notes=("nothing recorded yet", *log.damaged), next=(begin,))
    progress = target_progress(story, best)
    return Answer(
        baseline=run_line(story.baseline),
        best=best_line(story),
        target=progress,
        log=_log(story.experiments[-LOG_ROWS:]),
        earlier=_earlier(story.experiments[:-LOG_ROWS]),
        try_next=_try_next(decision_of(story, best)),
        checklist=marks,
        notes=(*await asyncio.to_thread(_notes, story, best), *log.damaged),
        next=tuple(_next(story, progress)),
    )


def target_progress(story: Story, best: BestNow | None) -> TargetProgress | None:
    """How far the target is; None where none was set."""
    if story.target is None:
        return None
    progress = progress_now(story, best.outlook if best else None)
    if progress is None:
        why = "the share of the roofline needs the best run's report; list tells it"
        return TargetProgress(target=story.target.text, status="unknown", stop=False, why=why)
    return TargetProgress(target=story.target.text, status=progress.status, stop=progress.stop, why=progress.why)


def progress_now(story: Story, outlook: Outlook | None) -> Progress | None:
    """How far the target is; None where none was set, or where only the best run's report could tell."""
    if story.target is None or (story.target.kind == "roofline_share" and outlook is None):
        return None
    worth = outlook.worth_trying(noise_of(story)) if outlook else None
    reach = reach_of(story.target, story.best.kernel_ns, story.wall_ms, outlook)
    return progress_of(story.target, reach, wall_known=story.wall_ms is not None, worth_trying=worth)


def decision_of(story: Story, best: BestNow) -> Decision:
    """What to do next in a loop whose best run was looked at."""
    progress = progress_now(story, best.outlook)
    return decide(Position(story, best.outlook, progress, noise_of(story), best.gone, time.time()))


def noise_of(story: Story) -> float:
    """The relative change that the loop's last measurement could not tell from none."""
    return story.experiments[-1].noise_share if story.experiments else DEFAULT_SHARE


def _log(experiments: tuple[Experiment, ...]) -> Table:
    return LOG.exact(
        [
            (one.id, one.step, _cut(one.change), one.verdict, rounded(one.change_share, 4), one.pcc)
            for one in experiments
        ]
    )


def _cut(text: str) -> str:
    line = shown(text)
    return line if len(line) <= CHANGE_CHARS else f"{line[: CHANGE_CHARS - 3]}..."


def _earlier(experiments: tuple[Experiment, ...]) -> str | None:
    if not experiments:
        return None
    counts = {verdict: sum(one.verdict == verdict for one in experiments) for verdict in ("keep", "revert")}
    return f"{len(experiments)} earlier: {counts['keep']} kept, {counts['revert']} reverted; export has all"


def _try_next(decision: Decision) -> Table | None:
    if decision.finding is None:
        return None
    findings = (decision.finding, *decision.untried)[:TRIES_SHOWN]
    return TRY_NEXT.table([(finding.check, finding.step, finding.saving_us.at_most) for finding in findings])


def _notes(story: Story, best: BestNow) -> list[str]:
    notes = [best.gone] if best.gone else []
    if story.baseline.id != story.best.id and (gone := _changed_on_disk(story.baseline)):
        notes.append(f"baseline {story.baseline.id}: {gone}")
    doubtful = [one for one in story.experiments if one.flags][-DOUBTS_SHOWN:]
    if doubtful:
        notes.append(f"suspicious: {'; '.join(f'#{one.id} {_codes(one)}' for one in doubtful)}")
    if story.others:
        notes.append(f"{story.others} other loops in the log; baseline=... chooses one")
    return notes


def _codes(experiment: Experiment) -> str:
    return ", ".join(flag.partition(":")[0] for flag in experiment.flags)


def _changed_on_disk(run: RunSeen) -> str | None:
    """Whether the run's reports are still where they were, and still itself."""
    if run.of_ledger:
        return None
    performance, memory = (Path(one) if one else None for one in (run.performance, run.memory))
    pair = Pair(performance, memory, run.rank)
    if not all(one is None or one.is_file() for one in (pair.performance, pair.memory)):
        return "its report is not where it was"
    now = identity(pair)
    return None if now.startswith(run.id) else f"its report was overwritten and is now run {now[:SHOWN_CHARS]}"


def _next(story: Story, progress: TargetProgress | None) -> list[NextCall]:
    if progress is not None and progress.status == "met":
        return []
    calls = [NextCall(tool="experiments", arguments={"action": "next"}, why="one finding to try, or why to stop")]
    if story.target is None:
        why = "say when to stop, such as '10 ms'"
        calls.append(NextCall(tool="experiments", arguments={"action": "target", "target": "..."}, why=why))
    return calls


async def next_move(session: Session, baseline: str | None) -> Answer:
    """The decision for the loop that holds `baseline`, else for the latest; a run without a loop begins one.

    Raises:
        RunUnknown: there is no loop and no report.
        StoreUnusable: the log cannot be read.
    """
    known, targets = await log_of(session).all()
    story = story_of(known, targets) if baseline is None else None
    if story is None:
        run = await session.run(baseline)
        story = story_of(known, targets, run.id) or alone(await seen_alone(run))
    best = await best_run_now(session, story, inf)
    decision = decision_of(story, best)
    return Answer(
        baseline=run_line(story.baseline),
        best=best_line(story),
        target=target_progress(story, best),
        decided=_decided(decision),
        next=_calls(story, decision, best.wall_ms),
    )


def _decided(decision: Decision) -> Decided:
    finding, outs = decision.finding, decision.ruled_out
    table = RULED_OUT.exact([astuple(out) for out in outs[:RULED_OUT_SHOWN]]) if outs else None
    if finding is None:
        return Decided(decision="stop", reason=decision.reason, why=decision.why, ruled_out=table)
    return Decided(
        decision="try",
        reason=decision.reason,
        why=decision.why,
        finding=finding.check,
        step=finding.step,
        saving_us=finding.saving_us,
        fix=finding.fix,
        read_next=finding.read_next,
        ruled_out=table,
    )


def _calls(story: Story, decision: Decision, wall_ms: float | None) -> tuple[NextCall, ...]:
    if decision.finding is None:
        return ()
    record = NextCall(
        tool="experiments",
        arguments={"action": "record", "finding": decision.finding.check, "baseline": story.best.id},
        why="after the change: add change, candidate and pcc",
    )
    asked: dict[str, QuotedCell] = {"run": story.best.id}
    if wall_ms is not None:
        asked["wall_ms"] = wall_ms
    return NextCall(tool="optimization_check", arguments=asked, why="its evidence, rows and caveats"), record
