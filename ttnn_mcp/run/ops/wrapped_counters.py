"""Durations that a wrapped counter wrote, and what they were.

On traced Blackhole rows the writer puts about 6.92 s into a kernel's duration and takes them back in the gap before
it (tt-metal #48043); later writers leave both cells blank. The end of the firmware stays right, and from one end to
the next is the gap plus the kernel: only how the two share it is not known, and gaps of replayed ops are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

WRAPPED_GAP_NS = 1e6  # a gap this far below zero is no overlap: tt-perf-report's own rule
USUAL_GAP_NS = 1_000.0  # where no row tells: Wormhole traced median 0.66 us, p90 1.9 us


def wrapped(rows: OpTable) -> NDArray[np.bool_]:
    """Rows whose duration cannot be, as the gap takes most of it back."""
    kernel, gap = rows.numbers("kernel_ns"), rows.numbers("gap_ns")
    return (gap < -WRAPPED_GAP_NS) & (-gap > np.maximum(kernel / 2, WRAPPED_GAP_NS))


def unwrapped(
    rows: OpTable, doubtful: NDArray[np.bool_], clock_ghz: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(kernel_ns, gap_ns) of all rows with the doubtful ones told from firmware ends; NaN where even these do not.

    `rows` are device ops. The first op of a replay stays unknown: the pause before it is no usual gap.
    """
    kernel: NDArray[np.float64] = np.where(doubtful, np.nan, rows.numbers("kernel_ns"))
    gap: NDArray[np.float64] = np.where(doubtful, np.nan, rows.numbers("gap_ns"))
    ends, devices = rows.numbers("fw_end_cycle"), rows.numbers("device")
    session: NDArray[np.float64] = np.nan_to_num(rows.numbers("trace_session"), nan=-1.0)
    order = np.lexsort((ends, devices))
    here, before = order[1:], order[:-1]
    follows = (devices[here] == devices[before]) & (session[here] == session[before])
    here, before = here[follows], before[follows]
    span = (ends[here] - ends[before]) / clock_ghz
    small = gap[here][(gap[here] >= 0) & (gap[here] < WRAPPED_GAP_NS)]
    usual = float(np.median(small)) if len(small) else USUAL_GAP_NS
    told = doubtful[here] & (span > usual)
    kernel[here[told]] = span[told] - usual
    gap[here[told]] = usual
    behind = doubtful[before] & (gap[here] > WRAPPED_GAP_NS)
    gap[here[behind]] = np.maximum(span[behind] - kernel[here[behind]], 0.0)
    return kernel, gap
