"""Buffers of convolutions and pools, and of the halo that spreads their rows, on shards.

Measured on TTNN 0.81.1 mock devices, Wormhole and Blackhole; the convolution is that of `op_kinds.conv_l1`.
"""

from __future__ import annotations

import re
from math import ceil, prod

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv
from ttnn_mcp.hardware import ELEMENT_BYTES, TILE_BYTES, TILE_SIDE

_HALF = TILE_BYTES["BFLOAT16"]
_PAIR = r"\{(\d+), (\d+)\}"
# batch, channels, size of the input, of the window, and what follows up to the channels and groups of the output
_WINDOW = re.compile(rf"SlidingWindowConfig\(\d+, \d+, {_PAIR}, {_PAIR}, .*?PaddingMode::\w+\)")
# batch, size, window, steps, padding of the sides, and gaps within the window
_SLIDES = re.compile(
    rf"SlidingWindowConfig\((\d+), \d+, {_PAIR}, {_PAIR}, {_PAIR}, "
    rf"array\((\d+), (\d+), (\d+), (\d+)\), {_PAIR}, {_PAIR},"
)
_OUTPUT = re.compile(r"PaddingMode::\w+\), (\d+), (\d+), (\d), (\d), ")  # channels, groups, untilized, with a bias
_SPREAD = re.compile(r"Conv2dParallelizationConfig\(<xy_pair>, (\d+), (\d+), (\d+), (\d+), (\d+)\)")
_BLOCKS = re.compile(r"Conv2dBlockConfig\((\d+), (\d+), ")
# both double buffers, full inner dimension, activation reuse, config tensors in DRAM: behind the kernel config
_FLAGS = re.compile(r"array\([^)]*\), ComputeKernelConfig\([^)]*\), (\d), (\d), (\d), (\d), (\d), ")
_PRINTED = (_WINDOW, _OUTPUT, _SPREAD, _BLOCKS, _FLAGS)
_OPERANDS = 2  # image and weights
# kind, layout, whether padding counts, what sums are divided by, whether places are asked for
_POOL = re.compile(
    r"Pool2DType::(\w+), DataType::\w+, Layout::(\w+), .*, (\d), (std::nullopt|\d+), (\d), \d+, \d\)$"
)
_CUT = re.compile(r", 1, PaddingMode::")  # ceil_mode: a last window that reaches out of the image counts, too
_DRAM_TABLES = re.compile(r", 1, ComputeKernelConfig\([^)]*\)\)$")  # of a halo: its tables lie in DRAM
PLACES, MORE_PLACES = 7, 9  # tiles that a pool needs for places; more where a window exceeds a tile
WINDOW_ROWS = (4, 16, 32)  # to which the elements of a window are filled up; more come in several passes
COLUMNS_AT_MOST, FEWER_COLUMNS = 8, 4  # tiles of a row that a pool works on at a time; where averages take passes
_ROWS_AHEAD = 2  # rows of tiles that a halo untilizes at a time, in each of two buffers


def convolution(program: Program) -> Buffers | None:
    """The buffers of its program that lie on no tensor."""
    conv = _conv_of(program)
    if conv is None or not conv.modelled:
        return None
    return {name: size for name, size in conv.buffers.items() if name != "OUT"}


def _conv_of(program: Program) -> Conv | None:
    placement, matches = program.out.placement, (pattern.search(program.attributes) for pattern in _PRINTED)
    printed = [[int(text) for text in match.groups()] for match in matches if match is not None]
    if placement is None or placement.layout not in {HEIGHT, BLOCK, WIDTH} or len(program.inputs) < _OPERANDS:
        return None
    if len(printed) < len(_PRINTED):
        return None
    window, output, spread, blocks, flags = printed
    rows, cores_in, cores_out, per_core_h, per_core_w = spread
    layout, kernel_h = placement.layout, window[2]
    inner = kernel_h if layout == HEIGHT else cores_in * (1 if layout == WIDTH or flags[2] else kernel_h)
    return Conv(
        layout=layout,
        block_h=blocks[0],
        block_w=blocks[1],
        per_core_h=per_core_h,
        per_core_w=per_core_w,
        kernel_h=kernel_h,
        inner_blocks=inner,
        cores=(rows, cores_in, cores_out),
        staging_dtype="FLOAT32" if program.x.dtype == "FLOAT32" else "BFLOAT16",
        weights_dtype=program.inputs[1].dtype,
        output_dtype=program.out.dtype,
        act_double=flags[0] == 1,
        weights_double=flags[1] == 1,
        bias=output[3] == 1,
        untilize=output[2] == 1,
        fp32_accumulation=program.fp32,
        packer_l1=program.packer_l1,
        allocated_bytes=0,
        allocated_said=False,
        window=_slides(program.attributes),
        input_channels=program.x.held_width or 0,
        indices_in_l1=flags[4] == 1,
        reuses_activation=flags[3] == 1,
        arch=program.machine.arch,
    )


def _slides(printed: str) -> ConvWindow | None:
    match = _SLIDES.search(printed)
    if match is None:
        return None
    batch, h, w, tall, wide, down, across, top, bottom, left, right, *_, gap_h, gap_w = map(int, match.groups())
    return ConvWindow(batch, (h, w), (tall, wide), (down, across), (top, bottom, left, right), (gap_h, gap_w))


def halo(program: Program) -> Buffers | None:
    """Two rows of padding; tiles become rows by way of two buffers of two rows of tiles."""
    x, out = program.x, program.out
    width, shard = x.held_width, x.shard
    if width is None or shard is None or _DRAM_TABLES.search(program.attributes):
        return None
    size = int(ELEMENT_BYTES[out.dtype])
    rows = 2 * _ROWS_AHEAD * shard[1] * TILE_SIDE * TILE_SIDE * size if x.tiled else 0
    return {"PADDING": 2 * width * size, "ROWS": rows}


def pool(program: Program) -> Buffers | None:
    """Two windows in, the scalars, two windows out; tiles of the output, and places, if they are asked for."""
    printed, window = _POOL.search(program.attributes), _slides(program.attributes)
    shard = program.out.shard
    if printed is None or window is None or shard is None:
        return None
    kind, layout, counts_padding, divisor, with_places = printed.groups()
    elements, is_average = prod(window.kernel), kind == "AVG_POOL2D"
    is_large = elements > WINDOW_ROWS[-1]
    columns = min(shard[1], FEWER_COLUMNS if is_large and is_average else COLUMNS_AT_MOST)
    rows = next((size for size in WINDOW_ROWS if elements <= size), WINDOW_ROWS[-1])
    is_cut = _CUT.search(program.attributes) is not None and _reaches_out(window)
    is_even = not is_cut and (counts_padding == "1" or not any(window.padding))
    # tiles of output and scalars: averages over fewer elements at the edges need scalars of their own
    tiles = 5 if is_average and divisor == "std::nullopt" and not is_even else 3
    if with_places == "1":
        places = MORE_PLACES if is_large else PLACES
        return {"SCALARS": tiles * _HALF, "WINDOWS": 4 * _HALF, "PLACES": places * _HALF}
    windows = 2 * 2 * max(columns * rows * TILE_SIDE * _HALF // TILE_SIDE**2, _HALF)
    return {"SCALARS": tiles * _HALF, "WINDOWS": windows, "TILES": columns * _HALF if layout == "TILE" else 0}


def _reaches_out(window: ConvWindow) -> bool:
    """Whether its last steps, rounded up, reach beyond the padding; none begins there: pool_utils.cpp, ceil_mode."""
    for axis in (0, 1):
        before, behind = window.padding[2 * axis : 2 * axis + 2]
        size, stride = window.input[axis] + before, window.stride[axis]
        reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1
        last = min(ceil((size + behind - reach) / stride), (size - 1) // stride) * stride
        if last + reach > size + behind:
            return True
    return False
