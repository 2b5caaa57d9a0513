"""The shard of a matmul's first operand: as a report tells it, or as far as it follows from the config that ran."""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.analyses.programs.matmul_shards import Shard
from ttnn_mcp.analyses.settings.held import Bounds
from ttnn_mcp.analyses.settings.trial import Op
from ttnn_mcp.hardware import TILE_SIDE


def first_shard(op: Op, kind: str, tiles: Tiles, per_m: int, block: int) -> Shard | None:
    """The first operand's shard as a report tells it, or as far as it follows from the config that ran.

    TTNN takes shards on more or fewer columns of cores than the config's grid has, so their width does not follow. It
    ran with in0_block_w `block`, which divides it.
    """
    if not first_in_shards(op):
        return None
    layout, tiles_told = op.table.inputs[0].placement[0].partition("_")[2], told_tiles(op)
    if tiles_told is not None and tiles_told[0] == per_m and tiles_told[1] % block == 0:
        return Shard(layout, *tiles_told)
    holds_rows = layout == "HEIGHT_SHARDED" or kind == "Reuse"
    return Shard(layout, per_m, tiles.k if holds_rows else None)


def told_tiles(op: Op) -> tuple[int, int] | None:
    """Rows and columns, in tiles, of the first operand's shard as a report tells it."""
    shard = op.shards.get("INPUT_0")
    return (ceil(shard[0] / TILE_SIDE), ceil(shard[1] / TILE_SIDE)) if shard else None


def first_bytes(op: Op, shard: Shard, tiles: Tiles) -> Bounds:
    """Bytes of the first operand's shard; one of unknown width is at most a whole row, and at least a core's share."""
    least = shard.columns or ceil(tiles.k / (op.chip.cores or tiles.k))
    return int(shard.rows * least * tiles.a_bytes), int(shard.rows * (shard.columns or tiles.k) * tiles.a_bytes)


def first_in_shards(op: Op) -> bool:
    """Whether cores hold shards of the first operand."""
    a = op.table.inputs[0]
    return bool(a.in_l1[0] and a.sharded[0])
