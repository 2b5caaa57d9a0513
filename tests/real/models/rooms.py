"""A script that hears of no room in DRAM, in L1_SMALL, in L1 and for a program's buffers, and goes on each time."""

from contextlib import suppress

import torch
import ttnn

KIND = "n150"
L1_SMALL = 16384
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG


def weights(device):
    return ttnn.from_torch(
        torch.randn(1, 1, 2048, 2048), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )


def small(tiles):
    """A row of so many tiles for each core, in L1_SMALL: it holds eight."""
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})
    spec = ttnn.ShardSpec(grid, [32, 32 * tiles], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1_SMALL, spec)


def run(device, kept):
    x = ttnn.relu(kept, memory_config=L1)
    with suppress(RuntimeError):
        ttnn.repeat(kept, (1, 2048, 1, 1))
    y = ttnn.to_memory_config(ttnn.slice(kept, [0, 0, 0, 0], [1, 1, 2048, 64]), small(2))
    with suppress(RuntimeError):
        ttnn.to_memory_config(ttnn.slice(kept, [0, 0, 0, 0], [1, 1, 2048, 512]), small(16))
    z = ttnn.add(x, 1.0, memory_config=L1)
    held = [z]
    with suppress(RuntimeError):
        held += [ttnn.concat([x] * 8, dim=1, memory_config=L1)]
    with suppress(RuntimeError):
        held += [ttnn.exp(x, memory_config=L1) for _ in range(32)]
    with suppress(RuntimeError):
        ttnn.layer_norm(kept, memory_config=L1)
    held = [held[0]]
    return ttnn.mul(z, held[0], memory_config=L1), y
