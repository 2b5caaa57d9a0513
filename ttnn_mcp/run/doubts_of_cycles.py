"""Doubts of clocks and cycles: what no chip's clock does, and times that cycles do not leave."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.hardware import ARCHITECTURES, CARDS, Architecture, canonical_architecture
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.doubt import Doubt, doubt_at, some_lines
from ttnn_mcp.run.ops import device_clocks
from ttnn_mcp.run.ops.device_clocks import CLOCKS_GHZ, implied_clocks
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.performance import Performance

FASTER_THAN_ITS_CHIP = 1.05  # times the clock of its architecture: boost adds less (1.35 to 1.4 GHz on Blackhole)
CLOCK_TOLERANCE = 0.01  # of the clock of a chip; measured clocks differ by under 0.1 %
SLOWER_THAN_ITS_CHIP = 0.6  # of that clock: idle chips run at 0.5 and 0.59 of it (tt-umd AICLK_IDLE_VAL)
COUNTER = 2.0**32  # cycles; a report that keeps the low half of the counter alone wraps every 4.3 s at 1 GHz
WALL_SLACK = 1.01  # of the wall time: clocks are measured to 0.1 % (ours)
WALL_SLACK_NS = 1_000.0  # the same for few short ops (ours)
GAPS_SLACK = 0.005  # of what cycles leave between two ops: clocks are measured to 0.1 % (ours)
GAPS_SLACK_NS = (
    600.0  # the same for short gaps: a kernel of 620 on a real report ends up to 490 ns before its firmware
)
ROWS_MISSING = 0.5  # of the ops: where rows are missing, the next one's gap is shorter than what they leave (ours)
TIME_MISSING = 0.05  # of the wall time: the same; a model's step takes more (ours)
OUT_OF_ORDER = 10  # places: two command queues exchange ops that are near; all real reports have none (ours)
OUT_OF_FEW = 0.4  # of the ops of a device, where those are fewer: two devices told to be one differ by half (ours)
AS_CYCLES = 1e-4  # of 1 cycle per ns; what is measured in ns differs from a whole number by more (ours)
_FASTEST = max(ARCHITECTURES.values(), key=lambda chip: chip.clock_ghz)
_SLOWEST = min(ARCHITECTURES.values(), key=lambda chip: chip.clock_ghz)  # what a report without DEVICE ARCH is of


def clock(report: Performance) -> Doubt | None:
    """Cycles over nanoseconds that are no clock, several, or that of another chip."""
    return _no_clock(report) if report.cycles_false else _of_another(report)


def _no_clock(report: Performance) -> Doubt | None:
    clocks = implied_clocks(report.ops_as_written)
    low, middle, high = np.percentile(clocks, (10, 50, 90))
    if (clocks <= 0).mean() > 1 / 2:
        return None  # another doubt says that these end before they start
    if CLOCKS_GHZ[0] <= middle <= CLOCKS_GHZ[1]:
        what = (
            f"DEVICE FW cycles and nanoseconds imply {figure(low, '.3g')} "
            f"to {figure(high, '.3g')} GHz from op to op"
        )
        return Doubt("clocks_differ", f"{what}, and a chip has one clock: no time is told from cycles")
    what = f"DEVICE FW cycles over nanoseconds imply a clock of {figure(middle, ',.4g')} GHz, and no chip has it"
    unit = next((unit for unit, by in (("us", 1e3), ("ms", 1e6), ("s", 1e9)) if _possible(middle / by)), None)
    why = f"the durations look like {unit} under a header of ns" if unit else "a column holds something else"
    return Doubt("no_such_clock", f"{what}: {why}; no time is told from cycles")


def _of_another(report: Performance) -> Doubt | None:
    chips = report.ops.texts("arch").occurring()
    if len({canonical_architecture(text) or text for text in chips}) > 1:
        return Doubt("clock_of_another_chip", "DEVICE ARCH names several chips, and one model runs on one kind")
    chip = ARCHITECTURES.get(report.arch_stated or _SLOWEST.name)
    if report.clock_ghz is None or chip is None:
        return None
    clocks = [(None, report.clock_ghz), *report.clocks_apart]
    suspects = (
        (device, _unlike_chip(ghz, chip, report.worker_cores_stated, stated=bool(report.arch_stated)))
        for device, ghz in clocks
    )
    for device, what in suspects:
        if what:
            where = "" if device is None else f"on device {device} "
            return Doubt("clock_of_another_chip", f"{where}{what}: DEVICE ARCH or the durations are false")
    return None


def _unlike_chip(clock: float, chip: Architecture, worker_cores: int | None, *, stated: bool) -> str:
    other = _chip_of(clock, worker_cores) if stated else None
    if other not in (None, chip):
        return f"{figure(clock, '.3g')} GHz and {worker_cores} cores are those of {other.name}, not of {chip.name}"
    share = clock / chip.clock_ghz
    what = f"cycles over nanoseconds imply {figure(clock, '.3g')} GHz, and {chip.name} runs at"
    if share > FASTER_THAN_ITS_CHIP and stated:
        return f"{what} {figure(chip.clock_ghz, '.3g')} at most"
    if clock > FASTER_THAN_ITS_CHIP * _FASTEST.clock_ghz:
        return f"cycles over nanoseconds imply {figure(clock, '.3g')} GHz, and no chip runs so fast"
    if abs(clock - 1) < AS_CYCLES < abs(chip.clock_ghz - 1):
        return f"{what} {figure(chip.clock_ghz, '.3g')}: the durations look like cycles under a header of ns"
    slow = f"{what} {figure(chip.clock_ghz, '.3g')} unless it idles or is held back"
    return slow if share < SLOWER_THAN_ITS_CHIP else ""


def _chip_of(clock_ghz: float, worker_cores: int | None) -> Architecture | None:
    """The chip that has this clock and number of worker cores."""
    alike = (chip for chip in ARCHITECTURES.values() if worker_cores in _cores_of(chip))
    return next((chip for chip in alike if abs(clock_ghz / chip.clock_ghz - 1) <= CLOCK_TOLERANCE), None)


def _cores_of(chip: Architecture) -> set[int]:
    return {cores for card in CARDS if card.architecture == chip.name for cores in card.worker_cores}


def _possible(clock_ghz: float) -> bool:
    return CLOCKS_GHZ[0] <= clock_ghz <= CLOCKS_GHZ[1]


def wrapped(rows: OpTable) -> Doubt | None:
    """Cycles that begin again; of the whole report, since then ops are in another order everywhere."""
    starts, ends = rows.numbers("fw_start_cycle"), rows.numbers("fw_end_cycle")
    if not np.nanmax(np.fmax(starts, ends), initial=0.0) < COUNTER:
        return None
    falls = starts - ends > COUNTER / 2
    devices = rows.numbers("device")
    for device in np.unique(devices[np.isfinite(devices)]):
        its = np.flatnonzero((devices == device) & np.isfinite(starts))
        falls[its[1:]] |= np.diff(starts[its]) < -COUNTER / 2
    why = "only half of the counter was kept; wall time and order are not certain"
    return doubt_at(rows, falls, "counter_wrapped", "cycles fall by about 2**32", why)


def backwards(rows: OpTable) -> Doubt | None:
    """Ops that end before they start, or in the cycle in which they start."""
    starts, ends = rows.numbers("fw_start_cycle"), rows.numbers("fw_end_cycle")
    why = "columns swapped or damaged; wall time is not certain"
    return doubt_at(rows, ends <= starts, "ends_before_start", "DEVICE FW END CYCLE not after START CYCLE", why)


def at_odds(report: Performance, rows: OpTable) -> Doubt | None:
    """Ops whose cycles and nanoseconds imply another clock than the others."""
    if report.clock_ghz is None or not len(rows):
        return None
    odd = device_clocks.at_odds(rows, report.clock_ghz) & (
        rows.numbers("fw_end_cycle") > rows.numbers("fw_start_cycle")
    )
    if not odd.any():
        return None
    what = f"DEVICE FW cycles and nanoseconds of {some_lines(rows, odd)} do not belong together"
    return Doubt("cycles_at_odds", f"{what} at {figure(report.clock_ghz, '.3g')} GHz")


def not_in_order(ops: OpTable, lines: Integers) -> Doubt | None:
    """Ops whose cycles lie far from where the file lists them; replays stand where their trace was recorded."""
    odd = np.zeros(len(ops), dtype=np.bool_)
    devices, starts = ops.numbers("device"), ops.numbers("fw_start_cycle")
    live = np.isfinite(starts) & ~np.isfinite(ops.numbers("trace_id"))
    for device in np.unique(devices):
        its = np.flatnonzero(live & (devices == device))
        if (np.diff(starts[its]) >= 0).all():  # unmoved: it only spares the sorting
            continue
        order = np.argsort(starts[its], kind="stable")
        odd[its[order]] = np.abs(order - np.arange(len(its))) >= min(OUT_OF_ORDER, OUT_OF_FEW * len(its))
    odd &= ops.at_lines(lines)
    why = "rows of two runs, sorted otherwise, or a counter that began again"
    return doubt_at(ops, odd, "not_in_order", "cycles far from their place in the file", why)


def _at_one_time(ops: OpTable) -> bool:
    """Whether ops may run beside each other: sub-devices do; nothing else does on one device."""
    return len(np.unique(ops.texts("sub_device").codes)) > 1


def above_wall(report: Performance, ops: OpTable) -> Doubt | None:
    """Kernels that together take longer than from the first start to the last end."""
    if _at_one_time(ops) or report.clock_ghz is None:
        return None
    cycles = float(ops.numbers("fw_end_cycle").max() - ops.numbers("fw_start_cycle").min())
    wall = cycles / dict(report.clocks_apart).get(int(ops.numbers("device")[0]), report.clock_ghz)
    took = float(ops.numbers("kernel_ns").sum())
    if not 0 < wall < (took - WALL_SLACK_NS) / WALL_SLACK:  # also where an op has no cycles
        return None
    what = f"kernels took {figure(took / 1e3, ',.1f')} us in the {figure(wall / 1e3, ',.1f')} us that cycles leave them"
    return Doubt("kernels_above_wall", f"{what} on one device: cycles overlap, or durations are too long")


def gaps_at_odds(report: Performance, ops: OpTable) -> Doubt | None:
    """Gaps that are not what cycles leave between kernels or, as printed in 2024, between firmwares.

    A kernel ends when its firmware does: on five real reports its gap is told by the cycles to within 0.2 % and 500 ns.

    Args:
        report: all rows: the op before another may be outside the window, or have no time.
        ops: those of the window on one device.
    """
    if report.clock_ghz is None or _at_one_time(ops):
        return None
    rows, device = report.rows, ops.numbers("device")[0]
    starts, ends, gaps = (rows.numbers(name) for name in ("fw_start_cycle", "fw_end_cycle", "gap_ns"))
    its = np.flatnonzero(rows.numbers("device") == device)
    its = its[np.argsort(starts[its], kind="stable")]
    between = (starts[its[1:]] - ends[its[:-1]]) / dict(report.clocks_apart).get(int(device), report.clock_ghz)
    judged = rows.at_lines(ops.lines) & ~rows.at_lines(report.told_otherwise)
    later, between = its[1:][judged[its[1:]]], between[judged[its[1:]]]
    around = rows.numbers("fw_ns")[later] - rows.numbers("kernel_ns")[later]
    wall = float(np.nansum(between + rows.numbers("fw_ns")[later]))
    kinds = (_gaps_unlike(gaps[later], between + around, wall), _gaps_unlike(gaps[later], between, wall))
    odd = np.zeros(len(rows), dtype=np.bool_)
    odd[later] = min(kinds, key=np.count_nonzero)
    what = "OP TO OP LATENCY is not what cycles leave between kernels"
    return doubt_at(rows, odd, "gaps_at_odds", what, "one of them is false, or rows are missing")


def _gaps_unlike(gaps: Floats, left: Floats, wall: float) -> Booleans:
    """Mask of the gaps that differ from what cycles leave them, each by itself or all together."""
    beyond, slack = gaps - left, GAPS_SLACK * np.abs(left) + GAPS_SLACK_NS
    short = beyond < -slack
    odd = (beyond > slack) | (gaps < np.minimum(left, 0) - slack)
    if short.sum() > ROWS_MISSING * len(gaps) or -beyond[short].sum() > TIME_MISSING * wall:
        return odd | short
    others = ~short & np.isfinite(beyond)
    in_all = GAPS_SLACK * np.abs(left[others]).sum() + GAPS_SLACK_NS * (1 + short.sum())
    return odd | (others & (abs(beyond[others].sum()) > in_all))
