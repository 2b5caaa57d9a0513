"""Decode of 32 users on Blackhole, interleaved, three steps of one layer: the later steps come from the program cache."""

import torch
import ttnn

KIND = "p100"
USERS, WIDTH, HEADS, GROUPS, HEAD, HIDDEN, LENGTH, WORDS = 32, 2048, 32, 8, 64, 5632, 512, 4096
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat8_b):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def weights(device):
    users = ttnn.num_cores_to_corerangeset(USERS, ttnn.CoreCoord(8, 8), row_wise=True)
    spec = ttnn.ShardSpec(users, [32, HEAD], ttnn.ShardOrientation.ROW_MAJOR)
    per_user = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    position = ttnn.from_torch(torch.full((USERS,), 100, dtype=torch.int32), dtype=ttnn.int32, device=device)
    return {
        "x": tensor(device, 1, 1, USERS, WIDTH, dtype=ttnn.bfloat16),
        "norm": tensor(device, 1, 1, 1, WIDTH, dtype=ttnn.bfloat16),
        "qkv": tensor(device, 1, 1, WIDTH, (HEADS + 2 * GROUPS) * HEAD),
        "out": tensor(device, 1, 1, WIDTH, WIDTH),
        "up": tensor(device, 1, 1, WIDTH, HIDDEN, dtype=ttnn.bfloat4_b),
        "down": tensor(device, 1, 1, HIDDEN, WIDTH, dtype=ttnn.bfloat4_b),
        "head": tensor(device, 1, 1, WIDTH, WORDS),
        "keys": tensor(device, USERS, GROUPS, LENGTH, HEAD),
        "values": tensor(device, USERS, GROUPS, LENGTH, HEAD),
        "position": position,
        "per_user": per_user,
    }


def step(x, kept):
    normed = ttnn.rms_norm(x, weight=kept["norm"], memory_config=L1)
    qkv = ttnn.linear(normed, kept["qkv"], memory_config=L1, dtype=ttnn.bfloat16)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(
        qkv, num_heads=HEADS, num_kv_heads=GROUPS, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    )
    ttnn.deallocate(qkv)
    ttnn.experimental.paged_update_cache(kept["keys"], k, update_idxs_tensor=kept["position"])
    ttnn.experimental.paged_update_cache(kept["values"], v, update_idxs_tensor=kept["position"])
    ttnn.deallocate(k)
    ttnn.deallocate(v)
    o = ttnn.transformer.scaled_dot_product_attention_decode(
        q,
        kept["keys"],
        kept["values"],
        cur_pos_tensor=kept["position"],
        scale=HEAD**-0.5,
        program_config=ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), q_chunk_size=0, k_chunk_size=128, exp_approx_mode=False
        ),
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
    )
    ttnn.deallocate(q)
    o = ttnn.to_memory_config(o, kept["per_user"])
    o = ttnn.experimental.nlp_concat_heads_decode(o, num_heads=HEADS)
    o = ttnn.to_memory_config(o, L1)
    x = ttnn.add(x, ttnn.linear(o, kept["out"], memory_config=L1), memory_config=L1)
    h = ttnn.linear(x, kept["up"], activation="gelu", memory_config=L1)
    return ttnn.add(x, ttnn.linear(h, kept["down"], memory_config=L1), memory_config=L1)


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    for _ in range(3):
        x = step(x, kept)
        words = ttnn.linear(x, kept["head"], memory_config=L1)
        best = ttnn.argmax(ttnn.untilize(words), dim=-1)
        ttnn.deallocate(words)
    return best
