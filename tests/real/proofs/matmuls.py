"""Matmuls for which TTNN chooses the program, on all cores, on those named, and on shards; and with a config."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("n150", "p100")


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Each of them as often as its program differs; each is made before the next is asked for."""
    yield from _chosen(on)
    yield from _on_shards(on)
    yield from _configured(on)


def _kernels(on: Operands) -> list[Any]:
    ttnn = on.ttnn
    return [
        ttnn.init_device_compute_kernel_config(
            on.device.arch(), math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=fp32, packer_l1_acc=packer
        )
        for fp32, packer in ((False, True), (True, True), (True, False))
    ]


def _chosen(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn, l1 = on.ttnn, on.ttnn.L1_MEMORY_CONFIG
    shapes = (
        ((1, 1, 32, 1024), (1024, 3072)), ((1, 1, 512, 1024), (1024, 2048)), ((1, 1, 4096, 320), (320, 1280)),
        ((1, 1, 64, 64), (64, 64)), ((1, 8, 128, 96), (1, 1, 96, 4096)), ((1, 1, 8192, 512), (512, 64)),
        ((2, 4, 256, 160), (2, 4, 160, 256)), ((1, 1, 96, 1056), (1056, 96)), ((1, 1, 1, 2048), (2048, 32_000)),
        ((1, 1, 128, 256), (1, 6, 256, 128)), ((4, 1, 384, 1024), (1024, 1024)), ((1, 1, 2048, 8192), (8192, 2048)),
    )  # fmt: skip
    for a_shape, b_shape in shapes:
        for dtype in ("bf", "b8"):
            for place in (None, l1):
                a, b = on.tiles(*a_shape, memory=place), on.tiles(*b_shape, dtype=dtype, memory=place)
                goes = place or ttnn.DRAM_MEMORY_CONFIG
                yield lambda: ttnn.matmul(a, b, memory_config=goes)
                if len(b_shape) == 2:
                    bias = on.tiles(1, 1, 1, b_shape[-1])
                    yield lambda: ttnn.linear(a, b, bias=bias, memory_config=goes)
                    for x, y in ((8, 8), (4, 2), (8, 1)):
                        yield lambda: ttnn.linear(a, b, core_grid=ttnn.CoreGrid(x=x, y=y), memory_config=goes)
                elif a_shape[1] > 1:
                    yield lambda: ttnn.matmul(a, b, core_grid=ttnn.CoreGrid(x=8, y=8), memory_config=goes)
    for kernel in _kernels(on):
        a, b = on.tiles(1, 1, 1024, 1024), on.tiles(1024, 4096)
        yield lambda: ttnn.linear(a, b, compute_kernel_config=kernel)
        yield lambda: ttnn.linear(a, b, compute_kernel_config=kernel, core_grid=ttnn.CoreGrid(x=8, y=8))
    high, wide = on.tiles(1, 1, 1024, 512), on.tiles(1, 1, 2048, 1024)
    yield lambda: ttnn.matmul(high, wide, transpose_a=True, transpose_b=True)
    yield lambda: ttnn.matmul(wide, high)
    yield lambda: ttnn.matmul(high, on.tiles(1, 1, 1024, 256), transpose_a=True)


def _on_shards(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    kinds = {
        "HEIGHT": ((2048, 256), (64, 256), (8, 4), (256, 512)),
        "WIDTH": ((32, 2048), (32, 64), (8, 4), (2048, 1024)),
        "BLOCK": ((512, 1024), (64, 128), (8, 8), (1024, 1024)),
    }
    for layout, (shape, shard, cores, weight) in kinds.items():
        a = on.tiles(1, 1, *shape, memory=on.shards(layout, shard, cores))
        for dtype in ("bf", "b8"):
            b = on.tiles(*weight, dtype=dtype)
            out = getattr(ttnn.TensorMemoryLayout, f"{layout}_SHARDED")
            for goes in (ttnn.DRAM_MEMORY_CONFIG, ttnn.MemoryConfig(out, ttnn.BufferType.L1)):
                yield lambda: ttnn.linear(a, b, memory_config=goes)
                for kernel in _kernels(on):
                    yield lambda: ttnn.linear(a, b, memory_config=goes, compute_kernel_config=kernel)


def _configured(on: Operands) -> Iterator[Callable[[], object]]:
    ttnn = on.ttnn
    a, b = on.tiles(2, 1, 256, 1024), on.tiles(1, 1, 1024, 2048)
    for fused in (True, False):
        high = 2 if fused else 1
        multicast = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(8, 8), in0_block_w=4, out_subblock_h=1, out_subblock_w=4, per_core_M=high,
            per_core_N=8, transpose_mcast=False, fused_activation=None, fuse_batch=fused,
        )  # fmt: skip
        row = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(8, 8), in0_block_w=4, out_subblock_h=1, out_subblock_w=1,
            per_core_M=8 * high, per_core_N=1, fuse_batch=fused, mcast_in0=True, fused_activation=None,
        )  # fmt: skip
        for config in (multicast, row):
            for kernel in (None, *_kernels(on)):
                yield lambda: ttnn.linear(a, b, program_config=config, compute_kernel_config=kernel)
    pairs = [on.tiles(8, 8, 128, 64), on.tiles(8, 8, 64, 128)]
    reuse = ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(8, 8),
        in0_block_w=2,
        out_subblock_h=1,
        out_subblock_w=4,
        per_core_M=4,
        per_core_N=4,
    )
    yield lambda: ttnn.matmul(*pairs, program_config=reuse)
    for blocks in ((2, 2, 2, 1, 1), (8, 8, 8, 2, 2)):
        config = ttnn.MinimalMatmulConfig(
            M_block_size=blocks[0], K_block_size=blocks[1], N_block_size=blocks[2], subblock_h=blocks[3],
            subblock_w=blocks[4], compute_with_storage_grid_size=ttnn.CoreCoord(8, 8),
        )  # fmt: skip
        yield lambda: ttnn.experimental.minimal_matmul(a, b, config=config)
    yield lambda: ttnn.experimental.minimal_matmul(a, b)
    yield lambda: ttnn.experimental.minimal_matmul(a, b, bias_tensor=on.tiles(1, 1, 1, 2048))
    x, experts, chosen = on.tiles(1, 1, 32, 1024), on.tiles(1, 8, 1024, 2048, dtype="b8"), on.rows(1, 1, 1, 8)
    sparse = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(8, 4), in0_block_w=4, out_subblock_h=1, out_subblock_w=1, per_core_M=1,
        per_core_N=2, fuse_batch=False, mcast_in0=True, fused_activation=None,
    )  # fmt: skip
    yield lambda: ttnn.sparse_matmul(
        x, experts, sparsity=chosen, program_config=sparse, nnz=2, is_input_a_sparse=False, is_input_b_sparse=True
    )
    for chosen_ones in (on.rows(1, 1, 1, 2, dtype="u16"), on.rows(1, 1, 1, 8, dtype="u16")):
        yield lambda ids=chosen_ones: ttnn.sparse_matmul(
            x, experts, sparsity=chosen, indices=ids, program_config=sparse, is_input_b_sparse=True
        )
    halves, down = on.tiles(1, 2, 32, 2048), on.tiles(1, 8, 2048, 1024, dtype="b8")
    yield lambda: ttnn.sparse_matmul(
        halves, down, sparsity=chosen, indices=on.rows(1, 1, 1, 2, dtype="u16"), program_config=sparse,
        is_input_a_sparse=True, is_input_b_sparse=True,
    )  # fmt: skip
