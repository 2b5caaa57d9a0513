"""Calls that an answer suggests, as commands that work when they are pasted into a shell."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ttnn_mcp.shell.questions import QUESTIONS
from ttnn_mcp.shell.terminal import own_name

_COMMANDS = {question.tool: (name, question) for name, question in QUESTIONS.items()}
_TOOL = re.compile(rf"\b({'|'.join(_COMMANDS)})\b(?!=)(?:\(([^()]*)\))?((?:\.\w+)?)")
_MARKS = {"fix": "", **dict.fromkeys(("why", "caveat", "caveats", "trust", "verify", "assumption", "doubts"), "`")}


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
