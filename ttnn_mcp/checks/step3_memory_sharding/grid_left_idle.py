"""A program config gives each core more work than necessary, and leaves other cores idle.

A matmul's per_core_M and per_core_N, and the grid of an attention, set the number of pieces of work per core; the op
ends with the core that has most. Llama's prefill attention over 4096 rows on 8 x 8 of 110 cores took 2994 us and 2271
on 11 x 10 (tt-metal PR #56898). A SparseMatmul of 128 tiles of N with per_core_N=6 ran on 21 of 110 cores; with 2 it
ran on 63, in 45 % of the time (tt-xla's DeepSeek log, E31). With the cores of a sparse matmul the depth of its blocks
is chosen again: GLM-4.7-Flash's experts went from 61 to 37 ms with blocks of 32 tiles in place of 8, from 38 to 18 with
24 and twice the cores, GPT-OSS's from 942 to 834 us of wall time. So it is a trial, down to blocks of 32.

minimal_matmul on 8 x 8 of 11 x 10 cores took a fifth to a third longer over 256 to 2048 rows (CLM-8B's port).

The line: Matmul, Linear and SparseMatmul with a multicast config, minimal_matmul with a grid, and prefill attention; 5
us and more; at least a tenth less work per core on the whole grid; 1 % of the window to save. The bound is that share
of the time, down to the DRAM bytes at achievable bandwidth and the arithmetic.

A 2D config whose columns do not divide the tiles of N is not offered: 192 tiles over 11 columns ran without an error
and came out wrong (CLM-8B's port in tt-metal). There the fix pads the weights, and is a trial: nobody measured it, and
ten columns of Muse-Glimmer's came out wrong too. So are weights in batches: down of Motif-3's experts took 222 us, and
241 on all cores (its port in tt-metal).

Silent if sharded operands chose the cores, if the work does not divide finer (128 tiles on 110 cores are two each), on
1D configs of at most 64 rows over half of the grid and more (32 of 64 cores were the best of a sweep, Qwen3-TTS on
N300), about rings (matmuls and attention), DRAM-sharded configs, sub-devices and decode attention, and above 110 cores
on Blackhole, which tt-metal avoids because of current transients: 12 columns only with fewer rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.op_kinds.config_grids import (
    LESS_WORK,
    MATMULS,
    MINIMAL,
    Deal,
    deal_of,
    padded_columns,
    shares_left,
)
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import config_numbers
from ttnn_mcp.checks.check import Affected, Floats, Mask, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import ATTENTION_GRID, MATMUL_CONFIG
from ttnn_mcp.checks.needs import ATTRIBUTES, CORES, TWO_OPERANDS
from ttnn_mcp.checks.shared.changed_ops import changed
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_attribute, cite_each
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

DEEPEST = 32  # tiles of K of a sparse matmul: measured, gate and up of GLM-4.7-Flash's experts


@check(
    title="program configs that leave cores idle",
    lever=MATMUL_CONFIG,
    of=Subject(
        lambda facts: facts.named(*MATMULS) | facts.of_family("attention"), "no matmuls and no fused attention"
    ),
    needs=(TWO_OPERANDS, CORES, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses shards and cores"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such ops."""
    left = shares_left(facts.ops, facts.chip)
    best = np.fmax(np.fmax(left * facts.kernel_ns, achievable_ns(facts)), SMALL_NS)
    less, attends = best <= LESS_WORK * facts.kernel_ns, facts.of_family("attention")
    sparse, padded = facts.named("SparseMatmul"), padded_columns(facts.ops, facts.chip) > 0
    best[sparse] = np.fmax(np.fmax(left * _deepened(facts, sparse), achievable_ns(facts)), SMALL_NS)[sparse]
    unsure = padded | sparse | (facts.ops.inputs[1].padded[:, :2].prod(axis=1) > 1)
    law = partial(_on_the_grid, facts)
    for rows, lever, then, trial in (
        (less & ~attends & ~unsure, MATMUL_CONFIG, law, False),
        (less & ~attends & unsure & ~sparse, MATMUL_CONFIG, None, True),
        (less & sparse, MATMUL_CONFIG, law, True),
        (less & attends, ATTENTION_GRID, law, False),
    ):
        at = np.flatnonzero(rows)
        saved = (facts.kernel_ns - best)[at]
        yield Problem(at, saved, lever=lever, tell=_tell, becomes=then, is_trial=trial)


def _deepened(facts: WindowFacts, sparse: Mask) -> Floats:
    """The time of each op if the steps over K of sparse ones fall to those of the deepest block that was measured."""
    left: Floats = np.array(facts.kernel_ns, dtype=float)
    now = config_numbers(facts.ops, np.flatnonzero(sparse), "in0_block_w")
    left[sparse] *= np.where(now < DEEPEST, now / DEEPEST, 1.0)
    return left


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    deal = deal_of(facts.ops, row, facts.chip)
    if deal is None:  # unmoved: a share below 1 comes from a deal
        raise ValueError("an op without a deal leaves no share of its work")
    columns, high = deal.grid
    pieces, fewer = (blocks[0] * blocks[1] for blocks in (deal.per_core, deal.could_be))
    what = "chunks" if facts.of_family("attention")[row] else "tiles"
    return Words(
        claim=(
            f"{ops.kinds} {ops.verb('give')} more work to each core than {columns}x{high} cores need ({ops.time}): "
            f"{pieces} {what}, not {fewer}, {ops.example}"
        ),
        assumption="time falls with the work per core, down to DRAM bytes and arithmetic; 5 us stay",
        evidence=cite_each(
            ops.examples[:2], lambda n: (*facts.cite(n), cite_attribute(facts, n, _argument(facts, n)))
        ),
        fix=_fix(facts, row, deal),
        verify=f"re-profile; op_detail(op={ops.line}) shows more cores, kernel_us falls; PCC >= 0.99",
        caveat=(
            "keep out_subblock_w=1: at 2 and 3 the experts' results were wrong (PCC 0.83 to 0.87, GLM-4.7-Flash)"
            if facts.named("SparseMatmul")[row]
            else "other ops may hold the idle cores on purpose (prefetcher, collectives); or DRAM may be the limit"
        ),
    )


def _on_the_grid(facts: WindowFacts, row: int) -> Described | None:
    """The op with its work dealt to the whole grid."""
    deal = deal_of(facts.ops, row, facts.chip)
    if deal is None:  # unmoved: see above
        return None
    if facts.of_family("attention")[row]:
        return changed(facts, row, grid=deal.grid, cores=None)
    high, wide = deal.could_be
    one = {"subblock_w": 1} if facts.named("SparseMatmul")[row] else {}  # wider ones came out wrong
    return changed(facts, row, grid=deal.grid, cores=None, per_core_m=high, per_core_n=wide, **one)


def _fix(facts: WindowFacts, row: int, deal: Deal) -> str:
    columns, high = deal.grid
    if facts.of_family("attention")[row]:
        return (
            "ttnn.SDPAProgramConfig(compute_with_storage_grid_size=device.compute_with_storage_grid_size(), "
            f"<the rest as now, or as this edit has it>): {columns}x{high} cores"
        )
    if _argument(facts, row) == "config":
        return (
            f"ttnn.MinimalMatmulConfig(compute_with_storage_grid_size=ttnn.CoreCoord({columns}, {high}), <the rest as "
            f"now>), M_block_size and N_block_size for {deal.could_be[0]} x {deal.could_be[1]} tiles a core"
        )
    config = (
        f"program_config as now with compute_with_storage_grid_size={deal.grid}, per_core_M={deal.could_be[0]}, "
        f"per_core_N={deal.could_be[1]}, and {_sizes(facts, row)} that divide them"
    )
    padded = f"pad the weights' N to {deal.padded_n * TILE_SIDE} with zeros (an uneven N came out wrong), "
    return f"{padded if deal.padded_n else ''}{config}"


def _argument(facts: WindowFacts, row: int) -> str:
    """What the call at `row` calls its config."""
    return "config" if facts.named(MINIMAL)[row] else "program_config"


def _sizes(facts: WindowFacts, row: int) -> str:
    """Wider subblocks of sparse matmuls are no advice."""
    return (
        "deeper in0_block_w, out_block sizes"
        if facts.named("SparseMatmul")[row]
        else "out_block and out_subblock sizes"
    )
