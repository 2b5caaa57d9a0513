"""Partial sums over the inner dimension are reloaded for every block instead of accumulated in L1.

A matmul or conv with several blocks along K packs its partial result after each block. With `packer_l1_acc` the packer
adds to the result in L1; without it the math core first reads the partial result back. The gain was never measured
alone, so no saving is claimed: try it. It needs an L1 buffer for the partial sums of 16 bits, or of 32 with
fp32_dest_acc_en.

The line: packer_l1_acc=0 and more than 2 blocks along K, or more than 1 with a bias (conv2d uses it in these cases);
together 1 % of the window. Silent if the block width is not printed (ttnn chose it).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting, inner_block_tiles
from ttnn_mcp.analyses.op_kinds.formats import weight_of
from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, Subject, WindowFacts, no_saving
from ttnn_mcp.checks.needs import COMPUTE_CONFIG
from ttnn_mcp.checks.shared.levers import compute_config_of_compiler
from ttnn_mcp.checks.shared.wording import cite_setting, example, kernel_config, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

BLOCKS_WITHOUT_BIAS = 2  # conv2d turns packer_l1_acc on only above it: ttnn conv2d_utils.cpp
BLOCKS_WITH_BIAS = 1  # same


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops with several blocks along K and the packer not accumulating."""
    able, weight = np.flatnonzero(_with_weights(facts)), facts.ops.inputs[1]
    off = compute_setting(facts.ops, able, "packer_l1_acc") == 0
    blocks = np.ceil(weight.padded[able, 2] / TILE_SIDE / inner_block_tiles(facts.ops, able))
    biased = facts.attributes_of_ops.flags(able, "has_bias")
    rows = able[off & (blocks > np.where(biased, BLOCKS_WITH_BIAS, BLOCKS_WITHOUT_BIAS))]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    count = int(blocks[np.flatnonzero(able == row)[0]])
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} ({time_of(facts, rows)}) sum several K blocks with packer_l1_acc off; "
            f"heaviest, {count} blocks: {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=no_saving(rows),
        assumption="a trial: partial sums stay in L1; the gain is not known in advance",
        evidence=(cite_setting(facts, row, "compute_kernel_config", "packer_l1_acc"), *facts.cite(row)),
        fix=kernel_config(facts, row, packer_l1_acc="True"),
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat="takes an L1 buffer for the partial sums: check memory_summary.l1_peak headroom",
    )


def _with_weights(facts: WindowFacts) -> Mask:
    """Matmuls and convs of a report that has two operand columns."""
    return facts.of_family("matmul", "conv") & (weight_of(facts.ops) is not None)


CHECK = Check(
    id="packer-accumulation-off",
    title="partial sums not accumulated in L1",
    step=1,
    look=look,
    of=Subject(_with_weights, "no matmul or conv ops"),
    needs=(COMPUTE_CONFIG,),
    worth=Worth(time=USUAL),
    compiled=compute_config_of_compiler("packer_l1_acc=True"),
)
