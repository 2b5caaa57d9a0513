"""Stories about sampling, prefill, images and what compilers leave behind."""

from __future__ import annotations

from tests.checks.conv_programs import Conv, put_conv
from tests.profiles import Iteration, Program
from tests.stories.attention import attend
from tests.stories.matmuls import both_sided, multiply
from tests.stories.ports import MULTIPLIED, RMS, rest_of_layer
from tests.stories.story import SHAPE, SPLIT, TIMES, Story, run_op


def sorted_vocabulary():
    program = Program()
    probabilities = program.tensor([1, 1, 32, 128_256])
    sorted_ones = run_op(program, "Sort", (probabilities,), program.tensor(probabilities.shape), 30_000, cores=1)
    where = {"slice_start": "Shape([0, 0, 0, 0])", "slice_end": "Shape([1, 1, 32, 32])"}
    run_op(program, "Slice", (sorted_ones,), program.tensor([1, 1, 32, 32]), 5, attributes=where)
    return program


def gathered_before_topk():
    """Four chips with 65,536 columns each; eight slices of 32,768."""
    program = Program("blackhole", grid=(11, 10), devices=4)
    part = multiply(program, 32, 3840, 65_536, 700)
    ring = {"dim": 3, "num_links": 2, "ring_size": 4, "topology": "Topology::Ring"}
    whole = run_op(program, "AllGatherAsync", (part,), program.tensor([1, 1, 32, 262_144]), 600, cores=8, attributes=ring)  # fmt: skip
    for place in range(8):
        where = {"slice_start": f"Shape([0, 0, 0, {32_768 * place}])", "slice_end": f"Shape([1, 1, 32, {32_768 * (place + 1)}])"}  # fmt: skip
        chunk = run_op(program, "Slice", (whole,), program.tensor([1, 1, 32, 32_768]), 25, attributes=where)
        run_op(program, "TopK", (chunk,), program.tensor([1, 1, 32, 32]), 180, cores=33, attributes={"k": 32})
    return program


def untilized_for_upsample():
    program = Program()
    for side, channels, us in ((128, 512, 75), (256, 512, 298), (512, 256, 1_000)):
        x = run_op(
            program,
            "Unary",
            (program.tensor([1, side, side, channels]),),
            program.tensor([1, side, side, channels]),
            us,
        )
        rows = run_op(program, "Untilize", (x,), program.tensor(x.shape, layout="ROW_MAJOR"), us)
        out = program.tensor([1, 2 * side, 2 * side, channels], layout="ROW_MAJOR")
        run_op(program, "UpSample", (rows,), out, 3 * us, attributes={"scale_factor_h": 2, "scale_factor_w": 2})
    rest_of_layer(program, 4_000)
    return program


def norms_of_a_prompt():
    """Both norms of a layer of Llama 2 70B over 2048 tokens."""
    program = Program(devices=8)
    for _ in range(2):
        x, gamma = program.tensor([1, 1, 2048, 8192]), program.tensor([1, 1, 1, 8192])
        run_op(program, "LayerNorm", (x, gamma), program.tensor(x.shape), 1_250, cores=8, fidelity="HiFi4", attributes=RMS)  # fmt: skip
    rest_of_layer(program, 26_676)
    return program


def attention_of_a_prompt():
    program = Program(devices=8)
    attend(program, [1, 8, 2048, 128], 2_900, chunks=(128, 128), grid=(8, 4), kv=[1, 1, 2048, 128], causal=True)
    return program


def product_through_dram():
    program = Program(devices=8)
    halves = [multiply(program, 2048, 8192, 3584, 1_400, both_sided(8, 14)) for _ in range(2)]
    hidden = run_op(program, "BinaryNg", halves, program.tensor([1, 1, 2048, 3584]), 380, attributes=MULTIPLIED)
    multiply(program, 2048, 3584, 8192, 1_400, both_sided(8, 32), x=hidden)
    return program


def gather_then_matmul():
    """The second feed-forward matmul of Llama 70B over 4096 tokens, its input gathered over four chips."""
    program = Program(devices=4)
    part = run_op(program, "BinaryNg", (program.tensor([1, 1, 4096, 896]),), program.tensor([1, 1, 4096, 896]), 60, attributes=MULTIPLIED)  # fmt: skip
    ring = {"dim": 3, "num_links": 3, "ring_size": 4, "topology": "Topology::Ring"}
    whole = run_op(program, "AllGatherAsync", (part,), program.tensor([1, 1, 4096, 3584]), 420, cores=12, attributes=ring)  # fmt: skip
    multiply(program, 4096, 3584, 2048, 900, both_sided(16, 8), x=whole)
    return program


def convs_with_host_work():
    """41 convs of 90 us; between them the host prepares weights and layouts."""
    program = Program()
    for place in range(41):
        put_conv(program, Conv(per_core=(8, 2 + place % 3), block=(8, 6), kernel_ns=90_000) )  # fmt: skip
        x, out = (program.tensor([1, 1, 32, 64 + 32 * (place % 5)], "UINT16") for _ in range(2))
        run_op(program, "MadeUpOfNoFamily", (x,), out, 6, gap_ns=262_000)
    return program


def constants_made_each_time():
    program = Program()
    scales = [run_op(program, "Full", (), program.tensor([1, 256, 60, 80]), 40) for _ in range(2)]
    x = run_op(program, "Unary", (program.tensor([1, 256, 60, 80]),), program.tensor([1, 256, 60, 80]), 30)
    run_op(program, "BinaryNg", (x, scales[0]), program.tensor(x.shape), 45, attributes=MULTIPLIED)
    return program


def scatters_in_a_chain():
    """1024 edges of eight features: 256 indices a time."""
    program = Program()
    shape = [512, 8]
    sums = program.tensor(shape, layout="ROW_MAJOR")
    for _ in range(64):
        indices, values = program.tensor([32, 8], "INT32", layout="ROW_MAJOR"), program.tensor([32, 8], layout="ROW_MAJOR")  # fmt: skip
        sums = run_op(program, "Scatter", (sums, indices, values), program.tensor(shape, layout="ROW_MAJOR"), 9)
    rest_of_layer(program, 300)
    return program


def repeat_on_one_core():
    """Mamba: [1,1,32,32] times 5120."""
    program = Program()
    x, wide = program.tensor([1, 1, 32, 32]), [1, 1, 32, 163_840]
    repeated = run_op(program, "Repeat", (x,), program.tensor(wide), 460, cores=1)
    run_op(program, "BinaryNg", (repeated, program.tensor(wide)), program.tensor(wide), 110, attributes=MULTIPLIED)
    return program


def wide_siglip():
    """One of 27 layers over 256 patches."""
    program = Program("blackhole", grid=(11, 10))
    for k, n, us in ((1152, 3456, 45), (1152, 1152, 18), (1152, 4304, 55), (4304, 1152, 55)):
        multiply(
            program, 256, k, n, us, both_sided(1, -(-n // 32 // 11), grid=(11, 8), block=4), weights="BFLOAT16"
        )
    return program


SERVING = (
    Story(
        "sorted-vocabulary", "tt-xla PR#4334", "128,256 probabilities sorted on one core: 30 ms a token",
        "TopK of four chunks (0.18 ms each)", sorted_vocabulary, "other change", "right", 29_280, "top.?k", made_up="32 rows",
    ),
    Story(
        "topk-gathered", "tt-xla #4494", "logits of four chips gathered, sliced, TopK of each slice",
        "TopK on each chip, its results gathered (2 ms expected)", gathered_before_topk, "other change", "named", None, "before the gather|each chip|per chip",
    ),
    Story(
        "vae-upsample", "tt-metal PR#26063", "SDXL's decoder untilizes before each Upsample: 2,478,437 us",
        "Upsample of tiles (2,477,064 us)", untilized_for_upsample, "other change", "right", 1_373, "[Uu]p.?sample", made_up=f"{SHAPE}, {SPLIT}",
    ),
    Story(
        "prompt-norms", "tt-metal #7003", "Llama 2 70B, 2048 tokens, norms on few cores: 29,176 us a layer",
        "8x8 cores (27,284 us)", norms_of_a_prompt, "bound wrong", "right", 1_892, "core|grid|SHARDED", made_up="the cores before",
    ),
    Story(
        "prompt-attention", "tt-metal #7003", "Llama 2 70B, attention over 2048 tokens: 27,160 us a layer",
        "8x8 cores, chunks of 512 (25,085 us)", attention_of_a_prompt, "bound wrong", "right", 2_075, "grid|chunk", made_up="cores and chunks before", several=True,
    ),
    Story(
        "prompt-product", "tt-metal #7003", "Llama 2 70B, gate times up through DRAM: 29,469 us a layer",
        "BLOCK_SHARDED (29,176 us)", product_through_dram, "other change", "right", 293, "[Ss]hard|SHARDED|L1", made_up=SPLIT,
    ),
    Story(
        "gather-matmul", "tt-metal PR#41837", "Llama 70B, 4096 tokens, gather then matmul: 625 ms",
        "all_gather_minimal_matmul_async (605.7 ms over 80 layers)", gather_then_matmul, "right", "right", 241, "all_gather.*matmul", made_up=f"{SHAPE}, {SPLIT}",
    ),
    Story(
        "vovnet-weights", "tt-mlir PR#7920", "VoVNet: conv weights prepared in every call: 68 fps",
        "weights prepared once, layouts on the device, trace (254 fps)", convs_with_host_work, "right", "right", 10_770, "prepare|trace",
        made_up=f"{SHAPE}, {SPLIT}", iterations=(Iteration(cold=True), Iteration(), Iteration()),
    ),
    Story(
        "constants", "tt-mlir #5512", "two tensors filled with a constant in every run", "made once",
        constants_made_each_time, "other change", "named", None, "once|scalar", made_up=TIMES,
    ),
    Story(
        "scatter-chain", "tt-mlir #8714", "a sum over edges as 64 scatters of 256", "one scatter",
        scatters_in_a_chain, "silent", "named", None, "one |coalesce|single", made_up=TIMES,
    ),
    Story(
        "mamba-repeat", "tt-metal #6939", "Mamba: a tile repeated 5120 times on one core: 460 us", "a fused op, or all cores (10 us asked for)",
        repeat_on_one_core, "named", "named", None, "repeat_and_interleave|broadcast|cores", made_up="the product's time",
    ),
    Story(
        "siglip-weights", "tt-metal PR#43559", "Pi0.5: SigLIP's weights in BFLOAT16: 183.4 ms", "BFLOAT8_B, and other changes (169.2 ms)",
        wide_siglip, "named", "named", None, "bfloat8_b|BFLOAT8_B", made_up=f"{SHAPE}, {TIMES}",
    ),
)  # fmt: skip
