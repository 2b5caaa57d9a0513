"""A block of a latent diffusion UNet: group norms in shards and in DRAM, convs, time embedding, self and cross attention, GEGLU."""

import torch
import ttnn

KIND = "n150"
L1_SMALL = 32768
SIDE, CHANNELS, WORDS, HEADS, HEAD = 32, 640, 77, 10, 64
ROWS = SIDE * SIDE
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED
GRID = ttnn.CoreGrid(y=8, x=4)


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    mask = ttnn.create_group_norm_input_mask(CHANNELS, 32, GRID.x, ttnn.DataType.BFLOAT8_B)
    gamma = ttnn.create_group_norm_weight_bias_rm(torch.ones(CHANNELS), CHANNELS, GRID.x)
    return {
        "x": tensor(device, 1, 1, ROWS, CHANNELS),
        "time": tensor(device, 1, 1, 32, 1280),
        "words": tensor(device, 1, 1, WORDS, 768),
        "mask": ttnn.to_device(mask, device),
        "gamma": ttnn.from_torch(gamma, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device),
        "beta": ttnn.from_torch(gamma, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device),
        "to_time": tensor(device, 1280, CHANNELS, dtype=ttnn.bfloat8_b),
        "norm": tensor(device, 1, CHANNELS),
        "qkv": tensor(device, CHANNELS, 3 * CHANNELS, dtype=ttnn.bfloat8_b),
        "q": tensor(device, CHANNELS, CHANNELS, dtype=ttnn.bfloat8_b),
        "k": tensor(device, 768, CHANNELS, dtype=ttnn.bfloat8_b),
        "v": tensor(device, 768, CHANNELS, dtype=ttnn.bfloat8_b),
        "out": tensor(device, CHANNELS, CHANNELS, dtype=ttnn.bfloat8_b),
        "up": tensor(device, CHANNELS, 8 * CHANNELS, dtype=ttnn.bfloat8_b),
        "down": tensor(device, 4 * CHANNELS, CHANNELS, dtype=ttnn.bfloat8_b),
    }


def group_normed(x, kept):
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(GRID.x - 1, GRID.y - 1))})
    spec = ttnn.ShardSpec(grid, [ROWS // GRID.y, CHANNELS // GRID.x], ttnn.ShardOrientation.ROW_MAJOR)
    shards = ttnn.MemoryConfig(BLOCK, ttnn.BufferType.L1, spec)
    x = ttnn.to_memory_config(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), shards)
    x = ttnn.group_norm(
        x,
        num_groups=32,
        input_mask=kept["mask"],
        weight=kept["gamma"],
        bias=kept["beta"],
        memory_config=shards,
        core_grid=GRID,
        epsilon=1e-5,
        inplace=False,
    )
    return ttnn.silu(ttnn.to_layout(ttnn.to_memory_config(x, L1), ttnn.TILE_LAYOUT), memory_config=L1)


def conv(device, x):
    return ttnn.conv2d(
        input_tensor=x, weight_tensor=ttnn.from_torch(torch.randn(CHANNELS, CHANNELS, 3, 3), dtype=ttnn.bfloat16),
        bias_tensor=ttnn.from_torch(torch.randn(1, 1, 1, CHANNELS), dtype=ttnn.bfloat16), device=device,
        in_channels=CHANNELS, out_channels=CHANNELS, batch_size=1, input_height=SIDE, input_width=SIDE,
        kernel_size=(3, 3), padding=(1, 1), stride=(1, 1),
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat8_b, shard_layout=BLOCK, enable_weights_double_buffer=True, act_block_h_override=64
        ),
    )  # fmt: skip


def attention(x, kept, words=None):
    normed = ttnn.layer_norm(x, weight=kept["norm"], bias=kept["norm"], memory_config=L1)
    if words is None:
        qkv = ttnn.linear(normed, kept["qkv"], memory_config=L1)
        q, k, v = ttnn.experimental.nlp_create_qkv_heads(
            qkv, num_heads=HEADS, num_kv_heads=HEADS, transpose_k_heads=False, memory_config=L1
        )
        ttnn.deallocate(qkv)
    else:
        q = ttnn.linear(normed, kept["q"], memory_config=L1)
        k, v = (ttnn.linear(words, kept[name], memory_config=L1) for name in "kv")
        q, k, v = (
            ttnn.transpose(ttnn.reshape(one, (1, one.shape[2], HEADS, HEAD)), 1, 2, memory_config=L1)
            for one in (q, k, v)
        )
    o = ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=False)
    o = ttnn.experimental.nlp_concat_heads(o, memory_config=L1)
    return ttnn.add(x, ttnn.linear(o, kept["out"], memory_config=L1), memory_config=L1)


def run(device, kept):
    skip = ttnn.to_memory_config(kept["x"], L1)
    x = group_normed(skip, kept)
    x = conv(device, x)
    x = ttnn.to_memory_config(x, L1)
    t = ttnn.linear(ttnn.silu(kept["time"], memory_config=L1), kept["to_time"], memory_config=L1)
    t = ttnn.slice(t, [0, 0, 0, 0], [1, 1, 1, CHANNELS])
    x = ttnn.add(x, t, memory_config=L1)
    x = conv(device, group_normed(x, kept))
    x = ttnn.add(ttnn.to_memory_config(x, L1), skip, memory_config=L1)
    ttnn.deallocate(skip)
    x = attention(x, kept)
    x = attention(x, kept, kept["words"])
    h = ttnn.linear(ttnn.layer_norm(x, weight=kept["norm"], memory_config=L1), kept["up"], memory_config=L1)
    a, b = ttnn.split(h, 4 * CHANNELS, dim=3)
    ttnn.deallocate(h)
    h = ttnn.mul(a, ttnn.gelu(b, memory_config=L1), memory_config=L1)
    x = ttnn.add(x, ttnn.linear(h, kept["down"], memory_config=L1), memory_config=L1)
    return ttnn.to_memory_config(x, DRAM)
