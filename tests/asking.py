"""Ask a tool the way the shell does: validated arguments in, plain JSON values out."""

from pathlib import Path
from typing import Any

from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import tool_named


def session(state: Path, *roots: Path) -> Session:
    return Session(Settings(roots=roots or (state / "no-reports",), state=state / "state"))


async def ask(at: Session, tool: str, **arguments: object) -> dict[str, Any]:
    return await tool_named(tool, TOOLS).call(at, arguments)
