"""Patches folded, attention in shifted windows with a bias, squeeze and excite, a VAE's group norms in DRAM, points sampled."""

import torch
import ttnn

KIND = "n150"
SIDE, CHANNELS, WINDOW, HEADS, POINTS = 56, 96, 7, 3, 4
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG
COUNT, TOKENS = (SIDE // WINDOW) ** 2, WINDOW * WINDOW


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.randn(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    grid = ttnn.CoreGrid(y=4, x=8)
    mask = ttnn.create_group_norm_input_mask(512, 32, grid.y, ttnn.DataType.BFLOAT8_B)
    gamma = ttnn.create_group_norm_weight_bias_rm(torch.ones(512), 512, grid.y)
    return {
        "image": tensor(device, 1, 224, 224, 4, layout=ttnn.ROW_MAJOR_LAYOUT),
        "patches": tensor(device, 64, CHANNELS),
        "norm": tensor(device, 1, CHANNELS),
        "qkv": tensor(device, CHANNELS, 3 * CHANNELS, dtype=ttnn.bfloat8_b),
        "out": tensor(device, CHANNELS, CHANNELS, dtype=ttnn.bfloat8_b),
        "bias": tensor(device, 1, HEADS, TOKENS, TOKENS),
        "squeeze": tensor(device, CHANNELS, 32),
        "excite": tensor(device, 32, CHANNELS),
        "latent": tensor(device, 1, 1, 64 * 64, 512),
        "mask": ttnn.to_device(mask, device),
        "gamma": ttnn.from_torch(gamma, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device),
        "points": tensor(device, 1, SIDE * SIDE, POINTS, 2, layout=ttnn.ROW_MAJOR_LAYOUT),
        "weighing": tensor(device, CHANNELS, POINTS * HEADS),
    }


def in_windows(x):
    """Rows of an image as windows, moved by half of one."""
    x = ttnn.roll(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), [-3, -3], [1, 2])
    x = ttnn.reshape(x, (1, SIDE // WINDOW, WINDOW, SIDE // WINDOW, WINDOW, CHANNELS))
    x = ttnn.permute(x, (0, 1, 3, 2, 4, 5))
    return ttnn.to_layout(ttnn.reshape(x, (COUNT, 1, TOKENS, CHANNELS)), ttnn.TILE_LAYOUT, memory_config=L1)


def attention(x, kept):
    qkv = ttnn.linear(x, kept["qkv"], memory_config=L1)
    q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(
        ttnn.reshape(qkv, (COUNT, TOKENS, 3 * CHANNELS)), num_heads=HEADS, memory_config=L1
    )
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(q, k, memory_config=L1)
    scores = ttnn.add(ttnn.mul(scores, 0.177, memory_config=L1), kept["bias"], memory_config=L1)
    o = ttnn.matmul(ttnn.softmax(scores, dim=-1, memory_config=L1), v, memory_config=L1)
    o = ttnn.transformer.concatenate_heads(o, memory_config=L1)
    return ttnn.linear(o, kept["out"], memory_config=L1)


def excited(x, kept):
    """Squeeze and excite: means of a whole image, twice over."""
    mean = ttnn.mean(x, dim=2, keepdim=True, memory_config=L1)
    whole = ttnn.mean(ttnn.reshape(x, (1, SIDE, SIDE, CHANNELS)), dim=[1, 2], keepdim=True)
    mean = ttnn.add(mean, whole, memory_config=L1)
    small = ttnn.relu(ttnn.linear(mean, kept["squeeze"], memory_config=L1), memory_config=L1)
    return ttnn.mul(x, ttnn.sigmoid(ttnn.linear(small, kept["excite"], memory_config=L1)), memory_config=L1)


def run(device, kept):
    patches = ttnn.fold(kept["image"], 4, 4)
    patches = ttnn.to_layout(ttnn.reshape(patches, (1, 1, SIDE * SIDE, 64)), ttnn.TILE_LAYOUT)
    x = ttnn.linear(patches, kept["patches"], memory_config=L1)
    ttnn.deallocate(patches)
    normed = ttnn.layer_norm(x, weight=kept["norm"], bias=kept["norm"], memory_config=L1)
    o = attention(in_windows(ttnn.reshape(normed, (1, SIDE, SIDE, CHANNELS))), kept)
    x = ttnn.add(x, ttnn.reshape(o, (1, 1, SIDE * SIDE, CHANNELS)), memory_config=L1)
    x = excited(x, kept)
    image = ttnn.reshape(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), (1, SIDE, SIDE, CHANNELS))
    points = ttnn.reshape(kept["points"], (1, SIDE * SIDE, POINTS, 2))
    sampled = ttnn.grid_sample(ttnn.to_memory_config(image, DRAM), points)
    share = ttnn.softmax(ttnn.reshape(ttnn.linear(x, kept["weighing"]), (1, SIDE * SIDE, HEADS, POINTS)), dim=-1)
    share = ttnn.permute(share, (0, 1, 3, 2))
    spread = ttnn.repeat_interleave(ttnn.to_layout(share, ttnn.ROW_MAJOR_LAYOUT), CHANNELS // HEADS, 3)
    weighed = ttnn.mul(ttnn.to_layout(sampled, ttnn.TILE_LAYOUT), ttnn.to_layout(spread, ttnn.TILE_LAYOUT))
    deformed = ttnn.sum(weighed, dim=2)
    latent = ttnn.group_norm(
        ttnn.to_layout(kept["latent"], ttnn.TILE_LAYOUT), num_groups=32, input_mask=kept["mask"], weight=kept["gamma"],
        bias=kept["gamma"], memory_config=DRAM, core_grid=ttnn.CoreGrid(y=4, x=8), epsilon=1e-6, inplace=False,
        num_out_blocks=2,
    )  # fmt: skip
    turned = ttnn.transpose(ttnn.reshape(latent, (4, 2, 512, 512)), 0, 1)
    return x, deformed, ttnn.silu(latent), turned
