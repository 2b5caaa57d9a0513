"""Kernel times longer than the firmware that ran them: raw timestamps where a duration should stand.

With a firmware that does not fit, or with counters of which some were reset, DEVICE KERNEL DURATION holds a timestamp
or an offset instead of a duration. Large ones are refused when the report is read; those of a chip that started a
minute ago look like long ops. A kernel runs inside its firmware: on every row of six real reports it takes 350 ns less.
What such a row is told to take instead is its firmware's time, from DEVICE FW START CYCLE to DEVICE FW END CYCLE.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.run.ops.op_table import OpTable

ROUNDING = 1.01  # of the firmware's time: clocks are measured to 0.1 % (ours)
ROUNDING_NS = 1_000.0  # the same for short ops (ours)


def outlasting(rows: OpTable, clock_ghz: float | Floats | None) -> Booleans:
    """Mask of the rows whose kernel takes longer than their firmware; none without a clock or firmware cycles."""
    if clock_ghz is None:
        return np.zeros(len(rows), dtype=np.bool_)
    span = _firmware_ns(rows, clock_ghz)  # NaN where a cell is blank: no comparison holds
    return (span > 0) & (rows.numbers("kernel_ns") > ROUNDING * span + ROUNDING_NS)


def within_firmware(
    rows: OpTable,
    outlast: Booleans,
    times: tuple[Floats, Floats],
    clock_ghz: float | Floats,
) -> tuple[Floats, Floats]:
    """(kernel times, gaps) in ns, those of the outlasting rows by their firmware; the row before ends where it did."""
    kernel, gap = (np.array(each) for each in times)
    kernel[outlast] = _firmware_ns(rows, clock_ghz)[outlast]
    starts, ends, devices = (rows.numbers(name) for name in ("fw_start_cycle", "fw_end_cycle", "device"))
    order = np.lexsort((ends, devices))
    later, earlier = order[1:], order[:-1]
    follows = (devices[later] == devices[earlier]) & outlast[later]
    later, earlier = later[follows], earlier[follows]
    clocks = np.broadcast_to(clock_ghz, len(rows))[later]
    gap[later] = np.maximum((starts[later] - ends[earlier]) / clocks, 0.0)
    return kernel, gap


def _firmware_ns(rows: OpTable, clock_ghz: float | Floats) -> Floats:
    return (rows.numbers("fw_end_cycle") - rows.numbers("fw_start_cycle")) / clock_ghz
