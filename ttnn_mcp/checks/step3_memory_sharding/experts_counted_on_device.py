"""A sparse matmul is not told how many experts are active, although the report tells it, and counts them itself.

`ttnn.sparse_matmul` reads its sparsity at run time where `nnz` is not given. One token has exactly the k experts of
the router's TopK: told so, a layer of North-Mini went from 679 to 604 us (its port in tt-metal, July 2026).

The line: SparseMatmul without nnz on one row, whose last TopK before it chose among as many as there are experts, and
the next one on the rows of all of them; or one on such rows right behind a sparse matmul over as many experts whose nnz
is printed, as both read one sparsity (North-Mini's second matmul of all 128 experts beside a first one of eight: a
layer of 2130 us, then 652). 1 % of the window to save: a trial. The bound leaves the bytes of the active experts.

Silent on more rows of which no nnz is printed: the union of their experts changes with every step, and a wrong nnz
hangs the device (docstring of TTNN 0.81.1); where nnz is more than the experts, as it counts blocks of tokens too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.op_kinds.routers import ActiveExperts, Routers
from ttnn_mcp.analyses.roofline.matmul_flops import active_experts
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
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
    """Yield all such sparse matmuls, those of one number of experts together."""
    by = defaultdict[tuple[float, str], list[tuple[int, ActiveExperts]]](list)
    for row, choice in _untold(facts):
        by[choice.active, choice.column].append((row, choice))
    for alike in by.values():
        yield _problem(facts, np.array([row for row, _ in alike], dtype=np.int64), alike[0][1])


def _untold(facts: WindowFacts) -> Iterator[tuple[int, ActiveExperts]]:
    """Each sparse matmul without nnz of which another op tells how many experts are active."""
    every, routers = SPARSE.rows(facts), Routers(facts.ops)
    active = active_experts(attributes_of(facts.ops), every)
    x, weights = facts.ops.inputs[0].logical[every], facts.ops.inputs[1].logical[every, :2].prod(axis=1)
    beside, of_all, rows_of_x = 0, x[:, :2].prod(axis=1) == weights, x[:, :3].prod(axis=1)
    choice: ActiveExperts | None = None  # of the sparse matmul before
    for at, (row, experts) in enumerate(zip(every.tolist(), weights.tolist(), strict=True)):
        if not np.isnan(active[at]):
            choice = ActiveExperts(float(active[at]), row, "nnz") if 1 <= active[at] <= experts else None
        else:
            if rows_of_x[at] == 1:
                choice = routers.choice(row, experts)
            elif not of_all[at] or beside != experts:
                choice = None
            if choice:
                yield row, choice
        beside = experts


def _problem(facts: WindowFacts, rows: Rows, counted: ActiveExperts) -> Problem:
    weight = facts.ops.inputs[1]
    share = counted.active / weight.logical[rows, :2].prod(axis=1)
    streamed = share * weight.bytes[rows] / (facts.chip.dram_achievable_gb_s or np.nan)
    return Problem(rows, np.fmax(facts.kernel_ns[rows] - streamed, 0.0), tell=partial(_tell, counted))


def _tell(counted: ActiveExperts, ops: Affected) -> Words:
    active, behind = figure(counted.active, ".0f"), counted.column == "nnz"
    return Words(
        claim=(
            f"{ops.many('sparse matmul')} {'behind one with nnz' if behind else 'of one token'} that "
            f"{'are' if len(ops.rows) > 1 else 'is'} given no nnz ({ops.time}): {ops.example}"
        ),
        assumption=f"what stays is reading the weights of {active} experts; measured was a ninth of a layer, and more",
        also=(cite_attribute(ops.facts, counted.row, counted.column),),
        fix=f"ttnn.sparse_matmul(..., nnz={active}) "
        + ("as in the one before it" if behind else "for a decode step of one token; leave it out for more tokens"),
        caveat="a trial: with any other number of entries above zero the device hangs, so mark the experts by ones",
    )
