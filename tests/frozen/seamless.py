"""Seamless M4T v2 Large (it translates speech) on one Blackhole chip and on four, tensor parallel.

Its text-to-unit model, with 4096 rows in the encoder and 16,640 in the decoder, and its speech encoder with 4096 rows.
The ledgers tell the time in kernels of all layers, by kind of op, before and after each change; that of four chips is
told as a sum, of which each has a quarter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, chunks, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import HIFI2, IN_L1, SDPA_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/experimental/seamless_m4t_v2_large"
UNITS_LOG = f"{TT_METAL}/fda0bc37316e5965a1356eb84524c3ce46ab5d2d/{FOLDER}/perf_t2u.md"
SPEECH_LOG = f"{TT_METAL}/3a728834e2137daa1fac84b3c597b905ac404376/{FOLDER}/perf_speech_encoder.md"
GRID, CORES = (11, 10), 110
HIDDEN, HEADS, SIZE = 1024, 16, 64
ROWS, UNITS, SPEECH = 4096, 16_640, 4096


def attention(chunk: int, us: float) -> Callable[[], Block]:
    """Of a decoder layer on one chip, from its projected rows; the mask is divided by the scale at each call."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=2)
        x = block.tensor([1, 1, UNITS, 3 * HIDDEN])
        q, k, v = block.split_heads("heads", x, 780, heads=HEADS, kv=HEADS, size=SIZE, rows=UNITS, cores=CORES)
        mask = block.tensor([1, 1, UNITS, UNITS])
        mask = block.binary("mask_scaled", "MUL", mask, block.tensor([1, 1, 1, 1]), 2830, cores=CORES)
        out = block.tensor(q.shape)
        block.op("attend", "SDPAOperation", (q, k, v, mask), out, us, cores=CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), is_causal=False, output_mem_config=DRAM, program_config=chunks(chunk, chunk, GRID), scale="0.125", sliding_window_size=None, use_mla=False)  # fmt: skip
        block.join_heads("joined", out, 260, cores=CORES)
        return block

    return build


def apart() -> Block:
    """Attention of a decoder layer on one of four chips: four heads, scores and their softmax in DRAM."""
    block = Block("blackhole", devices=4, grid=GRID, gap_us=2)
    q, k, v = block.split_heads("heads", block.tensor([1, 1, UNITS, 768]), 200, heads=4, kv=4, size=SIZE, rows=UNITS, cores=CORES)  # fmt: skip
    keys = block.turned("k_turned", k, 60, cores=CORES)
    scores = block.product("scores", q, keys, 12_900, cores=CORES, fidelity="HiFi2", fp32=False)
    scores = block.binary("scaled", "MUL", scores, block.tensor([1, 1, 1, 1]), 10_600, cores=CORES)
    scores = block.binary("masked", "ADD", scores, block.tensor([1, 1, UNITS, UNITS]), 11_900, cores=CORES)
    scores = block.softmax("softmax", scores, 18_800, cores=CORES, fp32=False)
    out = block.product("out", scores, v, 13_200, cores=CORES, fidelity="HiFi2", fp32=False)
    block.join_heads("joined", out, 70, cores=CORES)
    return block


def convolution() -> Block:
    """One of twelve of a decoder, seven wide: 63 windows of 262 rows, each cut out, convolved and put back."""
    block = Block("blackhole", grid=GRID, gap_us=2)
    x = block.tensor([1, 1, UNITS + 6, HIDDEN], layout=ROW_MAJOR)
    weight = block.tensor([1, 1, 7 * HIDDEN, HIDDEN])
    parts: list[Tensor] = []
    for n in range(63):
        one = block.slice(f"cut_{n}", x, (0, 0, 256 * n, 0), (1, 1, 256 * n + 262, HIDDEN), 9)
        shards = block.to_shards(f"placed_{n}", one, block.along(32, HIDDEN, 9), 6)
        halo = block.moved(f"halo_{n}", "Halo", shards, 7, cores=9)
        out = block.tensor([1, 1, 256, HIDDEN], place=block.along(32, HIDDEN, 8))
        out = block.op(f"conv_{n}", "Conv2d", (halo, weight), out, 84, cores=8, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), groups=1, has_bias=True, output_channels=HIDDEN, memory_config=out.placement, parallelization_config="Conv2dParallelizationConfig(grid_size=(x=8,y=1),num_cores_nhw=8,num_cores_c=1)", sliding_window_config="SlidingWindowConfig(batch_size=1, input_hw=(1,262), window_hw=(1,7), stride_hw=(1,1), padding=((0, 0), (0, 0)), output_padding = (0, 0), dilation_hw=(1,1))")  # fmt: skip
        out = block.from_shards(f"back_{n}", out, 6)
        parts.append(
            block.moved(f"rows_{n}", "UntilizeWithUnpadding", out, 11, layout=ROW_MAJOR, use_multicore=True)
        )
    whole = block.concat("joined", parts, [1, 1, UNITS, HIDDEN], 2, 210)
    block.moved("tiled", "Tilize", whole, 130, layout="TILE", use_multicore=True)
    return block


def mask() -> Block:
    """The decoder's mask: a row repeated 16,640 times, in 32s and 1504s, then chosen by."""
    block = Block("blackhole", grid=GRID, gap_us=2)
    row = block.tensor([1, 1, 1, UNITS])
    strip = [1, 1, 32, UNITS]
    strips = [block.concat(f"strip_{n}", (row,) * 32, strip, 2, 16) for n in range(520)]
    wider: list[Tensor] = []
    for n in range(0, 520, 47):
        part = strips[n : n + 47]
        wider.append(block.concat(f"wider_{n}", part, [1, 1, 32 * len(part), UNITS], 2, 390))
    whole = block.concat("repeated", wider, [1, 1, UNITS, UNITS], 2, 5300)
    chosen = block.binary("compared", "GT", whole, block.tensor([1, 1, 1, 1]), 3700, cores=CORES)
    chosen = block.op("chosen", "Ternary", (chosen, chosen), block.tensor(whole.shape), 5000, cores=CORES, ternary_op_type="TernaryOpType::WHERE", memory_config=DRAM)  # fmt: skip
    chosen = block.binary("negated", "MUL", chosen, block.tensor([1, 1, 1, 1]), 3700, cores=CORES)
    block.binary("floored", "MUL", chosen, block.tensor([1, 1, 1, 1]), 3700, cores=CORES)
    return block


def encoder() -> Block:
    """A layer of the text-to-unit encoder on one of four chips: 4096 rows, the matmuls by 256."""
    block = Block("blackhole", devices=4, grid=GRID, gap_us=2)

    def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
        per_n = -(-n // 32 // 11)
        parts: list[Tensor] = []
        for row in range(0, ROWS, 256):
            part = block.slice(f"{role}_cut_{row}", x, (0, 0, row, 0), (1, 1, row + 256, x.shape[-1]), 4)
            config = two_d((11, 8), 4, (1, per_n), subblock=(1, 1))
            parts.append(block.linear(f"{role}_{row}", part, n, us, fidelity="HiFi4", config=config, cores=8 * -(-n // 32 // per_n)))  # fmt: skip
        return block.concat(f"{role}_joined", parts, [1, 1, ROWS, n], 2, 18 + n // 64)

    def summed(role: str, x: Tensor) -> Tensor:
        parts = block.collective(f"gather_{role}", "AllGatherAsync", x, 4 * HIDDEN, 620, links=2, topology="Linear")
        return block.op(f"summed_{role}", "Reduce", (parts,), block.tensor([1, 1, ROWS, HIDDEN]), 110, cores=CORES)

    x = block.tensor([1, 1, ROWS, HIDDEN])
    normed = block.norm("norm", x, 92, cores=CORES, kind="LAYERNORM", place=DRAM)
    q, k, v = block.split_heads("heads", linear("qkv", normed, 768, 17), 55, heads=4, kv=4, size=SIZE, rows=ROWS, cores=CORES)  # fmt: skip
    made = block.binary("mask_scaled", "MUL", block.tensor([1, 1, ROWS, ROWS]), block.tensor([1, 1, 1, 1]), 175, cores=CORES)  # fmt: skip
    out = block.op("attend", "SDPAOperation", (q, k, v, made), block.tensor(q.shape), 1600, cores=CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), is_causal=False, output_mem_config=DRAM, program_config=chunks(256, 256, GRID), scale="0.125", sliding_window_size=None, use_mla=False)  # fmt: skip
    out = linear("out", block.join_heads("joined", out, 25, cores=CORES), HIDDEN, 11)
    x = block.binary("attention_added", "ADD", x, summed("attention", out), 45, cores=CORES, place=DRAM)
    normed = block.norm("norm_feed", x, 92, cores=CORES, kind="LAYERNORM", place=DRAM)
    fed = block.unary("relu", "RELU", linear("up", normed, 2048, 24), 45, cores=CORES)
    block.binary(
        "feed_added", "ADD", x, summed("fed", linear("down", fed, HIDDEN, 24)), 45, cores=CORES, place=DRAM
    )
    return block


def picked() -> Block:
    """Each unit's row of the encoder, by a matmul with a matrix of ones and zeros: 65 times 256 rows."""
    block = Block("blackhole", grid=GRID, gap_us=2)
    rows = block.tensor([1, 1, ROWS, HIDDEN])
    parts: list[Tensor] = []
    for n in range(65):
        one = block.binary(
            f"ones_{n}", "EQ", block.tensor([1, 1, 256, ROWS]), block.tensor([1, 1, 256, 1]), 34, cores=CORES
        )
        one = block.typecast(f"cast_{n}", one, "BFLOAT16", 30, cores=CORES)
        parts.append(block.product(f"picked_{n}", one, rows, 122, cores=88, fidelity="HiFi4"))
    block.concat("joined", parts, [1, 1, UNITS, HIDDEN], 2, 230)
    return block


def by_tile() -> Block:
    """A projection of 4096 rows on one chip by 32 rows, weights DRAM-sharded."""
    block = Block("blackhole", grid=GRID, gap_us=2)
    x, shards, n = block.tensor([1, 1, ROWS, HIDDEN]), block.across(32, HIDDEN, 8), HIDDEN
    parts: list[Tensor] = []
    config = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4,per_core_M=1,per_core_N=4,fused_activation=std::nullopt)"  # fmt: skip
    for row in range(0, ROWS, 32):
        part = block.slice(f"cut_{row}", x, (0, 0, row, 0), (1, 1, row + 32, HIDDEN), 1.4)
        part = block.to_shards(f"placed_{row}", part, shards, 1.2)
        part = block.linear(f"matmul_{row}", part, n, 16, fidelity="HiFi4", config=config, cores=80, place=shards, banks=True)  # fmt: skip
        parts.append(block.from_shards(f"back_{row}", part, 1.7))
    block.concat("joined", parts, [1, 1, ROWS, n], 2, 270)
    return block


def biased(block: Block, n: int, scores: Tensor, by_place: Tensor, *, windowed: bool) -> Tensor:
    """With the bias of positions, gathered whole or in the band where it changes."""
    shape = scores.shape
    if not windowed:
        index = block.tensor(shape, "UINT32")
        bias = block.op(f"gather_{n}", "Gather", (by_place, index), block.tensor(shape), 7550, cores=CORES, dim=3, sparse_grad=False, output_mem_config=DRAM)  # fmt: skip
        return block.binary(f"biased_{n}", "ADD", scores, bias, 170, cores=CORES)
    index = block.tensor([*shape[:3], 608], "UINT32")
    band = block.op(f"gather_{n}", "Gather", (by_place, index), block.tensor([*shape[:3], 608]), 567, cores=CORES, dim=3, sparse_grad=False, output_mem_config=DRAM)  # fmt: skip
    left, right = 1600, shape[-1] - 608 - 1600
    sides: list[Tensor] = []
    for side, width in (("left", left), ("right", right)):
        column = block.slice(f"column_{side}_{n}", by_place, (0, 0, 0, 0), (*shape[:3], 1), 12)
        rows = block.moved(f"repeated_{side}_{n}", "Repeat", column, 440, shape=[*shape[:3], width], layout=ROW_MAJOR, repetition_vector=f"Shape([1, 1, 1, {width}])")  # fmt: skip
        sides.append(block.moved(f"repeated_tiled_{side}_{n}", "Tilize", rows, 45, layout="TILE", use_multicore=True))  # fmt: skip
    bias = block.concat(f"whole_{n}", (sides[0], band, sides[1]), shape, 3, 165)
    return block.binary(f"biased_{n}", "ADD", scores, bias, 170, cores=CORES)


def speech(*, windowed: bool) -> Callable[[], Block]:
    """A layer of the speech encoder on one of four chips; attention by 512 rows, with a bias of relative positions."""

    def build() -> Block:
        block = Block("blackhole", devices=4, grid=GRID, gap_us=2)

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            parts: list[Tensor] = []
            per_n = -(-n // 32 // 11)
            for row in range(0, SPEECH, 256):
                part = block.slice(f"{role}_cut_{row}", x, (0, 0, row, 0), (1, 1, row + 256, x.shape[-1]), 6, L1)
                config = two_d((11, 8), 4, (1, per_n), subblock=(1, 1))
                parts.append(block.linear(f"{role}_{row}", part, n, 40.7, fidelity="HiFi4", config=config, cores=8 * -(-n // 32 // per_n)))  # fmt: skip
            return block.concat(f"{role}_joined", parts, [1, 1, SPEECH, n], 2, 60)

        def summed(role: str, x: Tensor) -> Tensor:
            parts = block.collective(
                f"all_{role}", "AllGatherAsync", x, 4 * HIDDEN, 626, links=1, topology="Linear"
            )
            return block.op(
                f"summed_{role}", "Reduce", (parts,), block.tensor([1, 1, SPEECH, HIDDEN]), 90, cores=CORES
            )

        def fed(name: str, x: Tensor) -> Tensor:
            normed = block.norm(f"norm_{name}", x, 94, cores=CORES, kind="LAYERNORM", place=DRAM)
            wide = linear(f"up_{name}", normed, HIDDEN)
            wide = block.unary(f"swish_{name}", "SILU", wide, 45, cores=CORES)
            return block.binary(f"added_{name}", "ADD", x, summed(name, linear(f"down_{name}", wide, HIDDEN)), 90, cores=CORES)  # fmt: skip

        x = fed("first", block.tensor([1, 1, SPEECH, HIDDEN]))
        normed = block.norm("norm_attention", x, 94, cores=CORES, kind="LAYERNORM", place=DRAM)
        qkv = block.linear("qkv", normed, 768, 60, fidelity="HiFi4", cores=CORES)
        q, k, v = block.split_heads("heads", qkv, 55, heads=4, kv=4, size=SIZE, rows=SPEECH, cores=CORES)
        keys = block.turned("k_turned", k, 20, cores=CORES)
        outs: list[Tensor] = []
        for n in range(8):
            part = block.slice(f"q_{n}", q, (0, 0, 512 * n, 0), (1, 4, 512 * (n + 1), SIZE), 9)
            scores = block.product(f"scores_{n}", part, keys, 190, cores=CORES)
            by_place = block.product(f"by_place_{n}", part, block.tensor([1, 1, SIZE, 96]), 30, cores=CORES)
            scores = block.softmax(
                f"softmax_{n}", biased(block, n, scores, by_place, windowed=windowed), 127, cores=CORES
            )
            outs.append(block.product(f"out_{n}", scores, v, 110, cores=CORES))
        out = block.concat("outs", outs, q.shape, 2, 60)
        out = block.linear(
            "out", block.join_heads("joined", out, 25, cores=CORES), HIDDEN, 45, fidelity="HiFi4", cores=CORES
        )
        x = block.binary("attention_added", "ADD", x, summed("attention", out), 90, cores=CORES)
        normed = block.norm("norm_convolution", x, 94, cores=CORES, kind="LAYERNORM", place=DRAM)
        wide = block.linear("point_in", normed, 2 * HIDDEN, 100, fidelity="HiFi4", cores=CORES)
        halves = [block.slice(f"half_{n}", wide, (0, 0, 0, HIDDEN * n), (1, 1, SPEECH, HIDDEN * (n + 1)), 40) for n in range(2)]  # fmt: skip
        gated = block.binary("glu", "MUL", halves[0], halves[1], 90, cores=CORES, rhs="SIGMOID")
        placed = block.to_shards("placed", gated, block.along(64, HIDDEN, 64), 40)
        depth = block.op("depthwise", "Conv2d", (placed, block.tensor([1, 1, 31, HIDDEN])), block.tensor(gated.shape, place=block.along(64, HIDDEN, 64)), 420, cores=64, fidelity="HiFi4", groups=HIDDEN, output_channels=HIDDEN)  # fmt: skip
        depth = block.norm("norm_depth", block.from_shards("back", depth, 40), 94, cores=CORES, kind="LAYERNORM")
        depth = block.unary("swish", "SILU", depth, 45, cores=CORES)
        x = block.binary("convolution_added", "ADD", x, block.linear("point_out", depth, HIDDEN, 55, fidelity="HiFi4", cores=CORES), 90, cores=CORES)  # fmt: skip
        x = fed("second", x)
        block.norm("norm_last", x, 94, cores=CORES, kind="LAYERNORM")
        return block

    return build


FEWER = r"(larger|bigger|longer|wider) (chunk|block|matmul|slice|piece|part)|fewer,? (larger )?(ops|calls|chunks|matmuls|launches|convolutions|windows)|more rows|all (the )?rows|one (matmul|call|op|linear|convolution|conv)\b|512 rows|at once|batch(ed)? into|without (the )?(chunk|loop)"
SPLIT = "the shares of layers and chunks, alike for all; the ops around and their times; gaps"

SEAMLESS = (
    laid(
        "seamless-attention-32", UNITS_LOG, "attention of a decoder layer on one chip, chunks of 32 rows: 85 ms",
        attention(32, 84_900),
        (gain("chunks", "chunks of 256", 52_400, "attend", SDPA_CHUNKS, "562 -> 215 ms of attention in all twelve layers, of which the six of the decoder have 91 %"),),
        SPLIT,
    ),
    laid(
        "seamless-attention", UNITS_LOG, "attention of a decoder layer on one chip, chunks of 256 rows: 32 ms",
        attention(256, 32_500),
        (
            gain("scale", "Q scaled and SDPA with a scale of one: no scaled mask at each layer", 2_820, "mask_scaled", r"scale|\bfold|once|outside|reuse|same mask|each (layer|call)", "541.1 -> 524.2 ms of all six layers"),
            dead("l1", "the result in L1", "attend", IN_L1, "640 ms of all, 0.0 %"),
            dead("hifi2", "HiFi2", "attend", HIFI2, "changes nothing"),
        ),
        SPLIT,
    ),
    laid(
        "seamless-tp4-attention", UNITS_LOG, "attention of a decoder layer on four chips, scores in DRAM: 68 ms",
        apart,
        (gain("fused", "SDPA instead of matmul, softmax and matmul", 58_000, "k_turned scores scaled masked softmax out", r"scaled_dot_product|sdpa|flash", "2796 -> 1259 ms, the sum over four chips and all layers"),),
        SPLIT,
    ),
    laid(
        "seamless-convolution", UNITS_LOG, "a convolution of a decoder layer on one chip, in 63 windows: 8 ms",
        convolution,
        (gain("slices", "one convolution that slices along its width in DRAM", 3_208, "cut_* placed_* halo_* conv_* back_* rows_* joined tiled", rf"slice_config|Conv2dSliceConfig|DRAMSlice|DRAM.{{0,20}}slic|{FEWER}", "620.6 -> 582.1 ms of twelve convolutions"),),
        SPLIT,
    ),
    laid(
        "seamless-mask", UNITS_LOG, "the decoder's mask, made by repetition: 34 ms",
        mask,
        (gain("broadcast", "a column of ones times a row", 31_950, "strip_* wider_* repeated compared chosen negated floored", r"broadcast|outer|ones\b|(instead of|drop|remove|avoid|without|skip|replace|no) .{0,60}(concat|repeat)|made once|built once", "1072.5 -> 944.7 ms, the sum over four chips"),),
        SPLIT,
    ),
    laid(
        "seamless-tp4-encoder", UNITS_LOG, "a layer of the text-to-unit encoder on four chips, with a mask of zeros",
        encoder,
        (
            gain("mask", "no mask", 770, "mask_scaled attend", r"\bmask", "944.7 -> 926.2 ms, the sum over four chips and six layers"),
            dead("l1", "residual, norms and attention in L1", "norm norm_feed attention_added feed_added attend joined heads", IN_L1, "-0.2 % of 1259 ms"),
        ),
        SPLIT,
    ),
    laid(
        "seamless-picked", UNITS_LOG, "rows picked by a matmul with ones and zeros: 12.3 ms",
        picked,
        (gain("gather", "rows picked by their number", 12_000, "ones_* cast_* picked_* joined", r"gather|embedding|index|one.?hot", "12 ms and 195 ops less"),),
        SPLIT,
    ),
    laid(
        "seamless-by-tile", UNITS_LOG, "a projection of 4096 rows on one chip, 32 at a time: 2.9 ms",
        by_tile,
        (
            gain("rows", "512 rows at a time", 2_007, "cut_* placed_* matmul_* back_* joined", FEWER, "524.2 -> 377.2 ms of 9377 such matmuls"),
            dead("hifi2", "HiFi2", "matmul_*", HIFI2, "+0.1 % of all"),
        ),
        f"the projection's width; {SPLIT}",
    ),
    laid(
        "seamless-speech", SPEECH_LOG, "a layer of the speech encoder on four chips: 74 ms",
        speech(windowed=False),
        (gain("window", "gather in the band alone where the index changes", 54_400, "gather_*", r"window|\bband|\bgather|narrow|fewer (columns|keys)|embedding", "1776.6 -> 470 ms of 24 layers, with the bias then added region by region"),),
        f"which projections are cut into chunks; {SPLIT}", 74_025,
    ),
    laid(
        "seamless-speech-repeated", SPEECH_LOG, "a layer of the speech encoder, the bias put together by repetition: 27 ms",
        speech(windowed=True),
        (gain("broadcast", "the two constant regions added by a broadcast", 7_250, "column_* repeated_* whole_* biased_*", r"broadcast|(instead of|drop|remove|avoid|without|skip|replace|no) .{0,60}(concat|repeat)", "644 -> 470 ms of 24 layers"),),
        f"which projections are cut into chunks; {SPLIT}", 26_833,
    ),
)  # fmt: skip
