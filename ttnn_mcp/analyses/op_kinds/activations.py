"""Bfloat16 activations that stream through DRAM: which ops have them, and what a narrower type would save."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import spared_bytes
from ttnn_mcp.analyses.roofline.roofline import Roofline
from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.hardware import ELEMENT_BYTES
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

NARROW = "BFLOAT8_B"
NARROWED = 1 - ELEMENT_BYTES[NARROW] / ELEMENT_BYTES["BFLOAT16"]
RESIDUAL = ("BinaryOpType::ADD", "BinaryOpType::SUB")


def streams_bfloat16(ops: OpTable) -> Booleans:
    """Ops that read INPUT_0 from DRAM and write OUTPUT_0 there, both BFLOAT16 in tiles."""
    return _is_wide(ops.inputs[0]) & ops.inputs[0].in_dram & _is_wide(ops.outputs[0]) & ops.outputs[0].in_dram


def narrowing_spares(ops: OpTable, roofline: Roofline) -> Floats:
    """DRAM bytes saved if all operands that can be narrower are; a slice reads only a part of its input."""
    spared = [
        np.where(_is_wide(operand), spared_bytes(operand, NARROW), 0.0) for operand in (*ops.inputs, *ops.outputs)
    ]
    return np.fmin(np.sum(spared, axis=0), NARROWED * roofline.dram_bytes)


def adds_full_tensors(ops: OpTable) -> Booleans:
    """Sums and differences of two tensors of one size, which may be a residual path."""
    if len(ops.inputs) < len(("left", "right")):
        return np.zeros(len(ops), dtype=np.bool_)
    adds = ops.texts("attributes").where(lambda text: any(kind in text for kind in RESIDUAL))
    binary = ops.named("Binary")
    return binary & adds & (ops.inputs[0].elements == ops.inputs[1].elements)


def by_one_row(ops: OpTable) -> Booleans:
    """Ops of two tensors whose second is one row, as wide as the first: a factor or a gate per column."""
    x, row = ops.inputs[:2]
    return (row.logical[:, :3] == 1).all(axis=1) & (row.logical[:, 3] == x.logical[:, 3])


def _is_wide(operand: Operand) -> Booleans:
    """BFLOAT16 in tiles: narrower types exist in tiles only."""
    return operand.dtype.among("BFLOAT16") & operand.layout.among("TILE")
