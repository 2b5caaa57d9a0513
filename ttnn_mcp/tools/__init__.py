"""The tools, in the order they are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.tools import (
    host_overhead,
    list_ops,
    list_runs,
    op_detail,
    open_run,
    optimization_check,
    skill_step,
)

if TYPE_CHECKING:
    from ttnn_mcp.tools.tool import Tool

TOOLS: tuple[Tool[Any, Any], ...] = (
    optimization_check.TOOL,
    list_runs.TOOL,
    open_run.TOOL,
    list_ops.TOOL,
    op_detail.TOOL,
    host_overhead.TOOL,
    skill_step.TOOL,
)
