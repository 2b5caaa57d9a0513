"""The heaviest ops of a window core by core, from the device log beside the report, as time_budget shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.errors import ReportError, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.performance.device_log import NAME, marks_of_ops
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.tools.parts.op_cores import DIFFERENT, READ_UNASKED_BYTES, launch_of, times_of
from ttnn_mcp.wire import Columns, Table

if TYPE_CHECKING:
    from ttnn_mcp.analyses.inside_kernel.core_times import CoreTimes
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.wire import Cell

CORES = Columns(
    *("op", "op_code", "kernel_us", "in_report_us", "cores", "idle", "occupancy_share", "balance_share"),
    *("slowest_core", "slowest_us", "other_clock"),
    quoted=("op_code",),
)
OPS_SHOWN = 5


def cores_of_window(facts: WindowFacts) -> tuple[Table | None, str | None]:
    """The heaviest ops on their cores, and what the log says against the report; nothing without a small enough log."""
    log = facts.run.performance_report.csv.path.parent / NAME
    try:
        if log.stat().st_size > READ_UNASKED_BYTES:
            return None, f"a large {NAME} lies beside the report: op_detail(op, whole='cores') reads it"
        heaviest = facts.heaviest(np.arange(len(facts), dtype=np.int64), OPS_SHOWN)
        launches = {row: launch for row in heaviest if (launch := launch_of(facts.ops, row)) is not None}
        marks = dict(zip(launches, marks_of_ops(log, [*launches.values()]), strict=True))
    except (ReportError, OSError):  # mostly there is none
        return None, None
    timed = {row: times for row, of_op in marks.items() if (times := times_of(of_op, facts.chip)) is not None}
    if not timed:
        return None, None
    return CORES.table([_row(facts, row, times) for row, times in timed.items()]), _against(facts, timed)


def _row(facts: WindowFacts, row: int, times: CoreTimes) -> tuple[Cell, ...]:
    workers = facts.chip.worker_cores
    ((x, y), slowest_ns) = times.slowest(1)[0]
    return (
        facts.line(row),
        shown(canonical(facts.names[row])),
        times.kernel_ns / 1e3,
        float(facts.kernel_ns[row]) / 1e3,
        len(times.core_ns),
        times.idle(workers),
        times.occupancy(workers),
        times.balance,
        f"{x}-{y}",
        slowest_ns / 1e3,
        len(times.off_clock),
    )


def _against(facts: WindowFacts, timed: dict[int, CoreTimes]) -> str | None:
    """What the report counts above the times of the cores: counters that were reset make an op seem long."""
    above = {
        row: float(facts.kernel_ns[row]) - times.kernel_ns
        for row, times in timed.items()
        if abs(float(facts.kernel_ns[row]) - times.kernel_ns) > DIFFERENT * float(facts.kernel_ns[row])
    }
    if not above:
        return None
    reset = sum(bool(timed[row].off_clock) for row in above)
    why = f"; on {reset} of them the counters of some cores were reset" if reset else ""
    return (
        f"report and log disagree on {len(above)} of {len(timed)} ops, by "
        f"{figure(sum(above.values()) / 1e3, '.4g')} us together: "
        f"figures of the window are the report's{why}"
    )
