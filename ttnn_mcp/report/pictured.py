"""The tools whose answer can come with a picture, and how it is made."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.quoting import cleaned
from ttnn_mcp.report.image import check_drawable, window_image
from ttnn_mcp.report.rows import ops_of
from ttnn_mcp.tools import answering
from ttnn_mcp.tools.validation import validated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.tool import OfWindow, Tool


def wanted(tool: Tool[Any, Any], arguments: Mapping[str, object]) -> bool:
    """Whether the call asks for a picture.

    Raises:
        QuestionRefused: it does, and none can be drawn here.
    """
    if "picture" not in tool.arguments.model_fields or arguments.get("picture") is not True:
        return False
    check_drawable()
    return True


async def picture(
    session: Session, tool: Tool[Any, Any], arguments: Mapping[str, object], answer: dict[str, Any]
) -> bytes:
    """The PNG that goes with an answer of time_budget."""
    asked = cast("OfWindow", validated(tool, arguments))
    run = await session.run(asked.run)
    facts = await asyncio.to_thread(answering.window_asked, run, asked)
    ops = cleaned(await asyncio.to_thread(ops_of, facts))
    return await asyncio.to_thread(window_image, answer, ops, session.settings.state_folder / "matplotlib")
