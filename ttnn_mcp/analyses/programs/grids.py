"""Core grids: the columns and rows that a number of cores stands for."""

from __future__ import annotations

from ttnn_mcp.hardware import CARDS
from ttnn_mcp.readers.printed.nesting import PrintedStruct, parse_struct
from ttnn_mcp.run.chip import Chip

Grid = tuple[int, int]  # columns (x), rows (y)
DEFAULT_GRID: Grid = (8, 8)  # fits every Wormhole and Blackhole card: tt-metal's core descriptors


def grid_in(config: PrintedStruct | None) -> Grid | None:
    """The grid that a program config names; None where it names none."""
    grid = parse_struct(config.fields.get("compute_with_storage_grid_size", "")) if config else None
    x, y = (grid.number("x"), grid.number("y")) if grid else (None, None)
    return (x, y) if x and y else None


def worker_grid(chip: Chip) -> Grid | None:
    """The compute grid of the chip; None if no card of its architecture has so many cores, or if two such differ."""
    grids = {
        grid
        for card in CARDS
        if card.architecture == chip.arch
        for grid in card.grids
        if grid[0] * grid[1] == chip.worker_cores
    }
    return grids.pop() if len(grids) == 1 else None


def rectangle(cores: int, within: Grid) -> Grid | None:
    """The widest rectangle of that many cores that fits `within`; None if none fits."""
    columns, rows = within
    for x in range(min(cores, columns), 0, -1):
        if cores % x == 0 and cores // x <= rows:
            return x, cores // x
    return None


def most_cores_dividing(parts: int, within: Grid) -> Grid | None:
    """The largest rectangle whose cores divide `parts` (tiles of a row) evenly."""
    for cores in range(min(parts, within[0] * within[1]), 0, -1):
        if parts % cores == 0:
            grid = rectangle(cores, within)
            if grid:
                return grid
    return None


def even_share(columns: int, cores: int) -> int:
    """The least columns of tiles per core that divide them all, on at most `cores` cores.

    For 2D configs: 18 of 192 columns over 11 ran without an error and were wrong (PCC 0.03, CLM-8B's port in tt-metal),
    and tt-metal's tests divide N evenly (PR #48923). 1D ones that multicast the input run unevenly in many models.
    """
    return next(each for each in range(-(-columns // cores), columns + 1) if columns % each == 0)
