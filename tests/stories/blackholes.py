"""Stories about Blackholes: an embedding model, Qwen 3.5 on meshes, Gemma 4's experts, a video model."""

from __future__ import annotations

from tests.profiles import DRAM, L1, Program
from tests.profiles.ops import kernel_config
from tests.stories.attention import sdpa_config
from tests.stories.matmuls import BANKS, blackhole, both_sided, multiply, one_sided
from tests.stories.ports import ADDED, MULTIPLIED, RMS, rest_of_layer
from tests.stories.story import SHAPE, SPLIT, TIMES, Story, run_op

EMBED = "tt-metal pplx-embed-4b results"
QWEN = "tt-metal Qwen3.5-2B prefill notes"
PROJECTIONS = ((2560, 6144), (2560, 9728), (2560, 9728), (9728, 2560), (4096, 2560))  # QKV, gate, up, down, O


def p150():
    return Program("blackhole", grid=(12, 10))


def spread(program, k, n, us, block, *, grid=(8, 8), where=BANKS, weights="BFLOAT4_B"):
    """512 rows in L1 over a grid, both operands multicast."""
    per_n = -(-n // 32 // grid[0])
    width = next(width for width in (4, 3, 2, 1) if per_n % width == 0)
    config = both_sided(-(-16 // grid[1]), per_n, grid=grid, block=block).replace("out_subblock_w=4", f"out_subblock_w={width}")  # fmt: skip
    cores = grid[0] * grid[1]
    return multiply(program, 512, k, n, us, config, activations="BFLOAT8_B", weights=weights, fidelity="LoFi", where=where, place=L1, into=L1, cores=cores)  # fmt: skip


def narrow_blocks():
    program = p150()
    spread(program, 9728, 2560, 205, 8, weights="BFLOAT8_B")
    return program


def on_64_cores():
    program = p150()
    for (k, n), us, block in zip(PROJECTIONS, (67.5, 110.9, 110.9, 101.8, 48.7), (10, 10, 10, 38, 32), strict=True):
        spread(program, k, n, us, block, weights="BFLOAT8_B" if k == 9728 else "BFLOAT4_B")
    return program


def interleaved_rows():
    program = p150()
    for (k, n), us, block in zip(PROJECTIONS, (102.7, 155.7, 155.7, 155.5, 72.6), (16, 8, 8, 16, 32), strict=True):
        spread(program, k, n, us, block, grid=(10, 8), where=DRAM)
    return program


def cast_before_attention():
    """32 sequences of 512 tokens; keys and values stay as they are."""
    program = p150()
    flat = program.tensor([32, 32, 512, 128])
    tables = [program.tensor([1, 1, 512, 128]) for _ in range(2)]
    wide = run_op(program, "RotaryEmbeddingLlama", (flat, *tables), program.tensor(flat.shape), 620)
    q = run_op(program, "Typecast", (wide,), program.tensor(wide.shape, "BFLOAT8_B"), 590)
    keys = [program.tensor([32, 8, 512, 128]) for _ in range(2)]
    attributes = {"is_causal": False, "program_config": sdpa_config(512, 256, (8, 10)), "compute_kernel_config": kernel_config("LoFi")}  # fmt: skip
    run_op(program, "ScaledDotProductAttention", (q, *keys), program.tensor(wide.shape, "BFLOAT8_B"), 932, fidelity="LoFi", attributes=attributes, cores=80)  # fmt: skip
    return program


def silu_in_the_product():
    program = p150()
    rows, wide = [1, 32, 512, 2560], [1, 32, 512, 9728]
    x = run_op(program, "LayerNorm", (program.tensor(rows, "BFLOAT8_B"),), program.tensor(rows, "BFLOAT8_B"), 260, fidelity="HiFi2", attributes=RMS)  # fmt: skip
    said = {"compute_kernel_config": kernel_config("LoFi"), "fused_activation": None}
    halves = [
        run_op(program, "MinimalMatmul", (x, program.tensor([1, 1, 2560, 9728], "BFLOAT4_B")), program.tensor(wide, "BFLOAT8_B"), 1_777.7, fidelity="LoFi", attributes=said)
        for _ in range(2)
    ]  # fmt: skip
    product = {**MULTIPLIED, "lhs_activations": "{BasicUnaryWithParam<float>(op_type=UnaryOpType::SILU,param={})}"}
    run_op(program, "BinaryNg", halves, program.tensor(wide, "BFLOAT8_B"), 1_676.4, attributes=product)
    return program


def norm_of_many_rows():
    program = p150()
    x, gamma = program.tensor([1, 1, 16_384, 2560], "BFLOAT8_B"), program.tensor([1, 1, 1, 2560])
    attributes = {**RMS, "compute_kernel_config": kernel_config("HiFi2", approximate=False)}
    run_op(program, "LayerNorm", (x, gamma), program.tensor(x.shape, "BFLOAT8_B"), 259.7, fidelity="HiFi2", attributes=attributes)  # fmt: skip
    return program


def queries_of_one_token():
    """One of 64 layers on four chips: 483 us."""
    program = blackhole()
    x = program.tensor([1, 1, 1, 5120], placement=L1)
    multiply(program, 1, 5120, 3584, 56, one_sided(2, 8, grid=(8, 7)), x=x, into=L1, cores=56)
    rest_of_layer(program, 427)
    return program


def gathers_before_matmuls():
    program = Program("blackhole", grid=(11, 10), devices=8)
    line = {"dim": 3, "num_links": 2, "ring_size": 8, "topology": "Topology::Linear"}
    for n in (1536, 1024):
        part = program.tensor([1, 1, 1024, 256])
        whole = run_op(program, "AllGatherAsync", (part,), program.tensor([1, 1, 1024, 2048]), 78.8, cores=12, attributes=line)  # fmt: skip
        multiply(program, 1024, 2048, n, 41, both_sided(4, -(-n // 32 // 11), grid=(11, 8)), x=whole, into=L1)
    return program


def norms_over_chips():
    """Both halves of a layer: scatter the sums, gather the statistics, gather the rows again."""
    program = Program("blackhole", grid=(11, 10), devices=8)
    line = {"dim": 3, "num_links": 2, "ring_size": 8, "topology": "Topology::Linear"}
    for k, n in ((512, 1536), (768, 1024)):
        y = multiply(program, 1024, k, 2048, 41, both_sided(4, 6, grid=(11, 8)))
        part = run_op(program, "ReduceScatterMinimalAsync", (y,), program.tensor([1, 1, 1024, 256]), 130.2, cores=12, attributes=line)  # fmt: skip
        summed = run_op(program, "BinaryNg", (part, program.tensor([1, 1, 1024, 256])), program.tensor([1, 1, 1024, 256]), 5, attributes=ADDED)  # fmt: skip
        sums = run_op(
            program, "LayerNormPreAllGather", (summed,), program.tensor([1, 1, 1024, 32]), 8, fidelity="HiFi4"
        )
        every = run_op(program, "AllGatherAsync", (sums,), program.tensor([1, 1, 1024, 256]), 78.8, cores=12, attributes=line)  # fmt: skip
        normed = run_op(program, "LayerNormPostAllGather", (summed, every, program.tensor([1, 1, 1, 256])), program.tensor([1, 1, 1024, 256]), 10, fidelity="HiFi4")  # fmt: skip
        whole = run_op(program, "AllGatherAsync", (normed,), program.tensor([1, 1, 1024, 2048]), 78.8, cores=12, attributes=line)  # fmt: skip
        multiply(program, 1024, 2048, n, 41, both_sided(4, -(-n // 32 // 11), grid=(11, 8)), x=whole)
    rest_of_layer(program, 750)
    return program


def experts_in_blocks_of_22():
    """Eight of 128 experts on 44 cores, gate and up packed; 881 us a layer."""
    program = blackhole()
    x = program.tensor([1, 1, 1, 2816])
    for k, n, us, weights in ((2816, 1408, 100, "BFLOAT8_B"), (704, 2816, 30, "BFLOAT4_B")):
        attributes = {
            "compute_kernel_config": kernel_config("LoFi", packer=True), "nnz": 8,
            "program_config": one_sided(n // 32 // 44, 22, grid=(11, 4)),
        }  # fmt: skip
        x = run_op(program, "SparseMatmul", (x, program.tensor([1, 128, k, n], weights)), program.tensor([1, 1, 1, 128, 32, n]), us, fidelity="LoFi", attributes=attributes, cores=44)  # fmt: skip
        if n == 1408:
            x = run_op(program, "Unary", (x,), program.tensor([1, 128, 32, 704]), 8)
    rest_of_layer(program, 743)
    return program


def channels_to_space():
    """up0 of Wan's decoder on one of 32 chips: each of 1024 channels eight times, then to time, rows and columns."""
    program = blackhole()
    rows = {"layout": "ROW_MAJOR"}
    x = program.tensor([1, 1, 2310, 1024], **rows)
    thin = run_op(program, "ReshapeView", (x,), program.tensor([1, 2310, 1024, 1], **rows), 9_000)
    eight = run_op(program, "Concat", (thin,) * 8, program.tensor([1, 2310, 1024, 8], **rows), 22_600, attributes={"dim": 3})  # fmt: skip
    split = run_op(program, "ReshapeView", (eight,), program.tensor([2310, 1024, 4, 2], **rows), 6_800)
    run_op(program, "Permute", (split,), program.tensor([2310, 4, 2, 1024], **rows), 12_000, attributes={"dims": "SmallVector([0, 2, 3, 1])"})  # fmt: skip
    return program


def chunks_beside_the_grid():
    """Six heads of 2336 rows: 19 chunks each for 110 cores."""
    program = Program("blackhole", grid=(11, 10), devices=8)
    q, k, v, out = (program.tensor([1, 6, 2336, 128]) for _ in range(4))
    attributes = {
        "is_causal": False, "ring_size": 8, "topology": "Topology::Ring", "num_links": 2,
        "program_config": sdpa_config(128, 512, (11, 10)), "compute_kernel_config": kernel_config("HiFi2"),
    }  # fmt: skip
    run_op(program, "RingJointSDPA", (q, k, v), out, 1_480, fidelity="HiFi2", attributes=attributes, cores=110)
    return program


BLACKHOLES = (
    Story(
        "embed-blocks", EMBED, "down for 512 rows with in0_block_w 8: 35 % of its roofline", "in0_block_w 38 (70 %, 102.6 us)",
        narrow_blocks, "other change", "right", 102.4, "in0_block_w", made_up="formats",
    ),
    Story(
        "embed-grid", EMBED, "a layer's matmuls for 512 rows on 64 of 120 cores: 439.8 us", "12 x 8 cores (327.7 us)",
        on_64_cores, "bound wrong", "right", 112.1, "grid", made_up="formats",
    ),
    Story(
        "embed-shards", EMBED, "a layer's matmuls for 512 rows, interleaved in L1", "none: BLOCK_SHARDED took 1 to 3.5 % more, minimal_matmul twice the time",
        interleaved_rows, "right", "right", denies=r"BLOCK_SHARDED|[Bb]lock.sharded|minimal_matmul", made_up="formats, cores",
    ),
    Story(
        "embed-cast", EMBED, "queries cast to BFLOAT8_B before attention: 590 us", "none: attention on BFLOAT16 queries took 1.1 % more in all",
        cast_before_attention, "false promise", "right", denies="[Tt]ypecast|cast", made_up="nothing",
    ),
    Story(
        "embed-silu", EMBED, "SiLU within the product of gate and up", "none: in the gate's matmul it took 2.2 % more, fused SwiGLU 10 %",
        silu_in_the_product, "right", "right", denies="fused_activation|swiglu", made_up="nothing",
    ),
    Story(
        "embed-norm", EMBED, "RMSNorm over 16,384 rows at HiFi2: 259.7 us", "none: LoFi took 260.0 us",
        norm_of_many_rows, "right", "right", denies="LoFi", made_up="nothing",
    ),
    Story(
        "qwen-banks", "tt-metal Qwen3.6-27B optimization log", "QKV of one token, weights interleaved: 30.9 ms a token", "none: DRAM-sharded took 31.0 ms",
        queries_of_one_token, "right", "right", denies="DRAM.?[Ss]harded", made_up=f"N, {TIMES}",
    ),
    Story(
        "qwen-gathers", QWEN, "gather, then matmul on eight chips: 42.79 ms", "none: all_gather_minimal_matmul_async took 44.19 ms",
        gathers_before_matmuls, "false promise", "right", denies=r"all_gather\w*matmul",
    ),
    Story(
        "qwen-residual", QWEN, "residual over eight chips, distributed norms: 39.80 ms", "the residual on every chip, its norms local (37.43 ms over 24 layers)",
        norms_over_chips, "other change", "right", 98.8, "all_reduce|replicat|every chip|each chip",
    ),
    Story(
        "gemma-gate", "tt-metal autoports gemma_4_26b optimized decoder", "experts' gate and up in blocks of 22 tiles: 1073.9 us a layer", "none: blocks of 44 took 1070.8 us, of 88 1075.7 us",
        experts_in_blocks_of_22, "right", "right", denies="in0_block_w", made_up=SPLIT,
    ),
    Story(
        "wan-upsample", "tt-metal Wan2.2 TI2V-5B notes", "channels to space by concats of rows of one value: 50.4 ms", "wide rows, ttnn.upsample (0.19 ms)",
        channels_to_space, "bound wrong", "right", 50_200, "upsample|last dim|wide", made_up=f"{SHAPE}, {SPLIT}",
    ),
    Story(
        "wan-chunks", "tt-metal Wan2.2 TI2V-5B notes", "ring attention with q chunks of 128, 114 pieces for 110 cores: 1480 us", "q chunks of 160 (1068.4 us)",
        chunks_beside_the_grid, "silent", "right", 411.6, "q_chunk", made_up="nothing",
    ),
)  # fmt: skip
