"""Arithmetic of the ops that run on the matrix engine: what the model asked for, and what the engine performs.

Of matmuls, convolutions, and fused attention: its two matrix products, per device.
"""

from __future__ import annotations

import re
from math import prod

import numpy as np

from ttnn_mcp.analyses.attribute_columns import AttributeColumns, attributes_of
from ttnn_mcp.analyses.roofline.matmul_flops import matmul_flops
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.sliding_windows import is_transposed, whole_numbers
from ttnn_mcp.analyses.roofline.transformer_parts import in_windows, starts_in_tensor
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

WHY_KEYS = "the report does not show query, key and output of this attention"
WHY_POSITION = "attention over a cache: how much of it was filled is not in the report"
WHY_ATTENTION = "an unknown kind of attention: which queries meet which keys is not in the report"
WHY_WINDOWS = "attention within windows: which pairs they leave is not in the report"
WHY_PLACE = (
    "causal and not balanced over a ring: which part of the sequence this device holds is not in the report; "
    "its arithmetic is counted as the first part's, the least any device has"
)
WHY_OPERANDS = "the report does not show weights and output of this convolution"
WHY_KIND = "an unknown kind of convolution"
JOINED = 6  # operands of an attention with joint queries, keys and values; of fewer the fourth is a gathered key
KNOWN = frozenset({"Conv1d", "Conv2d", "Conv3d"})
# all others choose keys by index (sparse_sdpa), or are no two products of queries, keys and values
KNOWN_ATTENTION = re.compile(
    "(Exp|Ring|Joint|Distributed|Windowed|Chunked|Paged)*"
    "(ScaledDotProductAttention|SDPA|FlashMLA|FlashMultiLatentAttention)(Prefill|Decode)?",
    re.IGNORECASE,
)


def attention_flops(
    ops: OpTable, rows: Integers, settings: AttributeColumns, why: Reasons
) -> tuple[Floats, Floats]:
    """2 x batch x query heads x (query, key) pairs x (key width + value width) of `rows`.

    Causal attention asks for half of the pairs. Softmax runs on other units and is left out. In a ring, a device
    has the queries of its own part of the sequence and the keys of all parts.
    """
    if len(ops.inputs) < 2 or not ops.outputs:
        why.add(rows, WHY_KEYS)
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    present = ops.inputs[0].present[rows] & ops.inputs[1].present[rows] & ops.outputs[0].present[rows]
    known = ops.texts("op_code").where(lambda name: KNOWN_ATTENTION.fullmatch(canonical(name)) is not None)[rows]
    decode, ring = _like(ops, rows, "Decode|FlashMLA"), _like(ops, rows, "Ring")
    split = _like(ops, rows, "RingDistributed")  # every device holds the whole sequence and does its share of it
    causal = settings.flags(rows, "is_causal")
    even = settings.flags(rows, "is_balanced")
    start = settings.numbers(rows, lambda attributes: attributes.number("chunk_start_idx"))
    window = settings.numbers(rows, lambda attributes: attributes.number("sliding_window_size"))
    total = settings.numbers(rows, lambda attributes: attributes.number("logical_n"))
    devices = settings.numbers(rows, lambda attributes: attributes.number("ring_size"))

    joined = np.zeros(len(rows), dtype=np.bool_)
    if len(ops.inputs) >= JOINED:
        # as many values as queries: behind gathered keys the sixth is a length in a tensor
        lengths = (ops.inputs[place].logical[rows, 2] for place in (3, JOINED - 1))
        joined = _like(ops, rows, "Joint") & np.equal(*lengths)

    free = settings.numbers(rows, lambda attributes: float(attributes.flag("is_causal") is False)) > 0
    paged = settings.flags(rows, "paged_attention")  # its keys are blocks of all users
    cached = (decode & (~free | paged)) | (_like(ops, rows, "Chunked|Paged") & np.isnan(start))
    cached |= starts_in_tensor(settings, rows)
    windowed = in_windows(ops, settings, rows) | (np.isfinite(window) & ~causal)
    why.add(rows[~known], WHY_ATTENTION)
    why.add(rows[~present], WHY_KEYS)
    why.add(rows[cached], WHY_POSITION)
    why.add(rows[windowed], WHY_WINDOWS)
    why.add(rows[ring & ~split & causal & ~even], WHY_PLACE)

    def flops(shape_of: str) -> Floats:
        query, key, out = (_dims(one, rows, shape_of) for one in (ops.inputs[0], ops.inputs[1], ops.outputs[0]))
        joint = _dims(ops.inputs[3], rows, shape_of)[2] * joined if len(ops.inputs) >= JOINED else 0.0
        rows_of_q = np.where(decode, 1.0, query[2] + joint)
        keys = np.where(ring & ~split, total, key[2]) + joint
        pairs = rows_of_q * keys
        triangle = np.where(np.isfinite(start), rows_of_q * (start + rows_of_q / 2), pairs / 2)
        triangle = np.where(ring & ~split & ~even, rows_of_q**2 / 2, triangle)
        triangle = np.where(window < rows_of_q, window * (rows_of_q - window / 2), triangle)
        pairs = np.where(causal, triangle, pairs) / np.where(split, devices, 1.0)
        heads = query[0] * query[1] * np.where(decode, query[2], 1.0)
        return np.where(present & known & ~cached & ~windowed, 2.0 * heads * pairs * (query[3] + out[3]), np.nan)

    return flops("logical"), flops("padded")


def _like(ops: OpTable, rows: Integers, pattern: str) -> Booleans:
    """Rows by the name as written: the canonical one no longer tells the kinds of ring attention apart."""
    return ops.texts("op_code").where(lambda text: re.search(pattern, text, re.IGNORECASE) is not None)[rows]


def _dims(operand: Operand, rows: Integers, shape_of: str) -> Floats:
    """W, Z, Y and X of the rows, one array each."""
    dims = np.asarray((operand.logical if shape_of == "logical" else operand.padded)[rows], dtype=np.float64)
    return np.transpose(dims)


def conv_flops(ops: OpTable, rows: Integers, settings: AttributeColumns, why: Reasons) -> tuple[Floats, Floats]:
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


MODELS = {"matmul": matmul_flops, "conv": conv_flops, "attention": attention_flops}


def on_engine(ops: OpTable) -> Booleans:
    """Ops whose arithmetic is the matrix engine's."""
    return ops.of_family(*MODELS)


def flops_of(ops: OpTable, why: Reasons) -> tuple[Floats, Floats]:
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
