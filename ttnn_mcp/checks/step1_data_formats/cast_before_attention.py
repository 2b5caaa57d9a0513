"""A tensor is cast to a wider type only for attention to read it.

Fused attention takes BFLOAT16, BFLOAT8_B and BFLOAT4_B. A cast of Q, K or V in front of it is an op of its own, and
attention then moves twice the bytes. Without 72 such casts a BGE-M3 encoder of 24 layers spent 1.6 ms instead of 11.1
on casts and 21.5 ms instead of 35.2 in attention.

The line: a Typecast that widens, whose output only fused attention reads; the casts and their attention ops take 1 %
of the window. The bound is the casts' whole time, and for attention a part in proportion to the bytes of the cast
inputs, never below its arithmetic.

Silent if another op also reads the wide tensor, and on casts from FLOAT32 or integers. Readers are inferred from
shapes, types and placements.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.casts import casts_for_attention
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="a wider type for attention alone",
    lever=ATTENTION,
    costs_accuracy=True,  # attention in BFLOAT8_B gave a PCC of 0.925 in a public ledger of BGE-M3
    of=ops_of_family("no attention ops", "attention"),
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="drop the .to(dtype) in front of scaled_dot_product_attention in the model",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such casts with the attention ops behind them."""
    casts = casts_for_attention(facts.ops, facts.joins)
    took = facts.kernel_ns[casts.readers]
    spared = np.minimum(took * casts.spared_share, took - least_ns(facts)[casts.readers])
    rows, saved = np.append(casts.rows, casts.readers), np.append(facts.kernel_ns[casts.rows], spared)
    yield Problem(rows, saved, tell=partial(_tell, casts.readers), about=casts.rows)


def _tell(readers: Rows, ops: Affected) -> Words:
    facts, row, source, output = ops.facts, ops.row, ops.facts.ops.inputs[0], ops.facts.ops.outputs[0]
    return Words(
        claim=(
            f"{ops.many('cast')} from {source.dtype[row]} to {output.dtype[row]} serve only attention "
            f"({ops.time}): {ops.example}, read at line {facts.line(int(readers[0]))}"
        ),
        assumption="attention reads the narrow tensors; its time falls at most in proportion to their bytes",
        cells=((source, "DATATYPE"), (output, "DATATYPE")),
        fix=(
            f"drop the ttnn.typecast at line {ops.line}: ttnn.transformer.scaled_dot_product_attention takes "
            f"ttnn.{source.dtype[row].lower()} as it is"
        ),
        verify="re-profile: the casts are gone from list_ops(op_code='Typecast'), PCC >= 0.99",
        caveat="readers of the cast are inferred from shapes; older decode kernels need Q in bfloat16",
    )
