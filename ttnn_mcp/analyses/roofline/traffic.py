"""What every op reads and writes: the least bytes, in DRAM or anywhere on the chip.

Each operand counts once, as it lies in memory (padding and block-float exponents included), with the exceptions of
`parts_touched`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.roofline.parts_touched import EXCEPTIONS
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.touched import Touched
from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

WHY_OPERANDS = "the report shows no operands of this op"
WHY_DTYPE = "an operand's data type is unknown, and so are its bytes"


def dram_bytes_of(ops: OpTable, why: Reasons) -> Floats:
    """Bytes per op; NaN where the report does not say what was touched, `why` says what is missing."""
    shown = shows_operands(ops)
    why.add(~shown, WHY_OPERANDS)
    if not ops.inputs or not ops.outputs:
        return np.full(len(ops), np.nan)
    touched = dram_touched(ops, why)
    total = touched.reads.sum(axis=0) + touched.writes.sum(axis=0)
    why.add(np.isnan(total), WHY_DTYPE)
    return np.where(shown, total, np.nan)


def shows_operands(ops: OpTable) -> Booleans:
    """Ops of which the report shows an operand at all."""
    shown = np.zeros(len(ops), dtype=np.bool_)
    for operand in (*ops.inputs, *ops.outputs):
        shown |= operand.present
    return shown


def dram_touched(ops: OpTable, why: Reasons) -> Touched:
    """Bytes in DRAM."""
    return touched_of(ops, _in_dram, why)


def touched_of(ops: OpTable, weigh: Callable[[Operand], Floats], why: Reasons) -> Touched:
    """What the ops read and write, each operand weighed by `weigh` (bytes per op; NaN where not known)."""
    reads = np.stack([weigh(operand) for operand in ops.inputs])
    writes = np.stack([weigh(operand) for operand in ops.outputs])
    touched = Touched(ops, attributes_of(ops), reads, writes, why)
    for concerns, correct in EXCEPTIONS:
        rows = np.flatnonzero(ops.texts("op_code").where(concerns))
        if len(rows):  # unmoved: only spares time
            correct(touched, rows)
    return touched


def _in_dram(operand: Operand) -> Floats:
    known = np.where(operand.bytes > 0, operand.bytes, np.nan)
    return np.where(operand.in_dram & (operand.padded.prod(axis=1) > 0), known, 0.0)
