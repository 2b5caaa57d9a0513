"""An all-reduce is written as pad, reduce-scatter, all-gather and slice.

Where a dim does not split over the devices in whole tiles, models pad it, exchange it and cut the padding off again.
`ttnn.all_reduce` takes the tensor as it is: with it in place of such a sequence a step of gpt-oss went from 10.7 to
14.7 tokens/s (tt-metal PR #38225).

The line: a reduce-scatter whose output one all-gather alone reads, with a Pad that only feeds the first or a Slice that
alone reads the second; those take 1 % of the window. The bound is their time: the exchange stays.

Silent on the two exchanges alone, which are what `ttnn.all_reduce` runs itself, and where somebody else reads what is
between. Pieces that TTNN makes itself are reduce-scatter-in-pieces. Not applicable with one device.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, axis_argument, reduced_and_gathered
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="an all-reduce with pads and slices around it",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(time=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all pads and slices around such exchanges."""
    makers, sole = facts.joins.makers, facts.joins.reader_counts == 1
    scatters, gathers = reduced_and_gathered(facts)
    before = makers[scatters]
    pads = before[facts.named("Pad")[before] & sole[before]]
    slices = np.flatnonzero(facts.named("Slice") & np.isin(makers, gathers[sole[gathers]]))
    rows = np.concatenate((pads, slices))
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, scatters, gathers))


def _tell(scatters: Rows, gathers: Rows, ops: Affected) -> Words:
    facts, scatter, gather = ops.facts, int(scatters[0]), int(gathers[0])
    return Words(
        claim=(
            f"All-reduces written as reduce-scatter and all-gather ({len(gathers)}x), with {len(ops.rows)} pads and "
            f"slices around ({ops.time}): {ops.example}"
        ),
        assumption="ttnn.all_reduce takes the tensor unpadded, and its exchange as long as now",
        also=(*facts.cite(scatter), *facts.cite(gather)),
        fix=f"x = ttnn.all_reduce(x{axis_argument(facts, scatter)}) on the unpadded tensor, in place of all four",
        verify="re-profile; the Pad and Slice rows are gone, device_balance.ccl_share falls; PCC >= 0.99 composed",
        caveat="0.81.1 may still pad inside, where no dim gives every device whole tiles; compare both",
    )
