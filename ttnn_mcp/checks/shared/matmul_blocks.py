"""What the checks of a matmul's program config share: who is far below its roofline and why, what to try, the words.

A config is told of one problem only: multicast one way comes before small blocks, and these before many steps over K.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import gcd

import numpy as np

from ttnn_mcp.analyses.laws.printed_op import FUNCTION
from ttnn_mcp.analyses.op_kinds.attention_chains import rows_of_chains
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.matmul_choice import (
    FEW_CORES,
    MATMULS,
    in_l1_interleaved,
    in_many_steps,
    in_small_blocks,
)
from ttnn_mcp.analyses.programs.chosen_matmul import chosen_in_dram
from ttnn_mcp.analyses.programs.grids import grid_in, worker_grid
from ttnn_mcp.analyses.programs.matmul_config import inner_tiles, tile_bytes_of
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Problems, WindowFacts, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import ARCHITECTURE, CORES, PROGRAM_CONFIG, TWO_OPERANDS, Need
from ttnn_mcp.checks.op_config import sets_program
from ttnn_mcp.checks.problem import Affected, Problem, Words
from ttnn_mcp.checks.shared.activations import kept_beside_config, on_core_grid
from ttnn_mcp.checks.shared.changed_ops import configured, of_one_row
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import (
    FEWEST_HOLDING,
    by_row,
    deeper_in_shards,
    most_holding,
    placed_for,
    suggested_config,
    two_sided_config,
)
from ttnn_mcp.checks.shared.floors import WELL_USED, achievable_ns
from ttnn_mcp.checks.wording import cite_each, cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.readers.printed.nesting import PrintedStruct
from ttnn_mcp.wire import Evidence

# of the roofline, for many rows: of a vision tower's matmuls that TTNN chose for, those at 9 and 19 % gained from a
# config, one at 25 % got slower with the best of a sweep (559 us, not 531: tt-metal's Qwen3.5 vision notes), and one at
# 37 %, for which the law of 2D expected two thirds of its time, took 1.3 to 2 times as long (BGE-M3, batch of 8)
GUESSED_BADLY = 0.2  # between the two (ours)
TALL = 1024  # rows of a head: blocks of 32 tiles of M did not fit L1 (GLM-4.7-Flash's port in tt-metal)
ROWS_FOR_2D = 4  # of tiles: from there on 2D was quicker than 1D (tt-metal's optimization skill)
FAR = 0.5  # of the roofline: deeper blocks gained at 35 % of it and lost at 57 % (between the two ours)
POORLY_USED = 0.35  # of the roofline: below it another config is worth a trial, whatever its blocks (ours)
HALF_THE_STEPS = 2  # times as deep, on DRAM-sharded weights: no smaller change of theirs was measured (ours)
MANY_SINGLE_STEPS = 16  # in so many of one tile 22 to 59 % were saved by a config, in five ledgers of tt-metal
DEEPEST = 38  # tiles: the deepest block that was measured, for 512 rows on 64 cores (tt-metal, pplx-embed-4b)
DEEP = 4  # times N: with K half as deep fewer cores won 3 % (tt-metal, CosyVoice's notes)
ON_FEWER = "; or no config and core_grid=ttnn.CoreGrid(y=2, x=8): half of the time over a deep K (CosyVoice)"
IN_DRAM = (
    "; or all operands in ttnn.DRAM_MEMORY_CONFIG: TTNN does not fall back then (tt-mlir #7702: 264 us, not 2027)"
)
_PRINTED = re.compile(r"(in0_block_w|out_subblock_[hw]|per_core_[MN])=(\d+)")
FIDELITY_OF_MATMULS = Need(
    "fidelity",
    lambda facts, _: not np.isnan(facts.roofline.compute_ns[facts.matmuls.rows]).all(),
    "matmuls without MATH FIDELITY, so no roofline to compare with; profile on a newer tt-metal",
)
block_check = partial(
    check,
    lever=MATMUL_CONFIG,
    of=ops_named("no Matmul ops", *MATMULS),
    needs=(TWO_OPERANDS, CORES, PROGRAM_CONFIG, ARCHITECTURE, FIDELITY_OF_MATMULS),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)


def short_of_roofline(
    facts: WindowFacts, matmuls: Mask, tell: Callable[[Affected], Words], *, two_sided: bool = False
) -> Problems:
    """The problems of these matmuls, whose bound is the roofline; each gets the config that its shapes want.

    Those that apply a function of the vector unit are trials: its time lies above the roofline, and no block saves it.
    """
    rows, config_of = facts.matmuls.rows[matmuls], two_sided_config if two_sided else suggested_config
    applies = facts.attributes_of_ops.numbers(rows, _functions) > 0
    for at, is_trial in ((rows[~applies], False), (rows[applies], True)):
        yield Problem(
            at,
            (facts.kernel_ns - achievable_ns(facts))[at],
            sets=sets_program(partial(config_to_try, two_sided=two_sided)),
            tell=tell,
            becomes=None if is_trial else of_one_row(configured(facts, partial(config_of, facts))),
            is_trial=is_trial,
        )


def _functions(attributes: Attributes) -> float:
    """How many functions of the vector unit the op applies; RELU is the packer's."""
    return float(sum(name != "RELU" for text in attributes.values() for name in FUNCTION.findall(text)))


def below(facts: WindowFacts, used: float | Floats) -> Mask:
    """Per matmul, whether it uses less of its roofline, and is long enough to speak of."""
    rows = facts.matmuls.rows
    took = facts.kernel_ns[rows]
    slow = (achievable_ns(facts)[rows] < used * took) & (took >= SMALL_NS)
    slow &= ~np.isnan(facts.roofline.compute_ns[rows])
    return slow & ~np.isin(rows, rows_of_chains(facts.attentions))


def over_many_rows(facts: WindowFacts) -> Mask:
    """Per matmul, whether it has so many rows that a 2D config is quicker than a 1D one."""
    return facts.ops.inputs[0].height[facts.matmuls.rows] >= ROWS_FOR_2D * TILE_SIDE


def multicasts_one_way(facts: WindowFacts) -> Mask:
    """Per matmul, whether it is slow and multicasts one way over many rows."""
    choice = facts.matmuls
    one_way = choice.one_way & ~choice.ring & ~facts.ops.inputs[0].sharded[choice.rows]
    return one_way & over_many_rows(facts) & below(facts, POORLY_USED)


def has_small_blocks(facts: WindowFacts) -> Mask:
    """Per matmul, whether it is slow and works in small blocks."""
    choice = facts.matmuls
    small = in_small_blocks(facts.ops, choice) & ~choice.dram_sharded & below(facts, WELL_USED)
    return small & ~multicasts_one_way(facts)


def each_step_costs(facts: WindowFacts) -> Mask:
    """Per matmul, whether its time is known to grow with its steps: over one row of tiles, and on banked weights."""
    one_row = facts.ops.inputs[0].height[facts.matmuls.rows] <= TILE_SIDE
    return facts.matmuls.dram_sharded | (one_row & facts.matmuls.one_way)


def takes_many_steps(facts: WindowFacts) -> Mask:
    """Per matmul, whether it is slow and takes K in many steps."""
    far = np.where(each_step_costs(facts), 1.0, FAR)
    many = in_many_steps(facts.ops, facts.matmuls) & below(facts, far)
    return many & ~multicasts_one_way(facts) & ~has_small_blocks(facts)


def guessed_badly(facts: WindowFacts) -> Mask:
    """Per matmul, whether TTNN chose its config, and it reaches little of the roofline."""
    choice = facts.matmuls
    mostly = facts.ops.numbers("cores")[choice.rows] >= FEW_CORES * (facts.chip.cores or 0)
    guessed = choice.chosen & (mostly | over_deep_k(facts)[choice.rows])
    guessed &= ~in_l1_interleaved(facts.ops)[choice.rows]
    x, weight = (operand.padded[choice.rows] for operand in facts.ops.inputs[:2])
    guessed &= ~((weight[:, :2].prod(axis=1) > 1) & (x[:, 2] >= TALL))
    guessed &= below(facts, np.where(over_many_rows(facts), GUESSED_BADLY, POORLY_USED))
    return guessed | guessed_in_single_steps(facts)


def guessed_in_single_steps(facts: WindowFacts) -> Mask:
    """Per matmul in DRAM, whether TTNN chose to take K one tile at a time, as the columns of the grid do not divide K.

    Only where as many cores work as its rule of 0.81.1 says.
    """
    choice, grid = facts.matmuls, worker_grid(facts.chip)
    asked = choice.chosen & below(facts, WELL_USED)
    if grid is None:
        return np.zeros(len(choice.rows), dtype=np.bool_)
    x, weight, out = (*facts.ops.inputs[:2], facts.ops.outputs[0])
    for operand in (x, weight, out):
        asked &= operand.placement.among("DRAM_INTERLEAVED")[choice.rows]
    asked &= weight.padded[choice.rows, :2].prod(axis=1) == 1

    def cores(row: int) -> float | None:
        """How many work on it; None where it does not take K so."""
        k, (m, n) = inner_tiles(facts.ops, row), (int(side) // TILE_SIDE for side in out.padded[row, 2:])
        chosen = chosen_in_dram(m, k, n, grid)
        single = not chosen.one_sided and chosen.in0_block_w == 1 and k >= MANY_SINGLE_STEPS
        return chosen.cores(m, n) if single else None

    rows = choice.rows[asked]
    asked[asked] = by_row(facts, rows, cores) == facts.ops.numbers("cores")[rows]
    return asked


def over_deep_k(facts: WindowFacts) -> Mask:
    """Ops of one row of tiles over a K so deep that few cores, one or two tiles of N each, are as many as can pay."""
    x, out = facts.ops.inputs[0], facts.ops.outputs[0]
    return (x.height <= TILE_SIDE) & (x.padded[:, 3] >= DEEP * out.padded[:, 3])


def banked_rows(facts: WindowFacts, rows: Rows) -> Mask:
    """Which of the rows read DRAM-sharded weights."""
    return np.isin(rows, facts.matmuls.rows[facts.matmuls.dram_sharded])


def block_now(facts: WindowFacts, row: int) -> int:
    """Its in0_block_w."""
    return int(facts.matmuls.block_w[facts.matmuls.rows == row][0])


def deeper_blocks(facts: WindowFacts, row: int) -> list[int]:
    """The deepest blocks that divide K, or a shard's part of it, and fit, twice, into L1; empty if none does."""
    if banked_rows(facts, np.array([row])).any():
        least = HALF_THE_STEPS * block_now(facts, row)
        return [each.block for each in deeper_in_shards(facts, row, DEEPEST)[-3:] if each.block >= least]
    config = facts.attributes(row).struct("program_config")
    tiles, now = inner_tiles(facts.ops, row), block_now(facts, row)
    common = gcd(tiles, _tiles_of_shard(facts, row, tiles, config))
    deeper = [block for block in range(now + 1, DEEPEST + 1) if common % block == 0]
    if facts.ops.inputs[0].placement[row] == "L1_WIDTH_SHARDED":
        deeper = [block for block in deeper if most_holding(facts, row, block) >= FEWEST_HOLDING]
    per_m, per_n = ((config.number(f"per_core_{side}") if config else None) or 1 for side in "MN")
    a, b, out = tile_bytes_of(facts.ops, row)
    room = facts.safe_l1_bytes - per_m * per_n * (out + TILE_BYTES["FLOAT32"])  # partial sums: at most
    return [block for block in deeper if 2 * block * (per_m * a + per_n * b) <= room][-3:]


def told_blocks(facts: WindowFacts, row: int, blocks: list[int]) -> str:
    """Blocks of K to try; where x lies in shards of columns, each with the cores that hold x, as it divides a shard."""
    banked = banked_rows(facts, np.array([row])).any()
    texts = [str(block) for block in blocks]
    if facts.ops.inputs[0].placement[row] == "L1_WIDTH_SHARDED" and not banked:
        texts = [f"{block} (x on {most_holding(facts, row, block)} cores)" for block in blocks]
    return f"in0_block_w={' or '.join(texts)}"


def _tiles_of_shard(facts: WindowFacts, row: int, tiles: int, config: PrintedStruct | None) -> int:
    """Those of a shard, where x lies in blocks over a 2D grid: TTNN 0.81.1 takes only divisors of it."""
    if facts.ops.inputs[0].placement[row] != "L1_BLOCK_SHARDED":
        return tiles
    columns, rows = grid_in(config) or (1, 1)
    turned = config and config.number("transpose_mcast")  # unmoved: without a config nobody asks
    return -(-tiles // (rows if turned else columns))


def blocks_of(facts: WindowFacts, row: int) -> str:
    """'in0_block_w 1, subblock of 4 tiles': the present blocks of the matmul at `row`."""
    choice = facts.matmuls
    at = int(np.flatnonzero(choice.rows == row)[0])
    if choice.slowest[at]:
        return "MatmulMultiCoreProgramConfig"
    tiles = np.nan_to_num(choice.subblock[at])  # none on DRAM-sharded weights
    subblock = f", subblock of {figure(tiles, '.0f')} tile{'' if tiles == 1 else 's'}" if tiles else ""
    return f"in0_block_w {figure(choice.block_w[at], '.0f')}{subblock}"


def config_to_try(facts: WindowFacts, row: int, *, two_sided: bool = False) -> str:
    """A config for the matmul at `row`, and what else to try there."""
    config = (two_sided_config if two_sided else suggested_config)(facts, row)
    if config is None:
        return f"{on_core_grid(facts, row)}, then sweep program_config"
    falls_back = facts.matmuls.slowest[facts.matmuls.rows == row].any() and in_l1_interleaved(facts.ops)[row]
    on_fewer = ON_FEWER if over_deep_k(facts)[row] else ""
    kept = kept_beside_config(facts, row)
    return f"{config}{placed_for(facts, row, config)}; {kept}{IN_DRAM if falls_back else ''}{on_fewer}"


def far_from_roofline(
    ops: Affected,
    problem: str,
    *,
    fix: str,
    assumption: str = "the roofline is reached: arithmetic on all cores, DRAM at achievable bandwidth",
) -> Words:
    """The words about matmuls that reach a small part of their roofline, and the `problem` why."""
    facts, rows = ops.facts, ops.rows
    reached = float(achievable_ns(facts)[rows].sum() / facts.kernel_ns[rows].sum())
    return Words(
        claim=(
            f"{ops.kinds} {problem} and reach{'es' * (len(rows) == 1)} "
            f"{figure(reached, '.0%')} of the roofline ({ops.time}): "
            f"{ops.example}, {ops.took_us}"
        ),
        assumption=assumption,
        evidence=cite_each(ops.examples, lambda row: (*cite_op(facts, row), _config_cell(facts, row))),
        fix=fix,
        verify=f"re-profile; op_detail(op={ops.line}).roofline.efficiency rises; PCC >= 0.99",
        caveat="sweep in0_block_w and subblocks; pass compute_kernel_config, or bfloat16 drops to LoFi",
    )


def _config_cell(facts: WindowFacts, row: int) -> Evidence:
    """The sizes in the printed config."""
    printed = facts.attributes(row).get("program_config", "")
    short = "; ".join(f"{key}={value}" for key, value in _PRINTED.findall(printed)) or shown(printed)
    return Evidence(source=facts.ops.source, row=facts.line(row), column="ATTRIBUTES.program_config", value=short)
