"""The questions that have a command of their own: which tool answers, and what the words behind the command are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown, shown_path
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.session.session import Session


@dataclass(frozen=True, slots=True)
class Question:
    """A command that asks one tool.

    Attributes:
        tool: the tool that answers.
        about: the command in one line of help.
        runs: the arguments that take the words behind the command, in order; the last is the newest run by default.
        stated: arguments that the command sets where nobody else does.
    """

    tool: str
    about: str
    runs: tuple[str, ...] = ("run",)
    stated: Mapping[str, object] = field(default_factory=dict[str, object])


QUESTIONS = {
    "check": Question("optimization_check", "what should change first in RUN, and what it can save"),
    "ops": Question("list_ops", "where the time of RUN goes", stated={"group_by": "op_code"}),
    "op": Question("op_detail", "what bounds the op at this LINE of the CSV of RUN", ("op", "run")),
    "open": Question("open_run", "what RUN holds, and how far to trust it; performance= and memory= join two"),
    "compare": Question("compare_runs", "whether run B is faster than run A", ("baseline", "candidate")),
    "runs": Question("list_runs", "the runs that are there", ()),
    "experiments": Question("experiments", "what was tried, and what was kept", (), {"action": "list"}),
    "memory": Question("memory_summary", "how full L1 and DRAM were in RUN"),
    "host": Question("host_overhead", "whether the device waits for the host in RUN"),
}


async def arguments(
    session: Session, question: Question, words: Sequence[str]
) -> tuple[dict[str, object], list[str], str | None]:
    """The tool's arguments, the runs as a person names them, and a sentence if one of them was chosen for them.

    Raises:
        ArgumentsInvalid: there are too many runs, too few, or an argument is not the tool's.
    """
    from ttnn_mcp.shell import call_arguments  # noqa: PLC0415 - the tools load with the first question
    from ttnn_mcp.shell.call_arguments import tool_alone  # noqa: PLC0415

    tool = tool_alone(question.tool)
    known = tool.arguments.model_fields
    pairs = [word for word in words if word.partition("=")[0] in known and "=" in word]
    runs = [word for word in words if word not in pairs]
    stated: dict[str, Any] = {**question.stated, **call_arguments.arguments(tool, pairs)}
    places = [name for name in question.runs if name not in stated]
    _refuse_misspelt(runs, list(known), question)
    if len(runs) > len(places):
        wrong = runs[len(places)]
        why = f"takes {_counted(question.runs)} and name=value arguments of {question.tool}"
        raise ArgumentsInvalid(f"'{shown(wrong)}' is too much: this command {why}.")
    if len(places) - len(runs) > 1:
        raise ArgumentsInvalid(
            "Name its line of the CSV: ttnn-mcp op LINE [RUN] (ttnn-mcp ops --each lists them)."
            if "op" in places
            else "Name two runs: ttnn-mcp compare A B (ttnn-mcp runs lists them)."
        )
    stated.update((name, _read(word, known[name].annotation)) for name, word in zip(places, runs, strict=False))
    named = [str(stated[name]) for name in question.runs if name in stated and name != "op"]
    if len(runs) == len(places) or {"performance", "memory"} & stated.keys():
        return stated, named, None
    newest = await session.run(None)
    settings = session.settings
    chosen = settings.run is None and settings.performance is None and settings.memory is None
    stated[places[-1]] = newest.id
    named.append(newest.name)
    path = newest.performance.csv.path if newest.performance else newest.memory.path if newest.memory else None
    return (
        stated,
        named,
        f"Run {shown(newest.name)}: the newest report found ({shown_path(path)})." if chosen else None,
    )


def _read(word: str, kind: type[Any] | None) -> object:
    return int(word) if kind is int and word.isdecimal() else word


def _refuse_misspelt(runs: Sequence[str], known: list[str], question: Question) -> None:
    """A run's name may hold an equals sign; what looks like name=value and lies nowhere is an argument.

    Raises:
        ArgumentsInvalid: the tool has no such argument.
    """
    for word in runs:
        name, equals, _value = word.partition("=")
        if equals and name.isidentifier() and not os.path.exists(word):  # noqa: PTH110 - Path.exists() may raise
            raise ArgumentsInvalid(f"{question.tool} has no argument '{shown(name)}'.{nearest(name, known)}")


def _counted(runs: Sequence[str]) -> str:
    return ("no run", "one run", "two runs")[len(runs)]
