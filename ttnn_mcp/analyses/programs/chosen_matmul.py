"""What TTNN chooses for a matmul of interleaved operands without a program config, by their sizes alone.

tt-metal ttnn/cpp/ttnn/operations/matmul/device/config/matmul_program_config.cpp (create_simple_matmul_program_config,
get_mcast_1d_config), as of 0.81.1; `analyses/from_graph/matmul_cores.py` has the cases that depend on L1 too.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.analyses.programs.matmul_config import NARROW


class Chosen(NamedTuple):
    """Blocks in tiles, before they are made smaller to fit L1; `one_sided`: 1D, which divides the longer side only."""

    one_sided: bool
    in0_block_w: int
    per_core_m: int
    per_core_n: int

    def cores(self, m: int, n: int) -> int:
        """How many cores work on an output of m x n tiles."""
        return ceil(m / self.per_core_m) * ceil(n / self.per_core_n)


def chosen_in_dram(m: int, k: int, n: int, grid: Grid) -> Chosen:
    """For operands and result in DRAM. 2D ones take K in as many steps as the grid has columns, else tile by tile."""
    x, y = grid
    if is_narrow(m, n, small=True):
        return one_sided(m, k, n, grid, mcast_in0=n > m)  # unmoved: a single tile is one block either way
    return Chosen(False, k // x if k % x == 0 else 1, ceil(m / y), ceil(n / x))


def one_sided(m: int, k: int, n: int, grid: Grid, *, mcast_in0: bool) -> Chosen:
    """get_mcast_1d_config: one side is divided over all cores, batches are not fused."""
    cores, width = grid[0] * grid[1], 2 if k % 2 == 0 else 1
    return Chosen(True, width, m, ceil(n / cores)) if mcast_in0 else Chosen(True, width, ceil(m / cores), n)


def is_narrow(rows: int, columns: int, *, small: bool) -> bool:
    """is_narrow_shape: the ratio of the sides in elements, by integer division; or a side of one tile."""
    return max(rows, columns) // min(rows, columns) > NARROW or (small and 1 in (rows, columns))
