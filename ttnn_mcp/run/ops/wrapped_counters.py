"""Durations from a counter that wrapped, and how to recover them.

On traced Blackhole rows the report adds about 6.92 s to a kernel's duration and subtracts them from the gap before
it (tt-metal #48043); later versions leave both cells blank. The firmware's end time stays right. The time from one
end to the next is the gap plus the kernel. How the two share it is not known, but gaps of replayed ops are small.

Ops that ran beside others (sub-devices, a prefetcher) have gaps far below zero as well, and their kernel times are
right. Such an op ended before the op before it did, or its firmware agrees and it started after the ops before it:
the device starts ops in the order they were launched, while a wrong start is an old one (tt-metal PR #49659).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.outlasting_kernels import ROUNDING, ROUNDING_NS

WRAPPED_GAP_NS = 1e6  # a gap this far below zero cannot be an overlap: the rule of tt-perf-report
AGREE = 1e-3  # of a kernel time: in #48043 such a row and its gap differ by up to 7e-5 (ours)
USUAL_GAP_NS = 1_000.0  # if no row has a usable gap: traced Wormhole has a median of 0.66 us, a p90 of 1.9 us


def wrapped(rows: OpTable) -> Booleans:
    """Mask of the rows with an impossible duration: the gap subtracts most of it again, and not more than it."""
    gap = rows.numbers("gap_ns")
    far_below = gap < -WRAPPED_GAP_NS
    if not far_below.any():  # unmoved: it only saves time, and memory
        return far_below
    kernel = rows.numbers("kernel_ns")
    subtracted = (-gap > np.maximum(kernel / 2, WRAPPED_GAP_NS)) & (-gap <= (1 + AGREE) * kernel)
    return subtracted & ~_by_the_firmware(rows)


def _by_the_firmware(rows: OpTable) -> Booleans:
    """Rows whose firmware took as long as their kernel, and started after that of all rows before them."""
    starts, devices = rows.numbers("fw_start_cycle"), rows.numbers("device")
    in_turn = np.zeros(len(rows), dtype=np.bool_)
    for device in np.unique(devices):
        its = np.flatnonzero(devices == device)
        in_turn[its] = starts[its] >= np.maximum.accumulate(np.nan_to_num(starts[its], nan=-np.inf))
    return in_turn & (rows.numbers("kernel_ns") <= ROUNDING * rows.numbers("fw_ns") + ROUNDING_NS)


def unwrapped(rows: OpTable, doubtful: Booleans, clock_ghz: float | Floats) -> tuple[Floats, Floats]:
    """Kernel times and gaps in ns of all rows, those of the doubtful rows computed from firmware ends.

    The first op of a replay stays unknown (NaN), because the pause before it is longer than a usual gap.

    Args:
        rows: device ops.
        doubtful: mask of the rows whose times are wrong or blank.
        clock_ghz: the device clock, to turn cycles into ns; per row where devices differ.
    """
    kernel: Floats = np.where(doubtful, np.nan, rows.numbers("kernel_ns"))
    gap: Floats = np.where(doubtful, np.nan, rows.numbers("gap_ns"))
    ends, devices = rows.numbers("fw_end_cycle"), rows.numbers("device")
    session: Floats = np.nan_to_num(rows.numbers("trace_session"), nan=-1.0)
    order = np.lexsort((ends, devices))
    later, earlier = order[1:], order[:-1]
    follows = (devices[later] == devices[earlier]) & (session[later] == session[earlier])
    later, earlier = later[follows], earlier[follows]
    span = (ends[later] - ends[earlier]) / np.broadcast_to(clock_ghz, len(rows))[later]
    small = gap[later][(gap[later] >= 0) & (gap[later] < WRAPPED_GAP_NS)]
    usual = float(np.median(small)) if len(small) else USUAL_GAP_NS
    recovered = doubtful[later] & (span > usual)
    kernel[later[recovered]] = span[recovered] - usual
    gap[later[recovered]] = usual
    next_ops = doubtful[earlier] & (gap[later] > WRAPPED_GAP_NS)
    gap[later[next_ops]] = np.maximum(span[next_ops] - kernel[later[next_ops]], 0.0)
    return kernel, gap
