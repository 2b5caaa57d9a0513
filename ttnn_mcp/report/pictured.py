"""The tools whose answer can come with a picture, and how each picture is made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from ttnn_mcp.quoting import cleaned
from ttnn_mcp.report.images.canvas import check_drawable, png
from ttnn_mcp.report.images.drawings import (
    draw_before_after,
    draw_cores,
    draw_levels,
    draw_roofline,
    draw_timeline,
    draw_window,
)
from ttnn_mcp.report.rows import levels_of, ops_of, rooflines_of
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools import answering
from ttnn_mcp.tools.answering import validated
from ttnn_mcp.tools.tool import OfWindow, Tool

Answer = dict[str, Any]
Draw = Callable[[Any], None]
OF_WINDOWS = {"window": draw_window, "timeline": draw_timeline, "cores": draw_cores}


def wanted(tool: Tool[Any, Any], arguments: Mapping[str, object]) -> str | None:
    """The picture that the call asks for.

    Raises:
        TtnnMcpError: there is none of that name, or none can be drawn here.
    """
    if "picture" not in tool.arguments.model_fields or arguments.get("picture") is None:
        return None
    name = cast("Any", validated(tool, arguments)).picture
    check_drawable()
    return cast("str", name)


async def picture(session: Session, tool: Tool[Any, Any], arguments: Mapping[str, object], answer: Answer) -> bytes:
    """The PNG that goes with an answer."""
    asked = cast("Any", validated(tool, arguments))
    if asked.picture == "before_after":
        draw: Draw = partial(draw_before_after, comparison=answer)
    elif asked.picture == "l1":
        levels = cast("Answer", cleaned(await levels_of(await session.run(asked.run))))  # an answer has operations
        draw = partial(draw_levels, memory=answer, levels=levels)
    else:
        draw = await _of_window(session, asked, answer)
    return await asyncio.to_thread(png, draw, session.settings.state_folder / "matplotlib")


async def _of_window(session: Session, asked: Any, answer: Answer) -> Draw:
    run = await session.run(cast("OfWindow", asked).run)
    facts = await asyncio.to_thread(answering.window_asked, run, asked)
    ops = cleaned(await asyncio.to_thread(ops_of, facts))
    if asked.picture == "roofline":
        rooflines = cleaned(await asyncio.to_thread(rooflines_of, facts, ops))
        return partial(draw_roofline, ops=ops, rooflines=rooflines)
    return partial(OF_WINDOWS[asked.picture], budget=answer, ops=ops)
