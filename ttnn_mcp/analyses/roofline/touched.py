"""What some ops read and write of each of their operands."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import AttributeColumns
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand


@dataclass(frozen=True, slots=True)
class Touched:
    """Bytes per operand (first axis) and op (second); NaN where the report does not say how many."""

    ops: OpTable
    settings: AttributeColumns
    reads: Floats
    writes: Floats
    why: Reasons


def share(part: Operand, whole: Operand, rows: Integers) -> Floats:
    """Elements of `part` per element of `whole`, at most 1."""
    return np.minimum(part.elements[rows] / np.maximum(whole.elements[rows], 1), 1.0)


def without_padding(operand: Operand, rows: Integers) -> Floats:
    """Elements per element in memory."""
    return operand.elements[rows] / np.maximum(operand.padded[rows].prod(axis=1), 1)
