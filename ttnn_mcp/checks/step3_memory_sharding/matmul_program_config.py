"""A matmul's block sizes keep it far from both of its bounds.

in0_block_w is the number of tiles of K per step: at 1 every tile is a separate multicast. A 1x1 output subblock uses
one of 8 destination registers (4 with fp32_dest_acc_en). MatmulMultiCoreProgramConfig reuses nothing. Without settings
TTNN guesses: on a grid of 11 or 13 columns K rarely divides, so in0_block_w stays 1 (read from
matmul_program_config.cpp, not measured). A 1D config makes each core hold all rows of its columns;
from 4 rows of tiles on a 2D config was quicker (118 us became 75, tt-metal's optimization skill).

The line: 5 us and more, at under 60 % of the roofline with one of the three blocks above or K in 32 steps and more
(claims about what is printed); or at under 35 % 1D over 4 rows of tiles and more, or with no config given on most of
the grid, or for one row with K four times N (claims about what to try; over 4 rows of tiles TTNN's guess is a 2D one,
and under 20 % counts); each 1 % of the window to save. The bound is the roofline itself: arithmetic on all cores, DRAM
at achievable bandwidth.

Silent if K is under 4 tiles (nothing to block), about matmuls on few cores (low-core-count), in attention that is
written out, with operands interleaved in L1, and on DRAM-sharded weights: those have their own checks. A config that
TTNN chose may be printed as if the caller set it. The fix names compute_kernel_config because a config alone lowers
bfloat16 to LoFi (#55889).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ttnn_mcp.analyses.op_kinds.attention_chains import rows_of_chains
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.matmul_choice import (
    FEW_CORES,
    MANY_STEPS,
    MATMULS,
    MatmulChoice,
    in_l1_interleaved,
    in_many_steps,
    in_small_blocks,
)
from ttnn_mcp.checks.check import Check, Claim, Claims, Evidence, Floats, Mask, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import ARCHITECTURE, CORES, PROGRAM_CONFIG, TWO_OPERANDS, Need
from ttnn_mcp.checks.shared.dram_sharding import suggested_config, two_sided_config
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, example, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

DEEPER = 0.63  # of the time: the most that deeper blocks were seen to save (tt-xla's DeepSeek log, E33 and E34)
DEEPEST = 38  # tiles: the deepest block that was measured, for 512 rows on 64 cores (tt-metal, pplx-embed-4b)
DEEP = 4  # times N: with K half as deep fewer cores won 3 % (tt-metal, CosyVoice's notes)
ON_FEWER = (
    "; or core_grid=ttnn.CoreGrid(y=2, x=8): over a deep K half of TTNN's cores took half of its time (CosyVoice)"
)
IN_DRAM = (
    "; or all operands in ttnn.DRAM_MEMORY_CONFIG: TTNN does not fall back then (tt-mlir #7702: 264 us, not 2027)"
)
WELL_USED = 0.6  # of the roofline: tuned matmuls of tt-metal reach 0.6 to 0.8
POORLY_USED = 0.35  # of the roofline: below it the guess is worth replacing (ours)
# of the roofline, for many rows: of a vision tower's matmuls that TTNN chose for, those at 9 and 19 % gained from a
# config, one at 25 % got slower with the best of a sweep (559 us, not 531: tt-metal's Qwen3.5 vision notes)
GUESSED_BADLY = 0.2  # between the two (ours)
ROWS_FOR_2D = 4  # of tiles: from there on 2D was quicker than 1D (tt-metal's optimization skill)
_PRINTED = re.compile(r"(in0_block_w|out_subblock_[hw]|per_core_[MN])=(\d+)")


def look(facts: WindowFacts) -> Claims:
    """Yield one claim each: 1D over several rows of tiles, small blocks, many steps over K, configs never given."""
    choice, x = facts.matmuls, facts.ops.inputs[0]
    small = in_small_blocks(facts.ops, choice) & ~choice.dram_sharded & _below(facts, choice, WELL_USED)
    mostly = facts.ops.numbers("cores")[choice.rows] >= FEW_CORES * (facts.chip.cores or 0)
    mostly |= _deep(facts)[choice.rows]
    guessed = choice.chosen & mostly & ~in_l1_interleaved(facts.ops)[choice.rows]
    many = x.height[choice.rows] >= ROWS_FOR_2D * TILE_SIDE
    tall = choice.one_way & ~choice.ring & ~x.sharded[choice.rows] & many & _below(facts, choice, POORLY_USED)
    guessed &= _below(facts, choice, np.where(many, GUESSED_BADLY, POORLY_USED))
    yield from _claim(facts, choice.rows[tall], "1D")
    yield from _claim(facts, choice.rows[small & ~tall], "blocks")
    shallow = in_many_steps(facts.ops, choice) & ~small & ~tall & _below(facts, choice, WELL_USED)
    shallow &= facts.ops.inputs[1].padded[choice.rows, :2].prod(axis=1) == 1
    steps = [row for row in choice.rows[shallow].tolist() if _deeper(facts, row)]
    yield from _claim(facts, np.array(steps, dtype=np.int64), "steps")
    yield from _claim(facts, choice.rows[guessed], "guessed")


def _below(facts: WindowFacts, choice: MatmulChoice, used: float | Floats) -> Mask:
    """Matmuls that use less of their roofline, and are long enough to speak of."""
    took = facts.kernel_ns[choice.rows]
    below = (achievable_ns(facts)[choice.rows] < used * took) & (took >= SMALL_NS)
    below &= ~np.isnan(facts.roofline.compute_ns[choice.rows])
    return below & ~np.isin(choice.rows, rows_of_chains(facts.attentions))


def _claim(facts: WindowFacts, rows: Rows, kind: str) -> Iterator[Claim]:
    if not len(rows):
        return
    row, best = facts.heaviest(rows)[0], achievable_ns(facts)
    reached = float(best[rows].sum() / facts.kernel_ns[rows].sum())
    s = "s" if len(rows) == 1 else ""
    problem = {
        "1D": f"multicast{s} one way (1D) over {ROWS_FOR_2D} rows of tiles and more",
        "blocks": f"run{s} with small blocks ({_blocks(facts.matmuls, row)})",
        "steps": f"take{s} K in {MANY_STEPS} steps and more ({_blocks(facts.matmuls, row)})",
        "guessed": f"{'was' if s else 'were'} given no program config",
    }[kind]
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} {problem} and reach{'es' if s else ''} {reached:.0%} of the roofline "
            f"({time_of(facts, rows)}): {example(facts, row)}, {facts.kernel_ns[row] / 1e3:.0f} us"
        ),
        rows=rows,
        at_most_ns=np.minimum(facts.kernel_ns - best, facts.kernel_ns * (DEEPER if kind == "steps" else 1))[rows],
        assumption=(
            "deeper blocks save at most 63 % (tt-xla, E34); pplx-embed-4b's halved the time"
            if kind == "steps"
            else "the roofline is reached: arithmetic on all cores, DRAM at achievable bandwidth"
        ),
        evidence=cite_each(facts.heaviest(rows), lambda n: _evidence(facts, n)),
        fix=f"program_config as now with in0_block_w={_deeper(facts, row)}"
        if kind == "steps"
        else _fix(facts, row, two_sided=kind == "1D"),
        verify=f"re-profile; op_detail(op={facts.line(row)}).roofline.efficiency rises; PCC >= 0.99",
        caveat="sweep in0_block_w and subblocks; pass compute_kernel_config, or bfloat16 drops to LoFi",
    )


def _blocks(choice: MatmulChoice, row: int) -> str:
    at = int(np.flatnonzero(choice.rows == row)[0])
    if choice.slowest[at]:
        return "MatmulMultiCoreProgramConfig"
    tiles = np.nan_to_num(choice.subblock[at])
    return f"in0_block_w {choice.block_w[at]:.0f}, subblock of {tiles:.0f} tile{'' if tiles == 1 else 's'}"


def _evidence(facts: WindowFacts, row: int) -> tuple[Evidence, ...]:
    printed = facts.attributes(row).get("program_config", "")
    short = "; ".join(f"{key}={value}" for key, value in _PRINTED.findall(printed)) or shown(printed)
    cell = Evidence(source=facts.ops.source, row=facts.line(row), column="ATTRIBUTES.program_config", value=short)
    return (*cite_op(facts, row), cell)


def _fix(facts: WindowFacts, row: int, *, two_sided: bool) -> str:
    config = (two_sided_config if two_sided else suggested_config)(facts, row)
    if config is None:
        return (
            "ttnn.linear(x, w, core_grid=ttnn.CoreGrid(y=g.y, x=g.x), compute_kernel_config=<as now>) with g = "
            "device.compute_with_storage_grid_size(), then sweep program_config"
        )
    falls_back = facts.matmuls.slowest[facts.matmuls.rows == row].any() and in_l1_interleaved(facts.ops)[row]
    return f"{config}; keep compute_kernel_config{IN_DRAM if falls_back else ''}{ON_FEWER if _deep(facts)[row] else ''}"


def _deep(facts: WindowFacts) -> Mask:
    """Ops of one row of tiles over a K so deep that few cores, one or two tiles of N each, are as many as can pay."""
    x, out = facts.ops.inputs[0], facts.ops.outputs[0]
    return (x.height <= TILE_SIDE) & (x.padded[:, 3] >= DEEP * out.padded[:, 3])


def _deeper(facts: WindowFacts, row: int) -> str:
    """Deeper blocks that divide K and fit, twice, into L1; empty if none does."""
    tiles = int(facts.ops.inputs[0].padded[row, 3]) // TILE_SIDE
    now = int(facts.matmuls.block_w[facts.matmuls.rows == row][0])
    deeper = [block for block in range(now + 1, DEEPEST + 1) if tiles % block == 0]
    config = facts.attributes(row).struct("program_config")
    per_m, per_n = ((config.number(f"per_core_{side}") if config else None) or 1 for side in "MN")
    operands = (*facts.ops.inputs[:2], facts.ops.outputs[0])
    a, b, out = (TILE_BYTES.get(one.dtype[row], max(TILE_BYTES.values())) for one in operands)
    room = facts.safe_l1_bytes - per_m * per_n * (out + TILE_BYTES["FLOAT32"])  # partial sums: at most
    return " or ".join([str(block) for block in deeper if 2 * block * (per_m * a + per_n * b) <= room][-3:])


FIDELITY_OF_MATMULS = Need(
    "fidelity",
    lambda facts, _: not np.isnan(facts.roofline.compute_ns[facts.matmuls.rows]).all(),
    "matmuls without MATH FIDELITY, so no roofline to compare with; profile on a newer tt-metal",
)
CHECK = Check(
    id="matmul-program-config",
    title="matmul blocks far from the roofline",
    step=3,
    look=look,
    of=ops_named("no Matmul ops", *MATMULS),
    needs=(TWO_OPERANDS, CORES, PROGRAM_CONFIG, ARCHITECTURE, FIDELITY_OF_MATMULS),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
