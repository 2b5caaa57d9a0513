"""Convs compared with each other: for each, the fastest similar one of another shard layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.convs import convs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

NO_PEER = -1


def peers_of(ops: OpTable, flops: NDArray[np.float64], *, within: float) -> NDArray[np.int64]:
    """Per conv, the position of the fastest similar one of another layout; NO_PEER where there is none.

    Similar convs have the same fidelity and weight type, and sizes that differ by a factor of `within` at most.
    `flops` are per op.
    """
    convs, took = convs_of(ops), ops.numbers("kernel_ns")
    fastest = _fastest(took, convs.rows, convs.kinds, len(convs.distinct))
    layouts = np.array(["" if conv is None else conv.layout for conv in convs.distinct])
    fidelity = ops.texts("fidelity").codes[fastest]
    weights = ops.inputs[1].dtype.codes[fastest]
    comparable = (layouts != "") & (fastest != NO_PEER)
    similar = (layouts[:, None] != layouts) & comparable & comparable[:, None]
    similar &= (fidelity[:, None] == fidelity) & (weights[:, None] == weights)
    for size in _sizes(ops, fastest):
        similar &= (size[:, None] <= within * size) & (size <= within * size[:, None])
    rate = flops[fastest] / np.maximum(took[fastest], 1.0)
    best = np.where(similar, rate, -1.0).argmax(axis=1)
    return np.where(similar.any(axis=1), fastest[best], NO_PEER)[convs.kinds]


def _fastest(
    took: NDArray[np.float64], rows: NDArray[np.int64], kinds: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Per kind of conv, the position of its fastest op; NO_PEER if all its times are lost."""
    fastest = np.full(count, NO_PEER, dtype=np.int64)
    timed = took[rows] > 0
    rows, kinds = rows[timed], kinds[timed]
    order = np.argsort(-took[rows], kind="stable")
    fastest[kinds[order]] = rows[order]  # the last one written stays: the least time
    return fastest


def _sizes(ops: OpTable, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Output rows, inner size and output channels: a layout that suits many rows may not suit few."""
    weights, output = ops.inputs[1].padded[rows], ops.outputs[0].padded[rows]
    return output[:, :3].prod(axis=1), weights[:, 2], output[:, 3]
