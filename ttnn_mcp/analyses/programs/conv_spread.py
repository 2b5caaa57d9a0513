"""How TTNN distributes a Conv2d over the cores of a grid, and the block that it then chooses.

The rules are those of tt-metal's ttnn/cpp/ttnn/operations/conv/conv2d/conv2d_utils.cpp (determine_parallel_config,
determine_output_parallel_config, get_conv_configs, determine_per_core_conv_block_config). They were compared with
TTNN 0.81.1 on mock devices of both architectures.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv, divisors
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.records import dataclass

ROW_MAJOR_ALIGNMENT = 8  # channels: 16 bytes of L1 in the smallest format, BFLOAT16 (get_input_channels_alignment)


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a conv over cores.

    Attributes:
        cores: cores along rows, input channels and output channels.
        per_core_h: tiles of output height per core.
        per_core_w: tiles of output width per core.
        whole_tiles: tiles of rows per core that the block must divide; WIDTH counts only whole tiles.
        channels: channels of the input, padded so that all cores have the same number.
    """

    cores: tuple[int, int, int]
    per_core_h: int
    per_core_w: int
    whole_tiles: int
    channels: int


@dataclass(frozen=True, slots=True)
class Channels:
    """Input and output channels of a conv; the input's are padded to a multiple of `alignment`."""

    input: int
    output: int
    alignment: int = ROW_MAJOR_ALIGNMENT


def spread_of(
    layout: str,
    window: ConvWindow,
    channels: Channels,
    grid: tuple[int, int],
    *,
    tiles: int = 1,
    transposed: bool = False,
) -> Spread:
    """The distribution that TTNN chooses for an input that it has to shard itself.

    Args:
        layout: HEIGHT_SHARDED, BLOCK_SHARDED or WIDTH_SHARDED.
        window: the sliding window.
        channels: the channels.
        grid: columns and rows of the device's grid.
        tiles: tiles of output height per block that the caller set: a core gets a multiple of it; 1 if none was set.
        transposed: whether rows are distributed along the columns of the grid (transpose_shards).
    """
    x, y = grid
    rows = ceil(window.rows / TILE_SIDE)
    columns = ceil(channels.output / TILE_SIDE)
    alignment = TILE_SIDE if layout == WIDTH else channels.alignment
    if layout == HEIGHT:
        cores = (evenly(rows, x * y, max(tiles, 1)), 1, 1)
    elif layout == BLOCK:
        down, across = (x, y) if transposed else (y, x)
        shares = ceil(channels.input / alignment)
        cores = (evenly(rows, down, max(tiles, 1)), evenly(shares, across), evenly(columns, across))
    else:
        cores = (1, evenly(ceil(channels.input / TILE_SIDE), x * y), evenly(columns, x * y))
    # the rows of HEIGHT and BLOCK are padded to whole tiles on every core, WIDTH's are not
    per_core = window.rows if layout == WIDTH else TILE_SIDE * ceil(window.rows / (cores[0] * TILE_SIDE))
    return Spread(
        cores=cores,
        per_core_h=ceil(per_core / TILE_SIDE),
        per_core_w=ceil(channels.output / (cores[2] * TILE_SIDE)),
        whole_tiles=per_core // TILE_SIDE,
        channels=ceil(channels.input / (cores[1] * alignment)) * cores[1] * alignment,
    )


def evenly(parts: int, most: int, multiple: int = 1) -> int:
    """The most cores that need less padding than one core's share: find_closest_largest_divisor_with_num_padding."""
    for cores in range(most, 1, -1):
        padded = ceil(parts / (cores * multiple)) * cores * multiple
        if padded - parts < padded // cores:
            return cores
    return 1


def block_height(whole_tiles: int, per_core_h: int, tiles: int) -> int:
    """Tiles of output height per block: `tiles`, or the next smaller divisor; for 0 a core's whole height."""
    if tiles <= 0:
        return per_core_h
    if whole_tiles == 0:  # fewer than 32 rows: 0 divided by any block leaves no remainder, so TTNN accepts it
        return tiles
    return max((size for size in divisors(whole_tiles) if size <= tiles), default=1)


def block_width(spread: Spread, layout: str, window: ConvWindow, *, divisor: int = 1) -> int:
    """Tiles of one block along the inner dimension: of a row of the window, where it is not WIDTH_SHARDED."""
    height, width = window.kernel
    if layout == WIDTH:
        return spread.channels * height * width // (spread.cores[1] * divisor) // TILE_SIDE
    return ceil(spread.channels // spread.cores[1] * width / TILE_SIDE)


def width_rules(spread: Spread, window: ConvWindow, block: tuple[int, int]) -> dict[str, bool]:
    """The rules for the block (height, width) of a WIDTH_SHARDED conv, in words, and whether each holds.

    conv2d_op_width_sharded_program_factory.cpp of 0.81.1, lines 230 to 255.
    """
    inner = spread.channels * window.kernel[0] * window.kernel[1] // TILE_SIDE
    height, width = block
    wide = width > 0 and inner % width == 0
    return {
        f"WIDTH_SHARDED: {spread.per_core_h} tiles of output height divide into blocks of {height}": (
            spread.per_core_h % height == 0
        ),
        f"WIDTH_SHARDED: {inner} tiles of the inner dimension divide into blocks of {width}": wide,
        f"WIDTH_SHARDED: the blocks of the inner dimension divide over {spread.cores[1]} cores": (
            not wide or (inner // width) % spread.cores[1] == 0
        ),
    }


def spread_anew(conv: Conv, window: ConvWindow, channels: Channels, grid: tuple[int, int], tiles: int) -> Conv:
    """The conv after TTNN distributed its rows again for blocks of `tiles`; 0 means a core's whole height."""
    distribution = spread_of(conv.layout, window, channels, grid, tiles=max(tiles, 1), transposed=conv.transposed)
    spread = replace(
        conv,
        block_h=block_height(distribution.whole_tiles, distribution.per_core_h, tiles),
        per_core_h=distribution.per_core_h,
        cores=(distribution.cores[0], *conv.cores[1:]),
    )
    growth = (spread.halo_bytes or 0) - (conv.halo_bytes or 0)
    return replace(spread, allocated_bytes=max(conv.allocated_bytes + growth, 0))
