"""A sparse matmul of one token scans all experts, and its output has room for all of them.

`ttnn.sparse_matmul` visits each expert to see whether it is active, fills the outputs of the others with zeros, and all
ops up to the sum read them. With `indices`, the experts that the router's TopK names, it visits these alone, and its
output holds these alone (tt-metal PR #50654, merged in August 2026). Layers of one token went from 1531 to 993 us with
4 of 128 experts, from 1109 to 760 with 8 of 128, and from 3407 to 1091 with 10 of 512 (the ports of GPT-OSS 120B, Solar
Open and Qwen3.8 Flash Next in tt-metal).

The line: SparseMatmul without a fourth operand on one row, whose last router before it chose at most half of as many
experts as it has weights, 16 and more; the next ones on the outputs of all of them; and the ops from the router to the
sum that hold a row or a block for each expert. 1 % of the window to save. The bound leaves the weights of the active
experts at the peak rate of DRAM, and of the other ops the part of these experts.

Silent on more tokens, as no report tells how many experts they choose together. Indices need is_input_b_sparse=True
and no nnz; the output of the first sparse matmul is then the input of the second as it is (TTNN 0.81.1 runs both).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.op_kinds.routers import FEW, MANY, ActiveExperts, Routers
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")
OPERANDS = 3  # activation, weights, sparsity; the indices are the fourth (tt-metal #50654)


class Scan(NamedTuple):
    """Sparse matmuls of one token over as many experts, and what tells how many of them are active."""

    rows: list[int]
    experts: int
    choice: ActiveExperts


@check(
    title="sparse matmuls that scan all experts",
    of=SPARSE,
    needs=(TWO_OPERANDS, ATTRIBUTES, LOGICAL_SHAPES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses the matmuls of experts"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the sparse matmuls of one token with the ops around them that are about all experts."""
    for scan in _scans(facts):
        share, sparse = scan.choice.active / scan.experts, np.array(scan.rows)
        around = _around(facts, scan)
        weights_ns = share * facts.ops.inputs[1].bytes[sparse] / (facts.chip.dram_peak_gb_s or np.nan)
        saved = np.concatenate(
            (np.fmax(facts.kernel_ns[sparse] - weights_ns, 0.0), (1 - share) * facts.kernel_ns[around])
        )
        yield Problem(np.concatenate((sparse, around)), saved, tell=partial(_tell, scan))


def _scans(facts: WindowFacts) -> list[Scan]:
    """The sparse matmuls of one token behind each router, with those on their outputs."""
    every, routers = SPARSE.rows(facts), Routers(facts.ops)
    x, weights = facts.ops.inputs[0].logical[every], facts.ops.inputs[1].logical[every, :2].prod(axis=1)
    indexed = (
        facts.ops.inputs[OPERANDS].present[every] if len(facts.ops.inputs) > OPERANDS else np.zeros(len(every))
    )
    able = (indexed == 0) & (weights >= MANY)
    of_all, scans = x[:, :2].prod(axis=1) == weights, list[Scan]()
    for at, (row, experts) in enumerate(zip(every.tolist(), weights.tolist(), strict=True)):
        choice = routers.choice(row, experts) if able[at] else None
        if choice is None or choice.active > FEW * experts:
            continue
        if scans and scans[-1].choice == choice and (of_all[at] or x[at, :3].prod() == 1):
            scans[-1].rows.append(row)
        elif x[at, :3].prod() == 1:
            scans.append(Scan([row], experts, choice))
    return scans


def _around(facts: WindowFacts, scan: Scan) -> Rows:
    """The ops from the router to the sum over the experts that hold something for each of them."""
    x, y = (operand.logical for operand in (facts.ops.inputs[0], facts.ops.outputs[0]))
    first, last = scan.rows[0], scan.rows[-1]
    reads, makes = ((shapes[:, :3] == scan.experts).any(axis=1) for shapes in (x, y))
    ends = np.flatnonzero(reads[last + 1 :] & ~makes[last + 1 :])
    end = last + 2 + int(ends[0]) if len(ends) else last + 1
    holds = reads | makes
    holds[:first] |= y[:first, 3] == scan.experts  # scores and sparsity, a number for each
    rows = np.arange(scan.choice.row + 1, end)
    return np.setdiff1d(rows[holds[rows]], scan.rows)


def _tell(scan: Scan, ops: Affected) -> Words:
    sparse, around = len(scan.rows), len(ops.rows) - len(scan.rows)
    active = figure(scan.choice.active, ".0f")
    return Words(
        claim=(
            f"{sparse} sparse matmul{'' if sparse == 1 else 's'} of one token and {around} around them go through "
            f"{scan.experts} experts, of which {active} are active ({ops.time}): {ops.example}"
        ),
        assumption=f"reading the weights of {active} experts stays, and of the other ops their part",
        also=(cite_attribute(ops.facts, scan.choice.row, scan.choice.column),),
        fix=(
            "ttnn.sparse_matmul(..., sparsity=ones, indices=ids, is_input_b_sparse=True) without nnz, `ids` the "
            f"router's experts as [1, 1, 1, {active}], ROW_MAJOR, uint16: its output holds only these; slice, "
            "activate, scale and sum them alone"
        ),
        verify=f"re-profile; outputs of SparseMatmul have {active} experts; PCC >= 0.99",
        caveat="one token only; TTNN before August 2026 takes no indices; sparsity stays an operand, but is not read",
    )
