"""A matmul stays short of its roofline, and TTNN takes another config of it that this run did not try: a trial.

Which blocks are best no report tells. Of what tt-metal's ledgers tried on whole layers (the page on the advice) deeper
blocks of K saved 3 to 39 % of a matmul, wider subblocks 12 %, a config in place of TTNN's guess 7 to 65 %, but three of
ten tries brought nothing, lost or were refused. Over one row of tiles a config in place of TTNN's guess, and deeper
blocks, expect what their law says (that of many rows errs by half and more). Of all else nothing is expected.
`check_setting` orders the legal blocks by the laws of time.

The line: 5 us and more, at under 60 % of the roofline, and TTNN would take something else: a config where it chose
itself, also for the caller's core grid (on Janus-Pro's tower 5 to 14 % less, on ESMFold2's pairs half); blocks of K
twice as deep that fit L1; an output subblock of more tiles. What is printed breaks no rule of check_setting. 1 % of the
window to save. The bound is the roofline at peak rates, without the bytes of the result.

Silent where a measured rule speaks of the same blocks (matmul-without-config, matmul-small-blocks,
matmul-multicast-one-way, matmul-in-many-steps), where TTNN's rules are not modelled (rings, transposed multicast,
weights in shards of L1), on weights in batches where TTNN chose, on core grids of operands in shards, and in attention
that is written out. Blocks of minimal_matmul and of sparse matmuls are blocks-untried.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import partial

import numpy as np

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul
from ttnn_mcp.analyses.settings.matmul import SUBBLOCKS
from ttnn_mcp.analyses.settings.matmul_printed import printed_matmul
from ttnn_mcp.analyses.settings.trial import op_of
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import PROGRAM, UNTRIED
from ttnn_mcp.checks.shared.changed_ops import changed, configured, of_one_row
from ttnn_mcp.checks.shared.dram_sharding import kinds_of, suggested_config
from ttnn_mcp.checks.shared.floors import WELL_USED, trial_saves
from ttnn_mcp.checks.shared.matmul_blocks import (
    HALF_THE_STEPS,
    below,
    block_check,
    config_to_try,
    deeper_blocks,
    far_from_roofline,
    guessed_badly,
    has_small_blocks,
    multicasts_one_way,
    takes_many_steps,
    told_blocks,
)
from ttnn_mcp.hardware import TILE_SIDE  # unmoved: rows are padded to whole tiles

_NUMBERS = re.compile(r"[\d, ]|\bor\b")


@block_check(
    title="other configs of matmuls, a trial",
    lever=UNTRIED,
    slot=PROGRAM,
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls of which TTNN would take another config."""
    choice, saved = facts.matmuls, trial_saves(facts)
    able = below(facts, WELL_USED) & ~multicasts_one_way(facts) & ~has_small_blocks(facts)
    able &= ~takes_many_steps(facts) & ~guessed_badly(facts)
    in_shards = (facts.ops.inputs[0].sharded | facts.ops.outputs[0].sharded)[choice.rows]  # the grid is theirs
    guessed = choice.chosen | (choice.on_grid & ~in_shards)
    able &= ~guessed | (facts.ops.inputs[1].padded[choice.rows, :2].prod(axis=1) == 1)
    rows, left = choice.rows[able], choice.rows[able & guessed]
    high, law = facts.ops.inputs[0].height[left], configured(facts, partial(suggested_config, facts))
    one_row = high <= TILE_SIDE
    for at, then in ((left[one_row], law), (left[~one_row], None)):
        yield Problem(at, saved[at], tell=_tell, becomes=then, is_trial=True)
    groups = defaultdict[str, list[int]](list)
    firsts, kinds = kinds_of(facts, rows)
    for kind, first in enumerate(firsts.tolist()):
        if code := _as_now(facts, first):
            groups[_NUMBERS.sub("", code)] += rows[kinds == kind].tolist()
    for group in groups.values():
        at = np.array(sorted(group), dtype=np.int64)
        yield Problem(at, saved[at], tell=_tell, becomes=of_one_row(partial(_deeper, facts)), is_trial=True)


def _deeper(facts: WindowFacts, row: int) -> Described | None:
    """The matmul with the deepest of the blocks that are told; None where only a subblock is."""
    blocks = _legal_blocks(facts, row, _plan_now(facts, row))
    return changed(facts, row, block_w=blocks[-1]) if blocks else None


def _tell(ops: Affected) -> Words:
    choice = ops.facts.matmuls
    guessed = (choice.chosen | choice.on_grid)[choice.rows == ops.row].any()
    return far_from_roofline(
        ops,
        f"{'have' if len(ops.rows) > 1 else 'has'} configs that this run did not try",
        fix=(config_to_try if guessed else _as_now)(ops.facts, ops.row),
        assumption="a trial: 3 to 60 % less where it gained, in ledgers of tt-metal",
    )


def _as_now(facts: WindowFacts, row: int) -> str:
    """What TTNN would take in the config of a matmul; empty where there is nothing, or its rules are not known."""
    plan = _plan_now(facts, row)
    blocks = _legal_blocks(facts, row, plan)
    texts = (
        told_blocks(facts, row, blocks) if blocks else "",
        _subblock(plan) if isinstance(plan, MatmulPlan) else "",
    )
    as_now = ", ".join(filter(None, texts))
    return f"program_config as now with {as_now}" if as_now else ""


def _plan_now(facts: WindowFacts, row: int) -> MatmulPlan | DramSharded | None:
    """What its config sets; None where TTNN chose, and of programs that are not modelled."""
    now = printed_matmul(op_of(facts.ops.take(np.array([row])), facts.chip), facts.safe_l1_bytes)
    plan = now.plan if now.was_given else None
    return None if isinstance(plan, MinimalMatmul) else plan


def _legal_blocks(facts: WindowFacts, row: int, plan: MatmulPlan | DramSharded | None) -> list[int]:
    """Blocks of K twice as deep as now, and deeper."""
    if plan is None:
        return []
    least = HALF_THE_STEPS * plan.in0_block_w
    return [
        block
        for block in deeper_blocks(facts, row)
        if block >= least and _is_legal(replace(plan, in0_block_w=block))
    ]


def _subblock(plan: MatmulPlan) -> str:
    """The subblock of most tiles, and of these the widest."""
    sides = ((high, wide) for high in SUBBLOCKS for wide in SUBBLOCKS)
    legal = [
        (high * wide, wide, high)
        for high, wide in sides
        if _is_legal(replace(plan, out_subblock_h=high, out_subblock_w=wide))
    ]
    tiles, wide, high = max(legal, default=(0, 0, 0))
    more = tiles > plan.out_subblock_h * plan.out_subblock_w
    return f"out_subblock_h={high}, out_subblock_w={wide}" if more else ""


def _is_legal(plan: MatmulPlan | DramSharded) -> bool:
    return all(plan.rules().values())
