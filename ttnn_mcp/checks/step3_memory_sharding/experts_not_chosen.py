"""A matmul multiplies all experts, although the one before it multiplied only those that the router chose.

A sparse matmul with `nnz` skips the experts that got no token, so its output is empty for them. A dense batched matmul
on that output reads and multiplies the weights of all. `ttnn.sparse_matmul` takes the sparsity of its first input too
(is_input_a_sparse): with it in place of a dense down projection over 128 experts, of which eight were active, a layer
of North-Mini went from 2130 to 652 us (its port in tt-metal, June 2026).

The line: a Matmul with as many batches in both operands as a SparseMatmul before it has experts, between them only
slices, element-wise ops and changes of shape; nnz at most half of the experts; 1 % of the window to save. The bound is
the share of the experts that are not active; an op faster than its roofline promises nothing.

Silent where no nnz is printed, and where another op joins the experts first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.checks.check import Check, Claim, Claims, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_attribute, cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

if TYPE_CHECKING:
    from collections.abc import Iterator

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")
STEPS_AT_MOST = 6  # back: the activation, the product, the slices of gate and up, and shapes (ours)
FEW = 0.5  # of the experts: more, and the rest is hardly worth another op (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all matmuls with all experts."""
    counts = dict(_all_experts(facts))
    if not counts:
        return
    rows = np.array(list(counts), dtype=np.int64)
    active, experts = (
        np.array(numbers, dtype=np.float64) for numbers in list(zip(*counts.values(), strict=True))[1:]
    )
    row = facts.heaviest(rows, 1)[0]
    sparse, chosen, all_of_them = counts[row]
    yield Claim(
        claim=(
            f"{len(rows)} matmul{'s multiply' if len(rows) > 1 else ' multiplies'} {all_of_them} experts "
            f"({time_of(facts, rows)}) of which {chosen:.0f} are active: {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=np.where(facts.roofline.impossible[rows], 0.0, facts.kernel_ns[rows] * (1 - active / experts)),
        assumption="time falls with the experts that are read",
        evidence=(*cite_op(facts, row), cite_attribute(facts, sparse, "nnz")),
        fix=(
            "ttnn.sparse_matmul(x, w, sparsity=<as before>, is_input_a_sparse=True, is_input_b_sparse=False, "
            f"nnz={chosen:.0f}, program_config=...) in place of ttnn.matmul"
        ),
        verify="re-profile; the Matmul over all experts is a SparseMatmul and takes less; PCC >= 0.99",
        caveat="it wants a row-major BFLOAT16 sparsity, one expert per batch of x; then sum the active ones only",
    )


def _all_experts(facts: WindowFacts) -> Iterator[tuple[int, tuple[int, float, int]]]:
    """Per dense matmul: the sparse one behind it, its active experts, and all."""
    x, w = (operand.logical[:, :2].prod(axis=1) for operand in facts.ops.inputs[:2])
    passes = facts.of_family("eltwise", "shape", "movement")
    for row in np.flatnonzero(facts.named("Matmul") & (x == w)).tolist():
        sparse = _sparse_behind(facts, row, SPARSE.rows(facts), passes)
        if sparse is None or w[sparse] != w[row]:
            continue
        active = attributes_of(facts.ops).numbers(np.array([sparse]), lambda one: one.number("nnz"))[0]
        if active <= FEW * w[row]:
            yield row, (sparse, float(active), int(w[row]))


def _sparse_behind(facts: WindowFacts, row: int, sparse: Rows, passes: np.ndarray) -> int | None:
    maker = int(facts.joins.makers[row])
    for _ in range(STEPS_AT_MOST):
        if maker < 0 or not passes[maker]:
            break
        maker = int(facts.joins.makers[maker])
    return maker if maker in sparse else None


CHECK = Check(
    id="experts-not-chosen",
    title="experts multiplied that were not chosen",
    step=3,
    look=look,
    of=SPARSE,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses the matmuls of experts"),
)
