"""Qwen3 32B on one Blackhole chip (p300c): one layer, decode of 32 users and prefill of 17 tokens of each.

Hidden 5120, 64 heads of 128 with eight of keys and values, a norm of each head's queries and keys, feed-forward 25600.
The ledger tells wall times of a traced layer, and kernel times of the matmuls and attention in the last state. Times of
the matmuls in other states follow from the layer's differences, shared out by the bytes of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    HIFI2,
    IN_L1,
    INTERLEAVED_1D,
    LOFI,
    PACKED,
    SDPA_GRID,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.profiles import Tensor

FOLDER = "models/autoports/qwen_qwen3_32b/doc"
COMMIT = f"{TT_METAL}/dad1b230d0ab6cc7f7fd279f9238511f0f88a9cc/{FOLDER}/optimized_decoder"
README, PROFILE = f"{COMMIT}/README.md", f"{COMMIT}/perf_report.md"
LOG = f"{TT_METAL}/ccf08902358a6c741bed847d0294d3a68e41424d/{FOLDER}/optimized_decoder/work_log.md"
FUSED = f"{TT_METAL}/4bceff06006e1860852952b9e79929072f5efed3/{FOLDER}/fused_decoder/README.md"
GRID, USERS, HIDDEN, HEADS, KV, SIZE, WIDE = (11, 10), 32, 5120, 64, 8, 128, 25600
QKV, ATTENDED, TOKENS = (HEADS + 2 * KV) * SIZE, HEADS * SIZE, 17
BANKED = {"qkv": (4, 8), "out": (8, 5), "gate": (4, 20), "up": (4, 20), "down": (20, 4)}  # in0_block_w, per_core_N


@dataclass(frozen=True)
class How:
    """Formats and fidelity of attention's weights and of the feed-forward's; time of each matmul."""

    attention: tuple[str, str]
    feed: tuple[str, str]
    us: tuple[float, float, float, float, float]

    def of(self, role: str) -> tuple[str, str, float]:
        return *(self.attention if role in {"qkv", "out"} else self.feed), self.us[list(BANKED).index(role)]


def rotary(block: Block, name: str, x: Tensor, us: float, *, cores: int, tables: Sequence[Tensor] = ()) -> Tensor:
    """All users at the same position."""
    tables = tables or [block.tensor([1, 1, 32, SIZE]) for _ in range(2)]
    return block.op(f"rotary_{name}", "RotaryEmbedding", (x, *tables), block.tensor(x.shape), us, cores=cores, fidelity="HiFi4", output_mem_config=DRAM, token_idx=None)  # fmt: skip


def plain(*, folded: bool) -> Callable[[], Block]:
    """BFLOAT16 and interleaved; each user's row fills a tile."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.3)

        def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
            return block.linear(role, x, n, us, fidelity="HiFi4", fp32=True, cores=110)

        x = block.tensor([1, USERS, 1, HIDDEN])
        normed = block.norm("norm", x, 105, cores=32)
        qkv = linear("qkv", normed, QKV, 8674)
        qkv = block.moved("qkv_shaped", "ReshapeView", qkv, 40, shape=[1, 1, USERS, QKV], cores=110)
        q, k, v = block.heads_of_decode("heads", qkv, 40, heads=HEADS, kv=KV, size=SIZE, users=USERS)  # fmt: skip
        block.reshard("v_moved", v, block.along(32, SIZE, USERS), 0.9)
        q, k = (block.from_shards(f"{name}_flat", one, 3) for name, one in (("q", q), ("k", k)))
        q, k = (block.norm(f"norm_{name}", one, us, cores=64) for name, one, us in (("q", q, 14), ("k", k, 12)))
        q, k = (rotary(block, name, one, 12, cores=64) for name, one in (("q", q), ("k", k)))
        placed = block.to_shards("k_placed", k, block.along(32, SIZE, USERS), 2)
        cache = block.tensor([USERS, KV, 128, SIZE])
        block.update_cache("cache", cache, placed, 9)
        attended = block.attend_decode("attend", q, cache, 45, config=None, cores=110)
        shards = block.to_shards("attended_placed", attended, block.along(64, SIZE, USERS), 4)
        joined = block.moved("joined", "NLPConcatHeadsDecode", shards, 8, shape=[1, 1, USERS, ATTENDED], place=block.across(32, ATTENDED, 64), cores=64, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        flat = block.from_shards("joined_flat", joined, 4)
        flat = block.turned("joined_turned", flat, 35, dims="CH", cores=64)
        x = block.binary("attention_added", "ADD", x, linear("out", flat, HIDDEN, 6939), 70, cores=110)  # fmt: skip
        fed = block.norm("norm_feed", x, 105, cores=32)
        gate, up = (linear(role, fed, WIDE, 21689) for role in ("gate", "up"))
        if not folded:
            gate = block.unary("silu", "SILU", gate, 360, cores=110)
        hidden = block.binary("gated", "MUL", gate, up, 480, cores=110, lhs="SILU" if folded else None)
        x = block.binary("feed_added", "ADD", x, linear("down", hidden, HIDDEN, 21689), 70, cores=110)  # fmt: skip
        return block

    return build


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.8)
        residual, norm = block.across(32, HIDDEN, 40), norm_shards((10, 4), 4)
        shards = {"qkv": 40, "out": 32, "gate": 40, "up": 40, "down": 40}

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            dtype, fidelity, us = how.of(role)
            return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=banked(*BANKED[role]), cores=12, place=block.across(32, n, shards[role]), banks=True)  # fmt: skip

        x = block.moved("entry_shape", "ReshapeView", block.tensor([1, USERS, 1, HIDDEN]), 46, shape=[1, 1, USERS, HIDDEN])  # fmt: skip
        x = block.to_shards("entry", x, residual, 3)
        qkv = linear("qkv", block.norm("norm", x, 9, cores=40, config=norm), QKV)
        q, k, v = block.heads_of_decode("heads", block.from_shards("qkv_back", qkv, 3, L1), 15, heads=HEADS, kv=KV, size=SIZE, users=USERS)  # fmt: skip
        q, k = (block.from_shards(f"{name}_flat", one, 2.5, L1) for name, one in (("q", q), ("k", k)))
        q, k = (block.norm(f"norm_{name}", one, us, cores=64) for name, one, us in (("q", q, 10), ("k", k, 7)))
        position = block.tensor([1, 32], "UINT32", layout=ROW_MAJOR)
        tables = [block.op(f"rotary_{wave}", "Embeddings", (position, block.tensor([1, 1, 8192, SIZE], layout=ROW_MAJOR)), block.tensor([1, 1, 32, SIZE]), 7, cores=4) for wave in ("cos", "sin")]  # fmt: skip
        q, k = (rotary(block, name, one, us, cores=64, tables=tables) for name, one, us in (("q", q, 12), ("k", k, 9)))  # fmt: skip
        k = block.to_shards("k_placed", k, block.along(32, SIZE, USERS), 2)
        cache = block.tensor([USERS, KV, 128, SIZE], "BFLOAT8_B")
        block.update_cache("cache_k", cache, k, 6)
        block.update_cache("cache_v", cache, v, 6)
        attended = block.attend_decode("attend", q, cache, 51, config=chunks(0, 0, (8, 8)), cores=64)
        placed = block.to_shards("attended_placed", attended, block.along(64, SIZE, USERS), 3)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 9, shape=[1, 1, USERS, ATTENDED], place=block.across(32, ATTENDED, 64), cores=64, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        joined = block.reshard("joined_moved", joined, block.across(32, ATTENDED, 32), 3)
        out = block.reshard("out_moved", linear("out", joined, HIDDEN), residual, 2)
        x = block.binary("attention_added", "ADD", x, out, 3, cores=40)
        fed = block.norm("norm_feed", x, 9, cores=40, config=norm)
        gate, up = (linear(role, fed, WIDE) for role in ("gate", "up"))
        hidden = block.binary("gated", "MUL", gate, up, 35, cores=40, lhs="SILU")
        hidden = block.reshard("gated_moved", hidden, block.across(32, WIDE, 40), 3)
        x = block.binary("feed_added", "ADD", x, linear("down", hidden, HIDDEN), 3, cores=40)
        block.moved("exit_shape", "ReshapeView", block.from_shards("exit", x, 3), 46, shape=[1, USERS, 1, HIDDEN])
        return block

    return build


FEED_NARROW = ("BFLOAT4_B", "LoFi")


@dataclass(frozen=True)
class Prompt:
    """A prefill: format and fidelity of the weights, in0_block_w, time of each matmul."""

    attention: tuple[str, str] = ("BFLOAT8_B", "HiFi2")
    feed: tuple[str, str] = FEED_NARROW
    k_block: int = 10
    us: tuple[float, float, float, float, float] = (330, 264, 593, 593, 561)


def prefill(how: Prompt) -> Callable[[], Block]:
    """544 rows: 17 tokens of each of 32 users."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=2)
        rows = USERS * TOKENS
        us = dict(zip(BANKED, how.us, strict=True))

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            dtype, fidelity = how.attention if role in {"qkv", "out"} else how.feed
            config = two_d((8, 8), how.k_block, (3, -(-n // 256)), subblock=(1, 4))
            return block.linear(role, x, n, us[role], dtype=dtype, fidelity=fidelity, config=config, cores=48)

        x = block.tensor([1, 1, rows, HIDDEN])
        qkv = linear("qkv", block.norm("norm", x, 50, cores=17), QKV)
        shaped = block.moved("qkv_shaped", "ReshapeView", qkv, 250, shape=[USERS, 1, TOKENS, QKV], cores=110)
        q, k, v = block.split_heads("heads", shaped, 110, heads=HEADS, kv=KV, size=SIZE, rows=TOKENS, batch=USERS, cores=110)  # fmt: skip
        q, k = (
            block.norm(f"norm_{name}", one, value, cores=110) for name, one, value in (("q", q, 70), ("k", k, 18))
        )
        q, k = (rotary(block, name, one, value, cores=110) for name, one, value in (("q", q, 75), ("k", k, 18)))  # fmt: skip
        for name, one in (("k", k), ("v", v)):
            cache = block.tensor([USERS, KV, 128, SIZE], "BFLOAT8_B")
            for user in range(USERS):
                part = block.slice(f"part_{name}", one, (user, 0, 0, 0), (user + 1, KV, TOKENS, SIZE), 5)
                part = block.typecast(f"part_{name}_cast", part, "BFLOAT8_B", 4, cores=8)
                block.op(f"fill_{name}", "UpdateKVCacheOperation", (cache, part), cache, 6, cores=8, batch_idx=user, update_idx=0, batch_offset=0, op_type="UpdateCacheOpType::FILL")  # fmt: skip
        attended = block.attend("attend", q, k, v, 202, config=chunks(32, 32, (8, 8)), cores=64)
        joined = block.join_heads("joined", attended, 125, cores=110)
        flat = block.moved("joined_shaped", "ReshapeView", joined, 210, shape=[1, 1, rows, ATTENDED], cores=110)
        x = block.binary("attention_added", "ADD", x, linear("out", flat, HIDDEN), 18, cores=110)
        fed = block.norm("norm_feed", x, 50, cores=17)
        gate, up = (linear(role, fed, WIDE) for role in ("gate", "up"))
        hidden = block.binary("gated", "MUL", gate, up, 460, cores=110, lhs="SILU")
        block.binary("feed_added", "ADD", x, linear("down", hidden, HIDDEN), 18, cores=110)
        return block

    return build


LAST = How(FEED_NARROW, FEED_NARROW, (100.5, 80, 233.5, 233, 221))
NARROW_FEED = How(("BFLOAT8_B", "HiFi2"), FEED_NARROW, (183, 146, 233.5, 233, 221))
NARROW_FEED_LOFI = How(("BFLOAT8_B", "LoFi"), FEED_NARROW, (116, 92.5, 233.5, 233, 221))
EIGHT_LOFI = How(("BFLOAT8_B", "LoFi"), ("BFLOAT8_B", "LoFi"), (116, 92.5, 283.5, 283, 268))
EIGHT = How(("BFLOAT8_B", "HiFi2"), ("BFLOAT8_B", "HiFi2"), (183, 146, 454, 453.5, 428.5))
OTHER_CORES = r"in0_block_w|(fewer|more) (cores|shards)|\d+ (cores|shards)|per_core_N"
NO_VIEW = r"view|transpose|without (the )?(slice|copy)|direct"
EXPONENT = r"exp_approx_mode|approximate exp|math_approx"
MADE_UP = "times of all ops but the matmuls and attention in the last state, of the gating and the head join; those of the matmuls in other states follow from the layer's; the order of the reshards; gaps"  # fmt: skip
MATMULS, WALL = "qkv out gate up down", "of wall time of a layer"

QWEN3_32B = (
    laid(
        "qwen3-32b-plain-silu", FUSED, "decode in BFLOAT16 as a graph came out, a SiLU apart: 82,098 us of wall time",
        plain(folded=False),
        (gain("silu", "SiLU in the multiplication of gate and up", 329.8, "silu gated", rf"{ACTIVATION_IN_BINARY}|{ACTIVATION_IN_MATMUL}", f"82,097.5 -> 81,767.7 us {WALL}"),),
        "times of all ops but the sum of the matmuls; how that is shared out; gaps",
    ),
    laid(
        "qwen3-32b-plain", FUSED, "decode in BFLOAT16, its graph fused: 26 ops, 81,776 us with gaps, matmuls 98.66 % of it",
        plain(folded=True),
        (
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, f"81,767.7 -> 82,505.6 us {WALL}"),
            dead("head-norms", "the norms of queries and keys in shards", "q_flat k_flat norm_q norm_k", SHARDED, f"81,770 -> 81,825.7 us {WALL}"),
            dead("joined", "a view instead of the transpose after the heads' join", "joined_flat joined_turned", NO_VIEW, f"81,767.5 -> 81,820.6 us {WALL}"),
        ),
        "times of all ops but the sum of the matmuls; how that is shared out; gaps", 81776,
    ),
    laid(
        "qwen3-32b-bfp8-hifi2", LOG, "decode over the banks, all weights BFLOAT8_B at HiFi2: 2,017 us of wall time",
        decode(EIGHT),
        (gain("fidelity", "LoFi for all matmuls", 622, MATMULS, LOFI, f"2,017 -> 1,395 us {WALL}"),),
        MADE_UP,
    ),
    laid(
        "qwen3-32b-bfp8-lofi", LOG, "decode over the banks, all weights BFLOAT8_B at LoFi: 1,395 us of wall time",
        decode(EIGHT_LOFI),
        (gain("weights", "BFLOAT4_B for all weights", 176, MATMULS, BFP4, f"1,395 -> 1,219 us {WALL}"),),
        MADE_UP,
    ),
    laid(
        "qwen3-32b-narrow-feed", LOG, "decode over the banks, BFLOAT4_B feed-forward at LoFi, BFLOAT8_B attention at HiFi2: 1,367 us of wall time",
        decode(NARROW_FEED),
        (
            gain("attention", "LoFi for attention's matmuls", 120, "qkv out", LOFI, f"1,367 -> 1,247 us {WALL}"),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, f"1,367 -> 1,551 us {WALL}"),
            dead("blocks", "a smaller in0_block_w for all matmuls", MATMULS, r"(smaller|lower|less).{0,30}in0_block_w|in0_block_w ?= ?(2|5|10)\b", f"1,367 -> 1,564, 1,413 and 1,378 us {WALL} with none above 2, 5 and 10"),
            dead("attend-grid", "8 x 4 cores for attention", "attend", SDPA_GRID, f"1,367 -> 1,375 us {WALL}"),
            dead("exponent", "an approximate exponent for attention", "attend", EXPONENT, f"1,367 -> 1,368 us {WALL}: a tie"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", "gate up down", HIFI2, f"1,367 -> 1,971 us {WALL}"),
            dead("feed-cores", "the feed-forward on 16, 20, 32 or 80 shards", "gate up down gated", OTHER_CORES, f"1,367 -> 1,458, 1,461, 1,368 and 1,406 us {WALL}"),
            dead("1d", "1D matmuls of weights that lie interleaved", MATMULS, INTERLEAVED_1D, f"1,367 -> 1,737 us {WALL}", README),
            dead("cache", "a BFLOAT16 cache", "cache_* attend", r"bfloat16|\bBF16\b", f"1,367 -> 1,402 us {WALL}"),
            dead("down-bfp8", "a BFLOAT8_B down projection", "down", BFP8, f"1,367 -> 1,425 us {WALL}"),
        ),
        MADE_UP,
    ),
    laid(
        "qwen3-32b-narrow-feed-lofi", LOG, "decode over the banks, BFLOAT4_B feed-forward and BFLOAT8_B attention at LoFi: 1,247 us of wall time",
        decode(NARROW_FEED_LOFI),
        (gain("attention", "BFLOAT4_B for attention's weights", 28, "qkv out", BFP4, f"1,247 -> 1,219 us {WALL}"),),
        MADE_UP,
    ),
    laid(
        "qwen3-32b-last", PROFILE, "decode over the banks, all weights BFLOAT4_B at LoFi: 33 ops, 1,202 us in kernels, 1,219 us of wall time",
        decode(LAST),
        (
            dead("down-cores", "the down projection on 16 or 20 shards", "down gated_moved", OTHER_CORES, f"1,219.0 -> 1,219.7 to 1,256 and 1,222.6 to 1,259 us {WALL}, by in0_block_w", README),
            dead("gate-cores", "gate and up on 32 or 80 shards", "gate up gated", OTHER_CORES, f"1,219.0 -> 1,224.4 and 1,247 us {WALL}", README),
        ),
        MADE_UP, 1202,
    ),
    laid(
        "qwen3-32b-prefill-bfp8", LOG, "prefill of 17 tokens of 32 users, all weights BFLOAT8_B at HiFi2, in0_block_w 4: 6,283 us of wall time",
        prefill(Prompt(feed=("BFLOAT8_B", "HiFi2"), k_block=4, us=(355, 285, 820, 820, 780))),
        (gain("fidelity", "LoFi for all matmuls", 343, MATMULS, LOFI, f"6,283 -> 5,940 us {WALL}"),),
        f"the matmuls' times, by those of the last state and the layer's difference; {MADE_UP}",
    ),
    laid(
        "qwen3-32b-prefill-block", LOG, "prefill of 17 tokens of 32 users, BFLOAT4_B feed-forward at LoFi, BFLOAT8_B attention at HiFi2, in0_block_w 2: 5,975 us of wall time",
        prefill(Prompt(k_block=2, us=(388, 311, 692, 692, 655))),
        (gain("block", "in0_block_w 10", 387, MATMULS, BLOCK_W, f"5,975 -> 5,588 us {WALL}"),),
        f"the matmuls' times, by those of the last state and the layer's difference; {MADE_UP}",
    ),
    laid(
        "qwen3-32b-prefill-narrow-feed", README, "prefill of 17 tokens of 32 users, BFLOAT4_B feed-forward at LoFi, BFLOAT8_B attention at HiFi2: 5,626 us of wall time",
        prefill(Prompt()),
        (
            dead("l1", "what the feed-forward's matmuls read in L1", "norm_feed gate up gated down", IN_L1, f"5,635 -> 6,219 us {WALL}"),
            dead("hifi2", "HiFi2 for the feed-forward", "gate up down", HIFI2, f"5,626 -> 6,121 us {WALL}", LOG),
            dead("block", "in0_block_w 16", MATMULS, r"in0_block_w ?= ?(16|20|32|40)\b|(larger|wider|deeper|higher).{0,40}in0_block_w", "refused: 2,044,672 bytes of buffers, 1,572,864 is what L1 has", LOG),
        ),
        "times of the many small ops (in the last state, all but the matmuls and attention take 2.5 ms), of attention's matmuls, the grids and per-core sizes of the 2D configs; gaps",
    ),
)  # fmt: skip
