"""Partial sums are kept in float32 although inputs and output are 16 bits or narrower.

`fp32_dest_acc_en` halves the destination register, from 8 tiles to 4, so output subblocks get smaller and the
packer moves twice the bytes. It buys accuracy over long inner dimensions; with 16-bit operands many models keep
their PCC without it. What it costs differs per op and was never measured apart, so no saving is claimed: try it
off.

The line: a matmul or conv with fp32_dest_acc_en=1, no FLOAT32 operand, more arithmetic than DRAM traffic, and an
output subblock that fills the 4 tiles left (tt-metal's matmul_program_config.cpp); a smaller one would not grow.
Together 1 % of the window. Silent where the subblock is not written (ttnn chose it) and on memory-bound ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.op_kinds.formats import waits_for_arithmetic, weight_of
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, no_saving, ops_of_family
from ttnn_mcp.checks.needs import COMPUTE_CONFIG
from ttnn_mcp.checks.shared.levers import compute_config_of_compiler
from ttnn_mcp.checks.shared.wording import cite_setting, example, kernel_config, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.attributes import Attributes


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops that the smaller register could hold back."""
    able = np.flatnonzero(facts.of_family("matmul", "conv"))
    settings = attributes_of(facts.ops)
    fp32 = settings.numbers(able, accumulates_in_fp32)
    float32 = np.zeros(len(facts), dtype=np.bool_)
    for operand in (facts.input(0), weight_of(facts.ops), facts.output()):
        if operand is not None:
            float32 |= operand.dtype.among("FLOAT32")
    at_limit = settings.numbers(able, subblock_tiles) == DST_TILES_FP32
    rows = able[(fp32 == 1) & at_limit & ~float32[able] & waits_for_arithmetic(facts.ops, facts.roofline)[able]]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} ({time_of(facts, rows)}) accumulate narrow operands in float32, and their "
            f"subblocks fill the {DST_TILES_FP32} tiles it leaves; heaviest {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=no_saving(rows),
        assumption=f"a try: {DST_TILES} destination tiles, not {DST_TILES_FP32}; the gain is not known beforehand",
        evidence=(cite_setting(facts, row, "compute_kernel_config", "fp32_dest_acc_en"), *facts.cite(row)),
        fix=kernel_config(facts, row, fp32_dest_acc_en="False"),
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat="long inner dimensions may need it: judge by PCC of the whole model",
    )


def accumulates_in_fp32(said: Attributes) -> float | None:
    """1 or 0 by compute_kernel_config; None where it is not written."""
    config = said.struct("compute_kernel_config")
    return None if config is None else config.number("fp32_dest_acc_en")


def subblock_tiles(said: Attributes) -> float | None:
    """Tiles of an output subblock, by whichever config the op prints."""
    for key, height, width in (
        ("block_config", "out_subblock_h_ntiles", "out_subblock_w_ntiles"),
        ("program_config", "out_subblock_h", "out_subblock_w"),
        ("config", "subblock_h", "subblock_w"),
    ):
        config = said.struct(key)
        tall, wide = (config.number(height), config.number(width)) if config else (None, None)
        if tall is not None and wide is not None:
            return tall * wide
    return None


CHECK = Check(
    id="fp32-accumulation",
    title="16-bit operands accumulated in float32",
    step=1,
    look=look,
    of=ops_of_family("no matmul or conv ops", "matmul", "conv"),
    needs=(COMPUTE_CONFIG,),
    worth=Worth(time=USUAL),
    compiled=compute_config_of_compiler("fp32_dest_acc_en=False"),
)
