"""Convolutions of every layout, pools, group norms, and convolutions over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("n150",)


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Each of them as often as its program differs; each is made before the next is asked for."""
    ttnn = on.ttnn
    layouts = [getattr(ttnn.TensorMemoryLayout, f"{name}_SHARDED") for name in ("HEIGHT", "BLOCK", "WIDTH")]
    for layout in layouts:
        for sizes in ((32, 64, 64, 3, 1), (64, 32, 64, 3, 2), (16, 256, 512, 1, 1), (32, 128, 640, 3, 1)):
            for more in ({}, {"enable_act_double_buffer": True, "enable_weights_double_buffer": True},
                         {"act_block_h_override": 32}, {"full_inner_dim": True}, {"config_tensors_in_dram": True},
                         {"config_tensors_in_dram": True, "act_block_h_override": 64}):  # fmt: skip
                for dtype in (ttnn.bfloat16, ttnn.bfloat8_b):
                    config = ttnn.Conv2dConfig(weights_dtype=dtype, shard_layout=layout, **more)
                    yield lambda: _conv(on, sizes, conv_config=config, dtype=dtype)
    yield from _pools(on)
    yield from _group_norms(on)


def _conv(on: Operands, sizes: tuple[int, int, int, int, int], **asked: Any) -> object:
    """Of a square image: its side, channels in and out, side of the kernel, stride."""
    ttnn, (side, came, goes, kernel, stride) = on.ttnn, sizes
    weight, bias = (
        ttnn.zeros(shape, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
        for shape in ((goes, came, kernel, kernel), (1, 1, 1, goes))
    )
    return ttnn.conv2d(
        input_tensor=on.rows(1, 1, side * side, came), weight_tensor=weight, bias_tensor=bias, device=on.device, in_channels=came,
        out_channels=goes, batch_size=1, input_height=side, input_width=side, kernel_size=(kernel, kernel),
        stride=(stride, stride), padding=(kernel // 2, kernel // 2), **asked,
    )  # fmt: skip


def _pools(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for channels in (64, 512):
        for window, padding in ((2, 0), (3, 1), (5, 2), (6, 3), (9, 4)):
            x = on.rows(1, 1, 32 * 32, channels)
            sizes = {"batch_size": 1, "input_h": 32, "input_w": 32, "channels": channels, "kernel_size": [window] * 2,
                     "stride": [1, 1], "padding": [padding] * 2}  # fmt: skip
            yield lambda: ttnn.max_pool2d(x, dilation=[1, 1], **sizes)
            yield lambda: ttnn.max_pool2d(x, dilation=[1, 1], output_layout=ttnn.TILE_LAYOUT, **sizes)
            yield lambda: ttnn.max_pool2d(x, dilation=[1, 1], return_indices=True, **sizes)
            for counts in (True, False):
                yield lambda: ttnn.avg_pool2d(x, count_include_pad=counts, **sizes)
    for channels, window, step, ceil in ((768, 3, 2, True), (768, 4, 4, True), (1024, 3, 2, False)):
        x = on.rows(1, 1, 32 * 32, channels)
        sizes = {"batch_size": 1, "input_h": 32, "input_w": 32, "channels": channels, "kernel_size": [window] * 2,
                 "stride": [step] * 2, "padding": [0, 0]}  # fmt: skip
        yield lambda: ttnn.avg_pool2d(x, count_include_pad=True, ceil_mode=ceil, **sizes)


def _group_norms(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    for channels, groups, rows, dtype in (
        (320, 32, 1024, "bf"),
        (640, 32, 4096, "bf"),
        (512, 16, 1024, "bf"),
        (256, 32, 1024, "f32"),
    ):
        x, (x_cores, y_cores) = on.tiles(1, 1, rows, channels, dtype=dtype), (2, 4)
        grid = ttnn.CoreGrid(y=y_cores, x=x_cores)
        mask = ttnn.to_device(
            ttnn.create_group_norm_input_mask(channels, groups, grid.y, ttnn.DataType.BFLOAT8_B), on.device
        )
        row = on.rows(1, 1, channels // 32, 32)
        for welford in (False, True):
            for blocks in (1, 2):
                asked = {"num_groups": groups, "input_mask": mask, "core_grid": grid, "inplace": False,
                         "num_out_blocks": blocks, "use_welford": welford}  # fmt: skip
                yield lambda: ttnn.group_norm(x, **asked)
                yield lambda: ttnn.group_norm(x, weight=row, bias=row, **asked)
