"""One tool call, the same through either door: the protocol (server) and the shell (cli)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.tool import Tool

# Claude Code saves a result above 50,000 characters to a file and shows the model 2 kB of it; tools stay far below
# either figure by construction, so that this limit is met only by a bug or a run like none before.
LIMIT_BYTES = 40_000
NARROWING = ("limit", "steps", "op_code", "category", "group_by", "min_share", "device", "iteration")


def tool_named(name: str, tools: Sequence[Tool[Any, Any]]) -> Tool[Any, Any]:
    """The tool called `name`.

    Raises:
        ArgumentsInvalid: there is none; the message names the nearest.
    """
    for tool in tools:
        if tool.name == name:
            return tool
    raise ArgumentsInvalid(f"There is no tool '{shown(name)}'.{nearest(name, [tool.name for tool in tools])}")


async def answer(session: Session, tool: Tool[Any, Any], given: Mapping[str, object]) -> tuple[dict[str, Any], str]:
    """The structured answer, and the same as one line of compact JSON.

    Raises:
        TtnnMcpError: whatever the tool refuses, or an answer larger than its reader could take.
    """
    structured = await tool.call(session, given)
    text = compact(structured)
    size = len(text.encode())
    if size > LIMIT_BYTES:
        narrowing = [name for name in NARROWING if name in tool.arguments.model_fields] or ["other arguments"]
        raise QuestionRefused(
            f"{tool.name} has {size // 1000} kB to say, and one answer may have {LIMIT_BYTES // 1000} kB. "
            f"Narrow it with {' or '.join(narrowing)}."
        )
    return structured, text


def compact(structured: object) -> str:
    """JSON without a byte to spare, as assistants that show structured answers print it."""
    return json.dumps(structured, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def unforeseen(name: str) -> str:
    """What the caller reads of a failure we did not foresee: that it is ours, and nothing of its text."""
    return (
        f"ttnn-mcp failed on this {name} call; this is a bug in ttnn-mcp, not in the call or the report. "
        "Its stderr has the traceback; another tool or a narrower question may still answer."
    )
