"""minimal_matmul, or a matmul of experts, stays short of its roofline, with blocks that this run did not vary: a trial.

Which blocks are best no report tells, and TTNN's are of one size for all shapes: on whole layers in tt-metal's
ledgers other blocks of minimal_matmul saved 5 to 48 % (also in its forms fused with an exchange), blocks of K up to 32
tiles deep 37 to 52 % of matmuls of experts, and all 128 tiles in one block 17 % (Solar Open 100B); where K is one block
already, other shares of N on other cores saved 50 % (Ornith 35B). But of one model's experts all seven tries lost
(Qwen3 Coder 30B), so nothing is expected but by a law of time: of one row of tiles for each expert it knows blocks of
K.

The line: 5 us and more, at under 60 % of the roofline; 1 % of the window to save. minimal_matmul over more than one row
of tiles (minimal-matmul-on-few-rows speaks of one) whose other blocks L1 holds; SparseMatmul. The bound is the roofline
at peak rates, without the bytes of the result; 60 % of the time where the report does not tell how many of the experts
are read. It stands beside sparse-matmul-blocks, grid-left-idle and minimal-matmul-blocks.

Silent on dense matmuls with a program config: matmul-config-untried.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription, all_active
from ttnn_mcp.analyses.op_kinds.sparse_matmuls import block_bytes, config_numbers
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul
from ttnn_mcp.analyses.settings.matmul_printed import printed_minimal
from ttnn_mcp.analyses.settings.trial import op_of
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import BLOCKS
from ttnn_mcp.checks.needs import ARCHITECTURE, ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import kinds_of
from ttnn_mcp.checks.shared.floors import leaves_much, trial_saves
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.analyses.laws.descriptions import Described

USUAL_DEEPEST = 32  # tiles of K: measured, gate and up of GLM-4.7-Flash's experts
DEEPEST = 128  # the same, of Solar Open 100B's: 1162 us became 961
ABLE = Subject(
    lambda facts: facts.names.where(lambda op_code: "MinimalMatmul" in op_code) | facts.named("SparseMatmul"),
    "no minimal_matmul and no matmuls of experts",
)


@check(
    title="other blocks of minimal_matmul and of experts, a trial",
    lever=BLOCKS,
    of=ABLE,
    needs=(TWO_OPERANDS, ATTRIBUTES, ARCHITECTURE),
    worth=Worth(saving=USUAL),
    general=True,
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield minimal_matmul, and experts."""
    saved, sparse = trial_saves(facts), facts.named("SparseMatmul")
    short = ABLE.mask(facts) & leaves_much(facts, saved)
    minimal = short & ~sparse & (facts.ops.inputs[0].height > TILE_SIDE)
    experts = short & sparse  # unmoved: a minimal_matmul prints no config of experts
    for able, other, then in ((minimal, _minimal, None), (experts, _of_experts, partial(_fastest, facts))):
        rows = np.flatnonzero(able)
        firsts, kinds = kinds_of(facts, rows)
        rows = rows[np.array([bool(other(facts, row)) for row in firsts.tolist()], dtype=np.bool_)[kinds]]
        yield Problem(rows, saved[rows], tell=_tell, becomes=then, is_trial=True)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    return Words(
        claim=f"{ops.kinds} ({ops.time}) with blocks that this run did not vary: {ops.example}, {ops.took_us}",
        assumption="a trial: in ledgers of tt-metal other blocks saved 5 to 52 % of such a matmul",
        evidence=cite_op(facts, row),
        fix=_of_experts(facts, row) if facts.named("SparseMatmul")[row] else _minimal(facts, row),
        caveat="deeper and larger blocks must fit L1 (check_setting tells); PCC after each",
    )


def _minimal(facts: WindowFacts, row: int) -> str:
    """Rows or columns halved, with a subblock that divides the half, or K twice as deep: what L1 holds of it."""
    plan = printed_minimal(op_of(facts.ops.take(np.array([row])), facts.chip)).plan
    if not isinstance(plan, MinimalMatmul):
        return ""
    m, k, n = plan.block
    tries = list[str]()
    for block, subblock in (("M_block_size", "subblock_h"), ("N_block_size", "subblock_w")):
        half = max(plan.field(block) // 2, 1)
        side = gcd(half, plan.field(subblock))
        if half < plan.field(block):
            tries.append(f"{block}={half}" + f" ({subblock}={side})" * (side < plan.field(subblock)))
    deeper = plan.with_field("K_block_size", 2 * k)
    if sum(deeper.buffers.values()) <= facts.safe_l1_bytes:
        tries.append(f"K_block_size={2 * k}")
    return f"MinimalMatmulConfig as now with {' or '.join(tries)}; now {m} x {k} x {n} tiles" if tries else ""


def _of_experts(facts: WindowFacts, row: int) -> str:
    """Deeper blocks of K that L1 holds, or where there are none other shares of N."""
    usual, deepest = _deeper_blocks(facts, row)
    columns, tries = config_numbers(facts.ops, np.array([row]), "per_core_N")[0], list[str]()
    if deepest:
        tries.append(f"in0_block_w={' or '.join(map(str, sorted({*usual, deepest})))}")
    if not usual and columns > 0:
        tries.append(
            f"half or twice of per_core_N={figure(columns, '.0f')} on twice or half of the cores, "
            "out_subblock_w up to it"
        )
    return f"program_config as now with {', or '.join(tries)}" if tries else ""


def _deeper_blocks(facts: WindowFacts, row: int) -> tuple[list[int], int]:
    """The last of the usual blocks of K that are deeper than now and that L1 holds, and the deepest; 0 if none is."""
    at = np.array([row])
    now = config_numbers(facts.ops, at, "in0_block_w")[0]
    tiles, (per_tile, result) = int(facts.ops.inputs[0].padded[row, 3]) // TILE_SIDE, block_bytes(facts.ops, at)
    most = (facts.safe_l1_bytes - result[0]) / per_tile[0]
    deeper = [block for block in range(1, DEEPEST + 1) if tiles % block == 0 and now < block <= most]
    return [block for block in deeper if block <= USUAL_DEEPEST][-3:], deeper[-1] if deeper else 0


def _fastest(facts: WindowFacts, row: int) -> Described | None:
    """The quickest by the law of the deeper blocks that are told.

    Wider subblocks are not asked about: they came out wrong where slots are looked at in vain (GLM 4.7 Flash).
    """
    now = described(facts.ops, row, facts.chip)
    if not isinstance(now, MatmulDescription):  # unmoved: of an op that no law describes nothing is expected
        return None
    usual, deepest = _deeper_blocks(facts, row)
    forms = [replace(now, block_w=block) for block in {*usual, deepest} - {0}]
    times = [(law.us, place) for place, form in enumerate(forms) if (law := expected(all_active(form)))]
    return forms[min(times)[1]] if times else None
