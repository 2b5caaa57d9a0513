"""How evenly a conv's output can be dealt out over the grid: tiles of the busiest core, as it is and at best."""

from __future__ import annotations

from math import ceil, isqrt

from ttnn_mcp.analyses.conv_l1 import BLOCK, HEIGHT, Conv
from ttnn_mcp.hardware import CARDS


def grid_of(cores: int, arch: str | None) -> tuple[int, int]:
    """(columns, rows) of a grid with that many cores: of a card that has it, else the squarest."""
    known = [
        grid for card in CARDS if card.architecture == arch for grid in card.grids if grid[0] * grid[1] == cores
    ]
    if known:
        return known[0]
    rows = next(side for side in range(isqrt(cores), 0, -1) if cores % side == 0)
    return cores // rows, rows


def tiles_of_busiest_core(conv: Conv) -> int:
    """Output tiles of the busiest core."""
    return conv.per_core_h * conv.per_core_w


def least_tiles(conv: Conv, out_rows: int, out_columns: int, grid: tuple[int, int]) -> int:
    """The same in the conv's layout with the whole grid at its disposal; output size in tiles."""
    x, y = grid
    if conv.layout == HEIGHT:
        return ceil(out_rows / (x * y)) * conv.per_core_w
    if conv.layout == BLOCK:
        return min(ceil(out_rows / a) * ceil(out_columns / b) for a, b in ((x, y), (y, x)))
    return conv.per_core_h * ceil(out_columns / (x * y))
