"""A matmul's block sizes keep it far from both of its bounds.

in0_block_w is the number of tiles of K per step: at 1 every tile is a separate multicast. A 1x1 output subblock uses
one of 8 destination registers (4 with fp32_dest_acc_en). MatmulMultiCoreProgramConfig reuses nothing. Without settings
TTNN guesses: on a grid of 11 or 13 columns K rarely divides, so in0_block_w stays 1 (read from
matmul_program_config.cpp, not measured).

The line: 5 us and more, at under 60 % of the roofline with one of the three blocks above (a claim about what
is printed), or at under 35 % with no config given on most of the grid (a claim about what to try); each 1 % of
the window to save. The bound is the roofline itself: arithmetic on all cores, DRAM at achievable bandwidth.

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
    MATMULS,
    MatmulChoice,
    in_l1_interleaved,
    in_small_blocks,
)
from ttnn_mcp.checks.check import Check, Claim, Claims, Evidence, Mask, WindowFacts, ops_named
from ttnn_mcp.checks.needs import ARCHITECTURE, CORES, PROGRAM_CONFIG, TWO_OPERANDS, Need
from ttnn_mcp.checks.shared.dram_sharding import suggested_config
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, example, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.errors import shown

WELL_USED = 0.6  # of the roofline: tuned matmuls of tt-metal reach 0.6 to 0.8
POORLY_USED = 0.35  # of the roofline: below it the guess is worth replacing (ours)
_PRINTED = re.compile(r"(in0_block_w|out_subblock_[hw]|per_core_[MN])=(\d+)")


def look(facts: WindowFacts) -> Claims:
    """Yield one claim each for small blocks printed, configs never given, decode from interleaved weights."""
    choice = facts.matmuls
    small = in_small_blocks(facts.ops, choice) & ~choice.dram_sharded
    mostly = facts.ops.numbers("cores")[choice.rows] >= FEW_CORES * (facts.chip.cores or 0)
    guessed = choice.chosen & mostly & ~in_l1_interleaved(facts.ops)[choice.rows]
    yield from _claim(facts, choice, small, WELL_USED)
    yield from _claim(facts, choice, guessed, POORLY_USED)


def _claim(facts: WindowFacts, choice: MatmulChoice, which: Mask, used_at_most: float) -> Iterator[Claim]:
    best = achievable_ns(facts)
    which = which & (best[choice.rows] < used_at_most * facts.kernel_ns[choice.rows])
    which &= (facts.kernel_ns[choice.rows] >= SMALL_NS) & ~np.isnan(facts.roofline.compute_ns[choice.rows])
    which &= ~np.isin(choice.rows, rows_of_chains(facts.attentions))
    rows = choice.rows[which]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    guessed = used_at_most == POORLY_USED
    several = len(rows) > 1
    problem = f"run{'' if several else 's'} with small blocks ({_blocks(choice, row)})"
    if guessed:
        problem = f"{'were' if several else 'was'} given no program config"
    reached = float(best[rows].sum() / facts.kernel_ns[rows].sum())
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} {problem} and reach{'es' * (len(rows) == 1)} {reached:.0%} of the roofline "
            f"({time_of(facts, rows)}): "
            f"{example(facts, row)}, {facts.kernel_ns[row] / 1e3:.0f} us"
        ),
        rows=rows,
        at_most_ns=(facts.kernel_ns - best)[rows],
        assumption="the roofline is reached: arithmetic on all cores, DRAM at achievable bandwidth",
        evidence=cite_each(facts.heaviest(rows), lambda n: _evidence(facts, n)),
        fix=_fix(facts, row),
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


def _fix(facts: WindowFacts, row: int) -> str:
    config = suggested_config(facts, row)
    if config is None:
        return (
            "ttnn.linear(x, w, core_grid=ttnn.CoreGrid(y=g.y, x=g.x), compute_kernel_config=<as now>) with g = "
            "device.compute_with_storage_grid_size(), then sweep program_config"
        )
    return f"{config}; keep compute_kernel_config"


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
