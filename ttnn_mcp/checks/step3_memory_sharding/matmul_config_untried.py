"""A matmul stays short of its roofline, and TTNN takes another config of it that this run did not try: a trial.

Which blocks are best no report tells. Of what tt-metal's ledgers tried on whole layers (the page on the advice) deeper
blocks of K saved 3 to 27 % of a matmul, wider subblocks 12 %, a result in L1 8 to 50 %, but others brought nothing,
lost or were refused. So nothing is expected, and it stands last in the plan; `check_setting` orders the legal blocks
by the laws of time.

The line: 5 us and more, with a config or core grid of the author's, at under 60 % of the roofline, with one of three:
blocks of K twice as deep that divide it and fit L1; an output subblock of more tiles that divides the core's share and
fits the destination register; a result in DRAM whose bytes need a tenth of the time and fit a quarter of L1. 1 % of the
window to save. The bound is the roofline at peak rates, without the bytes of the result.

Silent where TTNN chose (matmul-without-config has the line), where a measured rule speaks of the same blocks
(matmul-small-blocks, matmul-multicast-one-way, matmul-in-many-steps), on rings, on weights in batches and in attention
that is written out. The depth of blocks over sharded activations is that of their shards, so none is told there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting
from ttnn_mcp.analyses.op_kinds.matmul_choice import in_l1_interleaved, in_many_steps
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import MATMUL_SWEEP
from ttnn_mcp.checks.shared.floors import WELL_USED
from ttnn_mcp.checks.shared.matmul_blocks import (
    HALF_THE_STEPS,
    banked_rows,
    below,
    block_check,
    block_now,
    deeper_blocks,
    far_from_roofline,
    has_small_blocks,
    multicasts_one_way,
)
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32

FAR = 0.5  # of the roofline, from 32 steps of K on: matmul-in-many-steps speaks there (measured)
FELT = 0.1  # of the time: below it the bytes of the result hide behind the rest (ours)
FITS_SHARE = 0.25  # of all L1: circular buffers and the other operands need the rest (ours)


class Untried(NamedTuple):
    """What TTNN would take of a matmul, each empty where there is nothing: code, and whether the result fits L1."""

    blocks: str
    subblock: str
    in_l1: bool

    @property
    def code(self) -> str:
        """All of it."""
        as_now = ", ".join(text for text in (self.blocks, self.subblock) if text)
        kept = f"program_config as now with {as_now}" if as_now else ""
        moved = "memory_config=ttnn.L1_MEMORY_CONFIG for the result" if self.in_l1 else ""
        return "; or ".join(text for text in (kept, moved) if text)


def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls of which TTNN would take another config."""
    choice = facts.matmuls
    able = below(facts, WELL_USED) & ~choice.ring & ~multicasts_one_way(facts) & ~has_small_blocks(facts)
    able &= ~(in_many_steps(facts.ops, choice) & below(facts, FAR))
    able &= (facts.ops.inputs[1].padded[choice.rows, :2].prod(axis=1) == 1) & choice.has_config & ~choice.chosen
    rows = np.array([row for row in choice.rows[able].tolist() if _untried(facts, row).code], dtype=np.int64)
    out = facts.ops.outputs[0]
    peak = facts.chip.dram_peak_gb_s or np.inf
    bytes_ns = facts.roofline.dram_ns - np.where(out.in_dram, out.bytes, 0.0) / peak
    floor = np.fmax(np.fmax(facts.roofline.compute_ns, bytes_ns), LAUNCH_FLOOR_NS)
    saved = np.maximum(facts.kernel_ns - floor, 0.0)[rows]
    yield Problem(rows, saved, tell=_tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    return far_from_roofline(
        ops,
        f"{'have' if len(ops.rows) > 1 else 'has'} configs that this run did not try",
        fix=_untried(ops.facts, ops.row).code,
        assumption="a trial: in ledgers of tt-metal 3 to 50 % less, and tries that gained nothing",
    )


def _untried(facts: WindowFacts, row: int) -> Untried:
    return Untried(_blocks(facts, row), _subblock(facts, row), _fits_l1(facts, row))


def _blocks(facts: WindowFacts, row: int) -> str:
    banked = banked_rows(facts, np.array([row])).any()
    if (facts.ops.inputs[0].sharded[row] and not banked) or not _printed(facts, row, "in0_block_w"):
        return ""
    least = HALF_THE_STEPS * block_now(facts, row)
    deeper = [block for block in deeper_blocks(facts, row) if block >= least]
    return f"in0_block_w={' or '.join(map(str, deeper))}" if deeper else ""


def _subblock(facts: WindowFacts, row: int) -> str:
    high, wide, now_h, now_w = (
        _printed(facts, row, key) for key in ("per_core_M", "per_core_N", "out_subblock_h", "out_subblock_w")
    )
    if not high or not now_h * now_w:
        return ""
    fp32 = compute_setting(facts.ops, np.array([row]), "fp32_dest_acc_en")[0] == 1
    room = DST_TILES_FP32 if fp32 else DST_TILES
    sub_w = max(side for side in range(1, min(room, wide) + 1) if wide % side == 0)
    sub_h = max(side for side in range(1, min(room // sub_w, high) + 1) if high % side == 0)
    return f"out_subblock_h={sub_h}, out_subblock_w={sub_w}" if sub_h * sub_w > now_h * now_w else ""


def _fits_l1(facts: WindowFacts, row: int) -> bool:
    out = facts.ops.outputs[0]
    if not out.in_dram[row] or out.sharded[row] or in_l1_interleaved(facts.ops)[row]:
        return False
    felt = out.bytes[row] >= FELT * facts.kernel_ns[row] * (facts.chip.dram_achievable_gb_s or np.inf)
    return bool(felt and out.bytes[row] <= FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes)


def _printed(facts: WindowFacts, row: int, key: str) -> int:
    config = facts.attributes(row).struct("program_config")
    return int((config and config.number(key)) or 0)


CHECK = block_check(
    title="another config of matmuls, a trial",
    look=look,
    lever=MATMUL_SWEEP,
    general=True,
)
