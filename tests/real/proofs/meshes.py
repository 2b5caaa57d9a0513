"""Collectives, on eight chips in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.rig.proof_calls import Operands

KINDS = ("t3000",)


def calls(on: Operands) -> Iterator[Callable[[], object]]:
    """Each of them as often as its program differs; each is made before the next is asked for."""
    ttnn, line = on.ttnn, on.ttnn.Topology.Linear
    experimental = ttnn.experimental
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})
    signals = [ttnn.create_global_semaphore(on.device, cores, 0) for _ in range(3)]
    for dtype in ("bf", "b8", "f32"):
        x = on.tiles(1, 1, 64, 2048, dtype=dtype)
        yield lambda: ttnn.all_gather(x, dim=3)
        yield lambda: ttnn.all_gather(x, dim=2)
        yield lambda: ttnn.reduce_scatter(x, dim=3)
        yield lambda: ttnn.mesh_partition(x, 3, cluster_axis=1)
        yield lambda: ttnn.all_broadcast(x, cluster_axis=1, topology=line)
        yield lambda: experimental.all_gather_async(x, 3, multi_device_global_semaphore=signals[:2], topology=line)
        yield lambda: experimental.reduce_scatter_minimal_async(
            x, dim=3, multi_device_global_semaphore=signals, topology=line
        )
    rows = on.rows(1, 1, 64, 512)
    yield lambda: ttnn.all_gather(rows, dim=3)
    yield lambda: ttnn.all_broadcast(rows, cluster_axis=1, topology=line)
    yield lambda: ttnn.mesh_partition(rows, 3, cluster_axis=1)
    for dtype in ("bf", "b8"):
        x = on.tiles(1, 1, 64, 512, dtype=dtype)
        yield lambda: ttnn.broadcast(x, ttnn.MeshCoordinate(0, 0), cluster_axis=1, topology=line)
    for columns, shard, links in ((1024, 64, 1), (2048, 128, 2), (2048, 128, 1)):
        place, wide = (on.shards("WIDTH", (32, times * shard), 16) for times in (1, 8))
        part, room = on.tiles(1, 1, 32, columns, memory=place), on.tiles(1, 1, 32, 8 * columns, memory=wide)
        yield lambda: experimental.all_reduce_async(
            part, room, cluster_axis=1, mesh_device=on.device, multi_device_global_semaphore=signals[0],
            memory_config=place, topology=line, num_links=links,
        )  # fmt: skip
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(8, 2), in0_block_w=2, out_subblock_h=1, out_subblock_w=1, per_core_M=1,
        per_core_N=2, transpose_mcast=False, fused_activation=None, fuse_batch=False,
    )  # fmt: skip
    for dtype in ("bf", "b8"):
        part, weight, whole = (
            on.tiles(*shape, dtype=dtype) for shape in ((1, 1, 64, 256), (1, 1, 2048, 512), (1, 1, 64, 2048))
        )
        yield lambda: experimental.all_gather_matmul_async(
            part, weight, persistent_output_buffer=whole, dim=3, multi_device_global_semaphore=signals[:2],
            all_gather_core_grid_offset=(0, 6), topology=ttnn.Topology.Ring, num_links=1, program_config=config,
        )  # fmt: skip
