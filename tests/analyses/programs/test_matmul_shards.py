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


@for_all("layout", ["HEIGHT_SHARDED", "BLOCK_SHARDED"])
@for_all(("per_core_m", "block", "legal"), [(2, 8, True), (1, 8, False), (4, 8, False), (2, 4, False)])
def test_whole_batches_on_shards_leave_no_other_blocks(layout, per_core_m, block, legal):
    """As TTNN 0.81.1 refused them: a shard is one block."""
    plan = replace(BLOCKS, kind="Reuse", per_core_m=per_core_m, per_core_n=8, in0_block_w=block)
    plan = replace(plan, shard=Shard(layout, 2, 8))
    assert (not broken_of(plan.rules())) is legal
