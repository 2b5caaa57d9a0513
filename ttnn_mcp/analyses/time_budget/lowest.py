"""The time that no change of formats, placement or fusion can go below on this chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.time_budget.operand_bytes import NARROW_WEIGHT
from ttnn_mcp.hardware import ELEMENT_BYTES

if TYPE_CHECKING:
    from ttnn_mcp.analyses.roofline.roofline import Roofline
    from ttnn_mcp.analyses.time_budget.least_times import LeastTimes
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable

ASSUMED = "weights read once per op from DRAM as BFLOAT4_B, one pass of arithmetic on all cores, nothing else"


def lowest_ns(ops: OpTable, least: LeastTimes, bounds: Roofline, chip: Chip) -> float:
    """Nanoseconds for the ops of one device; 0 where the chip or the operands are not known."""
    stored = np.ones(len(ops))
    if len(ops.inputs) > 1:
        element = ops.inputs[1].dtype.mapped(
            lambda text: ELEMENT_BYTES.get(text, np.inf), missing=np.inf, dtype=np.float64
        )
        stored = np.minimum(ELEMENT_BYTES[NARROW_WEIGHT] / element, 1.0)
    bytes_read = float(np.nansum(least.weight_bytes * stored))
    arithmetic = float(np.nansum(bounds.flops)) / (chip.flop_per_ns_per_core * (chip.worker_cores or np.inf))
    return max(bytes_read / (chip.dram_peak_gb_s or np.inf), float(np.nan_to_num(arithmetic)))
