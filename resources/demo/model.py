"""The demo's model: a small CNN that runs on TTNN 0.81.1, with faults on purpose.

The memory report beside it is what TTNN wrote of one pass of `forward` on a mock n150: `python -m tests.real.rig demo`.
"""

import ttnn

HEIGHT = ttnn.TensorMemoryLayout.HEIGHT_SHARDED


def placed(device, *shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.zeros(shape, dtype=dtype, layout=layout, device=device)


def layer(device, size, channels, kernel=3, stride=1):
    """What a convolution takes beside its input and its config; its filters are prepared when it first runs."""
    filters = (channels[1], channels[0], kernel, kernel)
    return {
        "weight_tensor": ttnn.zeros(filters, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT),
        "bias_tensor": ttnn.zeros((1, 1, 1, channels[1]), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT),
        "in_channels": channels[0], "out_channels": channels[1], "batch_size": 1, "device": device,
        "input_height": size, "input_width": size, "kernel_size": (kernel, kernel), "stride": (stride, stride),
        "padding": (kernel // 2, kernel // 2), "dtype": ttnn.bfloat16, "slice_config": ttnn.Conv2dL1FullSliceConfig,
    }  # fmt: skip


def image():
    return ttnn.zeros((1, 1, 256 * 256, 3), dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)


def weights(device):
    fidelity = ttnn.MathFidelity.HiFi4
    return {
        "mean": placed(device, 1, 1, 1, 3),
        "scale": placed(device, 1, 1, 1, 3),
        "stem": layer(device, 256, (3, 64), kernel=7, stride=2),
        "a": layer(device, 64, (64, 64)),
        "b": layer(device, 64, (64, 128)),
        "mix": layer(device, 64, (192, 256)),
        "deep": layer(device, 64, (256, 256)),
        "rows of c": ttnn.create_sharded_memory_config(
            (64, 192), core_grid=ttnn.CoreGrid(y=8, x=8), strategy=ttnn.ShardStrategy.HEIGHT,
            use_height_and_width_as_shard_shape=True,
        ),
        "project": placed(device, 1, 1, 256, 768, dtype=ttnn.bfloat8_b),
        "gamma": placed(device, 1, 1, 24, 32, layout=ttnn.ROW_MAJOR_LAYOUT),
        "beta": placed(device, 1, 1, 24, 32, layout=ttnn.ROW_MAJOR_LAYOUT),
        "expand": placed(device, 1, 1, 768, 8192),
        "classify": placed(device, 1, 1, 8192, 1000, dtype=ttnn.bfloat8_b),
        "hifi4": ttnn.init_device_compute_kernel_config(device.arch(), math_fidelity=fidelity, packer_l1_acc=True),
    }  # fmt: skip


def forward(host, device, w):
    x = ttnn.to_device(host, device)  # 256 x 256 pixels, 3 channels
    t = ttnn.to_layout(x, ttnn.TILE_LAYOUT)  # 3 channels become 32
    ttnn.deallocate(x)
    t = ttnn.subtract(t, w["mean"], output_tensor=t)
    t = ttnn.multiply(t, w["scale"], output_tensor=t)
    x = ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT)
    ttnn.deallocate(t)
    y_conv = ttnn.conv2d(
        input_tensor=x,
        **w["stem"],
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16, act_block_h_override=32, deallocate_activation=True
        ),
    )
    y = ttnn.relu(y_conv)
    ttnn.deallocate(y_conv)
    spilled = ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG)  # y stays in L1
    z = ttnn.to_memory_config(spilled, y.memory_config())  # the same shards again
    ttnn.deallocate(spilled)
    p = ttnn.max_pool2d(
        z,
        batch_size=1,
        input_h=128,
        input_w=128,
        channels=64,
        kernel_size=[3, 3],
        stride=[2, 2],
        padding=[1, 1],
        dilation=[1, 1],
    )
    ttnn.deallocate(z)
    a_conv = ttnn.conv2d(
        input_tensor=p,
        **w["a"],
        conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, act_block_h_override=32),
    )
    a = ttnn.relu(a_conv)
    ttnn.deallocate(a_conv)
    b_conv = ttnn.conv2d(
        input_tensor=p,
        **w["b"],
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16, act_block_h_override=32, deallocate_activation=True
        ),
    )
    b = ttnn.relu(b_conv)
    ttnn.deallocate(b_conv)
    c = ttnn.concat([a, b], dim=3, memory_config=w["rows of c"])
    ttnn.deallocate(a)  # and b?
    m_conv = ttnn.conv2d(
        input_tensor=c,
        **w["mix"],
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16, shard_layout=HEIGHT, act_block_h_override=32, deallocate_activation=True
        ),
    )
    m = ttnn.relu(m_conv)
    ttnn.deallocate(m_conv)
    ttnn.deallocate(y)  # last read long ago
    d = ttnn.conv2d(
        input_tensor=m,
        **w["deep"],
        conv_config=ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16, shard_layout=HEIGHT, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
        ),
    )
    ttnn.deallocate(b)  # last read before m
    e = ttnn.add(m, d)
    ttnn.deallocate(m)
    ttnn.deallocate(d)
    q = ttnn.max_pool2d(
        e,
        batch_size=1,
        input_h=64,
        input_w=64,
        channels=256,
        kernel_size=[2, 2],
        stride=[2, 2],
        padding=[0, 0],
        dilation=[1, 1],
    )
    ttnn.deallocate(e)
    rows = ttnn.sharded_to_interleaved(q, ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(q)
    tiles = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    ttnn.deallocate(rows)
    shown = ttnn.to_layout(tiles, ttnn.ROW_MAJOR_LAYOUT)
    ttnn.deallocate(tiles)
    u = ttnn.to_layout(shown, ttnn.TILE_LAYOUT)
    ttnn.deallocate(shown)
    v = ttnn.matmul(u, w["project"], memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(u)
    t = ttnn.mean(v, dim=2, keepdim=True, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    ttnn.deallocate(v)
    t = ttnn.layer_norm(t, weight=w["gamma"], bias=w["beta"])
    t = ttnn.linear(t, w["expand"], compute_kernel_config=w["hifi4"])  # bfloat16 weights, 12.6 MB
    t = ttnn.linear(t, w["classify"])
    t = ttnn.to_layout(t, ttnn.ROW_MAJOR_LAYOUT)
    return ttnn.from_device(t)
