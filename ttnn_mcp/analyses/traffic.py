"""DRAM traffic of every op: the least bytes it must read from and write to DRAM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.op_table import OpTable


def dram_bytes_of(ops: OpTable) -> NDArray[np.float64]:
    """Bytes per op, each operand in DRAM once."""
    total = np.zeros(len(ops))
    for operand in (*ops.inputs, *ops.outputs):
        total += np.where(operand.in_dram, operand.bytes, 0.0)
    return total
