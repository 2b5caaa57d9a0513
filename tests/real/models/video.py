"""A step of a video diffusion model: convs over time, group norms by Welford's algorithm and in FLOAT32, fused matmuls."""

import torch
import ttnn

KIND = "n150"
FRAMES, SIDE, CHANNELS, HEADS, HEAD = 4, 32, 64, 8, 64
WIDTH, ROWS = HEADS * HEAD, FRAMES * SIDE * SIDE
DRAM = ttnn.DRAM_MEMORY_CONFIG
GRID = ttnn.CoreGrid(y=8, x=2)


def tensor(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(torch.zeros(*shape), dtype=dtype, layout=layout, device=device)


def weights(device):
    mask = ttnn.create_group_norm_input_mask(CHANNELS, 16, GRID.x, ttnn.DataType.BFLOAT8_B)
    rows = ttnn.ROW_MAJOR_LAYOUT
    return {
        "x": tensor(device, 1, FRAMES, SIDE, SIDE, CHANNELS, layout=rows),
        "window": tensor(device, 27 * CHANNELS, CHANNELS),
        "added": tensor(device, 1, CHANNELS),
        "mask": ttnn.to_device(mask, device),
        "gamma": tensor(device, 1, 1, CHANNELS // 32, 32, layout=rows),
        "in": tensor(device, CHANNELS, WIDTH),
        "qkv": tensor(device, WIDTH, 3 * WIDTH),
        "out": tensor(device, WIDTH, WIDTH),
        "row": tensor(device, 1, 1, 1, WIDTH),
        "up": tensor(device, WIDTH, 8 * WIDTH),
        "down": tensor(device, 4 * WIDTH, WIDTH),
    }


def over_time(device, x, kept):
    config = ttnn.Conv3dConfig(
        weights_dtype=ttnn.bfloat16, output_layout=ttnn.ROW_MAJOR_LAYOUT, T_out_block=1, W_out_block=8, H_out_block=8,
        C_out_block=64, C_in_block=64, compute_with_storage_grid_size=device.compute_with_storage_grid_size(),
    )  # fmt: skip
    return ttnn.experimental.conv3d(
        input_tensor=x, weight_tensor=kept["window"], bias_tensor=kept["added"], device=device, dtype=ttnn.bfloat16,
        output_channels=CHANNELS, kernel_size=(3, 3, 3), stride=(1, 1, 1), padding=(1, 1, 1), padding_mode="zeros",
        groups=1, config=config,
    )  # fmt: skip


def normed(x, kept, **how):
    return ttnn.group_norm(
        x, num_groups=16, input_mask=kept["mask"], weight=kept["gamma"], bias=kept["gamma"], memory_config=DRAM,
        core_grid=GRID, inplace=False, output_layout=ttnn.TILE_LAYOUT, num_out_blocks=2, **how,
    )  # fmt: skip


def run(device, kept):
    x = kept["x"]
    for wide in (False, True):
        flat = ttnn.to_layout(ttnn.reshape(x, (1, 1, ROWS, CHANNELS)), ttnn.TILE_LAYOUT)
        if wide:
            kernel = ttnn.init_device_compute_kernel_config(device.arch(), fp32_dest_acc_en=True)
            flat = normed(ttnn.typecast(flat, ttnn.float32), kept, compute_kernel_config=kernel)
            flat = ttnn.typecast(flat, ttnn.bfloat16)
        else:
            flat = normed(flat, kept, use_welford=True)
        flat = ttnn.silu(flat)
        x = ttnn.reshape(ttnn.to_layout(flat, ttnn.ROW_MAJOR_LAYOUT), (1, FRAMES, SIDE, SIDE, CHANNELS))
        ttnn.deallocate(flat)
        x = over_time(device, x, kept)
    flat = ttnn.to_layout(ttnn.reshape(x, (1, 1, ROWS, CHANNELS)), ttnn.TILE_LAYOUT)
    h = ttnn.experimental.minimal_matmul(flat, kept["in"])
    q, k, v = ttnn.experimental.minimal_matmul_split(h, kept["qkv"], chunks=3)
    q, k, v = (
        ttnn.transpose(ttnn.reshape(one, (1, ROWS, HEADS, HEAD)), 1, 2, memory_config=DRAM) for one in (q, k, v)
    )
    o = ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=False)
    o = ttnn.experimental.nlp_concat_heads(o, memory_config=DRAM)
    h = ttnn.experimental.dit_minimal_matmul_addcmul_fused(o, kept["out"], 1.0, h, kept["row"])
    ttnn.deallocate(o)
    up = ttnn.experimental.minimal_matmul(h, kept["up"], fuse_swiglu=True)
    h = ttnn.experimental.dit_minimal_matmul_addcmul_fused(up, kept["down"], 1.0, h, kept["row"])
    return ttnn.experimental.dropout(h, probability=0.1, scale=1.0, seed=1)
