"""One tool by its name, without the modules that only other tools need: they cost a call 0.2 s."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ttnn_mcp.tools.answering import AnyTool

TOOLS = "ttnn_mcp.tools"


def tool_alone(name: str) -> AnyTool:
    """The tool called `name`; its own module is loaded, or all of them where it is not found so.

    Raises:
        ArgumentsInvalid: there is none; the message names the nearest.
    """
    module = f"{TOOLS}.{name}"
    if name.isidentifier() and find_spec(module) is not None:
        tool = getattr(import_module(module), "TOOL", None)
        if getattr(tool, "name", None) == name:
            return cast("AnyTool", tool)
    from ttnn_mcp.tools import TOOLS as ALL  # noqa: PLC0415 - all of them load
    from ttnn_mcp.tools.answering import tool_named  # noqa: PLC0415

    return tool_named(name, ALL)
