"""A sparse matmul takes K one or two tiles at a time.

in0_block_w is the number of tiles of K per step, and each step waits for its weights and for the activation
to be multicast. In tt-xla's DeepSeek log (E33, E34) the experts' SparseMatmul on 63 Blackhole cores took 48.8 ms at
in0_block_w=1, 25.4 at 2 and 18.2 at 4.

The line: SparseMatmul, 5 us and more, with a printed in0_block_w of half or less of the deepest up to 8 that divides K
and whose circular buffers fit half of L1; 1 % of the window to save. The bound is the steps that go away.

Silent if no in0_block_w is printed, and while cores are idle: the L1 of blocks depends on per_core_N, so grid-left-idle
comes first. The report seldom tells the number of active experts, so no roofline limits the bound; at_least is 0.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.config_grids import LESS_WORK, shares_left
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import config_numbers, deepest_blocks
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import ATTRIBUTES, CORES, TWO_OPERANDS
from ttnn_mcp.checks.shared.changed_ops import changed
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import L1_SHARE
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_each, cite_op, cite_setting
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure

SPARSE = ops_named("no SparseMatmul ops", "SparseMatmul")
TWICE = 2  # as deep: below it the gain is lost in noise (ours)


@check(
    title="sparse matmuls in small steps",
    lever=MATMUL_CONFIG,
    of=SPARSE,
    needs=(TWO_OPERANDS, CORES, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all sparse matmuls in shallow blocks."""
    rows = np.flatnonzero(SPARSE.mask(facts) & (facts.kernel_ns >= SMALL_NS))
    now = config_numbers(facts.ops, rows, "in0_block_w")
    deep = deepest_blocks(facts.ops, rows, L1_SHARE * facts.safe_l1_bytes)
    shallow = (now * TWICE <= deep) & (shares_left(facts.ops, facts.chip)[rows] > LESS_WORK)
    rows, now, deep = rows[shallow], now[shallow], deep[shallow]
    took = facts.kernel_ns[rows]
    saved = took - np.fmax(np.fmax(took * now / deep, achievable_ns(facts)[rows]), SMALL_NS)
    blocks = dict(zip(rows.tolist(), deep.astype(np.int64).tolist(), strict=True))
    yield Problem(
        rows,
        saved,
        tell=partial(_tell, now, deep),
        becomes=lambda row: changed(facts, row, block_w=blocks[row]),
    )


def _tell(now: Floats, deep: Floats, ops: Affected) -> Words:
    facts, k_tiles = ops.facts, ops.facts.ops.inputs[0].padded[ops.row, 3] // TILE_SIDE
    return Words(
        claim=(
            f"{ops.many('sparse matmul', ('takes', 'take'))} {figure(now[ops.at], '.0f')} "
            f"of {k_tiles} tiles of K at a time "
            f"({ops.time}): {ops.example}"
        ),
        assumption="time falls with the steps of K; active experts are not in the report, so no roofline bounds it",
        evidence=cite_each(
            ops.examples[:2],
            lambda n: (*cite_op(facts, n), cite_setting(facts, n, "program_config", "in0_block_w")),
        ),
        fix=f"program_config as now with in0_block_w={figure(deep[ops.at], '.0f')} "
        "(K in tiles divides by it; try half of it too)",
        caveat="deeper blocks need L1; from some depth on the weights' bandwidth is the limit",
    )
