"""minimal_matmul is made for large M; with up to 32 rows it waits for weights it cannot stream fast.

With one row of tiles a matmul reads every weight once and does almost no arithmetic: DRAM bandwidth decides.
minimal_matmul blocks M, K and N for reuse of both operands and reaches a fifth to a quarter of the bandwidth
there: 192 calls of a CLIP encoder hold 62 % of its time at 19 to 26 % of DRAM peak. A DRAM-sharded program
config streams each bank's shard to the cores beside it: 240 of 288 GB/s on Wormhole
(tech_reports/LLMs/llms.md).

The line: MinimalMatmul with at most 32 rows in all batches together (padded), under 60 % of its roofline, 1 %
of the window to save. The bound is the weights' bytes at achievable bandwidth. bfloat8_b weights would halve
that again: that is `wide-weights`, and not counted here.

Silent from 33 rows on, and where the weights already stream.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import CannotTell, Check, Claim, Claims, WindowFacts, ops_named
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, TWO_OPERANDS
from ttnn_mcp.checks.shared.dram_sharding import dram_sharded
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of, took
from ttnn_mcp.checks.worth import USUAL, Worth

ROWS_AT_MOST = 32  # one row of tiles: decode, and prompts that pad to it
WELL_USED = 0.6  # of the roofline: nothing to gain beyond it but fewer bytes


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all minimal matmuls of few rows."""
    few = facts.named("MinimalMatmul") & (facts.ops.inputs[0].padded[:, :3].prod(axis=1) <= ROWS_AT_MOST)
    if few.any() and facts.chip.dram_achievable_gb_s is None:
        yield CannotTell(DRAM_BANDWIDTH.why(facts))
        return
    best = achievable_ns(facts)
    rows = np.flatnonzero(few & (best < WELL_USED * facts.kernel_ns))
    at_most = (facts.kernel_ns - best)[rows]
    if not len(rows):
        return
    examples = facts.heaviest(rows)
    row = examples[0]
    reached = facts.roofline.efficiency[rows]
    yield Claim(
        claim=(
            f"{len(rows)} minimal_matmul calls with at most {ROWS_AT_MOST} rows ({time_of(facts, rows)}) reach "
            f"{np.nanmin(reached):.0%} to {np.nanmax(reached):.0%} of DRAM peak: {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption=(
            f"weights at {facts.chip.dram_achievable_gb_s:.0f} GB/s: "
            f"{took(float(best[rows].sum()))} for the same bytes"
        ),
        evidence=tuple(one for n in examples[:2] for one in cite_op(facts, n, (facts.input(1), "MEMORY"))),
        fix=dram_sharded(facts, row),
        verify="re-profile; op_detail of these ops: roofline.efficiency above 0.6; PCC >= 0.99",
        caveat="K and N must divide by the cores in tiles; keep compute_kernel_config, or fidelity drops to LoFi",
    )


CHECK = Check(
    id="minimal-matmul-on-few-rows",
    title="minimal_matmul with few rows",
    step=3,
    look=look,
    of=ops_named("no minimal_matmul ops", "MinimalMatmul"),
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
