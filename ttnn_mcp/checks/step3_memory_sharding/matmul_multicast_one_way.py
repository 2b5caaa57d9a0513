"""A matmul over several rows of tiles multicasts one operand only, so each core computes all rows of its columns.

A 1D config passes the activation on to all cores and gives each its own columns of the weights. From 4 rows of tiles on
a 2D config, which divides both sides of the output, was quicker (118 us became 75, tt-metal's optimization skill).

The line: 5 us and more, at under 35 % of the roofline, 1D (mcast_in0) over 4 rows of tiles and more; 1 % of the window
to save: a trial. The bound is the roofline: arithmetic on all cores, DRAM at achievable bandwidth.

Silent about rings and sharded activations, whose shards choose the cores, and about matmuls of attention that is
written out. The fix names compute_kernel_config because a config alone lowers bfloat16 to LoFi (#55889).
"""

from __future__ import annotations

from ttnn_mcp.checks.check import Affected, Problems, WindowFacts, Words
from ttnn_mcp.checks.shared.matmul_blocks import (
    ROWS_FOR_2D,
    block_check,
    config_to_try,
    far_from_roofline,
    multicasts_one_way,
    short_of_roofline,
)


@block_check(title="matmuls multicast one way over many rows")
def look(facts: WindowFacts) -> Problems:
    """Yield all such matmuls."""
    yield from short_of_roofline(facts, multicasts_one_way(facts), _tell, two_sided=True)


def _tell(ops: Affected) -> Words:
    problem = f"{ops.verb('multicast')} one way (1D) over {ROWS_FOR_2D} rows of tiles and more"
    return far_from_roofline(ops, problem, fix=config_to_try(ops.facts, ops.row, two_sided=True))
