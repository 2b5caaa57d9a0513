"""Qwen3.5 2B on Blackhole: a span of 1024 of 4096 prompt tokens, on one chip (p300c) and on eight of a Galaxy.

Hidden 2048, a feed-forward of 6144; 18 layers of a gated delta rule (16 heads of 128, a convolution of four taps over 6144
channels) and six of attention (eight heads of 256 with two of keys and values, and a gate). Spans run on chips of their own,
one after the other in a wave; on eight chips weights are cut by columns or rows. The ledgers tell ms of the whole wave, of
which the first span's own work is nine tenths, times of collectives and of some ops, and what each change saved of the wave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, chunks, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, IN_L1, LOFI, SDPA_CHUNKS, SDPA_GRID

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = f"{TT_METAL}/07bcd0bf53a4b452a0f9cb5f8bf39e5372e1231e/models/demos/blackhole/qwen36"
ROOF, SPANS = f"{FOLDER}/PERF_ROOFLINE.md", f"{FOLDER}/SP_PREFILL_README.md"
ROWS, HIDDEN, WIDE, CONV, DELTA, STATES, STATE, HEADS, KV, SIZE = 1024, 2048, 6144, 6144, 2048, 16, 128, 8, 2, 256
FP8, FP4, FP32 = "BFLOAT8_B", "BFLOAT4_B", "FLOAT32"


@dataclass(frozen=True)
class How:
    """Times in us: of the delta rule's projections, attention's, gate with up, down; of the convolution's parts."""

    chips: int = 1
    delta: tuple[float, float] = (200, 70)
    attention: tuple[float, float] = (125, 70)
    feed: tuple[float, float] = (125, 130)
    conv: tuple[float, float, float, float] = (110, 250, 90, 193)  # rows joined, taps, SiLU, cuts
    own_conv: float = 0.0
    moves: tuple[float, float, float] = (86, 36, 19.5)  # out of L1
    feed_moves: tuple[float, float] = (106, 94)
    chunked: tuple[float, float] = (110, 180)
    attend: float = 1198.0
    small: float = 1.0

    @property
    def grid(self) -> tuple[int, int]:
        return (11, 10) if self.chips == 1 else (12, 10)


ONE = How()
EIGHT = How(8, (44, 32), (38, 30), (70, 71), (26, 174, 9, 30), moves=(0, 0, 0), feed_moves=(0, 0), chunked=(67, 146), attend=494, small=0.25)  # fmt: skip
EIGHT_LAST = replace(EIGHT, own_conv=178, attend=221)


def linear(block: Block, role: str, x: Tensor, n: int, us: float, *, dtype: str = FP8, out: str = "BFLOAT16") -> Tensor:  # fmt: skip
    config = two_d((8, 8), 8 if x.shape[-1] > 512 else 4, (4, -(-n // 32 // 8)), subblock=(1, 1))
    return block.linear(role, x, n, us, dtype=dtype, fidelity="HiFi2", config=config, cores=64, out=out)


def normed(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    """The norm of the residual; on eight chips of its parts, with statistics and outputs exchanged."""
    if how.chips == 1:
        return block.norm(role, x, 32, cores=32)
    sums = block.op(f"{role}_sums", "LayerNormPreAllGather", (x,), block.tensor([1, 1, ROWS, 32]), 7, cores=32, fidelity="HiFi4", norm_type="LayerNormType::RMSNORM")  # fmt: skip
    sums = block.collective(f"{role}_sums_gather", "AllGatherAsync", sums, 32 * how.chips, 79, ring=how.chips, cores=12, topology="Linear")  # fmt: skip
    part = block.op(f"{role}_part", "LayerNormPostAllGather", (x, sums), block.tensor(x.shape), 10, cores=32, fidelity="HiFi4", norm_type="LayerNormType::RMSNORM")  # fmt: skip
    return block.collective(f"{role}_gather", "AllGatherAsync", part, HIDDEN, 79, ring=how.chips, cores=12, topology="Linear")  # fmt: skip


def summed(block: Block, how: How, role: str, x: Tensor, y: Tensor) -> Tensor:
    if how.chips > 1:
        wide = y.dtype == FP32
        y = block.collective(f"{role}_scatter", "ReduceScatterMinimalAsync", y, HIDDEN // how.chips, 196 if wide else 130, ring=how.chips, cores=12, topology="Linear")  # fmt: skip
        y = block.typecast(f"{role}_cast", y, "BFLOAT16", 4, cores=32) if wide else y
    return block.binary(f"{role}_sum", "ADD", x, y, 18 * how.small, cores=64)


def moved(block: Block, role: str, x: Tensor, us: float, *, out: bool = True) -> Tensor:
    return block.moved(role, "Copy", x, us, place=DRAM if out else L1, cores=64) if us else x


def fed(block: Block, how: How, x: Tensor) -> None:
    y = normed(block, how, "norm_feed", x)
    gate, up = (linear(block, role, y, WIDE // how.chips, how.feed[0], dtype=FP4) for role in ("gate", "up"))
    near = L1 if how.feed_moves[0] else DRAM
    y = block.binary(
        "gated", "MUL", gate, up, 60 * how.small, cores=how.grid[0] * how.grid[1], lhs="SILU", place=near
    )
    y = moved(block, "feed_in", moved(block, "feed_out", y, how.feed_moves[0]), how.feed_moves[1], out=False)
    summed(block, how, "down", x, linear(block, "down", y, HIDDEN, how.feed[1]))


def convolved(block: Block, how: How, x: Tensor) -> list[Tensor]:
    shapes = [[1, 1, ROWS, DELTA // how.chips]] * 3
    parts = tuple(block.tensor(shape) for shape in shapes)
    if how.own_conv:
        block.op("conv", "QkvCausalConv1dSilu", (x, block.tensor([1, 1, 4, CONV // how.chips])), parts, how.own_conv, cores=96, channel_chunk_size=384)  # fmt: skip
        return list(parts)
    joined, taps, silu, cuts = how.conv
    y = block.concat("conv_rows", [block.tensor([1, 1, 32, CONV // how.chips]), x], [1, 1, ROWS + 32, CONV // how.chips], 2, joined)  # fmt: skip
    y = block.op("conv_taps", "Conv2d", (y, block.tensor([1, 1, 4, CONV // how.chips])), block.tensor([1, 1, ROWS, CONV // how.chips], place=L1), taps, cores=64, fidelity="HiFi4")  # fmt: skip
    y = moved(block, "conv_out", y, how.moves[2])
    y = block.unary("conv_silu", "SILU", y, silu, cores=64)
    width = DELTA // how.chips
    return [block.slice(f"conv_{name}", y, (0, 0, 0, n * width), (1, 1, ROWS, (n + 1) * width), cuts / 3) for n, name in enumerate("qkv")]  # fmt: skip


def delta(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=how.grid, gap_us=2.0)
        part, mine = HIDDEN // how.chips, STATES // how.chips
        x = block.tensor([1, 1, ROWS, part])
        wide = (CONV + DELTA) // how.chips
        both = linear(block, "in_all", normed(block, how, "norm", x), wide + 32, how.delta[0])
        y, z, gates = (block.slice(f"cut_{name}", both, (0, 0, 0, at), (1, 1, ROWS, end), 14 * how.small) for name, at, end in (("qkv", 0, CONV // how.chips), ("z", CONV // how.chips, wide), ("gates", wide, wide + 32)))  # fmt: skip
        q, k, v = convolved(block, how, y)
        q, k = (block.norm(f"norm_{name}", block.view(one, [1, 1, ROWS * mine, STATE]), 40 * how.small, cores=64) for name, one in (("q", q), ("k", k)))  # fmt: skip
        decay = block.unary("decay", "SOFTPLUS", gates, 12 * how.small, cores=32, parameter="1, 20")
        beta = block.unary("beta", "SIGMOID", gates, 12 * how.small, cores=32)
        made = [block.tensor([mine, ROWS // 32, 32, STATE], FP32) for _ in range(4)]
        kernel = block.kernel("HiFi4", fp32=True)
        block.op("prep", "ChunkGdnPrep", (q, k, v, decay, beta), made, how.chunked[0], cores=64, fidelity="HiFi4", compute_kernel_config=kernel)  # fmt: skip
        y = block.op("scan", "ChunkGdnScan", made, block.tensor([1, mine, ROWS, STATE]), how.chunked[1], cores=8 * mine if how.chips == 1 else 8, fidelity="HiFi4", compute_kernel_config=kernel)  # fmt: skip
        y = block.norm("norm_out", block.view(y, [1, 1, ROWS * mine, STATE]), 44 * how.small, cores=64)
        near = L1 if how.moves[0] else DRAM
        z = moved(
            block, "z_out", block.unary("z_silu", "SILU", z, 40 * how.small, cores=64, place=near), how.moves[0]
        )
        y = block.binary("z_gated", "MUL", block.view(y, [1, 1, ROWS, DELTA // how.chips]), z, 30 * how.small, cores=64, place=near)  # fmt: skip
        y = moved(block, "gated_out", y, how.moves[1])
        out = linear(block, "out", y, HIDDEN, how.delta[1], out=FP32 if how.chips > 1 else "BFLOAT16")
        fed(block, how, summed(block, how, "out", x, out))
        return block

    return build


def attention(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=how.grid, gap_us=2.0)
        heads, kv = max(HEADS // how.chips, 1), max(KV // how.chips, 1)
        x = block.tensor([1, 1, ROWS, HIDDEN // how.chips])
        width = heads * SIZE
        both = linear(block, "in_all", normed(block, how, "norm", x), 2 * width + 2 * kv * SIZE, how.attention[0])
        y, gate = (block.slice(f"cut_{name}", both, (0, 0, 0, at), (1, 1, ROWS, end), 16 * how.small) for name, at, end in (("qkv", 0, width + 2 * kv * SIZE), ("gate", width + 2 * kv * SIZE, 2 * width + 2 * kv * SIZE)))  # fmt: skip
        q, k, v = block.split_heads("heads", y, 60 * how.small, heads=heads, kv=kv, size=SIZE, rows=ROWS, cores=32)
        q, k = (block.norm(f"norm_{name}", one, us * how.small, cores=64) for name, one, us in (("q", q, 40), ("k", k, 16)))  # fmt: skip
        q, k = (block.rotary(f"rotary_{name}", one, us * how.small, decode=False, cores=64) for name, one, us in (("q", q, 60), ("k", k, 24)))  # fmt: skip
        keys = [block.tensor([1, kv, 4 * ROWS, SIZE]) for _ in range(2)]
        for name, one, cache in (("k", k, keys[0]), ("v", v, keys[1])):
            block.op(f"kept_{name}", "FillCache", (cache, one), cache, 14 * how.small, cores=32)
        size = (128, 256) if how.own_conv else (64, 64)
        grid = (8, 8) if how.own_conv else how.grid
        y = block.attend("attend", q, *keys, how.attend, config=chunks(*size, grid), cores=grid[0] * grid[1])
        y = block.join_heads("joined", y, 40 * how.small, cores=32)
        y = block.binary("attend_gated", "MUL", y, gate, 30 * how.small, cores=64, rhs="SIGMOID")
        fed(block, how, summed(block, how, "out", x, linear(block, "out", y, HIDDEN, how.attention[1])))
        return block

    return build


ALL = "*_gather *_scatter"
OWN_CONV = r"qkv_causal_conv1d_silu|fus.{0,60}conv|conv\w*.{0,60}(fus|one op|single op|one kernel)"
WAVE = "of the whole wave"
MADE_UP = "times of matmuls, norms and small ops, so that a layer takes its share of a span; attention's first chunks; gaps"
MADE_UP_EIGHT = f"{MADE_UP}; what each chip has of heads and caches"
QWEN35_2B = (
    laid(
        "qwen35-2b-delta", ROOF, "one chip, the delta rule: 62.75 ms of the whole wave", delta(ONE),
        (
            gain("conv", "qkv_causal_conv1d_silu for the joined rows, their taps, SiLU and cuts", 327, "conv_rows conv_taps conv_silu conv_q conv_k conv_v", OWN_CONV, "643 -> 316 us"),
            gain("l1", "SiLU of the gate, its product and the convolution's rows kept in L1", 141.5, "z_out gated_out conv_out", IN_L1, "86, 36 and 19.5 us of moves out of L1 are gone"),
            gain("feed-l1", "the product of gate and up kept in L1", 200, "feed_out feed_in", IN_L1, "moves of 106 us out of L1 and of 94 us into it are gone"),
            gain("lofi", "LoFi for both projections", 100, "in_all out", LOFI, f"63 -> 60.6 ms {WAVE}, and a PCC of 0.9988 for 0.9994; not the default", SPANS),
        ),
        MADE_UP,
    ),
    laid(
        "qwen35-2b-attention", ROOF, "one chip, attention over 4096 keys", attention(ONE),
        (
            gain("chunks", "chunks of 128 queries and 256 keys on 8 x 8 cores for attention", 495, "attend", rf"{SDPA_CHUNKS}|{SDPA_GRID}", "1198 -> 703 us, and the PCC as before"),
            gain("feed-l1", "the product of gate and up kept in L1", 200, "feed_out feed_in", IN_L1, "moves of 106 us out of L1 and of 94 us into it are gone"),
        ),
        MADE_UP,
    ),
    laid(
        "qwen35-2b-delta-eight", ROOF, "eight chips, the delta rule: 42.78 ms of the whole wave", delta(EIGHT),
        (
            gain("conv", "qkv_causal_conv1d_silu for the joined rows, their taps, SiLU and cuts", 61, "conv_rows conv_taps conv_silu conv_q conv_k conv_v", OWN_CONV, f"40.90 -> 39.80 ms {WAVE}, 18 layers"),
            gain("l1", "SiLU of the gate, its product, the convolution's rows and the product of gate and up in L1", 19, "z_silu z_gated conv_taps conv_silu gated down out", IN_L1, f"40.26 -> 39.80 ms {WAVE}, 24 layers"),
            gain("bfp8", "BFLOAT8_B for the collectives", 8.3, ALL, BFP8, f"42.79 -> 42.59 ms {WAVE}, and a PCC of 0.9990 for 0.9991; not the default", SPANS),
            dead("links", "three or four links for the collectives", ALL, r"num_links|more links|links", "refused: two channels are all there is"),
            dead("cores", "more cores for the collectives", ALL, r"more cores|grid|workers|\d+ cores", "72 -> 108 cores: nothing"),
            dead("gathered-matmul", "all_gather_minimal_matmul_async for the norms' outputs and the projections after them", "norm_gather norm_feed_gather in_all gate up", r"all_gather_(minimal_)?matmul|fus.{0,60}(gather|matmul)|AGMM", f"42.79 -> 44.19 ms {WAVE}"),
            dead("scatter-bf16", "BFLOAT16 for the sum over chips after the delta rule", "out_scatter", r"bfloat16|\bbf16", "196 -> 130 us, but a PCC of 0.69", faster=True),
        ),
        MADE_UP_EIGHT,
    ),
    laid(
        "qwen35-2b-attention-eight", ROOF, "eight chips, attention: 42.78 ms of the whole wave", attention(EIGHT),
        (
            gain("chunks", "chunks of 128 queries and 256 keys on 8 x 8 cores for attention", 273, "attend", rf"{SDPA_CHUNKS}|{SDPA_GRID}", f"41.44 -> 39.80 ms {WAVE}, six layers"),
            dead("weights-l1", "weights of the feed-forward in L1", "gate up down", IN_L1, "289.7 -> 290.0 us in a trace"),
            dead("bfp4", "BFLOAT4_B for down's weights", "down", BFP4, "as long as with BFLOAT8_B in a trace"),
        ),
        MADE_UP_EIGHT,
    ),
    laid(
        "qwen35-2b-delta-eight-last", ROOF, "eight chips, the delta rule with its own convolution: 39.80 ms of the whole wave", delta(EIGHT_LAST),
        (
            gain("residual", "the whole residual on each chip: an all-reduce after each half, and norms without exchange", 98.8, "norm_sums_gather norm_gather norm_feed_sums_gather norm_feed_gather out_scatter down_scatter", r"all_reduce|replicat|(whole|full) residual", f"39.80 -> 37.43 ms {WAVE}, 24 layers: four collectives a layer for six"),
            dead("conv-chunk", "channel_chunk_size 768 for the convolution", "conv", r"channel_chunk_size|larger chunk|(one|single) chunk", f"39.80 -> 40.08 ms {WAVE}; 192: 39.84"),
        ),
        MADE_UP_EIGHT,
    ),
    laid(
        "qwen35-2b-attention-eight-last", ROOF, "eight chips, attention in its chunks: 39.80 ms of the whole wave", attention(EIGHT_LAST),
        (gain("residual", "the whole residual on each chip: an all-reduce after each half, and norms without exchange", 98.8, "norm_sums_gather norm_gather norm_feed_sums_gather norm_feed_gather out_scatter down_scatter", r"all_reduce|replicat|(whole|full) residual", f"39.80 -> 37.43 ms {WAVE}, 24 layers: four collectives a layer for six"),),
        MADE_UP_EIGHT,
    ),
)  # fmt: skip
