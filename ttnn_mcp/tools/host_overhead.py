"""host_overhead: does the device wait for the host?"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import (
    COLD_GAP_NS,
    DEVICE_BOUND,
    HOST_BOUND,
    Timeline,
    static_shapes,
    timelines_of,
)
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.shared.traced import traced
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.window import Scope
from ttnn_mcp.tools.tool import OfWindow, Tool, WallMs, refuse_other_rows
from ttnn_mcp.wire import Columns, Ms, Quoting, SavingMs, Share, Table, Us, Window, Wire

Verdict = Literal["device_bound", "mixed", "host_bound", "unknown"]
GAPS = Columns("op", "op_code", "gap_us", quoted=("op_code",))
GAPS_SHOWN = 5
QUEUES = "not in a report: see the model's code"


class Arguments(OfWindow):
    """Arguments of host_overhead."""

    wall_ms: WallMs = None


class Cold(Wire):
    """What the cold pass cost: compiling and loading, not host overhead."""

    ops: int
    gap_ms: Ms


class Answer(Wire):
    """Answer of host_overhead."""

    verdict: Verdict
    why: Quoting
    kernel_ms: Ms
    wall_ms: Ms
    busy_share: Share
    gap_ms: Ms
    median_gap_us: Us
    ops: int
    trace_saving_ms: SavingMs | None
    traced: bool
    trace: str
    command_queues: str
    largest_gaps: Annotated[Table, GAPS]
    static_shapes: bool | None
    cold: Cold
    host_share: Share | None = None
    device: int
    window: Window
    read_next: str


def host_overhead(facts: WindowFacts, asked: Arguments) -> Answer:
    """Does the device wait for the host, and would Metal Trace help?

    Needs a warm window; refuses a verdict on a cold one. wall_ms measured with the profiler off makes it certain.
    """
    run, scope = facts.run, facts.scope
    slowest = slowest_of(facts)
    ops = scope.of_device(slowest.device)
    refuse_other_rows(facts, slowest, asked.wall_ms)
    verdict, why = judged(facts, slowest, asked.wall_ms)
    if scope.in_doubt:
        verdict, why = "unknown", scope.in_doubt
    return Answer(
        verdict=verdict,
        why=why,
        kernel_ms=slowest.kernel_ns / 1e6,
        wall_ms=slowest.wall_ns / 1e6,
        busy_share=slowest.busy,
        gap_ms=slowest.gap_ns / 1e6,
        median_gap_us=slowest.median_gap_ns / 1e3,
        ops=len(ops),
        trace_saving_ms=None if verdict == "unknown" else trace_saving(facts, slowest, asked.wall_ms),
        traced=run.performance_report.traced,
        command_queues=QUEUES,
        trace=trace_seen(run.performance_report),
        largest_gaps=largest_gaps(ops),
        static_shapes=static_shapes(run.performance_report),
        cold=cold_of(scope, slowest.device),
        host_share=None if asked.wall_ms is None else 1 - slowest.busy_in(asked.wall_ms * 1e6),
        device=slowest.device,
        window=scope.window,
        read_next="step-04-metal-trace.md",
    )


def slowest_of(facts: WindowFacts) -> Timeline:
    """The timeline of the critical device; where it lost rows, of the one that takes longest."""
    whole = devices_without_loss(facts.scope.ops)
    if facts.timeline.device in whole:
        return facts.timeline
    lines = timelines_of(facts.scope.ops, facts.run.chip)
    return max((line for line in lines if line.device in whole), key=lambda line: line.wall_ns)


def trace_saving(facts: WindowFacts, line: Timeline, wall_ms: float | None) -> SavingMs | None:
    """What a trace can save, in the bounds of the gaps or of the wall time, and of what kernels may wait in it."""
    if facts.run.performance_report.traced:
        return SavingMs(at_most=0.0)
    if len(line.gaps_ns) and not np.isfinite(line.gaps_ns).any():
        return None
    saving = traced(facts, line, None if wall_ms is None else wall_ms * 1e6)
    most_ns, expected = saving.most_ns + saving.in_kernels_ns, saving.expected
    if expected is None:
        return SavingMs(at_most=most_ns / 1e6)
    saved, low, high = (float(each.sum()) / 1e6 for each in (expected.saved_ns, expected.low_ns, expected.high_ns))
    return SavingMs(at_most=most_ns / 1e6, expected=saved, interval=(low, high), basis=expected.basis)


def devices_without_loss(ops: OpTable) -> set[int]:
    """The devices of which no other one ran all ops and more: the time of lost rows looks like gaps."""
    devices, places = np.unique(ops.numbers("device").astype(np.int64), return_inverse=True)
    kinds = signatures(ops)
    counts = np.zeros((len(devices), int(kinds.max()) + 1), dtype=np.int64)
    np.add.at(counts, (places, kinds), 1)
    totals = counts.sum(axis=1)
    return {
        int(device)
        for device, of_device, total in zip(devices, counts, totals, strict=True)
        if not ((counts >= of_device).all(axis=1) & (totals > total)).any()
    }


def trace_seen(report: Performance) -> str:
    """Whether a trace was replayed, and whether this report could show it."""
    if report.traced:
        return "a trace was replayed (METAL TRACE ID)"
    if not report.rows.has("trace_id"):
        return "cannot tell: this report has no METAL TRACE ID column"
    return "no row has a METAL TRACE ID: no replay was profiled as one"


def largest_gaps(ops: OpTable) -> Table:
    """The longest gaps, each with the op after it; the one before the first op belongs to another window."""
    gaps = np.nan_to_num(ops.numbers("gap_ns"))
    gaps[:1] = 0.0
    longest = [row for row in np.argsort(-gaps, kind="stable")[:GAPS_SHOWN].tolist() if gaps[row] > 0]
    return GAPS.table(
        [(int(ops.lines[row]), shown(ops.texts("op_code")[row]), float(gaps[row]) / 1e3) for row in longest]
    )


def judged(facts: WindowFacts, line: Timeline, wall_ms: float | None) -> tuple[Verdict, str]:
    """The verdict and its reason. A cold window never gets one, unless a profiler-off wall time decides it."""
    report, scope = facts.run.performance_report, facts.scope
    if wall_ms is not None:
        measured = f"{figure(wall_ms, 'g')} ms measured with the profiler off"
        return _judged_by_share(line.busy_in(wall_ms * 1e6), facts.working_ns / (wall_ms * 1e6), measured)
    if not np.isfinite(line.gaps_ns).any():
        return "unknown", "no gaps were measured (OP TO OP LATENCY is empty)"
    if not scope.window.warm:
        return "unknown", (
            "cold: these ops were compiled in this pass, so the gaps are compile and load time. Profile 2 or more "
            "iterations in one run, or pass wall_ms measured with the profiler off"
        )
    if line.interrupted and line.busy < DEVICE_BOUND:
        count, long_ns = line.long_gaps
        return "unknown", (
            f"{count} gaps of a millisecond and more hold {figure(long_ns / 1e6, '.1f')} "
            f"of {figure(line.gap_ns / 1e6, '.1f')} ms: "
            "a sync, a print or a compile sits in this window. Pass wall_ms measured with the profiler off"
        )
    working = facts.working_ns / line.wall_ns if facts.waits.bounded else line.busy
    busy, filled = _judged_by_share(line.busy, working, "window's wall time")
    if busy == "device_bound":
        return busy, filled
    kind = "replayed trace" if report.traced else "profiled run"
    return (
        busy,
        f"{filled} in this {kind}; the profiler adds to gaps, so pass wall_ms measured with it off to be sure",
    )


def _judged_by_share(share: float, working: float, wall: str) -> tuple[Verdict, str]:
    """The verdict by the shares of a wall time in which kernels ran, and in which they waited for no host."""
    why = f"kernels fill {figure(share, '.0%')} of the {wall}"
    if working < DEVICE_BOUND <= share:
        exchanges = "without what exchanges may wait for a chip that the host feeds late"
        return "mixed", f"{why}, {figure(working, '.0%')} {exchanges}"
    return _by_busy(share), why


def _by_busy(share: float) -> Verdict:
    if share >= DEVICE_BOUND:
        return "device_bound"
    return "mixed" if share >= HOST_BOUND else "host_bound"


def cold_of(scope: Scope, device: int) -> Cold:
    """The long gaps of the cold pass: of the first iteration, or of the window itself when it is cold.

    Of one device: the host compiles while all of them wait.
    """
    rows = scope.cold if scope.window.warm else scope.ops
    gaps = rows.numbers("gap_ns")
    long = gaps[(gaps >= COLD_GAP_NS) & (rows.numbers("device") == device)]
    return Cold(ops=len(long), gap_ms=float(long.sum()) / 1e6)


TOOL = Tool(
    name="host_overhead",
    title="Host overhead",
    arguments=Arguments,
    answer=Answer,
    ask=host_overhead,
    about="window",
    needs=("performance",),
    warm="verdict",
    search_hint="host bound metal trace gap dispatch latency idle 2cq command queue",
)
