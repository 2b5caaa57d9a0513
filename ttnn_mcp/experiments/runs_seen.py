"""A run as the log remembers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.experiments.experiment import RunSeen
from ttnn_mcp.experiments.readings import program_of, reading_of

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.run.window import Scope


def seen(run: Run, scope: Scope, kernel_ns: int | None = None) -> RunSeen:
    """The run with a window of it; `kernel_ns` where it is not the window's as measured (another clock)."""
    ops = scope.critical
    measured_ns = round(float(ops.numbers("kernel_ns").sum()))
    return RunSeen(
        id=run.id,
        name=run.name,
        performance=str(run.performance.csv.path.absolute()) if run.performance else None,
        memory=str(run.memory.path.absolute()) if run.memory else None,
        kernel_ns=measured_ns if kernel_ns is None else kernel_ns,
        warm=scope.window.warm,
        rank=run.memory.rank if run.memory else None,
        reading=reading_of(scope.ops),
        program=program_of(
            scope.of_device(int(scope.ops.numbers("device").min()))
        ),  # the slowest one changes by noise
    )
