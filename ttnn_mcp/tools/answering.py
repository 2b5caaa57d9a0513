"""One tool call, the same through either door: the protocol (server) and the shell.

Validates the arguments, opens the run, refuses what it lacks, replays its memory once, chooses the window, asks in
a worker thread and fits the answer into its budget. A tool states what it needs of this; it does none of it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, nearest, shown, unforeseen
from ttnn_mcp.quoting import cleaned
from ttnn_mcp.tools.budget import LIMIT_BYTES, fitted
from ttnn_mcp.tools.validation import validated
from ttnn_mcp.wire import compact

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.tool import Arguments, Budget, OfRun, OfWindow, Tool
    from ttnn_mcp.wire import Wire

    AnyTool = Tool[Any, Any]

__all__ = ["all_findings", "answer", "answerable", "compact", "records", "tool_named", "unforeseen"]


class SeveralRuns(Protocol):
    """The runs of a comparison."""

    @property
    def runs(self) -> Sequence[Run]:
        """All of them."""
        ...


def tool_named(name: str, tools: Sequence[AnyTool]) -> AnyTool:
    """The tool called `name`.

    Raises:
        ArgumentsInvalid: there is none; the message names the nearest.
    """
    for tool in tools:
        if tool.name == name:
            return tool
    raise ArgumentsInvalid(f"There is no tool '{shown(name)}'.{nearest(name, [tool.name for tool in tools])}")


async def answer(session: Session, tool: AnyTool, arguments: Mapping[str, object]) -> tuple[dict[str, Any], str]:
    """The structured answer, and the same as one line of compact JSON.

    Raises:
        TtnnMcpError: whatever the tool refuses, or an answer larger than its reader could take.
    """
    structured = await _answered(session, tool, arguments, tool.budget)
    text = compact(structured)
    size = len(text.encode())
    if size > LIMIT_BYTES:
        narrowing = tool.narrow or ("other arguments",)
        raise QuestionRefused(
            f"The answer of {tool.name} has {size // 1000} kB, and at most {LIMIT_BYTES // 1000} kB are sent. "
            f"Narrow it with {' or '.join(narrowing)}."
        )
    return structured, text


async def all_findings(session: Session, tool: AnyTool, arguments: Mapping[str, object]) -> dict[str, Any]:
    """The answer of optimization_check with all its findings on one page.

    Raises:
        TtnnMcpError: whatever the tool refuses.
    """
    return await _answered(session, tool, arguments, None)


def records(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of an answer's table by the names of its columns."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def _answered(
    session: Session, tool: AnyTool, arguments: Mapping[str, object], budget: Budget | None
) -> dict[str, Any]:
    asked = validated(tool, arguments)
    opened = await _opened(session, tool, asked)
    structured = cleaned((await _asked(session, tool, asked, opened, budget)).spoken())
    session.archiving.begin()
    return structured


async def _opened(session: Session, tool: AnyTool, asked: Arguments) -> object:
    """What the tool is about: the session, the run or several runs, which have the reports that it needs."""
    if tool.about == "session":
        return session
    opened = await (tool.opens(session, asked) if tool.opens else session.run(cast("OfRun", asked).run))
    for run in cast("SeveralRuns", opened).runs if tool.about == "pair" else [cast("Run", opened)]:
        lacking = lacks(tool, run)
        if lacking:
            raise QuestionRefused(f"{await _shortage(run)}{lacking}")
    return opened


async def _shortage(run: Run) -> str:
    """'Run R ran out of L1 ...: ... ' of a run whose memory ran out: that is what is to be known first."""
    if run.memory is None:
        return ""
    from ttnn_mcp.tools.parts.memory_errors import ending_of  # noqa: PLC0415 - no other answer waits for it

    ran_out = (await ending_of(run)).ran_out
    return f"Run {run.id} {ran_out}. " if ran_out else ""


async def _asked(session: Session, tool: AnyTool, asked: Arguments, opened: object, budget: Budget | None) -> Wire:
    if tool.about == "session":
        return await _awaited(tool.ask(session, asked))
    if tool.about == "pair":
        return cast("Wire", await asyncio.to_thread(tool.ask, opened, asked))
    run = cast("Run", opened)
    if tool.awaited:
        reply = await _awaited(tool.ask(run, asked))
    else:
        replays = run.memory is not None and (tool.replay or tool.about == "replay")
        replay = await _replayed(run) if replays else None
        reply = await asyncio.to_thread(_reply, tool, run, replay, asked)
    return reply if budget is None else await asyncio.to_thread(fitted, reply, budget, asked, run.id)


async def _replayed(run: Run) -> Replayed:
    from ttnn_mcp.analyses.memory.replay import replay_of  # noqa: PLC0415 - the analyses load with the first question

    return await replay_of(run)


def _reply(tool: AnyTool, run: Run, replay: Replayed | None, asked: Arguments) -> Wire:
    """The tool's answer; in a worker thread, with a loop of its own for what reads the database."""
    if run.performance is None and tool.alone is not None:
        _refuse_window(asked)
        reply = tool.alone(run, asked)
    elif tool.about == "window":
        reply = tool.ask(window_asked(run, cast("OfWindow", asked)), asked)
    else:
        reply = tool.ask(replay if tool.about == "replay" else run, asked)
    return asyncio.run(_awaited(reply)) if inspect.isawaitable(reply) else reply


def _refuse_window(asked: Arguments) -> None:
    """A memory report has no rows to choose: an iteration or a signpost would be ignored unsaid.

    Raises:
        QuestionRefused: the arguments choose a window.
    """
    chosen = {name: getattr(asked, name, None) for name in ("iteration", "start_signpost", "end_signpost")}
    named = [name for name, value in chosen.items() if value not in (None, "last", "all")]
    if named:
        raise QuestionRefused(
            f"'{named[0]}' chooses rows of a performance report, and this run is a memory report alone. Leave it out."
        )


async def _awaited(reply: Any) -> Wire:
    return await reply if inspect.isawaitable(reply) else reply


def window_asked(run: Run, asked: OfWindow) -> WindowFacts:
    """The facts of the window that the arguments choose.

    Raises:
        QuestionRefused: the run has no such window.
    """
    from ttnn_mcp.analyses.window_facts import facts_of  # noqa: PLC0415 - the analyses load with the first question

    return facts_of(run, run.scope(asked.iteration, asked.start_signpost, asked.end_signpost))


def lacks(tool: AnyTool, run: Run) -> str:
    """Why the run cannot answer the tool's question; empty where it can."""
    if run.performance is None and "performance" in tool.needs and tool.alone is None:
        return (
            f"Run {run.id} has no performance report, and {tool.name} needs device times. Profile with "
            "`python -m tracy -r -p -v -m pytest <test>`, then open_run with both reports."
        )
    if run.memory is None and "memory" in tool.needs:
        return (
            f"Run {run.id} has no memory report, and {tool.name} needs one. Capture it with "
            "ttnn.graph.full_graph_capture (from 0.69.0) and `python -m ttnn.graph_report`, then open_run with "
            "both reports."
        )
    return ""


def answerable(tools: Sequence[AnyTool], run: Run) -> tuple[list[str], list[str]]:
    """(tools that answer for this run, "tool: why not" for the others), read off what the tools declare."""
    timed = run.performance is not None and len(run.performance.steady) > 0
    can: list[str] = []
    cannot: list[str] = []
    for tool in tools:
        if not tool.needs:
            continue
        if "performance" in tool.needs and not timed and not (tool.alone is not None and run.memory is not None):
            cannot.append(f"{tool.name}: no device times")
        elif "memory" in tool.needs and run.memory is None:
            cannot.append(f"{tool.name}: no memory report")
        else:
            can.append(tool.name)
    cold = timed and not run.scope().window.warm
    return can, [*cannot, *(f"{tool.name}.{tool.warm}: no warm iteration" for tool in tools if tool.warm and cold)]
