"""A matmul takes K in many steps, although deeper blocks divide K and fit L1.

in0_block_w is the number of tiles of K per step, and each step waits for a multicast of both operands. The down
projection of pplx-embed-4b reached 35 % of its roofline in 38 steps of 8 tiles, and 70 % in 8 of 38 (tt-metal's notes).

On DRAM-sharded weights Qwen2.5-Coder's matmuls on four Blackhole chips took 0.3 to 0.9 us for each step more: down
with in0_block_w 2 in place of 14 29 us, QKV with 2 of 10 33, gate and up with 1 of 5 114 (its port in tt-metal).

The line: 5 us and more, at under 50 % of the roofline with K in 32 steps and more (one at 57 % of it, in 48 steps, took
4 % longer in 24: notes of an 8B encoder's port), on DRAM-sharded weights at any share; 1 % of the window to save. The
bound is the roofline, and at most 67 % of the time (the most that deeper blocks were seen to save: 25.8 -> 8.5 us, a
router of GLM-4.7-Flash; QKV, gate and up of Qwen3-4B 65 %); on DRAM-sharded weights 1 us for each step that goes away.

Silent where no deeper block divides K (there: a core's share of it, on 8 cores at least, in half the steps) and fits,
on batched weights and rings, in attention that is written out, and where small blocks or a 1D config come first
(matmul-small-blocks, matmul-multicast-one-way).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.matmul_choice import MANY_STEPS, STEP_NS, in_many_steps
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words
from ttnn_mcp.checks.shared.changed_ops import changed
from ttnn_mcp.checks.shared.dram_sharding import deeper_in_shards
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.matmul_blocks import (
    below,
    block_check,
    blocks_of,
    far_from_roofline,
    has_small_blocks,
    multicasts_one_way,
)
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.laws.descriptions import Described

FAR = 0.5  # of the roofline: deeper blocks gained at 35 % of it and lost at 57 % (between the two ours)
DEEPER = 0.67  # of the time: the most that deeper blocks saved (measured, the router of GLM-4.7-Flash)
HALF_THE_STEPS = 2  # times as deep, on DRAM-sharded weights: no smaller change of theirs was measured (ours)
DEEPEST = 38  # tiles: the deepest block that was measured, for 512 rows on 64 cores (tt-metal, pplx-embed-4b)


def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls that could take K in fewer steps."""
    far = np.where(facts.matmuls.dram_sharded, 1.0, FAR)
    shallow = in_many_steps(facts.ops, facts.matmuls) & below(facts, far)
    shallow &= ~multicasts_one_way(facts) & ~has_small_blocks(facts)
    shallow &= facts.ops.inputs[1].padded[facts.matmuls.rows, :2].prod(axis=1) == 1
    rows = np.array([row for row in facts.matmuls.rows[shallow].tolist() if _deeper(facts, row)], dtype=np.int64)
    left = facts.kernel_ns - achievable_ns(facts)
    multicast = rows[~_banked(facts, rows)]
    saved = np.minimum(left, facts.kernel_ns * DEEPER)[multicast]
    yield Problem(multicast, saved, tell=_tell, becomes=partial(_in_fewer_steps, facts))
    sharded = rows[_banked(facts, rows)]
    fewer = np.array([_steps_less(facts, row) for row in sharded.tolist()])
    yield Problem(sharded, np.minimum(left[sharded], STEP_NS * fewer), tell=_tell)


def _tell(ops: Affected) -> Words:
    return far_from_roofline(
        ops,
        f"{ops.verb('take')} K in {MANY_STEPS} steps and more ({blocks_of(ops.facts, ops.row)})",
        fix=_fix(ops.facts, ops.row),
        assumption=(
            "each step that goes away saves at most 1 us (Qwen2.5-Coder's took 0.3 to 0.9)"
            if _banked(ops.facts, ops.rows).all()
            else "deeper blocks save at most 67 % (GLM-4.7's router); pplx-embed-4b's halved the time"
        ),
    )


def _fix(facts: WindowFacts, row: int) -> str:
    fix = f"program_config as now with in0_block_w={' or '.join(map(str, _deeper(facts, row)))}"
    if not _banked(facts, np.array([row])).any():
        return fix
    last = deeper_in_shards(facts, row, DEEPEST)[-1]
    return f"{fix}; {last.block} with x on {last.cores} cores, per_core_N={last.per_core_n}"


def _banked(facts: WindowFacts, rows: Rows) -> Mask:
    return np.isin(rows, facts.matmuls.rows[facts.matmuls.dram_sharded])


def _steps_less(facts: WindowFacts, row: int) -> float:
    tiles = int(facts.ops.inputs[0].padded[row, 3]) // TILE_SIDE
    return tiles / _block_now(facts, row) - tiles / _deeper(facts, row)[-1]


def _block_now(facts: WindowFacts, row: int) -> int:
    return int(facts.matmuls.block_w[facts.matmuls.rows == row][0])


def _in_fewer_steps(facts: WindowFacts, row: int) -> Described | None:
    return changed(facts, row, block_w=_deeper(facts, row)[-1])


def _deeper(facts: WindowFacts, row: int) -> list[int]:
    """The deepest blocks that divide K and fit, twice, into L1; empty if none does."""
    if _banked(facts, np.array([row])).any():
        least = HALF_THE_STEPS * _block_now(facts, row)
        return [each.block for each in deeper_in_shards(facts, row, DEEPEST)[-3:] if each.block >= least]
    tiles, now = int(facts.ops.inputs[0].padded[row, 3]) // TILE_SIDE, _block_now(facts, row)
    deeper = [block for block in range(now + 1, DEEPEST + 1) if tiles % block == 0]
    config = facts.attributes(row).struct("program_config")
    per_m, per_n = ((config.number(f"per_core_{side}") if config else None) or 1 for side in "MN")
    operands = (*facts.ops.inputs[:2], facts.ops.outputs[0])
    a, b, out = (TILE_BYTES.get(one.dtype[row], max(TILE_BYTES.values())) for one in operands)
    room = facts.safe_l1_bytes - per_m * per_n * (out + TILE_BYTES["FLOAT32"])  # partial sums: at most
    return [block for block in deeper if 2 * block * (per_m * a + per_n * b) <= room][-3:]


CHECK = block_check(title="matmuls that take K in many steps", look=look)
