"""What tensors hold of L1 while an op runs, and which may be read once more than a performance report shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.dataflow.readers import Joins
    from ttnn_mcp.run.ops.op_table import OpTable


def most_in_l1(
    ops: OpTable, joins: Joins, makers: NDArray[np.int64], readers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Bytes on all cores at the fullest op between each maker and its reader, if all these outputs were in L1.

    A tensor counts from its maker to its last reader; an operand in L1 that no op made counts for the ops that read
    it. Of tensors that no row shows nothing is known.
    """
    size, out = len(ops), ops.outputs[0]
    into = np.where(out.in_l1, out.bytes, 0.0)
    into[makers] = out.bytes[makers]
    last = np.arange(size)
    np.maximum.at(last, joins.edges[0], joins.edges[1])
    steps = np.zeros(size + 1)
    np.add.at(steps, np.arange(size), into)
    np.add.at(steps, last + 1, -into)
    held = np.cumsum(steps)
    for operand, made_by in zip(ops.inputs, joins.by_input, strict=True):
        held[:-1] += np.where((made_by == NOBODY) & operand.in_l1, operand.bytes, 0.0)
    spans = np.stack((makers, readers + 1), axis=1).ravel()
    return np.maximum.reduceat(held, spans)[::2] if len(spans) else np.zeros(0)


def maybe_read_again(joins: Joins) -> NDArray[np.bool_]:
    """Mask of the ops with an output like both operands of some op: a report does not tell which its second one is."""
    flow, keys = joins.flow, joins.flow.keys
    first, *others = (
        np.where(made, keys[operand.name], -1) for operand, made in zip(joins.ops.inputs, flow.made, strict=True)
    )
    twice = np.concatenate([first[first == other] for other in others]) if others else first[:0]
    return np.isin(keys[joins.ops.outputs[0].name], twice[twice >= 0])
