"""Prefill of two transformer layers: rotary embedding, causal attention in chunks, keys and values kept in a cache."""

import torch
import ttnn

KIND = "n150"
TOKENS, WIDTH, HEADS, GROUPS, HEAD, HIDDEN = 512, 1024, 16, 4, 64, 2816
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    layers = [
        {
            "norm1": tensor(device, 1, 1, 1, WIDTH, dtype=ttnn.bfloat16),
            "norm2": tensor(device, 1, 1, 1, WIDTH, dtype=ttnn.bfloat16),
            "qkv": tensor(device, 1, 1, WIDTH, (HEADS + 2 * GROUPS) * HEAD),
            "out": tensor(device, 1, 1, HEADS * HEAD, WIDTH),
            "gate": tensor(device, 1, 1, WIDTH, HIDDEN),
            "up": tensor(device, 1, 1, WIDTH, HIDDEN),
            "down": tensor(device, 1, 1, HIDDEN, WIDTH),
            "keys": tensor(device, 1, GROUPS, 1024, HEAD),
            "values": tensor(device, 1, GROUPS, 1024, HEAD),
        }
        for _ in range(2)
    ]
    turns = [tensor(device, 1, 1, TOKENS, HEAD, dtype=ttnn.bfloat16) for _ in range(2)]
    turns.append(tensor(device, 1, 1, 32, 32, dtype=ttnn.bfloat16))
    ids = ttnn.from_torch(torch.randint(0, 500, (1, TOKENS)), dtype=ttnn.uint32, device=device)
    table = tensor(device, 512, WIDTH, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    return ids, table, turns, layers


def layer(x, turns, kept):
    normed = ttnn.rms_norm(x, weight=kept["norm1"], memory_config=L1)
    qkv = ttnn.linear(normed, kept["qkv"], memory_config=L1, dtype=ttnn.bfloat16)
    ttnn.deallocate(normed)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads(
        qkv, num_heads=HEADS, num_kv_heads=GROUPS, transpose_k_heads=False, memory_config=L1
    )
    ttnn.deallocate(qkv)
    q = ttnn.experimental.rotary_embedding_llama(q, *turns, is_decode_mode=False)
    k = ttnn.experimental.rotary_embedding_llama(k, *turns, is_decode_mode=False)
    k8, v8 = ttnn.typecast(k, ttnn.bfloat8_b), ttnn.typecast(v, ttnn.bfloat8_b)
    ttnn.fill_cache(kept["keys"], k8, 0)
    ttnn.fill_cache(kept["values"], v8, 0)
    o = ttnn.transformer.scaled_dot_product_attention(
        q,
        k8,
        v8,
        is_causal=True,
        program_config=ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), q_chunk_size=128, k_chunk_size=128, exp_approx_mode=False
        ),
    )
    ttnn.deallocate(q)
    o = ttnn.experimental.nlp_concat_heads(o, memory_config=L1)
    o = ttnn.linear(o, kept["out"], memory_config=L1)
    x = ttnn.add(x, o, memory_config=L1)
    normed = ttnn.rms_norm(x, weight=kept["norm2"], memory_config=L1)
    gate = ttnn.linear(normed, kept["gate"], activation="silu", memory_config=L1)
    up = ttnn.linear(normed, kept["up"], memory_config=L1)
    both = ttnn.mul(gate, up, memory_config=L1)
    ttnn.deallocate(gate)
    ttnn.deallocate(up)
    return ttnn.add(x, ttnn.linear(both, kept["down"], memory_config=L1), memory_config=L1)


def run(device, kept):
    ids, table, turns, layers = kept
    x = ttnn.embedding(ids, table, layout=ttnn.TILE_LAYOUT, memory_config=L1)
    x = ttnn.reshape(x, (1, 1, TOKENS, WIDTH))
    for one in layers:
        x = layer(x, turns, one)
    last = ttnn.slice(x, [0, 0, TOKENS - 32, 0], [1, 1, TOKENS, WIDTH])
    return ttnn.to_layout(last, ttnn.ROW_MAJOR_LAYOUT)
