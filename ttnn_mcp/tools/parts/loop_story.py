"""The story so far, told in under a thousand tokens: what an assistant needs to take up the loop again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from ttnn_mcp.analyses.comparison.noise import DEFAULT_SHARE
from ttnn_mcp.errors import shown
from ttnn_mcp.experiments.checklist import checklist
from ttnn_mcp.experiments.decision import Decision, Position, decide
from ttnn_mcp.experiments.experiment import Experiment, RunSeen
from ttnn_mcp.experiments.outlook import Outlook, reach_of
from ttnn_mcp.experiments.story import Story, story_of
from ttnn_mcp.experiments.targets import Progress, progress_of
from ttnn_mcp.session.pair import SHOWN_CHARS
from ttnn_mcp.session.session import Pair, Session, identity
from ttnn_mcp.tools.parts.loop_answer import CHECKLIST, LOG, TRY_NEXT, Answer, TargetProgress
from ttnn_mcp.tools.parts.loop_runs import BestNow, best_line, best_run_now, log_of, run_line
from ttnn_mcp.wire import NextCall, Table, rounded

LOG_ROWS = 10
CHANGE_CHARS = 60
TRIES_SHOWN = 3
DOUBTS_SHOWN = 3


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
