"""Gemma 4 12B over eight Wormhole chips (T3K): a layer of sliding and one of full attention, and what makes the token.

Hidden 3840, a feed-forward of 15360; a chip has two heads of queries and one of keys and values, of 256 or of 512, and
1920 of the feed-forward. The residual is whole on each chip; two sums a layer go round a ring. The ledger tells the
kernel time of each layer, of its collectives, matmuls and moves; it tried six changes and kept none. Of the head's
formats it tells tokens a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, ROW_MAJOR, Block, banked, norm_shards, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCK_W, COLLECTIVE, IN_L1, LOFI

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

DOC = "models/autoports/google_gemma_4_12b/doc"
LOG = f"{TT_METAL}/33221435e65171c16d671a309a8a209a65723b98/{DOC}/optimized_multichip_decoder/work_log.md"
HEAD = f"{TT_METAL}/a2d66453220d7d72490e59cb590931a5304f87b2/{DOC}/optimized_full_model/work_log.md"
GRID, CHIPS, HIDDEN, WIDE, WORDS = (8, 8), 8, 3840, 1920, 262144


@dataclass(frozen=True)
class How:
    """Kernel times in us: of the matmuls (QKV, output, gate, up, down), of all collectives, moves and the rest."""

    full: bool
    matmuls: tuple[float, ...]
    collectives: float
    moves: float
    rest: float

    @property
    def size(self) -> int:
        return 512 if self.full else 256

    @property
    def attention(self) -> str:
        return "BFLOAT16" if self.full else "BFLOAT8_B"


def reduced(block: Block, name: str, x: Tensor, us: float) -> Tensor:
    part = block.collective(f"{name}_scatter", "ReduceScatter", x, HIDDEN // CHIPS, us * 0.55, ring=CHIPS, links=1, place=DRAM)  # fmt: skip
    return block.collective(f"{name}_gather", "AllGather", part, HIDDEN, us * 0.45, ring=CHIPS, links=1, place=DRAM)


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, gap_us=1.5)
        size, move, part = how.size, how.moves / 18, how.rest / 22
        heads = block.across(32, HIDDEN, 30)
        fine = {"fidelity": "HiFi3" if how.full else "HiFi2", "fp32": how.full}
        x = block.tensor([1, 1, 1, HIDDEN], place=heads)
        y = block.norm("norm", x, part, cores=30, config=norm_shards((6, 5), 4))
        qkv = block.linear("qkv", y, 4 * size, how.matmuls[0], dtype=how.attention, config=banked(4, 4 * size // 32 // 8), cores=12, place=block.across(32, 4 * size, 8), banks=True, **fine)  # fmt: skip
        qkv = block.from_shards("qkv_back", qkv, move)
        q, k, v = block.heads_of_decode("heads", qkv, 2 * move, heads=2, kv=1, size=size, users=1)
        q, k, v = (block.norm(f"norm_{name}", block.from_shards(f"{name}_back", one, move), part, cores=1) for name, one in (("q", q), ("k", k), ("v", v)))  # fmt: skip
        q, k = (block.rotary(f"rotary_{name}", block.moved(f"rotary_tiles_{name}", "TilizeWithValPadding", one, 1.5 * move, cores=2, fidelity="HiFi4"), 2 * part, decode=False, cores=2) for name, one in (("q", q), ("k", k)))  # fmt: skip
        cache = block.tensor([21, 1, 64, size])
        for name, one in (("k", k), ("v", v)):
            placed = block.to_shards(f"cache_placed_{name}", one, block.along(32, size, 1), move)
            block.update_cache(f"cache_{name}", cache, placed, 1.5 * part)
        out = block.attend_decode("attend", q, cache, 4 * part, config=None, cores=32)
        out = block.view(block.moved("joined", "UntilizeWithUnpadding", out, move, layout=ROW_MAJOR, cores=2, fidelity="HiFi4"), [1, 1, 1, 2 * size])  # fmt: skip
        out = block.moved(
            "joined_tiles", "TilizeWithValPadding", out, move, layout="TILE", cores=2, fidelity="HiFi4"
        )
        out = block.to_shards("out_placed", out, block.across(32, 2 * size, 8), move)
        out = block.linear("out", out, HIDDEN, how.matmuls[1], config=banked(2, 15), cores=12, place=block.across(32, HIDDEN, 8), banks=True)  # fmt: skip
        out = reduced(block, "out", block.from_shards("out_back", out, move, L1), how.collectives / 2)
        out = block.norm("norm_out", block.to_shards("out_sum_placed", out, heads, move), part, cores=30, config=norm_shards((6, 5), 4))  # fmt: skip
        x = block.binary("added", "ADD", x, out, part, cores=30)
        y = block.norm("norm_feed", x, part, cores=30, config=norm_shards((6, 5), 4))
        gate, up = (block.linear(name, y, WIDE, us, dtype="BFLOAT8_B", config=banked(4, 2), cores=12, place=block.across(32, WIDE, 30), banks=True) for name, us in (("gate", how.matmuls[2]), ("up", how.matmuls[3])))  # fmt: skip
        hidden = block.binary("gated", "MUL", gate, up, part, cores=30, lhs="GELU")
        down = block.linear("down", hidden, HIDDEN, how.matmuls[4], dtype="BFLOAT8_B", config=banked(2, 4), cores=12, place=heads, banks=True)  # fmt: skip
        down = reduced(block, "down", block.from_shards("down_back", down, move, L1), how.collectives / 2)
        down = block.norm("norm_down", block.to_shards("down_sum_placed", down, heads, move), part, cores=30, config=norm_shards((6, 5), 4))  # fmt: skip
        x = block.binary("added_feed", "ADD", x, down, part, cores=30)
        block.binary("scaled", "MUL", x, block.tensor([1, 1, 1, 1]), part, cores=30)
        return block

    return build


def prefill(how: How) -> Callable[[], Block]:
    """128 tokens."""

    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, gap_us=10)
        size, rows, part = how.size, 128, how.rest / 20
        config = two_d(GRID, 1, (1, 4 * size // 32 // 8)) if how.full else None
        x = block.tensor([1, 1, rows, HIDDEN])
        y = block.norm("norm", x, 1.5 * part, cores=4, config=PLAIN_NORM)
        qkv = block.linear("qkv", y, 4 * size, how.matmuls[0], config=config, cores=64 if config is None else 32)
        q, k, v = block.split_heads("heads", qkv, part, heads=2, kv=1, size=size, rows=rows, cores=4)
        q, k, v = (block.norm(f"norm_{name}", one, part, cores=4) for name, one in (("q", q), ("k", k), ("v", v)))
        q, k = (
            block.rotary(f"rotary_{name}", one, part, decode=False, cores=8) for name, one in (("q", q), ("k", k))
        )
        for name, one in (("k", k), ("v", v)):
            block.op(f"fill_{name}", "PagedFillCache", (block.tensor([7, 1, 64, size]), one), block.tensor([7, 1, 64, size]), part / 2, cores=4, batch_idx_fallback=0)  # fmt: skip
        out = block.join_heads("joined", block.attend("attend", q, k, v, 2 * part, config=None, cores=64), part, cores=4)  # fmt: skip
        config = two_d(GRID, 1, (1, 15)) if how.full else None
        out = block.linear("out", out, HIDDEN, how.matmuls[1], config=config, cores=64 if config is None else 32)
        out = block.norm("norm_out", reduced(block, "out", out, how.collectives / 2), 1.5 * part, cores=4)
        x = block.binary("added", "ADD", x, out, part, cores=64)
        y = block.norm("norm_feed", x, 1.5 * part, cores=4)
        gate, up = (block.linear(name, y, WIDE, us, cores=60) for name, us in (("gate", how.matmuls[2]), ("up", how.matmuls[3])))  # fmt: skip
        hidden = block.binary("gated", "MUL", gate, up, part, cores=64, lhs="GELU")
        down = block.linear("down", hidden, HIDDEN, how.matmuls[4], cores=64)
        down = block.norm("norm_down", reduced(block, "down", down, how.collectives / 2), 1.5 * part, cores=4)
        x = block.binary("added_feed", "ADD", x, down, part, cores=64)
        block.binary("scaled", "MUL", x, block.tensor([1, 1, 1, 1]), part, cores=64)
        return block

    return build


def head(dtype: str, us: float) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, gap_us=5)
        x = block.tensor([1, 1, 1, HIDDEN], place=block.across(32, HIDDEN, 30))
        x = block.norm("norm", x, 12, cores=30, config=norm_shards((6, 5), 4))
        own = WORDS // CHIPS
        logits = block.linear("head", x, own, us, dtype=dtype, config=banked(1, 35), cores=12, place=block.across(32, own, 30), banks=True)  # fmt: skip
        logits = block.from_shards("head_back", logits, 15)
        soft = block.unary(
            "soft", "TANH", block.unary("softer", "MUL_UNARY_SFPU", logits, 12, cores=64), 25, cores=64
        )
        logits = block.collective("logits_gather", "AllGather", block.unary("soft_back", "MUL_UNARY_SFPU", soft, 12, cores=64), WORDS, 1200, ring=CHIPS, links=1)  # fmt: skip
        flat = block.moved("logits_rows", "UntilizeWithUnpadding", logits, 250, layout=ROW_MAJOR, cores=64, fidelity="HiFi4")  # fmt: skip
        block.op("token", "ArgMax", (flat,), block.tensor([1, 1, 1, 1], "UINT32", layout=ROW_MAJOR), 4500, cores=64, dim=3, keepdim=True, use_multicore=True)  # fmt: skip
        return block

    return build


SUMS = "out_scatter out_gather down_scatter down_gather"
ASYNC = r"all_reduce_async|one (all.?reduce|collective)|async"
LINKS = rf"{COLLECTIVE}|two links"
MADE_UP = "how the kinds' times divide among ops, the small ops' kinds, core counts, in0_block_w; gaps"
SLIDING = How(full=False, matmuls=(36, 34, 43, 43, 42), collectives=216.6, moves=107.6, rest=157.2)
FULL = How(full=True, matmuls=(94, 62, 43, 43, 42.5), collectives=225.8, moves=164, rest=207.3)
SLIDING_MANY = How(full=False, matmuls=(98, 70, 132, 132, 131.8), collectives=421.4, moves=0, rest=502.4)
FULL_MANY = How(full=True, matmuls=(175, 112, 132, 132, 132), collectives=420.3, moves=0, rest=610.7)
GEMMA4_12B = (
    laid(
        "gemma4-12b-t3k-sliding", LOG, "sliding attention, decode, 679.4 us of kernels", decode(SLIDING),
        (
            dead("async", "all_reduce_async for the scatters and gathers of both sums", SUMS, ASYNC, "679.4 -> 681.8 us"),
            dead("links", "two links for the collectives", SUMS, LINKS, "the run stops with a wrong event in the queue; a reset was needed"),
            dead("bfp4", "BFLOAT4_B for the feed-forward's weights", "gate up down", BFP4, "decode PCC 0.9898, the bar 0.993; no time told"),
        ),
        MADE_UP, 679.4,
    ),
    laid(
        "gemma4-12b-t3k-full", LOG, "full attention, decode, 881.6 us of kernels", decode(FULL),
        (
            dead("async", "all_reduce_async for the scatters and gathers of both sums", SUMS, ASYNC, "881.6 -> 883.4 us"),
            dead("links", "two links for the collectives", SUMS, LINKS, "the run stops with a wrong event in the queue; a reset was needed"),
            dead("bfp4", "BFLOAT4_B for the feed-forward's weights", "gate up down", BFP4, "decode PCC 0.9917, the bar 0.995; no time told"),
            dead("bfp8", "BFLOAT8_B for the weights of QKV and of the output's projection", "qkv out", BFP8, "decode PCC 0.9838, the bar 0.995; no time told"),
        ),
        MADE_UP, 881.6,
    ),
    laid(
        "gemma4-12b-t3k-prefill", LOG, "sliding attention, 128 tokens, 1487.6 us of kernels", prefill(SLIDING_MANY),
        (
            dead("async", "all_reduce_async for the scatters and gathers of both sums", SUMS, ASYNC, "1487.6 -> 1491.0 us"),
            dead("l1", "inputs of the matmuls in L1", "norm qkv joined out norm_feed gate up gated down", IN_L1, "1487.6 -> 1481.0 us, and PCC 0.9916 at 1024 tokens, the bar 0.995", faster=True),
        ),
        MADE_UP, 1487.6,
    ),
    laid(
        "gemma4-12b-t3k-full-prefill", LOG, "full attention, 128 tokens, 1714.0 us of kernels", prefill(FULL_MANY),
        (
            dead("async", "all_reduce_async for the scatters and gathers of both sums", SUMS, ASYNC, "1714.0 -> 1709.5 us, no more than noise, and slower in decode"),
            dead("l1", "inputs of the matmuls in L1", "norm qkv joined out norm_feed gate up gated down", IN_L1, "1714.0 -> 1716.7 us"),
        ),
        MADE_UP, 1714.0,
    ),
    laid(
        "gemma4-12b-t3k-head", HEAD, "what makes a token, weights of the head in BFLOAT16: 44.12 ms a token of the model", head("BFLOAT16", 1900),
        (
            gain("bfp8", "BFLOAT8_B for the head's weights", 990, "head", BFP8, "22.66 -> 23.18 tokens a second, top 5 as before"),
            gain("bfp4", "BFLOAT4_B for the head's weights", 1083, "head", BFP4, "22.66 -> 23.23 tokens a second, top 5 as before, HiFi2 in both"),
        ),
        "times of all ops, from the 8.0 ms of a profile of two layers and the head in BFLOAT4_B, which name the argmax, the gather and the head as its largest; cores, gaps",
    ),
    laid(
        "gemma4-12b-t3k-head4", HEAD, "what makes a token, weights of the head in BFLOAT4_B: about 43.0 ms a token of the model", head("BFLOAT4_B", 720),
        (
            dead("lofi", "LoFi for the head", "head", LOFI, "23.23 -> 23.33 tokens a second, 23.08 when run again: no more than noise"),
            dead("block", "in0_block_w 2 and more for the head", "head", BLOCK_W, "refused: circular buffers of 1.88 to 2.95 MB, where L1 has 1.5"),
        ),
        "times of all ops, from the 8.0 ms of a profile of two layers and the head, which name the argmax, the gather and the head as its largest; cores, gaps",
    ),
)  # fmt: skip
