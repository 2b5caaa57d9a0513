"""minimal_matmul is made for large M; with up to 32 rows it cannot stream its weights fast.

With one row of tiles a matmul reads every weight once and does almost no arithmetic: DRAM bandwidth decides.
minimal_matmul blocks M, K and N for reuse of both operands and reaches a fifth to a quarter of the bandwidth
there: 192 calls of a CLIP encoder hold 62 % of its time at 19 to 26 % of DRAM peak. ttnn.linear has forms made
for it: a 1D multicast of interleaved weights (190 GB/s measured on Wormhole, 390 on Blackhole) and, on Wormhole
from K of 2048 on, DRAM-sharded weights (240 GB/s).

The line: MinimalMatmul with at most 32 rows in all batches together (padded), over 1.67 times the measured time of the
faster form, 1 % of the window to save. The bound is the op's bytes at that bandwidth, and its arithmetic. bfloat8_b
weights would halve the bytes again: that is `wide-weights`, and not counted here.

Silent from 33 rows on, where the weights already stream, where the op also splits its result, gates it (SwiGLU) or adds
a third operand, and on chips without measurements.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, CannotTell, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, TWO_OPERANDS
from ttnn_mcp.checks.op_config import sets_program
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import fastest, fastest_form, fastest_ns
from ttnn_mcp.checks.shared.minimal_call import becomes_linear
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

ROWS_AT_MOST = 32  # one row of tiles: decode, and prompts that pad to it (domain practice)
NEAR_THE_RATE = 0.6  # of the measured rate: above it only fewer bytes help
SETS = sets_program(lambda facts, row: remedy.fix if (remedy := fastest(facts, row)) else "")


@check(
    title="minimal_matmul with few rows",
    lever=MATMUL_CONFIG,
    of=ops_named("no minimal_matmul ops", "MinimalMatmul"),
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all minimal matmuls of few rows."""
    few = becomes_linear(facts) & (facts.ops.inputs[0].height <= ROWS_AT_MOST)
    if few.any() and facts.chip.dram_achievable_gb_s is None:
        yield CannotTell(DRAM_BANDWIDTH.why(facts))
        return
    rows = np.flatnonzero(few)
    best = np.fmax(fastest_ns(facts, rows), np.fmax(facts.roofline.compute_ns[rows], LAUNCH_FLOOR_NS))
    slow = best < NEAR_THE_RATE * facts.kernel_ns[rows]
    rows, best = rows[slow], best[slow]
    tell = partial(_tell, float(best.sum()))
    yield Problem(rows, facts.kernel_ns[rows] - best, sets=SETS, tell=tell, becomes=partial(fastest_form, facts))


def _tell(best_ns: float, ops: Affected) -> Words:
    facts, remedy = ops.facts, fastest(ops.facts, ops.row)
    reached = facts.roofline.dram_ns[ops.rows] / facts.kernel_ns[ops.rows]
    known = reached[np.isfinite(reached)]
    ends = (
        " to ".join(dict.fromkeys(f"{figure(end, '.0%')}" for end in (known.min(), known.max())))
        if known.size
        else ""
    )
    return Words(
        claim=(
            f"{ops.many('minimal_matmul call')} with at most {ROWS_AT_MOST} rows ({ops.time})"
            f"{f' at {ends} of DRAM peak' if ends else ''}: {ops.example}"
        ),
        assumption=f"weights at the {figure(remedy.gb_s, '.0f')} GB/s measured: {took(best_ns)}" if remedy else "",
        cells=((facts.input(1), "MEMORY"),),
        cited=2,
        fix=ops.with_only(SETS).program,
        verify=f"re-profile; op_detail(op={ops.line}) shows Matmul, kernel_us falls; PCC >= 0.99",
        caveat="a call of ttnn.linear; keep compute_kernel_config, or fidelity drops to LoFi",
    )
