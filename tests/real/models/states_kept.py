"""Wormhole runs out of L1 in a sharded copy, deep in a loop that keeps every hidden state."""

import torch
import ttnn

KIND = "n150"
L1 = ttnn.L1_MEMORY_CONFIG


def weights(device):
    one = lambda *shape: ttnn.from_torch(  # noqa: E731
        torch.randn(*shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )
    return one(1, 1, 2048, 1536), one(1536, 1536)


def run(device, kept):
    x, weight = kept
    x = ttnn.to_memory_config(x, L1)
    states = []
    for _ in range(20):
        h = ttnn.layer_norm(x, memory_config=L1)
        h = ttnn.linear(h, weight, activation="gelu", memory_config=L1)
        states.append(ttnn.add(x, h, memory_config=L1))
        ttnn.deallocate(h)
        x = states[-1]
    return ttnn.concat(states, dim=3)
