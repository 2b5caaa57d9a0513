"""A program config gives each core more work than necessary, and leaves other cores idle.

A matmul's per_core_M and per_core_N, and the grid of an attention, set the number of pieces of work per core; the op
ends with the core that has most. Llama's prefill attention over 4096 rows on 8 x 8 of 110 cores took 2994 us and 2271
on 11 x 10 (tt-metal PR #56898). A SparseMatmul of 128 tiles of N with per_core_N=6 ran on 21 of 110 cores; with 2 it
ran on 63, in 45 % of the time (tt-xla's DeepSeek log, E31).

The line: Matmul, Linear and SparseMatmul with a multicast config, and prefill attention; 5 us and more; at least a
tenth less work per core on the whole grid; 1 % of the window to save. The bound is that share of the time, down to
the DRAM bytes at achievable bandwidth and the arithmetic.

Silent if sharded operands chose the cores, if the work does not divide finer (128 tiles on 110 cores are two each),
about rings (matmuls and attention), DRAM-sharded configs, sub-devices and decode attention, and above 110 cores on
Blackhole, which tt-metal avoids because of current transients: 12 columns only with fewer rows.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.config_grids import LESS_WORK, MATMULS, deal_of, shares_left
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Check, Claim, Claims, Evidence, Subject, WindowFacts
from ttnn_mcp.checks.needs import ATTRIBUTES, CORES, TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_attribute, cite_each, example, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such ops."""
    left = shares_left(facts.ops, facts.chip)
    best = np.fmax(np.fmax(left * facts.kernel_ns, achievable_ns(facts)), SMALL_NS)
    rows = np.flatnonzero(best <= LESS_WORK * facts.kernel_ns)
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    deal = deal_of(facts.ops, row, facts.chip)
    if deal is None:  # unmoved: a share below 1 comes from a deal
        return
    columns, high = deal.grid
    pieces, fewer = (blocks[0] * blocks[1] for blocks in (deal.per_core, deal.could_be))
    several = len(rows) > 1
    what = "chunks" if facts.of_family("attention")[row] else "tiles"
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} give{'' if several else 's'} more work to each core than {columns}x{high} cores "
            f"need ({time_of(facts, rows)}): {pieces} {what}, not {fewer}, {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=(facts.kernel_ns - best)[rows],
        assumption="time falls with the work per core, down to DRAM bytes and arithmetic; 5 us stay",
        evidence=cite_each(facts.heaviest(rows, 2), lambda n: _cells(facts, n)),
        fix=_fix(facts, row, deal.grid, deal.could_be),
        verify=f"re-profile; op_detail(op={facts.line(row)}) shows more cores, kernel_us falls; PCC >= 0.99",
        caveat="other ops may hold the idle cores on purpose (prefetcher, collectives); or DRAM may be the limit",
    )


def _cells(facts: WindowFacts, row: int) -> tuple[Evidence, ...]:
    return (*facts.cite(row), cite_attribute(facts, row, "program_config"))


def _fix(facts: WindowFacts, row: int, grid: tuple[int, int], could_be: tuple[int, int]) -> str:
    if facts.of_family("attention")[row]:
        return (
            "ttnn.SDPAProgramConfig(compute_with_storage_grid_size=device.compute_with_storage_grid_size(), "
            f"<chunks as now>): {grid[0]}x{grid[1]} cores"
        )
    return (
        f"program_config as now with compute_with_storage_grid_size={grid}, per_core_M={could_be[0]}, "
        f"per_core_N={could_be[1]}, and out_block and out_subblock sizes that divide them"
    )


CHECK = Check(
    id="grid-left-idle",
    title="program configs that leave cores idle",
    step=3,
    look=look,
    of=Subject(
        lambda facts: facts.named(*MATMULS) | facts.of_family("attention"), "no matmuls and no fused attention"
    ),
    needs=(TWO_OPERANDS, CORES, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses shards and cores"),
)
