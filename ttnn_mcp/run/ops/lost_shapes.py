"""Ops with an operand whose shape cannot be, or without a first input or output: damage, no op of TTNN.

All 8,291 ops of 45 real reports have both; those with empty tensors are fused attention, whose inputs beside queries,
keys and values may be, and NlpCreateHeads, whose later outputs may be.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans
from ttnn_mcp.run.ops.alike import first_rows
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.written_kinds import written_kinds

LOST_SHAPE = "LostShape"  # the name of such an op, which is of no kind
_NEVER_EMPTY = {"matmul": 2, "conv": 2, "attention": 3}  # inputs; of other ops one, and one output of each
_OF_NOTHING = ("other", "collective")  # TTNN makes tensors of nothing, and sends some away


def lost_shapes(ops: OpTable) -> Booleans:
    """Mask of such ops; for an operand that no row has, who needs it asks."""
    written = written_kinds(ops)
    kinds = ops.take(first_rows(written))
    families = kinds.texts("op_code").mapped(family, missing=_OF_NOTHING[0], dtype=np.object_)
    inputs = np.array([_NEVER_EMPTY.get(of, 1) for of in families], dtype=np.int64)
    of_nothing = np.array([of in _OF_NOTHING for of in families], dtype=np.bool_)
    lost = np.zeros(len(kinds), dtype=np.bool_)
    for operand in kinds.operands_once():
        role, _, number = operand.name.partition("_")
        lost |= operand.broken | (operand.empty & ((inputs if role == "INPUT" else 1) > int(number)))
        if number == "0" and operand.present.any():
            lost |= ~operand.present & ~of_nothing
    return lost[written]
