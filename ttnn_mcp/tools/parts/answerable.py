"""Which tools can answer for a run, and what stands in the way of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run

NEEDS_TIMES = (
    "optimization_check",
    "host_overhead",
    "tensor_formats",
    "device_balance",
    "check_setting",
    "compare_runs",
)
NEEDS_EITHER = ("list_ops", "op_detail", "sharding_summary", "reshard_detect", "query_run")


def answerable(run: Run) -> tuple[list[str], list[str]]:
    """(tools that answer, "tool: why not" for the rest)."""
    from ttnn_mcp.tools import TOOLS  # noqa: PLC0415 - the list of tools names this one's callers

    there = {tool.name for tool in TOOLS}
    timed = run.performance is not None and len(run.performance.steady) > 0
    can = [name for name in NEEDS_EITHER if name in there and (timed or run.memory is not None)]
    cannot: list[str] = []
    for name in NEEDS_TIMES:
        if name not in there:
            continue
        if not timed:
            cannot.append(f"{name}: no device times")
        else:
            can.append(name)
    if "memory_summary" in there:
        if run.memory is None:
            cannot.append("memory_summary: no memory report")
        else:
            can.append("memory_summary")
    if timed and not run.scope().window.warm:
        cannot.append("host_overhead.verdict: no warm iteration")
    return can, cannot
