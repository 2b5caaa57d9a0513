"""A matmul's output is multiplied by a number or by one row of constants: its weights can hold the factor.

(x W + b) * s is x (W * s) + b * s, for one number and for one factor per column: multiplied once when the weights are
loaded, it costs nothing in a pass. Queries scaled by 1 / sqrt(head size) behind their projection are the usual case.
Kokoro's vocoder saved 225 us on P150 by folding norms' weights into the projections before them (tt-metal's notes).

The line: a product with a number, or with one row as wide that no op of the window made, that alone reads the output of
a matmul; the matmul's weights are made by no op either and have no batch; together 0.5 % of the window (the change
is safe: the same values but for rounding). The bound is the products' whole time.

Silent where another op reads the output too, where the matmul or the product applies a function (what stands between
them is not linear), where weights are activations (scores of attention), and about rows whose
operands may be those of another call.
"""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.op_kinds.activations import by_one_row
from ttnn_mcp.analyses.op_kinds.kept_rows import DENSE
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import plain
from ttnn_mcp.checks.wording import cite_attribute, cite_op
from ttnn_mcp.checks.worth import SAFE, Worth

PRODUCT = "BinaryOpType::MUL"
_NUMBER = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?")


@check(
    title="a factor that weights could hold",
    lever=FUSION,
    of=ops_of_family("no matmuls", "matmul"),
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled="fold the factor into torch's weights before the model is compiled",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such products."""
    rows = _scaled(facts)
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    matmul = facts.line(int(facts.joins.makers[row]))
    by_row = facts.ops.inputs[1].present[row]
    factor = "one row" if by_row else "a number"
    return Words(
        claim=(
            f"{ops.many('matmul output')} scaled by an op of {'their' if ops.s else 'its'} own ({ops.time}): "
            f"by {factor}, {ops.example}, behind line {matmul}"
        ),
        assumption="the factor is a constant; folded into weights and bias once, it costs nothing in a pass",
        evidence=(cite_attribute(facts, row, "binary_op_type" if by_row else "scalar"), *cite_op(facts, row)),
        fix=(
            f"before ttnn.from_torch: w = w * s; b = b * s (s per column of w [K, N]) at line {matmul}; without the "
            f"op at line {ops.line}. Queries: or scale=s of ttnn.transformer.scaled_dot_product_attention"
        ),
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="readers are inferred from shapes; a row that changes from pass to pass cannot be folded",
    )


def _scaled(facts: WindowFacts) -> Rows:
    ops, joins = facts.ops, facts.joins
    factor = ops.inputs[1]
    weights_made = joins.by_input[1]
    able = facts.named(*DENSE) & (joins.reader_counts == 1) & (weights_made == NOBODY)
    able &= plain(facts)
    able &= factor.elements == factor.logical[:, 2:].prod(axis=1)
    makers = joins.makers
    same = (ops.inputs[0].logical == ops.outputs[0].logical[makers]).all(axis=1) & ~joins.doubtful
    by_row = by_one_row(ops) & (weights_made == NOBODY)
    products = np.flatnonzero(
        ops.texts("attributes").where(lambda text: PRODUCT in text) & plain(facts) & same & able[makers]
    )
    return np.array([row for row in products if by_row[row] or _is_factor(facts, int(row))], dtype=np.int64)


def _is_factor(facts: WindowFacts, row: int) -> bool:
    """Whether the printed scalar is a number other than one."""
    text = facts.attributes(row).get("scalar", "")
    return _NUMBER.fullmatch(text) is not None and float(text) != 1
