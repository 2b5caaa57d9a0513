"""history: a model's or an op's time over the runs that were seen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from ttnn_mcp.archive.turns import SIDE
from ttnn_mcp.errors import QuestionRefused, ReportMissing, RunUnknown
from ttnn_mcp.tools.budget import fitted
from ttnn_mcp.tools.parts import history_tables as tables
from ttnn_mcp.tools.tool import Budget, OfRun, Tool
from ttnn_mcp.wire import Quoted, Quoting, Share, Table, Wire

if TYPE_CHECKING:
    from ttnn_mcp.archive.history import History
    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.session.session import Session

BUDGET = Budget(4_000, cut=("runs",))  # of a default list


class Arguments(OfRun):
    """Arguments of history."""

    op: int | None = Field(None, description="Only this op, by its line")


class Answer(Wire):
    """Answer of history. Times of runs newest first, turns in order."""

    run: Quoted
    op_code: Quoted | None = None
    verdict: Literal["turned", "steady", "too_few_runs"]
    why: Quoting
    noise_share: Share | None = None
    turns: Annotated[Table, tables.TURNS] | None = None
    behind: Annotated[Table, tables.BEHIND] | None = None
    newest: Quoting | None = None
    runs: Annotated[Table, tables.RUNS]
    more_runs: int = 0
    left_out: tuple[Quoting, ...] = ()


async def history(session: Session, asked: Arguments) -> Answer:
    """How a model's or op's time went over all runs seen: each run, where it turned beyond noise, the ops behind."""
    if session.archive is None:
        raise QuestionRefused(
            "There is no archive of runs, so nothing is known of earlier ones. Install the extra `archive` "
            "(ttnn-mcp[archive]), and start without --archive-mb 0 and TTNN_MCP_ARCHIVE_MB=0."
        )
    answer = told(await _asked(session, session.archive, asked))
    return await asyncio.to_thread(fitted, answer, BUDGET, asked, "")


async def _asked(session: Session, archive: Archive, asked: Arguments) -> History:
    """The history of the run; of its name, where only the archive knows it."""
    from ttnn_mcp.archive.history import history_of  # noqa: PLC0415 - pandas loads with the first report

    try:
        run = await session.run(asked.run)
    except (RunUnknown, ReportMissing) as unknown:
        if asked.run is None:
            raise
        try:
            return await asyncio.to_thread(history_of, archive, asked.run, asked.op)
        except RunUnknown:
            raise unknown from None  # it names what is alike
    return await asyncio.to_thread(history_of, archive, run, asked.op)


def told(history: History) -> Answer:
    """The answer."""
    course = history.course
    enough = len(history.runs) >= 2 * SIDE
    return Answer(
        run=tables.called(history.subject),
        op_code=history.op_code,
        verdict="turned" if history.turns else "steady" if enough else "too_few_runs",
        why=tables.why(history),
        noise_share=course.noise_share,
        turns=tables.turns(history),
        behind=tables.ops_behind(history),
        newest=tables.newest(history),
        runs=tables.runs(history),
        left_out=tables.left_out(history),
    )


TOOL = Tool(
    name="history",
    title="History",
    arguments=Arguments,
    answer=Answer,
    ask=history,
    budget=BUDGET,
    search_hint="trend over time nightly regression change point when did it get slower archive earlier runs",
)
