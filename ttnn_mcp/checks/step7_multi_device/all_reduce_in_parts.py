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

import numpy as np

from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, WindowFacts
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.op_names import canonical


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all pads and slices around such exchanges."""
    joins = facts.joins
    makers, sole = joins.makers, joins.reader_counts == 1  # nobody's place is the last op's, which nobody reads
    gathers = np.flatnonzero(_kind(facts, "AllGather"))
    gathers = gathers[(_kind(facts, "ReduceScatter") & sole)[makers[gathers]]]
    scatters = makers[gathers]
    before = makers[scatters]
    pads = before[facts.named("Pad")[before] & sole[before]]
    slices = np.flatnonzero(facts.named("Slice") & np.isin(makers, gathers[sole[gathers]]))
    rows = np.sort(np.concatenate((pads, slices)))
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    yield Claim(
        claim=(
            f"All-reduces written as reduce-scatter and all-gather ({len(gathers)}x), with {len(rows)} pads and slices "
            f"around ({time_of(facts, rows)}): {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="ttnn.all_reduce takes the tensor unpadded, and its exchange as long as now",
        evidence=(*cite_op(facts, row), *facts.cite(int(scatters[0])), *facts.cite(int(gathers[0]))),
        fix=f"x = ttnn.all_reduce(x{_axis(facts, int(scatters[0]))}) on the unpadded tensor, in place of all four",
        verify="re-profile; the Pad and Slice rows are gone, device_balance.ccl_share falls; PCC >= 0.99 composed",
        caveat="0.81.1 may still pad inside, where no dim gives every device whole tiles; compare both",
    )


def _kind(facts: WindowFacts, kind: str) -> Mask:
    return facts.names.where(lambda text: canonical(text).startswith(kind)) & facts.of_family("collective")


def _axis(facts: WindowFacts, row: int) -> str:
    axis = facts.attributes(row).number("cluster_axis")
    return "" if axis is None else f", cluster_axis={axis:.0f}"


CHECK = Check(
    id="all-reduce-in-parts",
    title="an all-reduce with pads and slices around it",
    step=7,
    look=look,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(time=USUAL),
)
