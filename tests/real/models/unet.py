"""A small UNet with skips, in half resolution steps: convs in all layouts, max pool, upsample, group norm, concat."""

import torch
import ttnn

KIND = "n150"
L1_SMALL = 24576
HEIGHT, BLOCK = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED


def conv(device, x, size, channels, layout=HEIGHT, *, double=False):
    cin, cout = channels
    return ttnn.conv2d(
        input_tensor=x,
        weight_tensor=ttnn.from_torch(torch.randn(cout, cin, 3, 3), dtype=ttnn.bfloat16),
        bias_tensor=ttnn.from_torch(torch.randn(1, 1, 1, cout), dtype=ttnn.bfloat16),
        device=device,
        in_channels=cin,
        out_channels=cout,
        batch_size=1,
        input_height=size,
        input_width=size,
        kernel_size=(3, 3),
        padding=(1, 1),
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat8_b,
            shard_layout=layout,
            enable_act_double_buffer=double,
            activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
        ),
        slice_config=ttnn.Conv2dL1FullSliceConfig,
    )


def pooled(x, size, channels):
    return ttnn.max_pool2d(
        x,
        batch_size=1,
        input_h=size,
        input_w=size,
        channels=channels,
        kernel_size=[2, 2],
        stride=[2, 2],
        padding=[0, 0],
        dilation=[1, 1],
    )


def grown(x, size, channels):
    x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
    x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
    x = ttnn.upsample(ttnn.reshape(x, (1, size, size, channels)), 2)
    return ttnn.reshape(x, (1, 1, 4 * size * size, channels))


def weights(device):
    return ttnn.from_torch(torch.randn(1, 1, 128 * 128, 16), dtype=ttnn.bfloat16)


def run(device, kept):
    x = ttnn.to_device(kept, device)
    first = conv(device, x, 128, (16, 32))
    x = pooled(first, 128, 32)
    second = conv(device, x, 64, (32, 64), double=True)
    x = pooled(second, 64, 64)
    x = conv(device, x, 32, (64, 256), BLOCK)
    x = conv(device, x, 32, (256, 64), BLOCK)
    x = grown(x, 32, 64)
    second = ttnn.to_layout(ttnn.to_memory_config(second, ttnn.L1_MEMORY_CONFIG), ttnn.ROW_MAJOR_LAYOUT)
    x = ttnn.concat([x, second], dim=3)
    ttnn.deallocate(second)
    x = conv(device, x, 64, (128, 32))
    x = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG)
    x = ttnn.reshape(x, (1, 1, 64 * 64, 32))
    x = ttnn.mean(x, dim=2, keepdim=True)
    return ttnn.sum(x, dim=3)
