"""A conv's weights are converted again in each iteration.

`ttnn.conv2d` needs weights tilized, padded and reordered. It prepares raw ones in every call, on the device or,
slower, on the host. `return_weights_and_bias=True` returns the prepared ones for the next call;
`ttnn.prepare_conv_weights` prepares them in advance.

The line: in a warm iteration, layout or shape ops turn a tensor that no op made into the tensor a conv takes as
its weights, and they take 0.5 % of the window. In a cold pass preparing once is right, so the check cannot tell
there if it sees such ops. Preparation on the host shows in no device column: compare the host time of ttnn.conv2d
in the memory report.

Silent if the weights need no preparation. Producers are inferred from shapes, types and placements.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, flow_of
from ttnn_mcp.analyses.op_kinds.convs import convs_of
from ttnn_mcp.checks.check import Affected, CannotTell, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONSTANTS
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.conv_ops import conv_check
from ttnn_mcp.checks.wording import kinds
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_table import OpTable

MOST_OPS = 6  # between raw weights and a conv: permute, reshape, pad, tilize, typecast, and one to spare (ours)


@conv_check(
    title="conv weights prepared in each call",
    lever=CONSTANTS,
    needs=(TWO_OPERANDS,),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that prepare weights."""
    prepared = preparations_of(facts.ops, MOST_OPS)
    rows = np.unique(np.array([row for chain in prepared.values() for row in chain], dtype=np.int64))
    if facts.scope.window.warm:
        yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, prepared))
    elif facts.share(rows) >= SAFE:
        yield CannotTell(
            "weights are prepared in this cold pass, which is right once; profile 2 or more iterations"
        )


def _tell(prepared: dict[int, list[int]], ops: Affected) -> Words:
    conv = next(conv for conv, chain in prepared.items() if ops.row in chain)
    return Words(
        claim=(
            f"Weights of {kinds(ops.facts, np.array([*prepared]))} are prepared in a warm iteration "
            f"({len(ops.rows)}x, {ops.time}): {ops.example} for the conv at line {ops.facts.line(conv)}"
        ),
        assumption="weights do not change between iterations: prepared once, they stay on the device",
        fix=(
            "y, [weight, bias] = ttnn.conv2d(..., weight_tensor=weight, bias_tensor=bias, "
            "return_weights_and_bias=True) once, then pass these; or ttnn.prepare_conv_weights(...) when loading"
        ),
        verify="re-profile; the ops are gone from list_ops(group_by='op_code'), PCC >= 0.99",
        caveat="that the tensor is a weight is inferred: no op made it and a conv takes it as INPUT_1",
    )


def preparations_of(ops: OpTable, most: int) -> dict[int, list[int]]:
    """Per conv the ops (`most` at most) between a tensor that no op made and its INPUT_1; only convs with such ops."""
    flow = flow_of(ops)
    converts = ops.of_family("layout", "shape")
    makers, makers_of_weights = flow.makers_of(0), flow.makers_of(1)
    rows_by_weight: dict[int, list[int]] = {}
    for conv in convs_of(ops).rows.tolist():
        chain: list[int] = []
        at = int(makers_of_weights[conv])
        while at != NOBODY and converts[at] and len(chain) < most:
            chain.append(at)
            at = int(makers[at])
        if chain and at == NOBODY:
            rows_by_weight[conv] = chain
    return rows_by_weight
