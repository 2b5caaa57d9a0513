"""Blackhole decoder: latent attention over a paged cache, a state-space step and scan, attention over other words."""

import torch
import ttnn

KIND = "p100"
USERS, HEADS, LATENT, ROPE, WIDTH = 32, 16, 512, 64, 2048
STATES, INNER, WORDS = 16, 2048, 160
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    small = ttnn.bfloat8_b
    return {
        "x": tensor(device, 1, 1, USERS, WIDTH),
        "to_latent": tensor(device, WIDTH, LATENT + ROPE, dtype=small),
        "to_q": tensor(device, WIDTH, HEADS * 192, dtype=small),
        "absorb": tensor(device, 1, HEADS, 128, LATENT, dtype=small),
        "unfold": tensor(device, 1, HEADS, LATENT, 128, dtype=small),
        "out": tensor(device, HEADS * 128, WIDTH, dtype=small),
        "norm": tensor(device, 1, 1, LATENT // 32, 32, layout=ttnn.ROW_MAJOR_LAYOUT),
        "cache": tensor(device, 128, 1, 32, LATENT + ROPE, dtype=small),
        "pages": ttnn.from_torch(torch.arange(128).reshape(USERS, 4), dtype=ttnn.int32, device=device),
        "at": ttnn.from_torch(torch.full((USERS,), 100), dtype=ttnn.int32, device=device),
        "inside": tensor(device, WIDTH, 2 * INNER, dtype=small),
        "steps": tensor(device, INNER, 2 * STATES + 64),
        "decay": tensor(device, 1, 1, INNER, STATES),
        "state": tensor(device, 1, USERS, INNER, STATES, dtype=ttnn.float32),
        "taps": tensor(device, 1, 1, 4, INNER),
        "past": tensor(device, 1, 4, USERS, INNER),
        "words": tensor(device, 1, 8, WORDS, 128),
        "mask": tensor(device, 1, 1, USERS, WORDS),
    }


def latent_attention(x, kept):
    """Queries in the latent space, one cache for keys and values."""
    joint = ttnn.linear(x, kept["to_latent"], memory_config=L1)
    c = ttnn.slice(joint, [0, 0, 0, 0], [1, 1, USERS, LATENT])
    c = ttnn.rms_norm(c, weight=kept["norm"], epsilon=1e-6)
    rope = ttnn.slice(joint, [0, 0, 0, LATENT], [1, 1, USERS, LATENT + ROPE])
    entry = ttnn.permute(ttnn.concat([c, rope], dim=-1), (0, 2, 1, 3))
    entry = ttnn.pad(entry, [(0, 0), (0, 0), (0, 31), (0, 0)], 0.0)
    spec = ttnn.create_sharded_memory_config(
        (32, LATENT + ROPE),
        ttnn.CoreGrid(y=4, x=8),
        ttnn.ShardStrategy.HEIGHT,
        use_height_and_width_as_shard_shape=True,
    )
    entry = ttnn.to_memory_config(entry, spec)
    ttnn.experimental.paged_update_cache(
        kept["cache"], entry, update_idxs_tensor=kept["at"], page_table=kept["pages"]
    )
    q = ttnn.linear(x, kept["to_q"], memory_config=L1)
    q = ttnn.permute(ttnn.reshape(q, (1, USERS, HEADS, 192)), (0, 2, 1, 3))
    plain = ttnn.matmul(ttnn.slice(q, [0, 0, 0, 0], [1, HEADS, USERS, 128]), kept["absorb"], memory_config=L1)
    q = ttnn.concat([plain, ttnn.slice(q, [0, 0, 0, 128], [1, HEADS, USERS, 192])], dim=-1)
    o = ttnn.transformer.paged_flash_multi_latent_attention_decode(
        ttnn.permute(q, (0, 2, 1, 3)), kept["cache"], head_dim_v=LATENT, page_table_tensor=kept["pages"],
        cur_pos_tensor=kept["at"], scale=0.07,
    )  # fmt: skip
    o = ttnn.matmul(ttnn.permute(o, (0, 2, 1, 3)), kept["unfold"], memory_config=L1)
    o = ttnn.reshape(ttnn.permute(o, (0, 2, 1, 3)), (1, 1, USERS, HEADS * 128))
    return ttnn.linear(o, kept["out"], memory_config=L1)


def state_space(x, kept):
    """A step of a selective state space: short convolution by shifts, discretised decay, the state in FLOAT32."""
    both = ttnn.linear(x, kept["inside"], memory_config=L1)
    u, gate = ttnn.chunk(both, 2, dim=3)
    past = ttnn.concat([ttnn.slice(kept["past"], [0, 1, 0, 0], [1, 4, USERS, INNER]), u], dim=1)
    u = ttnn.mul(past, ttnn.permute(kept["taps"], (0, 2, 1, 3)), memory_config=L1)
    u = ttnn.silu(ttnn.sum(u, dim=1, keepdim=True), memory_config=L1)
    parts = ttnn.linear(u, kept["steps"], memory_config=L1)
    delta = ttnn.softplus(ttnn.slice(parts, [0, 0, 0, 2 * STATES], [1, 1, USERS, 2 * STATES + 1]))
    b = ttnn.permute(ttnn.slice(parts, [0, 0, 0, 0], [1, 1, USERS, STATES]), (0, 2, 1, 3))
    decay = ttnn.exp(ttnn.mul(kept["decay"], ttnn.permute(delta, (0, 2, 1, 3))))
    state = ttnn.add(
        ttnn.mul(kept["state"], ttnn.typecast(decay, ttnn.float32)),
        ttnn.typecast(ttnn.mul(ttnn.permute(u, (0, 2, 3, 1)), b), ttnn.float32),
    )
    c = ttnn.permute(ttnn.slice(parts, [0, 0, 0, STATES], [1, 1, USERS, 2 * STATES]), (0, 2, 3, 1))
    y = ttnn.matmul(ttnn.typecast(state, ttnn.bfloat16), c, memory_config=L1)
    y = ttnn.permute(y, (0, 3, 1, 2))
    running = ttnn.cumsum(kept["state"], dim=1)
    return ttnn.mul(y, ttnn.silu(gate, memory_config=L1), memory_config=L1), running


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    x = ttnn.add(x, latent_attention(x, kept), memory_config=L1)
    y, running = state_space(x, kept)
    x = ttnn.add(x, y, memory_config=L1)
    q = ttnn.permute(ttnn.reshape(x, (1, USERS, 16, 128)), (0, 2, 1, 3), memory_config=L1)
    o = ttnn.transformer.scaled_dot_product_attention(
        q, kept["words"], kept["words"], attn_mask=kept["mask"], is_causal=False
    )
    return ttnn.experimental.nlp_concat_heads(o, memory_config=L1), running
