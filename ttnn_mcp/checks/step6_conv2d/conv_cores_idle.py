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

import numpy as np

from ttnn_mcp.analyses.op_kinds.conv_cores import should_transpose
from ttnn_mcp.analyses.op_kinds.convs import share_on_grid, sizes_of
from ttnn_mcp.checks.check import Claim, Claims, WindowFacts
from ttnn_mcp.checks.needs import BLOCK_CONFIG, CORES
from ttnn_mcp.checks.shared.conv_ops import conv_check, whole_grid
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.wording import cite_op, example, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

FEWER = 0.8  # of the tiles: a fifth less work on the busiest core (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all convs with work to deal out better."""
    convs, (x, y) = facts.convs, whole_grid(facts)
    share = share_on_grid(facts.ops, (x, y))
    rows, kept = convs.rows[share <= FEWER], share[share <= FEWER]
    if not len(rows):
        return
    took = facts.kernel_ns[rows]
    row, conv = convs.configured(facts.heaviest(rows, 1))[0]
    transposed = should_transpose(conv, sizes_of(facts.ops, rows[rows == row])[0], (x, y))
    across = ", transpose_shards=True" if transposed else ""
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} ({time_of(facts, rows)}) leave idle cores that could share the work: "
            f"{example(facts, row)} uses {facts.ops.numbers('cores')[row]:.0f} of {x * y}; its busiest core would "
            f"have {kept[np.searchsorted(rows, row)]:.0%} of its tiles"
        ),
        rows=rows,
        at_most_ns=took - np.maximum(took * kept, least_ns(facts)[rows]),
        assumption="time is proportional to the output tiles of the busiest core; same shard layout",
        evidence=(*facts.cite(row, "cores"), *cite_op(facts, row)),
        fix=(
            f"ttnn.Conv2dConfig(override_sharding_config=True, shard_layout=ttnn.TensorMemoryLayout.{conv.layout}, "
            "core_grid=ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), "
            f"ttnn.CoreCoord({x - 1}, {y - 1}))}}){across}), without reshard_if_not_optimal"
        ),
        verify=f"re-profile; op_detail(op={facts.line(row)}) shows more cores and kernel_us falls, no new Reshard",
        caveat=(
            "ttnn may round the grid to what channels divide into"
            if facts.chip.worker_cores
            else "no AVAILABLE WORKER CORE COUNT: the most cores any op used stand for the grid"
        ),
    )


CHECK = conv_check(
    id="conv-cores-idle",
    title="conv leaves cores idle",
    look=look,
    needs=(BLOCK_CONFIG, CORES),
    worth=Worth(saving=USUAL),
)
