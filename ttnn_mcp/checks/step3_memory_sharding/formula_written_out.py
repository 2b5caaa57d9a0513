"""A norm, a softmax, a rotary embedding or GELU by a sigmoid runs as its formula, op by op.

Each op of a formula reads and writes the whole tensor, often in FLOAT32, and pays its launch; TTNN has the function as
one op. Llama-3.1-8B lost 64 of its 65 RMSNorms to their formulas because of a cast in between: 1,618 ops more of 5,002,
and 9 tokens per second where 11 were possible (tt-mlir #7590). tt-mlir fuses all of these formulas where it
recognises them. x * sigmoid(c * x), GELU's approximation with c = 1.702, is SiLU of c * x over c: one op, where the
weights behind it take 1/c; and none where the linear in front takes c and applies SiLU.

The line: a square, a sum over the last dim, a root of it and the product (RMSNorm; LayerNorm with the mean subtracted
before); an exponent, its sum and the quotient (softmax); half of a slice negated, joined and multiplied, and the sum
of both products (rotary embedding, also of a part of a head, or cut as rows between conversions); a tensor times the
sigmoid of its multiple by a number. Together 0.5 % of the window. The bound is the time of all of them, less the bytes
of the last.

Silent where a step is missing, or where more than one op reads the sum. Who reads whom is inferred from shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.formulas import Formula, formulas_of
from ttnn_mcp.checks.check import Affected, Check, Problem, Problems, WindowFacts, Words, ops_of_family
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, LOGICAL_SHAPES, OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_each, cite_op
from ttnn_mcp.checks.worth import SAFE, Worth

CALLS = {
    "RMSNorm": "ttnn.rms_norm(x, epsilon=1e-5, weight=gamma)",
    "LayerNorm": "ttnn.layer_norm(x, epsilon=1e-5, weight=gamma, bias=beta)",
    "softmax": "ttnn.softmax(x, dim=-1, numeric_stable=True)",
    "rotary embedding": "ttnn.experimental.rotary_embedding(x, cos, sin)",
    "SiLU of a multiple": "ttnn.multiply(x, 1.702, activations=[ttnn.UnaryOpType.SILU]) and 1 / 1.702 in the weights "
    "that read it,",
}

PARTIAL = (
    ", on whole heads: weights' columns in pairs half a head apart, cos=1 and sin=0 for the channels it leaves,"
)


def look(facts: WindowFacts) -> Problems:
    """Yield the formulas of each function."""
    formulas, best = formulas_of(facts.ops, facts.joins), achievable_ns(facts)
    for name in CALLS:
        alike = [formula for formula in formulas if formula.name == name]
        rows = np.array(sorted({row for formula in alike for row in formula.rows}), dtype=np.int64)
        last = np.array([formula.last for formula in alike], dtype=np.int64)
        at_most = facts.kernel_ns[rows] - np.where(np.isin(rows, last), best[rows], 0.0)
        yield Problem(rows, at_most, tell=partial(_tell, alike), about=last)


def _tell(alike: list[Formula], ops: Affected) -> Words:
    facts, name, first = ops.facts, alike[0].name, alike[ops.at].rows[0]
    return Words(
        claim=(
            f"{name} runs as its formula ({len(alike)}x, {len(ops.together)} ops, {ops.time_together}): from line "
            f"{facts.line(first)} to {ops.example}"
        ),
        assumption="one op reads the tensor and writes the result once",
        evidence=cite_each((first, ops.row), lambda row: cite_op(facts, row)),
        fix=f"{CALLS[name]}{PARTIAL * bool(facts.named('Concat')[ops.row])} in place of the ops from line "
        f"{facts.line(first)} to {ops.line}",
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="the formula is inferred from the order of the ops; take its epsilon and weights over",
    )


CHECK = Check(
    title="a function as its formula",
    look=look,
    lever=FUSION,
    of=ops_of_family("no element-wise ops", "eltwise"),
    needs=(OPERANDS, LOGICAL_SHAPES, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled=(
        "call torch.nn.functional.rms_norm, layer_norm or softmax in the model, without casts between: the compiler "
        "has an op for each"
    ),
)
