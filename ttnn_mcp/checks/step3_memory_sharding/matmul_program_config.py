"""A matmul's block sizes keep it far from both of its bounds.

in0_block_w is how many tiles of K a core takes per step: at 1 every tile is multicast on its own. A 1x1
output subblock uses one of 8 destination registers (4 with fp32_dest_acc_en). MatmulMultiCoreProgramConfig
reuses nothing. And a matmul that was given nothing gets what TTNN guesses: on a grid of 11 or 13 columns K
rarely divides, which leaves in0_block_w at 1 (read from matmul_program_config.cpp, not measured).

A matmul of one row of tiles (decode) waits for its weights: interleaved in DRAM they arrive at about 190 of 240
GB/s that DRAM-sharded ones reach on Wormhole (tech_reports/LLMs/llms.md).

The line: 5 us and more, at under 60 % of the roofline with one of the three blocks above (a claim about what
is printed), or at under 35 % with no config given on most of the grid (a claim about what to try), or at under
85 % of achievable DRAM bandwidth with up to 32 rows and weights of 1024 x 1024 and more interleaved in DRAM; each
1 % of the window to save. The bound is the roofline itself: arithmetic on all cores, DRAM at achievable
bandwidth.

Silent where K is under 4 tiles (nothing to block), about matmuls on few cores (low-core-count), in attention
that is written out, and with operands interleaved in L1: those have their own checks. A config that TTNN
chose may be printed as if given. The fix names compute_kernel_config because a config alone lowers bfloat16
to LoFi (#55889).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ttnn_mcp.analyses.op_kinds.attention_chains import rows_of
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.formats import reads_weights, waits_for_bytes
from ttnn_mcp.analyses.op_kinds.grids import worker_grid
from ttnn_mcp.analyses.op_kinds.matmul_choice import FEW_CORES, MatmulChoice, in_l1_interleaved
from ttnn_mcp.analyses.op_kinds.matmul_config import suggested_for
from ttnn_mcp.checks.check import Check, Claim, Claims, Evidence, Mask, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import ARCHITECTURE, CORES, PROGRAM_CONFIG, TWO_OPERANDS, Need
from ttnn_mcp.checks.shared.dram_sharding import dram_sharded
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.hardware import TILE_SIDE

WELL_USED = 0.6  # of the roofline: tuned matmuls of tt-metal reach 0.6 to 0.8
POORLY_USED = 0.35  # of the roofline: below it the guess is worth replacing (ours)
STREAMS = 0.85  # of achievable bandwidth: interleaved weights reach 190/240 on Wormhole, 0.9 on Blackhole (#55898)
LEAST_WEIGHTS = 1024  # K and N: below it the stream is too short to saturate DRAM (domain practice)
LEAST_K_TILES = 4  # below it there is nothing to block
_PRINTED = re.compile(r"(in0_block_w|out_subblock_[hw]|per_core_[MN])=(\d+)")
L1_SHARE = 0.5  # of L1 for the suggested circular buffers: the rest is for tensors


def look(facts: WindowFacts) -> Claims:
    """Yield one claim each for small blocks printed, configs never given, decode from interleaved weights."""
    choice = facts.matmuls
    k_tiles = facts.ops.inputs[0].padded[choice.rows, 3] / TILE_SIDE
    small = choice.slowest | ((choice.block_w <= 1) & (k_tiles >= LEAST_K_TILES))
    small |= (choice.subblock <= 1) & (choice.per_core > 1)
    mostly = facts.ops.numbers("cores")[choice.rows] >= FEW_CORES * (facts.chip.cores or np.inf)
    guessed = choice.chosen & ~small & mostly & ~in_l1_interleaved(facts.ops)[choice.rows]
    claims = [*_claim(facts, choice, small, WELL_USED), *_claim(facts, choice, guessed, POORLY_USED)]
    yield from claims
    told = np.concatenate([np.zeros(0, dtype=np.int64), *(claim.rows for claim in claims)])
    yield from _decode_claim(facts, np.setdiff1d(choice.rows, told))


def _decode_claim(facts: WindowFacts, rows: Rows) -> Iterator[Claim]:
    """Matmuls of one row of tiles whose weights lie interleaved in DRAM, and arrive no faster than those do."""
    x, weight = facts.ops.inputs[:2]
    able = reads_weights(facts.ops, facts.flow) & ~weight.sharded & ~in_l1_interleaved(facts.ops)
    able &= (x.padded[:, :3].prod(axis=1) <= TILE_SIDE) & (weight.padded[:, 2:] >= LEAST_WEIGHTS).all(axis=1)
    able &= (facts.kernel_ns >= SMALL_NS) & waits_for_bytes(facts.ops, facts.roofline)
    best = achievable_ns(facts)
    rows = rows[(able & (best < STREAMS * facts.kernel_ns))[rows]]
    at_most = (facts.kernel_ns - best)[rows]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    reached = float(best[rows].sum() / facts.kernel_ns[rows].sum())
    yield Claim(
        claim=(
            f"{len(rows)} matmuls with at most {TILE_SIDE} rows stream interleaved weights at {reached:.0%} of "
            f"achievable DRAM bandwidth ({time_of(facts, rows)}): {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption=f"DRAM-sharded weights arrive at {facts.chip.dram_achievable_gb_s:.0f} GB/s",
        evidence=tuple(one for n in facts.heaviest(rows, 2) for one in cite_op(facts, n, (weight, "MEMORY"))),
        fix=dram_sharded(facts, row),
        verify=f"re-profile; op_detail(op={facts.line(row)}).roofline.efficiency rises; PCC >= 0.99",
        caveat="K and N must divide by the cores in tiles; keep compute_kernel_config, or fidelity drops to LoFi",
    )


def _claim(facts: WindowFacts, choice: MatmulChoice, which: Mask, used_at_most: float) -> Iterator[Claim]:
    best = achievable_ns(facts)
    which = which & (best[choice.rows] < used_at_most * facts.kernel_ns[choice.rows])
    which &= (facts.kernel_ns[choice.rows] >= SMALL_NS) & ~np.isnan(facts.roofline.compute_ns[choice.rows])
    which &= ~np.isin(choice.rows, rows_of(facts.attentions))
    rows = choice.rows[which]
    at_most = (facts.kernel_ns - best)[rows]
    if at_most.sum() < USUAL * facts.total_ns:
        return
    row = facts.heaviest(rows)[0]
    guessed = used_at_most == POORLY_USED
    seen = "were given no program config" if guessed else f"run with small blocks ({_blocks(choice, row)})"
    reached = float(best[rows].sum() / facts.kernel_ns[rows].sum())
    yield Claim(
        claim=(
            f"{len(rows)} matmuls {seen} and reach {reached:.0%} of their roofline ({time_of(facts, rows)}): "
            f"{example(facts, row)}, {facts.kernel_ns[row] / 1e3:.0f} us"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption="the roofline is reached: arithmetic on all cores, DRAM at achievable bandwidth",
        evidence=tuple(one for n in facts.heaviest(rows) for one in _evidence(facts, n)),
        fix=_fix(facts, row),
        verify=f"re-profile; op_detail(op={facts.line(row)}).roofline.efficiency rises; PCC >= 0.99",
        caveat="sweep in0_block_w and subblocks; pass compute_kernel_config, or bfloat16 drops to LoFi",
    )


def _blocks(choice: MatmulChoice, row: int) -> str:
    at = int(np.flatnonzero(choice.rows == row)[0])
    if choice.slowest[at]:
        return "MatmulMultiCoreProgramConfig"
    return f"in0_block_w {choice.block_w[at]:.0f}, subblock of {np.nan_to_num(choice.subblock[at]):.0f} tiles"


def _evidence(facts: WindowFacts, row: int) -> tuple[Evidence, ...]:
    said = facts.attributes(row).get("program_config", "")
    short = "; ".join(f"{key}={value}" for key, value in _PRINTED.findall(said)) or shown(said)
    cell = Evidence(source=facts.ops.source, row=facts.line(row), column="ATTRIBUTES.program_config", value=short)
    return (*cite_op(facts, row), cell)


def _fix(facts: WindowFacts, row: int) -> str:
    grid, limit = worker_grid(facts.chip), facts.l1_limit
    config = suggested_for(facts.ops, row, grid, L1_SHARE * limit.safe_bytes) if grid and limit else None
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
    of=ops_named("no Matmul ops", "Matmul"),
    needs=(TWO_OPERANDS, CORES, PROGRAM_CONFIG, ARCHITECTURE, FIDELITY_OF_MATMULS),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
