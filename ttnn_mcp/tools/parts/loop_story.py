"""The story so far, told in under a thousand tokens: what an assistant needs to take up the loop again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.analyses.comparison.noise import DEFAULT_SHARE
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.errors import TtnnMcpError, shown
from ttnn_mcp.experiments.checklist import checklist
from ttnn_mcp.experiments.outlook import Outlook, outlook_of, reach_of
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.experiments.story import Story, story_of
from ttnn_mcp.experiments.targets import progress_of
from ttnn_mcp.session.session import Pair, identity
from ttnn_mcp.tools.parts.loop_answer import CHECKLIST, LOG, TRY_NEXT, Answer, LoopRun, TargetProgress
from ttnn_mcp.wire import NextCall, rounded

if TYPE_CHECKING:
    from ttnn_mcp.experiments.experiment import Experiment, RunSeen
    from ttnn_mcp.session.session import Session
    from ttnn_mcp.wire import Table

LOG_ROWS = 10
CHANGE_CHARS = 60
TRIES_SHOWN = 3


class BestNow(NamedTuple):
    """The best run looked at now; `gone` says why it could not be."""

    outlook: Outlook | None
    gone: str | None


def log_of(session: Session) -> Store:
    """The log, as far as this session may name the runs in it."""
    return Store(session.settings.state_folder, lambda run: session.roots.permits(run.performance, run.memory))


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
    return Answer(
        baseline=_run(story.baseline),
        best=_best(story),
        target=target_progress(story, best),
        log=_log(story.experiments[-LOG_ROWS:]),
        earlier=_earlier(story.experiments[:-LOG_ROWS]),
        try_next=_try_next(best.outlook),
        checklist=marks,
        notes=(*await asyncio.to_thread(_notes, story, best), *log.damaged),
        next=tuple(_next(story, best)),
    )


async def best_run_now(session: Session, story: Story | None) -> BestNow:
    """Open the best run and ask the checks."""
    if story is None:
        return BestNow(None, None)
    try:
        run = await session.run(story.best.id)
        if run.id != story.best.id:
            return BestNow(None, f"the best run's report was overwritten: its file now holds run {run.id}")
        if run.memory is not None:
            await replay_of(run)  # the checks on memory read it
        return BestNow(await asyncio.to_thread(outlook_of, run), None)
    except TtnnMcpError as gone:
        return BestNow(None, f"the best run cannot be opened: {gone}")


def target_progress(story: Story, best: BestNow | None) -> TargetProgress | None:
    """How far the target is; None where none was set."""
    if story.target is None:
        return None
    outlook = best.outlook if best else None
    if story.target.kind == "roofline_share" and outlook is None:
        why = "the share of the roofline needs the best run's report; list tells it"
        return TargetProgress(target=story.target.text, status="unknown", stop=False, why=why)
    worth = outlook.worth_trying(_noise(story)) if outlook else None
    reach = reach_of(story.target, story.best.kernel_ns, story.wall_ms, outlook)
    progress = progress_of(story.target, reach, wall_known=story.wall_ms is not None, worth_trying=worth)
    return TargetProgress(target=story.target.text, status=progress.status, stop=progress.stop, why=progress.why)


def _noise(story: Story) -> float:
    return story.experiments[-1].noise_share if story.experiments else DEFAULT_SHARE


def _run(run: RunSeen) -> LoopRun:
    return LoopRun(run=run.id, name=shown(run.name), kernel_ms=run.kernel_ns / 1e6)


def _best(story: Story) -> LoopRun:
    return _run(story.best).model_copy(update={"wall_ms": story.wall_ms, "gain_share": story.gain_share})


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


def _try_next(outlook: Outlook | None) -> Table | None:
    findings = [one for one in outlook.findings if one.saving_us.at_most > 0][:TRIES_SHOWN] if outlook else []
    if not findings:
        return None
    return TRY_NEXT.table(
        [(one.check, one.step, one.saving_us.at_least, one.saving_us.at_most) for one in findings]
    )


def _notes(story: Story, best: BestNow) -> list[str]:
    notes = [best.gone] if best.gone else []
    if story.baseline.id != story.best.id and (gone := _changed_on_disk(story.baseline)):
        notes.append(f"baseline {story.baseline.id}: {gone}")
    flagged = [one.id for one in story.experiments if one.flags]
    if flagged:
        notes.append(
            f"doubtful (several changes, or another baseline): {', '.join(f'#{one}' for one in flagged[-5:])}"
        )
    if story.others:
        notes.append(f"{story.others} other loops in the log; baseline=... chooses one")
    return notes


def _changed_on_disk(run: RunSeen) -> str | None:
    """Whether the run's reports are still where they were, and still itself."""
    performance, memory = (Path(one) if one else None for one in (run.performance, run.memory))
    pair = Pair(performance, memory, run.rank)
    if not all(one is None or one.is_file() for one in (pair.performance, pair.memory)):
        return "its report is not where it was"
    now = identity(pair)
    return None if now == run.id else f"its report was overwritten and is now run {now}"


def _next(story: Story, best: BestNow) -> list[NextCall]:
    target = target_progress(story, best)
    if target is not None and target.stop:
        return []
    calls = [NextCall(tool="optimization_check", arguments={"run": story.best.id}, why="findings on the best run")]
    if story.target is None:
        why = "say when to stop, such as '10 ms'"
        calls.append(NextCall(tool="experiments", arguments={"action": "target", "target": "..."}, why=why))
    return calls
