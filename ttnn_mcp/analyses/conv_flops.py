"""Floating-point operations of 2D convolutions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.reasons import Reasons
    from ttnn_mcp.analyses.settings import Settings
    from ttnn_mcp.readers.attributes import Attributes
    from ttnn_mcp.run.op_table import OpTable

NO_OPERANDS = "the report has no weight or output shape for this op"
_WHOLE = re.compile(r"\d+")


def conv_flops(
    ops: OpTable, rows: NDArray[np.int64], settings: Settings, why: Reasons
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of `rows`: what the model asked for (NaN where the attributes do not say), and what the engine performs.

    Asked for: 2 x output pixels x Cout x Cin / groups x window. Performed: the op multiplies im2col rows with
    prepared weights, so 2 x padded output rows x padded weight rows x columns; weights of grouped convolutions are
    prepared dense, with zeros between the groups (ttnn's prepare_conv2d_weights.cpp).
    """
    if len(ops.inputs) < 2 or not len(ops.outputs):
        why.say(rows, NO_OPERANDS)
        return np.full((2, len(rows)), np.nan)
    weight, out = ops.inputs[1], ops.outputs[0]
    there = weight.present[rows] & out.present[rows]
    why.say(rows[~there], NO_OPERANDS)
    performed = 2.0 * out.padded[rows, :3].prod(axis=1) * weight.padded[rows, 2:].prod(axis=1)
    per_pixel = settings.numbers(rows, _per_pixel)
    pixels = out.logical[rows, :3].prod(axis=1)
    return np.where(there, pixels * per_pixel, np.nan), np.where(there, performed, np.nan)


def _per_pixel(said: Attributes) -> float | None:
    """Operations per output pixel, over all its channels."""
    window = said.call("sliding_window_config")
    groups, channels = said.number("groups"), said.number("output_channels")
    shape = _WHOLE.findall(said.given("input_tensor_shape") or "")
    if window is None or not groups or not channels or len(shape) != 4:
        return None
    kernel = _WHOLE.findall(window.given("window_hw") or "")
    if len(kernel) != 2:
        return None
    return 2.0 * channels * int(shape[3]) / groups * int(kernel[0]) * int(kernel[1])
