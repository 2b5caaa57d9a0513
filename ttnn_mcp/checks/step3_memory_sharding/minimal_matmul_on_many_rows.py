"""minimal_matmul runs far from the roofline on many rows, where a 2D multicast config fits L1.

minimal_matmul takes any size. Where the blocks of a 2D multicast fit L1 that one was quicker: 424 us in place of 510
and 88 in place of 109 on Blackhole (BGE-M3, tt-metal's perf_automation guide). It is the other way round where they do
not fit, or where the 2D config at hand is a poor one: QKV of Llama-3.1 8B took 218 us with it from 256 rows on, and 100
with minimal_matmul (tt-metal PR #37739); for Llama-3.3 70B on Galaxy minimal_matmul lost below 4096 rows and won above
(PR #32476). So this is a try, with the config to try.

The line: minimal_matmul over 32 rows, under 60 % of the roofline, on shapes for which a 2D config fits L1; 1 % of the
window to save. The bound is the roofline.

Silent from 60 % of the roofline on, on one row of tiles (minimal-matmul-on-few-rows), and on batched weights.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_named
from ttnn_mcp.checks.needs import ARCHITECTURE, TWO_OPERANDS
from ttnn_mcp.checks.shared.dram_sharding import two_sided_config
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

WELL_USED = 0.6  # of the roofline: tuned matmuls of tt-metal reach 0.6 to 0.8
MINIMAL = ops_named("no minimal_matmul ops", "MinimalMatmul")


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all of them."""
    best = achievable_ns(facts)
    high = facts.ops.inputs[0].height > TILE_SIDE
    slow = (
        (best < WELL_USED * facts.kernel_ns) & ~np.isnan(facts.roofline.compute_ns) & (facts.kernel_ns >= SMALL_NS)
    )
    rows = np.flatnonzero(MINIMAL.mask(facts) & high & slow)
    configs = {int(row): two_sided_config(facts, int(row)) for row in rows}
    rows = np.array([row for row, config in configs.items() if config], dtype=np.int64)
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    reached = float(best[rows].sum() / facts.kernel_ns[rows].sum())
    yield Claim(
        claim=(
            f"{len(rows)} minimal_matmul call{'s' * (len(rows) > 1)} over {TILE_SIDE} rows ({time_of(facts, rows)}) at "
            f"{reached:.0%} of the roofline: {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=(facts.kernel_ns - best)[rows],
        assumption="a try: the roofline is reached; 17 and 19 % less were measured on two shapes",
        evidence=cite_each(facts.heaviest(rows, 2), lambda n: cite_op(facts, n, (facts.input(1), "DATATYPE"))),
        fix=f"ttnn.linear(x, w, program_config={configs[row]})",
        verify=f"re-profile; op_detail(op={facts.line(row)}) shows Matmul, kernel_us falls; PCC >= 0.99",
        caveat="compute_kernel_config as now; from 4096 rows on minimal_matmul won for Llama-3.3 70B: measure",
    )


CHECK = Check(
    id="minimal-matmul-on-many-rows",
    title="minimal_matmul far from the roofline",
    step=3,
    look=look,
    of=MINIMAL,
    needs=(TWO_OPERANDS, ARCHITECTURE),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
