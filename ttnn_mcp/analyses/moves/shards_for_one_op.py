"""Moves from DRAM into shards that a single op reads, which could read DRAM itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.moves.move_patterns import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.moves.moves import Moves
    from ttnn_mcp.analyses.roofline.roofline import Roofline
    from ttnn_mcp.run.ops.op_table import OpTable


def moves_for_one_op(moves: Moves, able: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Such moves, and the op of `able` that reads each as INPUT_0."""
    ops, made = moves.joins.ops, moves.joins.flow.producers[0]
    into = (moves.kinds == KINDS.index("interleaved-to-sharded")) & ops.inputs[0].in_dram[moves.rows]
    moved = [
        (int(moves.rows[index]), readers[0])
        for index in np.flatnonzero(into)
        if len(readers := moves.readers(int(index))) == 1
        and able[readers[0]]
        and int(made[readers[0]]) == int(moves.rows[index])
    ]
    pairs = np.array(moved or np.zeros((0, 2)), dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]


def longer_from_dram(
    ops: OpTable, roofline: Roofline, readers: NDArray[np.int64], gb_s: float
) -> NDArray[np.float64]:
    """Per reader, what it takes longer at least if INPUT_0 comes from DRAM: if its bytes alone hold it up."""
    streamed = np.nan_to_num(roofline.dram_achievable_ns[readers])
    then = streamed + ops.inputs[0].bytes[readers] / gb_s
    return np.maximum(then - ops.numbers("kernel_ns")[readers], 0.0)
