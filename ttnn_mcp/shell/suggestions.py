"""Calls that an answer suggests, as commands that work when they are pasted into a shell."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from ttnn_mcp.shell.questions import QUESTIONS
from ttnn_mcp.shell.terminal import own_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def command(*words: str, **arguments: Any) -> str:
    """A command of ours with `name=value` arguments, quoted for a shell."""
    pairs = [f"{name}={_value(value)}" for name, value in arguments.items()]
    return " ".join([own_name(), *map(shlex.quote, [*words, *pairs])])


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
    return command("call", call["tool"], **arguments)


def spoken_here(refusal: str) -> str:
    """A refusal whose tools are the commands that ask them."""
    commands = {question.tool: command for command, question in QUESTIONS.items() if question.tool != command}
    commands["open_run"] = "call open_run"
    return re.sub(rf"\b({'|'.join(commands)})\b", lambda tool: f"`ttnn-mcp {commands[tool[1]]}`", refusal)


def more(words: Sequence[str], answer: Mapping[str, Any]) -> str | None:
    """The command that shows what did not fit; None where all did."""
    cursor = answer.get("next_cursor")
    return None if cursor is None else command(*words, cursor=cursor)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
