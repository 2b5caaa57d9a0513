"""Matmuls: 1024 x 1024 x 1024 with any config, many steps over K, 1D configs, decode steps, and those of experts."""

from __future__ import annotations

from tests.checks.rows import put
from tests.profiles import DRAM, Program, width_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul

MOVED_NS = 6_291_456 / 240  # 3 x 1024 x 1024 BFLOAT16 at 240 GB/s: 26.2 us
DECODED_NS = 16_384 * 1088 / 240  # 4096 x 4096 BFLOAT8_B: 17.8 MB, 74.3 us
L1_SHARDS = width_sharded(32, 64, (8, 8))
ONE_WAY = "MatmulMultiCoreReuseMultiCast1DProgramConfig"


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


def deep(k=9728, block=8, *, kernel_ns=205_000, rows=512, n=2560):
    """pplx-embed-4b's down projection: 304 tiles of K."""
    return of_linear(m=rows, k=k, n=n, kernel_ns=kernel_ns, program_config=config(block, 2, 2, per_core=(2, 10)))


def multicast(
    program, *, m=128, kernel_ns=118_000, n=2048, mcast="mcast_in0=1", ring="", into=DRAM, name=ONE_WAY, block=8
):
    """tt-metal's optimization skill: 118 us became 75 with a 2D config; 4.4 MB and more take 21 us."""
    sizes = f"in0_block_w={block},out_subblock_h={m // 32},out_subblock_w=1,per_core_M={m // 32},per_core_N=1"
    given = f"{name}(compute_with_storage_grid_size=(x=8,y=8),{sizes},fuse_batch=1,{mcast}{ring})"
    x, y = (program.tensor([1, 1, m, width], placement=into) for width in (2048, n))
    w = program.tensor([1, 1, 2048, n], "BFLOAT8_B")
    put(program, matmul(x, w, y, kernel_ns, program_config=given))


def one_way(**how):
    program = Program("wormhole_b0")
    multicast(program, **how)
    return program


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


def sparse(program, x=None, *, block=1, per_n=2, k=7168, n=4096, kernel_ns=48_783_000, cores=63, told=True):
    """Experts' matmul: 224 tiles of K, 48.8 ms at one per step on a Blackhole (tt-xla's E33)."""
    x = x or program.tensor([1, 128, 32, k])
    w, y = program.tensor([1, 8, k, n], "BFLOAT8_B"), program.tensor([1, 128, 32, n])
    sizes = f"in0_block_w={block};per_core_M=1;per_core_N={per_n};mcast_in0=1"
    config = f"MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8;y=8);{sizes})"
    op = DeviceOp("SparseMatmulDeviceOperation", (x, w), (y,), kernel_ns, cores=cores, fidelity="LoFi")
    op.attributes = {"nnz": None, "program_config": config if told else None}
    put(program, op)


def of_sparse(**how):
    program = Program("blackhole", grid=(11, 10))
    sparse(program, **how)
    return program
