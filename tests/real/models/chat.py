"""A chat model on Wormhole: rotary embedding by halves, two paged caches at once, paged attention, top-k of the words."""

import torch
import ttnn

KIND = "n150"
USERS, WIDTH, HEADS, GROUPS, HEAD, BLOCK, PAGES, WORDS = 32, 1024, 16, 2, 64, 32, 16, 8192
L1 = ttnn.L1_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, memory=None):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device, memory_config=memory)


def words(device, *shape):
    return ttnn.from_torch(torch.full(shape, 5, dtype=torch.int32), dtype=ttnn.int32, device=device)


def per_user(first):
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, first), ttnn.CoreCoord(7, first + 3))})
    spec = ttnn.ShardSpec(cores, [32, HEAD], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def weights(device):
    return {
        "x": tensor(device, 1, 1, USERS, WIDTH, dtype=ttnn.bfloat16),
        "qkv": tensor(device, 1, 1, WIDTH, (HEADS + 2 * GROUPS) * HEAD),
        "out": tensor(device, 1, 1, HEADS * HEAD, WIDTH),
        "head": tensor(device, 1, 1, WIDTH, WORDS),
        "keys": tensor(device, USERS * PAGES, GROUPS, BLOCK, HEAD),
        "values": tensor(device, USERS * PAGES, GROUPS, BLOCK, HEAD),
        "turns": [tensor(device, 1, USERS, 1, HEAD, dtype=ttnn.bfloat16, memory=per_user(0)) for _ in range(2)],
        "prompt": [tensor(device, 1, heads, 128, HEAD, dtype=ttnn.bfloat16) for heads in (HEADS, 1, 1)],
        "table": words(device, USERS, PAGES),
        "positions": words(device, USERS),
    }


def prompt(kept):
    q, cos, sin = kept["prompt"]
    q = ttnn.experimental.rotary_embedding_hf(q, cos, sin, is_decode_mode=False)
    config = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=(8, 8), q_chunk_size=64, k_chunk_size=64, exp_approx_mode=False
    )
    one = ttnn.slice(kept["table"], [0, 0], [1, PAGES])
    return ttnn.transformer.chunked_scaled_dot_product_attention(
        q, kept["keys"], kept["values"], one, 128, program_config=config
    )


def step(x, kept):
    qkv = ttnn.linear(x, kept["qkv"], memory_config=L1, dtype=ttnn.bfloat16)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(
        qkv, num_heads=HEADS, num_kv_heads=GROUPS, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    )
    ttnn.deallocate(qkv)
    q, k = (ttnn.to_memory_config(one, per_user(0)) for one in (q, k))
    q, k = (ttnn.experimental.rotary_embedding_hf(one, *kept["turns"], is_decode_mode=True) for one in (q, k))
    v = ttnn.to_memory_config(v, per_user(4))
    ttnn.experimental.paged_fused_update_cache(
        kept["keys"], k, kept["values"], v, update_idxs_tensor=kept["positions"], page_table=kept["table"]
    )
    q = ttnn.to_memory_config(q, ttnn.DRAM_MEMORY_CONFIG)
    config = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=(8, 8), q_chunk_size=0, k_chunk_size=64, exp_approx_mode=False
    )
    o = ttnn.transformer.paged_scaled_dot_product_attention_decode(
        q, kept["keys"], kept["values"], kept["table"], cur_pos_tensor=kept["positions"], program_config=config
    )
    o = ttnn.experimental.nlp_concat_heads_decode(ttnn.to_memory_config(o, per_user(0)), num_heads=HEADS)
    o = ttnn.to_memory_config(o, L1)
    return ttnn.add(x, ttnn.linear(o, kept["out"], memory_config=L1), memory_config=L1)


def run(device, kept):
    prompt(kept)
    x = ttnn.to_memory_config(kept["x"], L1)
    for _ in range(2):
        x = step(x, kept)
        logits = ttnn.linear(x, kept["head"], memory_config=L1, dtype=ttnn.bfloat16)
        values, places = ttnn.topk(logits, 32, dim=-1)
        ttnn.softmax(values, dim=-1)
        best = ttnn.argmax(ttnn.to_layout(logits, ttnn.ROW_MAJOR_LAYOUT), dim=-1)
        ttnn.deallocate(logits)
    return best, places
