"""ROW_MAJOR rows too short for DRAM: bytes of one row, and the ops that move such rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.ops.artefact import artefact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand

TINY_ROW_BYTES = 64  # rows up to here reach 9 % of Blackhole's DRAM bandwidth at best: tt-metal #55898


def row_bytes(operand: Operand) -> NDArray[np.float64]:
    """Bytes of one ROW_MAJOR row, the page of an interleaved tensor; infinite in TILE, sharded or absent."""
    rows = operand.layout.among("ROW_MAJOR") & ~operand.sharded
    return np.where(rows, operand.padded[:, 3] * np.nan_to_num(operand.element_bytes, nan=np.inf), np.inf)


@artefact
def moves_tiny_rows(ops: OpTable) -> NDArray[np.bool_]:
    """Ops with rows below `TINY_ROW_BYTES` on either side."""
    tiny = np.zeros(len(ops), dtype=np.bool_)
    for operand in (*ops.inputs[:1], *ops.outputs[:1]):
        tiny |= row_bytes(operand) < TINY_ROW_BYTES
    return tiny
