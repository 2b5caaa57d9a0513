"""A matmul was given no program config, and TTNN's guess reaches little of its roofline.

Without settings TTNN guesses the blocks of a matmul. On few rows of tiles its guess is 1D, on more a 2D one. Over a K
much deeper than N is wide, one row of tiles gets more cores than pay (CosyVoice: 4096 x 1024 on 32 cores, half the time
on 16). A 2D guess for operands in DRAM takes K in as many steps as the grid has columns; where these do not divide its
tiles, as 11 and 13 columns of a Blackhole hardly do, one tile at a time (matmul_program_config.cpp of 0.81.1). Eight of
ten such matmuls gained 22 to 59 % from a config (dots.ocr, Solar Open, a vision tower, pi0.5); where the guess took
three tiles and more, eight of ten configs lost.

The line: 5 us and more, neither program_config nor core grid, on most of the grid or for one row of tiles with K four
times N; at under 35 % of the roofline, over 4 rows of tiles and more at under 20 %; at under 60 % of it where K goes in
16 steps of one tile and more, and as many cores work as TTNN's rule says; 1 % of the window to save. The bound is the
roofline: arithmetic on all cores, DRAM at achievable bandwidth.

Silent about products of 1024 rows for each head (a config of their own exceeded L1: GLM-4.7-Flash's port in tt-metal),
other matmuls on few cores (low-core-count), in attention that is written out, and with operands
interleaved in L1 (matmul-operands-in-l1-interleaved). The fix names compute_kernel_config because a config alone lowers
bfloat16 to LoFi (#55889).
"""

from __future__ import annotations

from ttnn_mcp.checks.check import Affected, Problems, WindowFacts, Words
from ttnn_mcp.checks.shared.matmul_blocks import (
    block_check,
    config_to_try,
    far_from_roofline,
    guessed_badly,
    short_of_roofline,
)


@block_check(title="matmuls left to TTNN's guess")
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls that TTNN chose badly for."""
    yield from short_of_roofline(facts, guessed_badly(facts), _tell)


def _tell(ops: Affected) -> Words:
    problem = f"{'were' if len(ops.rows) > 1 else 'was'} given no program config"
    return far_from_roofline(ops, problem, fix=config_to_try(ops.facts, ops.row))
