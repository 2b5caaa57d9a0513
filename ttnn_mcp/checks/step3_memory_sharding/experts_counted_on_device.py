"""A sparse matmul is not told how many experts are active, although the report tells it, and counts them itself.

`ttnn.sparse_matmul` reads its sparsity at run time where `nnz` is not given. One token has exactly the k experts of
the router's TopK: told so, a layer of North-Mini went from 679 to 604 us (its port in tt-metal, July 2026).

The line: SparseMatmul without nnz on one row, a TopK before it, and those behind it on the rows of all experts; or on
such rows behind one over as many experts whose nnz is printed, as both read one sparsity (North-Mini's second matmul of
all 128 experts beside a first one of eight: a layer of 2130 us, then 652). 1 % of the window to save: a trial. The
bound leaves the bytes of the active experts.

Silent on more rows of which no nnz is printed: the union of their experts changes with every step, and a wrong nnz
hangs the device (docstring of TTNN 0.81.1).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.roofline.matmul_flops import active_experts
from ttnn_mcp.arrays import Integers
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")


class Counted(NamedTuple):
    """How many experts are active, and the row and attribute that tell it."""

    active: float
    row: int
    column: str


@check(
    title="a sparse matmul without nnz",
    of=SPARSE,
    needs=(TWO_OPERANDS, ATTRIBUTES, LOGICAL_SHAPES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses the matmuls of experts"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield those behind one that is told, then those of one token."""
    settings, every = attributes_of(facts.ops), SPARSE.rows(facts)
    active = active_experts(settings, every)
    x, experts = facts.ops.inputs[0].logical[every], facts.ops.inputs[1].logical[every, :2].prod(axis=1)
    untold, of_all = np.isnan(active), x[:, :2].prod(axis=1) == experts
    like = _last_counted(~untold, experts)
    beside = untold & of_all & (like != NOBODY)
    for first in np.unique(like[beside]).tolist():
        counted = Counted(float(active[first]), int(every[first]), "nnz")
        yield _problem(facts, every[beside & (like == first)], counted)
    chosen = np.flatnonzero(facts.named("TopK"))
    one_token = untold & (x[:, :3].prod(axis=1) == 1)
    behind = np.logical_or.accumulate(one_token) & of_all
    rows = every[one_token | (untold & ~beside & behind)]
    if len(rows) and len(chosen) and chosen[0] <= rows[0]:
        k = settings.numbers(chosen, lambda attributes: attributes.number("k"))[0]
        yield _problem(facts, rows, Counted(float(k), int(chosen[0]), "k"))


def _last_counted(counted: Mask, experts: Integers) -> Integers:
    """Per sparse matmul, the place of the last one up to it over as many experts that is told its nnz."""
    last = np.full(len(counted), NOBODY, dtype=np.int64)
    for count in np.unique(experts):
        (of,) = np.nonzero(experts == count)
        last[of] = np.maximum.accumulate(np.where(counted[of], of, NOBODY))
    return last


def _problem(facts: WindowFacts, rows: Rows, counted: Counted) -> Problem:
    weight = facts.ops.inputs[1]
    share = counted.active / weight.logical[rows, :2].prod(axis=1)
    streamed = share * weight.bytes[rows] / (facts.chip.dram_achievable_gb_s or np.nan)
    return Problem(rows, np.fmax(facts.kernel_ns[rows] - streamed, 0.0), tell=partial(_tell, counted))


def _tell(counted: Counted, ops: Affected) -> Words:
    active, behind = figure(counted.active, ".0f"), counted.column == "nnz"
    return Words(
        claim=(
            f"{ops.many('sparse matmul')} {'behind one with nnz' if behind else 'of one token'} without nnz "
            f"({ops.time}): {ops.example}"
        ),
        assumption=f"what stays is reading the weights of {active} experts; measured was a ninth of a layer, and more",
        also=(cite_attribute(ops.facts, counted.row, counted.column),),
        fix=f"ttnn.sparse_matmul(..., nnz={active}) "
        + ("as in the one before it" if behind else "for a decode step of one token; leave it out for more tokens"),
        caveat="a trial: with any other number of entries above zero the device hangs, so mark the experts by ones",
    )
