"""A mixture of experts on Blackhole: top-k, sort, gather, scatter, one-hot by comparison, batched experts, running sums."""

import torch
import ttnn

KIND = "p100"
TOKENS, WIDTH, HIDDEN, EXPERTS, PICKED = 64, 1024, 1408, 64, 8
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    return {
        "x": tensor(device, 1, 1, TOKENS, WIDTH),
        "router": tensor(device, WIDTH, EXPERTS, dtype=ttnn.float32),
        "bias": tensor(device, 1, 1, 1, EXPERTS),
        "up": tensor(device, 1, 4, WIDTH, HIDDEN, dtype=ttnn.bfloat4_b),
        "gate": tensor(device, 1, 4, WIDTH, HIDDEN, dtype=ttnn.bfloat4_b),
        "down": tensor(device, 1, 4, HIDDEN, WIDTH, dtype=ttnn.bfloat8_b),
        "shared": tensor(device, WIDTH, WIDTH, dtype=ttnn.bfloat8_b),
        "zeros": ttnn.zeros((1, 1, TOKENS, EXPERTS), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device),
    }


def routed(x, kept):
    logits = ttnn.linear(x, kept["router"], memory_config=L1, dtype=ttnn.bfloat16)
    scores = ttnn.sigmoid(logits, memory_config=L1)
    biased = ttnn.add(scores, kept["bias"], memory_config=L1)
    values, places = ttnn.topk(biased, PICKED, dim=-1, largest=True, sorted=True)
    ttnn.deallocate(values)
    ordered, order = ttnn.sort(biased, dim=-1, descending=True)
    ttnn.deallocate(ordered)
    ttnn.deallocate(order)
    shares = ttnn.gather(scores, dim=-1, index=places)
    total = ttnn.sum(shares, dim=-1, keepdim=True, memory_config=L1)
    shares = ttnn.div(shares, total, memory_config=L1)
    gates = ttnn.scatter(kept["zeros"], -1, places, shares)
    return gates, places


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    for _ in range(2):
        gates, _places = routed(x, kept)
        many = ttnn.repeat(x, (1, 4, 1, 1), memory_config=L1)
        gate = ttnn.matmul(many, kept["gate"], memory_config=L1)
        up = ttnn.matmul(many, kept["up"], memory_config=L1)
        h = ttnn.mul(ttnn.silu(gate, memory_config=L1), up, memory_config=L1)
        ttnn.deallocate(gate)
        ttnn.deallocate(up)
        o = ttnn.matmul(h, kept["down"], memory_config=L1)
        ttnn.deallocate(h)
        part = ttnn.slice(gates, [0, 0, 0, 0], [1, 1, TOKENS, 4])
        part = ttnn.permute(part, (0, 3, 2, 1), memory_config=L1)
        o = ttnn.mul(o, part, memory_config=L1)
        o = ttnn.sum(o, dim=1, keepdim=True, memory_config=L1)
        shared = ttnn.linear(x, kept["shared"], activation="silu", memory_config=L1)
        x = ttnn.add(ttnn.add(x, o, memory_config=L1), shared, memory_config=L1)
        used = ttnn.gt(gates, 0.0)
        counts = ttnn.sum(used, dim=2, keepdim=True)
        ttnn.cumsum(counts, dim=3)
        ttnn.deallocate(gates)
    words = ttnn.linear(x, kept["shared"], memory_config=L1)
    values, places = ttnn.topk(words, 32, dim=-1)
    return ttnn.softmax(values, dim=-1), places
