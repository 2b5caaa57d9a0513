"""Ask a tool the way the shell does: validated arguments in, plain JSON values out."""

from pathlib import Path
from typing import Any

from ttnn_mcp.calls import tool_named
from ttnn_mcp.run.session import Session, Settings
from ttnn_mcp.tools import TOOLS


def session(state: Path, *roots: Path) -> Session:
    return Session(Settings(roots=roots or (state / "no-reports",), state=state / "state"))


async def ask(at: Session, tool: str, **arguments: object) -> dict[str, Any]:
    return await tool_named(tool, TOOLS).call(at, arguments)
