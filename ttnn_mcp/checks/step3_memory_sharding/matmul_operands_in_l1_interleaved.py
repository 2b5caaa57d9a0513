"""A matmul with an interleaved operand or output in L1 and no program config runs on a fraction of the grid.

Moving an operand to L1 looks like step 3 but can make it slower. With all operands in DRAM and no settings, TTNN
spreads a matmul over the whole grid. As soon as one of them is L1_INTERLEAVED it takes 16, 8, 4 or 2 tiles per core
instead, the first that fits L1, so few cores work: 22 of 120 in tt-metal #56976 (1205 us against 308 us), 32 of 110 in
a DeepLabV3 report on Blackhole.

The line: INPUT_0 is not sharded, INPUT_0, INPUT_1 or the output is L1_INTERLEAVED, ATTRIBUTES show neither
program_config nor user_core_coord, and under 60 % of the grid works (the rule is create_simple_matmul_program_config
of tt-metal; the 60 % is ours). The bound spreads the same work over all cores, at best four times as fast, which is
what was measured.

Silent if the caller set a config or a core grid, and if INPUT_0 is sharded: its shards choose the cores.
The fix names compute_kernel_config because core_grid alone lowers bfloat16 from HiFi2 to LoFi (tt-metal #55889).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.matmul_choice import MATMULS, trapped
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.checks.check import Affected, Check, Evidence, Problem, Problems, WindowFacts, Words, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import CORES, PLACEMENTS, PROGRAM_CONFIG
from ttnn_mcp.checks.op_config import present
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.wording import cite_each, cite_op
from ttnn_mcp.checks.worth import USUAL, Worth

FASTER_AT_MOST = 4.0  # measured: 1205 -> 308 us, tt-metal #56976


def look(facts: WindowFacts) -> Problems:
    """Yield all trapped matmuls."""
    cores = facts.chip.cores or 0
    rows = trapped(facts.ops, facts.matmuls, cores)
    took, used = facts.kernel_ns[rows], facts.ops.numbers("cores")[rows]
    spread = np.maximum(took * used / cores, took / FASTER_AT_MOST)
    at_most = np.maximum(took - np.maximum(spread, achievable_ns(facts)[rows]), 0)
    yield Problem(rows[at_most > 0], at_most[at_most > 0], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, cores = ops.facts, ops.facts.chip.cores or 0
    used = int(facts.ops.numbers("cores")[ops.rows].min())
    return Words(
        claim=(
            f"{ops.kinds} left to TTNN with an operand in L1_INTERLEAVED, on {used} of {cores} cores ({ops.time}): "
            f"{ops.example}"
        ),
        assumption="the same work spread over all cores, at best 4x as fast (tt-metal #56976)",
        evidence=cite_each(ops.examples[:2], lambda row: _evidence(facts, row)),
        fix=_fix(facts, ops.row),
        verify=f"re-profile; op_detail(op={ops.line}) shows more cores, kernel_us falls; PCC >= 0.99",
        caveat=(
            "L1_INTERLEAVED alone makes it slower, not faster"
            if facts.chip.worker_cores
            else f"the grid is not in the report: {cores} is the most cores any op used"
        ),
    )


def _evidence(facts: WindowFacts, row: int) -> tuple[Evidence, ...]:
    operands = (*facts.ops.inputs[:2], *facts.ops.outputs[:1])
    cells = [(operand, "MEMORY") for operand in operands if operand.in_l1[row]]
    return (*cite_op(facts, row, *cells[:1]), *facts.cite(row, "cores"))


def _fix(facts: WindowFacts, row: int) -> str:
    grid = worker_grid(facts.chip)
    core_grid = f"ttnn.CoreGrid(y={grid[1]}, x={grid[0]})" if grid else "ttnn.CoreGrid(y=g.y, x=g.x)"
    return f"ttnn.matmul(a, b, core_grid={core_grid}, {present(facts, row).compute_text}), or operands in DRAM"


CHECK = Check(
    title="matmul operands interleaved in L1",
    look=look,
    lever=MATMUL_CONFIG,
    of=ops_named("no Matmul ops", *MATMULS),
    needs=(PLACEMENTS, CORES, PROGRAM_CONFIG),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses shards and cores"),
)
