"""Buffers of convolutions and pools, and of the halo that spreads their rows, on shards; of Conv3d with a config.

Measured on TTNN 0.81.1 mock devices, Wormhole and Blackhole; the convolution is that of `op_kinds.conv_l1`. Conv3d on
Wormhole only, equal to the byte, its shape that of tt-metal
ttnn/cpp/ttnn/operations/experimental/conv3d/device/conv3d_program_factory.cpp: on Blackhole rows are gathered in
another way, and without a config nobody prints the blocks.
"""

from __future__ import annotations

import re
from math import ceil, prod

from ttnn_mcp.analyses.from_graph.program import Buffers, Program
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, ELEMENT_BYTES, TILE_BYTES, TILE_SIDE
from ttnn_mcp.records import dataclass

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
_TRIPLES = re.compile(r"array\((\d+), (\d+), (\d+)\)")
_ONE_GROUP = re.compile(r", (zeros|replicate), 1, ")
_FIELD = re.compile(r"(T_out|H_out|W_out|C_out|C_in)_block=(\d+)")
_SPLIT_3D = re.compile(r"enable_fp32_operand_split=(1|true)")
_KERNEL, _STRIDE, _DILATION = 0, 1, 3  # places of the triples
_FIELDS_3D = 5
USABLE_3D = 1_264_127  # bytes per core that buffers may take, at most: 1,259,520 are used, for 1,264,128 it changes
POINTS_OF_A_BANK = 2  # of a row, at least, for reads that are gathered by bank
READ_AHEAD = 500 * 1024  # bytes of the input at most: L1_PREFETCH_HARD_CAP


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Tiles of the matmul that a core makes of a block, and what it needs."""

    rows: int
    inner: int
    columns: int
    patches: int
    tile: int
    partial: int
    parts: int
    """Blocks of the input's channels, which are added up over cores."""

    bias: bool

    def buffers_with(self, high: int) -> Buffers:
        """With so many rows of tiles turned into tiles at a time."""
        ahead = TILE_SIDE if self.patches % TILE_SIDE == 0 else 2 * TILE_SIDE
        gathered = min(self.patches, ahead) * self.inner * self.tile // TILE_SIDE
        sums = self.rows * self.columns
        return {
            "ROWS": gathered,
            "PATCHES": high * self.inner * self.tile,
            "WEIGHTS": self.inner * self.columns * self.tile,
            "OUT": sums * self.tile,
            "BIAS": self.columns * self.tile if self.bias else 0,
            "PARTIALS": sums * self.partial,
            "SHARED": sums * self.partial + self.tile if self.parts > 1 else 0,
        }

    def fitted(self, most: int) -> Buffers:
        """With as many rows as the registers hold and L1 has room for."""
        heights = [
            high for high in range(1, self.rows + 1) if self.rows % high == 0 and high * self.columns <= most
        ]
        fitting = [high for high in heights if sum(self.buffers_with(high).values()) <= USABLE_3D]
        return self.buffers_with(max(fitting, default=1))


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


def conv3d(program: Program) -> Buffers | None:
    """Bytes per core: patches in rows and in tiles, weights, sums, and the input of a block where that has room."""
    sizes = {name: int(size) for name, size in _FIELD.findall(program.settings.get("config", ""))}
    triples = [tuple(map(int, numbers)) for numbers in _TRIPLES.findall(program.attributes)]
    if len(sizes) < _FIELDS_3D or len(triples) <= _DILATION or program.machine.arch != "wormhole_b0":
        return None
    if _SPLIT_3D.search(program.settings["config"]) or not _ONE_GROUP.search(program.attributes):
        return None
    kernel, stride = triples[_KERNEL], triples[_STRIDE]
    outputs = tuple(sizes[f"{axis}_out"] for axis in "THW")
    channels = sizes["C_in"] or program.x.shape[-1]
    parts = ceil(program.x.shape[-1] / channels)
    patches, columns = prod(outputs), ceil((sizes["C_out"] or program.out.shape[-1]) / TILE_SIDE)
    tile = program.x.tile_bytes
    blocks = _Blocks(
        rows=ceil(patches / TILE_SIDE),
        inner=ceil(prod(kernel) * channels / TILE_SIDE),
        columns=columns,
        patches=patches,
        tile=tile,
        partial=TILE_BYTES["FLOAT32"] if program.fp32 and parts > 1 else tile,
        parts=parts,
        bias=len(program.inputs) > _OPERANDS,
    )
    taken = blocks.fitted(DST_TILES_FP32 if program.fp32 else DST_TILES)
    if prod(kernel) == 1 or set(triples[_DILATION]) != {1}:
        return taken
    field = tuple((size - 1) * step + side for size, step, side in zip(outputs, stride, kernel, strict=True))
    point = int(channels * ELEMENT_BYTES[program.x.dtype])
    room = min(READ_AHEAD, USABLE_3D - sum(taken.values()))
    return {**taken, "READ_AHEAD": _read_ahead(program, field, point, room)}


def _read_ahead(program: Program, field: tuple[int, ...], point: int, room: int) -> int:
    """Bytes of the points that a block reads, and of rows of them that are gathered bank by bank; 0 without room.

    Rows are gathered (shards coalesced) where each is long enough for two points of every bank, and as many have room
    as there are banks.
    """
    deep, high, wide = field
    rows, row, banks = deep * high, wide * point, program.machine.dram_banks
    ahead = rows * row
    if ahead > room:
        return 0
    gathered = min(rows, (room - ahead) // row)
    is_whole = point == program.dram_row(program.x) and str(program.x.placement) == "DRAM INTERLEAVED"
    if not is_whole or wide < POINTS_OF_A_BANK * banks or gathered < min(rows, banks):
        return ahead
    return ahead + gathered * row
