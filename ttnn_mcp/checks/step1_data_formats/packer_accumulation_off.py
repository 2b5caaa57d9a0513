"""Partial sums over the inner dimension are reloaded for every block instead of accumulated in L1.

A matmul or conv with several blocks along K packs its partial result after each block. With `packer_l1_acc` the
packer adds to what lies in L1; without it the math core reads the partial result back before it goes on. The gain
was never measured apart, so no saving is claimed: try it on. It needs an L1 buffer for the partial sums of 16
bits, or of 32 with fp32_dest_acc_en.

The line: packer_l1_acc=0 and more than 2 blocks along K, or more than 1 with a bias (from there on conv2d uses
it); together 1 % of the window. Silent where the block width is not written (ttnn chose it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.op_kinds.formats import weight_of
from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, Subject, WindowFacts, no_saving
from ttnn_mcp.checks.needs import COMPUTE_CONFIG
from ttnn_mcp.checks.shared.levers import compute_config_of_compiler
from ttnn_mcp.checks.shared.wording import cite_setting, example, kernel_config, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.attributes import Attributes

BLOCKS_WITHOUT_BIAS = 2  # conv2d turns packer_l1_acc on only beyond: ttnn conv2d_utils.cpp
BLOCKS_WITH_BIAS = 1  # same


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops with several blocks along K and the packer not accumulating."""
    able, weight = np.flatnonzero(_with_weights(facts)), facts.ops.inputs[1]
    settings = attributes_of(facts.ops)
    packer = settings.numbers(able, accumulates_in_l1)
    inner_tiles = weight.padded[able, 2] / TILE_SIDE
    blocks = np.ceil(inner_tiles / settings.numbers(able, inner_block_tiles))
    biased = settings.flags(able, "has_bias")
    off = (packer == 0) & (blocks > np.where(biased, BLOCKS_WITH_BIAS, BLOCKS_WITHOUT_BIAS))
    rows = able[off]
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
        assumption="a try: partial sums stay in L1; the gain is not known beforehand",
        evidence=(cite_setting(facts, row, "compute_kernel_config", "packer_l1_acc"), *facts.cite(row)),
        fix=kernel_config(facts, row, packer_l1_acc="True"),
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat="takes an L1 buffer for the partial sums: check memory_summary.l1_peak headroom",
    )


def _with_weights(facts: WindowFacts) -> Mask:
    """Matmuls and convs of a report that has two operand columns."""
    return facts.of_family("matmul", "conv") & (weight_of(facts.ops) is not None)


def accumulates_in_l1(said: Attributes) -> float | None:
    """1 or 0 by compute_kernel_config; None where it is not written."""
    config = said.struct("compute_kernel_config")
    return None if config is None else config.number("packer_l1_acc")


def inner_block_tiles(said: Attributes) -> float | None:
    """Tiles of one block along K, by whichever config the op prints."""
    for key, field in (
        ("block_config", "act_block_w_ntiles"),
        ("program_config", "in0_block_w"),
        ("config", "K_block_size"),
    ):
        config = said.struct(key)
        width = config.number(field) if config else None
        if width:
            return width
    return None


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
