"""A matmul takes K in many steps, although deeper blocks divide K and fit L1.

in0_block_w is the number of tiles of K per step, and each step waits for a multicast of both operands. The down
projection of pplx-embed-4b reached 35 % of its roofline in 38 steps of 8 tiles, and 70 % in 8 of 38 (tt-metal's notes).

On DRAM-sharded weights Qwen2.5-Coder's matmuls on four Blackhole chips took 0.3 to 0.9 us for each step more: down
with in0_block_w 2 in place of 14 29 us, QKV with 2 of 10 33, gate and up with 1 of 5 114 (its port in tt-metal). So do
1D configs over one row of tiles: down of Llama 3.3 70B took 0.74 us a step, gate and up of Llama 3.1 8B 0.84.

The line: 5 us and more, at under 50 % of the roofline with K in 32 steps and more (one at 57 % of it, in 48 steps, took
4 % longer in 24: notes of an 8B encoder's port), at any share on DRAM-sharded weights and with a 1D config over one row
of tiles; 1 % of the window to save. The bound is the roofline at peak rates, and at most 67 % of the time (the most
that deeper blocks were seen to save: 25.8 -> 8.5 us, a router of GLM-4.7-Flash; QKV, gate and up of Qwen3-4B 65 %); on
DRAM-sharded weights, and near the roofline, 1 us for each step that goes away.

Silent where no deeper block divides K and fits (on DRAM-sharded weights in half the steps; there, and where x lies in
shards of columns, 8 cores hold x at least), on batched weights and rings, in attention that is written out, and where
small blocks or a 1D config come first (matmul-small-blocks, matmul-multicast-one-way).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.op_kinds.matmul_choice import MANY_STEPS, STEP_NS
from ttnn_mcp.analyses.programs.matmul_config import inner_tiles
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words
from ttnn_mcp.checks.shared.changed_ops import changed
from ttnn_mcp.checks.shared.dram_sharding import deeper_in_shards
from ttnn_mcp.checks.shared.floors import achievable_ns, least_ns
from ttnn_mcp.checks.shared.matmul_blocks import (
    DEEPEST,
    FAR,
    banked_rows,
    below,
    block_check,
    block_now,
    blocks_of,
    deeper_blocks,
    far_from_roofline,
    takes_many_steps,
    told_blocks,
)

DEEPER = 0.67  # of the time: the most that deeper blocks saved (measured, the router of GLM-4.7-Flash)


@block_check(title="matmuls that take K in many steps")
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls that could take K in fewer steps."""
    shallow = takes_many_steps(facts) & (facts.ops.inputs[1].padded[facts.matmuls.rows, :2].prod(axis=1) == 1)
    rows = np.array(
        [row for row in facts.matmuls.rows[shallow].tolist() if deeper_blocks(facts, row)], dtype=np.int64
    )
    banked, far = banked_rows(facts, rows), _far(facts, rows)
    saved = np.minimum(facts.kernel_ns - least_ns(facts), facts.kernel_ns * DEEPER)
    then = partial(_in_fewer_steps, facts)
    yield Problem(rows[far & ~banked], saved[rows[far & ~banked]], tell=_tell, becomes=then)
    for these in (rows[~far & ~banked], rows[banked]):
        fewer = np.array([_steps_less(facts, row) for row in these.tolist()])
        left = (facts.kernel_ns - achievable_ns(facts))[these]
        yield Problem(these, np.minimum(left, STEP_NS * fewer), tell=_tell, becomes=then)


def _far(facts: WindowFacts, rows: Rows) -> Mask:
    """Which of the rows are far from their roofline."""
    return np.isin(rows, facts.matmuls.rows[below(facts, FAR)])


def _tell(ops: Affected) -> Words:
    return far_from_roofline(
        ops,
        f"{ops.verb('take')} K in {MANY_STEPS} steps and more ({blocks_of(ops.facts, ops.row)})",
        fix=_fix(ops.facts, ops.row),
        assumption=(
            "each step that goes away saves at most 1 us (Qwen2.5-Coder's took 0.3 to 0.9)"
            if (banked_rows(ops.facts, ops.rows) | ~_far(ops.facts, ops.rows)).all()
            else "deeper blocks save at most 67 % (GLM-4.7's router); pplx-embed-4b's halved the time"
        ),
    )


def _fix(facts: WindowFacts, row: int) -> str:
    """Each deeper block; over banked weights the deepest, with the cores whose shares it divides."""
    if not banked_rows(facts, np.array([row])).any():
        return f"program_config as now with {told_blocks(facts, row, deeper_blocks(facts, row))}"
    last = deeper_in_shards(facts, row, DEEPEST)[-1]
    return f"program_config as now with in0_block_w={last.block}, per_core_N={last.per_core_n}, x on {last.cores} cores"


def _steps_less(facts: WindowFacts, row: int) -> float:
    tiles = inner_tiles(facts.ops, row)
    return tiles / block_now(facts, row) - tiles / deeper_blocks(facts, row)[-1]


def _in_fewer_steps(facts: WindowFacts, row: int) -> Described | None:
    return changed(facts, row, block_w=deeper_blocks(facts, row)[-1])
