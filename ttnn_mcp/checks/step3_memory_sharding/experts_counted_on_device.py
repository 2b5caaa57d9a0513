"""A sparse matmul of one token is not told how many experts are active, and counts them itself.

`ttnn.sparse_matmul` reads its sparsity at run time where `nnz` is not given. One token has exactly the k experts of
the router's TopK: told so, a layer of North-Mini went from 679 to 604 us (its port in tt-metal, July 2026).

The line: SparseMatmul without nnz on one row, and those behind it on the rows of all experts; a TopK before them; 1 %
of the window to save: a trial.
The bound leaves the bytes of k of the experts.

Silent on more rows: the union of their experts changes with every step, and a wrong nnz hangs the device (docstring of
TTNN 0.81.1).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.roofline.matmul_flops import active_experts
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")


@check(
    title="a sparse matmul without nnz",
    of=SPARSE,
    needs=(TWO_OPERANDS, ATTRIBUTES, LOGICAL_SHAPES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses the matmuls of experts"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such sparse matmuls."""
    settings = attributes_of(facts.ops)
    chosen = np.flatnonzero(facts.named("TopK"))
    every = SPARSE.rows(facts)
    untold = np.isnan(active_experts(settings, every))
    x, experts = facts.ops.inputs[0].logical[every], facts.ops.inputs[1].logical[every, :2].prod(axis=1)
    one_token = untold & (x[:, :3].prod(axis=1) == 1)
    behind = np.logical_or.accumulate(one_token) & (x[:, :2].prod(axis=1) == experts)
    rows = every[one_token | (untold & behind)]
    if not len(rows) or not len(chosen) or chosen[0] > rows[0]:
        return
    k = settings.numbers(chosen, lambda attributes: attributes.number("k"))[0]
    weight = facts.ops.inputs[1]
    share = k / weight.logical[rows, :2].prod(axis=1)
    streamed = share * weight.bytes[rows] / (facts.chip.dram_achievable_gb_s or np.nan)
    tell = partial(_tell, k, int(chosen[0]))
    yield Problem(rows, np.fmax(facts.kernel_ns[rows] - streamed, 0.0), tell=tell)


def _tell(k: float, chosen: int, ops: Affected) -> Words:
    return Words(
        claim=f"{ops.many('sparse matmul')} of one token without nnz ({ops.time}): {ops.example}",
        assumption=f"what stays is reading the weights of {figure(k, '.0f')} experts; measured was a ninth of a layer",
        also=(cite_attribute(ops.facts, chosen, "k"),),
        fix=f"ttnn.sparse_matmul(..., nnz={figure(k, '.0f')}) for a decode step "
        "of one token; leave it out for more tokens",
        caveat="a trial: with any other number of entries above zero the device hangs, so mark the experts by ones",
    )
