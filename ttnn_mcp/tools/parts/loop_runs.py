"""The runs of a loop: as they were recorded, and the best one as it is now."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.errors import TtnnMcpError, shown
from ttnn_mcp.experiments.outlook import CHEAP_OPS, Outlook, outlook_of
from ttnn_mcp.experiments.runs_seen import seen
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.tools.parts.loop_answer import LoopRun

if TYPE_CHECKING:
    from ttnn_mcp.experiments.experiment import RunSeen
    from ttnn_mcp.experiments.story import Story
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session


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
