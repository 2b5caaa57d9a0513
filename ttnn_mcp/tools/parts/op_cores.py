"""One op, or the heaviest ops of a window, core by core, from the device log beside the report."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.inside_kernel.core_times import CoreTimes, core_times_of
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.errors import ReportError, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.performance.device_log import NAME, Launch, OpMarks, marks_of, marks_of_ops
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run
from ttnn_mcp.wire import Cell, Columns, Quoted, Quoting, Table, Us, Wire

CORES = Columns(
    *("op", "op_code", "kernel_us", "in_report_us", "cores", "idle", "occupancy_share", "balance_share"),
    *("slowest_core", "slowest_us", "other_clock"),
    quoted=("op_code",),
)
OPS_SHOWN = 5
ASKED = "cores"  # value of `whole` by which a log of any size is read
READ_UNASKED_BYTES = 32 << 20  # read in 0.2 s here; a second where plain call counts look like coordinates
EVEN = 0.9  # balance above which no core is worth a word
DIFFERENT = 0.01  # of the kernel time: rounding to the clock of line 1 is far below
SLOWEST, ZONES = 3, 5


class CoresOfOp(Wire):
    """The op on its cores: occupancy times balance is the efficiency of the grid."""

    cores: int
    idle: int | None = None
    kernel_us: Us
    slowest_us: Us
    balance: float
    occupancy: float | None = None
    slowest: dict[str, Us] = Field(default={})
    zones_us: dict[Quoted, Us] = Field(default={})
    chip: Quoted
    caveats: tuple[Quoting, ...] = ()


def launch_of(op: OpTable, row: int = 0) -> Launch | None:
    """How the device log names this op; None without a GLOBAL CALL COUNT."""
    device, call_count, session = (
        float(op.numbers(name)[row]) for name in ("device", "call_count", "trace_session")
    )
    if not np.isfinite(call_count):
        return None
    return int(device), int(call_count), int(session) if np.isfinite(session) else None


def cores_of_op(run: Run, op: OpTable, whole: str | None) -> tuple[CoresOfOp | None, str | None]:
    """The op's cores, or why they are not told: a sentence where the caller asked, silence where nobody did."""
    log = run.performance_report.csv.path.parent / NAME
    asked = whole == ASKED
    try:
        if not log.is_file():
            return None, f"no {NAME} beside the report: times of single cores are not known" if asked else None
        if not asked and log.stat().st_size > READ_UNASKED_BYTES:
            return None, f"times of single cores: ask with whole='{ASKED}' (a large {NAME} must be read)"
        launch = launch_of(op)
        if launch is None:
            return None, "no GLOBAL CALL COUNT: the op cannot be looked up in the device log" if asked else None
        marks = marks_of(log, *launch)
    except (ReportError, OSError) as failed:
        return None, (
            str(failed) if isinstance(failed, ReportError) else f"{NAME} cannot be read"
        ) if asked else None
    times = times_of(marks, run.chip)
    if times is None:
        return None, f"{NAME} does not hold exactly one run of this op" if asked else None
    return _told(run, marks, times, op), None


def times_of(marks: OpMarks, chip: Chip) -> CoreTimes | None:
    """The op's time on each core, by the log's clock or else the chip's; None without a clock or without one run."""
    clock_ghz = marks.clock_mhz / 1e3 or chip.clock_ghz
    return core_times_of(marks.marks, clock_ghz) if clock_ghz else None


def _told(run: Run, marks: OpMarks, times: CoreTimes, op: OpTable) -> CoresOfOp:
    workers = run.chip.worker_cores
    occupancy = times.occupancy(workers)
    uneven = times.balance < EVEN
    heaviest = sorted(times.zones_ns.items(), key=lambda item: -item[1])[:ZONES]
    return CoresOfOp(
        cores=len(times.core_ns),
        idle=times.idle(workers),
        kernel_us=times.kernel_ns / 1e3,
        slowest_us=times.longest_ns / 1e3,
        balance=round(times.balance, 3),
        occupancy=None if occupancy is None else round(occupancy, 3),
        slowest={f"{x}-{y}": ns / 1e3 for (x, y), ns in times.slowest(SLOWEST)} if uneven else {},
        zones_us={shown(zone): ns / 1e3 for zone, ns in heaviest},
        chip=shown(f"{marks.arch}, {marks.clock_mhz} MHz"),
        caveats=_caveats(run, marks, times, op),
    )


def _caveats(run: Run, marks: OpMarks, times: CoreTimes, op: OpTable) -> tuple[str, ...]:
    kernel_ns, counted = op.numbers("kernel_ns").item(), op.numbers("cores").item()
    caveats: list[str] = []
    if times.off_clock:
        caveats.append(
            f"{len(times.off_clock)} cores have another clock (reset in between): kernel_us is by the others, and no "
            "shorter than the slowest core"
        )
    if abs(times.kernel_ns - kernel_ns) > DIFFERENT * kernel_ns:
        caveats.append(f"the report says a kernel time of {figure(kernel_ns / 1e3, '.4g')} us")
    if np.isfinite(counted) and counted != len(times.core_ns):
        caveats.append(f"the report counts {figure(counted, '.0f')} cores")
    if not marks.complete:
        caveats.append("more marks than are read: the last ones are left out")
    if run.chip.arch and not marks.arch.startswith(run.chip.arch.split("_")[0]):
        caveats.append(f"the report is of {run.chip.arch}")
    return tuple(caveats)


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
