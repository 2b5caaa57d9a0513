"""Rows that are computed and then dropped: by a slice behind row-wise ops, or the logits of a whole prompt."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

DENSE = ("Matmul", "Linear", "MinimalMatmul")
ROW_WISE = ("LayerNorm", "RMSNorm", "Unary")
KEPT_AT_MOST = 0.5  # of the rows: more, and the slice is hardly a waste (ours)
LONG = 128  # rows: four tiles; a decode step has one (ours)
WIDE = 8192  # columns: the smallest share of a vocabulary among published models, 65,024 over 8 chips (Falcon)
WIDER_THAN_DEEP = 2  # a vocabulary is; a projection of 8192 columns seldom is, and is never the last (ours)


def rows_of(operand: Operand) -> Floats:
    """Per op, the rows of an operand, over all leading dims."""
    return operand.logical[:, :3].prod(axis=1).astype(np.float64)


def computed_then_dropped(ops: OpTable, joins: Joins, weights: Booleans) -> tuple[Integers, Floats]:
    """The row-wise ops before a slice that drops most rows, and the share of their rows that it keeps."""
    x, y = ops.inputs[0], ops.outputs[0]
    able = ((ops.named(*DENSE) & weights) | ops.named(*ROW_WISE)) & (joins.reader_counts == 1)
    share = rows_of(y) / np.fmax(rows_of(x), 1.0)
    drops = ops.named("Slice") & (x.logical[:, 3] == y.logical[:, 3]) & (share <= KEPT_AT_MOST)
    kept: dict[int, float] = {}
    for cut in np.flatnonzero(drops).tolist():
        maker = int(joins.makers[cut])
        while able[maker]:  # nobody's place is the last op's, which nobody reads
            kept[maker] = float(share[cut])
            maker = int(joins.makers[maker])
    rows = np.array(sorted(kept), dtype=np.int64)
    return rows, np.array([kept[row] for row in rows.tolist()])


def logits_of_all_rows(ops: OpTable, weights: Booleans) -> Integers:
    """The last matmul, if it is an LM head over all rows of a prompt."""
    matmuls = np.flatnonzero(ops.of_family("matmul"))
    if not len(matmuls):
        return matmuls
    prompts = ops.named("ScaledDotProductAttention")
    head, x, weight = int(matmuls[-1]), ops.inputs[0], ops.inputs[1]
    rows, deep, wide = rows_of(x)[head], weight.logical[head, 2], weight.logical[head, 3]
    sequences = x.logical[prompts, 2]
    dense = ops.named(*DENSE)[head] and weights[head] and wide >= max(WIDE, WIDER_THAN_DEEP * deep)
    whole = rows >= LONG and bool((rows % sequences == 0).any())
    return matmuls[-1:] if dense and whole else matmuls[:0]
