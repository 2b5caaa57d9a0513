"""minimal_matmul runs far from the roofline on many rows, where a 2D multicast config fits L1.

minimal_matmul takes any size. Where the blocks of a 2D multicast fit L1 that one was quicker: 424 us in place of 510
and 88 in place of 109 on Blackhole (BGE-M3, tt-metal's perf_automation guide). It is the other way round where they do
not fit, or where the 2D config at hand is a poor one: QKV of Llama-3.1 8B took 218 us with it from 256 rows on, and 100
with minimal_matmul (tt-metal PR #37739); for Llama-3.3 70B on Galaxy minimal_matmul lost below 4096 rows and won above
(PR #32476). So this is a try, with the config to try.

The line: minimal_matmul over 32 rows, under 60 % of the roofline, on shapes for which a 2D config fits L1; 1 % of the
window to save. The bound is the roofline.

Silent from 60 % of the roofline on, on one row of tiles (minimal-matmul-on-few-rows), on batched weights, and where
the op also splits its result, gates it (SwiGLU) or adds a third operand.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import ARCHITECTURE, TWO_OPERANDS
from ttnn_mcp.checks.op_config import COMPUTE_AS_NOW, Sets, sets_program
from ttnn_mcp.checks.shared.changed_ops import configured
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import two_sided_config
from ttnn_mcp.checks.shared.floors import WELL_USED, achievable_ns
from ttnn_mcp.checks.shared.minimal_call import becomes_linear, beside_operands
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure

MINIMAL = ops_named("no minimal_matmul ops", "MinimalMatmul")


@check(
    title="minimal_matmul far from the roofline",
    lever=MATMUL_CONFIG,
    of=MINIMAL,
    needs=(TWO_OPERANDS, ARCHITECTURE),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all of them."""
    best = achievable_ns(facts)
    high = facts.ops.inputs[0].height > TILE_SIDE
    slow = (
        (best < WELL_USED * facts.kernel_ns) & ~np.isnan(facts.roofline.compute_ns) & (facts.kernel_ns >= SMALL_NS)
    )
    rows = np.flatnonzero(becomes_linear(facts) & high & slow)
    configs = {int(row): two_sided_config(facts, int(row)) for row in rows}
    rows = np.array([row for row, config in configs.items() if config], dtype=np.int64)
    sets = sets_program(
        lambda _, row: (
            f"ttnn.linear(x, w{beside_operands(facts, row, 'bias')}, program_config={configs[row]}, "
            f"{COMPUTE_AS_NOW})"
        )
    )
    saved, then = (facts.kernel_ns - best)[rows], configured(facts, configs.get)
    yield Problem(rows, saved, sets=sets, tell=partial(_tell, sets), becomes=then)


def _tell(sets: Sets, ops: Affected) -> Words:
    facts, rows = ops.facts, ops.rows
    reached = float(achievable_ns(facts)[rows].sum() / facts.kernel_ns[rows].sum())
    return Words(
        claim=(
            f"{ops.many('minimal_matmul call')} over {TILE_SIDE} rows ({ops.time}) "
            f"at {figure(reached, '.0%')} of the roofline: "
            f"{ops.example}"
        ),
        assumption="a try: the roofline is reached; 17 and 19 % less were measured on two shapes",
        cells=((facts.input(1), "DATATYPE"),),
        cited=2,
        fix=ops.with_only(sets).program,
        verify=f"re-profile; op_detail(op={ops.line}) shows Matmul, kernel_us falls; PCC >= 0.99",
        caveat="compute_kernel_config as now; from 4096 rows on minimal_matmul won for Llama-3.3 70B: measure",
    )
