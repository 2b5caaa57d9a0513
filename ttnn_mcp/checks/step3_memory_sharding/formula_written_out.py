"""A norm, a softmax or a rotary embedding runs as its formula, op by op.

Each op of a formula reads and writes the whole tensor, often in FLOAT32, and pays its launch; TTNN has the function as
one op. Llama-3.1-8B lost 64 of its 65 RMSNorms to their formulas because of a cast in between: 1,618 ops more of 5,002,
and 9 tokens per second where 11 were possible (tt-mlir #7590). tt-mlir fuses all of these formulas where it
recognises them.

The line: a square, a sum over the last dim, a root of it and the product (RMSNorm; LayerNorm with the mean subtracted
before); an exponent, its sum and the quotient (softmax); half of a slice negated, joined and multiplied, and the sum of
both products (rotary embedding). Together 0.5 % of the window. The bound is the time of all of them, less the bytes of
the last.

Silent where a step is missing, or where more than one op reads the sum. Who reads whom is inferred from shapes.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.formulas import formulas_of
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_of_family
from ttnn_mcp.checks.needs import ATTRIBUTES, LOGICAL_SHAPES, OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import SAFE, Worth

CALLS = {
    "RMSNorm": "ttnn.rms_norm(x, epsilon=1e-5, weight=gamma)",
    "LayerNorm": "ttnn.layer_norm(x, epsilon=1e-5, weight=gamma, bias=beta)",
    "softmax": "ttnn.softmax(x, dim=-1, numeric_stable=True)",
    "rotary embedding": "ttnn.experimental.rotary_embedding(x, cos, sin)",
}


def look(facts: WindowFacts) -> Claims:
    """Yield a claim per function."""
    formulas, best = formulas_of(facts.ops, facts.joins), achievable_ns(facts)
    for name, call in CALLS.items():
        alike = [formula for formula in formulas if formula.name == name]
        if not alike:
            continue
        rows = np.unique([row for formula in alike for row in formula.rows])
        last = [formula.last for formula in alike]
        row = facts.heaviest(np.array(last), 1)[0]
        first = next(formula.rows[0] for formula in alike if formula.last == row)
        yield Claim(
            claim=(
                f"{name} runs as its formula ({len(alike)}x, {len(rows)} ops, {time_of(facts, rows)}): from line "
                f"{facts.line(first)} to {example(facts, row)}"
            ),
            rows=rows,
            at_most_ns=facts.kernel_ns[rows] - np.where(np.isin(rows, last), best[rows], 0.0),
            assumption="one op reads the tensor and writes the result once",
            evidence=(*cite_op(facts, first), *cite_op(facts, row)),
            fix=f"{call} in place of the ops from line {facts.line(first)} to {facts.line(row)}",
            verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
            caveat="the formula is inferred from the order of the ops; take its epsilon and weights over",
        )


CHECK = Check(
    id="formula-written-out",
    title="a function as its formula",
    step=3,
    look=look,
    of=ops_of_family("no element-wise ops", "eltwise"),
    needs=(OPERANDS, LOGICAL_SHAPES, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled=(
        "call torch.nn.functional.rms_norm, layer_norm or softmax in the model, without casts between: the compiler "
        "has an op for each"
    ),
)
