"""What a view in a chat draws beside its answer: the rows of all ops of a window, or L1 at every operation.

A host reads it as a resource, because an answer that goes to a model must not hold it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, nearest, shown
from ttnn_mcp.quoting import cleaned
from ttnn_mcp.report.embedded import by_column, window_content
from ttnn_mcp.report.levels import levels_of
from ttnn_mcp.report.rows import window_rows
from ttnn_mcp.tools import TOOLS, answering
from ttnn_mcp.tools.validation import validated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.tool import OfWindow

TOOL_OF = {"window": "time_budget", "levels": "memory_summary"}  # whose arguments choose what is drawn


async def drawn(session: Session, picture: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    """The content of a picture, long tables by column as in the page of a report.

    Raises:
        TtnnMcpError: there is no such picture, or the run cannot answer.
    """
    if picture not in TOOL_OF:
        raise ArgumentsInvalid(f"There is no picture '{shown(picture)}'.{nearest(picture, TOOL_OF)}")
    tool = answering.tool_named(TOOL_OF[picture], TOOLS)
    asked = cast("OfWindow", validated(tool, arguments))
    run = await session.run(asked.run)
    lacking = answering.lacks(tool, run)
    if lacking:
        raise QuestionRefused(lacking)
    if picture == "levels":
        levels = cleaned(await levels_of(run))
        return {"levels": by_column(levels) if levels else None}
    return await asyncio.to_thread(_window, run, asked)


def _window(run: Run, asked: OfWindow) -> dict[str, Any]:
    facts = answering.window_asked(run, asked)
    rows = window_rows(facts)
    return {
        "card": {"worker_cores": facts.chip.worker_cores},
        **window_content(rows.ops, rows.rooflines, rows.stages, rows.layers),
        "window_rows": rows.ops["window"]["rows"],
        "device": facts.scope.critical_device,
    }
