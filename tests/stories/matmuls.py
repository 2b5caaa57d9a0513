"""Stories about matmuls and what could have been fused with them."""

from __future__ import annotations

from math import ceil

from tests.profiles import DRAM, L1, Placement, Program, width_sharded
from tests.profiles.ops import kernel_config
from tests.stories.story import SHAPE, SPLIT, Story, run_op

BANKS = Placement("DRAM", "WIDTH_SHARDED")
NAME = "MatmulMultiCoreReuseMultiCast{}ProgramConfig"


def one_sided(per_n, block=8, *, grid=(8, 8), per_m=1, more=""):
    sizes = (
        f"in0_block_w={block},out_subblock_h=1,out_subblock_w={min(per_n, 4)},per_core_M={per_m},per_core_N={per_n}"
    )
    extra = f",fuse_batch=1,fused_activation=std::nullopt,mcast_in0=1{more}"
    return f"{NAME.format('1D')}(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),{sizes}{extra})"


def both_sided(per_m, per_n, *, grid=(8, 8), block=8):
    sizes = f"in0_block_w={block},out_subblock_h=1,out_subblock_w=4,per_core_M={per_m},per_core_N={per_n}"
    return f"{NAME.format('')}(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),{sizes},transpose_mcast=0)"


def bank_sharded(per_n, block):
    return (
        f"{NAME.format('DRAMSharded')}(in0_block_w={block},per_core_M=1,per_core_N={per_n},fused_activation=null)"
    )


def multiply(  # noqa: PLR0917 - M, K, N and microseconds read best as they stand in the sources
    program, m, k, n, us, config=None, *, x=None, weights="BFLOAT8_B", activations="BFLOAT16", fidelity="HiFi2",
    where=DRAM, place=DRAM, into=DRAM, name="Matmul", cores=None, **said
):  # fmt: skip
    x = x or program.tensor([1, 1, m, k], activations, placement=place)
    w = program.tensor([1, 1, k, n], weights, placement=where)
    attributes = {"compute_kernel_config": kernel_config(fidelity, packer=True), "program_config": config, **said}
    out = program.tensor([1, 1, m, n], activations, placement=into)
    return run_op(program, name, (x, w), out, us, fidelity=fidelity, attributes=attributes, cores=cores)


def blackhole():
    return Program("blackhole", grid=(11, 10))


def experts_between_slices():
    """Eight experts: slices of 60 us, three matmuls each, one concat: all of what the PR gave back moves rows."""
    program = blackhole()
    rows = program.tensor([1, 1, 8192, 7168], "BFLOAT8_B")
    parts = []
    for expert in range(8):
        where = {
            "slice_start": f"Shape([0, 0, {1024 * expert}, 0])",
            "slice_end": f"Shape([1, 1, {1024 * (expert + 1)}, 7168])",
            "step": "Shape([1, 1, 1, 1])",
        }
        part = program.tensor([1, 1, 1024, 7168], "BFLOAT8_B")
        run_op(program, "Slice", (rows,), part, 60, attributes=where)
        up = multiply(
            program, 1024, 7168, 2048, 353.4, both_sided(4, 6, grid=(11, 8)), x=part, activations="BFLOAT8_B"
        )
        gate = multiply(
            program, 1024, 7168, 2048, 353.4, both_sided(4, 6, grid=(11, 8)), x=part, activations="BFLOAT8_B"
        )
        run_op(program, "BinaryNg", (up, gate), program.tensor([1, 1, 1024, 2048], "BFLOAT8_B"), 15)
        both = program.tensor([1, 1, 1024, 2048], "BFLOAT8_B")
        parts.append(multiply(program, 1024, 2048, 7168, 338.4, both_sided(4, 21, grid=(11, 8)), x=both, activations="BFLOAT8_B"))  # fmt: skip
    run_op(program, "Concat", parts, program.tensor([1, 1, 8192, 7168], "BFLOAT8_B"), 463.3, attributes={"dim": 2})
    return program


def dense_out_of_prefill():
    program = blackhole()
    multiply(program, 128, 1024, 8192, 62.356, one_sided(3, 4, grid=(11, 8), per_m=4), weights="BFLOAT4_B")
    return program


def narrow_blocks_of_decode():
    """Phi-3.5 on eight chips: O and down as one tile of K at a time; the rest of the layer beside them."""
    program = Program()
    shards = width_sharded(32, 128, (8, 1))
    for k, us in ((384, 30), (1024, 45)):
        place = width_sharded(32, max(32, k // 8), (4, 1) if k == 384 else (8, 1))
        multiply(program, 32, k, 3072, us, bank_sharded(8, 1), where=BANKS, place=place, into=shards, cores=12)
    for _ in range(5):
        x, out = (program.tensor([1, 1, 32, 64], "UINT16", placement=L1) for _ in range(2))
        run_op(program, "MadeUpOfNoFamily", (x,), out, 101)
    return program


def experts_gate_and_up():
    """tt-xla's E30: 11 of 110 cores each; 4096 columns each."""
    program = blackhole()
    given, halves = program.tensor([32, 1, 32, 7168]), []
    x = run_op(program, "MadeUpOfNoFamily", (given,), program.tensor([32, 1, 32, 7168]), 20)
    for _ in range(2):
        w, out = program.tensor([1, 32, 7168, 2048], "BFLOAT8_B"), program.tensor([32, 32, 32, 2048])
        attributes = {
            "compute_kernel_config": kernel_config("LoFi"), "nnz": 32,
            "program_config": one_sided(6, 1, grid=(11, 1)),
        }  # fmt: skip
        halves.append(
            run_op(program, "SparseMatmul", (x, w), out, 154_792, fidelity="LoFi", attributes=attributes, cores=11)
        )
    run_op(program, "BinaryNg", halves, program.tensor([32, 32, 32, 2048]), 1_500)
    return program


def gelu_of_its_own():
    program = blackhole()
    y = multiply(program, 512, 1024, 4096, 48.5, both_sided(2, 12, grid=(11, 8)))
    run_op(
        program, "Unary", (y,), program.tensor([1, 1, 512, 4096]), 7.6, fidelity="HiFi4",
        attributes={"op_chain": "{BasicUnaryWithParam<float, int, unsigned int>(base=BasicUnaryWithParam<float>(op_type=UnaryOpType::GELU,param={1}))}"},
    )  # fmt: skip
    return program


def of_matmul(m, k, n, us, config=None, *, arch="blackhole", **how):
    def build():
        program = blackhole() if arch == "blackhole" else Program(arch)
        multiply(program, m, k, n, us, config, **how)
        return program

    return build


def decode_layer():
    program = Program()
    for n, us, weights in ((3072, 60.96, "BFLOAT8_B"), (2048, 45.64, "BFLOAT8_B"), (8192, 83.37, "BFLOAT4_B"), (8192, 83.37, "BFLOAT4_B")):  # fmt: skip
        multiply(program, 32, 2048, n, us, one_sided(ceil(n / 32 / 64)), weights=weights)
    return program


def feed_forward_through_dram():
    program = blackhole()
    x = program.tensor([1, 1, 512, 1024])
    middle = multiply(program, 512, 1024, 4096, 50, both_sided(2, 12, grid=(11, 8)), x=x)
    multiply(program, 512, 4096, 1024, 52, both_sided(2, 3, grid=(11, 8)), x=middle)
    return program


MATMULS = (
    Story(
        "S13", "tt-metal PR#40899", "routed experts, slice and concat around their matmuls: 9424 us",
        "narrow and preallocated outputs (8481 us)", experts_between_slices, "other change", "right", 943, "narrow|output_tensor",
        made_up=f"{SHAPE} of the experts, {SPLIT}",
    ),
    Story(
        "S20", "tt-metal PR#35875", "attention dense-out, prefill, interleaved weights: 62.4 us",
        "DRAM-sharded weights (17.1 us)", dense_out_of_prefill, "silent", "other change", 45.3, "DRAM.?[Ss]harded", made_up=SHAPE,
        unknown="a 2D multicast on sharded weights took 0.47 to 1.16 times the time in tt-metal PR #37681: no report tells which",
    ),
    Story(
        "S45", "tt-metal microsoft_phi_3_5 README", "DRAM-sharded O and down with in0_block_w 1: 580.7 us a layer",
        "in0_block_w 2 (571.5 us)", narrow_blocks_of_decode, "right", "right", 9.2, "in0_block_w",
    ),
    Story(
        "D30", "tt-xla deepseek E30", "gate and up as two SparseMatmuls on 11 cores each: 309,584 us",
        "one matmul on stacked weights (238,025 us)", experts_gate_and_up, "bound wrong", "right", 71_559, "stack|one matmul",
        made_up=SHAPE,
    ),
    Story(
        "gelu", "tt-metal perf_automation guide GL-05", "matmul, then GELU: 56.1 us", "fused GELU (49.3 us)",
        gelu_of_its_own, "silent", "right", 6.8, "activation", made_up=SHAPE,
    ),
    Story(
        "ff1-fidelity", "tt-metal perf_automation guide GL-03", "FF1 of BGE-M3 at batch 32, HiFi4, BFLOAT8_B weights",
        "HiFi2 (10 ms over 24 layers)",
        of_matmul(16_384, 1024, 4096, 1_150, both_sided(47, 12, grid=(11, 10)), fidelity="HiFi4"), "right", "right", 417,
        "HiFi2", made_up="the time before",
    ),
    Story(
        "minimal-matmul", "tt-metal perf_automation guide GL-05", "minimal_matmul where 2D multicast fits: 510 us",
        "ttnn.linear with a 2D multicast config (424 us)",
        of_matmul(8192, 1024, 4096, 510, None, name="MinimalMatmul"), "silent", "right", 86, r"ttnn\.(linear|matmul)",
        made_up=SHAPE,
    ),
    Story(
        "1d-to-2d", "tt-metal skill optimization", "1D multicast over four rows of tiles: 118 us",
        "2D multicast (75 us)",
        of_matmul(128, 2048, 2048, 118, one_sided(1, 2, per_m=4), arch="wormhole_b0"), "other change", "right", 43,
        "MatmulMultiCoreReuseMultiCastProgramConfig|2D", made_up=SHAPE,
    ),
    Story(
        "decode-k2048", "tt-metal skill optimization", "decode with K = 2048 on Wormhole: 61.0, 45.6 and 2 x 83.4 us",
        "DRAM-sharded weights (38.4, 24.6, 2 x 55.0 us)", decode_layer, "right", "right", 100.4, "DRAM.?[Ss]harded",
        made_up="N and the formats",
    ),
    Story(
        "decode-k1024", "tt-metal skill optimization", "decode with K = 1024 on Wormhole",
        "none: DRAM-sharded weights lose there",
        of_matmul(32, 1024, 3072, 30, one_sided(2, 4), arch="wormhole_b0"), "right", "right", denies="DRAM.?[Ss]harded",
        made_up="N and the time",
    ),
    Story(
        "lofi-batch-1", "tt-metal perf_automation guide GL-05", "BFLOAT16 at batch 1, HiFi2",
        "none: LoFi brings nothing",
        of_matmul(512, 1024, 1024, 16, both_sided(2, 3, grid=(11, 8)), weights="BFLOAT16"), "right", "right",
        denies="LoFi", made_up=f"{SHAPE}, the time",
    ),
    Story(
        "ff1-to-ff2", "tt-metal perf_automation guide GL-05", "FF1 writes to DRAM, FF2 reads it back",
        "FF1's output in L1 (408 us over 24 layers)", feed_forward_through_dram, "silent", "right", 17, "L1",
        made_up=f"{SHAPE}, the times before",
    ),
)  # fmt: skip

__all__ = ["MATMULS"]
