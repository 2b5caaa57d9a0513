"""Arithmetic of the ops that run on the matrix engine: what the model asked for, and what the engine performs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attention_flops import attention_flops
from ttnn_mcp.analyses.conv_flops import conv_flops
from ttnn_mcp.analyses.matmul_flops import matmul_flops
from ttnn_mcp.analyses.settings import Settings
from ttnn_mcp.run.op_names import family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.reasons import Reasons
    from ttnn_mcp.run.op_table import OpTable

MODELS = {"matmul": matmul_flops, "conv": conv_flops, "attention": attention_flops}


def flops_of(ops: OpTable, why: Reasons) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Useful and padded floating-point operations per op; NaN for ops without a model, `why` says which and why.

    A multiplication and the addition behind it count as two, as everywhere. Vector work (softmax, GELU, norms) is
    left out: it runs on other units, whose peak is not the matrix engine's.
    """
    useful, padded = np.full((2, len(ops)), np.nan)
    settings = Settings(ops)
    families = ops.texts("op_code")
    for name, model in MODELS.items():
        rows = np.flatnonzero(families.where(lambda text, name=name: family(text) == name))
        if len(rows):
            useful[rows], padded[rows] = model(ops, rows, settings, why)
    return useful, padded
