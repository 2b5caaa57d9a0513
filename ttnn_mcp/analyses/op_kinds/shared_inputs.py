"""Matmuls that read one activation: the projections of an attention, gate and up of a feed-forward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.run.ops.alike import numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.dataflow.readers import Joins

NEAR = 8  # rows from one to the next at most: bias, reshape, transpose and norm of a head stand between (ours)
_FUSED = "UnaryOpType::"  # in the ATTRIBUTES of a matmul with an activation


def on_one_input(joins: Joins, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The groups of `rows`, in order, that read one tensor with weights and fidelity of one kind, near each other.

    A square matmul writes what looks like the tensor it read, so the next one seems to read its output. It is taken to
    read the tensor before: two matmuls without a function between them would be one.
    """
    ops = joins.ops
    able = np.zeros(len(ops), dtype=np.bool_)
    able[rows] = True
    source = np.array([_source(joins, int(row), able) for row in rows], dtype=np.int64)
    weight = ops.inputs[1]
    kind = numbered(
        len(ops),
        [
            joins.flow.keys[ops.inputs[0].name],
            weight.dtype.codes,
            weight.placement.codes,
            ops.texts("fidelity").codes,
        ],
    )[rows]
    order = np.lexsort((rows, kind, source))
    ordered = rows[order]
    apart = (np.diff(source[order]) != 0) | (np.diff(kind[order]) != 0) | (np.diff(ordered) > NEAR)
    groups = np.split(ordered, np.flatnonzero(apart) + 1)
    return [group for group in groups if len(group) > 1 and joins.makers[group[0]] != NOBODY]


def _source(joins: Joins, row: int, able: NDArray[np.bool_]) -> int:
    """The row that made what this matmul reads."""
    keys, settings = joins.flow.keys, attributes_of(joins.ops)
    x, y = joins.ops.inputs[0].name, joins.ops.outputs[0].name
    maker = int(joins.makers[row])
    while maker != NOBODY and able[maker] and keys[x][maker] == keys[y][maker]:
        if any(_FUSED in text for text in settings.row(maker).values()):
            break
        maker = int(joins.makers[maker])
    return maker
