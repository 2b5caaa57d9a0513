"""Caches, tables and heads: what ops of transformers touch of them; from tt-metal's programs and kernels (2026-09)."""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.attribute_columns import AttributeColumns
from ttnn_mcp.analyses.roofline.touched import Touched, share, without_padding
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

WHY_CACHE = "how much of the key/value cache the op read is not in the report"
WHY_PAGES = "which users or pages of the cache the op skipped is not in the report"
WHY_ROWS = "how many rows of the table the op read is not in the report"
START_TENSOR = "chunk_start_idx_tensor"  # attribute of a prompt's chunk whose start is read on the device
_OF_PARTS = re.compile("Decode|Chunked|Paged|FlashMLA|Sparse|Indexed")
_WINDOWS = re.compile("WindowedMode::(?!None)")
_KEPT_ROWS = re.compile("PADDED|BINARY")


def fills_cache(touched: Touched, rows: Integers) -> None:
    """INPUT_0 is the cache and the output; INPUT_1 goes into it. Fused ones do so with INPUT_2 and 3 as well.

    Paged ones get positions and page tables behind these: where one says -1, nothing is written, and an update does
    not read its input either.
    """
    inputs = touched.ops.inputs
    names = touched.ops.texts("op_code")
    caches = np.where(names.where(lambda text: "Fused" in text)[rows], 2, 1)
    touched.reads[::2, rows] = 0
    touched.writes[1:, rows] = 0
    for number in range(3, len(inputs), 2):
        touched.reads[number, rows[number // 2 >= caches]] = 0
    if len(inputs) > 1:
        touched.writes[0, rows] *= share(inputs[1], touched.ops.outputs[0], rows)
    listed = np.zeros(len(rows), dtype=np.bool_)
    for number in (2, 4):
        if number < len(inputs):
            listed |= inputs[number].present[rows] & (caches == number / 2)
    skips = rows[listed & names.where(lambda text: "Paged" in text)[rows]]
    touched.writes[0, skips] = 0
    touched.why.add(skips, WHY_PAGES)
    touched.reads[1:, skips[names.where(lambda text: "Update" in text)[skips]]] = 0


def attends(touched: Touched, rows: Integers) -> None:
    """Keys and values may be a cache that is longer than what was attended to, and so may be a mask of it."""
    chunked = np.isfinite(touched.settings.numbers(rows, lambda attributes: attributes.number("chunk_start_idx")))
    names = touched.ops.texts("op_code")
    parts = names.where(lambda text: _OF_PARTS.search(canonical(text)) is not None)[rows]
    parts |= chunked | starts_in_tensor(touched.settings, rows) | in_windows(touched.ops, touched.settings, rows)
    touched.reads[1:3, rows[parts]] = np.nan
    touched.reads[3:, rows[parts]] = 0
    touched.why.add(rows[parts], WHY_CACHE)


def starts_in_tensor(settings: AttributeColumns, rows: Integers) -> Booleans:
    """Attention of a prompt's chunk over a paged cache; where it begins, a tensor says (tt-metal, SDPAOperation)."""
    return settings.numbers(rows, lambda attributes: bool(attributes.text_of(START_TENSOR))) > 0


def in_windows(ops: OpTable, settings: AttributeColumns, rows: Integers) -> Booleans:
    """Attention within windows whose ends a tensor says: an op of its own, later a flag, then a mode of the plain one.

    What the mode is called is not known; its value is (TTNN 0.81.1 prints "WindowedMode::None" of others).
    """
    named = ops.texts("op_code").where(lambda text: "windowed" in text.lower())[rows]
    modes = settings.numbers(rows, lambda attributes: any(map(_WINDOWS.match, attributes.values())))
    return named | settings.flags(rows, "is_windowed") | (modes > 0)


def shares_out(touched: Touched, rows: Integers) -> None:
    """Every device holds all and takes chunks i and 2n-1-i of 2n: of the keys, at least the first half."""
    touched.reads[0, rows] *= share(touched.ops.outputs[0], touched.ops.inputs[0], rows)
    touched.reads[1:3, rows] *= 0.5
    touched.reads[3:, rows] = 0


def passes_round(touched: Touched, rows: Integers) -> None:
    """Q, K, V and their joint parts; what a device gathers of its neighbours' K and V depends on its place."""
    touched.reads[6:, rows] = 0
    touched.writes[1:, rows] = 0


def multiplies_with_cache(touched: Touched, rows: Integers) -> None:
    """Of a cache (INPUT_1), the tokens asked for (AttnMatmulDeviceOperation, num_tokens)."""
    if len(touched.ops.inputs) > 1:
        tokens = touched.settings.numbers(rows, lambda attributes: attributes.number("num_tokens"))
        height = np.maximum(touched.ops.inputs[1].padded[rows, 2], 1)
        touched.reads[1, rows] *= np.where(tokens > 0, np.minimum(tokens / height, 1.0), 1.0)


def multiplies_heads(touched: Touched, rows: Integers) -> None:
    """Heads without what pads them to a tile."""
    touched.reads[0, rows] *= without_padding(touched.ops.inputs[0], rows)


def takes_heads(touched: Touched, rows: Integers) -> None:
    """While decoding, heads and users without what pads them to a tile; with a batch offset, some of the users."""
    outputs, first = touched.ops.outputs, touched.ops.inputs[0]
    results = np.sum([out.elements[rows] for out in outputs], axis=0)
    touched.reads[1:, rows] = 0
    touched.reads[0, rows] *= np.minimum(results / np.maximum(first.padded[rows].prod(axis=1), 1), 1.0)
    for number, out in enumerate(outputs):
        touched.writes[number, rows] *= without_padding(out, rows)


def rotates(touched: Touched, rows: Integers) -> None:
    """Of the tables of cosines and sines as many rows as the input has; at one position, one row of tiles."""
    fused = touched.ops.texts("op_code").where(lambda text: "Fused" in text)[rows]
    token = touched.settings.numbers(rows, lambda attributes: attributes.number("token_idx"))
    needed = np.where(token >= 0, 32, touched.ops.outputs[0].padded[rows, 2])
    for number in range(1, min(len(touched.ops.inputs), 4)):
        table = (number >= 1 + fused) & (number <= 2 + fused)
        height = touched.ops.inputs[number].padded[rows, 2]
        touched.reads[number, rows] *= np.where(table, np.minimum(needed / np.maximum(height, 1), 1.0), 1.0)


def looks_up(touched: Touched, rows: Integers) -> None:
    """Of the table (INPUT_1), the rows that become the output; rows of a padding token are kept on the core."""
    if len(touched.ops.inputs) > 1:
        touched.reads[1, rows] *= share(touched.ops.outputs[0], touched.ops.inputs[1], rows)
        keeps = touched.settings.numbers(
            rows,
            lambda attributes: float(_KEPT_ROWS.search(attributes.text_of("embeddings_type") or "") is not None),
        )
        touched.reads[1, rows[keeps > 0]] = 0
        touched.why.add(rows[keeps > 0], WHY_ROWS)
