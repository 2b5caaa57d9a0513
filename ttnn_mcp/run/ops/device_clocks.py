"""The clock of each device of a mesh: DEVICE FW cycles over DEVICE FW nanoseconds.

TTNN writes the nanoseconds of all devices by one clock, that of the device log's first line (process_device_log.py), or
each device's by its own (the report that C++ writes). Of the first way a device that was throttled cannot be told:
its nanoseconds are too few by as much as its clock is slower. Of the second way it can, and then no other clock may
turn its cycles into time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.run.ops.op_table import OpTable

CLOCKS_GHZ = (0.2, 1.5)  # tt-zephyr-platforms, aiclk_ppm.c: AICLK runs at 200 to 1400 MHz; no older chip is faster
AGREE = 0.01  # of an op's cycles: on six real reports the clocks of all rows agree within 0.05 %
AGREE_CYCLES = 40  # the same for the shortest ops: both figures are rounded, at both ends (ours)
MOST_AT_ODDS = 0.1  # of the rows: so many may be wrong by themselves, and are told one by one (ours)
CLOCKS_APART = 0.01  # of a clock; on real reports the medians of eight devices agree within 0.0002 %


def clock_of(ops: OpTable) -> float | None:
    """The median clock of these rows in GHz; None without the columns, and where they imply no clock of a chip."""
    ratios = _ratios(ops)
    known = ratios[ratios > 0]
    clock = float(np.median(known)) if len(known) else 0.0
    if not CLOCKS_GHZ[0] <= clock <= CLOCKS_GHZ[1]:
        return None
    return clock if at_odds(ops, clock).sum() <= MOST_AT_ODDS * np.isfinite(ratios).sum() else None


def at_odds(ops: OpTable, clock_ghz: float | None) -> Booleans:
    """Mask of the rows whose cycles and nanoseconds imply another clock than their device's.

    Args:
        ops: device ops.
        clock_ghz: the clock of the report; without one every row that tells cycles and nanoseconds is at odds.
    """
    ratios = _ratios(ops)
    if clock_ghz is None:
        return np.isfinite(ratios)
    clocks = clock_of_rows(ops, clock_ghz, clocks_apart(ops, clock_ghz))
    expected = ops.numbers("fw_ns") * clocks
    return np.abs(ratios * ops.numbers("fw_ns") - expected) > AGREE * expected + AGREE_CYCLES


def implied_clocks(ops: OpTable) -> Floats:
    """Cycles per nanosecond of the rows that tell both; not above 0 where an op ends before it starts."""
    ratios = _ratios(ops)
    return ratios[np.isfinite(ratios)]


def clocks_apart(ops: OpTable, clock_ghz: float | None) -> list[tuple[int, float]]:
    """(device, GHz) of the devices that ran at another clock than `clock_ghz`, the median of all rows."""
    devices = ops.numbers("device").astype(np.int16)  # below 1024; numpy sorts so short numbers in one look
    if clock_ghz is None or devices.min() == devices.max():  # unmoved: the median of one device is that of all rows
        return []
    by_device = np.argsort(devices, kind="stable")
    begins = np.flatnonzero(np.diff(devices[by_device], prepend=-1))
    parts = np.split(_ratios(ops)[by_device], begins[1:])
    medians = [float(np.median(known)) if len(known := part[part > 0]) else clock_ghz for part in parts]
    clocks = zip(devices[by_device[begins]].tolist(), medians, strict=True)
    return [(device, clock) for device, clock in clocks if abs(clock / clock_ghz - 1) > CLOCKS_APART]


def clock_of_rows(rows: OpTable, clock_ghz: float, apart: Sequence[tuple[int, float]]) -> float | Floats:
    """GHz of each row's device, or of all rows."""
    if not apart:  # unmoved: it only saves the memory of a number per row
        return clock_ghz
    devices, clocks = rows.numbers("device"), np.full(len(rows), clock_ghz)
    for device, clock in apart:
        clocks[devices == device] = clock
    return clocks


def _ratios(ops: OpTable) -> Floats:
    """Cycles per nanosecond of each row; NaN, or not above 0, where a row does not tell."""
    took = ops.numbers("fw_ns")
    cycles = ops.numbers("fw_end_cycle") - ops.numbers("fw_start_cycle")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(took > 0, cycles / took, np.nan)
