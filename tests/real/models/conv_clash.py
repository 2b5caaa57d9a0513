"""A convolution whose circular buffers would reach into tensors that lie in L1: TTNN refuses it after two that ran."""

import torch
import ttnn

KIND = "n150"
L1_SMALL = 65536


def conv(device, x, size, channels, block):
    cin, cout = channels
    return ttnn.conv2d(
        input_tensor=x,
        weight_tensor=ttnn.from_torch(torch.randn(cout, cin, 3, 3), dtype=ttnn.bfloat16),
        device=device,
        in_channels=cin,
        out_channels=cout,
        batch_size=1,
        input_height=size,
        input_width=size,
        kernel_size=(3, 3),
        padding=(1, 1),
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16,
            shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
            act_block_h_override=block,
            enable_act_double_buffer=True,
            enable_weights_double_buffer=True,
        ),
        slice_config=ttnn.Conv2dL1FullSliceConfig,
    )


def weights(device):
    return ttnn.from_torch(torch.randn(1, 1, 64 * 64, 128), dtype=ttnn.bfloat16)


def run(device, kept):
    x = ttnn.to_device(kept, device)
    held = ttnn.zeros(
        (1, 1, 8192, 3072),
        dtype=ttnn.bfloat16,
        layout=ttnn.TILE_LAYOUT,
        device=device,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    x = conv(device, x, 64, (128, 128), 32)
    x = conv(device, x, 64, (128, 128), 32)
    x = conv(device, x, 64, (128, 256), 0)
    ttnn.deallocate(held)
    return x
