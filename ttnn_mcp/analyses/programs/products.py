"""Suggests a program for products of many matrices with as many: scores and context of an attention written out.

`MatmulMultiCoreReuseProgramConfig` gives each core whole rows of tiles of one product, or whole products. TTNN shares
out its own choice by blocks of the output; of one or two tiles of N few blocks are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.programs.convs import divisors
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import widest_subblock

if TYPE_CHECKING:
    from ttnn_mcp.analyses.programs.grids import Grid
    from ttnn_mcp.analyses.programs.matmul_config import Tiles


def suggested_products(
    tiles: Tiles, batch: int, grid: Grid, room: float, *, fp32: bool, packer_l1: bool
) -> MatmulPlan | None:
    """The config on most cores whose buffers fit `room` bytes; `tiles.m` is that of one product.

    None if none fits, where a side is no whole tile, and of sizes that no tensor on a chip has. A core gets one block:
    builds before 0.81 compute wrong values with more (see `MatmulPlan.wrong_values`).
    """
    if min(tiles.m, tiles.k, tiles.n) < 1:
        return None
    shares = (*divisors(tiles.m), *(tiles.m * products for products in divisors(batch)[1:]))
    rows = next((rows for rows in shares if batch * tiles.m // rows <= grid[0] * grid[1]), None)
    if rows is None:
        return None
    high, wide = widest_subblock(min(rows, tiles.m), tiles.n, fp32=fp32)
    whole = MatmulPlan(
        "Reuse", tiles, grid, grid, tiles.k, high, wide, rows, tiles.n, batch=batch, fp32=fp32, packer_l1=packer_l1
    )
    plans = (replace(whole, in0_block_w=depth) for depth in reversed(divisors(tiles.k)))
    return next((plan for plan in plans if sum(plan.buffers.values()) <= room and all(plan.rules().values())), None)
