"""Floating-point operations of fused attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.reasons import Reasons
    from ttnn_mcp.analyses.settings import Settings
    from ttnn_mcp.run.op_table import OpTable


def attention_flops(
    ops: OpTable,  # noqa: ARG001
    rows: NDArray[np.int64],
    settings: Settings,  # noqa: ARG001
    why: Reasons,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Not modelled yet."""
    why.say(rows, "attention is not modelled")
    return np.full((2, len(rows)), np.nan)
