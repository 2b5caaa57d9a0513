"""A matmul multiplies all experts, although the router chose only some of them.

A sparse matmul with `nnz` skips the experts that got no token, so its output is empty for them. A dense batched matmul
on that output reads and multiplies the weights of all. `ttnn.sparse_matmul` takes the sparsity of its first input too
(is_input_a_sparse): with it in place of a dense down projection over 128 experts, of which eight were active, a layer
of North-Mini went from 2130 to 652 us (its port in tt-metal, June 2026). Gate and up, and down, of all 32 experts of
GPT-OSS took 2597 and 1946 us for one token, as sparse matmuls of the four chosen 343 (its port, with narrower weights).

The line: a Matmul with as many batches in both operands as a SparseMatmul before it has experts, between them only
slices, element-wise ops and changes of shape, and its nnz. Or two and more on one row and on weights that no op made,
with as many batches, 16 and more, as the last TopK before them chose among, and its k: a trial, as heads of attention
look so too. At most half of the experts active; 1 % of the window to save. The bound is the share of the experts that
are not active; an op faster than its roofline promises nothing.

Silent on more tokens where no nnz is printed: how many experts they choose together no report tells. Behind a TopK also
where a norm or a softmax stands between: attention of the next layer, or of this one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.op_kinds.routers import FEW, MANY, ActiveExperts, Routers
from ttnn_mcp.analyses.roofline.matmul_flops import active_experts
from ttnn_mcp.arrays import Integers
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

ABLE = ops_named("no SparseMatmul and no TopK ops", "SparseMatmul", "TopK")
STEPS_AT_MOST = 6  # back: the activation, the product, the slices of gate and up, and shapes (ours)
PRODUCTS = 2  # of a feed-forward: gate and up, and down (ours)


class Dense(NamedTuple):
    """A matmul over all experts: its row, of how many, how many of them are active and what tells it."""

    row: int
    experts: int
    choice: ActiveExperts


@check(
    title="experts multiplied that were not chosen",
    of=ABLE,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses the matmuls of experts"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls with all experts: behind a sparse one, and behind a router."""
    x, w = (operand.logical[:, :2].prod(axis=1) for operand in facts.ops.inputs[:2])
    batched = np.flatnonzero(facts.named("Matmul") & (x == w) & (w > 1))  # unmoved: one is none, told sooner so
    behind = [*_behind_sparse(facts, batched, w)]
    rest = np.setdiff1d(batched, [each.row for each in behind])
    for each_of, is_trial in ((behind, False), ([*_behind_routers(facts, rest, w)], True)):
        dense = {each.row: each for each in each_of}
        rows = np.array(list(dense), dtype=np.int64)
        left = np.array([1 - each.choice.active / each.experts for each in each_of])
        saved = np.where(facts.roofline.impossible[rows], 0.0, facts.kernel_ns[rows] * left)
        yield Problem(rows, saved, tell=partial(_tell, dense), is_trial=is_trial)


def _tell(dense: dict[int, Dense], ops: Affected) -> Words:
    heaviest = dense[ops.row]
    sparsity = "as before" if heaviest.choice.column == "nnz" else "1 where chosen, else 0"
    return Words(
        claim=(
            f"{ops.many('matmul', ('multiplies', 'multiply'))} {heaviest.experts} experts ({ops.time}) of which "
            f"{figure(heaviest.choice.active, '.0f')} are active: {ops.example}"
        ),
        assumption="time falls with the experts that are read",
        also=(cite_attribute(ops.facts, heaviest.choice.row, heaviest.choice.column),),
        fix=(
            f"ttnn.sparse_matmul(x, w, sparsity=<{sparsity}>, is_input_a_sparse=True, "
            f"is_input_b_sparse=False, nnz={figure(heaviest.choice.active, '.0f')}, program_config=...)"
        ),
        verify="re-profile; the Matmul over all experts is a SparseMatmul and takes less; PCC >= 0.99",
        caveat="it wants a row-major BFLOAT16 sparsity, one expert per batch of x; then sum the active ones only",
    )


def _behind_sparse(facts: WindowFacts, batched: Rows, weights: Integers) -> Iterator[Dense]:
    passes, sparse = facts.of_family("eltwise", "shape", "movement"), np.flatnonzero(facts.named("SparseMatmul"))
    active = np.full(len(facts), np.nan)  # of other ops nobody tells
    active[sparse] = active_experts(facts.attributes_of_ops, sparse)
    for row in batched.tolist():
        behind = facts.joins.maker_behind(row, passes, STEPS_AT_MOST)
        if behind != NOBODY and weights[behind] == weights[row] and 1 <= active[behind] <= FEW * weights[row]:
            yield Dense(row, int(weights[row]), ActiveExperts(float(active[behind]), behind, "nnz"))


def _behind_routers(facts: WindowFacts, batched: Rows, weights: Integers) -> Iterator[Dense]:
    """Those of one token, where at least two follow one router with no norm or softmax between."""
    x, weight = facts.ops.inputs[:2]
    able = weight.in_dram & (facts.flow.producers[1] == NOBODY) & (x.logical[:, 2] == 1) & (weights >= MANY)
    stops, routers = np.cumsum(facts.of_family("norm") | facts.named("Softmax")), Routers(facts.ops)
    of = defaultdict[ActiveExperts, list[int]](list)
    for row in batched[able[batched]].tolist():
        choice = routers.choice(row, int(weights[row]))
        if choice and choice.active <= FEW * weights[row]:
            of[choice].append(row)
    for choice, rows in of.items():
        near = [row for row in rows if stops[row] == stops[rows[0]]]
        # the chosen scores become shares by a softmax, before the experts
        if len(near) >= PRODUCTS and stops[near[0]] - stops[choice.row] <= 1:
            yield from (Dense(row, int(weights[row]), choice) for row in near)
