"""A memory config with explicit shards: `ttnn.create_sharded_memory_config` wants a grid that divides the tensor.

It refuses a grid that does not divide the sides, and shards of part of a tile (ttnn/core.py and tt_metal's ShardSpec);
rounded up to whole tiles the last shard may be smaller, which TTNN 0.81.1 takes.
"""

from __future__ import annotations

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.ops.operand import Operand


def spread_config(operand: Operand, row: int, cores: int, *, wide: bool) -> str:
    """Shards of whole tiles of the operand at `row`, on as many of the cores as they fill; `wide` cuts the width."""
    sides = [int(operand.height[row]), int(operand.padded[row, 3])]
    whole = TILE_SIDE if wide or operand.layout[row] == "TILE" else 1
    across = sides[wide]
    sides[wide] = whole * -(-across // (whole * cores))
    return (
        f"ttnn.MemoryConfig(ttnn.TensorMemoryLayout.{'WIDTH' if wide else 'HEIGHT'}_SHARDED, ttnn.BufferType.L1, "
        f"ttnn.ShardSpec(ttnn.num_cores_to_corerangeset({-(-across // sides[wide])}, "
        f"device.compute_with_storage_grid_size(), True), ({sides[0]}, {sides[1]}), ttnn.ShardOrientation.ROW_MAJOR))"
    )


def block_config(operand: Operand, row: int, grid: Grid) -> str:
    """Blocks of whole tiles over as much of the grid as divides both sides; norms take no shards of rows alone.

    A side may be no whole tiles, as of tiles that are less high (ttnn.Tile).
    """
    high, wide = int(operand.height[row]), int(operand.padded[row, 3])
    y, x = (
        max(cores for cores in range(1, most + 1) if -(-side // TILE_SIDE) % cores == 0)
        for side, most in ((high, grid[1]), (wide, grid[0]))
    )
    return (
        f"ttnn.create_sharded_memory_config((1, 1, {high}, {wide}), core_grid=ttnn.CoreGrid(y={y}, x={x}), "
        "strategy=ttnn.ShardStrategy.BLOCK)"
    )
