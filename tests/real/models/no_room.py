"""Blackhole runs out of L1 for a tensor while earlier tensors are held that nobody reads any more."""

import torch
import ttnn

KIND = "p100"
L1 = ttnn.L1_MEMORY_CONFIG


def weights(device):
    return ttnn.from_torch(
        torch.randn(1, 1, 4096, 4096), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )


def run(device, kept):
    x = ttnn.to_memory_config(kept, L1)
    read_once = ttnn.relu(x, memory_config=L1)
    y = ttnn.add(x, read_once, memory_config=L1)
    in_use = ttnn.exp(y, memory_config=L1)
    y = ttnn.mul(in_use, x, memory_config=L1)
    z = ttnn.add(y, in_use, memory_config=L1)
    return ttnn.concat([z, y, x], dim=3, memory_config=L1)
