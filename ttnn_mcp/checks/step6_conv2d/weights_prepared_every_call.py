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

import numpy as np

from ttnn_mcp.analyses.op_kinds.conv_weights import preparations_of
from ttnn_mcp.checks.check import CannotTell, Claim, Claims, WindowFacts
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.conv_ops import conv_check
from ttnn_mcp.checks.shared.wording import cite_op, example, kinds, time_of
from ttnn_mcp.checks.worth import SAFE

MOST_OPS = 6  # between raw weights and a conv: permute, reshape, pad, tilize, typecast, and one to spare (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops that prepare weights."""
    prepared = preparations_of(facts.ops, MOST_OPS)
    rows = np.unique(np.array([row for chain in prepared.values() for row in chain], dtype=np.int64))
    if facts.share(rows) < SAFE:
        return
    if not facts.scope.window.warm:
        yield CannotTell(
            "weights are prepared in this cold pass, which is right once; profile 2 or more iterations"
        )
        return
    row = facts.heaviest(rows)[0]
    conv = next(conv for conv, chain in prepared.items() if row in chain)
    yield Claim(
        claim=(
            f"Weights of {kinds(facts, np.array([*prepared], dtype=np.int64))} are prepared in a warm iteration "
            f"({len(rows)}x, {time_of(facts, rows)}): {example(facts, row)} for the conv at line {facts.line(conv)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="weights do not change between iterations: prepared once, they stay on the device",
        evidence=cite_op(facts, row),
        fix=(
            "y, [weight, bias] = ttnn.conv2d(..., weight_tensor=weight, bias_tensor=bias, "
            "return_weights_and_bias=True) once, then pass these; or ttnn.prepare_conv_weights(...) when loading"
        ),
        verify="re-profile; the ops are gone from list_ops(group_by='op_code'), PCC >= 0.99",
        caveat="that the tensor is a weight is inferred: no op made it and a conv takes it as INPUT_1",
    )


CHECK = conv_check(
    id="weights-prepared-every-call",
    title="conv weights prepared in each call",
    look=look,
    needs=(TWO_OPERANDS,),
)
