"""A matmul stays short of its roofline, and TTNN takes another config of it that this run did not try: a trial.

Which blocks are best no report tells. Of what tt-metal's ledgers tried on whole layers (the page on the advice) deeper
blocks of K saved 3 to 39 % of a matmul, wider subblocks 12 %, a config in place of TTNN's guess 7 to 60 %, but three of
ten tries brought nothing, lost or were refused. So nothing is expected, and it stands last in the plan;
`check_setting` orders the legal blocks by the laws of time.

The line: 5 us and more, at under 60 % of the roofline, and TTNN would take something else: a config where it chose
itself; blocks of K twice as deep that divide it and fit L1; an output subblock of more tiles that divides the core's
share and fits the destination register. 1 % of the window to save. The bound is the roofline at peak rates, without the
bytes of the result.

Silent where a measured rule speaks of the same blocks (matmul-without-config, matmul-small-blocks,
matmul-multicast-one-way, matmul-in-many-steps), on rings, on weights in batches and in attention that is written out.
The depth of blocks over sharded activations is that of their shards, so none is told there. Those of minimal_matmul and
of experts are blocks-untried.
"""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting
from ttnn_mcp.analyses.op_kinds.matmul_choice import in_many_steps
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import PROGRAM, UNTRIED
from ttnn_mcp.checks.shared.floors import WELL_USED, trial_saves
from ttnn_mcp.checks.shared.matmul_blocks import (
    HALF_THE_STEPS,
    banked_rows,
    below,
    block_check,
    block_now,
    config_to_try,
    deeper_blocks,
    far_from_roofline,
    guessed_badly,
    has_small_blocks,
    multicasts_one_way,
)
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32

FAR = 0.5  # of the roofline, from 32 steps of K on: matmul-in-many-steps speaks there (measured)
_NUMBERS = re.compile(r"[\d, ]|\bor\b")


def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls of which TTNN would take another config."""
    choice, saved = facts.matmuls, trial_saves(facts)
    able = below(facts, WELL_USED) & ~choice.ring & ~multicasts_one_way(facts) & ~has_small_blocks(facts)
    able &= ~(in_many_steps(facts.ops, choice) & below(facts, FAR)) & choice.has_config & ~guessed_badly(facts)
    able &= facts.ops.inputs[1].padded[choice.rows, :2].prod(axis=1) == 1
    groups = defaultdict[str, list[int]](list, guessed=choice.rows[able & choice.chosen].tolist())
    for row in choice.rows[able & ~choice.chosen].tolist():
        if code := _as_now(facts, row):
            groups[_NUMBERS.sub("", code)].append(row)
    for group in groups.values():
        rows = np.array(group, dtype=np.int64)
        yield Problem(rows, saved[rows], tell=_tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    guessed = ops.facts.matmuls.chosen[ops.facts.matmuls.rows == ops.row].any()
    return far_from_roofline(
        ops,
        f"{'have' if len(ops.rows) > 1 else 'has'} configs that this run did not try",
        fix=(config_to_try if guessed else _as_now)(ops.facts, ops.row),
        assumption="a trial: in ledgers of tt-metal 3 to 60 % less, and three of ten tries that gained nothing",
    )


def _as_now(facts: WindowFacts, row: int) -> str:
    """What TTNN would take in the config of a matmul; empty where there is nothing."""
    as_now = ", ".join(text for text in (_blocks(facts, row), _subblock(facts, row)) if text)
    return f"program_config as now with {as_now}" if as_now else ""


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


def _printed(facts: WindowFacts, row: int, key: str) -> int:
    config = facts.attributes(row).struct("program_config")
    return int((config and config.number(key)) or 0)


CHECK = block_check(
    title="another config of matmuls, a trial",
    look=look,
    lever=UNTRIED,
    slot=PROGRAM,
    general=True,
)
