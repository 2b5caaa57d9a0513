"""The tools, in the order they are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ttnn_mcp.tools.tool import Tool

TOOLS: tuple[Tool[Any, Any], ...] = ()
