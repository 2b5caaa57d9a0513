"""Floating-point operations of matrix multiplications: plain, batched, transposed, sparse, with a collective."""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.attribute_columns import AttributeColumns
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.run.ops.op_table import OpTable

WHY_OPERANDS = "the report does not show two inputs and an output of this matmul"
WHY_UNFIT = "the inputs of this matmul do not fit together as the report shows them"
WHY_EXPERTS = "sparse matmul without nnz: how many experts were active is not in the report"
WHY_PACKED = "which operands this matmul multiplies, or how its weights are packed, is not in the report"
# Matmul_RS lists the operands of a reduce-scatter before its own (matmul/rs_matmul_op.hpp); the weights of MatmulWO are
# cut into shards per bank of DRAM, of all layers (deepseek/mla/matmul_wo)
PACKED = "^Matmul_?RS|^MatmulWO"
# Their K is A's width and their N the output's. Weights of matmul_decode may be folded, [K / n, n x N], or have
# batches side by side (matmul_decode_device_operation.cpp); attn_matmul reads a part of a cache (attn_matmul/device)
BY_OUTPUT = "AttnMatmul|^MatmulDecode"
TRANSPOSES = ("transpose_a", "transpose_input"), ("transpose_b", "transpose_other")  # the latter of moreh_matmul


def active_experts(settings: AttributeColumns, rows: Integers) -> Floats:
    """How many experts each of these sparse matmuls multiplies; NaN where no nnz is printed."""
    return settings.numbers(rows, lambda attributes: attributes.number("nnz"))


def active_share(ops: OpTable, settings: AttributeColumns, rows: Integers) -> Floats:
    """The same as a share of all experts in INPUT_1."""
    experts = ops.inputs[1].padded[rows, :2].prod(axis=1)
    return np.minimum(active_experts(settings, rows) / np.maximum(experts, 1), 1)


def matmul_flops(ops: OpTable, rows: Integers, settings: AttributeColumns, why: Reasons) -> tuple[Floats, Floats]:
    """2 x batches x M x K x N of `rows`, on logical and on padded shapes.

    Operands are transposed as the attributes say, unless only the untransposed shapes fit: some builds transpose in
    an op before and print the wish all the same. Where A is gathered first, batches x M is the output's.
    """
    if len(ops.inputs) < 2 or not ops.outputs:
        why.add(rows, WHY_OPERANDS)
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    first, second = ops.inputs[0], ops.inputs[1]
    present = first.present[rows] & second.present[rows] & ops.outputs[0].present[rows]
    patterns = "AllGather", "Sparse", BY_OUTPUT, PACKED
    gathers, sparse, as_output, packed = (_like(ops, rows, pattern) for pattern in patterns)
    active = active_experts(settings, rows)
    turn_a, turn_b = (settings.flags(rows, *names) for names in TRANSPOSES)
    _, k, inner, _ = _sides(first.padded[rows], second.padded[rows], turn_a, turn_b)
    turn_a, turn_b = turn_a & (k == inner), turn_b & (k == inner)
    _, k, inner, _ = _sides(first.padded[rows], second.padded[rows], turn_a, turn_b)
    fits = (k == inner) | gathers | as_output | packed
    why.add(rows[~present], WHY_OPERANDS)
    why.add(rows[~fits], WHY_UNFIT)
    why.add(rows[packed], WHY_PACKED)
    why.add(rows[sparse & np.isnan(active)], WHY_EXPERTS)

    def flops(a: Integers, b: Integers, outs: list[Integers]) -> Floats:
        m, k, inner, n = _sides(a, b, turn_a, turn_b)
        # with M, K and N the product may leave 64 bits
        batches = np.maximum(a[:, 0], b[:, 0]).astype(np.float64) * np.maximum(a[:, 1], b[:, 1])
        by_inputs = np.where(sparse, active, batches) * m
        by_output = np.full(len(rows), np.nan)
        for out in outs:  # the product is the last output that is N wide: a gathered A comes before it
            by_output = np.where(out[:, 3] == n, out[:, :3].prod(axis=1), by_output)
        lines = np.where(gathers & (k != inner), by_output, by_inputs)
        out = outs[0].astype(np.float64)
        weights = np.minimum(
            a[:, 3] * out[:, 3], b.prod(axis=1)
        )  # of a line: not more than B has, where N is gathered
        steps = np.where(as_output, out[:, :3].prod(axis=1) * weights, lines * inner * n)
        return np.where(present & fits & ~packed, 2.0 * steps, np.nan)

    return (
        flops(first.logical[rows], second.logical[rows], [out.logical[rows] for out in ops.outputs]),
        flops(first.padded[rows], second.padded[rows], [out.padded[rows] for out in ops.outputs]),
    )


def _sides(
    a: Integers, b: Integers, turn_a: Booleans, turn_b: Booleans
) -> tuple[Integers, Integers, Integers, Integers]:
    """M and K of A, K and N of B."""
    m, k = np.where(turn_a, a[:, 3], a[:, 2]), np.where(turn_a, a[:, 2], a[:, 3])
    inner, n = np.where(turn_b, b[:, 3], b[:, 2]), np.where(turn_b, b[:, 2], b[:, 3])
    return m, k, inner, n


def _like(ops: OpTable, rows: Integers, word: str) -> Booleans:
    return ops.texts("op_code").where(lambda text: re.search(word, text, re.IGNORECASE) is not None)[rows]
