"""Two encoder layers of a vision transformer, block sharded on Blackhole: sharded layer norm, heads, softmax, GELU."""

import torch
import ttnn

KIND = "p100"
BATCH, TOKENS, WIDTH, HEADS = 8, 224, 768, 12
GRID = (12, 8)


def tensor(device, *shape, dtype=ttnn.bfloat8_b):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def block(columns):
    return ttnn.create_sharded_memory_config(
        (BATCH, TOKENS, columns),
        core_grid=ttnn.CoreGrid(x=GRID[0], y=GRID[1]),
        strategy=ttnn.ShardStrategy.BLOCK,
        orientation=ttnn.ShardOrientation.ROW_MAJOR,
    )


def weights(device):
    layers = [
        {
            "gamma": tensor(device, WIDTH, dtype=ttnn.bfloat16),
            "beta": tensor(device, WIDTH, dtype=ttnn.bfloat16),
            "qkv": tensor(device, WIDTH, 3 * WIDTH),
            "bias": tensor(device, 1, 3 * WIDTH),
            "out": tensor(device, WIDTH, WIDTH),
            "up": tensor(device, WIDTH, 4 * WIDTH),
            "down": tensor(device, 4 * WIDTH, WIDTH),
        }
        for _ in range(2)
    ]
    return tensor(device, BATCH, TOKENS, WIDTH, dtype=ttnn.bfloat16), layers


def normed(x, kept):
    return ttnn.layer_norm(
        x,
        weight=kept["gamma"],
        bias=kept["beta"],
        memory_config=block(WIDTH),
        program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=GRID,
            subblock_w=2,
            block_h=BATCH * TOKENS // 32 // GRID[1],
            block_w=WIDTH // 32 // GRID[0],
            inplace=False,
        ),
    )


def layer(x, kept):
    h = normed(x, kept)
    qkv = ttnn.linear(
        h,
        kept["qkv"],
        bias=kept["bias"],
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=GRID,
            in0_block_w=2,
            out_subblock_h=1,
            out_subblock_w=6,
            per_core_M=7,
            per_core_N=6,
            transpose_mcast=False,
            fused_activation=None,
        ),
    )
    ttnn.deallocate(h)
    qkv = ttnn.to_memory_config(qkv, ttnn.L1_MEMORY_CONFIG)
    q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(
        qkv, num_heads=HEADS, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(q, k, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b)
    ttnn.deallocate(q)
    ttnn.deallocate(k)
    scores = ttnn.softmax_in_place(scores)
    o = ttnn.matmul(scores, v, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(scores)
    ttnn.deallocate(v)
    o = ttnn.transformer.concatenate_heads(o, memory_config=ttnn.L1_MEMORY_CONFIG)
    o = ttnn.linear(o, kept["out"], memory_config=ttnn.L1_MEMORY_CONFIG)
    x = ttnn.add(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG), o, memory_config=ttnn.L1_MEMORY_CONFIG)
    h = ttnn.linear(x, kept["up"], activation="gelu", memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b)
    x = ttnn.add(
        x, ttnn.linear(h, kept["down"], memory_config=ttnn.L1_MEMORY_CONFIG), memory_config=ttnn.L1_MEMORY_CONFIG
    )
    return ttnn.to_memory_config(x, block(WIDTH))


def run(device, kept):
    x, layers = kept
    x = ttnn.to_memory_config(x, block(WIDTH))
    for one in layers:
        x = layer(x, one)
    return ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG)
