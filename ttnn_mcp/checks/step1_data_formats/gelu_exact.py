"""GELU is computed by its exact formula, erf, though an approximation by tanh is faster: a trial.

Of an encoder's GELU on Blackhole tanh took 171 us where erf took 208, and 1353 for 1645 (Nomic Embed's port in
tt-metal); ModernBERT's layer took 9 % less with tanh, and inside the matmul. The two differ by 0.0005 at most. A table
of GELU is faster still, and failed five tests of accuracy.

The line: a Unary op, 5 us and more, whose only function is GELU without the parameter of the fast form; 1 % of the
window to save. The bound is half of the time (ours), behind a matmul, which can apply it, all of it. Silent inside of
matmuls, where its time is not seen.
"""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import UNTRIED
from ttnn_mcp.checks.needs import ATTRIBUTES
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth

UNARY = ops_named("no unary ops", "Unary")
_EXACT = re.compile(r"UnaryOpType::GELU[,;]\s*param=\{\s*(0(\.0*)?f?)?\s*\}")
HALF = 0.5  # of the time (ours: 18 % measured twice, alone)


@check(
    title="exact GELU, a trial",
    lever=UNTRIED,
    costs_accuracy=True,
    of=UNARY,
    needs=(ATTRIBUTES,),
    worth=Worth(saving=USUAL),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all of them."""
    rows = np.flatnonzero(UNARY.mask(facts) & (facts.kernel_ns >= SMALL_NS))
    exact = facts.attributes_of_ops.numbers(
        rows, lambda attributes: float(bool(_EXACT.search(attributes.get("op_chain", ""))))
    )
    rows = rows[exact > 0]
    makers = facts.joins.makers[rows]
    behind = facts.of_family("matmul")[makers] & (makers != NOBODY)
    yield Problem(rows, np.where(behind, 1.0, HALF) * facts.kernel_ns[rows], tell=_tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    return Words(
        claim=f"{ops.many('GELU', ('is', 'are'))} computed exactly, by erf ({ops.time}): {ops.example}",
        assumption="a trial: tanh saved 18 % twice in a ledger of tt-metal",
        also=(cite_attribute(ops.facts, ops.row, "op_chain"),),
        fix=(
            "ttnn.linear(x, w, activation='gelu_tanh', ...), or ttnn.UnaryOpType.GELU_TANH as the activation of its "
            "own op"
        ),
        caveat="the two differ by 0.0005 at most: judge by PCC of the whole model",
    )
