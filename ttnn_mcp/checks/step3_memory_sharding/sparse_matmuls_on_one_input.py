"""Two sparse matmuls read one activation on few cores, where one on stacked weights would do.

Gate and up of the experts multiply the same tensor by weights that can stand beside each other. In tt-xla's DeepSeek
log (E30) they took 309.6 ms as two sparse matmuls, and as one on weights stacked along N 238.0.

The line: SparseMatmul, 5 us and more, with the INPUT_0, sparsity and widths of the one right before it, while both use
under half of the grid, so that stacked columns find cores; 1 % of the window to save. The bound is one of the two.

Silent where the pair fills the grid, and on activations that no op of the window made. The report seldom tells the
number of active experts, so no roofline limits the bound; at_least is 0.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import FEW_CORES, SMALL_NS
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import second_of_pairs
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import JOINED_MATMULS
from ttnn_mcp.checks.needs import ATTRIBUTES, CORES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_each, cite_op
from ttnn_mcp.checks.worth import USUAL, Worth

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")


@check(
    title="two sparse matmuls on one activation",
    lever=JOINED_MATMULS,
    of=SPARSE,
    needs=(TWO_OPERANDS, CORES, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield every second sparse matmul of the same signature that reads what the first reads."""
    rows = np.flatnonzero(SPARSE.mask(facts) & (facts.kernel_ns >= SMALL_NS))
    few = facts.ops.numbers("cores") < FEW_CORES * (facts.chip.cores or 0)
    second = second_of_pairs(facts.ops, facts.flow, rows, few)
    yield Problem(second, facts.kernel_ns[second] - SMALL_NS, tell=partial(_tell, rows))


def _tell(rows: Rows, ops: Affected) -> Words:
    facts, before = ops.facts, int(rows[np.searchsorted(rows, ops.row) - 1])
    return Words(
        claim=(
            f"{ops.many('sparse matmul', ('reads', 'read'))} ({ops.time}) the activation of the one before on under "
            f"half of the grid: {ops.example}, line {facts.line(before)}"
        ),
        assumption="one op on stacked weights takes no longer than one of the two, on cores idle now",
        evidence=cite_each((before, ops.row), lambda n: (*cite_op(facts, n), *facts.cite(n, "cores"))),
        fix=(
            "stack both weights along N at load time (ttnn.concat(..., dim=-1)), one ttnn.sparse_matmul with twice the "
            "per_core_N or twice the cores, then ttnn.slice the halves"
        ),
        verify="re-profile; list_ops(group_by='op_code') shows fewer SparseMatmul and less of its time; PCC >= 0.99",
        caveat="inferred from shapes and order; the slices cost something: 309.6 -> 238.0 ms where it was measured",
    )
