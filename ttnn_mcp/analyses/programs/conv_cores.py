"""How a conv's output can be distributed over the grid: tiles on the busiest core, and L1 use in another layout."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, isqrt

from ttnn_mcp.analyses.programs.conv_spread import Channels, block_width, spread_of
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv, divisors
from ttnn_mcp.hardware import CARDS, TILE_SIDE
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """A conv's matrix product in tiles, and the bytes of its input."""

    rows: int
    columns: int
    inner: int
    input_bytes: float


def grid_of(cores: int, arch: str | None) -> tuple[int, int]:
    """(columns, rows) of a grid with so many cores: that of a card if one has it, otherwise the squarest."""
    known_grids = [
        grid for card in CARDS if card.architecture == arch for grid in card.grids if grid[0] * grid[1] == cores
    ]
    if known_grids:
        return known_grids[0]
    rows = next(side for side in range(isqrt(cores), 0, -1) if cores % side == 0)
    return cores // rows, rows


def tiles_of_busiest_core(conv: Conv) -> int:
    """Output tiles of the busiest core."""
    return conv.per_core_h * conv.per_core_w


def least_tiles(conv: Conv, size: Size, grid: tuple[int, int]) -> int:
    """Output tiles of the busiest core if the conv, in its layout, used the whole grid."""
    x, y = grid
    if conv.layout == HEIGHT:
        return ceil(size.rows / (x * y)) * conv.per_core_w
    if conv.layout == BLOCK:
        return min(_of_block(size, grid), _of_block(size, (y, x)))
    return conv.per_core_h * ceil(size.columns / (x * y))


def should_transpose(conv: Conv, size: Size, grid: tuple[int, int]) -> bool:
    """Whether the busiest core of a BLOCK_SHARDED conv has fewer tiles with rows along the grid's columns.

    That is `transpose_shards=True`: without it TTNN 0.81.1 cuts the rows over the grid's rows (tried on a mock device).
    """
    x, y = grid
    return conv.layout == BLOCK and _of_block(size, (y, x)) < _of_block(size, grid)


def _of_block(size: Size, grid: tuple[int, int]) -> int:
    """Tiles of the busiest core with the output's rows cut over the grid's rows."""
    x, y = grid
    return ceil(size.rows / y) * ceil(size.columns / x)


def in_layout(conv: Conv, layout: str, size: Size, grid: tuple[int, int], *, transposed: bool = False) -> Conv:
    """The conv in a layout on the whole grid, for HEIGHT and BLOCK with the smallest block.

    Distributed as TTNN does it where the window is printed; otherwise by the sizes in tiles. With `transposed` the rows
    of BLOCK lie along the grid's columns.
    """
    if conv.window is None or not conv.input_channels:
        return replace(
            _by_tiles(conv, layout, size, (grid[1], grid[0]) if transposed else grid), transposed=transposed
        )
    channels = Channels(conv.input_channels, TILE_SIDE * size.columns)
    spread = spread_of(layout, conv.window, channels, grid, transposed=transposed)
    rows = 1 if layout == WIDTH else conv.kernel_h
    changed = replace(
        conv,
        layout=layout,
        block_h=spread.per_core_h if layout == WIDTH else 1,
        block_w=block_width(spread, layout, conv.window),
        per_core_h=spread.per_core_h,
        per_core_w=spread.per_core_w,
        inner_blocks=rows * spread.cores[1],
        cores=spread.cores,
        allocated_said=False,
        transposed=transposed,
        weights_double=conv.weights_double and layout != HEIGHT,  # one block of weights serves all rows of a core
    )
    return replace(changed, allocated_bytes=changed.halo_bytes or 0)


def _by_tiles(conv: Conv, layout: str, size: Size, grid: tuple[int, int]) -> Conv:
    x, y = grid
    down, across = {HEIGHT: (x * y, 1), WIDTH: (1, x * y)}.get(layout, (y, x))
    rows = 1 if layout == WIDTH else conv.kernel_h
    return replace(
        conv,
        layout=layout,
        block_h=size.rows if layout == WIDTH else 1,
        block_w=ceil(size.inner / (rows * across)),
        per_core_h=ceil(size.rows / down),
        per_core_w=ceil(size.columns / across),
        inner_blocks=rows * across,
        cores=(down, across, across),
        allocated_bytes=ceil(size.input_bytes / (down * across)),
        allocated_said=False,
        weights_double=conv.weights_double and layout != HEIGHT,
    )


def fits_in(conv: Conv, layout: str, size: Size, grid: tuple[int, int], safe_bytes: float) -> bool:
    """Whether the conv would fit L1 in another layout on the whole grid, with any legal block height."""
    changed = in_layout(conv, layout, size, grid)
    return any(
        replace(changed, block_h=height).total_bytes <= safe_bytes for height in divisors(changed.per_core_h)
    )
