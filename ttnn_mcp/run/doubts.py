"""The cross-examination of a performance report: figures that contradict each other, or what any chip can do.

A report may be readable, consistent in form, and false: columns swapped, microseconds under a header of nanoseconds,
cycles that overlap. Each doubt is one such contradiction among the rows of a window. Whoever answers from the window
carries it, and no comparison reaches a verdict beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ttnn_mcp.hardware import ARCHITECTURES, CARDS
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.doubt import Doubt
from ttnn_mcp.run.ops.call_counts import DEVICE_BITS
from ttnn_mcp.run.ops.device_clocks import CLOCKS_GHZ, at_odds, implied_clocks
from ttnn_mcp.run.ops.outlasting_kernels import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ttnn_mcp.hardware import Architecture
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.performance import Performance
    from ttnn_mcp.run.window import Scope

    Mask = NDArray[np.bool_]

LINES_NAMED = 3
FASTER_THAN_ITS_CHIP = 1.05  # times the clock of its architecture: boost adds less (1.35 to 1.4 GHz on Blackhole)
CLOCK_TOLERANCE = 0.01  # of the clock of a chip; measured clocks differ by under 0.1 %
SLOWER_THAN_ITS_CHIP = 0.5  # of that clock: no real report is below 0.99 (ours)
COUNTER = 2.0**32  # cycles; a report that keeps the low half of the counter alone wraps every 4.3 s at 1 GHz
CLOSEST_SHARE = 10  # per cent of the ops: those whose firmware ends soonest after the kernel
FIRMWARE_AROUND_NS = 2_000.0  # of them: 420 to 630 on five real reports, where other ops wait for 5 us and more
ROWS_JUDGED = 10  # fewer ops may all have waited (ours)
SHORTEST_NS = 100.0  # of a kernel: the shortest of 42 real reports took 373 ns
LARGEST_GRID = 140  # cores: blackhole_140_arch.yaml
WALL_SLACK = 1.01  # of the wall time: clocks are measured to 0.1 % (ours)
WALL_SLACK_NS = 1_000.0  # the same for few short ops (ours)
_SLOWEST = min(ARCHITECTURES.values(), key=lambda chip: chip.clock_ghz)  # what a report without DEVICE ARCH is of
NEIGHBOURS = 3  # passes: one odd pass among them does not move the median (ours)
LOST = 0.1  # of the ops: fewer move a sum by less than passes of one program differ (ours)
CORES_SLACK = 1.01  # of the kernel time, and a rounded ns: no core of 45 real reports took longer than its kernel
GAPS_SLACK = 0.05  # of the wall time: on six real reports kernels and gaps add up to it within 0.5 %
GAPS_SLACK_NS = 5_000.0  # the same for few short ops (ours)
OUT_OF_ORDER = 10  # places: two command queues exchange ops that are near; all real reports have none (ours)
DEVICES_PACKED = 64  # two Galaxies: low bits of a call count above are no device
UNLIKE = 0.1  # of the kernel time of the other passes: passes of one program on real reports differ by under 1 %


def doubts_of(report: Performance, scope: Scope) -> tuple[Doubt, ...]:
    """What contradicts itself among the rows of a window, doubts about all its times first."""
    lines = scope.ops.lines
    every = report.rows
    rows = every.take(np.isin(every.lines, lines))
    as_written = rows.take(~np.isin(rows.lines, report.told_otherwise))
    doubts = (
        _clock(report),
        _wrapped(every.take(~np.isin(every.lines, report.told_otherwise))),
        _below_firmware(report),
        *(look(report, as_written) for look in _OF_TIMES),
        _told_from_firmware(report, rows),
        _times_lost(report, rows),
        _device_at_odds(every, lines),
        _not_in_order(report, lines),
        _twice(every, lines),
        _replays_alike(every, lines),
        *(look(report, rows) for look in _OF_ROWS),
        _above_wall(report, scope.critical),
        _gaps_at_odds(report, scope.critical),
        _unlike_other_passes(report, scope),
    )
    return tuple(doubt for doubt in doubts if doubt is not None)


def some_lines(rows: OpTable, chosen: Mask) -> str:
    """`3 ops (lines 4, 19, 77)`, or `1 op (line 4)`."""
    lines: list[int] = rows.lines[chosen].tolist()
    listed = ", ".join(map(str, lines[:LINES_NAMED])) + (", ..." if len(lines) > LINES_NAMED else "")
    return f"{len(lines)} ops (lines {listed})" if len(lines) > 1 else f"1 op (line {listed})"


def _clock(report: Performance) -> Doubt | None:
    if report.cycles_false:
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
        what = (
            f"DEVICE FW cycles over nanoseconds imply a clock of {figure(middle, ',.4g')} GHz, and no chip has it"
        )
        unit = next((unit for unit, by in (("us", 1e3), ("ms", 1e6), ("s", 1e9)) if _possible(middle / by)), None)
        why = f"the durations look like {unit} under a header of ns" if unit else "a column holds something else"
        return Doubt("no_such_clock", f"{what}: {why}; no time is told from cycles")
    clock, chip = report.clock_ghz, ARCHITECTURES.get(report.arch_stated or _SLOWEST.name)
    what = (
        _of_another_chip(clock, chip, report.worker_cores_stated, stated=bool(report.arch_stated))
        if clock and chip
        else ""
    )
    return Doubt("clock_of_another_chip", f"{what}: DEVICE ARCH or the durations are false") if what else None


def _of_another_chip(clock: float, chip: Architecture, worker_cores: int | None, *, stated: bool) -> str:
    other = _chip_of(clock, worker_cores) if stated else None
    if other not in (None, chip):
        return f"{figure(clock, '.3g')} GHz and {worker_cores} cores are those of {other.name}, not of {chip.name}"
    share = clock / chip.clock_ghz
    what = f"cycles over nanoseconds imply {figure(clock, '.3g')} GHz, and {chip.name} runs at"
    if share > FASTER_THAN_ITS_CHIP and stated:
        return f"{what} {figure(chip.clock_ghz, '.3g')} at most"
    return f"{what} {figure(chip.clock_ghz, '.3g')}" if share < SLOWER_THAN_ITS_CHIP else ""


def _chip_of(clock_ghz: float, worker_cores: int | None) -> Architecture | None:
    """The chip that has this clock and number of worker cores."""
    alike = (chip for chip in ARCHITECTURES.values() if worker_cores in _cores_of(chip))
    return next((chip for chip in alike if abs(clock_ghz / chip.clock_ghz - 1) <= CLOCK_TOLERANCE), None)


def _cores_of(chip: Architecture) -> set[int]:
    return {cores for card in CARDS if card.architecture == chip.name for cores in card.worker_cores}


def _possible(clock_ghz: float) -> bool:
    return CLOCKS_GHZ[0] <= clock_ghz <= CLOCKS_GHZ[1]


def _wrapped(rows: OpTable) -> Doubt | None:
    """Cycles that begin anew; of the whole report, since then ops are in another order everywhere."""
    starts, ends = rows.numbers("fw_start_cycle"), rows.numbers("fw_end_cycle")
    if not np.nanmax(np.fmax(starts, ends), initial=0.0) < COUNTER:
        return None
    falls = starts - ends > COUNTER / 2
    devices = rows.numbers("device")
    for device in np.unique(devices[np.isfinite(devices)]):
        its = np.flatnonzero((devices == device) & np.isfinite(starts))
        falls[its[1:]] |= np.diff(starts[its]) < -COUNTER / 2
    if not falls.any():
        return None
    what = f"cycles fall by about 2**32 at {some_lines(rows, falls)}: only half of the counter was kept"
    return Doubt("counter_wrapped", f"{what}; wall time and order are not certain")


def _backwards(_report: Performance, rows: OpTable) -> Doubt | None:
    starts, ends = rows.numbers("fw_start_cycle"), rows.numbers("fw_end_cycle")
    backwards = (ends < starts) | ((ends == starts) & (rows.numbers("fw_ns") > 1))
    if not backwards.any():
        return None
    what = f"DEVICE FW END CYCLE not after START CYCLE at {some_lines(rows, backwards)}: columns swapped or damaged"
    return Doubt("ends_before_start", f"{what}; wall time is not certain")


def _at_odds(report: Performance, rows: OpTable) -> Doubt | None:
    if report.clock_ghz is None or not len(rows):
        return None
    odd = at_odds(rows, report.clock_ghz) & (rows.numbers("fw_end_cycle") >= rows.numbers("fw_start_cycle"))
    if not odd.any():
        return None
    what = f"DEVICE FW cycles and nanoseconds of {some_lines(rows, odd)} do not belong together"
    return Doubt("cycles_at_odds", f"{what} at {figure(report.clock_ghz, '.3g')} GHz")


def _above_firmware(_report: Performance, rows: OpTable) -> Doubt | None:
    kernel, firmware = rows.numbers("kernel_ns"), rows.numbers("fw_ns")
    above = kernel > ROUNDING * firmware + 1
    if not above.any():
        return None
    what = f"a kernel longer than the firmware around it at {some_lines(rows, above)}"
    return Doubt("kernel_above_firmware", f"{what}: DEVICE KERNEL or DEVICE FW DURATION is false")


def _below_firmware(report: Performance) -> Doubt | None:
    """Kernels that say too little of all their firmware; where the times were scaled, the firmware's were forgotten."""
    rows = report.ops_as_written
    around = rows.numbers("fw_ns") - rows.numbers("kernel_ns")
    around = around[np.isfinite(around)]
    if len(around) < ROWS_JUDGED:
        return None
    least = float(np.percentile(around, CLOSEST_SHARE))
    if least <= FIRMWARE_AROUND_NS:
        return None
    what = f"firmware runs {figure(least / 1e3, ',.1f')} us longer than its kernel even where they are closest"
    return Doubt("kernels_below_firmware", f"{what}, and it takes 1: DEVICE KERNEL or DEVICE FW DURATION is false")


def _told_from_firmware(report: Performance, rows: OpTable) -> Doubt | None:
    otherwise = np.isin(rows.lines, report.told_otherwise)
    if not otherwise.any():
        return None
    what = f"durations that cannot be true at {some_lines(rows, otherwise)}"
    return Doubt("told_from_firmware", f"{what}: told from DEVICE FW cycles instead, to within a gap")


def _below_cores(_report: Performance, rows: OpTable) -> Doubt | None:
    kernel = rows.numbers("kernel_ns")
    below = np.zeros(len(rows), dtype=np.bool_)
    for name in _OF_CORES:
        below |= (kernel > 0) & (rows.numbers(name) > CORES_SLACK * kernel + 1)
    if not below.any():
        return None
    what = f"kernels shorter than what their own cores took at {some_lines(rows, below)}"
    return Doubt("kernels_below_their_cores", f"{what}: DEVICE KERNEL DURATION or the columns of cores are false")


def _times_lost(report: Performance, rows: OpTable) -> Doubt | None:
    """Ops that ran by their cycles, and have no time; ops that a trace recorded have no cycles either."""
    near, after = report.untimed, report.ops.lines[report.ops.lines > rows.lines.max(initial=0)]
    ran = np.isfinite(near.numbers("fw_end_cycle")) & ~np.isin(near.lines, report.told_otherwise)
    end = len(report.rows) + 2
    ran &= (near.lines > rows.lines.min(initial=end)) & (near.lines < after.min(initial=end))
    zero = rows.numbers("kernel_ns") == 0
    lost = int(ran.sum() + zero.sum())
    if lost <= LOST * (len(rows) + ran.sum()):
        return None
    what = f"{lost} of {len(rows) + int(ran.sum())} ops ran by their cycles, and have no kernel time or 0 ns"
    return Doubt("times_lost", f"{what}: sums are too low")


def _device_at_odds(rows: OpTable, lines: NDArray[np.int64]) -> Doubt | None:
    """Rows whose GLOBAL CALL COUNT, which TTNN packs since 2025, names another device than DEVICE ID."""
    counts, devices = rows.numbers("call_count"), rows.numbers("device")
    known = np.flatnonzero(np.isfinite(counts) & np.isfinite(devices))
    packed, low = np.divmod(counts[known].astype(np.int64), 1 << DEVICE_BITS)
    if len(known) < ROWS_JUDGED or packed.min() < 1 or low.max() >= DEVICES_PACKED:
        return None
    odd = np.zeros(len(rows), dtype=np.bool_)
    odd[known[low != devices[known]]] = True
    odd &= np.isin(rows.lines, lines)
    if not odd.any():
        return None
    return Doubt("device_at_odds", f"DEVICE ID is not that of GLOBAL CALL COUNT at {some_lines(rows, odd)}")


def _not_in_order(report: Performance, lines: NDArray[np.int64]) -> Doubt | None:
    """Ops whose cycles lie far from where the file lists them; replays stand where their trace was recorded."""
    ops = report.ops
    odd = np.zeros(len(ops), dtype=np.bool_)
    devices, starts = ops.numbers("device"), ops.numbers("fw_start_cycle")
    live = np.isfinite(starts) & ~np.isfinite(ops.numbers("trace_id"))
    for device in np.unique(devices[live]):
        its = np.flatnonzero(live & (devices == device))
        if (np.diff(starts[its]) >= 0).all():  # unmoved: it only spares the sorting
            continue
        ranks = np.argsort(np.argsort(starts[its], kind="stable"), kind="stable")
        odd[its] = np.abs(ranks - np.arange(len(its))) >= OUT_OF_ORDER
    odd &= np.isin(ops.lines, lines)
    if not odd.any():
        return None
    what = f"cycles far from their place in the file at {some_lines(ops, odd)}"
    return Doubt("not_in_order", f"{what}: rows of two runs, sorted otherwise, or a counter that began anew")


def _too_short(_report: Performance, rows: OpTable) -> Doubt | None:
    kernel = rows.numbers("kernel_ns")
    short = (kernel > 0) & (kernel < SHORTEST_NS)
    if not short.any():
        return None
    what = (
        f"under {figure(SHORTEST_NS, '.0f')} ns, less than a kernel takes to "
        f"begin and end, at {some_lines(rows, short)}"
    )
    return Doubt("kernels_too_short", f"{what}: times lost, or of another unit")


def _outside_grid(report: Performance, rows: OpTable) -> Doubt | None:
    cores, grid = rows.numbers("cores"), rows.numbers("worker_cores")
    most = np.where(np.isfinite(grid) & (grid > 0), grid, LARGEST_GRID)
    outside = (cores <= 0) | (cores > np.maximum(most, report.worker_cores_stated or 0))
    if not outside.any():
        return None
    which = cores[outside]
    what = f"{figure(which.min(), '.0f')} to {figure(which.max(), '.0f')} cores at {some_lines(rows, outside)}"
    return Doubt(
        "cores_outside_grid", f"{what}, of a grid of {figure(most[outside].max(), '.0f')}: bounds by cores are void"
    )


def _twice(rows: OpTable, lines: NDArray[np.int64]) -> Doubt | None:
    """Of the whole report: a file that was written twice has each op once in either half."""
    places = [rows.numbers(name) for name in ("device", "fw_start_cycle", "fw_end_cycle")]
    again = _seen_before(*places, rows.texts("op_code").codes.astype(np.float64)) & np.isin(rows.lines, lines)
    if not again.any():
        return None
    what = f"the cycles of an earlier op on the same device at {some_lines(rows, again)}"
    return Doubt("ops_twice", f"{what}: rows were doubled, and sums count them twice")


def _replays_alike(rows: OpTable, lines: NDArray[np.int64]) -> Doubt | None:
    names = ("device", "call_count", "trace_id", "trace_session")
    again = _seen_before(*(rows.numbers(name) for name in names)) & np.isin(rows.lines, lines)
    if not again.any():
        return None
    what = f"call count, trace and session of an earlier op at {some_lines(rows, again)}"
    return Doubt("replays_alike", f"{what}: replays cannot be told apart, and may count as one")


def _seen_before(*keys: NDArray[np.float64]) -> Mask:
    """Rows whose key, all columns of it known, an earlier row has."""
    known = np.flatnonzero(np.isfinite(keys).all(axis=0))
    order = known[np.lexsort([key[known] for key in keys])]  # stable: of equal keys the first row comes first
    again = np.zeros(len(keys[0]), dtype=np.bool_)
    again[order[1:]] = np.all([key[order[1:]] == key[order[:-1]] for key in keys], axis=0)
    return again


def _above_wall(report: Performance, ops: OpTable) -> Doubt | None:
    """Kernels that together take longer than from the first start to the last end.

    Sub-devices run ops at the same time; nothing else does on one device.
    """
    starts, ends = ops.numbers("fw_start_cycle"), ops.numbers("fw_end_cycle")
    beside = len(np.unique(ops.texts("sub_device").codes)) > 1
    if beside or report.clock_ghz is None or not (np.isfinite(starts) & np.isfinite(ends)).all():
        return None
    wall = float(ends.max() - starts.min()) / dict(report.clocks_apart).get(
        int(ops.numbers("device")[0]), report.clock_ghz
    )
    took = float(ops.numbers("kernel_ns").sum())
    if wall <= 0 or took <= WALL_SLACK * wall + WALL_SLACK_NS:
        return None
    what = f"kernels took {figure(took / 1e3, ',.1f')} us in the {figure(wall / 1e3, ',.1f')} us that cycles leave them"
    return Doubt("kernels_above_wall", f"{what} on one device: cycles overlap, or durations are too long")


def _gaps_at_odds(report: Performance, ops: OpTable) -> Doubt | None:
    """Gaps that add up to less than what cycles leave outside firmware, or to more than they leave outside kernels."""
    starts, ends = ops.numbers("fw_start_cycle"), ops.numbers("fw_end_cycle")
    order = np.argsort(starts, kind="stable")
    gaps = ops.numbers("gap_ns")[order][1:]
    beside = len(np.unique(ops.texts("sub_device").codes)) > 1
    if beside or report.clock_ghz is None or not (np.isfinite(starts) & np.isfinite(ends)).all() or not len(gaps):
        return None
    clock = dict(report.clocks_apart).get(int(ops.numbers("device")[0]), report.clock_ghz)
    wall = float(ends.max() - starts.min()) / clock
    least = wall - float((ends - starts).sum()) / clock
    most = wall - float(ops.numbers("kernel_ns").sum())
    slack = GAPS_SLACK * wall + GAPS_SLACK_NS
    gap = float(np.nansum(gaps))
    if np.isnan(gaps).all() or least - slack <= gap <= most + slack:
        return None
    what = f"gaps add up to {figure(gap / 1e3, ',.1f')} us, and cycles leave {figure(least / 1e3, ',.1f')}"
    return Doubt(
        "gaps_at_odds", f"{what} to {figure(most / 1e3, ',.1f')} us between kernels: OP TO OP LATENCY is false"
    )


def _unlike_other_passes(report: Performance, scope: Scope) -> Doubt | None:
    number, count = scope.window.iteration, scope.window.of_iterations
    iterations = report.iterations
    if number is None or count is None or count < 2 or count != iterations.count:
        return None
    if iterations.may_be_layers or report.impossible:
        return None
    on_device = report.steady.numbers("device") == scope.critical_device
    kernel = report.steady.numbers("kernel_ns")[on_device]
    sums = np.bincount(iterations.number[on_device], weights=kernel, minlength=count + 1)[1:]
    away = np.abs(np.arange(1, count + 1) - number)
    near = np.argsort(away, kind="stable")[1 : 1 + NEIGHBOURS]  # a decode step grows with its position, slowly
    mine, others = float(sums[number - 1]), float(np.median(sums[near]))
    if others <= 0 or abs(mine / others - 1) <= UNLIKE:
        return None
    what = (
        f"iteration {number} has {figure(mine / 1e3, ',.1f')} us of kernels, "
        f"those beside it {figure(others / 1e3, ',.1f')} us"
    )
    return Doubt("pass_unlike_others", f"{what}: savings are of this one; ask of another with iteration=")


_OF_CORES = ("core_max_ns", "brisc_ns", "ncrisc_ns", "trisc0_ns", "trisc1_ns", "trisc2_ns", "erisc_ns")
_Look: TypeAlias = "Callable[[Performance, OpTable], Doubt | None]"
_OF_TIMES: tuple[_Look, ...] = (
    _backwards,
    _at_odds,
    _above_firmware,
    _below_cores,
)  # of rows whose times are taken as written
_OF_ROWS: tuple[_Look, ...] = (_too_short, _outside_grid)
