"""Blackhole UNet: group norms in shards by Welford's algorithm, convs, transposed conv, bilinear upsample, grid sample."""

import torch
import ttnn

KIND = "p150"
SIDE, CHANNELS = 32, 256
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED
GRID = ttnn.CoreGrid(y=8, x=4)


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.zeros(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    mask = ttnn.create_group_norm_input_mask(CHANNELS, 32, GRID.x, ttnn.DataType.BFLOAT8_B)
    gamma = ttnn.create_group_norm_weight_bias_rm(torch.ones(CHANNELS), CHANNELS, GRID.x)
    return {
        "x": tensor(device, 1, 1, SIDE * SIDE, CHANNELS),
        "mask": ttnn.to_device(mask, device),
        "gamma": ttnn.from_torch(gamma, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device),
        "grid": tensor(device, 1, SIDE, SIDE, 2, layout=ttnn.ROW_MAJOR_LAYOUT),
    }


def normed(x, kept, welford):
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(GRID.x - 1, GRID.y - 1))})
    spec = ttnn.ShardSpec(cores, [SIDE * SIDE // GRID.y, CHANNELS // GRID.x], ttnn.ShardOrientation.ROW_MAJOR)
    shards = ttnn.MemoryConfig(BLOCK, ttnn.BufferType.L1, spec)
    x = ttnn.to_memory_config(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), shards)
    return ttnn.group_norm(
        x, num_groups=32, input_mask=kept["mask"], weight=kept["gamma"], bias=kept["gamma"], memory_config=shards,
        core_grid=GRID, epsilon=1e-5, inplace=False, use_welford=welford,
    )  # fmt: skip


def image_of(device):
    """What both convolutions are asked with."""
    return {
        "device": device, "in_channels": CHANNELS, "batch_size": 1, "input_height": SIDE, "input_width": SIDE,
        "conv_config": ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b, shard_layout=BLOCK),
    }  # fmt: skip


def run(device, kept):
    x = ttnn.to_memory_config(kept["x"], L1)
    for welford in (True, False):
        y = normed(x, kept, welford)
        y = ttnn.silu(ttnn.to_layout(ttnn.to_memory_config(y, L1), ttnn.TILE_LAYOUT), memory_config=L1)
        weight = ttnn.from_torch(torch.randn(CHANNELS, CHANNELS, 3, 3), dtype=ttnn.bfloat16)
        y = ttnn.conv2d(
            input_tensor=y, weight_tensor=weight, out_channels=CHANNELS, kernel_size=(3, 3), padding=(1, 1),
            stride=(1, 1), **image_of(device),
        )  # fmt: skip
        x = ttnn.add(x, ttnn.to_memory_config(y, L1), memory_config=L1)
    rows = ttnn.to_layout(ttnn.to_memory_config(x, DRAM), ttnn.ROW_MAJOR_LAYOUT)
    image = ttnn.reshape(rows, (1, SIDE, SIDE, CHANNELS))
    ttnn.grid_sample(image, kept["grid"])
    ttnn.rotate(image, 30.0, interpolation_mode="bilinear")
    up = ttnn.upsample(image, 2, mode="bilinear")
    weight = ttnn.from_torch(torch.randn(CHANNELS, 128, 2, 2), dtype=ttnn.bfloat16)
    wide = ttnn.conv_transpose2d(
        input_tensor=ttnn.reshape(image, (1, 1, SIDE * SIDE, CHANNELS)), weight_tensor=weight, out_channels=128,
        kernel_size=(2, 2), stride=(2, 2), padding=(0, 0), output_padding=(0, 0), dilation=(1, 1), groups=1,
        **image_of(device),
    )  # fmt: skip
    return up, wide
