"""Products of many matrices with as many (scores and context of an attention) run on few cores by TTNN's own choice.

Where both operands are batched, TTNN divides each product by blocks of its output. A context of one or two tiles of N
has few of them: 16 heads of 320 x 320 times 320 x 32 ran on 10 cores of 110. `MatmulMultiCoreReuseProgramConfig` gives
each core rows of tiles of one head, or whole heads, with the same bits: all eight such products in three models on
Blackhole took 43 to 94 % less (tt-bio's sweeps of sites of attention).

The line: a matmul with batches on both sides, 5 us and more, no config or core grid, operands in no shards, on at most
half of the cores that the config would use and that fits L1; 1 % of the window to save. The bound: its time goes down
with the cores that it gets, and not below its roofline.

Products that use more of those cores already are a trial, down to the roofline: there a core reads each operand less
often. In four models scores took 0 to 47 % less, contexts on 38 cores 49 and 71 % on 8 and 16 with a head each, and
other counts of rows lost.

Where one block a core does not fit, cores take whole products in turn: of 1192 scores and contexts of a triangle
attention 1629 us became 891, and 5145 on ten cores 650 (OpenFold3's port).

Silent where no config fits, and with operands interleaved in L1 (matmul-operands-in-l1-interleaved).
One fused op for all of the attention comes first where its mask allows it (unfused-attention).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.matmul_choice import in_l1_interleaved
from ttnn_mcp.analyses.programs.convs import divisors
from ttnn_mcp.analyses.programs.grids import Grid, worker_grid
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import Tiles, inner_tiles, tile_bytes_of, widest_subblock
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import BLOCKS, MORE_CORES
from ttnn_mcp.checks.shared.dram_sharding import ROOMY_L1_SHARE, by_row
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.matmul_blocks import block_check
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure

FLAGS = ("fp32_dest_acc_en", "packer_l1_acc")
HALF = 0.5  # of the cores that the config uses: measured, products on 10 of 80 to 38 of 76 gained


@block_check(title="products of batches on few cores", lever=MORE_CORES)
def look(facts: WindowFacts) -> Problems:
    """Yield all such products."""
    choice, (x, y), out = facts.matmuls, facts.ops.inputs[:2], facts.ops.outputs[0]
    batches = x.padded[:, :2].prod(axis=1)
    able = choice.chosen & ((batches > 1) & (batches == y.padded[:, :2].prod(axis=1)))[choice.rows]
    able &= ~(x.sharded | y.sharded | out.sharded)[choice.rows] & (facts.kernel_ns[choice.rows] >= SMALL_NS)
    able &= ~in_l1_interleaved(facts.ops)[choice.rows]
    rows = choice.rows[able]
    then = by_row(facts, rows, lambda row: (plan := _plan(facts, row)) and _cores(plan))
    stays = facts.ops.numbers("cores")[rows] / then
    idle, took = stays <= HALF, facts.kernel_ns[rows]
    saved = took - np.maximum(took * np.where(idle, stays, 0.0), least_ns(facts)[rows])
    yield Problem(rows[idle], saved[idle], tell=partial(_tell, is_trial=False))
    busy = stays > HALF
    yield Problem(rows[busy], saved[busy], lever=BLOCKS, tell=partial(_tell, is_trial=True), is_trial=True)


def _plan(facts: WindowFacts, row: int) -> MatmulPlan | None:
    grid = worker_grid(facts.chip)
    if grid is None:
        return None
    m, n = (int(side) // TILE_SIDE for side in facts.ops.outputs[0].padded[row, 2:])
    tiles = Tiles(m, inner_tiles(facts.ops, row), n, *tile_bytes_of(facts.ops, row))
    fp32, packer = (bool(compute_setting(facts.ops, np.array([row]), key)[0] == 1) for key in FLAGS)
    batch = int(facts.ops.inputs[0].padded[row, :2].prod())
    return suggested_products(tiles, batch, grid, ROOMY_L1_SHARE * facts.safe_l1_bytes, fp32=fp32, packer_l1=packer)


def _cores(plan: MatmulPlan) -> int:
    return min(plan.batch * plan.tiles.m // plan.per_core_m, plan.grid[0] * plan.grid[1])


def _tell(ops: Affected, *, is_trial: bool) -> Words:
    facts, plan = ops.facts, _plan(ops.facts, ops.row)
    assert plan is not None  # noqa: S101 - only such rows are told
    used = facts.ops.numbers("cores")[ops.row]
    now = f"{figure(used, '.0f')} core{'s' * bool(used != 1)}"
    more_cores = "" if is_trial else "cores rises, "
    return Words(
        claim=(
            f"{ops.kinds} of batches with batches ({ops.time}): the heaviest on {now} where {_cores(plan)} "
            f"{'would' if is_trial else 'can'} work by rows of a product: {ops.example}"
        ),
        assumption=(
            "a trial: by rows of a product a core reads each operand less often"
            if is_trial
            else "the time falls with the cores that the products get, to their roofline at most"
        ),
        evidence=(*cite_op(facts, ops.row), *facts.cite(ops.row, "cores")),
        fix=(
            f"program_config=ttnn.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size={plan.grid}, "
            f"in0_block_w={plan.in0_block_w}, out_subblock_h={plan.out_subblock_h}, "
            f"out_subblock_w={plan.out_subblock_w}, per_core_M={plan.per_core_m}, per_core_N={plan.per_core_n}); "
            "keep compute_kernel_config"
        ),
        verify=f"re-profile; op_detail(op={ops.line}).{more_cores}kernel_us falls; PCC unchanged",
        caveat="per shape: sweep per_core_M; core_grid alone mostly helps too, less",
    )


# Suggests a program for products of many matrices with as many: scores and context of an attention written out.
# `MatmulMultiCoreReuseProgramConfig` gives each core whole rows of tiles of one product, or whole products. TTNN
# shares out its own choice by blocks of the output; of one or two tiles of N few blocks are left.
def suggested_products(
    tiles: Tiles, batch: int, grid: Grid, room: float, *, fp32: bool, packer_l1: bool
) -> MatmulPlan | None:
    """The config on most cores whose buffers fit `room` bytes; `tiles.m` is that of one product.

    None if none fits, where a side is no whole tile, and of sizes that no tensor on a chip has. A core gets one block,
    or where that does not fit whole products: builds before 0.81 compute wrong values with several smaller blocks (see
    `MatmulPlan.wrong_values`).
    """
    if min(tiles.m, tiles.k, tiles.n) < 1:
        return None
    cores, products = grid[0] * grid[1], divisors(batch)
    shares = (*divisors(tiles.m), *(tiles.m * together for together in products[1:]))
    rows = [rows for rows in shares if batch * tiles.m // rows <= cores][:1] + [tiles.m] * bool(products)
    rows.sort(key=lambda each: each * -(-(batch * tiles.m // each) // cores))  # what the busiest core has
    plans = (
        MatmulPlan(
            *("Reuse", tiles, grid, grid, depth, *widest_subblock(min(each, tiles.m), tiles.n, fp32=fp32)),
            *(each, tiles.n),
            batch=batch,
            fp32=fp32,
            packer_l1=packer_l1,
        )
        for each in rows
        for depth in reversed(divisors(tiles.k))
    )
    fitting = (plan for plan in plans if sum(plan.buffers.values()) <= room)
    legal = (plan for plan in fitting if all(plan.rules().values()))  # unmoved: a guard, today none breaks a rule
    return next(legal, None)
