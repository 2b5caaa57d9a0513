"""Bytes of an operand per op: as stored, without padding, or in the narrowest possible type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ttnn_mcp.analyses.roofline.flops import on_engine
from ttnn_mcp.arrays import Floats
from ttnn_mcp.hardware import ELEMENT_BYTES
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

Weigh = Callable[[Operand, int | None], Floats]  # unmoved: a type
"""An operand and its number among the inputs (None for an output) -> its bytes per op; 0 if unknown."""
NARROW_WEIGHT, NARROW_ACTIVATION = "BFLOAT4_B", "BFLOAT8_B"  # the narrowest that matmuls and convs take
NARROWED = ("FLOAT32", "BFLOAT16", "BFLOAT8_B")  # tiles of these can be stored narrower; integers cannot


def as_stored(operand: Operand, _number: int | None) -> Floats:
    """The operand as stored."""
    return operand.bytes


def without_padding(operand: Operand, number: int | None) -> Floats:
    """Its logical elements only."""
    return as_stored(operand, number) * (operand.elements / np.maximum(operand.padded.prod(axis=1), 1))


def narrowed(ops: OpTable) -> Weigh:
    """Tiles of floats in the narrowest type for the operand's role in the op."""
    weighted = on_engine(ops) & ops.texts("op_code").where(lambda text: family(text) != "attention")

    def weigh(operand: Operand, number: int | None) -> Floats:
        now = operand.dtype.mapped(lambda text: ELEMENT_BYTES.get(text, np.nan), missing=np.nan, dtype=np.float64)
        weight = weighted & (number == 1)
        then = np.where(weight, ELEMENT_BYTES[NARROW_WEIGHT], ELEMENT_BYTES[NARROW_ACTIVATION])
        able = operand.dtype.among(*NARROWED) & operand.layout.among("TILE")
        return as_stored(operand, number) * np.where(able, np.minimum(then / now, 1.0), 1.0)

    return weigh
