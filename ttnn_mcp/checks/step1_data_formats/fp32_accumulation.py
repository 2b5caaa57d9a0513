"""Partial sums are kept in float32 although inputs and output are 16 bits or narrower.

`fp32_dest_acc_en` halves the destination register, from 8 tiles to 4, so output subblocks get smaller and the packer
moves twice the bytes. It gives accuracy over long inner dimensions; with 16-bit operands many models keep their PCC
without it. Its cost differs per op and was never measured alone, so no saving is claimed: try without it.

The line: a matmul or conv with fp32_dest_acc_en=1, no FLOAT32 operand, more arithmetic than DRAM traffic, and an
output subblock that fills the 4 remaining tiles (tt-metal's matmul_program_config.cpp); a smaller one would not grow.
Together 1 % of the window. Silent if the subblock is not printed (ttnn chose it) and on memory-bound ops.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.accumulation import compute_setting, subblock_tiles
from ttnn_mcp.analyses.op_kinds.formats import any_operand, waits_for_arithmetic
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, no_saving, ops_of_family
from ttnn_mcp.checks.needs import COMPUTE_CONFIG
from ttnn_mcp.checks.shared.levers import compute_config_of_compiler
from ttnn_mcp.checks.shared.wording import cite_setting, example, kernel_config, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops that the smaller register could hold back."""
    able = np.flatnonzero(facts.of_family("matmul", "conv"))
    fp32 = compute_setting(facts.ops, able, "fp32_dest_acc_en") == 1
    at_limit = subblock_tiles(facts.ops, able) == DST_TILES_FP32
    meant = any_operand(facts.ops, "FLOAT32") | ~waits_for_arithmetic(facts.ops, facts.roofline)
    rows = able[fp32 & at_limit & ~meant[able]]
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
        assumption=f"a trial: {DST_TILES} destination tiles, not {DST_TILES_FP32}; the gain is not known in advance",
        evidence=(cite_setting(facts, row, "compute_kernel_config", "fp32_dest_acc_en"), *facts.cite(row)),
        fix=kernel_config(facts, row, fp32_dest_acc_en="False"),
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat="long inner dimensions may need it: judge by PCC of the whole model",
    )


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
