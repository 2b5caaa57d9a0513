"""The tools, in the order they are listed."""

from __future__ import annotations

from typing import Any

from ttnn_mcp.tools import (
    check_setting,
    compare_runs,
    device_balance,
    experiments,
    history,
    host_overhead,
    list_ops,
    list_runs,
    memory_summary,
    model_stages,
    op_detail,
    open_run,
    optimization_check,
    query_run,
    replay_op,
    reshard_detect,
    sharding_summary,
    skill_step,
    tensor_formats,
    time_budget,
)
from ttnn_mcp.tools.tool import Tool

TOOLS: tuple[Tool[Any, Any], ...] = (
    optimization_check.TOOL,
    list_runs.TOOL,
    open_run.tool_over(lambda: TOOLS),
    list_ops.TOOL,
    op_detail.TOOL,
    sharding_summary.TOOL,
    reshard_detect.TOOL,
    host_overhead.TOOL,
    tensor_formats.TOOL,
    memory_summary.TOOL,
    check_setting.TOOL,
    replay_op.TOOL,
    device_balance.TOOL,
    compare_runs.TOOL,
    experiments.TOOL,
    history.TOOL,
    query_run.TOOL,
    skill_step.TOOL,
    time_budget.TOOL,
    model_stages.TOOL,
)
