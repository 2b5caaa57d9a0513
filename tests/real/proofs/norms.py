"""Norms and softmax, whole rows and parts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("n150",)


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Each of them as often as its program differs; each is made before the next is asked for."""
    ttnn = on.ttnn
    kernels = [
        None,
        *(
            ttnn.init_device_compute_kernel_config(
                on.device.arch(), math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=fp32, packer_l1_acc=False
            )
            for fp32 in (True, False)
        ),
    ]
    for width, dtype in ((64, "bf"), (200, "b8"), (320, "bf"), (480, "bf"), (1024, "f32"), (8192, "bf"), (16_384, "bf"), (8192, "f32"),
                         (16_400, "bf")):  # fmt: skip
        x, mask = on.tiles(1, 1, 64, width, dtype=dtype), on.tiles(1, 1, 32, width)
        weight, row = on.tiles(1, 1, 1, width), on.rows(1, 1, width // 32, 32)
        for kernel in kernels:
            for stable in (True, False):
                yield lambda: ttnn.softmax(x, dim=-1, compute_kernel_config=kernel, numeric_stable=stable)
                yield lambda: ttnn.scale_mask_softmax(
                    x, 0.5, mask, compute_kernel_config=kernel, numeric_stable=stable
                )
            for norm in (ttnn.layer_norm, ttnn.rms_norm):
                yield lambda: norm(x, compute_kernel_config=kernel)
                yield lambda: norm(x, weight=weight, compute_kernel_config=kernel)
                yield lambda: norm(x, weight=row, compute_kernel_config=kernel)
                yield lambda: norm(x, residual_input_tensor=x, compute_kernel_config=kernel)
                yield lambda: norm(
                    x, weight=weight, bias=weight, residual_input_tensor=x, compute_kernel_config=kernel
                )
    for layout, shape, shard, cores in (
        ("WIDTH", (32, 4096), (32, 128), (8, 4)),
        ("BLOCK", (512, 1024), (64, 128), (8, 8)),
    ):
        held = on.tiles(1, 1, *shape, memory=on.shards(layout, shard, cores))
        weight = on.rows(1, 1, shape[1] // 32, 32)
        config = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=cores,
            subblock_w=4,
            block_h=shard[0] // 32,
            block_w=shard[1] // 32,
            inplace=False,
        )
        for kernel in kernels:
            for norm in (ttnn.layer_norm, ttnn.rms_norm):
                for more in ({}, {"weight": weight}, {"weight": weight, "residual_input_tensor": held}):
                    yield lambda: norm(
                        held,
                        program_config=config,
                        memory_config=held.memory_config(),
                        compute_kernel_config=kernel,
                        **more,
                    )
    for height in (64, 1024, 4096):
        x = on.tiles(1, 2, height, 64)
        yield lambda: ttnn.softmax(x, dim=-2)
        yield lambda: ttnn.softmax(x, dim=1)
    shards = on.tiles(1, 8, 256, 256, memory=on.shards("HEIGHT", (32, 256), (8, 8)))
    config = ttnn.SoftmaxShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(8, 8), subblock_w=4, block_h=1, block_w=8
    )
    for kernel in kernels:
        yield lambda: ttnn.softmax_in_place(shards, program_config=config, compute_kernel_config=kernel)
        yield lambda: ttnn.softmax(shards, dim=-1, compute_kernel_config=kernel)
    yield from _few(on)


def _few(on: Operands) -> Iterator[Callable[[], object]]:
    """Rows of three and four tiles, and single rows."""
    ttnn = on.ttnn
    narrow = ttnn.init_device_compute_kernel_config(
        on.device.arch(), math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=False, packer_l1_acc=False
    )
    for width in (96, 128):
        x, mask = on.tiles(1, 1, 64, width), on.tiles(1, 1, 32, width)
        yield lambda: ttnn.softmax(x, dim=-1, compute_kernel_config=narrow)
        yield lambda: ttnn.scale_mask_softmax(x, 0.5, mask, compute_kernel_config=narrow)
    for width in (512, 16_384):  # of one row a weight is as large as a residual
        x, weight = on.tiles(1, 1, 1, width), on.tiles(1, 1, 1, width)
        for norm in (ttnn.layer_norm, ttnn.rms_norm):
            yield lambda: norm(x, weight=weight)
            yield lambda: norm(x, residual_input_tensor=x)
            yield lambda: norm(x, weight=weight, bias=weight)
            yield lambda: norm(x, weight=weight, residual_input_tensor=x)
