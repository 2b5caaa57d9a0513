"""The questions that have a command of their own: which tool answers, and what the words behind the command are.

And the other way round: calls that an answer suggests, as commands that work when they are pasted into a shell.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown, shown_path
from ttnn_mcp.records import dataclass
from ttnn_mcp.shell.terminal import own_name

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
_COMMANDS = {question.tool: (name, question) for name, question in QUESTIONS.items()}
_TOOL = re.compile(rf"\b({'|'.join(_COMMANDS)})\b(?!=)(?:\(([^()]*)\))?((?:\.\w+)?)")
_MARKS = {"fix": "", **dict.fromkeys(("why", "caveat", "caveats", "trust", "verify", "assumption", "doubts"), "`")}


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


def command(*words: str, **arguments: Any) -> str:
    """A command of ours with `name=value` arguments, quoted for a shell."""
    return " ".join([own_name(), *map(shlex.quote, [*words, *_pairs(arguments)])])


def _pairs(arguments: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_value(value)}" for name, value in arguments.items()]


def following(answer: Mapping[str, Any], run: str | None) -> list[tuple[str, str]]:
    """(command, why) of each call that the answer suggests; `run` stands for the id of the run in it."""
    return [(_call(call, run), call["why"]) for call in answer.get("next", ())]


def _call(call: Mapping[str, Any], run: str | None) -> str:
    arguments = dict(call["arguments"])
    if call["tool"] == "skill_step":
        return command("skill", *(str(value) for value in arguments.values()))
    if call["tool"] == "open_run" and not arguments:
        return command("runs")  # which there are, where none is chosen yet
    if run is not None and "run" in arguments:
        arguments["run"] = run
    return command(*_asked(call["tool"], arguments))


def _asked(tool: str, arguments: Mapping[str, Any]) -> list[str]:
    """The words that ask a tool: those of its own command where there is one, which puts the runs in their order."""
    name, question = _COMMANDS.get(tool, (None, None))
    if name is None or question is None or not question.stated.keys() <= arguments.keys():
        return ["call", tool, *_pairs(arguments)]
    runs = [one for one in question.runs if one in arguments]
    if [*question.runs[: len(runs)]] != runs:
        return ["call", tool, *_pairs(arguments)]
    rest = {one: value for one, value in arguments.items() if one not in runs}
    return [name, *(str(arguments[one]) for one in runs), *_pairs(rest)]


def spoken_here(text: str, mark: str = "`") -> str:
    """Words whose tools are the commands that ask them: 'op_detail(op=3).kernel_us' is '`ttnn-mcp op 3` kernel_us'."""
    return _TOOL.sub(lambda call: f"{mark}ttnn-mcp {_spoken(call)}{mark}{call[3].replace('.', ' ')}", text)


def _spoken(call: re.Match[str]) -> str:
    pairs = [pair.partition("=") for pair in re.split(r", ?", call[2] or "") if pair]
    if not pairs:
        return _COMMANDS[call[1]][0]
    stated = _COMMANDS[call[1]][1].stated  # what a command takes for granted is not repeated
    arguments = {**stated, **{name: value.strip("'\"") for name, _, value in pairs}}
    return shlex.join(word for word in _asked(call[1], arguments) if word not in _pairs(stated))


def answer_spoken_here(answer: Any, field: str = "") -> Any:
    """An answer whose own sentences name commands in place of tools."""
    if isinstance(answer, dict):
        parts = cast("dict[str, Any]", answer)
        return {name: answer_spoken_here(part, name) for name, part in parts.items()}
    if isinstance(answer, (list, tuple)):
        return [answer_spoken_here(part, field) for part in cast("list[Any]", answer)]
    return spoken_here(answer, _MARKS[field]) if isinstance(answer, str) and field in _MARKS else answer


def more(words: Sequence[str], answer: Mapping[str, Any]) -> str | None:
    """The command that shows what did not fit; None where all did."""
    cursor = answer.get("next_cursor")
    return None if cursor is None else command(*words, cursor=cursor)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
