"""CosyVoice: one layer of its autoregressive decoder, a resnet block of its flow, and a scan of its vocoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, CONFIG, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

PERF = f"{TT_METAL}/5e273a7b0f7260b37ec244782145153b70e30ca8/models/experimental/cosyvoice/PERF.md"
WIDTH, HEADS, SIZE, KEYS, WIDE = 1024, 16, 64, 256, 4096
GRID = (13, 10)


def decode() -> Block:
    """One token of one row; the cache moves up by a row each time."""
    block = Block("blackhole", grid=GRID)
    x = block.tensor([1, 1, 32, WIDTH])

    def project(role: str, given: Tensor, n: int, us: float) -> Tensor:
        config = one_d(GRID, 2, (1, 1))
        return block.linear(role, given, n, us, fidelity="HiFi4", config=config, cores=min(130, n // 32), bias=True)

    def heads(role: str, given: Tensor) -> Tensor:
        split = block.moved(f"split_{role}", "ReshapeView", given, 6.3, shape=[1, 1, HEADS, SIZE])
        return block.moved(
            f"turn_{role}", "Transpose", split, 6.3, shape=[1, HEADS, 1, SIZE], dim="TransposeOpDim::HC"
        )

    normed = block.norm("norm_attention", x, 7, cores=1, kind="LAYERNORM")
    q, k, v = (heads(role, project(role, normed, WIDTH, 22)) for role in "qkv")
    kept = []
    for role, new in (("k", k), ("v", v)):
        cache = block.tensor([1, HEADS, KEYS, SIZE])
        rest = block.slice(f"cache_{role}_slice", cache, (0, 0, 1, 0), (1, HEADS, KEYS, SIZE), 39.1)
        kept.append(block.concat(f"cache_{role}_concat", (rest, new), [1, HEADS, KEYS, SIZE], 2, 64.5))
    biased = [block.binary(f"attend_bias_{n}", "ADD", q, block.tensor([1, HEADS, 1, SIZE]), 6.3) for n in "uv"]

    def batched(role: str, a: Tensor, b: Tensor, n: int, us: float, transpose: bool) -> Tensor:  # noqa: PLR0917
        return block.op(role, "Matmul", (a, b), block.tensor([1, HEADS, 1, n]), us, cores=16, fidelity="HiFi4", bcast_batch=False, compute_kernel_config=block.kernel("HiFi4", fp32=True), output_mem_config=DRAM, program_config=None, transpose_a=False, transpose_b=transpose)  # fmt: skip

    content = batched("attend_content", biased[0], kept[0], KEYS, 15, True)
    place = batched("attend_place", biased[1], block.tensor([1, HEADS, 2 * KEYS, SIZE]), 2 * KEYS, 19, True)
    place = block.slice("attend_shift", place, (0, 0, 0, KEYS), (1, HEADS, 1, 2 * KEYS), 9)
    scores = block.binary("attend_sum", "ADD", content, place, 8)
    soft = block.op("attend_softmax", "Softmax", (scores, block.tensor([1, 1, 1, KEYS])), block.tensor(scores.shape), 28, cores=16, fidelity="HiFi4", dim=3, is_causal_mask=False, numeric_stable=True, program_config="SoftmaxDefaultProgramConfig()", scale="0.125")  # fmt: skip
    context = batched("attend_context", soft, kept[1], SIZE, 14, False)
    turned = block.moved(
        "attend_turn", "Transpose", context, 6.3, shape=[1, 1, HEADS, SIZE], dim="TransposeOpDim::HC"
    )
    flat = block.moved("attend_flat", "ReshapeView", turned, 6.3, shape=[1, 1, 1, WIDTH])
    x = block.binary("sum_attention", "ADD", x, project("out", flat, WIDTH, 22), 6.3)
    normed = block.norm("norm_feed", x, 7, cores=1, kind="LAYERNORM")
    hidden = block.unary("relu", "RELU", project("ff1", normed, WIDE, 40), 6.3)
    block.binary("sum_feed", "ADD", x, project("ff2", hidden, WIDTH, 73), 6.3)
    return block


def resnet(arch: str, norm_us: tuple[float, float], conv_us: float, grid: tuple[int, int]) -> Callable[[], Block]:
    """Two group norms of eight groups by permutes, at two lengths, each beside its convolution."""

    def build() -> Block:
        block = Block(arch, grid=grid)
        for length, total in zip((141, 282), norm_us, strict=True):
            part = total / 220
            x = block.tensor([2, 1, length, 256])
            rows = block.moved(f"norm_{length}_in", "Permute", x, 62 * part, shape=[2, 1, 256, length], fidelity="HiFi4", dims="SmallVector([0, 1, 3, 2])", pad_value=0)  # fmt: skip
            groups = block.moved(f"norm_{length}_groups", "ReshapeView", rows, 20 * part, shape=[2, 8, 32, length])
            mean = block.op(f"norm_{length}_mean", "Reduce", (groups,), block.tensor([2, 8, 1, 1]), 14 * part, cores=16, fidelity="HiFi4", dim="ReduceOpDim::HW", math_op="ReduceOpMath::SUM")  # fmt: skip
            centred = block.binary(f"norm_{length}_centre", "SUB", groups, mean, 9 * part)
            square = block.binary(f"norm_{length}_square", "MUL", centred, centred, 8 * part)
            spread = block.op(f"norm_{length}_spread", "Reduce", (square,), block.tensor([2, 8, 1, 1]), 14 * part, cores=16, fidelity="HiFi4", dim="ReduceOpDim::HW", math_op="ReduceOpMath::SUM")  # fmt: skip
            scaled = block.binary(f"norm_{length}_scale", "MUL", centred, block.unary(f"norm_{length}_root", "RSQRT", spread, 3 * part), 9 * part)  # fmt: skip
            flat = block.moved(f"norm_{length}_flat", "ReshapeView", scaled, 20 * part, shape=[2, 1, 256, length])
            back = block.moved(f"norm_{length}_out", "Permute", flat, 48 * part, shape=[2, 1, length, 256], fidelity="HiFi4", dims="SmallVector([0, 1, 3, 2])", pad_value=0)  # fmt: skip
            back = block.binary(f"norm_{length}_gamma", "MUL", back, block.tensor([1, 1, 1, 256]), 7 * part)
            y = block.binary(f"norm_{length}_beta", "ADD", back, block.tensor([1, 1, 1, 256]), 6 * part)
            block.op(f"conv_{length}", "Conv2d", (y, block.tensor([1, 1, 768, 256])), block.tensor([1, 1, 2 * length, 256]), conv_us, cores=18, fidelity="HiFi4", groups=1, compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
        return block

    return build


def scan(arch: str, us: float, grid: tuple[int, int]) -> Callable[[], Block]:
    """The phase of 72,192 samples as one running sum."""

    def build() -> Block:
        block = Block(arch, grid=grid)
        pitch = block.tensor([1, 1, 72_192, 1], "FLOAT32", layout=ROW_MAJOR)
        tiles = block.moved("tiles", "TilizeWithValPadding", pitch, 60, layout="TILE", fidelity="HiFi4", use_multicore=True)  # fmt: skip
        summed = block.op("scan", "Accumulation", (tiles,), block.tensor(tiles.shape, "FLOAT32"), us, cores=1, fidelity="HiFi4", dim=2, dtype="DataType::FLOAT32", flip=False, op="AccumulationOp::CUMSUM")  # fmt: skip
        part = block.unary("fraction", "FRAC", summed, 45)
        block.unary("sine", "SIN", part, 60)
        return block

    return build


AVOID = r"permute|transpose|row.?major|group_norm|indicator|as a matmul|channels.last"
SPLIT = "how a norm's time splits over its ops; the convolution as printed"

COSYVOICE = (
    laid(
        "cosyvoice-decode", PERF, "one of 14 decoder layers, one token, 256 keys, Blackhole: 8.26 ms a step",
        decode,
        (
            gain("cache-layout", "the cache with time on an axis that is not tiled", 109, "cache_*", r"tile.?align|time.major|row.?major|not tiled|untiled|permute|layout|last two dim", "8.26 -> 6.73 ms a step of 14 layers; slice and concat alone 207.2 -> 19.7 us and a permute of 13.9"),
            gain("cache-in-place", "update_cache", None, "cache_*", r"update_cache|in.place", "3.7 us instead of 207 alone; not measured against this step"),
            gain("attention", "scaled_dot_product_attention_decode with the position term as its mask", 78.8, "attend_*", r"scaled_dot_product_attention|sdpa", "1563 -> 460 us over 14 layers"),
            gain("ff2", "the second linear of the MLP on 8x2 cores", 35.7, "ff2", rf"{CONFIG}|fewer cores|16 cores|8x2|grid", "168.5 -> 184.0 tokens a second, beside the levers above; 1.98 times as fast alone"),
            dead("bfp8", "weights in BFLOAT8_B", "q k v out ff1 ff2", BFP8, "1.00 times as fast, twice; 5.48 -> 5.48 ms a step on another card"),
            dead("pack", "Q, K and V as one matmul", "q k v", PACKED, "8.29 -> 8.31 ms a step"),
            dead("grids", "own core grids for the other linears", "q k v out ff1", rf"{CONFIG}|grid", "lost to TTNN's in 10 of 12 combinations"),
        ),
        "how the linears' 201 us and attention's 112 us split, the small ops, configs as printed",
    ),
    laid(
        "cosyvoice-norm-blackhole", PERF, "group norms by permutes, batch 2, 141 and 282 frames, Blackhole: 220 and 399 us",
        resnet("blackhole", (220.2, 399.3), 32, GRID),
        (
            gain("short", "sums of channels by a matmul with an indicator", 119, "norm_141_*", AVOID, "220.2 -> 101.2 us"),
            gain("long", "sums of channels by a matmul with an indicator", 293.7, "norm_282_*", AVOID, "399.3 -> 105.6 us"),
        ),
        SPLIT,
    ),
    laid(
        "cosyvoice-norm-wormhole", PERF, "group norms by permutes, batch 2, 141 and 282 frames, Wormhole: 382 and 669 us",
        resnet("wormhole_b0", (382.0, 669.1), 55.6, (8, 8)),
        (
            gain("short", "sums of channels by a matmul with an indicator", 194.6, "norm_141_*", AVOID, "382.0 -> 187.4 us"),
            gain("long", "sums of channels by a matmul with an indicator", 464.6, "norm_282_*", AVOID, "669.1 -> 204.5 us"),
        ),
        SPLIT,
    ),
    laid(
        "cosyvoice-scan-wormhole", PERF, "the phase as one running sum on one core, Wormhole: 73.3 ms",
        scan("wormhole_b0", 73_300, (8, 8)),
        (gain("blocks", "sums of blocks, each reduced before the next", 60_800, "scan", r"block|chunk|split|more cores|reshape|rows|one core", "73.3 -> 12.5 ms"),),
        "the ops beside it, the axis",
    ),
)  # fmt: skip
