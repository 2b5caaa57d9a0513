"""Suggests a program for products of many matrices with as many: scores and context of an attention written out.

`MatmulMultiCoreReuseProgramConfig` gives each core whole rows of tiles of one product, or whole products. TTNN shares
out its own choice by blocks of the output; of one or two tiles of N few blocks are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32

if TYPE_CHECKING:
    from ttnn_mcp.analyses.programs.grids import Grid
    from ttnn_mcp.analyses.programs.matmul_config import Tiles


def suggested_products(
    tiles: Tiles, batch: int, grid: Grid, room: float, *, fp32: bool, packer_l1: bool
) -> MatmulPlan | None:
    """The config on most cores whose buffers fit `room` bytes; None if none does. `tiles.m` is that of one product.

    A core gets one block: builds before 0.81 compute wrong values with more (see `MatmulPlan.wrong_values`).
    """
    cores, dst = grid[0] * grid[1], DST_TILES_FP32 if fp32 else DST_TILES
    parts = [rows for rows in range(1, tiles.m + 1) if tiles.m % rows == 0]
    wholes = [tiles.m * products for products in range(2, batch + 1) if batch % products == 0]
    rows = next(rows for rows in (*parts, *wholes) if batch * tiles.m // rows <= cores)
    wide = max(side for side in range(1, min(dst, tiles.n) + 1) if tiles.n % side == 0)
    of_one = min(rows, tiles.m)
    high = max(side for side in range(1, min(dst // wide, of_one) + 1) if of_one % side == 0)
    whole = MatmulPlan(
        "Reuse", tiles, grid, grid, tiles.k, high, wide, rows, tiles.n, batch=batch, fp32=fp32, packer_l1=packer_l1
    )
    depths = [depth for depth in range(tiles.k, 0, -1) if tiles.k % depth == 0]
    plans = (replace(whole, in0_block_w=depth) for depth in depths)
    return next((plan for plan in plans if sum(plan.buffers.values()) <= room and all(plan.rules().values())), None)
