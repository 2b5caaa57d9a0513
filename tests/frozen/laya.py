"""Laya, an encoder of 28 layers with windows, on one Blackhole chip (P150): one layer of 512 tokens a row.

Hidden 1024, 16 heads of 64, GeGLU of 2624; BFLOAT8_B weights, BFLOAT16 activations, HiFi3.
The ledger's times are of the whole model: 28 layers and two more of the head that it counts as layers; a saving is a
30th of theirs, or comes from the times of ops where both profiles have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, chunks, minimal, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import ACTIVATION_IN_MATMUL, CONFIG, HIFI2, IN_L1, LOFI, MINIMAL, SDPA_GRID, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

README = "https://github.com/housTT/tt-metal/blob/237376bfc1d72dabcfc8a7171e723b617d9b1cb3/models/autoports/convaiinnovations_laya/doc/optimized_decoder/README.md"  # fmt: skip
HIDDEN, QKV, WIDE, PADDED, ROWS = 1024, 3072, 2624, 2816, 512


@dataclass(frozen=True)
class Times:
    """Of one pass, in us; where a kind of op comes twice, each."""

    norm: float
    qkv: float
    heads: float
    rope: float
    sdpa: float
    joined: float
    out: float
    sums: float
    up: float
    gelu: float
    product: float
    down: float
    spread: int  # cores of norms and head ops
    moves: tuple[float, float] = (0, 0)


ONE = Times(18.15, 39.1, 31.0, 15.15, 75.0, 10.8, 15.9, 10.6, 43.75, 17.1, 20.1, 45.0, 16)
EIGHT = Times(66.4, 301.1, 130.7, 79.6, 406.5, 54.4, 119.6, 71.0, 349.75, 115.5, 123.6, 261.4, 110, (24.2, 28.4))
MANY = Times(355.8, 2393.7, 1004.9, 760.05, 2649.8, 360.4, 1657.6, 540.0, 2794.6, 881.4, 906.0, 2084.5, 110)
LATE = Times(355.8, 1560, 1004.9, 760, 2520, 360.4, 735, 540, 1950, 950, 906, 1600, 110)


def baseline(batch: int, times: Times) -> Callable[[], Block]:
    """An explicit 2D config for QKV only; 16 ops, 20 where rotary is sharded."""

    def build() -> Block:
        block = Block("blackhole")
        place = L1 if batch == 1 else DRAM
        shape, tall = [batch, 1, ROWS, HIDDEN], batch * ROWS // 32
        x = block.tensor(shape)

        def project(role: str, given: Tensor, n: int, us: float, config: str, cores: int, where=DRAM) -> Tensor:  # noqa: PLR0917
            return block.linear(role, given, n, us, dtype="BFLOAT8_B", fidelity="HiFi3", config=config, cores=cores, place=where)  # fmt: skip

        normed = block.norm("norm_attention", x, times.norm, cores=times.spread, kind="LAYERNORM")
        qkv = project("qkv", normed, QKV, times.qkv, two_d((8, 8), 8, (tall // 8, 12), subblock=(1, 4)), 64, place)
        q, k, v = block.split_heads("heads", qkv, times.heads, heads=16, kv=16, size=64, rows=ROWS, batch=batch, place=place, cores=times.spread)  # fmt: skip
        turned = []
        for name, head in (("q", q), ("k", k)):
            given = head
            if times.moves[0]:
                shards = block.along(batch * 16 * ROWS // 64, 64, 64)
                given = block.to_shards(f"rope_{name}_placed", head, shards, times.moves[0])
            cores = 64 if times.moves[0] else 110
            one = block.rotary(f"rope_{name}", given, times.rope, decode=False, cores=cores)
            turned.append(block.from_shards(f"rope_{name}_flat", one, times.moves[1]) if times.moves[0] else one)
        size = 128 if batch == 1 else 256
        attended = block.attend("sdpa", *turned, v, times.sdpa, config=chunks(size, size, (11, 10)), cores=110, causal=False, fidelity="HiFi3", place=place)  # fmt: skip
        joined = block.join_heads("joined", attended, times.joined, place=place, cores=times.spread)
        block_w = 1 if batch == 64 else 4
        out = project("out", joined, HIDDEN, times.out, two_d((8, 8), block_w, (tall // 8, 4), subblock=(1, 2)), 64)
        x = block.binary("sum_attention", "ADD", x, out, times.sums)
        normed = block.norm("norm_feed", x, times.norm, cores=times.spread, kind="LAYERNORM")
        config = two_d((11, 8), 1, (tall // 8, 8), subblock=(1, 4))
        first = block.unary(
            "gelu", "GELU", project("up1", normed, WIDE, times.up, config, 88), times.gelu, parameter="1"
        )
        hidden = block.binary(
            "product", "MUL", first, project("up2", normed, WIDE, times.up, config, 88), times.product
        )
        down = project("down", hidden, HIDDEN, times.down, two_d((8, 8), 2, (tall // 8, 4), subblock=(1, 2)), 64)
        block.binary("sum_feed", "ADD", x, down, times.sums)
        return block

    return build


def late() -> Block:
    """64 rows with minimal_matmul, an 11x8 config for both halves of the GeGLU, and an exact GELU of its own."""
    block, times, batch = Block("blackhole"), LATE, 64
    x = block.tensor([batch, 1, ROWS, HIDDEN])

    def project(role: str, given: Tensor, n: int, us: float) -> Tensor:
        return block.minimal(role, given, n, us, dtype="BFLOAT8_B", fidelity="HiFi3", config=minimal((8, 8, 8), (2, 2), (11, 10)), cores=110)  # fmt: skip

    normed = block.norm("norm_attention", x, times.norm, cores=110, kind="LAYERNORM")
    q, k, v = block.split_heads("heads", project("qkv", normed, QKV, times.qkv), times.heads, heads=16, kv=16, size=64, rows=ROWS, batch=batch)  # fmt: skip
    q, k = (block.rotary(f"rope_{name}", one, times.rope, decode=False) for name, one in (("q", q), ("k", k)))
    attended = block.attend("sdpa", q, k, v, times.sdpa, config=chunks(256, 256, (8, 8)), cores=64, causal=False, fidelity="HiFi3")  # fmt: skip
    x = block.binary("sum_attention", "ADD", x, project("out", block.join_heads("joined", attended, times.joined), HIDDEN, times.out), times.sums)  # fmt: skip
    normed = block.norm("norm_feed", x, times.norm, cores=110, kind="LAYERNORM")
    config = two_d((11, 8), 8, (128, 8), subblock=(1, 4))
    first, second = (block.linear(role, normed, PADDED, times.up, dtype="BFLOAT8_B", fidelity="HiFi3", config=config, cores=88) for role in ("up1", "up2"))  # fmt: skip
    hidden = block.binary("product", "MUL", block.unary("gelu", "GELU", first, times.gelu, parameter="0"), second, times.product)  # fmt: skip
    block.binary("sum_feed", "ADD", x, project("down", hidden, HIDDEN, times.down), times.sums)
    return block


FEED = rf"{ACTIVATION_IN_MATMUL}|in0_block_w|11x8|\(11, ?8\)|{CONFIG}"
EIGHT_WIDE = r"(?s)^(?=.*(8x8|\(8, ?8\)|x=8, ?y=8|64 cores))(?=.*(config|core_grid|in0_block_w))"
MADE = "how adds and the product split; configs as printed where TTNN chose"
ALONE = "of the whole model; a 30th of it"

LAYA = (
    laid(
        "laya-1", README, "one row of 512 tokens: 429 us, 16 ops",
        baseline(1, ONE),
        (
            gain("feed", "GeGLU padded to 2816, 2D config on 11x8 cores, GELU in the matmul", 45.7, "up1 up2 gelu", FEED, f"13.92 -> 12.55 ms {ALONE}"),
            gain("sdpa-grid", "attention on 8x8 cores instead of 11x10", 40.7, "sdpa", SDPA_GRID, f"13.92 -> 12.70 ms {ALONE}; two equal runs may differ by 5 %"),
            dead("minimal-out", "minimal_matmul for both projections back", "out down", MINIMAL, "13.92 -> 13.71 ms alone, and 11.86 -> 12.66 ms beside the other levers"),
            dead("config-out", "2D configs on 8x8 cores with in0_block_w 8 for both projections back", "out down", EIGHT_WIDE, "13.92 -> 13.81 ms, within the noise"),
            dead("chunks", "q and k chunks of 64", "sdpa", r"chunk\D{0,30}64", "13.92 -> 14.10 ms"),
            dead("dram", "attention's tensors in DRAM", "qkv heads rope_* sdpa joined", unbanked(r"(to|into|in) DRAM|DRAM_MEMORY_CONFIG"), "13.92 -> 14.79 ms"),
        ),
        MADE,
        429.4,
    ),
    laid(
        "laya-8", README, "eight rows of 512 tokens: 2752 us, 20 ops",
        baseline(8, EIGHT),
        (
            gain("feed", "GeGLU padded to 2816, 2D config on 11x8 cores, GELU in the matmul", 335.7, "up1 up2 gelu", FEED, f"85.52 -> 75.45 ms {ALONE}"),
            gain("qkv", "minimal_matmul on 11x10 cores for QKV", 104.3, "qkv", MINIMAL, "301.1 -> 196.8 us in two profiles"),
            gain("out", "minimal_matmul for attention's projection back", 25.4, "out", MINIMAL, "119.6 -> 94.2 us in two profiles"),
            gain("down", "minimal_matmul for the MLP's projection back", 60.7, "down", MINIMAL, "261.4 -> 200.7 us in two profiles"),
            gain("sdpa-grid", "attention on 8x8 cores instead of 11x10", 84.3, "sdpa", SDPA_GRID, f"85.52 -> 82.99 ms {ALONE}"),
            gain("rotary", "rotary on interleaved tensors: no moves", 79.3, "rope_*", r"interleav|without (the )?(shard|move|reshard)|drop|reshard|InterleavedToSharded|ShardedToInterleaved|layout", "85.52 -> 83.30 ms of 28 layers"),
            gain("l1", "attention's tensors in L1, with chunks of 128", 241.3, "qkv heads rope_q rope_k sdpa joined out", unbanked(IN_L1), "73.04 -> 65.80 ms beside the other levers; a 30th; heads 130.7 -> 62.7 us and joins 54.4 -> 21.7 us in two profiles"),
            dead("feed-8x8", "the same 2D config on 8x8 cores", "up1 up2 gelu", EIGHT_WIDE, "85.52 -> 85.32 ms"),
            dead("config-out", "2D configs on 8x8 cores with in0_block_w 8 for both projections back", "out down", EIGHT_WIDE, "85.52 -> 85.25 ms"),
            dead("chunks-128", "q and k chunks of 128", "sdpa", r"chunk\D{0,30}128", "85.52 -> 86.37 ms"),
            dead("chunks-64", "q and k chunks of 64", "sdpa", r"chunk\D{0,30}64", "85.52 -> 93.93 ms"),
            dead("sharded-feed", "GeGLU block-sharded in L1", "up1 up2 gelu product", unbanked("shard"), "refused: its buffers clash with attention's"),
        ),
        MADE,
        2751.5,
    ),
    laid(
        "laya-64", README, "64 rows of 512 tokens: 20.8 ms, 16 ops",
        baseline(64, MANY),
        (
            gain("feed", "GeGLU padded to 2816, 2D config on 11x8 cores, GELU in the matmul", 1_947, "up1 up2 gelu", FEED, f"646.04 -> 587.64 ms {ALONE}"),
            gain("qkv", "minimal_matmul on 11x10 cores for QKV", 854, "qkv", MINIMAL, "587.64 -> 556.73 ms with two other levers, 3.85 and 1.43 ms alone, taken off; a 30th"),
            gain("back", "minimal_matmul for both projections back", 1_756, "out down", MINIMAL, f"646.04 -> 593.37 ms {ALONE}"),
            gain("back-config", "2D configs on 8x8 cores with in0_block_w 8 for both projections back", 787, "out down", r"in0_block_w|program_config|MatmulMultiCoreReuseMultiCastProgramConfig", f"646.04 -> 622.42 ms {ALONE}"),
            gain("sdpa-grid", "attention on 8x8 cores instead of 11x10", 128, "sdpa", SDPA_GRID, f"646.04 -> 642.19 ms {ALONE}"),
            dead("chunks-128", "q and k chunks of 128", "sdpa", r"chunk\D{0,30}128", "646.04 -> 653.17 ms"),
            dead("chunks-64", "q and k chunks of 64", "sdpa", r"chunk\D{0,30}64", "646.04 -> 724.63 ms"),
            dead("sharded-rotary", "rotary sharded in L1", "rope_*", r"shard", "refused: out of memory"),
        ),
        MADE,
        20_839.2,
    ),
    laid(
        "laya-64-late", README, "64 rows after those levers, HiFi3, an exact GELU as an op of its own: 16.8 ms",
        late,
        (
            gain("hifi2", "HiFi2 for all matmuls", 1_318, "qkv out up1 up2 down sdpa", HIFI2, f"482.30 -> 442.76 ms {ALONE}, measured with the approximate GELU; the accuracy stays"),
            gain("lofi", "LoFi for the MLP", 1_560, "up1 up2 down", LOFI, f"482.30 -> 435.50 ms {ALONE}, measured with the approximate GELU"),
            dead("fused-gelu", "the exact GELU in the matmul", "up1 gelu", ACTIVATION_IN_MATMUL, "529.66 -> 528.23 ms"),
        ),
        "how the layer's 16.8 ms split, from the ops' shares of eight rows; blocks of minimal_matmul",
    ),
)  # fmt: skip
