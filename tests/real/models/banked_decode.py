"""Decode on Blackhole as tt_transformers does: width-sharded activations, DRAM-sharded weights, sharded norms, sampling."""

import torch
import ttnn

KIND = "p100"
USERS, WIDTH, HEADS, GROUPS, HEAD, HIDDEN, LENGTH, BLOCK = 32, 3072, 24, 8, 128, 8192, 1024, 64
CORES = 32


def tensor(device, *shape, dtype=ttnn.bfloat16, memory=None, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device, memory_config=memory)


def in_banks(device, k, n):
    banks = device.dram_grid_size().x
    wide = -(-n // (32 * banks)) * 32
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(banks - 1, 0))})
    return ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.WIDTH_SHARDED,
        ttnn.BufferType.DRAM,
        ttnn.ShardSpec(grid, [k, wide], ttnn.ShardOrientation.ROW_MAJOR),
    )


def along(n):
    return ttnn.create_sharded_memory_config(
        (1, 1, USERS, n),
        core_grid=ttnn.CoreGrid(y=4, x=8),
        strategy=ttnn.ShardStrategy.WIDTH,
        orientation=ttnn.ShardOrientation.ROW_MAJOR,
    )


def per_user(rows, columns):
    users = ttnn.num_cores_to_corerangeset(USERS, ttnn.CoreCoord(8, 8), row_wise=True)
    return ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(users, [rows, columns], ttnn.ShardOrientation.ROW_MAJOR),
    )


def weights(device):
    def linear(k, n, dtype=ttnn.bfloat8_b):
        return tensor(device, 1, 1, k, n, dtype=dtype, memory=in_banks(device, k, n))

    return {
        "x": tensor(device, 1, 1, USERS, WIDTH),
        "norm": tensor(device, 1, 1, WIDTH // 32, 32, layout=ttnn.ROW_MAJOR_LAYOUT),
        "qkv": linear(WIDTH, (HEADS + 2 * GROUPS) * HEAD),
        "out": linear(HEADS * HEAD, WIDTH),
        "gate": linear(WIDTH, HIDDEN, ttnn.bfloat4_b),
        "up": linear(WIDTH, HIDDEN, ttnn.bfloat4_b),
        "down": linear(HIDDEN, WIDTH),
        "keys": tensor(device, USERS * LENGTH // BLOCK, GROUPS, BLOCK, HEAD, dtype=ttnn.bfloat8_b),
        "values": tensor(device, USERS * LENGTH // BLOCK, GROUPS, BLOCK, HEAD, dtype=ttnn.bfloat8_b),
        "table": ttnn.from_torch(
            torch.arange(USERS * LENGTH // BLOCK, dtype=torch.int32).reshape(USERS, -1),
            dtype=ttnn.int32,
            device=device,
        ),
        "position": ttnn.from_torch(torch.full((USERS,), 511, dtype=torch.int32), dtype=ttnn.int32, device=device),
        "rope": [
            tensor(device, 1, USERS, 32, HEAD, memory=per_user(32, HEAD)),
            tensor(device, 1, USERS, 32, HEAD, memory=per_user(32, HEAD)),
            tensor(device, 1, 1, 32 * USERS, 32, memory=per_user(32, 32)),
        ],
        "head": tensor(device, 1, 1, WIDTH, 32000, dtype=ttnn.bfloat8_b),
    }


def banked(x, weight, k, n, activation=None):
    return ttnn.linear(
        x,
        weight,
        dtype=ttnn.bfloat16,
        memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
        program_config=ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
            in0_block_w=max(one for one in (8, 4, 2, 1) if (k // 32 // CORES) % one == 0),
            per_core_M=1,
            per_core_N=-(-n // 32 // CORES),
            fused_activation=activation,
        ),
    )


def normed(x, gamma):
    return ttnn.rms_norm(
        x,
        weight=gamma,
        epsilon=1e-5,
        memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
        program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(8, 4),
            subblock_w=1,
            block_h=1,
            block_w=WIDTH // 32 // CORES,
            inplace=False,
        ),
    )


def layer(x, kept):
    qkv = banked(normed(x, kept["norm"]), kept["qkv"], WIDTH, (HEADS + 2 * GROUPS) * HEAD)
    qkv = ttnn.to_memory_config(qkv, ttnn.L1_MEMORY_CONFIG)
    q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(
        qkv, num_heads=HEADS, num_kv_heads=GROUPS, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
    )
    ttnn.deallocate(qkv)
    q2 = ttnn.experimental.rotary_embedding_llama(q, *kept["rope"], is_decode_mode=True)
    k2 = ttnn.experimental.rotary_embedding_llama(k, *kept["rope"], is_decode_mode=True)
    for cache, new in (("keys", k2), ("values", v)):
        ttnn.experimental.paged_update_cache(
            kept[cache], new, update_idxs_tensor=kept["position"], page_table=kept["table"]
        )
    o = ttnn.transformer.paged_scaled_dot_product_attention_decode(
        q2,
        kept["keys"],
        kept["values"],
        cur_pos_tensor=kept["position"],
        page_table_tensor=kept["table"],
        scale=HEAD**-0.5,
        program_config=ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=(8, 8), q_chunk_size=0, k_chunk_size=0, exp_approx_mode=False
        ),
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
    )
    for one in (q, k, q2, k2, v):
        ttnn.deallocate(one)
    o = ttnn.to_memory_config(o, per_user(32, HEAD))
    o = ttnn.experimental.nlp_concat_heads_decode(o, num_heads=HEADS)
    o = ttnn.to_memory_config(o, along(HEADS * HEAD))
    x = ttnn.add(x, banked(o, kept["out"], HEADS * HEAD, WIDTH), memory_config=x.memory_config())
    h = normed(x, kept["norm"])
    gate = banked(h, kept["gate"], WIDTH, HIDDEN, ttnn.UnaryOpType.SILU)
    up = banked(h, kept["up"], WIDTH, HIDDEN)
    both = ttnn.mul(gate, up, memory_config=gate.memory_config())
    return ttnn.add(x, banked(both, kept["down"], HIDDEN, WIDTH), memory_config=x.memory_config())


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], along(WIDTH))
    for _ in range(2):
        x = layer(x, kept)
    x = ttnn.sharded_to_interleaved(normed(x, kept["norm"]), ttnn.L1_MEMORY_CONFIG)
    words = ttnn.linear(x, kept["head"], memory_config=ttnn.DRAM_MEMORY_CONFIG)
    part = ttnn.slice(words, [0, 0, 0, 0], [1, 1, USERS, 8192])
    values, places = ttnn.topk(part, 32, dim=-1)
    best = ttnn.argmax(ttnn.to_layout(words, ttnn.ROW_MAJOR_LAYOUT), dim=-1, keepdim=True)
    return values, places, best
