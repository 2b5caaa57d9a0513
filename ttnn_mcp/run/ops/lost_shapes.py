"""Ops with an operand whose shape cannot be: damage, no op of TTNN.

Of the 8,291 ops of 45 real reports those with empty tensors are fused attention, whose inputs beside queries, keys and
values may be, and NlpCreateHeads, whose later outputs may be. A row that shows no such operand at all is none of them:
who needs it says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.ops.alike import first_rows
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.written_kinds import written_kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

LOST_SHAPE = "LostShape"  # the name of such an op, which is of no kind
_NEVER_EMPTY = {"matmul": 2, "conv": 2, "attention": 3}  # inputs; of other ops one, and one output of each


def lost_shapes(ops: OpTable) -> NDArray[np.bool_]:
    """Mask of such ops."""
    written = written_kinds(ops)
    kinds = ops.take(first_rows(written))
    inputs = kinds.texts("op_code").mapped(
        lambda text: _NEVER_EMPTY.get(family(text), 1), missing=1, dtype=np.int64
    )
    lost = np.zeros(len(kinds), dtype=np.bool_)
    for operand in kinds.operands_once():
        role, _, number = operand.name.partition("_")
        lost |= operand.broken | (operand.empty & ((inputs if role == "INPUT" else 1) > int(number)))
    return lost[written]
