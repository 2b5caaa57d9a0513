"""The convolution of a report's row, as it must be asked for again."""

from __future__ import annotations

import re
from math import isqrt
from typing import TYPE_CHECKING, Any

from ttnn_mcp.hardware import TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts

NUMBER = re.compile(r"(\w+)=(\d+)")
PAIR = re.compile(r"(\w+_hw)=\((\d+)[;,] ?(\d+)\)")
PADDING = re.compile(r"padding=\(\((\d+)[;,] ?(\d+)\)[;,] ?\((\d+)[;,] ?(\d+)\)\)")


def convolution(facts: WindowFacts, row: int) -> dict[str, Any] | None:
    """Its arguments; None for any other op.

    Reports of tests print a part of them only: an image of as many rows as the output has is taken then.
    """
    attributes, ops = facts.attributes(row), facts.ops
    window = attributes.get("sliding_window_config") or ""
    layout = re.search(r"memory_layout=TensorMemoryLayout::(\w+)", attributes.get("memory_config") or "")
    if not facts.of_family("conv")[row] or layout is None:
        return None
    pairs = {name: (int(high), int(wide)) for name, high, wide in PAIR.findall(window)}
    numbers = {name: int(value) for name, value in NUMBER.findall(f"{window} {attributes.get('block_config')}")}
    kernel = pairs.get("window_hw", (3, 3))
    printed = re.findall(r"\d+", attributes.get("input_tensor_shape") or "")
    channels = int(printed[-1]) if printed else int(ops.inputs[1].logical[row, 2]) // (kernel[0] * kernel[1])
    high, wide = pairs.get("pad_hw", (kernel[0] // 2, kernel[1] // 2))
    padding = PADDING.search(window)
    image = pairs.get("input_hw") or _image(int(ops.outputs[0].logical[row, 2]))
    outputs = attributes.get("output_channels") or ops.outputs[0].logical[row, 3]
    return {
        "batch_size": numbers.get("batch_size", 1),
        "input_height": image[0],
        "input_width": image[1],
        "in_channels": channels,
        "out_channels": int(outputs),
        "kernel_size": kernel,
        "stride": pairs.get("stride_hw", (1, 1)),
        "padding": [int(side) for side in padding.groups()] if padding else [high, high, wide, wide],
        "groups": int(attributes.get("groups") or 1),
        "layout": layout.group(1),
        "block": _block(facts, row, numbers.get("act_block_h_ntiles", 0)),
        "double": attributes.get("enable_act_double_buffer") == "true",
    }


def _image(rows: int) -> tuple[int, int]:
    high = next(side for side in range(isqrt(rows), 0, -1) if rows % side == 0)
    return high, rows // high


def _block(facts: WindowFacts, row: int, tiles: int) -> int:
    """The override in elements; 0 where a block is all of a core's part."""
    conv = facts.convs.at(row)
    return 0 if conv is None or conv.block_h >= conv.per_core_h else TILE_SIDE * tiles
