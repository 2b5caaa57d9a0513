"""Ops that make a mask for the attention of a decode step, and nothing else."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.arrays import Integers
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

DECODE_ATTENTION = ("ScaledDotProductAttentionDecode", "PagedScaledDotProductAttentionDecode")
QUERY_KEYS_VALUES = 3
SIMPLE = ("eltwise", "shape")
ALSO = ("Typecast", "Ternary", "Where")
NUMBERS = ("INT32", "UINT32", "UINT16")  # of positions and pages


def makers_of_decode_masks(joins: Joins) -> tuple[Integers, Integers]:
    """(ops that make masks, attention ops that read them), by shapes."""
    ops = joins.ops
    attends = ops.named(*DECODE_ATTENTION)
    simple = ops.of_family(*SIMPLE) | ops.named(*ALSO)
    waiting = {
        int(made_by[row])
        for row in np.flatnonzero(attends).tolist()
        for operand, made_by in list(zip(ops.inputs, joins.by_input, strict=True))[QUERY_KEYS_VALUES:]
        if made_by[row] != NOBODY and _is_mask(ops, operand, row)
    }
    making: set[int] = set()
    while waiting:
        row = max(waiting)  # whoever reads it ran later and is known
        waiting.remove(row)
        if simple[row] and all(attends[reader] or reader in making for reader in joins.readers(row)):
            making.add(row)
            waiting |= {int(made_by[row]) for made_by in joins.by_input if made_by[row] != NOBODY}
    rows = np.array(sorted(making), dtype=np.int64)
    readers = {reader for row in rows.tolist() for reader in joins.readers(row) if attends[reader]}
    return rows, np.array(sorted(readers), dtype=np.int64)


def _is_mask(ops: OpTable, operand: Operand, row: int) -> bool:
    """Whether an operand has a column for each key, or for those of the filled part of the cache."""
    filled = TILE_SIDE <= operand.logical[row, 3] <= ops.inputs[1].logical[row, 2]
    return bool(filled) and operand.dtype[row] not in NUMBERS
