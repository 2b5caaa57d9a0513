"""A conv leaves cores idle although its output has enough tiles for them.

A conv takes as long as its busiest core. A fixed 8 x 8 grid on a chip of 110 cores, padding to a divisor, or an
`act_block_h_override` that rounds rows up make that core do more than its share.

The line: with the whole grid and the same shard layout the busiest core would have at least a fifth fewer output
tiles, in no more blocks than its present cores could take, and the saving is 1 % of the window. The bound takes time in
proportion to the busiest core's tiles, and never below the roofline. It counts whole tiles: 64 tiles of rows on 110
cores leave 46 idle, but nothing can be gained. If the report does not state the grid, the largest number of cores of
any op stands for it (a lower bound). Without `transpose_shards=True` TTNN 0.81.1 cuts the rows of a BLOCK_SHARDED conv
over the grid's rows: on 5 x 4 cores into four, with it into five (a mock device). Silent about layouts: another one may
use more cores (conv-shard-layout-slow).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.convs import share_on_grid
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG, PROGRAM
from ttnn_mcp.checks.needs import BLOCK_CONFIG, CORES
from ttnn_mcp.checks.op_config import Sets, present
from ttnn_mcp.checks.shared.conv_ops import conv_check, on_grid, whole_grid
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import first_rows, numbered

FEWER = 0.8  # of the tiles: a fifth less work on the busiest core (ours)


@conv_check(
    title="conv leaves cores idle",
    lever=CONV_CONFIG,
    slot=PROGRAM,
    principal=True,
    needs=(BLOCK_CONFIG, CORES),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all convs with work to deal out better."""
    grid = whole_grid(facts)
    share, sets = share_on_grid(facts.ops, grid), partial(on_grid, grid=grid)
    few = share <= FEWER
    rows, kept = facts.convs.rows[few], share[few]
    alike = numbered(len(rows), [signatures(facts.ops)[rows], facts.convs.kinds[few]])
    firsts = rows[first_rows(alike)].tolist()
    able = np.array([sets(present(facts, row)) is not None for row in firsts], dtype=np.bool_)[alike]
    rows, kept = rows[able], kept[able]
    took = facts.kernel_ns[rows]
    saved = took - np.maximum(took * kept, least_ns(facts)[rows])
    yield Problem(rows, saved, sets=sets, tell=partial(_tell, kept, sets))


def _tell(kept: Floats, sets: Sets, ops: Affected) -> Words:
    facts, row, (x, y) = ops.facts, ops.row, whole_grid(ops.facts)
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) {ops.verb('leave')} idle cores that could share the work: {ops.example} uses "
            f"{figure(facts.ops.numbers('cores')[row], '.0f')} of {x * y}; its busiest "
            f"core would have {figure(kept[ops.at], '.0%')} of "
            "its tiles"
        ),
        assumption="time is proportional to the output tiles of the busiest core; same shard layout",
        evidence=(*facts.cite(row, "cores"), *cite_op(facts, row)),
        fix=ops.with_only(sets).conv_text,
        verify=f"re-profile; op_detail(op={ops.line}) shows more cores and kernel_us falls, no new Reshard",
        caveat=(
            "not with reshard_if_not_optimal; ttnn may round the grid to what channels divide into"
            if facts.chip.worker_cores
            else "no AVAILABLE WORKER CORE COUNT: the most cores any op used stand for the grid"
        ),
    )
