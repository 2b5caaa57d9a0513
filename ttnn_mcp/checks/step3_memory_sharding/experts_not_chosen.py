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

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.roofline.matmul_flops import active_experts
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")
STEPS_AT_MOST = 6  # back: the activation, the product, the slices of gate and up, and shapes (ours)
FEW = 0.5  # of the experts: more, and the rest is hardly worth another op (ours)


class Dense(NamedTuple):
    """A matmul over all experts: its row, the sparse one behind it, and how many experts are active, of how many."""

    row: int
    sparse: int
    active: float
    experts: int


@check(
    title="experts multiplied that were not chosen",
    of=SPARSE,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses the matmuls of experts"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls with all experts."""
    dense = {each.row: each for each in _all_experts(facts)}
    rows = np.array(list(dense), dtype=np.int64)
    left = np.array([1 - each.active / each.experts for each in dense.values()])
    saved = np.where(facts.roofline.impossible[rows], 0.0, facts.kernel_ns[rows] * left)
    yield Problem(rows, saved, tell=partial(_tell, dense))


def _tell(dense: dict[int, Dense], ops: Affected) -> Words:
    heaviest = dense[ops.row]
    return Words(
        claim=(
            f"{ops.many('matmul', ('multiplies', 'multiply'))} {heaviest.experts} experts ({ops.time}) of which "
            f"{figure(heaviest.active, '.0f')} are active: {ops.example}"
        ),
        assumption="time falls with the experts that are read",
        also=(cite_attribute(ops.facts, heaviest.sparse, "nnz"),),
        fix=(
            "ttnn.sparse_matmul(x, w, sparsity=<as before>, is_input_a_sparse=True, is_input_b_sparse=False, "
            f"nnz={figure(heaviest.active, '.0f')}, program_config=...) in place of ttnn.matmul"
        ),
        verify="re-profile; the Matmul over all experts is a SparseMatmul and takes less; PCC >= 0.99",
        caveat="it wants a row-major BFLOAT16 sparsity, one expert per batch of x; then sum the active ones only",
    )


def _all_experts(facts: WindowFacts) -> Iterator[Dense]:
    x, w = (operand.logical[:, :2].prod(axis=1) for operand in facts.ops.inputs[:2])
    passes, sparse = facts.of_family("eltwise", "shape", "movement"), SPARSE.rows(facts)
    active = np.full(len(facts), np.nan)  # of other ops nobody tells
    active[sparse] = active_experts(facts.attributes_of_ops, sparse)
    for row in np.flatnonzero(facts.named("Matmul") & (x == w)).tolist():
        behind = facts.joins.maker_behind(row, passes, STEPS_AT_MOST)
        if behind != NOBODY and w[behind] == w[row] and active[behind] <= FEW * w[row]:
            yield Dense(row, behind, float(active[behind]), int(w[row]))
