"""Ask a tool the way the shell does: validated arguments in, plain JSON values out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.session.open_runs import OpenRuns
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import answer, tool_named
from ttnn_mcp.tools.memory_summary import Arguments as MemoryArguments
from ttnn_mcp.tools.memory_summary import memory_summary
from ttnn_mcp.tools.parts.memory_answer import Answer as MemoryAnswer
from ttnn_mcp.tools.tool import Tool


def session(state: Path, *roots: Path) -> Session:
    return Session(Settings(roots=roots or (state / "no-reports",), state=state / "state"))


def reader(state: Path) -> Session:
    """As `session`, but what another test of this process opened so is open here too, with what is known of it.

    For questions about published reports and the demo that ask nothing about opening. Names and loops are its own.
    """
    at = session(state)
    at._runs = OPEN_FOR_ALL
    return at


OPEN_FOR_ALL = OpenRuns(most=100)  # more than there are: a sweep asks about one after another


async def call(tool: Tool[Any, Any], at: Session, arguments: Mapping[str, object]) -> dict[str, Any]:
    structured, _text = await answer(at, tool, arguments)
    return structured


async def ask(at: Session, tool: str, **arguments: object) -> dict[str, Any]:
    return await call(tool_named(tool, TOOLS), at, arguments)


def required(tool: Tool[Any, Any], run: str, op: int) -> dict[str, object]:
    """What the tool cannot be asked without: about this run, and this op of it."""
    known: dict[str, object] = {
        "run": run,
        "op": op,
        "setting": "math_fidelity",
        "value": "LoFi",
        "sql": "SELECT 1",
        "baseline": run,
        "candidate": run,
    }
    wanted = {*tool.input_schema.get("required", ()), *({"run", "candidate"} & tool.arguments.model_fields.keys())}
    if wanted - known.keys():
        pytest.fail(f"add a value for {sorted(wanted - known.keys())} to `required` in tests/asking.py")
    return {name: known[name] for name in wanted}


async def memory_summary_of(at: Session, run: str, operation: int | None = None) -> MemoryAnswer:
    """The answer of memory_summary as the tool builds it, before it is cut to its budget."""
    replayed = await replay_of(await at.run(run))
    return await memory_summary(replayed, MemoryArguments(run=run, operation=operation))
