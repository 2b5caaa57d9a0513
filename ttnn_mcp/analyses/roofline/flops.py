"""Arithmetic of the ops that run on the matrix engine: what the model asked for, and what the engine performs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.roofline.attention_flops import attention_flops
from ttnn_mcp.analyses.roofline.conv_flops import conv_flops
from ttnn_mcp.analyses.roofline.matmul_flops import matmul_flops
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.roofline.reasons import Reasons
    from ttnn_mcp.run.ops.op_table import OpTable

MODELS = {"matmul": matmul_flops, "conv": conv_flops, "attention": attention_flops}


def on_engine(ops: OpTable) -> NDArray[np.bool_]:
    """Ops whose arithmetic is the matrix engine's."""
    return ops.of_family(*MODELS)


def flops_of(ops: OpTable, why: Reasons) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Useful and performed floating-point operations per op; NaN for ops without a model, `why` says which and why.

    A multiplication and the addition behind it count as two, as everywhere. Vector work (softmax, GELU, norms) is
    left out: it runs on other units, whose peak is not the matrix engine's.
    """
    useful, performed = np.full(len(ops), np.nan), np.full(len(ops), np.nan)
    settings = attributes_of(ops)
    families = ops.texts("op_code").mapped(family, missing="other", dtype=object)
    for name, model in MODELS.items():
        rows = np.flatnonzero(families == name)
        if len(rows):  # unmoved: only spares time
            useful[rows], performed[rows] = model(ops, rows, settings, why)
    return useful, performed
