"""A matmul multiplies all experts, although the router chose only some of them.

A sparse matmul with `nnz` skips the experts that got no token, so its output is empty for them. A dense batched matmul
on that output reads and multiplies the weights of all. `ttnn.sparse_matmul` takes the sparsity of its first input too
(is_input_a_sparse): with it in place of a dense down projection over 128 experts, of which eight were active, a layer
of North-Mini went from 2130 to 652 us (its port in tt-metal, June 2026). Gate and up, and down, of all 32 experts of
GPT-OSS took 2597 and 1946 us for one token, as sparse matmuls of the four chosen 343 (its port, with narrower weights).

The line: a Matmul with as many batches in both operands as a SparseMatmul before it has experts, between them only
slices, element-wise ops and changes of shape, and its nnz; or on one row, with as many batches as the last TopK before
it chose among, and its k. At most half of the experts active; 1 % of the window to save. The bound is the share of the
experts that are not active; an op faster than its roofline promises nothing.

Silent on more tokens where no nnz is printed: how many experts they choose together no report tells.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.op_kinds.attention_chains import rows_of_chains
from ttnn_mcp.analyses.roofline.matmul_flops import active_experts
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

ABLE = ops_named("no SparseMatmul and no TopK ops", "SparseMatmul", "TopK")
STEPS_AT_MOST = 6  # back: the activation, the product, the slices of gate and up, and shapes (ours)
_SPARSITY = {"nnz": "as before", "k": "1 where chosen, else 0"}
FEW = 0.5  # of the experts: more, and the rest is hardly worth another op (ours)


class Dense(NamedTuple):
    """A matmul over all experts: its row, how many of them are active, of how many, and the op that tells it."""

    row: int
    active: float
    experts: int
    teller: int
    column: str


@check(
    title="experts multiplied that were not chosen",
    of=ABLE,
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
        also=(cite_attribute(ops.facts, heaviest.teller, heaviest.column),),
        fix=(
            f"ttnn.sparse_matmul(x, w, sparsity=<{_SPARSITY[heaviest.column]}>, is_input_a_sparse=True, "
            f"is_input_b_sparse=False, nnz={figure(heaviest.active, '.0f')}, program_config=...) for the ttnn.matmul"
        ),
        verify="re-profile; the Matmul over all experts is a SparseMatmul and takes less; PCC >= 0.99",
        caveat="it wants a row-major BFLOAT16 sparsity, one expert per batch of x; then sum the active ones only",
    )


def _all_experts(facts: WindowFacts) -> Iterator[Dense]:
    x, w = (operand.logical[:, :2].prod(axis=1) for operand in facts.ops.inputs[:2])
    passes, sparse = facts.of_family("eltwise", "shape", "movement"), np.flatnonzero(facts.named("SparseMatmul"))
    active = np.full(len(facts), np.nan)  # of other ops nobody tells
    active[sparse] = active_experts(facts.attributes_of_ops, sparse)
    dense = np.flatnonzero(facts.named("Matmul") & (x == w))
    routers = _routers(facts)
    for row in dense[~np.isin(dense, rows_of_chains(facts.attentions))].tolist():
        behind = facts.joins.maker_behind(row, passes, STEPS_AT_MOST)
        if behind != NOBODY and w[behind] == w[row] and active[behind] <= FEW * w[row]:
            yield Dense(row, float(active[behind]), int(w[row]), behind, "nnz")
        elif _multiplies_one_token(facts, row) and (before := bisect(among := routers[int(w[row])], (row,))):
            router, k = among[before - 1]
            if k <= FEW * w[row]:
                yield Dense(row, k, int(w[row]), router, "k")


def _multiplies_one_token(facts: WindowFacts, row: int) -> bool:
    """Whether a matmul has one row, and reads weights in DRAM."""
    x, weight = facts.ops.inputs[:2]
    return bool(weight.in_dram[row] and facts.flow.producers[1][row] == NOBODY and x.logical[row, 2] == 1)


def _routers(facts: WindowFacts) -> defaultdict[int, list[tuple[int, float]]]:
    """The rows of those TopK of one token, and their k, by how many they choose among."""
    scores = facts.ops.inputs[0].logical
    rows = np.flatnonzero(facts.named("TopK") & (scores[:, :3].prod(axis=1) == 1))
    chosen = facts.attributes_of_ops.numbers(rows, lambda attributes: attributes.number("k"))
    of = defaultdict[int, list[tuple[int, float]]](list)
    for row, k in zip(rows.tolist(), chosen.tolist(), strict=True):
        of[int(scores[row, 3])].append((row, k))
    return of
