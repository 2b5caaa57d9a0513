"""Two chips add up a small tensor by a reduce-scatter and an all-gather, where one exchange would do.

An all-reduce in two exchanges spares bytes over many chips. Between two it sends as many as one all-gather of the whole
tensors: half each time. What counts on small tensors are hops and set-up, which come twice. An all-gather and a local
sum of the halves took 38.5 us in place of 53.5 for 64 kB (Qwen3-TTS on N300, PERF_NOTES of tt-metal; twice a layer,
107 became 77). Two links took 69 us there, and a gather along dim 0 took 78.

The line: a reduce-scatter to half of the last dim and an all-gather of it to the whole, read by nobody else, both under
30 us (above it bandwidth decides); 1 % of the window to save. The bound is the reduce-scatter; the sum stays within it.

Silent on more chips (twice the bytes and more), and where something happens between the two, such as a norm on the
shard. Readers are inferred from shapes. Not applicable with one device.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, LATENCY_NS, axis_argument, collectives_named, columns_of_results
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="two exchanges for a small sum of two chips",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the reduce-scatters, with their gathers beside them."""
    joins, width = facts.joins, columns_of_results(facts)
    before = facts.ops.inputs[0].logical[:, 3]
    small = facts.kernel_ns < LATENCY_NS
    scatters = collectives_named(facts, "ReduceScatter") & small & (2 * width == before)
    scatters &= joins.reader_counts == 1  # nobody's place is the last op's, which nobody reads
    gathers = np.flatnonzero(collectives_named(facts, "AllGather") & small & (width == 2 * before))
    gathers = gathers[scatters[joins.makers[gathers]]]
    firsts = joins.makers[gathers]
    rows = np.concatenate((firsts, gathers))
    at_most = np.where(np.isin(rows, firsts), facts.kernel_ns[rows], 0.0)
    yield Problem(rows, at_most, tell=_tell, about=firsts)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    half = int(columns_of_results(facts)[row])
    gather = int(facts.joins.readers(row)[0])
    return Words(
        claim=(
            f"{ops.many('all-reduce')} of two chips in two exchanges each ({ops.time} in the first ones): "
            f"{ops.example}, gathered at line {facts.line(gather)}"
        ),
        assumption="the gather takes as long as now; the sum of the halves takes a few us of what is saved",
        also=facts.cite(gather),
        fix=(
            f"y = ttnn.all_gather(x, dim=3{axis_argument(facts, row)}) of the whole partial sums, then "
            f"the sum of its halves, y[..., :{2 * half}] + y[..., {2 * half}:]"
        ),
        verify="re-profile; compare_runs.removed lists the reduce-scatters; PCC >= 0.99 composed",
        caveat="the gather sends twice as much: 34 us instead of 26.5 there; readers are inferred from shapes",
    )
