"""Voxtral TTS (it speaks) on one Wormhole chip (n150) and on one Blackhole chip (p150): decode of one voice.

A decoder of 26 layers (hidden 3072, 32 heads of 128 with eight of keys and values, feed-forward of 9216), and three
layers of a flow over three tokens with and without guidance, seven times a frame; HiFi4, sums in FLOAT32. The ledger
tells times of frames or steps before and after: a share for each layer, and times of many ops alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, Block, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    PACKED,
    SDPA_CHUNKS,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.profiles import Placement, Tensor

FOLDER = "models/experimental/voxtral_tts"
NOTES = f"{TT_METAL}/db2af0f921202dc77fcfed186d00788060f0fcf3/{FOLDER}/tt/NOTES.md"
STATUS = f"{TT_METAL}/fac49989a6002b524bd57da119164d74519d7059/{FOLDER}/STATUS.md"
HIDDEN, WIDE, HEADS, KV, SIZE, QKV = 3072, 9216, 32, 8, 128, 6144
EIGHT: dict[str, str] = dict.fromkeys(("qkv", "q", "kv", "out", "first", "third", "second"), "BFLOAT8_B")


@dataclass(frozen=True)
class How:
    """A layer at a step of its tuning; times in us."""

    arch: str = "wormhole_b0"
    grid: tuple[int, int] = (8, 8)
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])  # of weights that are not BFLOAT16
    us: Mapping[str, float] = field(default_factory=dict[str, float])
    norm_cores: int = 0  # 0: interleaved, on one core
    moves: tuple[float, float] = (14.0, 14.0)  # into a norm's shards and out of them
    apart: bool = False  # SILU as an op of its own
    places: Mapping[str, Placement] = field(
        default_factory=dict[str, "Placement"]
    )  # of outputs that are not in DRAM


class Parts:
    """What both kinds of a layer have."""

    def __init__(self, how: How) -> None:
        self.how, self.block = how, Block(how.arch, grid=how.grid, gap_us=1.0)

    def place(self, role: str) -> Placement:
        return self.how.places.get(role, DRAM)

    def norm(self, role: str, x: Tensor) -> Tensor:
        block, how = self.block, self.how
        if not how.norm_cores:
            return block.norm(role, x, how.us["norm"], cores=1, config=PLAIN_NORM)
        shards = block.across(32, HIDDEN, how.norm_cores)
        moved = block.to_shards(f"{role}_in", x, shards, how.moves[0])
        config = norm_shards((8, how.norm_cores // 8), HIDDEN // 32 // how.norm_cores)
        normed = block.norm(role, moved, how.us["norm"], cores=how.norm_cores, config=config, place=shards)
        return block.from_shards(f"{role}_back", normed, how.moves[1])

    def linear(self, role: str, x: Tensor, n: int, *, act: str | None = None) -> Tensor:
        dtype = self.how.dtypes.get(role, "BFLOAT16")
        return self.block.linear(role, x, n, self.how.us[role], dtype=dtype, fidelity="HiFi4", fp32=True, place=self.place(role), act=act)  # fmt: skip

    def added(self, role: str, x: Tensor, y: Tensor) -> Tensor:
        return self.block.binary(role, "ADD", x, y, self.how.us["add"], place=self.place(role))

    def feed(self, x: Tensor) -> None:
        normed = self.norm("norm_feed", x)
        gate = self.linear("first", normed, WIDE, act=None if self.how.apart else "SILU")
        if self.how.apart:
            gate = self.block.unary("silu", "SILU", gate, self.how.us["silu"], place=self.place("first"))
        up = self.linear("third", normed, WIDE)
        gated = self.block.binary("gated", "MUL", gate, up, self.how.us["gated"], place=self.place("gated"))
        self.added("sum_feed", x, self.linear("second", gated, HIDDEN))


def decode(how: How) -> Callable[[], Block]:
    """A layer of the decoder, one token after some 200."""

    def build() -> Block:
        parts = Parts(how)
        block, us = parts.block, how.us
        x = block.tensor([1, 1, 32, HIDDEN], place=parts.place("sum_feed"))
        qkv = parts.linear("qkv", parts.norm("norm", x), QKV)
        qkv = block.to_shards("qkv_shards", qkv, block.across(32, QKV, 8), us["qkv_shards"])
        q, k, v = block.heads_of_decode("heads", qkv, us["heads"], heads=HEADS, kv=KV, size=SIZE, users=1)
        q, k = (block.rotary(f"rotary_{name}", one, us["rotary"], decode=True, cores=1) for name, one in (("q", q), ("k", k)))  # fmt: skip
        cache = block.tensor([1, KV, 2048, SIZE])
        for name, one in (("k", k), ("v", v)):
            block.update_cache(f"cache_{name}", cache, one, us["cache"])
        out = block.attend_decode("attend", q, cache, us["attend"], config=None, cores=8)
        out = block.moved("joined", "ReshapeView", out, us["joined"], shape=[1, 1, 32, HEADS * SIZE])
        parts.feed(parts.added("sum", x, parts.linear("out", out, HIDDEN)))
        return block

    return build


def flow(how: How, *, packed: bool, whole: bool = False) -> Callable[[], Block]:
    """A layer of the flow: six rows, three tokens with and without guidance; `whole`: one op attends."""

    def build() -> Block:
        parts = Parts(how)
        block, us = parts.block, how.us
        x = block.tensor([1, 1, 32, HIDDEN], place=parts.place("sum_feed"))
        normed = parts.norm("norm", x)
        if packed:
            qkv = parts.linear("qkv", normed, QKV)
        else:
            qkv = parts.linear("q", normed, HEADS * SIZE)
            parts.linear("kv", normed, 2 * KV * SIZE)
        q, k, v = block.split_heads("heads", block.view(qkv, [2, 1, 32, QKV]), us["heads"], heads=HEADS, kv=KV, size=SIZE, rows=32, batch=2, place=parts.place("heads"), cores=2)  # fmt: skip
        if whole:
            out = block.attend(
                "attend", q, k, v, us["attend"], config=None, cores=64, causal=False, fidelity="HiFi4"
            )
        else:
            rows = block.view(q, [2, KV, 128, SIZE])
            scores = block.product("scores", rows, block.view(k, [2, KV, SIZE, 32]), us["scores"], place=parts.place("scores"))  # fmt: skip
            if "scaled" in us:
                scores = block.unary("scaled", "MUL_UNARY_SFPU", scores, us["scaled"], parameter="0.0884", place=parts.place("scores"))  # fmt: skip
            soft = block.softmax("softmax", scores, us["softmax"])
            out = block.product("context", soft, v, us["context"], place=parts.place("scores"))
            out = block.view(out, q.shape)
        turned = block.permute("turned", out, (0, 2, 1, 3), us["turned"])
        joined = block.view(turned, [1, 1, 32, HEADS * SIZE])
        parts.feed(parts.added("sum", x, parts.linear("out", joined, HIDDEN)))
        return block

    return build


def words() -> Block:
    """The choice of one of 8320 codes of a frame, in FLOAT32."""
    block = Block("wormhole_b0", grid=(8, 8), gap_us=1.0)
    x = block.tensor([1, 1, 32, HIDDEN], "FLOAT32")
    logits = block.linear("words", x, 8320, 562.0, dtype="FLOAT32", fidelity="HiFi4", fp32=True, out="FLOAT32")
    logits = block.binary("mask", "ADD", logits, block.tensor([1, 1, 1, 8320], "FLOAT32"), 36.3)
    block.op("argmax", "ArgMax", (logits,), block.tensor([1, 1, 32, 1], "UINT32"), 490.1, cores=1, dim=3, keepdim=True, output_dtype="DataType::UINT32", output_mem_config=DRAM, sub_core_grids=None, use_multicore=False)  # fmt: skip
    return block


SMALL = {"qkv_shards": 6.0, "heads": 12.0, "rotary": 14.0, "cache": 14.0, "attend": 68.0, "joined": 21.0, "add": 12.0, "gated": 15.0}  # fmt: skip
WIDEST = How(
    us={**SMALL, "norm": 115.5, "qkv": 194.6, "out": 130.0, "first": 292.0, "third": 292.0, "second": 292.0}
)
NARROW = How(
    dtypes={name: dtype for name, dtype in EIGHT.items() if name != "second"}, norm_cores=8,
    us={**SMALL, "norm": 16.2, "qkv": 100.9, "out": 82.8, "first": 155.0, "third": 155.0, "second": 292.0},
)  # fmt: skip
FLOW_US = {
    "norm": 115.5, "q": 150.0, "kv": 110.0, "qkv": 194.6, "heads": 97.0, "scores": 33.2, "scaled": 14.0, "softmax": 19.4,
    "context": 17.3, "turned": 28.4, "out": 130.0, "first": 292.0, "third": 292.0, "second": 292.0, "add": 31.0, "gated": 30.7,
}  # fmt: skip
FLOW_WIDE = How(us=FLOW_US)
FLOW = How(
    dtypes=EIGHT, norm_cores=8, moves=(18.7, 16.4),
    us={**FLOW_US, "norm": 21.6, "q": 73.0, "kv": 73.0, "qkv": 101.4, "out": 81.5, "first": 170.0, "third": 165.0, "second": 179.0},
)  # fmt: skip
FLOW_HALF_L1 = replace(FLOW, places={"heads": L1})
BLACKHOLE = How(
    arch="blackhole", grid=(13, 10), dtypes=NARROW.dtypes, apart=True,
    us={"qkv_shards": 2.7, "heads": 6.2, "rotary": 5.0, "cache": 8.1, "attend": 45.3, "joined": 6.7, "add": 5.0, "gated": 6.0, "norm": 63.5, "qkv": 72.1, "out": 94.1, "first": 85.5, "silu": 13.3, "third": 86.6, "second": 206.4},
)  # fmt: skip
FLOW_BLACKHOLE = How(
    arch="blackhole", grid=(13, 10), dtypes=EIGHT, places={"heads": L1},
    us={"norm": 63.5, "qkv": 72.5, "heads": 90.5, "attend": 25.0, "turned": 9.0, "out": 94.0, "first": 88.1, "third": 86.6, "second": 206.6, "add": 5.0, "gated": 6.0},
)  # fmt: skip
HEADS_BY_HAND = r"slice|by hand|permute"
ALONE = "times of small ops on this chip; that they are as long in the layer; cores; gaps"
VOXTRAL = (
    laid(
        "voxtral-wide", NOTES, "n150: a layer of the decoder, weights in BFLOAT16: 45.8 ms a step of 26",
        decode(WIDEST),
        (
            gain("feed8", "both wide weights in BFLOAT8_B", 427, "first third", BFP8, "45.8 -> 34.7 ms a step"),
            gain("attention8", "weights of the attention in BFLOAT8_B", 127, "qkv out", BFP8, "34.7 -> 31.4 ms a step"),
            gain("second8", "the last weight in BFLOAT8_B", 96, "second", BFP8, "31.4 -> 28.9 ms a step; not taken for its error"),
            gain("shards", "the norms in shards of their width", 169, "norm norm_feed", SHARDED, "4.4 ms a step"),
            gain("sums", "the norms without FLOAT32 sums", 134, "norm norm_feed", r"fp32_dest_acc_en|FLOAT32 (sums|accum)", "115 -> 48 us; not taken: the error of the model grows tenfold"),
        ),
        "times of matmuls from their bytes and 194 GB/s; times of small ops; cores; gaps",
    ),
    laid(
        "voxtral-narrow", NOTES, "n150: the same in BFLOAT8_B but the last weight, norms in shards: 26.4 ms a step",
        decode(NARROW),
        (
            gain("l1", "the feed-forward, the output of attention and the sums in L1", 34.6, "out sum first third gated second sum_feed", IN_L1, "26.43 -> 25.53 ms a step, the same bits"),
            gain("cores", "the norms' shards on 32 cores instead of eight", 6.2, "norm* norm_feed*", CORES, "24.57 -> 24.41 ms a step; 48 cores 24.44"),
            gain("cache", "keys and values written by one op", 17.5, "cache_k cache_v", r"fused_update|one op|fus", "0.454 ms a step", STATUS),
            dead("few", "the norms' shards on two cores", "norm* norm_feed*", r"fewer cores|\b2 cores|two cores", "24.57 -> 25.53 ms a step"),
            dead("subblock", "other subblocks of the norms", "norm norm_feed", r"subblock", "within 0.02 ms of a step"),
            dead("banked", "a DRAM-sharded matmul from the norm's shards", "qkv", DRAM_SHARDED, "100.9 -> 125.4 us, and 128.5 with its move"),
            dead("kept", "the norm's shards straight into the matmul", "norm_back qkv", r"(keep|stay|direct|straight|leave).{0,60}shard|shard.{0,60}(keep|stay|direct|straight)", "5.32 -> 8.94 ms of 26 pairs"),
            dead("config", "own configs for the first matmul", "qkv", CONFIG, "193 -> 169 GB/s"),
            dead("joined_l1", "attention's result moved to L1 before its projection", "joined", IN_L1, "82.8 -> 81.7 us of the matmul, and the move costs 6.3 us more"),
            dead("split", "queries, keys and values on other counts of cores", "qkv_shards", CORES, "24.410 ms a step with eight, 24.409 to 24.424 with six to 48"),
        ),
        ALONE,
    ),
    laid(
        "voxtral-flow-wide", NOTES, "n150: a layer of the flow, weights in BFLOAT16; 21 of them are a frame",
        flow(FLOW_WIDE, packed=True),
        (
            gain("eight", "weights in BFLOAT8_B", 467, "qkv out first third second", BFP8, "1.23 times as fast, then 42.57 ms a frame"),
            gain("hifi2", "HiFi2 without FLOAT32 sums", 173, "qkv out first third second", HIFI2, "52.4 -> 48.72 ms a frame; not taken for its error"),
            gain("shards", "the norms in shards of their width", 189, "norm norm_feed qkv first third", SHARDED, "7.78 -> 5.32 ms of 26 norms and linears"),
        ),
        "times of matmuls from their bytes and 194 GB/s; 52.4 ms from the ratio; cores; gaps",
    ),
    laid(
        "voxtral-flow-apart", NOTES, "n150: the same in BFLOAT8_B, norms in shards, queries apart",
        flow(FLOW, packed=False),
        (
            gain("packed", "queries, keys and values by one matmul", 45.7, "q kv", PACKED, "3.09 -> 2.13 ms a frame"),
            gain("heads_l1", "the heads in L1", 116, "heads scores scaled softmax context", IN_L1, "26.72 -> 24.28 ms a frame"),
            gain("scale", "the scale inside the weights of the queries", 13.3, "scaled", r"fold|scale", "0.28 ms a frame"),
            dead("k_turned", "keys turned by the op that splits the heads", "heads", r"transpose_k", "26.75 -> 26.72 ms a frame, the same"),
        ),
        ALONE,
    ),
    laid(
        "voxtral-flow", NOTES, "n150: the same with heads in L1 and one matmul before them: 24.2 ms a frame",
        flow(FLOW_HALF_L1, packed=True),
        (
            gain("attention_l1", "scores and what they choose in L1", 15.7, "scores scaled context", IN_L1, "24.18 -> 23.85 ms a frame, the same codes"),
            gain("feed_l1", "the feed-forward in L1", 30.0, "first third gated", IN_L1, "23.85 -> 23.22 ms a frame, the same codes"),
            gain("sums_l1", "the sums in L1", 8.6, "sum sum_feed", IN_L1, "23.22 -> 23.04 ms a frame, the same codes"),
            gain("heads", "heads split by slices and permutes into L1", 58.7, "heads", HEADS_BY_HAND, "22.375 -> 21.142 ms a frame, the same codes"),
            gain("four", "weights in BFLOAT4_B", 149.5, "qkv out first third second", BFP4, "25.70 -> 22.56 ms a frame; not taken for its error"),
            gain("attend", "one op of attention", None, "scores scaled softmax context", r"scaled_dot_product|sdpa", "1.147 times as fast, of a frame not told; not taken for its error"),
            dead("second4", "the last weight alone in BFLOAT4_B", "second", BFP4, "0.016 ms of 25.7 a frame"),
            dead("merged", "both wide matmuls as one", "first third gated", PACKED, "0.998 times as fast; 0.951 with its output split"),
            dead("norm_l1", "the norm's result in L1", "norm norm_back norm_feed norm_feed_back", IN_L1, "0.999 times as fast"),
            dead("in_place", "the norms in place", "norm norm_feed", r"in.?place", "0.997 times as fast"),
        ),
        ALONE,
    ),
    laid(
        "voxtral-words", NOTES, "n150: the choice of a frame's first code: 1.21 ms",
        words,
        (
            gain("host", "the mask and the choice on the host", 353.2, "mask argmax", r"host|multi.?core|use_multicore|more cores|untilize|ROW_MAJOR", "1213.5 -> 860.3 us, the same codes"),
            gain("half", "the weights in BFLOAT16", 266.6, "words", r"bfloat16|BFLOAT16", "1213.5 -> 946.9 us; not taken: a code may flip"),
        ),
        "cores; what the copies to and from the chip take; gaps",
    ),
    laid(
        "voxtral-blackhole", STATUS, "p150: a layer of the decoder, replayed from a trace",
        decode(BLACKHOLE),
        (
            gain("shards", "the norms in shards of their width, on 32 cores", 105.9, "norm norm_feed", SHARDED, "33.12 -> 27.72 ms of a frame with 102 norms"),
            gain("silu", "SILU inside the matmul, by its config", 10.7, "first silu", ACTIVATION_IN_MATMUL, "98.8 -> 88.1 us; 2.42 ms of a frame with 47, where launches cost too"),
            gain("attend", "a config for attention, chunks of 512", 7.6, "attend", rf"{SDPA_CHUNKS}|program_config", "45.3 -> 25.9 us alone; 0.197 ms of a step"),
            dead("second8", "the last weight in BFLOAT8_B", "second", BFP8, "206.4 -> 206.6 us"),
            dead("merged", "both wide matmuls as one", "first silu third gated", PACKED, "216.3 -> 237.6 us with the product"),
            dead("cache", "keys and values written by one op", "cache_k cache_v", r"fused_update|one op|fus", "21.42 -> 22.11 ms a step"),
        ),
        ALONE,
    ),
    laid(
        "voxtral-flow-blackhole", STATUS, "p150: a layer of the flow, replayed from a trace",
        flow(FLOW_BLACKHOLE, packed=True, whole=True),
        (
            gain("shards", "the norms in shards of their width, on 32 cores", 105.9, "norm norm_feed", SHARDED, "33.12 -> 27.72 ms of a frame with 102 norms"),
            gain("heads", "heads split by slices and permutes into L1", 36.9, "heads", HEADS_BY_HAND, "90.5 -> 48.6 us; 27.70 -> 26.93 ms a frame, the same bits"),
            dead("merged", "both wide matmuls as one", "first third gated", PACKED, "215.0 -> 237.8 us with the product"),
        ),
        ALONE,
    ),
)  # fmt: skip
