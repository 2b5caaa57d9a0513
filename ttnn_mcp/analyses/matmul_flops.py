"""Floating-point operations of matrix multiplications, plain, batched, transposed, sparse and fused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.op_names import canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.reasons import Reasons
    from ttnn_mcp.analyses.settings import Settings
    from ttnn_mcp.run.op_table import OpTable

NO_OPERANDS = "the report has no two input shapes for this op"
UNFIT = "the inputs' shapes do not fit together as a matrix product"
EXPERTS_UNKNOWN = "sparse matmul without nnz: how many experts were active is not in the report"


def matmul_flops(
    ops: OpTable, rows: NDArray[np.int64], settings: Settings, why: Reasons
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """2 x batches x M x K x N of `rows`, on logical and on padded shapes.

    Transposed operands are turned as the attributes say, unless only the unturned shapes fit together: some
    builds transpose in an op of its own and still print the wish. Ops that gather A first multiply the whole of it.
    """
    if len(ops.inputs) < 2 or not len(ops.outputs):
        why.say(rows, NO_OPERANDS)
        return np.full((2, len(rows)), np.nan)
    first, second = ops.inputs[0], ops.inputs[1]
    there = first.present[rows] & second.present[rows]
    why.say(rows[~there], NO_OPERANDS)
    turn_a, turn_b = settings.flags(rows, "transpose_a"), settings.flags(rows, "transpose_b")
    names = ops.texts("op_code")
    gathers = names.where(lambda text: "AllGather" in canonical(text))[rows]
    sparse = names.where(lambda text: "Sparse" in canonical(text))[rows]
    nnz = settings.numbers(rows, lambda said: said.number("nnz"))

    m, k, n, fits = _sides(first.padded[rows], second.padded[rows], turn_a, turn_b)
    del m, k, n
    turn_a, turn_b = turn_a & fits, turn_b & fits
    figures: list[NDArray[np.float64]] = []
    for a, b, out in (
        (first.logical[rows], second.logical[rows], ops.outputs[0].logical[rows]),
        (first.padded[rows], second.padded[rows], ops.outputs[0].padded[rows]),
    ):
        m, k, n, fits = _sides(a, b, turn_a, turn_b)
        batches = np.maximum(a[:, 0], b[:, 0]) * np.maximum(a[:, 1], b[:, 1])
        flops = 2.0 * np.where(sparse, nnz, batches) * m * k * n
        gathered = gathers & ~fits
        flops = np.where(gathered, 2.0 * b[:, 2] * b[:, 3] * out[:, :3].prod(axis=1), flops)
        figures.append(np.where(there & (fits | gathered), flops, np.nan))
    fits = ~np.isnan(figures[1])
    why.say(rows[sparse & np.isnan(nnz)], EXPERTS_UNKNOWN)
    why.say(rows[there & ~fits], UNFIT)
    return figures[0], figures[1]


def _sides(
    a: NDArray[np.int64], b: NDArray[np.int64], turn_a: NDArray[np.bool_], turn_b: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """M, K, N, and whether both operands agree on K."""
    m, k = np.where(turn_a, a[:, 3], a[:, 2]), np.where(turn_a, a[:, 2], a[:, 3])
    inner, n = np.where(turn_b, b[:, 3], b[:, 2]), np.where(turn_b, b[:, 2], b[:, 3])
    return m, k, n, k == inner
