"""BitNet b1.58 2B (weights of -1, 0 and 1) on one Blackhole chip (P150): decode of 32 users, a layer and the head.

Hidden 2560, 20 heads of 128 with five of keys and values, feed-forward 6912, a norm after attention and one within the
feed-forward; 30 layers, a vocabulary of 128 256. The matmuls of a layer are an op of the engineers' own, whose weights
take two bits; all other ops are TTNN's. Replayed from a trace.
The ledger tells tokens a second after each step, which scatter by 0.7 between runs until the 20th step (0.2 later), and
times of single ops here and there. A saving below that scatter has no figure here. What the engineers did to their own
op, and to the host, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, ROW_MAJOR, Block, chunks, norm_shards
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP4, BFP8, CORES, IN_L1, LOFI, SHARDED
from tests.profiles import height_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

REPOSITORY = "https://github.com/deveworld/bitnet-tt/blob"
LEDGER = f"{REPOSITORY}/8eb0e59a259a164cb63e916a69138a2862dac82d/TODO.md"
CEILING = f"{REPOSITORY}/0513858c30dfc9373aa1f340417d9138a5614286/docs/session_14_optimization_ceiling.md"
FUSED = f"{REPOSITORY}/8ce7d886e1285595b79359179653c836ddb78691/docs/plan_attention_core_range_split.md"
THIRD = f"{REPOSITORY}/3f76a55e3f0a84dcd816afd4098f4788f008a18c/docs/session_3_ceiling_analysis.md"
GRID, ALL_CORES, USERS = (11, 10), 110, 32
HIDDEN, HEADS, KV, SIZE, WIDE, WORDS = 2560, 20, 5, 128, 6912, 128_256
QKV = (HEADS + 2 * KV) * SIZE


@dataclass(frozen=True)
class How:
    """A layer; times in us."""

    moves: bool = False  # of tables and heads, scales, layouts: what the first steps took away
    near: bool = True  # norms' outputs in L1
    norms: tuple[int, ...] = ()  # cores of a norm's shards, of the hidden columns and of the wide ones
    norm_us: tuple[float, float] = (56, 56)  # with their moves
    joined: bool = False  # heads joined by the op for it


def ternary(block: Block, role: str, x: Tensor, n: int, us: float, *, cores: int) -> Tensor:
    """The engineers' own op, with weights of two bits."""
    k = x.shape[-1]
    weight = block.tensor([1, 1, k * n // 1024, 64], "UINT32", layout=ROW_MAJOR)
    return block.op(
        role, "TernaryMatmul", (x, weight), block.tensor([*x.shape[:-1], n]), us, cores=cores, fidelity="LoFi",
        compute_kernel_config=block.kernel("LoFi"), in0_block_w=k // 64, output_mem_config=DRAM,
    )  # fmt: skip


def normed(block: Block, role: str, x: Tensor, how: How) -> Tensor:
    columns = x.shape[-1]
    us = how.norm_us[columns == WIDE]
    place: Placement = L1 if how.near else DRAM
    if not how.norms:
        return block.norm(role, x, us, cores=1, config=PLAIN_NORM, place=place)
    cores = how.norms[columns == WIDE]
    placed = block.to_shards(f"{role}_placed", x, block.across(32, columns, cores), 3)
    made = block.norm(
        role, placed, us - 6, cores=cores, config=norm_shards((8, cores // 8), columns // 32 // cores)
    )
    return block.from_shards(f"{role}_back", made, 3, place)


def layer(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1)
        x = block.tensor([1, 1, USERS, HIDDEN])
        extra = 0 if how.near else 4
        qkv = ternary(block, "qkv", normed(block, "norm", x, how), QKV, 33 + extra, cores=60)
        if how.moves:
            qkv = block.moved("qkv_rows", "Untilize", qkv, 15, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
            qkv = block.moved("qkv_tiles", "Tilize", qkv, 15, layout="TILE", cores=1, fidelity="HiFi4")
        q, k, v = block.heads_of_decode("heads", qkv, 6, heads=HEADS, kv=KV, size=SIZE, users=USERS)
        tables = [block.tensor([1, USERS, 32, SIZE]) for _ in range(2)]
        along = block.along(32, SIZE, USERS)
        if how.moves:
            scale = block.tensor([1, 1, 1, 1])
            q, k, v = (block.binary(f"scaled_{name}", "MUL", one, scale, 5, cores=USERS) for name, one in (("q", q), ("k", k), ("v", v)))  # fmt: skip
            tables = [block.to_shards(f"table_{name}", one, along, 8) for name, one in zip(("cos", "sin"), tables, strict=True)]  # fmt: skip
        else:
            tables = [block.tensor([1, USERS, 32, SIZE], place=along) for _ in range(2)]
        turn = block.tensor([1, 1, 32, 32 * USERS], place=block.along(32, 32, USERS))
        q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape, place=one.placement or L1), 13.1, cores=USERS, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), is_decode_mode=True, output_mem_config=one.placement) for name, one in (("q", q), ("k", k)))  # fmt: skip
        if how.moves:
            k, v = (block.reshard(f"prepared_{name}", one, height_sharded(32, SIZE, USERS), 3.5) for name, one in (("k", k), ("v", v)))  # fmt: skip
        cache = block.tensor([USERS, KV, 256, SIZE])
        block.update_cache("cache_k", cache, k, 8)
        block.update_cache("cache_v", cache, v, 8)
        out = block.attend_decode("attend", q, cache, 12, config=chunks(32, 32, (8, 4)), cores=32, fidelity="HiFi2", fp32=False, place=L1 if how.near else DRAM)  # fmt: skip
        if how.joined:
            out = block.to_shards("attended_placed", out, block.along(32, SIZE, USERS), 5)
            out = block.moved("joined", "NLPConcatHeadsDecode", out, 14, shape=[1, 1, USERS, HIDDEN], place=block.across(32, HIDDEN, HEADS), cores=HEADS, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
            out = block.from_shards("joined_back", out, 10, L1)
        else:
            out = block.moved("joined", "ReshapeView", out, 38, shape=[1, 1, USERS, HIDDEN], cores=USERS)
        out = ternary(block, "out", normed(block, "norm_attended", out, how), HIDDEN, 25 + extra, cores=40)
        x = block.binary("attention_added", "ADD", x, out, 3, cores=80)
        both = ternary(block, "gate_up", normed(block, "norm_feed", x, how), 2 * WIDE, 45 + extra, cores=108)
        gate, up = (block.slice(f"half_{name}", both, (0, 0, 0, at), (1, 1, USERS, at + WIDE), 3) for name, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
        hidden = block.binary("gated", "MUL", gate, up, 4, cores=ALL_CORES, lhs="SQUARE")
        out = ternary(block, "down", normed(block, "norm_gated", hidden, how), HIDDEN, 30 + extra, cores=40)
        block.binary("feed_added", "ADD", x, out, 3, cores=80)
        return block

    return build


@dataclass(frozen=True)
class Head:
    """From the last norm to the choice of a word; times in us."""

    us: float = 2197
    dtype: str = "BFLOAT4_B"
    parts: int = 1
    rows: bool = True  # logits not tiled for the choice
    choice: float = 1990
    many: bool = False  # the choice on all cores
    norms: int = 0


def head(how: Head) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1)
        x = block.tensor([1, 1, USERS, HIDDEN])
        one = How(near=False, norms=(how.norms, how.norms) if how.norms else (), norm_us=(28, 34) if how.norms else (56, 56))  # fmt: skip
        x = normed(block, "norm", x, one)
        width = WORDS // how.parts
        logits = [block.linear(f"words_{part}" if how.parts > 1 else "words", x, width, how.us / how.parts, dtype=how.dtype, fidelity="LoFi", cores=ALL_CORES) for part in range(how.parts)]  # fmt: skip
        whole = block.concat("words_joined", logits, [1, 1, USERS, WORDS], 3, 90) if how.parts > 1 else logits[0]
        if how.rows:
            whole = block.moved("words_rows", "Untilize", whole, 270 if not how.many else 60, layout=ROW_MAJOR, cores=1 if not how.many else ALL_CORES, fidelity="HiFi4")  # fmt: skip
        block.op("choice", "ArgMax", (whole,), block.tensor([1, 1, 1, USERS], "UINT32", layout=ROW_MAJOR), how.choice, cores=ALL_CORES if how.many else 1, dim=3, keepdim=False, output_dtype="DataType::UINT32", output_mem_config=DRAM, sub_core_grids=None, use_multicore=how.many)  # fmt: skip
        return block

    return build


NORMS = "norm_attended norm_feed norm_gated"
ONCE = r"once|before the (trace|layers|loop)|hoist|outside|shared by|reuse|keep.{0,40}shard|already.{0,30}shard"
FOLDED = r"fold|scale|into the (weight|norm|SDPA)|absorb"
NO_ROUND_TRIP = r"tilize|to_layout|TILE_LAYOUT|round.trip|layout"
MANY_CORES = r"use_multicore|multi.?core|more cores|all (the |of the )?cores"
SPLIT = r"(split|chunk|part|slic|smaller|narrower).{0,60}(vocab|lm_head|matmul|weight|column|\bN\b)|(vocab|lm_head|matmul|weight|column).{0,60}(split|chunk|parts|slices)"
JOIN = r"nlp_concat_heads_decode|concat.{0,10}heads"
MADE_UP = "times of all other ops, from sums that the ledger estimates of a step; attributes of the engineers' own op; gaps"
RATE = "tokens a second"
SHARDS = How(norms=(16, 24), norm_us=(28, 34))

BITNET = (
    laid(
        "bitnet-moves", LEDGER, "a layer of decode, 34.8 tokens a second",
        layer(How(moves=True, near=False, norm_us=(62, 62))),
        (
            gain("layout", "QKV left in tiles before the heads", 26.8, "qkv_rows qkv_tiles", NO_ROUND_TRIP, f"35.94 -> 37.01 {RATE}: 0.804 ms of 30 layers"),
            gain("tables", "cosines and sines placed once for all layers", None, "table_cos table_sin", ONCE, f"34.81 -> 35.38 {RATE}, below the scatter"),
            gain("scales", "the scales of queries, keys and values within attention's scale and the next norm", None, "scaled_q scaled_k scaled_v", FOLDED, f"35.38 -> 35.94 {RATE}, below the scatter"),
            gain("prepared", "keys and values into the cache as they come", None, "prepared_k prepared_v", r"direct|without|no (need|move)|reshard|to_memory_config|skip", f"37.01 -> 37.52 {RATE}, below the scatter"),
            dead("pruned", "columns of the feed-forward left out that are always zero", "gate_up norm_gated down", r"prun|zero (columns|channels|weights)|sparsity|narrower", f"34.81 -> 35.08 {RATE} in seven runs: within the scatter"),
        ),
        f"times of the ops that the steps took away (from the steps); {MADE_UP}",
    ),
    laid(
        "bitnet-dram", LEDGER, "a layer of decode, norms' outputs in DRAM: 48.2 tokens a second",
        layer(How(near=False, norm_us=(62, 62))),
        (
            gain("norms-l1", "the norms' outputs in L1, from which the matmuls read", 39.8, "norm norm_attended norm_feed norm_gated qkv out gate_up down", IN_L1, f"48.18 -> 51.12 {RATE}: 1.194 ms of 30 layers"),
            gain("attend-l1", "attention's output in L1", None, "attend joined norm_attended", IN_L1, f"51.12 -> 51.58 {RATE}, below the scatter"),
            dead("added-l1", "the residual's sums in L1", "attention_added feed_added", IN_L1, f"48.18 -> 47.58 {RATE}"),
        ),
        MADE_UP,
    ),
    laid(
        "bitnet-plain", LEDGER, "a layer of decode, norms on one core each: 55.8 tokens a second",
        layer(How()),
        (gain("norms", "the norms in shards on many cores", 69.0, NORMS, rf"{SHARDED}|{CORES}", "56 -> 33 us each with the moves, three a layer; 2.6 ms of a step's trace"),),
        f"that the norm before QKV, which is part of that op here, is an op; {MADE_UP}",
    ),
    laid(
        "bitnet-grids", LEDGER, "a layer of decode, norms in shards on eight cores: 62.7 tokens a second",
        layer(replace(SHARDS, norms=(8, 8), norm_us=(33, 36))),
        (gain("norm-cores", "16 cores for the norms of the hidden columns, 24 for the wide one", 6.7, "norm norm_attended norm_feed norm_gated", rf"{CORES}|block_w", f"62.66 -> 63.46 {RATE}: 0.20 ms of 30 layers (0.3 by the median step)"),),
        f"the eight cores; that the norm before QKV, which is part of that op here, is an op; {MADE_UP}",
    ),
    laid(
        "bitnet-joined", LEDGER, "a layer of decode, norms in shards on 16 and 24 cores: 70.5 tokens a second",
        layer(SHARDS),
        (gain("joined", "nlp_concat_heads_decode instead of a reshape", 9.0, "joined", JOIN, "38 -> 29 us with its move; 0.27 ms of 30 layers"),),
        f"that the norm before QKV, which is part of that op here, is an op; {MADE_UP}",
    ),
    laid(
        "bitnet-last", CEILING, "a layer of decode as at the end: 74.0 tokens a second, 0.17 of scatter",
        layer(replace(SHARDS, joined=True)),
        (
            dead("cache-bfp8", "BFLOAT8_B for the cache of keys and values", "attend cache_k cache_v", BFP8, f"74.35 -> 24.57 {RATE}"),
            dead("split", "one split instead of two slices", "half_gate half_up", r"ttnn\.split|one (op|split)|chunk", f"74.35 -> 74.08 {RATE}: within the scatter"),
            dead("rotary-lofi", "LoFi for the rotary ops", "rotary_q rotary_k", LOFI, f"74.04 -> 72.93 {RATE}, and other words"),
            dead("hifi4", "HiFi4 and sums in 32 bits for the engineers' own matmuls", "qkv out gate_up down", r"HiFi4|fp32_dest_acc_en", f"74.04 -> 71.69 {RATE}, the same accuracy"),
            dead("norm-fp32", "sums in 32 bits for the norms", "norm norm_attended norm_feed norm_gated", r"fp32_dest_acc_en|fp32|FLOAT32", f"0.35 {RATE} more: within the scatter; kept for accuracy"),
            dead("rotary-fused", "one rotary op of queries and keys", "rotary_q rotary_k heads", r"fused_qk|rotary.{0,60}(one op|fus)|(one op|fus).{0,60}rotary", "26.27 -> 31.05 us in a trace, and 64 us to place both on cores of their own", FUSED),
            dead("cache-fused", "one update of the cache", "cache_k cache_v", r"fused_update|cache.{0,60}(one op|fus)|(one op|fus).{0,60}cache", "some 10 us less, and 32 us to place both on cores of their own", FUSED),
            dead("heads", "another op for the heads", "heads", r"nlp_create_qkv_heads_boltz|create_qkv_heads(?!_decode)", "refused: it wants the shape of prefill", THIRD),
            dead("bf16", "BFLOAT16 weights and TTNN's matmul in one layer", "qkv out gate_up down", r"bfloat16|\bBF16\b", f"73.90 -> 72.18 {RATE}", THIRD),
        ),
        f"that the norm before QKV, which is part of that op here, is an op; {MADE_UP}",
    ),
    laid(
        "bitnet-head-bf16", LEDGER, "the head of decode within the trace: 41.4 tokens a second",
        head(Head(us=1810, dtype="BFLOAT16", rows=False, choice=4390)),
        (
            gain("bfp4", "BFLOAT4_B for the head's weights", 1060.0, "words", BFP4, f"1.81 -> 0.75 ms; 41.39 -> 43.17 {RATE}"),
            gain("rows", "logits as rows that are not tiled for the choice", 2130.0, "choice", r"ROW_MAJOR|row.major|untilize|to_layout", f"4.39 -> 2.26 ms with the change of layout; 43.17 -> 47.68 {RATE}"),
        ),
        f"that the choice of a word already sees all of them on one core; {MADE_UP}",
    ),
    laid(
        "bitnet-head-single", LEDGER, "the head of decode, the choice on one core: 50 tokens a second",
        head(Head()),
        (
            gain("choice", "the choice of a word on many cores", 1914.0, "choice", MANY_CORES, "1.99 -> 0.076 ms alone; 1.68 ms of a step"),
            dead("norm-l1", "the last norm's output in L1", "norm words", IN_L1, f"48.18 -> 47.41 {RATE}"),
            dead("logits-l1", "the head's output in L1", "words words_rows choice", IN_L1, "refused: 8.2 MB do not fit while the trace runs"),
        ),
        f"the layout's part of the time; {MADE_UP}",
    ),
    laid(
        "bitnet-head-whole", LEDGER, "the head of decode as one matmul: 63.5 tokens a second",
        head(Head(choice=76, many=True, norms=16)),
        (gain("parts", "the head as four matmuls", 1475.0, "words", SPLIT, "2197 -> 722 us; 1.5 ms of a step's trace"),),
        MADE_UP,
    ),
    laid(
        "bitnet-head-parts", LEDGER, "the head of decode as four matmuls: 68.6 tokens a second",
        head(Head(us=722, parts=4, choice=76, many=True, norms=16)),
        (gain("parts-l1", "the four outputs in L1", 40.0, "words_* choice", IN_L1, f"40 us of a step, says the ledger; its 68.57 -> 70.51 {RATE} would be ten times as much"),),
        MADE_UP,
    ),
)  # fmt: skip
