"""A matmul waits for an all-gather, or a reduce-scatter waits for a matmul, although one op could do both at once.

Links and matrix engine are different hardware. The fused ops start on the part that has arrived: all-gather and matmul
together took about 10 % longer than the matmul alone over four devices (tt-metal PR #36711), and a reduce-scatter
after a matmul could overlap too (PR #40289, #33258). They spend cores on the exchange, so a matmul that needs the
whole grid gets slower: over 13,664 rows they took 9 to 19 % less than the best pair of ops on a Blackhole galaxy, and
tt-metal's Llama takes them from 4096 rows on (PR #41837), but over 1024 rows Qwen3.5 got slower with them, 44.2 ms in
place of 42.8 (its prefill notes).

The line: an all-gather of the last dim over 30 us and 2048 rows whose only reader is a matmul, as its activation, or
such a reduce-scatter that is the only reader of a matmul's output; together 1 % of the window. The bound is the shorter
of the two. At least is 0.

Silent on other dims, which the fused ops refuse (tt-metal #52944), if another op also reads the tensor, and on
exchanges that are mostly set-up. Readers are inferred from shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, LATENCY_NS, exchanges_named, worth_fusing
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth

LAST = (3.0, -1.0)  # dims of the 4D tensors that the report shows (tt-metal #52944: the fused ops take no other)
FUSED = {  # by whether the exchange comes first; 0.81.1 has all four
    True: "ttnn.experimental.all_gather_minimal_matmul_async or ttnn.experimental.all_gather_matmul_async",
    False: (
        "ttnn.experimental.minimal_matmul_strided_reduce_scatter_async or "
        "ttnn.experimental.matmul_reduce_scatter_async"
    ),
}


@check(
    title="an exchange and a matmul one after the other",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all exchanges beside a matmul."""
    makers, matmuls = facts.joins.makers, facts.of_family("matmul")
    sole = facts.joins.reader_counts[makers] == 1  # never where nobody made it: that points to the last op
    behind = np.flatnonzero(matmuls & sole & _last_dim(facts, "AllGather")[makers])
    ahead = np.flatnonzero(_last_dim(facts, "ReduceScatter") & sole & matmuls[makers])
    rows, works = np.concatenate((makers[behind], ahead)), np.concatenate((behind, makers[ahead]))
    work_of = dict(zip(rows.tolist(), works.tolist(), strict=True))
    yield Problem(rows, np.minimum(facts.kernel_ns[rows], facts.kernel_ns[works]), tell=partial(_tell, work_of))


def _tell(work_of: dict[int, int], ops: Affected) -> Words:
    facts, row, work = ops.facts, ops.row, work_of[ops.row]
    return Words(
        claim=(
            f"Exchanges and matmuls run one after the other ({len(ops.rows)}x, {ops.time}): "
            f"{took(float(facts.kernel_ns[row]))} at line {ops.line} beside a matmul of "
            f"{took(float(facts.kernel_ns[work]))} at line {facts.line(work)}"
        ),
        assumption="the shorter of the two overlaps with the longer one, whose time stays",
        also=facts.cite(work),
        fix=f"{FUSED[row < work]} in place of both (0.81 has them; older builds: look)",
        verify="re-profile; both rows become one, and it takes less than the two did; PCC >= 0.99 composed",
        caveat="takes cores from the matmul; make semaphores and buffers once; on Blackhole a fused reduce-scatter "
        "raced before September 2026 (#46181, #55223)",
    )


def _last_dim(facts: WindowFacts, kind: str) -> Mask:
    """Collectives of a kind, along the last dim, long enough and over many rows."""
    able = worth_fusing(facts) & exchanges_named(facts, kind)
    rows = np.flatnonzero(able & (facts.kernel_ns >= LATENCY_NS))
    dims = attributes_of(facts.ops).numbers(rows, lambda attributes: attributes.number("dim", "gather_dim"))
    apart: Mask = np.zeros(len(facts), dtype=np.bool_)
    apart[rows[np.isin(dims, LAST)]] = True
    return apart
