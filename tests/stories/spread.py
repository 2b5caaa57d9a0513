"""Stories about work spread over cores and links, and about formats and blocks of whole models."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.conv_programs import Conv, put_conv
from tests.profiles import Program
from tests.stories.matmuls import both_sided, multiply
from tests.stories.story import SHAPE, TIMES, Story, run_op


def tall_sum():
    """51,264 rows of one tile's width, summed over the rows."""
    program = Program()
    attributes = {"math_op": "ReduceOpMath::SUM", "dim": "ReduceOpDim::H", "scaler": 1}
    x = program.tensor([1, 1, 51_264, 32])
    run_op(program, "Reduce", (x,), program.tensor([1, 1, 1, 32]), 916.8, cores=1, fidelity="HiFi4", attributes=attributes)  # fmt: skip
    return program


def hard_coded_grid():
    """NanoGPT's linears of 64 x 256 tokens, on a grid that another chip has."""
    program = Program("blackhole", grid=(12, 10))
    for k, n, us in ((384, 1152, 260), (384, 384, 110), (384, 1536, 330), (1536, 384, 330)):
        multiply(program, 16_384, k, n, us, both_sided(64, -(-n // 32 // 7), grid=(7, 8), block=2), weights="BFLOAT16", cores=56)  # fmt: skip
    return program


def scatters(rows: int, us: float):
    """The two reduce-scatters of a layer of Llama-70B on four of the 32 chips, one worker per link."""

    def build():
        program = Program(devices=4)
        for columns in (8192, 7168):
            x, out = program.tensor([1, 1, rows, columns]), program.tensor([1, 1, rows, columns // 4])
            attributes = {"dim": 3, "num_links": 4, "ring_size": 4, "topology": "Topology::Ring", "num_workers_per_link": 1}  # fmt: skip
            run_op(program, "ReduceScatterMinimalAsync", (x,), out, us, cores=16, attributes=attributes)
        return program

    return build


def gate_beside_up():
    program = Program("blackhole", grid=(11, 10))
    x = run_op(program, "LayerNorm", (program.tensor([1, 1, 32, 2560]),), program.tensor([1, 1, 32, 2560]), 8)
    gate, up = (multiply(program, 32, 2560, 10_240, 150, x=x) for _ in range(2))
    chain = {"op_chain": "{BasicUnaryWithParam<float>(op_type=UnaryOpType::GELU,param={1})}"}
    gate = run_op(program, "Unary", (gate,), program.tensor([1, 1, 32, 10_240]), 9, attributes=chain)
    hidden = run_op(program, "BinaryNg", (gate, up), program.tensor([1, 1, 32, 10_240]), 9, attributes={"binary_op_type": "BinaryOpType::MUL"})  # fmt: skip
    multiply(program, 32, 10_240, 2560, 150, x=hidden)
    return program


def wide_weights_of_sdxl():
    """One of 70 feed-forward blocks, at 1280 channels."""
    program = Program()
    multiply(program, 1024, 1280, 10_240, 450, both_sided(4, 40), weights="BFLOAT16")
    multiply(program, 1024, 5120, 1280, 280, both_sided(4, 5), weights="BFLOAT16")
    return program


def convs_of_small_blocks():
    program = Program()
    for place in range(4):
        put_conv(program, replace(Conv(layout="BLOCK", channel_cores=8, block=(1, 6), weights="BFLOAT8_B"), per_core=(8, 2 + place), kernel_ns=500_000))  # fmt: skip
    return program


def logits_to_rows():
    """All of a prompt's logits of Falcon 7B, on one core."""
    program = Program()
    logits = multiply(program, 2048, 4544, 65_024, 14_000)
    run_op(program, "Untilize", (logits,), program.tensor(logits.shape, layout="ROW_MAJOR"), 60_000, cores=1)
    return program


SPREAD = (
    Story(
        "tall-sum", "tt-metal #52922", "sum over the rows of [1,1,51264,32] in tiles, one core: 916.8 us",
        "the same in ROW_MAJOR (241.7 us, 64 cores, since tt-metal PR#50393)", tall_sum, "silent", "right", 675,
        "ROW_MAJOR|to_layout|untilize", made_up="nothing",
    ),
    Story(
        "train-grid", "tt-metal PR#35519", "NanoGPT's matmuls on 7x8 cores of a Blackhole",
        "the device's grid (6.89 % of the benchmark)", hard_coded_grid, "named", "named", None, "grid",
        made_up=f"{SHAPE}, {TIMES}",
    ),
    Story(
        "scatter-workers", "tt-metal PR#36991", "reduce-scatters of 4096 tokens, one worker per link: 584.8 ms",
        "four (545.5 ms over 80 layers)", scatters(4096, 1_200), "other change", "right", 491, "num_workers_per_link",
        made_up="the times before, that all of the gain is theirs",
    ),
    Story(
        "scatter-few-rows", "tt-metal PR#36991", "reduce-scatters of 128 tokens, one worker per link: 66.97 ms",
        "none: four workers took 71.17 ms", scatters(128, 60), "right", "right", denies="num_workers_per_link",
        made_up="the times before",
    ),
    Story(
        "gate-up", "tt-metal #44949, PR#47271", "Gemma 4 decode: gate and up as two matmuls, GELU apart",
        "one matmul, the activation in the product", gate_beside_up, "named", "named", None, r"concat\(\[|stack|one matmul",
        made_up=f"{SHAPE}, {TIMES}",
    ),
    Story(
        "sdxl-weights", "tt-metal PR#24294", "SDXL's feed-forward weights in BFLOAT16", "BFLOAT8_B (10 ms over 70 blocks)",
        wide_weights_of_sdxl, "right", "right", 143, "bfloat8_b|BFLOAT8_B", made_up="the times before",
    ),
    Story(
        "sdxl-convs", "tt-metal PR#22727", "SDXL's convs in blocks of one tile, single buffers: 995.5 ms",
        "act_block_h, double buffers (671.9 ms)", convs_of_small_blocks, "named", "named", None, "act_block_h|double_buffer",
        made_up=f"{SHAPE}, {TIMES}",
    ),
    Story(
        "falcon-logits", "tt-metal #9022", "Falcon 7B's logits of 2048 rows untilized on one core",
        "all cores", logits_to_rows, "named", "named", None, "core|last", made_up=TIMES,
    ),
)  # fmt: skip
