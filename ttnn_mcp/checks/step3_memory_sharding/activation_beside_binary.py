"""An activation runs as an op of its own beside an element-wise op that could apply it.

`ttnn.add`, `subtract`, `multiply` and `divide` apply functions to their operands as they read them and to their result
as they write it: `ttnn.mul(a, b, input_tensor_a_activations=[ttnn.UnaryOpType.SILU])` is SwiGLU in one op
(tt-metal's tech report LLMs/llms.md, 2.5.6). As an op of its own the function reads and writes its tensor once more.

The line: a unary op of one function that TTNN 0.81.1 accepts there (tried on a mock device), in tiles, that keeps the
type; it alone reads the result of such an op, or such an op alone reads its result; together 0.5 % of the window (the
change is safe: the same function on the same values). The bound is the unary ops' whole time.

What the element-wise op applies already stays in its list, in the order in which it is computed.

Silent if another op also reads the tensor between the two, about functions that TTNN refuses there (mish, softplus),
and behind matmuls and convs, which have checks of their own.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.laws.printed_op import FUNCTION
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import BINARY_KIND, cite_function, function_of, in_call, neighbours
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import SAFE, Worth

CALLS = {"ADD": "add", "SUB": "subtract", "MUL": "multiply", "DIV": "divide"}


@check(
    title="activation not fused into its element-wise neighbour",
    lever=FUSION,
    of=ops_named("no unary ops", "Unary"),
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled="enable_create_d2m_subgraphs=True with optimization_level >= 1: the compiler then joins element-wise ops",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all activations that a neighbour could apply."""
    behind, partners = neighbours(facts)
    rows = np.flatnonzero(partners >= 0)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, behind, partners))


def _tell(behind: Mask, partners: Rows, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    function, partner = function_of(facts, row), int(partners[row])
    kind = BINARY_KIND.findall(facts.ops.texts("attributes")[partner])[0]
    slot, order, listed = "activations", "", "post_activations"
    if not behind[row]:
        slot, order = _operand(facts, row, partner), _order(facts, partner)
        listed = "lhs_activations" if "_a_" in slot else "rhs_activations"
    now = facts.attributes(partner).text_of(listed) or ""
    kept = "..." if FUNCTION.search(now) else ""
    functions = (kept, in_call(facts, row))[:: 1 if behind[row] else -1]
    return Words(
        claim=(
            f"Activations run beside element-wise ops that could apply them ({len(ops.rows)}x, {ops.time}): "
            f"{function} {ops.example}, {kind} at line {facts.line(partner)}"
        ),
        assumption="applied where the values pass anyway, the function costs next to nothing",
        evidence=(cite_function(facts, row), *cite_op(facts, row)),
        fix=f"ttnn.{CALLS[kind]}(a, b, {slot}=[{', '.join(filter(None, functions))}], ...), "
        f"without the op at line {ops.line}{order}",
        verify="re-profile; list_ops(op_code='UnaryDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="readers are inferred from shapes; a function with approximation may differ slightly in the last bit",
    )


def _operand(facts: WindowFacts, row: int, partner: int) -> str:
    return "input_tensor_a_activations" if facts.joins.makers[partner] == row else "input_tensor_b_activations"


def _order(facts: WindowFacts, partner: int) -> str:
    """Which operand is meant where both look the same."""
    left, right = (facts.flow.keys[operand.name][partner] for operand in facts.ops.inputs[:2])
    return ", the list of the operand that it makes now" if left == right else ""
