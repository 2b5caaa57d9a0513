"""Prefill on Blackhole with norms of queries and keys, rotary embedding, a mask, and everything in L1 by default configs."""

import torch
import ttnn

KIND = "p100"
BATCH, TOKENS, WIDTH, HEADS, GROUPS, HEAD, HIDDEN = 1, 384, 1536, 16, 4, 96, 4352
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    layers = [
        {
            "norm": tensor(device, 1, WIDTH),
            "q_norm": tensor(device, 1, HEAD),
            "k_norm": tensor(device, 1, HEAD),
            "q": tensor(device, WIDTH, HEADS * HEAD, dtype=ttnn.bfloat8_b),
            "k": tensor(device, WIDTH, GROUPS * HEAD, dtype=ttnn.bfloat8_b),
            "v": tensor(device, WIDTH, GROUPS * HEAD, dtype=ttnn.bfloat8_b),
            "o": tensor(device, HEADS * HEAD, WIDTH, dtype=ttnn.bfloat8_b),
            "up": tensor(device, WIDTH, 2 * HIDDEN, dtype=ttnn.bfloat8_b),
            "down": tensor(device, HIDDEN, WIDTH, dtype=ttnn.bfloat8_b),
        }
        for _ in range(2)
    ]
    return {
        "x": tensor(device, BATCH, 1, TOKENS, WIDTH),
        "cos": tensor(device, 1, 1, TOKENS, HEAD),
        "sin": tensor(device, 1, 1, TOKENS, HEAD),
        "mask": tensor(device, 1, 1, TOKENS, TOKENS),
        "layers": layers,
        "bias": tensor(device, 1, WIDTH),
    }


def halves(x, cos, sin):
    rows, width = x.shape[2], x.shape[3]
    heads = x.shape[1]
    a = ttnn.slice(x, [0, 0, 0, 0], [1, heads, rows, width // 2 // 32 * 32])
    b = ttnn.slice(x, [0, 0, 0, width // 2 // 32 * 32], [1, heads, rows, width])
    turned = ttnn.concat([ttnn.neg(b), a], dim=3)
    return ttnn.add(ttnn.mul(x, cos), ttnn.mul(turned, sin), memory_config=L1)


def heads_of(x, heads):
    x = ttnn.reshape(x, (BATCH, TOKENS, heads, HEAD))
    return ttnn.permute(x, (0, 2, 1, 3), memory_config=L1)


def layer(x, kept, every):
    normed = ttnn.rms_norm(x, weight=kept["norm"], epsilon=1e-6, memory_config=L1)
    q = heads_of(ttnn.linear(normed, kept["q"], memory_config=L1), HEADS)
    k = heads_of(ttnn.linear(normed, kept["k"], memory_config=L1), GROUPS)
    v = heads_of(ttnn.linear(normed, kept["v"], memory_config=L1), GROUPS)
    q = ttnn.rms_norm(q, weight=kept["q_norm"], epsilon=1e-6, memory_config=L1)
    k = ttnn.rms_norm(k, weight=kept["k_norm"], epsilon=1e-6, memory_config=L1)
    q, k = halves(q, every["cos"], every["sin"]), halves(k, every["cos"], every["sin"])
    k = ttnn.repeat_interleave(k, HEADS // GROUPS, dim=1)
    v = ttnn.repeat_interleave(v, HEADS // GROUPS, dim=1)
    scores = ttnn.matmul(q, ttnn.transpose(k, -2, -1), memory_config=L1)
    scores = ttnn.multiply(scores, HEAD**-0.5, memory_config=L1)
    scores = ttnn.add(scores, every["mask"], memory_config=L1)
    shares = ttnn.softmax(scores, dim=-1, numeric_stable=True, memory_config=L1)
    ttnn.deallocate(scores)
    o = ttnn.matmul(shares, v, memory_config=L1)
    ttnn.deallocate(shares)
    o = ttnn.reshape(ttnn.permute(o, (0, 2, 1, 3)), (BATCH, 1, TOKENS, HEADS * HEAD))
    x = ttnn.add(x, ttnn.linear(o, kept["o"], bias=every["bias"], memory_config=L1), memory_config=L1)
    h = ttnn.linear(ttnn.rms_norm(x, weight=kept["norm"], memory_config=L1), kept["up"], memory_config=L1)
    gate, up = ttnn.chunk(h, 2, dim=-1)
    ttnn.deallocate(h)
    h = ttnn.mul(ttnn.silu(gate, memory_config=L1), up, memory_config=L1)
    return ttnn.add(x, ttnn.linear(h, kept["down"], memory_config=L1), memory_config=L1)


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    for one in kept["layers"]:
        x = layer(x, one, kept)
    return ttnn.to_torch(ttnn.from_device(ttnn.argmax(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), dim=-1)))
