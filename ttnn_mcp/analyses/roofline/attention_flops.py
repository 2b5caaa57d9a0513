"""Floating-point operations of fused attention: its two matrix products, per device."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.attribute_columns import AttributeColumns
    from ttnn_mcp.analyses.roofline.reasons import Reasons
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand

WHY_OPERANDS = "the report does not show query, key and output of this attention"
WHY_POSITION = "attention over a cache: how much of it was filled is not in the report"
WHY_WINDOWS = "attention within windows: which pairs they leave is not in the report"
WHY_PLACE = (
    "causal and not balanced over a ring: which part of the sequence this device holds is not in the report; "
    "its arithmetic is counted as the first part's, the least any device has"
)


def attention_flops(
    ops: OpTable, rows: NDArray[np.int64], settings: AttributeColumns, why: Reasons
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """2 x batch x query heads x (query, key) pairs x (key width + value width) of `rows`.

    Causal attention asks for half of the pairs. Softmax runs on other units and is left out. In a ring, a device
    has the queries of its own part of the sequence and the keys of all parts.
    """
    if len(ops.inputs) < 2 or not ops.outputs:
        why.add(rows, WHY_OPERANDS)
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    present = ops.inputs[0].present[rows] & ops.inputs[1].present[rows] & ops.outputs[0].present[rows]
    decode, ring = _like(ops, rows, "Decode|FlashMLA"), _like(ops, rows, "Ring")
    split = _like(ops, rows, "RingDistributed")  # every device holds the whole sequence and does its share of it
    causal = settings.flags(rows, "is_causal")
    even = settings.flags(rows, "is_balanced")
    start = settings.numbers(rows, lambda attributes: attributes.number("chunk_start_idx"))
    window = settings.numbers(rows, lambda attributes: attributes.number("sliding_window_size"))
    total = settings.numbers(rows, lambda attributes: attributes.number("logical_n"))
    devices = settings.numbers(rows, lambda attributes: attributes.number("ring_size"))

    free = settings.numbers(rows, lambda attributes: float(attributes.flag("is_causal") is False)) > 0
    cached = (decode & ~free) | (_like(ops, rows, "Chunked|Paged") & np.isnan(start))
    windowed = _like(ops, rows, "Windowed") | (np.isfinite(window) & ~causal)
    why.add(rows[~present], WHY_OPERANDS)
    why.add(rows[cached], WHY_POSITION)
    why.add(rows[windowed], WHY_WINDOWS)
    why.add(rows[ring & ~split & causal & ~even], WHY_PLACE)

    def flops(shape_of: str) -> NDArray[np.float64]:
        query, key, out = (_dims(one, rows, shape_of) for one in (ops.inputs[0], ops.inputs[1], ops.outputs[0]))
        joint = _dims(ops.inputs[3], rows, shape_of)[2] * _like(ops, rows, "Joint") if len(ops.inputs) > 3 else 0.0
        rows_of_q = np.where(decode, 1.0, query[2] + joint)
        keys = np.where(ring & ~split, total, key[2]) + joint
        pairs = rows_of_q * keys
        triangle = np.where(np.isfinite(start), rows_of_q * (start + rows_of_q / 2), pairs / 2)
        triangle = np.where(ring & ~split & ~even, rows_of_q**2 / 2, triangle)
        triangle = np.where(window < rows_of_q, window * (rows_of_q - window / 2), triangle)
        pairs = np.where(causal, triangle, pairs) / np.where(split, devices, 1.0)
        heads = query[0] * query[1] * np.where(decode, query[2], 1.0)
        return np.where(present & ~cached & ~windowed, 2.0 * heads * pairs * (query[3] + out[3]), np.nan)

    return flops("logical"), flops("padded")


def _like(ops: OpTable, rows: NDArray[np.int64], pattern: str) -> NDArray[np.bool_]:
    """Rows by the name as written: the canonical one no longer tells the kinds of ring attention apart."""
    return ops.texts("op_code").where(lambda text: re.search(pattern, text, re.IGNORECASE) is not None)[rows]


def _dims(operand: Operand, rows: NDArray[np.int64], shape_of: str) -> NDArray[np.float64]:
    """W, Z, Y and X of the rows, one array each."""
    dims = np.asarray((operand.logical if shape_of == "logical" else operand.padded)[rows], dtype=np.float64)
    return np.transpose(dims)
