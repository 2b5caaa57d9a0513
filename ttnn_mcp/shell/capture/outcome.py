"""What `profile` says of the reports it got: whether they can be believed, and what is slow."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.shell.asking import all_findings
from ttnn_mcp.shell.capture.doubts import doubts_of
from ttnn_mcp.shell.check_screen import check_screen
from ttnn_mcp.shell.terminal import coloured, width

if TYPE_CHECKING:
    from ttnn_mcp.session.session import Session
    from ttnn_mcp.shell.capture.profiled import Capture

UNUSABLE = "no-times"


async def findings_of(session: Session, capture: Capture) -> str:
    """The findings as `check` prints them; empty where the report holds no times."""
    memory = str(capture.memory_report) if capture.memory_report else None
    try:
        run = await session.open(str(capture.performance), memory)
        doubts = doubts_of(run)
        for doubt in doubts:
            capture.explain(doubt)
        if any(doubt.name == UNUSABLE for doubt in doubts):
            capture.status = capture.status or 1
            return ""
        answer = await all_findings(session, {"run": run.id})
    except TtnnMcpError as refusal:
        capture.tell(str(refusal))
        capture.status = capture.status or 1
        return ""
    return check_screen(answer, run=run.id, colour=coloured(sys.stdout), width=width())
