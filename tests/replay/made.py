"""A made matmul whose script runs in no time."""

from dataclasses import replace

from tests.checks.rows import put
from tests.profiles import Program, write_performance_report
from tests.profiles.ops import matmul

CONFIG = (
    "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=2,"
    "out_subblock_h=1,out_subblock_w=2,out_block_h=1,out_block_w=2,per_core_M=1,per_core_N=2,transpose_mcast=0,"
    "fused_activation=std::nullopt,fuse_batch=1)"
)


def linear(*, config=CONFIG, kernel_ns=20_000, **said):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 256, 256]), program.weight([1, 1, 256, 512], "BFLOAT8_B")
    y = program.tensor([1, 1, 256, 512])
    op = matmul(x, w, y, kernel_ns, program_config=config)
    put(program, replace(op, attributes={**op.attributes, **said}))
    return program


def report(folder, program=None):
    return str(write_performance_report(folder / "perf", program or linear()))
