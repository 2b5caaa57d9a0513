"""The remedy for matmuls that wait for weights: each DRAM bank's shard streamed to the cores beside it."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.grids import most_cores_dividing, worker_grid
from ttnn_mcp.checks.check import WindowFacts
from ttnn_mcp.hardware import TILE_SIDE

DEFAULT_GRID = (8, 8)  # fits every Wormhole and Blackhole card: for a fix where the grid is not known


def dram_sharded(facts: WindowFacts, row: int) -> str:
    """The call for the matmul at `row`, one row of tiles high, with its block sizes."""
    weight = facts.ops.inputs[1].padded[row]
    k, n = int(weight[2]) // TILE_SIDE, int(weight[3]) // TILE_SIDE
    grid = worker_grid(facts.chip) or DEFAULT_GRID
    x, y = most_cores_dividing(int(np.gcd(k, n)), grid, at_most=max(k // 2, 1)) or (1, 1)
    cores = x * y
    return (
        "ttnn.linear(x, w, compute_kernel_config=..., "
        "program_config=ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig("
        f"in0_block_w={k // cores}, per_core_M=1, per_core_N={n // cores}, fused_activation=None)); "
        f"x L1 WIDTH_SHARDED on {cores} cores, w WIDTH_SHARDED in DRAM"
    )
