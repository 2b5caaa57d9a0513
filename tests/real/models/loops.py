"""The same two layers four times over, beginning with other shapes: programs from the cache beside new ones."""

import torch
import ttnn

KIND = "p100"
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat16):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def weights(device):
    return [tensor(device, 1, 1, rows, 1024) for rows in (512, 1024, 512, 1024)], [
        tensor(device, 1024, 4096, dtype=ttnn.bfloat8_b),
        tensor(device, 4096, 1024, dtype=ttnn.bfloat8_b),
    ]


def run(device, kept):
    inputs, (up, down) = kept
    result = None
    for one in inputs:
        x = ttnn.to_memory_config(one, L1)
        for _ in range(2):
            h = ttnn.linear(ttnn.layer_norm(x, memory_config=L1), up, activation="gelu", memory_config=L1)
            x = ttnn.add(x, ttnn.linear(h, down, memory_config=L1), memory_config=L1)
            ttnn.deallocate(h)
        result = ttnn.to_memory_config(ttnn.softmax(x, dim=-1, memory_config=L1), ttnn.DRAM_MEMORY_CONFIG)
        ttnn.deallocate(x)
    return result
