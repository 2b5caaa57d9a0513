"""Shards of which a report does not tell the width or the cores: only what follows from the rest is a rule."""

from __future__ import annotations

from dataclasses import replace

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.analyses.programs.matmul_shards import Shard
from ttnn_mcp.analyses.settings.trial import broken_of

BLOCKS = MatmulPlan("2D", Tiles(16, 8, 8, 2048, 2048, 2048), (8, 8), (8, 8), 2, 1, 1, 2, 1)


@for_all(("columns", "broken"), [(None, ()), (4, ()), (1, ("in0_block_w divides the 1 tiles of a shard's width",))])
def test_a_width_that_is_not_told_is_no_rule(columns, broken):
    plan = replace(BLOCKS, shard=Shard("BLOCK_SHARDED", 2, columns))
    assert broken_of(plan.rules()) == broken


REUSE = replace(BLOCKS, kind="Reuse", per_core_m=2, per_core_n=8, in0_block_w=8)
SHARD = Shard("HEIGHT_SHARDED", 2, 8)
WIDE = replace(BLOCKS, kind="1D", tiles=replace(BLOCKS.tiles, m=2), mcast_in0=True)
LINE = replace(REUSE, output="BLOCK_SHARDED", grid=(1, 8))


@for_all(
    ("plan", "broken"),
    [
        (replace(REUSE, shard=replace(SHARD, columns=4)), ("a shard holds all 8 tiles of K",)),
        (replace(WIDE, shard=Shard("WIDTH_SHARDED", 2, 2, (8, 8))), ()),
        (
            replace(WIDE, grid=(8, 4), shard=Shard("WIDTH_SHARDED", 2, 2, (8, 5))),
            ("at most the 32 cores of the grid hold shards",),
        ),
        (replace(REUSE, shard=replace(SHARD, grid=(1, 8))), ()),
        (
            replace(REUSE, batch=2, shard=replace(SHARD, grid=(3, 1))),
            ("16 blocks of the output divide over the 3 cores of the shards",),
        ),
        (
            replace(REUSE, output="HEIGHT_SHARDED", shard=replace(SHARD, layout="BLOCK_SHARDED")),
            ("the output is BLOCK_SHARDED as the first operand",),
        ),
        (replace(REUSE, output="HEIGHT_SHARDED", grid=(2, 4)), ()),
        (replace(REUSE, output="HEIGHT_SHARDED", grid=(2, 3)), ("8 blocks of the output fit its 6 cores",)),
        (replace(REUSE, output="HEIGHT_SHARDED", output_grid=(2, 4)), ()),
        (
            replace(REUSE, output="HEIGHT_SHARDED", output_grid=(3, 3)),
            ("8 blocks of the output leave none of its 9 cores without one",),
        ),
        (replace(LINE, grid=(8, 1)), ()),
        (replace(LINE, grid=(7, 1)), ("8 blocks of the output fit 7 cores in a line",)),
        (replace(LINE, output_grid=(8, 1)), ()),
        (replace(LINE, output_grid=(7, 1)), ("8 blocks of the output fit 7 cores in a line",)),
    ],
    ids=lambda each: "",
)
def test_shards_and_blocks_fit_one_another_and_their_cores(plan, broken):
    assert broken_of(plan.rules()) == broken


@for_all("layout", ["HEIGHT_SHARDED", "BLOCK_SHARDED"])
@for_all(("per_core_m", "block", "legal"), [(2, 8, True), (1, 8, False), (4, 8, False), (2, 4, False)])
def test_whole_batches_on_shards_leave_no_other_blocks(layout, per_core_m, block, legal):
    """As TTNN 0.81.1 refused them: a shard is one block."""
    plan = replace(BLOCKS, kind="Reuse", per_core_m=per_core_m, per_core_n=8, in0_block_w=block)
    plan = replace(plan, shard=Shard(layout, 2, 8))
    assert (not broken_of(plan.rules())) is legal


@for_all(
    ("tried", "block", "subblock", "suits"),
    [
        ("in0_block_w", (2, 4), (1, 1), (2, 4)),  # whole rows of a shard
        ("out_subblock_w", (2, 8), (1, 4), (1, 4)),  # parts of rows: one row at a time
        ("out_subblock_h", (2, 8), (2, 1), (2, 4)),  # the height that is tried stays, and a rule refuses it
    ],
)
def test_the_largest_subblock_writes_a_shard_row_by_row(tried, block, subblock, suits):
    sides = dict(
        zip(("per_core_m", "per_core_n", "out_subblock_h", "out_subblock_w"), block + subblock, strict=True)
    )
    plan = replace(BLOCKS, output="BLOCK_SHARDED", **sides).with_suiting_subblock(tried)
    assert (plan.out_subblock_h, plan.out_subblock_w) == suits
