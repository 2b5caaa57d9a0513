"""What TTNN asks of a matmul whose first operand or output is sharded.

Source: the checks of tt-metal's matmul_device_operation.cpp, tensor_spec.cpp for shards that do not fit the tensor, and
the factories. Compared with TTNN 0.81.1 on mock devices of Wormhole and Blackhole.
"""

from __future__ import annotations

from math import ceil
from typing import Literal

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.records import dataclass

WRITES = {
    "2D": ("BLOCK_SHARDED",),
    "1D rows": ("WIDTH_SHARDED",),
    "1D columns": ("HEIGHT_SHARDED",),
    "Reuse": ("HEIGHT_SHARDED", "BLOCK_SHARDED"),
}
"""The layouts of a sharded output, per kind of program."""
TAKES = {**WRITES, "2D": ("BLOCK_SHARDED", "HEIGHT_SHARDED")}
"""The layouts of a sharded first operand, per kind of program."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard of the first operand in L1.

    Attributes:
        layout: how the operand is sharded.
        rows: its height in tiles.
        columns: its width in tiles; None where the report does not tell.
        grid: columns and rows of the cores that hold shards; None where the report does not tell.
    """

    layout: str
    rows: int
    columns: int | None
    grid: Grid | None = None


@dataclass(frozen=True, slots=True)
class MatmulAsked:
    """A matmul and its program config, sizes in tiles.

    Attributes:
        kind: "2D" and "1D" multicast; "Reuse" gives whole batches to each core.
        tiles: the operands.
        grid: columns and rows of compute_with_storage_grid_size.
        device_grid: columns and rows of the chip's grid; None where unknown.
        batch: matrices of the first operand if the second has as many; else 1, and `tiles.m` has all rows.
        block_h: out_block_h; None means per_core_M.
        block_w: out_block_w; None means per_core_N.
        output: layout of a sharded output; None if it is interleaved.
        output_grid: columns and rows of the cores that the call names for its sharded output; None if it names none.
        shard: shard of the first operand, if it is sharded in L1.
        bias_bytes: bytes of a tile of the bias; 0 without a bias.
    """

    kind: Literal["2D", "1D", "Reuse"]
    tiles: Tiles
    grid: Grid
    device_grid: Grid | None
    in0_block_w: int
    out_subblock_h: int
    out_subblock_w: int
    per_core_m: int
    per_core_n: int
    mcast_in0: bool = False
    batch: int = 1
    block_h: int | None = None
    block_w: int | None = None
    fp32: bool = False
    packer_l1: bool = False
    full_sync: bool = False
    output: str | None = None
    output_grid: Grid | None = None
    shard: Shard | None = None
    bias_bytes: float = 0.0

    @property
    def program(self) -> str:
        """The kind of program, 1D ones by the operand that they send around."""
        return self.kind if self.kind != "1D" else "1D rows" if self.mcast_in0 else "1D columns"


def operand_rules(plan: MatmulAsked) -> dict[str, bool]:
    """The rules for a sharded first operand, and whether each holds."""
    shard, taken = plan.shard, TAKES[plan.program]
    if shard is None:
        return {}
    if shard.layout not in taken:
        return {f"this program takes a first operand sharded as {' or '.join(taken)}": False}
    rules = {f"per_core_M is the {shard.rows} tiles of a shard's height": plan.per_core_m == shard.rows}
    whole = plan.tiles.k
    if plan.kind == "Reuse" or (plan.kind == "2D" and shard.layout == "HEIGHT_SHARDED"):
        rules[f"in0_block_w is the {whole} tiles of K"] = plan.in0_block_w == whole
        rules[f"a shard holds all {whole} tiles of K"] = shard.columns in (None, whole)
    elif shard.columns is not None:
        rules[f"in0_block_w divides the {shard.columns} tiles of a shard's width"] = (
            shard.columns % plan.in0_block_w == 0
        )
    return rules | (_holder_rules(plan, shard, shard.grid) if shard.grid else {})


def _holder_rules(plan: MatmulAsked, shard: Shard, grid: Grid) -> dict[str, bool]:
    """The rules about the cores that hold the shards of the first operand."""
    cores, most = grid[0] * grid[1], plan.grid[0] * plan.grid[1]
    if plan.program == "1D rows":
        return {f"at most the {most} cores of the grid hold shards": cores <= most}
    if plan.kind == "2D" and shard.layout == "HEIGHT_SHARDED":
        return {"the shards lie in one column of cores": grid[0] == 1}
    if plan.kind != "Reuse":
        return {}
    blocks = plan.batch * plan.tiles.m // plan.per_core_m
    return {f"{blocks} blocks of the output divide over the {cores} cores of the shards": blocks % cores == 0}


def output_rules(plan: MatmulAsked) -> dict[str, bool]:
    """The rules for a sharded output, and whether each holds."""
    if plan.output is None:
        return {}
    written, m, n = WRITES[plan.program], plan.tiles.m, plan.tiles.n
    rules = {
        "sharded output: out_subblock_w = per_core_N or out_subblock_h = 1": (
            plan.out_subblock_w == plan.per_core_n or plan.out_subblock_h == 1
        ),
        f"this program shards its output as {' or '.join(written)}": plan.output in written,
    }
    if plan.output == "WIDTH_SHARDED":
        rules[f"WIDTH_SHARDED output: per_core_M is the {m} tiles of M"] = plan.per_core_m == m
    if plan.program == "1D columns":
        rules[f"HEIGHT_SHARDED output: per_core_N is the {n} tiles of N"] = plan.per_core_n == n
    if plan.kind == "Reuse":
        return rules | _reuse_rules(plan)
    if plan.output_grid is not None:
        (x, y), (most_x, most_y) = plan.output_grid, plan.grid
        rules["memory_config keeps its shards within the {}x{} grid".format(*plan.grid)] = (
            x <= most_x and y <= most_y
        )
    return rules


def _reuse_rules(plan: MatmulAsked) -> dict[str, bool]:
    """The rules for a sharded output of blocks that lie one below the other, each the shard of one core."""
    blocks, (x, y) = ceil(plan.batch * plan.tiles.m / plan.per_core_m), plan.output_grid or plan.grid
    rules: dict[str, bool] = {}
    if plan.shard is not None:
        rules[f"the output is {plan.shard.layout} as the first operand"] = plan.output == plan.shard.layout
    if plan.output == "HEIGHT_SHARDED":
        rules[f"{blocks} blocks of the output fit its {x * y} cores"] = blocks <= x * y
    else:  # TTNN lays blocks along rows of cores where the operand's shards do, otherwise along columns
        most, other = (y, x) if plan.shard is not None else (x, y)
        fits = blocks <= most if plan.output_grid else blocks == 1 or (other == 1 and blocks <= most)
        rules[f"{blocks} blocks of the output fit {most} cores in a line"] = fits
    if plan.output_grid is not None and plan.shard is None:
        rules[f"{blocks} blocks of the output leave none of its {x * y} cores without one"] = blocks >= x * y
    return rules
