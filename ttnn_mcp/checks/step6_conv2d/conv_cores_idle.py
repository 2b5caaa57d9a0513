"""A conv leaves cores idle although its output has enough tiles for them.

A conv takes as long as its busiest core. A fixed 8 x 8 grid on a chip of 110 cores, padding to a divisor, or an
`act_block_h_override` that rounds rows up make that core do more than its share.

The line: with the whole grid and the same shard layout the busiest core would have at least a fifth fewer output
tiles, and the saving is 1 % of the window. The bound takes time in proportion to the busiest core's tiles, and never
below the roofline. It counts whole tiles: 64 tiles of rows on 110 cores leave 46 idle, but nothing can be gained. If
the report does not state the grid, the largest number of cores of any op stands for it (a lower bound). Without
`transpose_shards=True` TTNN 0.81.1 cuts the rows of a BLOCK_SHARDED conv over the grid's rows: on 5 x 4 cores into
four, with it into five (a mock device). Silent about layouts: another one may use more cores (conv-shard-layout-slow).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.convs import share_on_grid, sizes_of
from ttnn_mcp.analyses.programs.conv_cores import should_transpose
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG, PROGRAM
from ttnn_mcp.checks.needs import BLOCK_CONFIG, CORES
from ttnn_mcp.checks.shared.conv_ops import conv_check, whole_grid
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth

FEWER = 0.8  # of the tiles: a fifth less work on the busiest core (ours)


def look(facts: WindowFacts) -> Problems:
    """Yield all convs with work to deal out better."""
    share = share_on_grid(facts.ops, whole_grid(facts))
    rows, kept = facts.convs.rows[share <= FEWER], share[share <= FEWER]
    took = facts.kernel_ns[rows]
    yield Problem(rows, took - np.maximum(took * kept, least_ns(facts)[rows]), tell=partial(_tell, kept))


def _tell(kept: Floats, ops: Affected) -> Words:
    facts, (x, y) = ops.facts, whole_grid(ops.facts)
    row, conv = facts.convs.configured(ops.examples)[0]
    of_row = ops.rows == row
    transposed = should_transpose(conv, sizes_of(facts.ops, ops.rows[of_row])[0], (x, y))
    across = ", transpose_shards=True" if transposed else ""
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) leave idle cores that could share the work: {ops.example} uses "
            f"{facts.ops.numbers('cores')[row]:.0f} of {x * y}; its busiest core would have {kept[of_row][0]:.0%} of "
            "its tiles"
        ),
        assumption="time is proportional to the output tiles of the busiest core; same shard layout",
        evidence=(*facts.cite(row, "cores"), *cite_op(facts, row)),
        fix=(
            f"ttnn.Conv2dConfig(override_sharding_config=True, shard_layout=ttnn.TensorMemoryLayout.{conv.layout}, "
            "core_grid=ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), "
            f"ttnn.CoreCoord({x - 1}, {y - 1}))}}){across}), without reshard_if_not_optimal"
        ),
        verify=f"re-profile; op_detail(op={ops.line}) shows more cores and kernel_us falls, no new Reshard",
        caveat=(
            "ttnn may round the grid to what channels divide into"
            if facts.chip.worker_cores
            else "no AVAILABLE WORKER CORE COUNT: the most cores any op used stand for the grid"
        ),
    )


CHECK = conv_check(
    title="conv leaves cores idle",
    look=look,
    lever=CONV_CONFIG,
    slot=PROGRAM,
    principal=True,
    needs=(BLOCK_CONFIG, CORES),
    worth=Worth(saving=USUAL),
)
