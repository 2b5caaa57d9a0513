"""Partial sums over the inner dimension are reloaded for every block instead of accumulated in L1.

A matmul or conv with several blocks along K packs its partial result after each block. With `packer_l1_acc` the packer
adds to the result in L1; without it the math core first reads the partial result back. Measured alone once: a decode
step of Muse-Glimmer 30B took 1343 us without, 1064 with. So it is a trial, of half of a matmul's time at most. Convs of
three nets took 1.9, 5.5 and 9.3 % less with it (UFLD v2, VGG UNet and MobileNetV2 on Blackhole): of a conv's time it is
a tenth. It needs an L1 buffer for the partial sums of 16 bits, or of 32 with fp32_dest_acc_en.

The matmuls of a compiled Z-Image took 34 % less (tt-xla).

The line: packer_l1_acc=0 and more than 2 blocks along K, or more than 1 with a bias (conv2d uses it in these cases);
together 1 % of the window. Where TTNN chose the blocks of a matmul, it takes K in as many steps as its grid has
columns, or a tile or two at a time: more than 16 tiles of K are several blocks. Silent on other ops whose block width
is not printed.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting, inner_block_tiles
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import ACCUMULATION
from ttnn_mcp.checks.needs import COMPUTE_CONFIG
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler
from ttnn_mcp.checks.shared.compute_configs import WEIGHTED_OPS, sets_compute
from ttnn_mcp.checks.shared.floors import accumulation_saves, least_ns
from ttnn_mcp.checks.wording import cite_setting
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure

BLOCKS_WITHOUT_BIAS = 2  # conv2d turns packer_l1_acc on only above it: ttnn conv2d_utils.cpp
BLOCKS_WITH_BIAS = 1  # same
# As many steps as the grid has columns are more than 2, too.
MOST_CHOSEN = 8  # tiles of K: matmul_program_config.cpp of TTNN 0.81.1
OF_CONVS = 0.1  # of a conv's time: 9.3 % is the most that was measured (MobileNetV2's convs, tt-metal)
SETS = sets_compute(packer_l1_acc="True")


@check(
    title="partial sums not accumulated in L1",
    lever=ACCUMULATION,
    of=WEIGHTED_OPS,
    needs=(COMPUTE_CONFIG,),
    worth=Worth(time=USUAL),
    general=True,
    compiled=compute_config_of_compiler("packer_l1_acc=True"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops with several blocks along K and the packer not accumulating."""
    able, weight = WEIGHTED_OPS.rows(facts), facts.ops.inputs[1]
    off = compute_setting(facts.ops, able, "packer_l1_acc") == 0
    tiles, block, choice = weight.padded[able, 2] / TILE_SIDE, inner_block_tiles(facts.ops, able), facts.matmuls
    matmuls = facts.of_family("matmul")[able]
    tiles[matmuls] = facts.ops.inputs[0].padded[able, 3][matmuls] / TILE_SIDE  # turned weights have K in columns
    guessed = np.isnan(block) & np.isin(able, choice.rows[choice.chosen])
    block[guessed] = MOST_CHOSEN
    blocks = np.ceil(tiles / block)
    biased = facts.attributes_of_ops.flags(able, "has_bias")
    reloads = off & (blocks > np.where(biased, BLOCKS_WITH_BIAS, BLOCKS_WITHOUT_BIAS))
    rows = able[reloads]
    of_convs = np.minimum(OF_CONVS * facts.kernel_ns, facts.kernel_ns - least_ns(facts))[rows]
    saved = np.where(facts.of_family("conv")[rows], of_convs, accumulation_saves(facts, rows))
    yield Problem(
        rows, saved, sets=SETS, tell=partial(_tell, np.where(guessed, np.nan, blocks)[reloads]), is_trial=True
    )


def _tell(blocks: Floats, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    count = blocks[np.searchsorted(ops.rows, row)]
    of = "blocks that TTNN chose" if np.isnan(count) else f"{figure(count, '.0f')} blocks"
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) {ops.verb('sum')} several K blocks with packer_l1_acc off; heaviest, "
            f"{of}: {ops.example}"
        ),
        assumption="a trial: partial sums stay in L1, at most half of the time goes; the gain is not known in advance",
        evidence=(cite_setting(facts, row, "compute_kernel_config", "packer_l1_acc"), *facts.cite(row)),
        fix=ops.with_only(SETS).compute_text,
        caveat="takes an L1 buffer for the partial sums: check memory_summary.l1_peak headroom",
    )
