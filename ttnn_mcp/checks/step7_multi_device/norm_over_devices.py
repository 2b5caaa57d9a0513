"""A residual lies in parts over the devices, so each norm exchanges its statistics and then its result.

After a row-parallel matmul the sums are scattered, the norm's statistics are gathered, and so are the normed rows,
because the next matmul wants whole ones: three exchanges. With the residual whole on every chip the sums are reduced
(one `ttnn.all_reduce`, or scatter and gather) and the norm is a local one. On eight Blackholes a prefill of
Qwen3.5-2B took 37.4 ms in place of 39.8, a decode step of Qwen3.6-27B on four 34.7 in place of 36.1 (their notes in
tt-metal).

The line: an all-gather between the two halves of a distributed norm whose result one all-gather alone reads, behind a
reduce-scatter, directly or behind the residual sum; 1 % of the window. The bound is the time of those statistics: the
other exchanges stay.

Silent where the normed rows stay in parts, and without a reduce-scatter before. Readers are inferred from shapes.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, collectives_named, exchanges_named, norms_in_halves
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="a residual in parts, its norms exchanged",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the statistics of all such norms."""
    scattered, gathered = _scattered(facts), exchanges_named(facts, "AllGather")
    firsts, gathers, seconds = norms_in_halves(facts)
    made = facts.joins.makers[firsts]
    whole = np.array([len(facts.joins.chain(row, gathered)) > 1 for row in seconds.tolist()], dtype=np.bool_)
    rows = gathers[(made >= 0) & scattered[made] & whole]
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    return Words(
        claim=(
            f"Statistics of norms over devices are gathered, and their results again ({len(ops.rows)}x, {ops.time}): "
            f"{ops.example}"
        ),
        assumption="a norm of whole rows on every chip exchanges no statistics; the other exchanges stay",
        fix=(
            "keep the residual whole on every chip: y = ttnn.all_reduce(y) where ttnn.reduce_scatter stands now, x = x "
            "+ y, ttnn.rms_norm(x, weight=<all of gamma>), no gather behind it"
        ),
        verify="re-profile; device_balance.ccl_share falls, no PreAllGather rows; PCC >= 0.99 composed",
        caveat="the residual takes as much memory on each device as on all now; sums in float32 where they need it",
    )


def _scattered(facts: WindowFacts) -> Mask:
    """Outputs of reduce-scatters, and sums that read one."""
    scattered = collectives_named(facts, "ReduceScatter")
    reads = np.zeros(len(facts), dtype=np.bool_)
    for makers in facts.joins.by_input:
        reads |= scattered[makers] & (makers >= 0)
    return scattered | (reads & facts.named("Binary"))
