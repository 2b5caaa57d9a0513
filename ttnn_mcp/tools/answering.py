"""One tool call, the same through either door: the protocol (server) and the shell.

Validates the arguments, opens the run, refuses what it lacks, replays its memory once, chooses the window, asks in
a worker thread and fits the answer into its budget. A tool states what it needs of this; it does none of it. What is
wrong with arguments pydantic decides; this module says it in our words.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import ValidationError

from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, nearest, shown, unforeseen
from ttnn_mcp.quoting import cleaned, figure
from ttnn_mcp.tools.budget import LIMIT_BYTES, fitted
from ttnn_mcp.wire import compact

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.tool import Arguments, Budget, OfRun, OfWindow, Tool
    from ttnn_mcp.wire import Wire

    AnyTool = Tool[Any, Any]
    from ttnn_mcp.tools.tool import Tool


__all__ = ["all_findings", "answer", "answerable", "compact", "records", "tool_named", "unforeseen"]

OPTIONS_SHOWN = 8  # so few values are always listed; of more, the nearest is named where there is one
WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "int_type": lambda _: "is a whole number",
    "int_parsing": lambda _: "is a whole number",
    "int_from_float": lambda _: "is a whole number",
    "int_parsing_size": lambda _: "is a whole number of ordinary size",
    "float_type": lambda _: "is a number",
    "float_parsing": lambda _: "is a number",
    "finite_number": lambda _: "is a finite number",
    "bool_type": lambda _: "is true or false",
    "bool_parsing": lambda _: "is true or false",
    "string_type": lambda _: "is text",
    "string_unicode": lambda _: "is text that can be encoded as UTF-8",
    "list_type": lambda _: "is a list",
    "tuple_type": lambda _: "is a list",
    "string_too_long": lambda limits: f"has at most {limits['max_length']} characters",
    "string_too_short": lambda limits: f"has at least {limits['min_length']} characters",
    "too_long": lambda limits: f"has at most {limits['max_length']} entries",
    "greater_than_equal": lambda limits: f"is {figure(limits['ge'], 'g')} or more",
    "greater_than": lambda limits: f"is more than {figure(limits['gt'], 'g')}",
    "less_than_equal": lambda limits: f"is {figure(limits['le'], 'g')} or less",
    "less_than": lambda limits: f"is less than {figure(limits['lt'], 'g')}",
}


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


def records(table: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The rows of an answer's table by the names of its columns; none where there is no table."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]] if table else []


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


def validated(tool: Tool[Any, Any], arguments: Mapping[str, object]) -> Arguments:
    """The arguments as the tool takes them.

    Raises:
        ArgumentsInvalid: with the nearest accepted name, or what a value should be.
    """
    try:
        return tool.arguments.model_validate(dict(arguments))
    except ValidationError as invalid:
        accepted = list(tool.arguments.model_fields)
        faults = dict.fromkeys(_faults(invalid, accepted))
        raise ArgumentsInvalid(f"{tool.name}: {' '.join(faults)} Accepted: {', '.join(accepted)}.") from None


def _faults(invalid: ValidationError, accepted: list[str]) -> list[str]:
    """One sentence per argument; where a value may be one of several types, its alternatives in one sentence."""
    by_name: dict[str, list[str]] = {}
    for error in invalid.errors(include_url=False):
        name = shown(error["loc"][0]) if error["loc"] else "arguments"
        by_name.setdefault(name, []).append(_fault(name, dict(error), accepted))
    return [_joined_faults(dict.fromkeys(faults), name) for name, faults in by_name.items()]


def _joined_faults(faults: dict[str, None], name: str) -> str:
    first, *others = faults
    start = f"'{name}' "
    sentence = f"{first}{''.join(', or ' + other.removeprefix(start) for other in others)}"
    return sentence if sentence.endswith("?") else f"{sentence}."


def _fault(name: str, error: dict[str, Any], accepted: list[str]) -> str:
    if error["type"] == "extra_forbidden":
        return f"unknown argument '{name}'{_meant(name, accepted)}"
    if error["type"] == "missing":
        return f"'{name}' is required"
    if error["type"] == "literal_error":
        return f"'{name}' {_options(error)}"
    words = WORDS.get(error["type"])
    return f"'{name}' {words(error.get('ctx', {})) if words else 'has a value that is not accepted'}"


def _options(error: dict[str, Any]) -> str:
    options = [option.strip("'\"") for option in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    if len(options) == 1:
        return f"is {options[0]}"
    if len(options) <= OPTIONS_SHOWN:
        return f"is {', '.join(options[:-1])} or {options[-1]}"
    wrong = error["input"]
    meant = _meant(wrong, options) if isinstance(wrong, str) else ""
    return f"cannot be '{shown(wrong)}'{meant}" if meant else f"is one of {', '.join(options)}"


def _meant(name: str, names: list[str]) -> str:
    close = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return f". Did you mean {close[0]}?" if close else ""
