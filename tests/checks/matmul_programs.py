"""Matmuls for matmul-program-config: 1024 x 1024 x 1024 with any config, and decode steps on interleaved weights."""

from __future__ import annotations

from tests.checks.rows import put
from tests.profiles import DRAM, Program, width_sharded
from tests.profiles.ops import matmul

MOVED_NS = 6_291_456 / 240  # 3 x 1024 x 1024 BFLOAT16 at 240 GB/s: 26.2 us
DECODED_NS = 16_384 * 1088 / 240  # 4096 x 4096 BFLOAT8_B: 17.8 MB, 74.3 us
L1_SHARDS = width_sharded(32, 64, (8, 8))


def config(block=4, height=1, width=4, *, per_core=(4, 4), name="MatmulMultiCoreReuseMultiCastProgramConfig"):
    return (
        f"{name}(compute_with_storage_grid_size=(x=8,y=8),in0_block_w={block},out_subblock_h={height},"
        f"out_subblock_w={width},per_core_M={per_core[0]},per_core_N={per_core[1]})"
    )


def linear(program, *, m=1024, k=1024, n=1024, kernel_ns=100_000, **how):
    """2.1 GFLOP: 16.4 us at HiFi2 on 64 cores; 6.3 MB: 26.2 us at 240 GB/s."""
    x, w, y = program.tensor([1, 1, m, k]), program.weight([1, 1, k, n]), program.tensor([1, 1, m, n])
    put(program, matmul(x, w, y, kernel_ns, **how))


def of_linear(**how):
    program = Program("wormhole_b0")
    linear(program, **how)
    return program


def of_blocks(*sizes, **how):
    return of_linear(program_config=config(*sizes, **how))


def decoding(
    program,
    *,
    m=32,
    k=4096,
    n=4096,
    batch=1,
    kernel_ns=94_000,
    where=DRAM,
    inner="BFLOAT8_B",
    into=L1_SHARDS,
    **how,
):
    """17.8 MB of weights: 74.3 us at 240 GB/s, 93.8 us at the 190 that interleaved ones reach."""
    layout = how.pop("layout", "TILE")
    x = program.tensor([1, batch, m, k], layout=layout, placement=into)
    y = program.tensor([1, batch, m, n], layout=layout, placement=into)
    w = program.tensor([1, 1, k, n], inner, placement=where)
    put(program, matmul(x, w, y, kernel_ns, **{"program_config": config(), **how}))


def of_decoding(**how):
    program = Program("wormhole_b0")
    decoding(program, **how)
    return program
