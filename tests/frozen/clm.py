"""CLM v0.1 8B (Qwen3 8B as a verifier that only reads) on one Blackhole chip (P150): prefill of a layer, five lengths.

Hidden 4096, 32 heads and eight of keys and values of 128, a feed-forward of 12288. Projections of attention in BFLOAT16
with HiFi4, the feed-forward in BFLOAT8_B with HiFi2. One change at a time was timed on the first layer from the host,
20 or 10 times; formats and fidelities over all 36 layers, from a trace. Rows of a profile are told at 128 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block, minimal, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCK_W, CORES, HIFI2, INTERLEAVED_1D, LOFI, MINIMAL, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Told
    from tests.profiles import Tensor

HOME = "https://github.com/housTT/tt-metal/blob/abd3e02365f884db01b7874fb85e32e6ade46a2c/models/autoports/contrastive_lm_clm_v0_1_8b/doc"
README, FORMATS = f"{HOME}/optimized_decoder/README.md", f"{HOME}/datatype_sweep/README.md"
GRID, ALL_CORES = (11, 10), 110
HIDDEN, WIDE, HEADS, KV, SIZE = 4096, 12288, 32, 8, 128
QKV, FP8 = (HEADS + 2 * KV) * SIZE, "BFLOAT8_B"


@dataclass(frozen=True)
class Times:
    """Of each op, in us."""

    qkv: float
    out: float
    gate: float
    down: float
    norm: float
    split: float
    join: float
    rotary: tuple[float, float]
    attend: float
    norms: tuple[float, float]  # of the heads
    added: float
    gated: float
    casts: tuple[float, float]  # of keys or values, of queries
    fill: float


US = {
    128: Times(263, 142, 249, 228, 65, 81, 52, (47, 17), 22, (25, 12), 7, 11, (2.7, 5.9), 2.5),
    256: Times(340, 150, 260, 340, 66, 83, 53, (90, 32), 35, (45, 18), 12, 22, (4, 11), 4),
    512: Times(370, 250, 380, 390, 67, 85, 54, (150, 50), 70, (70, 30), 22, 42, (6, 20), 6.5),
    1024: Times(652, 470, 680, 680, 70, 85, 56, (300, 95), 160, (170, 70), 50, 90, (10.6, 40), 13),
    2048: Times(1290, 920, 1360, 1360, 130, 160, 105, (480, 160), 450, (240, 100), 90, 170, (21, 80), 26),
}


def layer(tokens: int) -> Callable[[], Block]:
    def build() -> Block:
        block, us = Block("blackhole", grid=GRID, gap_us=1.0), US[tokens]
        few, rows, short = min(tokens // 32, ALL_CORES), max(tokens // 256, 1), tokens == 128
        cores = 32 if short else 64
        x = block.tensor([1, 1, tokens, HIDDEN])
        normed = block.norm("norm", x, us.norm, cores=few)
        if short:
            qkv = block.linear("qkv", normed, QKV, us.qkv, fidelity="HiFi4", fp32=True, config=two_d((8, 10), 1, (1, 24)), cores=32)  # fmt: skip
        else:
            qkv = block.minimal("qkv", normed, QKV, us.qkv, fidelity="HiFi4", config=minimal((8, 8, 8), (1, 1), (8, 10)), cores=80)  # fmt: skip
        q, k, v = block.split_heads("split", qkv, us.split, heads=HEADS, kv=KV, size=SIZE, rows=tokens, cores=few)
        q, k = (block.norm(f"norm_{name}", one, time, cores=ALL_CORES) for name, one, time in (("q", q, us.norms[0]), ("k", k, us.norms[1])))  # fmt: skip
        tables, turn = [block.tensor([1, 1, tokens, SIZE]) for _ in range(2)], block.tensor([1, 1, 32, 32])
        q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape), time, cores=ALL_CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=False, output_mem_config=DRAM) for name, one, time in (("q", q, us.rotary[0]), ("k", k, us.rotary[1])))  # fmt: skip
        kept: list[Tensor] = []
        for name, one in (("k", k), ("v", v)):
            kept.append(block.typecast(f"cast_{name}", one, "BFLOAT16", us.casts[0], cores=ALL_CORES))
        for name, one in zip("kv", kept, strict=True):
            cache = block.tensor([64, KV, 32, SIZE])
            block.op(f"fill_{name}", "PagedFillCache", (cache, one, block.tensor([1, 64], "INT32", layout=ROW_MAJOR)), cache, us.fill, cores=min(KV * tokens // 32, ALL_CORES), batch_idx_fallback=0, block_size_override=None, mesh_coords=None, noop=False)  # fmt: skip
        q = block.typecast("cast_q", q, FP8, us.casts[1], cores=ALL_CORES)
        out = block.attend("attend", q, kept[0], kept[1], us.attend, config=None, cores=64, fidelity="HiFi4", fp32=True)  # fmt: skip
        out = block.join_heads("join", out, us.join, cores=few)
        out = block.linear("out", out, HIDDEN, us.out, fidelity="HiFi4", fp32=True, config=two_d((8, 8), 8, (rows if tokens > 256 else 1, 16), subblock=(1, 4)), cores=cores)  # fmt: skip
        x = block.binary("added", "ADD", x, out, us.added, cores=ALL_CORES)
        feed = block.norm("norm_feed", x, us.norm, cores=few)
        parts = max(tokens // 512, 1)
        feed = block.view(feed, [1, parts, tokens // parts, HIDDEN])
        wide = two_d((8, 8), 8, (2 if tokens > 256 else 1, 48), subblock=(1, 4), batch=False)
        gate, up = (block.linear(role, feed, WIDE, us.gate, dtype=FP8, config=wide, cores=cores) for role in ("gate", "up"))  # fmt: skip
        hot = block.binary("gated", "MUL", gate, up, us.gated, cores=ALL_CORES, lhs="SILU", out=FP8)
        hot = block.view(hot, [1, 1, tokens, WIDE])
        if short:
            down = block.linear("down", hot, HIDDEN, us.down, dtype=FP8, config=two_d((8, 8), 8, (1, 16), subblock=(1, 4), batch=False), cores=32)  # fmt: skip
        else:
            down = block.minimal("down", hot, HIDDEN, us.down, dtype=FP8, config=minimal((8, 8, 8), (1, 1), (8, 8)), cores=64)  # fmt: skip
        block.binary("added_feed", "ADD", x, down, us.added, cores=ALL_CORES)
        return block

    return build


NORMS = "norm norm_feed"
UNEVEN = "returns without an error, and wrong"
FEED, BOTH = "gate up down", "qkv out"
WALL = "of the layer from the host"


def wider(role: str, what: str, before: float, after: float) -> Told:
    """minimal_matmul on all cores."""
    return gain(f"{role}-grid", f"minimal_matmul of {what} on a grid of 11 x 10 cores", round(1e3 * (before - after), 1), role, CORES, f"{before:.3f} -> {after:.3f} ms {WALL}")  # fmt: skip


def formats(tokens: str, stock: float, narrow: float, sdpa: float, four: float) -> tuple[Told, ...]:
    """Formats and fidelities that change the model's decisions; ms of 36 layers."""
    return (
        dead("bfp8", "BFLOAT8_B weights with HiFi2 for both projections of attention", BOTH, f"{BFP8}|{HIFI2}", f"{stock} -> {narrow} ms {tokens}, but 97.3 % of firm decisions agree, where 98 are asked", FORMATS, faster=True),
        dead("attend-hifi2", "HiFi2 for attention", "attend", HIFI2, f"with BFLOAT8_B projections {narrow} -> {sdpa} ms {tokens}, and 95.7 % of firm decisions agree", FORMATS, faster=narrow - sdpa > 0.2),
        dead("bfp4", "BFLOAT4_B weights with LoFi for gate and up", "gate up", f"{BFP4}|{LOFI}", f"with BFLOAT8_B projections {narrow} -> {four} ms {tokens}, and 82.4 % of firm decisions agree", FORMATS, faster=True),
    )  # fmt: skip


MADE_UP = "times of elementwise ops, casts and norms of heads; where SILU is; attention's chunks; gaps"
MADE_UP_LONG = (
    "times of all ops, from shares of peak at 1024 tokens and from the layer's wall time; where SILU is; attention's "
    "chunks; gaps"
)
CLM = (
    laid(
        "clm-128", README, "128 tokens: 1557 us of kernels, 1.609 ms from the host with the test's own ops", layer(128),
        (
            gain("qkv-blocks", "in0_block_w 4, and subblocks of 1 x 4, for queries, keys and values", 50, "qkv", rf"{BLOCK_W}|subblock", f"1.609 -> 1.559 ms {WALL}; in0_block_w 2 with 1 x 2 1.577, 8 with 1 x 4 1.576"),
            gain("norms", "norms in block shards on 8 x 4 cores", 37, NORMS, SHARDED, f"1.609 -> 1.572 ms {WALL}, with the moves to shards and back"),
            dead("qkv-uneven", "queries, keys and values on more cores (11 columns), 18 tiles each", "qkv", CORES, f"{UNEVEN}: PCC 0.03, at 1.543 ms", faster=True),
            dead("qkv-minimal", "minimal_matmul for queries, keys and values, 8 x 10 cores", "qkv", MINIMAL, f"1.609 -> 1.628 ms {WALL}; M blocks of 4: 1.633"),
            dead("qkv-1d", "a 1D config for queries, keys and values, its output in shards for a split of sharded heads", "qkv split", INTERLEAVED_1D, "refused: circular buffers"),
            dead("out-uneven", "the output's projection on more cores (11 columns), 12 tiles each", "out", CORES, f"{UNEVEN}: PCC 0.00, and no faster: 1.607 ms"),
            dead("out-blocks", "in0_block_w 16 for the output's projection", "out", BLOCK_W, f"1.609 -> 1.617 ms {WALL}"),
            dead("gate-uneven", "gate and up on more cores (11 columns), 36 tiles each", "gate up", CORES, f"{UNEVEN}: PCC 0.00, and no faster: 1.614 ms"),
            dead("gate-blocks", "in0_block_w 16 for gate and up", "gate up", BLOCK_W, "refused: more than L1 holds"),
            dead("down-uneven", "down on more cores (11 columns), 12 tiles each", "down", CORES, f"{UNEVEN}: PCC 0.00, at 1.595 ms; with in0_block_w 16 1.626", faster=True),
            dead("down-blocks", "in0_block_w 16 for down", "down", BLOCK_W, f"1.609 -> 1.618 ms {WALL}"),
            dead("feed-lofi", "LoFi for the feed-forward", FEED, LOFI, "57.8 -> 58.5 ms of 36 layers", FORMATS),
            dead("feed-bf16", "BFLOAT16 weights for the feed-forward", FEED, r"bfloat16.{0,20}weights|weights.{0,20}bfloat16", "refused: 2.01 MB of L1 a core", FORMATS),
            *formats("of 36 layers", 57.8, 54.0, 53.9, 48.6),
        ),
        MADE_UP, 1557,
    ),
    laid(
        "clm-256", README, "256 tokens: 1.984 ms of a layer from the host", layer(256),
        (
            wider("qkv", "queries, keys and values", 1.984, 1.956),
            wider("down", "down", 1.984, 1.894),
            gain("norms", "norms in block shards on 8 x 4 cores", 19, NORMS, SHARDED, f"1.984 -> 1.965 ms {WALL}; on 8 x 8 cores 1.969"),
        ),
        MADE_UP_LONG,
    ),
    laid(
        "clm-512", README, "512 tokens: 2.600 ms of a layer from the host", layer(512),
        (
            wider("qkv", "queries, keys and values", 2.600, 2.517),
            wider("down", "down", 2.600, 2.499),
            gain("norms", "norms in block shards on 8 x 4 cores", 47, NORMS, SHARDED, f"2.600 -> 2.553 ms {WALL}; on 8 x 8 cores 2.603, no gain"),
        ),
        MADE_UP_LONG,
    ),
    laid(
        "clm-1024", README, "1024 tokens: 4519 us of kernels, 4.703 ms from the host with the test's own ops", layer(1024),
        (
            wider("qkv", "queries, keys and values", 4.703, 4.577),
            wider("down", "down", 4.703, 4.564),
            gain("feed-lofi", "LoFi for the feed-forward", 511, FEED, LOFI, "170.4 -> 152.0 ms of 36 layers, and decisions agree as before", FORMATS),
            dead("norms", "norms in block shards on 8 x 8 cores", NORMS, SHARDED, f"4.703 -> 4.682 ms {WALL}, at best 4.622 -> 4.654; on 8 x 4 cores refused"),
            dead("out-uneven", "the output's projection on more cores (11 columns), 12 tiles each", "out", CORES, f"{UNEVEN}: PCC 0.00, at 4.516 ms", faster=True),
            dead("out-blocks", "in0_block_w 16 for the output's projection", "out", BLOCK_W, "refused: more than L1 holds"),
            dead("gate-uneven", "gate and up on more cores (11 columns), 36 tiles each", "gate up", CORES, f"{UNEVEN}: PCC 0.00, at 4.355 ms", faster=True),
            dead("gate-blocks", "in0_block_w 16 for gate and up", "gate up", BLOCK_W, "refused: more than L1 holds"),
            *formats("of 36 layers", 170.4, 148.1, 147.2, 127.0),
        ),
        MADE_UP_LONG, 4519,
    ),
    laid(
        "clm-2048", README, "2048 tokens: 8.822 ms of a layer from the host", layer(2048),
        (
            wider("qkv", "queries, keys and values", 8.822, 8.641),
            wider("down", "down", 8.822, 8.459),
            gain("feed-lofi", "LoFi for the feed-forward", 1_005, FEED, LOFI, "321.7 -> 285.5 ms of 36 layers, and decisions agree as before", FORMATS),
            dead("norms", "norms in block shards", NORMS, SHARDED, "refused, on 8 x 4 and on 8 x 8 cores"),
            *formats("of 36 layers", 321.7, 286.2, 277.0, 241.8),
        ),
        MADE_UP_LONG,
    ),
)  # fmt: skip
