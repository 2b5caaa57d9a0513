"""Convs, pools, group norms and an upsample, all from the program cache: the report shows none of their buffers."""

import torch
import ttnn

KIND = "n150"
L1_SMALL = 32768
WARM = True
CHANNELS, GROUPS, GRID = 64, 16, ttnn.CoreGrid(y=4, x=2)
HEIGHT, BLOCK = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED


def host(*shape):
    return ttnn.from_torch(torch.zeros(*shape), dtype=ttnn.bfloat16)


def conv(device, x, size, channels, layout=HEIGHT, **config):
    cin, cout = channels
    return ttnn.conv2d(
        input_tensor=x, weight_tensor=host(cout, cin, 3, 3), bias_tensor=host(1, 1, 1, cout), device=device,
        in_channels=cin, out_channels=cout, batch_size=1, input_height=size, input_width=size, kernel_size=(3, 3),
        padding=(1, 1), slice_config=ttnn.Conv2dL1FullSliceConfig,
        conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b, shard_layout=layout, **config),
    )  # fmt: skip


def weights(device):
    mask = ttnn.create_group_norm_input_mask(CHANNELS, GROUPS, GRID.x, ttnn.DataType.BFLOAT8_B)
    gamma = ttnn.create_group_norm_weight_bias_rm(torch.ones(CHANNELS), CHANNELS, GRID.x)
    gamma = ttnn.from_torch(gamma, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    return host(1, 1, 64 * 64, 4), ttnn.to_device(mask, device), gamma


def normed(x, mask, gamma, memory, layout):
    return ttnn.group_norm(
        x, num_groups=GROUPS, input_mask=mask, weight=gamma, bias=gamma, memory_config=memory, core_grid=GRID,
        inplace=False, output_layout=layout, epsilon=1e-5,
    )  # fmt: skip


def run(device, kept):
    x, mask, gamma = kept
    x = conv(device, ttnn.to_device(x, device), 64, (4, 64), enable_act_double_buffer=True, act_block_h_override=32)
    x = ttnn.max_pool2d(
        x, batch_size=1, input_h=64, input_w=64, channels=64, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1],
        dilation=[1, 1],
    )  # fmt: skip
    x = ttnn.reshape(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG), (1, 1, 1024, 64))
    x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
    x = normed(x, mask, gamma, ttnn.L1_MEMORY_CONFIG, ttnn.TILE_LAYOUT)
    x = conv(device, x, 32, (64, 128), BLOCK, enable_weights_double_buffer=True)
    x = conv(device, ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG), 32, (128, 64), BLOCK)
    x = ttnn.reshape(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG), (1, 32, 32, 64))
    x = ttnn.upsample(x, 2)
    return ttnn.avg_pool2d(
        ttnn.reshape(x, (1, 1, 4096, 64)), batch_size=1, input_h=64, input_w=64, channels=64, kernel_size=[4, 4],
        stride=[4, 4], padding=[0, 0], applied_shard_scheme=HEIGHT,
    )  # fmt: skip
