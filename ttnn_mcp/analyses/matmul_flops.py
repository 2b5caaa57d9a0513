"""Floating-point operations of matrix multiplications: plain, batched, transposed, sparse, fused with a collective."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.reasons import Reasons
    from ttnn_mcp.analyses.settings import Settings
    from ttnn_mcp.run.op_table import OpTable

WHY_OPERANDS = "the report does not show two inputs and an output of this matmul"
WHY_UNFIT = "the inputs of this matmul do not fit together as the report shows them"
WHY_EXPERTS = "sparse matmul without nnz: how many experts were active is not in the report"


def matmul_flops(
    ops: OpTable, rows: NDArray[np.int64], settings: Settings, why: Reasons
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """2 x batches x M x K x N of `rows`, on logical and on padded shapes.

    Operands are transposed as the attributes say, unless only the untransposed shapes fit: some builds transpose in
    an op before and print the wish all the same. Where A is gathered first, or is laid out as decoding attention has
    it, M and the batches are the output's.
    """
    if len(ops.inputs) < 2 or not ops.outputs:
        why.say(rows, WHY_OPERANDS)
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    first, second, out = ops.inputs[0], ops.inputs[1], ops.outputs[-1]
    for later in ops.outputs[-2::-1]:  # the product is the last output: a gathered A comes before it
        del later
    ...
