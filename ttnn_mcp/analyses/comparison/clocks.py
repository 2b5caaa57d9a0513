"""The clocks of two runs: where they differ, kernels are compared in cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run  # the archive asks without opening a run

SAME_CLOCK = 0.01  # measured clocks of one architecture differ by far less


def clock_ratio(before: Run, after: Run) -> float:
    """The candidate's clock over the baseline's; 1 where they are the same, or a clock was not measured.

    A chip that is hot or saves power runs slower. Cycles then tell what the program costs, nanoseconds do not. Only
    the clocks of one architecture compare so.
    """
    clocks = before.performance_report.clock_ghz, after.performance_report.clock_ghz
    if not clocks[0] or not clocks[1] or before.chip.arch != after.chip.arch:
        return 1.0
    return clocks[1] / clocks[0] if abs(clocks[1] - clocks[0]) > SAME_CLOCK * clocks[0] else 1.0
