"""Floating-point operations of convolutions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.roofline.sliding_windows import is_transposed, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.attribute_columns import AttributeColumns
    from ttnn_mcp.analyses.roofline.reasons import Reasons
    from ttnn_mcp.readers.printed.attributes import Attributes
    from ttnn_mcp.run.ops.op_table import OpTable

WHY_OPERANDS = "the report does not show weights and output of this convolution"
WHY_KIND = "an unknown kind of convolution"
KNOWN = frozenset({"Conv1d", "Conv2d", "Conv3d"})


def conv_flops(
    ops: OpTable, rows: NDArray[np.int64], settings: AttributeColumns, why: Reasons
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of `rows`: what the model asked for, and what the engine performs.

    Asked for: 2 x output pixels x Cout x Cin / groups x window; NaN where the attributes leave out `groups`
    (reports up to C4 do). Performed: the op multiplies im2col rows with prepared weights, 2 x padded output rows x
    padded weight rows x columns. Weights of grouped convolutions are prepared dense, with zeros between the groups
    (a SegFormer report: depthwise 3x3 of 640 channels with 6048 x 672 weights), so a depthwise one performs Cin
    times what was asked for.
    """
    if len(ops.inputs) < 2 or not ops.outputs:
        why.add(rows, WHY_OPERANDS)
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    weight, out = ops.inputs[1], ops.outputs[0]
    present = weight.present[rows] & out.present[rows]
    known = ops.named(*KNOWN)[rows]
    why.add(rows[~known], WHY_KIND)
    why.add(rows[~present], WHY_OPERANDS)
    present &= known
    performed = 2.0 * out.height[rows] * weight.padded[rows, 2:].prod(axis=1)
    pixels = settings.numbers(rows, _transposed_pixels)
    pixels = np.where(np.isnan(pixels), out.logical[rows, :3].prod(axis=1), pixels)
    asked = pixels * settings.numbers(rows, _per_pixel)
    return np.where(present, asked, np.nan), np.where(present, performed, np.nan)


def _per_pixel(attributes: Attributes) -> float | None:
    """Operations per pixel, over all output channels."""
    groups, channels = attributes.number("groups"), attributes.number("output_channels")
    image, kernel = _image(attributes), _numbers(attributes, "window_hw")
    if not groups or not channels or not image or len(kernel) != 2:
        return None
    return 2.0 * channels * (image[3] / groups) * prod(kernel)


def _transposed_pixels(attributes: Attributes) -> float | None:
    """A transposed convolution applies its window to every input pixel, not to every output pixel."""
    window = attributes.struct("sliding_window_config")
    image = _image(attributes)
    return float(prod(image[:3])) if window is not None and is_transposed(window) and image else None


def _image(attributes: Attributes) -> list[int]:
    """N, H, W and C of the input; empty where not said."""
    shape = whole_numbers(attributes.text_of("input_tensor_shape"))
    return shape if len(shape) == 4 else []


def _numbers(attributes: Attributes, key: str) -> list[int]:
    window = attributes.struct("sliding_window_config")
    return whole_numbers(window.text_of(key)) if window is not None else []
