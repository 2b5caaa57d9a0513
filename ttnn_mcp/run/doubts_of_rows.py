"""Doubts of rows: figures of an op that its other figures, the grid or another row speak against."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.doubt import Doubt, doubt_at, some_lines
from ttnn_mcp.run.ops.call_counts import taken_apart
from ttnn_mcp.run.ops.lost_shapes import LOST_SHAPE
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.outlasting_kernels import ROUNDING
from ttnn_mcp.run.performance import Performance

CLOSEST_SHARE = 10  # per cent of the ops: those whose firmware ends soonest after the kernel
FIRMWARE_AROUND_NS = 2_000.0  # of them: 420 to 630 on five real reports, where other ops wait for 5 us and more
ROWS_JUDGED = 10  # fewer ops may all have waited (ours)
SHORTEST_NS = 100.0  # of a kernel: the shortest of 42 real reports took 373 ns
LARGEST_GRID = 140  # cores: blackhole_140_arch.yaml
LOST = 0.1  # of the ops (ours)
LOST_CYCLES = 0.01  # of those of all ops: passes of one program differ by under 1 %
CORES_SLACK = 1.01  # of the kernel time, and a rounded ns: no core of 45 real reports took longer than its kernel
ABOVE_CORES = 1.1  # times what its longest core took
ABOVE_CORES_NS = 200.0  # and so much: of 7,934 real ops the one that outlasts its cores most does by 29 ns more
CORES_TOLD = 2  # columns of cores: one alone may be of a core that ends early (ours)
DEVICES_PACKED = 64  # two Galaxies: low bits of a call count above are no device
_OF_CORES = ("core_max_ns", "brisc_ns", "ncrisc_ns", "trisc0_ns", "trisc1_ns", "trisc2_ns", "erisc_ns")


def above_firmware(rows: OpTable) -> Doubt | None:
    """Kernels longer than the firmware that runs them."""
    kernel, firmware = rows.numbers("kernel_ns"), rows.numbers("fw_ns")
    above = kernel > ROUNDING * firmware + 1
    what = "a kernel longer than the firmware around it"
    return doubt_at(rows, above, "kernel_above_firmware", what, "DEVICE KERNEL or DEVICE FW DURATION is false")


def below_firmware(rows: OpTable) -> Doubt | None:
    """Kernels that say too little of all their firmware; where the times were scaled, the firmware's were forgotten."""
    around = rows.numbers("fw_ns") - rows.numbers("kernel_ns")
    around = around[np.isfinite(around)]
    if len(around) < ROWS_JUDGED:
        return None
    least = float(np.percentile(around, CLOSEST_SHARE))
    if least <= FIRMWARE_AROUND_NS:
        return None
    what = f"firmware runs {figure(least / 1e3, ',.1f')} us longer than its kernel even where they are closest"
    return Doubt("kernels_below_firmware", f"{what}, and it takes 1: DEVICE KERNEL or DEVICE FW DURATION is false")


def told_from_firmware(report: Performance, rows: OpTable) -> Doubt | None:
    """Ops whose kernel times cannot be true, and are told from their firmware."""
    otherwise = rows.at_lines(report.told_otherwise)
    why = "told from DEVICE FW cycles instead, to within a gap"
    return doubt_at(rows, otherwise, "told_from_firmware", "durations that cannot be true", why)


def shapes_lost(report: Performance, rows: OpTable) -> Doubt | None:
    """Ops of which nobody is asked what they compute."""
    lost = rows.at_lines(report.lost)
    why = f"told as {LOST_SHAPE} with their times alone, and no check looks at them"
    return doubt_at(rows, lost, "shapes_lost", "a shape that cannot be, or none,", why)


def not_of_cores(rows: OpTable) -> Doubt | None:
    """Kernels shorter than what one of their cores took, or longer than all of them took."""
    kernel, cores = rows.numbers("kernel_ns"), np.array([rows.numbers(name) for name in _OF_CORES])
    longest = np.where(np.isfinite(cores), cores, 0.0).max(axis=0)
    below = (kernel > 0) & (longest > CORES_SLACK * kernel + 1)
    above = (kernel > ABOVE_CORES * longest + ABOVE_CORES_NS) & ((cores > 0).sum(axis=0) >= CORES_TOLD)
    why = "DEVICE KERNEL DURATION or the columns of cores are false"
    what = "kernels shorter than what their own cores took"
    shorter = doubt_at(rows, below, "kernels_below_their_cores", what, why)
    what = "kernels longer than what all of their cores took"
    return shorter or doubt_at(rows, above, "kernels_above_their_cores", what, why)


def times_lost(report: Performance, rows: OpTable) -> Doubt | None:
    """Ops that ran by their cycles, and have no time; ops that a trace recorded have no cycles either."""
    near, lines, end = report.untimed, report.ops.lines, len(report.rows) + 2
    before, after = lines[lines < rows.lines.min(initial=end)], lines[lines > rows.lines.max(initial=0)]
    ran = np.isfinite(near.numbers("fw_end_cycle"))
    ran &= (near.lines > before.max(initial=0)) & (near.lines < after.min(initial=end))
    zero = rows.numbers("kernel_ns") == 0
    lost = int(ran.sum() + zero.sum())
    lost_cycles, cycles = _cycles(near)[ran].sum() + _cycles(rows)[zero].sum(), _cycles(rows)[~zero].sum()
    if lost <= LOST * (len(rows) + ran.sum()) and lost_cycles <= LOST_CYCLES * (cycles + lost_cycles):
        return None
    what = f"{lost} of {len(rows) + int(ran.sum())} ops ran by their cycles, and have no kernel time or 0 ns"
    return Doubt("times_lost", f"{what}: sums are too low")


def _cycles(rows: OpTable) -> Floats:
    """What each op's firmware took; 0 where that is not known."""
    return np.fmax(rows.numbers("fw_end_cycle") - rows.numbers("fw_start_cycle"), 0)


def device_at_odds(rows: OpTable, lines: Integers) -> Doubt | None:
    """Rows whose GLOBAL CALL COUNT, which TTNN packs since 2025, names another device than DEVICE ID."""
    counts, devices = rows.numbers("call_count"), rows.numbers("device")
    known = np.flatnonzero(np.isfinite(counts) & np.isfinite(devices))
    packed, low = taken_apart(counts[known])
    if len(known) < ROWS_JUDGED or packed.min() < 1 or low.max() >= DEVICES_PACKED:
        return None
    odd = np.zeros(len(rows), dtype=np.bool_)
    odd[known[low != devices[known]]] = True
    odd &= rows.at_lines(lines)
    return doubt_at(rows, odd, "device_at_odds", "DEVICE ID is not that of GLOBAL CALL COUNT")


def too_short(rows: OpTable) -> Doubt | None:
    """Kernels shorter than any can be."""
    kernel = rows.numbers("kernel_ns")
    short = (kernel > 0) & (kernel < SHORTEST_NS)
    what = f"under {figure(SHORTEST_NS, '.0f')} ns, less than a kernel takes to begin and end,"
    return doubt_at(rows, short, "kernels_too_short", what, "times lost, or of another unit")


def outside_grid(report: Performance, rows: OpTable) -> Doubt | None:
    """Ops on no core, or on more than the chip has."""
    cores, grid = rows.numbers("cores"), rows.numbers("worker_cores")
    most = np.where(grid > 0, grid, LARGEST_GRID)
    outside = (cores <= 0) | (cores > np.maximum(most, report.worker_cores_stated or 0))
    if not outside.any():
        return None
    which = cores[outside]
    what = f"{figure(which.min(), '.0f')} to {figure(which.max(), '.0f')} cores at {some_lines(rows, outside)}"
    return Doubt(
        "cores_outside_grid", f"{what}, of a grid of {figure(most[outside].max(), '.0f')}: bounds by cores are void"
    )


def twice(rows: OpTable, lines: Integers) -> Doubt | None:
    """Of the whole report: a file that was written twice has each op once in either half.

    Devices have counters of their own: what has the cycles of an op on another one was copied, too.
    """
    cycles = [rows.numbers(name) for name in ("fw_start_cycle", "fw_end_cycle")]
    again = _seen_before(*cycles, rows.texts("op_code").codes.astype(np.float64)) & rows.at_lines(lines)
    why = "rows were doubled, and sums count them twice"
    return doubt_at(rows, again, "ops_twice", "the cycles of an earlier op", why)


def replays_alike(rows: OpTable, lines: Integers) -> Doubt | None:
    """Replays of a trace under one id."""
    names = ("device", "call_count", "trace_id", "trace_session")
    again = _seen_before(*(rows.numbers(name) for name in names)) & rows.at_lines(lines)
    what = "call count, trace and session of an earlier op"
    return doubt_at(rows, again, "replays_alike", what, "replays cannot be told apart, and may count as one")


def _seen_before(*keys: Floats) -> Booleans:
    """Rows whose key, all columns of it known, an earlier row has."""
    finite, again = np.ones(len(keys[0]), dtype=np.bool_), np.zeros(len(keys[0]), dtype=np.bool_)
    for key in keys:
        finite &= np.isfinite(key)  # unmoved: NaN equals nothing, and need not be sorted
    known = np.flatnonzero(finite)
    if (np.diff(np.sort(keys[0][known])) > 0).all():  # unmoved: it only spares the sorting of several columns
        return again
    order = known[np.lexsort([key[known] for key in keys])]  # stable: of equal keys the first row comes first
    again[order[1:]] = np.all([key[order[1:]] == key[order[:-1]] for key in keys], axis=0)
    return again
