"""The call of a group norm on the most cores that its shape allows, and the groups that TTNN computes wrongly."""

from __future__ import annotations

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.programs.group_norms import GroupNorm, on_most_cores
from ttnn_mcp.checks.check import Mask, Rows, WindowFacts
from ttnn_mcp.hardware import TILE_SIDE

CHOSEN = (
    "ttnn.group_norm without core_grid and num_out_blocks: TTNN 0.81.1 chooses both; on older builds a grid whose "
    "columns cut the channels into whole groups and whose rows divide the rows of tiles"
)


def group_norm_call(facts: WindowFacts, row: int) -> str:
    """The call with its grid and blocks; words where its groups are not printed or nothing is known to fit."""
    x, groups = facts.ops.inputs[0], facts.attributes(row).number("num_groups")
    modelled = x.layout[row] == "TILE" and x.dtype[row] == "BFLOAT16" and not x.sharded[row]
    grid = worker_grid(facts.chip)
    if not groups or not modelled or grid is None:
        return CHOSEN
    tiles = int(x.height[row]) // TILE_SIDE
    now = GroupNorm(int(x.padded[row, 0]), tiles, int(x.padded[row, 3]), int(groups), grid, 1, device_grid=grid)
    norm = on_most_cores(now, grid, facts.safe_l1_bytes)
    if norm is None:
        return CHOSEN
    return (
        f"ttnn.group_norm(x, num_groups={groups}, core_grid=ttnn.CoreGrid(y={norm.grid[1]}, x={norm.grid[0]}), "
        f"num_out_blocks={norm.out_blocks}, inplace=False, ...), with mask, weight and bias made for that grid: "
        "ttnn.dram_group_norm_params_from_torch"
    )


def narrow_groups(facts: WindowFacts, rows: Rows) -> Mask:
    """Interleaved group norms whose groups are narrower than a tile: wrong without use_welford (tt-metal #53803)."""
    x = facts.ops.inputs[0]
    groups = attributes_of(facts.ops).numbers(rows, lambda attributes: attributes.number("num_groups"))
    return ~x.sharded[rows] & (x.logical[rows, 3] < TILE_SIDE * groups)
