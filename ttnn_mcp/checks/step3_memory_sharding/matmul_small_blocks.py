"""A matmul works tile by tile, and reaches little of its roofline.

in0_block_w is the number of tiles of K per step: at 1 every tile is a separate multicast. A 1x1 output subblock uses
one of 8 destination registers (4 with fp32_dest_acc_en). MatmulMultiCoreProgramConfig reuses nothing. Without settings
TTNN guesses: on a grid of 11 or 13 columns K rarely divides, so in0_block_w stays 1 (read from
matmul_program_config.cpp, not measured).

The line: 5 us and more, at under 60 % of the roofline with one of these three; 1 % of the window to save. The bound is
the roofline: arithmetic on all cores, DRAM at achievable bandwidth.

Silent if K is under 4 tiles (nothing to block), where a 1D config over many rows comes first
(matmul-multicast-one-way), in attention that is written out, and on DRAM-sharded weights (decode-matmul-bandwidth). A
config that TTNN chose may be printed as if the caller set it. The fix names compute_kernel_config because a config
alone lowers bfloat16 to LoFi (#55889).
"""

from __future__ import annotations

from ttnn_mcp.checks.check import Affected, Problems, WindowFacts, Words
from ttnn_mcp.checks.shared.matmul_blocks import (
    block_check,
    blocks_of,
    config_to_try,
    far_from_roofline,
    has_small_blocks,
    short_of_roofline,
)


@block_check(title="matmuls in small blocks")
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls in small blocks."""
    yield from short_of_roofline(facts, has_small_blocks(facts), _tell)


def _tell(ops: Affected) -> Words:
    problem = f"{ops.verb('run')} with small blocks ({blocks_of(ops.facts, ops.row)})"
    return far_from_roofline(ops, problem, fix=config_to_try(ops.facts, ops.row))
