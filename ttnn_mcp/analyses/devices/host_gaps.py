"""Does the device wait for the host? Time between ops, and the most that Metal Trace could take from it.

OP TO OP LATENCY is the gap BEFORE an op (kernel start minus the previous kernel end on that device). Small gaps
prove a device-bound run; large gaps prove little, because the profiler itself, compiling and Python sit in them:
a verdict needs a warm window, and the only certain host share needs the wall time with the profiler off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.arrays import Floats
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.doubts_of_cycles import TIME_MISSING
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.artefact import artefact

if TYPE_CHECKING:
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.performance import Performance

TRACED_GAP_NS = 1000.0  # gap that stays per op under trace: Wormhole warm median 0.66 us, p90 1.9 us (measured)
DEVICE_BOUND = 0.9  # busy share from which waiting cannot matter: domain practice, checked on warm CLIP (0.92)
HOST_BOUND = 0.6  # busy share below which the host (or a sync) dominates
OVERLAP_NS = (
    500.0  # a gap further below zero is two ops at a time; clocks and host drift make up to 492 ns (measured)
)
COLD_GAP_NS = 1e6  # a millisecond between ops is compiling, loading or Python, never dispatch
REGION_BYTES_PER_OP = 4096  # recorded commands of an op, in order of magnitude (ours)
REGION_STEP = 1 << 20  # regions are given in whole megabytes (ours)
COLD_GAPS_SHARE = 0.5  # of the gap time: most of it


@dataclass(frozen=True, slots=True)
class Timeline:
    """Time on one device over some ops, in nanoseconds.

    Attributes:
        kernel_ns: sum of kernel durations.
        wall_ns: first kernel start to last kernel end; the gap before the first op is another window's.
        gaps_ns: gap before each op but the first; NaN where not measured, negative where ops overlap.
        busy_ns: time in which at least one kernel ran: less than `kernel_ns` where sub-devices work side by side.
        spent_ns: per op, its part of `busy_ns`: its kernel time, less where it shared the time with others.
        idle_ns: per op, the time before it in which no kernel ran; 0 before the first op. Where gaps and cycles do not
            agree, it is told from the cycles, as `wall_ns` is.
    """

    device: int
    kernel_ns: float
    wall_ns: float
    gaps_ns: Floats
    busy_ns: float
    spent_ns: Floats
    idle_ns: Floats

    @property
    def side_by_side(self) -> bool:
        """Whether ops ran at the same time."""
        return self.busy_ns < self.kernel_ns

    @property
    def busy(self) -> float:
        """Share of the wall time in which a kernel ran."""
        return min(1.0, self.busy_ns / self.wall_ns) if self.wall_ns > 0 else float("nan")

    def busy_in(self, wall_ns: float) -> float:
        """Share of a wall time without the profiler in which a kernel ran."""
        return self.busy_ns / wall_ns

    @property
    def gap_ns(self) -> float:
        """Time in which none ran."""
        return max(0.0, self.wall_ns - self.busy_ns)

    @property
    def median_gap_ns(self) -> float:
        """The usual gap; robust against the few that hold a sync or a compile."""
        known = self.gaps_ns[np.isfinite(self.gaps_ns)]
        return max(float(np.median(known)), 0.0) if len(known) else float("nan")  # below 0 the ops overlap

    @property
    def long_gaps(self) -> tuple[int, float]:
        """(count, ns) of gaps of a millisecond and more."""
        long = self.gaps_ns[self.gaps_ns >= COLD_GAP_NS]
        return len(long), float(long.sum())

    @property
    def interrupted(self) -> bool:
        """Whether such gaps are most of its gap time: then the window is not steady, whatever its label."""
        return self.long_gaps[1] > COLD_GAPS_SHARE * self.gap_ns


@artefact
def timeline_of(ops: OpTable, clock_ghz: float | None) -> Timeline:
    """The timeline of one device's ops, given in the order they ran."""
    kernel = ops.numbers("kernel_ns")
    gaps = ops.numbers("gap_ns")[1:]
    ends = ops.numbers("fw_end_cycle")
    took, spent = float(kernel.sum()), kernel
    idle = np.concatenate(([0.0], np.maximum(np.nan_to_num(gaps), 0.0)))
    if clock_ghz and np.isfinite(ends[[0, -1]]).all():
        # gap = kernel start - previous end, so a kernel starts at FW END - KERNEL DURATION (measured on 7 reports)
        wall = float(np.nanmax(ends) - ends[0]) / clock_ghz + float(kernel[0])
        overlap = (gaps < -OVERLAP_NS).any() or took - wall > OVERLAP_NS
        apart = np.isfinite(gaps).any() and abs(took + idle.sum() - wall) > TIME_MISSING * wall
        if (overlap or apart) and np.isfinite(ends).all():
            ends_ns = (ends - ends[0]) / clock_ghz
            idle = _idle_before(ends_ns - kernel, ends_ns)
            if overlap:  # unmoved: ops one after another share out nothing
                wall = float(ends_ns.max() - (ends_ns - kernel).min())
                spent = _shared_out(ends_ns - kernel, ends_ns)
    else:
        wall = took + float(np.nansum(np.maximum(gaps, 0.0)))
    busy = took if spent is kernel else float(spent.sum())
    return Timeline(
        int(ops.numbers("device")[0]), took, max(wall, busy, float(kernel.max())), gaps, busy, spent, idle
    )


def _shared_out(starts: Floats, ends: Floats) -> Floats:
    """Time per interval; where several run, each has an equal part, so that all together cover their union once."""
    times = np.concatenate((starts, ends))
    order = np.argsort(times, kind="stable")  # of equal times the starts come first
    running = np.cumsum(np.repeat([1, -1], len(starts))[order])
    passed = np.diff(times[order]) / np.maximum(running[:-1], 1) * (running[:-1] > 0)
    reached = np.empty(len(times))
    reached[order] = np.concatenate(([0.0], np.cumsum(passed)))
    return reached[len(starts) :] - reached[: len(starts)]


def _idle_before(starts: Floats, ends: Floats) -> Floats:
    """Per interval, the time before its start in which no other one ran."""
    order = np.argsort(starts, kind="stable")
    ended = np.maximum.accumulate(ends[order])
    idle = np.zeros(len(starts))
    idle[order[1:]] = np.maximum(starts[order[1:]] - ended[:-1], 0.0)
    return idle


@artefact
def timelines_of(ops: OpTable, chip: Chip) -> list[Timeline]:
    """One timeline per device; `ops` sorted by device, then by time."""
    devices = ops.numbers("device")
    return [timeline_of(ops.take(devices == device), chip.clock_on(int(device))) for device in np.unique(devices)]


def slowest_timeline(ops: OpTable, chip: Chip) -> Timeline:
    """The timeline of the device that takes longest from its first op to its last."""
    return max(timelines_of(ops, chip), key=lambda line: line.wall_ns)


def trace_saving_ns(line: Timeline) -> float:
    """The most that replaying a trace can save: the gaps, less what dispatch leaves between traced ops."""
    return max(0.0, line.gap_ns - len(line.gaps_ns) * TRACED_GAP_NS)


def trace_saving_of_wall_ns(line: Timeline, wall_ns: float) -> float:
    """The same where the wall time without the profiler is known: no more than it has beyond kernels, less those gaps.

    The gaps of a profile say little of it: the profiler made them 140 times as long in one public ledger, on a host
    that ran ahead of the device, and no longer in another, where the device itself was slow to go on. But it makes none
    shorter: what the host does before the first op and after the last one stays.
    """
    return max(0.0, min(trace_saving_ns(line), wall_ns - line.busy_ns - len(line.gaps_ns) * TRACED_GAP_NS))


def gaps_of_wall(gaps_ns: Floats, left_ns: float) -> Floats:
    """Gaps of a profile, made shorter until they are no more than a wall time without the profiler leaves them.

    What they have above a traced gap goes first, in proportion: a trace then saves of them what it saves of the wall.
    """
    kept = np.minimum(gaps_ns, TRACED_GAP_NS)
    least, above = float(kept.sum()), gaps_ns - kept
    most = least + float(above.sum())
    if left_ns >= most:
        return gaps_ns
    return kept * (left_ns / least) if left_ns < least else kept + above * ((left_ns - least) / (most - least))


def trace_region_bytes(ops: int) -> int:
    """A trace region to begin with, in whole megabytes; the runtime says what it needs where that is too small."""
    return -(-ops * REGION_BYTES_PER_OP // REGION_STEP) * REGION_STEP


def static_shapes(report: Performance) -> bool | None:
    """Whether all iterations run the same ops on the same shapes; None where too little is left to compare.

    A device that lost rows in an iteration tells nothing of its shapes.
    """
    iterations = report.iterations
    if iterations.count < 2 or iterations.short:
        return None
    kinds = signatures(report.steady)
    order = np.lexsort((kinds, iterations.number, report.steady.numbers("device")))
    order = order[iterations.number[order] > 0]
    devices, number = report.steady.numbers("device")[order], iterations.number[order]
    alike: list[bool] = []
    for rows in np.split(np.arange(len(order)), np.flatnonzero(np.diff(devices)) + 1):
        counts = np.bincount(number[rows], minlength=iterations.count + 1)[1:]
        if (counts == counts[0]).all():
            passes = np.reshape(kinds[order[rows]], (iterations.count, -1))
            alike.append(bool((passes == passes[0]).all()))
        elif len(report.devices) == 1:
            alike.append(False)
    return all(alike) if alike else None
