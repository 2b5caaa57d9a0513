"""A conv computes its output in more blocks than L1 makes necessary.

Each core's part of the output is Ph tiles high and is computed Bh tiles at a time (`act_block_h_override` = 32 x Bh;
0, the default, means all of Ph). Every block reads the weights again and has to fill and drain the pipeline. In one
DeepLabV3+ run on Blackhole the same conv took 103 us with Bh 2 and 69 us with Bh 4 of 8.

The line: a larger divisor of Ph fits L1, by the conv's own circular-buffer formulas (ttnn conv2d program
factories), with 5 % of the limit kept free, and the possible saving is 1 % of the window. Larger is not always
more L1: HEIGHT_SHARDED with several blocks keeps the weights of all window rows, with one block of a single row.

Silent if Bh is already Ph and if no larger block fits. WIDTH_SHARDED convs take the setting too (TTNN 0.81.1 on mock
chips), but only blocks that divide the whole tiles of their rows. The bound assumes that all time above the roofline
is proportional to the blocks: an upper bound, seldom reached. SDXL's UNet went from 995 to 672 ms with larger blocks,
double buffers and fewer reshards together (tt-metal PR #22727).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.programs.convs import Conv, larger_block
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG
from ttnn_mcp.checks.needs import BLOCK_CONFIG, L1_LIMIT
from ttnn_mcp.checks.shared.conv_ops import candidates, cite_height, conv_check, grown, l1_caveat
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth


@conv_check(
    title="conv blocks smaller than L1 allows",
    lever=CONV_CONFIG,
    principal=True,
    needs=(BLOCK_CONFIG, L1_LIMIT),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all convs whose block can grow."""
    rows, larger = candidates(facts, lambda conv: larger_block(conv, facts.safe_l1_bytes))
    left = facts.convs.numbers(lambda conv: larger[conv].blocks / conv.blocks if conv in larger else None)
    per_block = facts.kernel_ns - least_ns(facts)
    saved = per_block[rows] * (1 - left[np.isfinite(left)])
    yield Problem(rows, saved, sets=grown, tell=partial(_tell, larger))


def _tell(larger: dict[Conv, Conv], ops: Affected) -> Words:
    facts, convs = ops.facts, ops.facts.convs
    row, conv = convs.configured(ops.examples)[0]
    to, tuned = larger[conv], len(convs.where(lambda conv: conv.block_h >= conv.per_core_h))
    return Words(
        claim=(
            f"{len(ops.rows)} of {len(convs.rows)} convs ({ops.time}) run in more blocks than L1 needs ({tuned} are at "
            f"the maximum): line {ops.line} has Bh {conv.block_h} of {conv.per_core_h} tiles, {to.block_h} fits"
        ),
        assumption="time above the roofline is paid once per block",
        evidence=(*cite_height(facts, row), *cite_op(facts, row)),
        fix=ops.with_only(grown).conv_text,
        verify=f"op_detail(op={ops.line}) shows the new block, kernel_us falls",
        caveat=l1_caveat(facts, conv),
    )
