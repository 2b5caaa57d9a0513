"""A sparse matmul takes K one or two tiles at a time, or two of them read one activation.

in0_block_w is the number of tiles of K per step, and each step waits for its weights and for the activation
to be multicast. In tt-xla's DeepSeek log (E33, E34) the experts' SparseMatmul on 63 Blackhole cores took 48.8 ms at
in0_block_w=1, 25.4 at 2 and 18.2 at 4. Gate and up as two sparse matmuls on one activation took 309.6 ms, as one on
weights stacked along N 238.0 (E30).

The line: SparseMatmul, 5 us and more. Blocks: a printed in0_block_w of half or less of the deepest up to 8 that
divides K and whose circular buffers fit half of L1. Pairs: the same INPUT_0, sparsity and widths, one after the
other, and both use under half of the grid, so that stacked columns find cores. 1 % of the window to save. The bound
is the steps that go away, and for a pair one of the two.

Silent if no in0_block_w is printed, where the pair fills the grid, and about blocks while cores are idle: their L1
depends on per_core_N, so grid-left-idle comes first. The report seldom tells the number of active experts, so no
roofline limits these bounds; at_least is 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ttnn_mcp.analyses.op_kinds.config_grids import LESS_WORK, shares_left
from ttnn_mcp.analyses.op_kinds.few_cores import FEW_CORES, SMALL_NS
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import config_numbers, deepest_blocks, second_of_pairs
from ttnn_mcp.checks.check import Check, Claim, Claims, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, CORES, TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, cite_setting, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")
L1_SHARE = 0.5  # of L1 for the circular buffers: the rest is for tensors (ours)
TWICE = 2  # as deep: below it the gain is lost in noise (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim for shallow blocks, one for pairs on one activation."""
    rows = np.flatnonzero(SPARSE.mask(facts) & (facts.kernel_ns >= SMALL_NS))
    yield from _blocks(facts, rows)
    yield from _pairs(facts, rows)


def _blocks(facts: WindowFacts, rows: Rows) -> Iterator[Claim]:
    now = config_numbers(facts.ops, rows, "in0_block_w")
    deep = deepest_blocks(facts.ops, rows, L1_SHARE * facts.safe_l1_bytes)
    shallow = (now * TWICE <= deep) & (shares_left(facts.ops, facts.chip)[rows] > LESS_WORK)
    rows, now, deep = rows[shallow], now[shallow], deep[shallow]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    at = int(np.flatnonzero(rows == row)[0])
    took = facts.kernel_ns[rows]
    yield Claim(
        claim=(
            f"{len(rows)} sparse matmul{'s take' if len(rows) > 1 else ' takes'} {now[at]:.0f} of "
            f"{facts.ops.inputs[0].padded[row, 3] // TILE_SIDE} tiles of K at a time ({time_of(facts, rows)}): "
            f"{example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=took - np.fmax(np.fmax(took * now / deep, achievable_ns(facts)[rows]), SMALL_NS),
        assumption="time falls with the steps of K; active experts are not in the report, so no roofline bounds it",
        evidence=cite_each(
            facts.heaviest(rows, 2),
            lambda n: (*cite_op(facts, n), cite_setting(facts, n, "program_config", "in0_block_w")),
        ),
        fix=f"program_config as now with in0_block_w={deep[at]:.0f} (K in tiles divides by it; try half of it too)",
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat="deeper blocks need L1; from some depth on the weights' bandwidth is the limit",
    )


def _pairs(facts: WindowFacts, rows: Rows) -> Iterator[Claim]:
    """A second sparse matmul of the same signature that reads what the first reads."""
    few = facts.ops.numbers("cores") < FEW_CORES * (facts.chip.cores or 0)
    second = second_of_pairs(facts.ops, facts.flow, rows, few)
    if not len(second):
        return
    row = facts.heaviest(second)[0]
    before = int(rows[np.flatnonzero(rows == row)[0] - 1])
    yield Claim(
        claim=(
            f"{len(second)} sparse matmul{'s read' if len(second) > 1 else ' reads'} ({time_of(facts, second)}) the "
            f"activation of the one before on under half of the grid: {example(facts, row)}, line {facts.line(before)}"
        ),
        rows=second,
        at_most_ns=facts.kernel_ns[second] - SMALL_NS,
        assumption="one op on stacked weights takes no longer than one of the two, on cores idle now",
        evidence=cite_each((before, row), lambda n: (*cite_op(facts, n), *facts.cite(n, "cores"))),
        fix=(
            "stack both weights along N at load time (ttnn.concat(..., dim=-1)), one ttnn.sparse_matmul with twice the "
            "per_core_N or twice the cores, then ttnn.slice the halves"
        ),
        verify="re-profile; list_ops(group_by='op_code') shows fewer SparseMatmul and less of its time; PCC >= 0.99",
        caveat="inferred from shapes and order; the slices cost something: 309.6 -> 238.0 ms where it was measured",
    )


CHECK = Check(
    id="sparse-matmul-blocks",
    title="sparse matmuls in small steps",
    step=3,
    look=look,
    of=SPARSE,
    needs=(TWO_OPERANDS, CORES, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
