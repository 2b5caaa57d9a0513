"""Ornith 1.5 9B on one Blackhole chip (p300c), and on a ring of four: both kinds of a layer.

Hidden 4096, 16 heads of 256 with four of keys and values and a gate, or 32 recurrent states of 128 by 128;
feed-forward of 12288. Decode of one user after 2048 tokens, replayed from a trace, and prefill of 2048. The ledger
tells times of the large ops and of whole layers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, banked, chunks, norm_shards, one_d, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    BLOCKS,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    INTERLEAVED_1D,
    LOFI,
    PACKED,
    SDPA_CHUNKS,
    SDPA_GRID,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.profiles import Placement, Tensor

HOME = "https://github.com/housTT/tt-metal/blob"
FOLDER = "models/autoports/ornith_ai_ornith_1_5_9b/doc"
README = f"{HOME}/d085eb6d1abcc8b25f213fede6b68aa873d6cd6b/{FOLDER}/optimized_decoder/README.md"
LOG = f"{HOME}/483920f536f64462ba6c3dc785c59b8ff002cdc1/{FOLDER}/optimized_decoder/work_log.md"
MESH = f"{HOME}/65abe7f69dbf128012108ef99262bf337f7cdc70/{FOLDER}/multichip_decoder/work_log.md"
PAIRS = f"{HOME}/d4a512f69b72badb4579b0af0b0fe652ed86af7b/{FOLDER}/multichip_decoder/candidate_measurements.md"
HIDDEN, WIDE, HEADS, KV, SIZE = 4096, 12288, 16, 4, 256
STATES, STATE = 32, 128
GRID = (11, 10)
FOUR = ("BFLOAT4_B", "LoFi")
EIGHT = ("BFLOAT8_B", "HiFi2")
# Cores of a DRAM-sharded matmul's input and its in0_block_w.
BANKED = {"qkvg": (32, 2), "mixed": (32, 4), "z": (8, 8), "out": (8, 8), "gate": (64, 2), "up": (64, 2), "down": (48, 8)}  # fmt: skip
NARROW = {"qkvg": 55.0, "mixed": 46.0, "z": 23.0, "out": 23.0, "gate": 63.5, "up": 63.5, "down": 62.0}
LOCAL = {"qkvg": 36.0, "mixed": 30.0, "z": 16.0, "out": 14.0, "gate": 27.0, "up": 27.0, "down": 27.0}


@dataclass(frozen=True)
class How:
    """A layer at a step of its tuning; times in us."""

    us: Mapping[str, float] = field(default_factory=lambda: NARROW)
    attention: tuple[str, str] = FOUR
    feed: tuple[str, str] = FOUR
    qkvg: tuple[str, str] | None = None  # as `attention` if None
    banks: frozenset[str] = frozenset(BANKED)
    block: int = 2  # in0_block_w of those that are not
    cores: int = 110  # and their cores
    residual: int = 32  # cores of the residual's shards; 0: in DRAM, its norms on one core
    shared: bool = True  # one placement of the feed-forward's input
    glu: float = 8.0
    heads_shards: bool = True
    cache: str = "BFLOAT8_B"
    sdpa: float = 17.0
    chips: int = 1
    collective: float = 11.0
    state: tuple[float, float, float] = (14, 12, 14)  # read, update and second read of the state
    state_place: Placement = L1
    state_cores: int = 32
    mixer_out: str = "BFLOAT16"


def _projected(block: Block, how: How, role: str, x: Tensor, n: int) -> Tensor:
    """`n` of all chips, but of the last ones of a half, whose inputs are split."""
    columns = n if role in {"out", "down"} else n // how.chips
    dtype, fidelity = (how.qkvg or how.attention) if role == "qkvg" else how.feed if role in {"gate", "up", "down"} else how.attention  # fmt: skip
    us = how.us[role]
    act = "SILU" if role == "z" else None
    if role not in how.banks:
        per_n = ceil(columns / 32 / how.cores)
        grid = GRID if how.cores > 64 else (8, how.cores // 8)
        spread = one_d(grid, how.block, (1, per_n), act=act)
        place = L1 if how.residual else DRAM
        return block.linear(role, x, columns, us, dtype=dtype, fidelity=fidelity, config=spread, cores=ceil(columns / 32 / per_n), place=place)  # fmt: skip
    cores, k_block = BANKED[role]
    k_block = min(k_block, max(1, x.shape[-1] // 32 // cores))
    place = block.across(32, x.shape[-1], cores)
    if x.placement != place:
        x = _placed(block, f"{role}_placed", x, place)
    return block.linear(role, x, columns, us, dtype=dtype, fidelity=fidelity, config=banked(k_block, ceil(columns / 32 / cores), act), cores=8, place=block.across(32, columns, cores), banks=True)  # fmt: skip


def _placed(block: Block, role: str, x: Tensor, place: Placement) -> Tensor:
    if x.placement and x.placement.shard:
        return block.reshard(role, x, place, 3)
    return block.to_shards(role, x, place, 3)


def _flat(block: Block, role: str, x: Tensor) -> Tensor:
    return block.from_shards(role, x, 3, L1) if x.placement and x.placement.shard else x


def _normed(block: Block, how: How, role: str, x: Tensor, us: float) -> Tensor:
    if not how.residual:
        return block.norm(role, x, us, cores=1)
    width = HIDDEN // 32 // how.residual
    return block.norm(role, x, 8, cores=how.residual, config=norm_shards((8, how.residual // 8), width))


def _summed(block: Block, how: How, role: str, x: Tensor, more: Tensor) -> Tensor:
    if how.chips > 1:
        flat = _flat(block, f"{role}_flat", more)
        part = block.collective(f"{role}_scattered", "ReduceScatterMinimalAsync", flat, HIDDEN // 4, how.collective)
        more = block.collective(f"{role}_gathered", "AllGatherAsync", part, HIDDEN, how.collective)
    if how.residual and more.placement != x.placement and x.placement:
        more = _placed(block, f"{role}_placed", more, x.placement)
    return block.binary(role, "ADD", x, more, 6, cores=how.residual or 110)


def _fed(block: Block, how: How, x: Tensor) -> None:
    normed = _normed(block, how, "norm_feed", x, 38)
    flat = normed if how.shared else _flat(block, "feed_flat", normed)
    if how.shared and "gate" in how.banks:
        flat = _placed(block, "feed_placed", normed, block.across(32, HIDDEN, 64))
    gate, up = (_projected(block, how, role, flat, WIDE) for role in ("gate", "up"))
    wide = block.binary("glu", "MUL", gate, up, how.glu, cores=64 if how.residual else 110, lhs="SILU")
    _summed(block, how, "sum_feed", x, _projected(block, how, "down", wide, HIDDEN))


def _entry(block: Block, how: How) -> Tensor:
    x = block.tensor([1, 1, 32, HIDDEN])
    return block.to_shards("entry", x, block.across(32, HIDDEN, how.residual), 3) if how.residual else x


def full(how: How) -> Callable[[], Block]:
    """A layer with attention over all tokens: decode of one."""

    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=GRID, gap_us=0.4)
        heads, kv, part = HEADS // how.chips, KV // how.chips, 0.5 if how.chips > 1 else 1.0
        x = _entry(block, how)
        normed = _normed(block, how, "norm_in", x, 37)
        both = _flat(block, "qkvg_flat", _projected(block, how, "qkvg", normed, 10240))
        kept = (heads + 2 * kv) * SIZE
        qkv = block.slice("slice_qkv", both, (0, 0, 0, 0), (1, 1, 32, kept), 5 * part)
        gate = block.slice("slice_gate", both, (0, 0, 0, kept), (1, 1, 32, kept + heads * SIZE), 5 * part)
        q, k, v = block.heads_of_decode("heads", qkv, 15 * part, heads=heads, kv=kv, size=SIZE, users=1)
        if how.heads_shards:
            q, k = (block.norm(f"norm_{name}", one, 6, cores=8, config=norm_shards((8, 1), 1), place=block.across(32, SIZE, 8)) for name, one in (("q", q), ("k", k)))  # fmt: skip
        else:
            q, k = (block.norm(f"norm_{name}", one, 8, cores=1, place=DRAM) for name, one in (("q", q), ("k", k)))
        q, k = (
            block.rotary(f"rope_{name}", one, 8 * part, decode=True, cores=1) for name, one in (("q", q), ("k", k))
        )
        cache = block.tensor([64, kv, 64, SIZE], how.cache)
        block.update_cache("cache_k", cache, k, 6 * part)
        block.update_cache("cache_v", cache, v, 6 * part)
        attended = block.attend_decode("sdpa", q, cache, how.sdpa * part, config=chunks(32, 256, (8, 8)), cores=64, fidelity="HiFi2")  # fmt: skip
        placed = block.to_shards("attended_placed", attended, block.along(32, SIZE, 1), 3)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 5 * part, shape=[1, 1, 32, heads * SIZE], place=block.across(32, heads * SIZE, heads), cores=heads, num_heads=heads, on_subcoregrids=False)  # fmt: skip
        gated = block.binary("gated", "MUL", _flat(block, "joined_flat", joined), gate, 6, cores=110, rhs="SIGMOID")
        x = _summed(block, how, "sum_attention", x, _projected(block, how, "out", gated, HIDDEN))
        _fed(block, how, x)
        return block

    return build


def linear(how: How) -> Callable[[], Block]:
    """A layer with recurrent states: decode of one token."""

    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=GRID, gap_us=0.8)
        states, wide, part = STATES // how.chips, 4096 // how.chips, 0.5 if how.chips > 1 else 1.0
        x = _entry(block, how)
        normed = _normed(block, how, "norm_in", x, 37)
        both = _flat(block, "mixed_flat", _projected(block, how, "mixed", normed, 8256))
        z = _flat(block, "z_flat", _projected(block, how, "z", normed, 4096))
        mixed = block.slice("slice_mixed", both, (0, 0, 0, 0), (1, 1, 32, 2 * wide), 4 * part)
        rates = block.slice("slice_rates", both, (0, 0, 0, 2 * wide), (1, 1, 32, both.shape[-1]), 3)
        for tap in range(3):
            last, weight = block.tensor(mixed.shape), block.tensor([1, 1, 1, 2 * wide])
            mixed = block.op(f"conv_{tap}", "Ternary", (mixed, last, weight), block.tensor(mixed.shape, place=L1), 5 * part, cores=110, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL", memory_config=L1, output_dtype="DataType::BFLOAT16", scalar_input_a="1")  # fmt: skip
        shaped = block.moved(
            "heads_shaped", "ReshapeView", mixed, 12 * part, shape=[1, 32, 2 * states, STATE], cores=110
        )
        heads = block.permute("heads_turned", shaped, (0, 2, 1, 3), 8 * part)
        keys = block.typecast(
            "keys_wide", block.slice("slice_keys", heads, [0] * 4, (1, states, 32, STATE), 4), "FLOAT32", 4
        )
        values = block.typecast("values_wide", block.slice("slice_values", heads, (0, states, 0, 0), (1, 2 * states, 32, STATE), 4), "FLOAT32", 4)  # fmt: skip
        rate = block.view(block.unary("decay", "EXP", rates, 3, cores=2, parameter="1"), [1, states, 1, 1])
        place = how.state_place
        state = block.tensor([1, states, STATE, STATE], "FLOAT32", place)
        kernel = block.kernel("HiFi4", fp32=True)

        def product(role: str, a: Tensor, b: Tensor, us: float) -> Tensor:
            shape = [1, states, a.shape[-2], b.shape[-1]]
            return block.op(role, "Matmul", (a, b), block.tensor(shape, "FLOAT32", place), us, cores=how.state_cores, fidelity="HiFi4", bcast_batch=False, compute_kernel_config=kernel, output_dtype="DataType::FLOAT32", output_mem_config=place, program_config=None, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip

        decayed = block.binary("decayed", "MUL", state, rate, 12 * part, cores=110, place=place)
        read = product("read", keys, decayed, how.state[0])
        delta = block.binary("delta", "SUB", values, read, 5, cores=32, place=place)
        turned = block.permute("keys_turned", keys, (0, 1, 3, 2), 4, place)
        added = product("update", turned, delta, how.state[1])
        state = block.binary("state", "ADD", decayed, added, 12 * part, cores=110)
        answer = product("second_read", keys, state, how.state[2])
        inner = block.norm("norm_inner", answer, 8 * part, cores=32)
        merged = block.moved("merged", "ReshapeView", inner, 6 * part, shape=[1, 1, 32, wide], cores=110)
        gated = block.binary("gated", "MUL", merged, z, 7 * part, cores=110, out=how.mixer_out)
        x = _summed(block, how, "sum_mixer", x, _projected(block, how, "out", gated, HIDDEN))
        _fed(block, how, x)
        return block

    return build


@dataclass(frozen=True)
class Prefill:
    """2048 tokens of a layer with attention; `share` of the matmuls' times on 8 x 8 cores."""

    share: float = 1.0
    grid: tuple[int, int] = (8, 8)
    k_block: int = 8
    subblock: tuple[int, int] = (2, 2)
    feed_subblock: tuple[int, int] = (2, 2)
    packed: bool = False
    chips: int = 1


def _blocked(how: Prefill, role: str, columns: int) -> str:
    per_m, per_n = ceil(64 / how.grid[1]), ceil(columns / 32 / how.grid[0])
    subblock = how.feed_subblock if role in {"gate", "up", "both"} else how.subblock
    height = subblock[0] if per_m % subblock[0] == 0 else 1
    block_w = next(n for n in range(32, 0, -1) if per_n % n == 0)
    width = subblock[1] if block_w % subblock[1] == 0 else 1
    config = two_d(how.grid, how.k_block, (per_m, per_n), subblock=(height, width))
    return config.replace(f"out_block_w={per_n}", f"out_block_w={block_w}")


def prefill(how: Prefill) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=GRID, gap_us=3.0)
        rows, heads, kv = 2048, HEADS // how.chips, KV // how.chips

        def projected(role: str, x: Tensor, n: int, us: float) -> Tensor:
            columns = n if role in {"out", "down"} else n // how.chips
            cores = ceil(64 / ceil(64 / how.grid[1])) * ceil(columns / 32 / ceil(columns / 32 / how.grid[0]))
            return block.linear(role, x, columns, us * how.share, dtype="BFLOAT4_B", fidelity="LoFi", config=_blocked(how, role, columns), cores=cores)  # fmt: skip

        def summed(role: str, x: Tensor, more: Tensor) -> Tensor:
            if how.chips > 1:
                part = block.collective(f"{role}_scattered", "ReduceScatterMinimalAsync", more, HIDDEN // 4, 160)
                more = block.collective(f"{role}_gathered", "AllGatherAsync", part, HIDDEN, 150)
            return block.binary(role, "ADD", x, more, 95, cores=110)

        part = 1 / how.chips
        x = block.tensor([1, 1, rows, HIDDEN])
        normed = block.norm("norm_in", x, 90, cores=64)
        both = projected("qkvg", normed, 10240, 850 * part)
        kept = (heads + 2 * kv) * SIZE
        qkv = block.slice("slice_qkv", both, (0, 0, 0, 0), (1, 1, rows, kept), 70 * part)
        gate = block.slice("slice_gate", both, (0, 0, 0, kept), (1, 1, rows, kept + heads * SIZE), 50 * part)
        q, k, v = block.split_heads("heads", qkv, 110 * part, heads=heads, kv=kv, size=SIZE, rows=rows, cores=64)
        q = block.norm("norm_q", q, 80 * part, cores=110)
        k = block.norm("norm_k", k, 30 * part, cores=110)
        q = block.rotary("rope_q", q, 90 * part, decode=False, cores=110)
        k = block.rotary("rope_k", k, 30 * part, decode=False, cores=110)
        attended = block.attend("sdpa", q, k, v, 560 * part, config=chunks(256, 256, (8, 8)), cores=64)
        joined = block.join_heads("joined", attended, 60 * part, cores=64)
        gated = block.binary("gated", "MUL", joined, gate, 95 * part, cores=110, rhs="SIGMOID")
        x = summed("sum_attention", x, projected("out", gated, HIDDEN, 340 * part))
        normed = block.norm("norm_feed", x, 90, cores=64)
        if how.packed:
            wide = projected("both", normed, 2 * WIDE, 2060 * part)
            ends = (((0, 0, 0, 0), (1, 1, rows, WIDE)), ((0, 0, 0, WIDE), (1, 1, rows, 2 * WIDE)))
            first, second = (block.slice(f"half_{n}", wide, *end, 240) for n, end in enumerate(ends))
        else:
            first, second = (projected(role, normed, WIDE, 1020 * part) for role in ("gate", "up"))
        glu = block.binary("glu", "MUL", first, second, 280 * part, cores=110, lhs="SILU")
        summed("sum_feed", x, projected("down", glu, HIDDEN, 1010 * part))
        return block

    return build


NONE: frozenset[str] = frozenset()
FIRST = How(
    us={"qkvg": 186, "out": 84, "gate": 251, "up": 254, "down": 237}, attention=("BFLOAT16", "HiFi4"), feed=("BFLOAT16", "HiFi4"),
    banks=NONE, residual=0, glu=12, heads_shards=False, cache="BFLOAT16", sdpa=18,
)  # fmt: skip
LOWER = replace(
    FIRST, us={"qkvg": 103, "out": 75, "gate": 137, "up": 137, "down": 217}, attention=EIGHT, feed=EIGHT
)
LOWEST = replace(LOWER, us={"qkvg": 103, "out": 75, "gate": 102, "up": 102, "down": 217}, attention=FOUR, feed=FOUR)
SPREAD = How(us={**NARROW, "down": 65.2}, residual=64, shared=False, heads_shards=False, cache="BFLOAT16", sdpa=22)
BEFORE = replace(SPREAD, us={**NARROW, "out": 35.0}, residual=32, shared=True, state=(47, 20, 61), state_place=DRAM, state_cores=4, mixer_out="FLOAT32")  # fmt: skip
BANKS_4 = How(us=LOCAL, chips=4)
SPREAD_4 = replace(
    BANKS_4, us={**LOCAL, "qkvg": 65.7, "gate": 24.0, "up": 24.0, "down": 25.0}, banks=NONE, cores=32
)
WIDER_4 = replace(SPREAD_4, us={**SPREAD_4.us, "qkvg": 49.6}, qkvg=("BFLOAT8_B", "LoFi"), block=16)
LAST_4 = replace(WIDER_4, us={**SPREAD_4.us, "qkvg": 34.0}, banks=frozenset({"qkvg"}), block=8)
FEED, ATTENTION = "gate up down", "qkvg out"
WHOLE = "of the whole layer"
MADE_UP = "all times that the ledger does not name; the readers of a bank, which no report prints; gaps"
GROUP = "all times but those of the wide matmuls, norms and attention; gaps"
SPLIT = r"split|separate|unpack|two (matmuls|projections|weights)"
NARROW_SUMS = r"bfloat8_b|\bBFP8\b"

ORNITH_9B = (
    laid(
        "ornith9-full-first", LOG, "attention, BFLOAT16 and HiFi4: 1.263 ms",
        full(FIRST),
        (gain("formats", "BFLOAT8_B weights at HiFi2", 343, f"{ATTENTION} {FEED}", rf"{BFP8}|{HIFI2}", f"1.263 -> 0.921 ms {WHOLE}"),),
        f"{GROUP}; the time of the attention's matmuls",
    ),
    laid(
        "ornith9-full-bfp8", LOG, "attention, BFLOAT8_B weights: 0.921 ms",
        full(LOWER),
        (gain("formats", "BFLOAT4_B weights for gate and up, LoFi in the feed-forward", 81, FEED, rf"{BFP4}|{LOFI}", f"0.921 -> 0.839 ms {WHOLE}"),),
        f"{GROUP}; how the feed-forward's time splits",
    ),
    laid(
        "ornith9-full-interleaved", LOG, "attention, BFLOAT4_B weights interleaved in DRAM: 0.839 ms",
        full(LOWEST),
        (
            gain("gate", "a DRAM-sharded gate", 28.4, "gate", DRAM_SHARDED, "102 -> 73.6 us with its conversions"),
            gain("up", "a DRAM-sharded up projection", 28.4, "up", DRAM_SHARDED, "102 -> 73.6 us with its conversions"),
            gain("down", "a DRAM-sharded down projection", 145.5, "down", DRAM_SHARDED, "217 -> 71.5 us with its conversions"),
            gain("attention", "DRAM-sharded projections of attention", None, ATTENTION, DRAM_SHARDED, "taken with all the others: 0.839 -> 0.456 ms of the whole layer"),
            gain("norms", "the residual and its norms in shards", None, "norm_in norm_feed", SHARDED, "taken with all the others: 0.839 -> 0.456 ms of the whole layer"),
        ),
        GROUP,
    ),
    laid(
        "ornith9-full-banked", LOG, "attention, DRAM-sharded matmuls: 0.456 ms",
        full(SPREAD),
        (
            gain("shared", "one placement of the feed-forward's input, the residual on 32 cores", 3.3, "norm_in norm_feed sum_attention sum_feed gate_placed up_placed feed_flat", r"reshard|residual|32 cores|shar(d|e)|layout", f"0.4564 -> 0.4531 ms {WHOLE}"),
            gain("cache", "a BFLOAT8_B cache", 5.4, "cache_* sdpa", BFP8, f"0.4531 -> 0.4477 ms {WHOLE}"),
            gain("head-norms", "norms of queries and keys in eight shards", 4, "norm_q norm_k", SHARDED, "about 4 us"),
            gain("down", "48 cores with blocks of eight for the down projection, which had 64 with six", 3.2, "down*", rf"{BLOCK_W}|{CORES}|{CONFIG}", "74.7 -> 71.5 us with its conversions"),
            dead("attention-hifi2", "HiFi2 for attention's projections", ATTENTION, HIFI2, f"0.4564 -> 0.4738 ms {WHOLE}"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", FEED, HIFI2, f"0.4564 -> 0.5228 ms {WHOLE}"),
            dead("attention-bfp8", "BFLOAT8_B weights for attention's projections", ATTENTION, BFP8, f"0.4564 -> 0.5256 ms {WHOLE}"),
            dead("feed-bfp8", "BFLOAT8_B weights for the feed-forward", FEED, BFP8, f"0.4564 -> 0.6141 ms {WHOLE}"),
            dead("silu", "SiLU in the gate's matmul", "gate glu", ACTIVATION_IN_MATMUL, f"0.4564 -> 0.4652 ms {WHOLE}"),
            dead("inputs", "BFLOAT8_B inputs of the projections", "norm_in norm_feed gated glu", BFP8, f"0.4564 -> 0.4689 and 0.4632 ms {WHOLE}"),
            dead("rotary", "tiled positions of the rotary tables", "rope_*", r"(tile|TILE).{0,40}(index|position)|(index|position).{0,40}(tile|TILE)", f"0.4564 -> 0.4605 ms {WHOLE}"),
        ),
        MADE_UP,
    ),
    laid(
        "ornith9-full-tuned", README, "attention, tuned: 0.428 ms",
        full(How()),
        (
            dead("packed", "one matmul for gate and up", "gate up glu", PACKED, f"0.4278 -> 0.4342 ms {WHOLE}"),
            dead("separate", "matmuls of their own for queries, keys, values and the gate", "qkvg slice_*", SPLIT, f"0.4278 -> 0.4582 ms {WHOLE}"),
            dead("cache", "a BFLOAT4_B cache", "cache_* sdpa", BFP4, f"0.4278 -> 0.4241 ms {WHOLE} and wrong for two of 32 users"),
            dead("values", "values alone in BFLOAT4_B", "cache_v sdpa", rf"value.{{0,40}}(?:{BFP4})", f"0.4278 -> 0.4329 ms {WHOLE}"),
        ),
        MADE_UP,
    ),
    laid(
        "ornith9-linear-state", LOG, "recurrent, the state's matmuls as TTNN chose, in DRAM: 0.6255 ms",
        linear(BEFORE),
        (
            gain("state", "the state and what is made of it in L1, its matmuls on 32 cores", 80, "read update second_read decayed state delta keys_turned", rf"{IN_L1}|{CORES}|{CONFIG}", f"0.6255 -> 0.5456 ms {WHOLE}"),
            dead("separate", "two matmuls for keys and values and for the rates", "mixed slice_*", SPLIT, f"0.628 -> 0.631 ms {WHOLE}"),
        ),
        f"{MADE_UP}; how the three matmuls of the state split",
    ),
    laid(
        "ornith9-linear-wide", LOG, "recurrent, FLOAT32 before the output projection: 0.537 ms",
        linear(How(us={**NARROW, "out": 35.0}, mixer_out="FLOAT32")),
        (gain("out", "BFLOAT16 before the output projection", 13, "gated out out_placed sum_mixer*", r"bfloat16|BFLOAT16", f"0.5368 -> 0.5239 ms {WHOLE}"),),
        MADE_UP,
    ),
    laid(
        "ornith9-linear-tuned", README, "recurrent, tuned: 0.524 ms",
        linear(How()),
        (
            dead("packed", "the gate in the first projection too", "mixed z", PACKED, f"0.5240 -> 0.5355 ms {WHOLE}"),
            dead("feed-packed", "one matmul for gate and up", "gate up glu", PACKED, f"0.5240 -> 0.5315 ms {WHOLE}"),
            dead("outer", "a multiplication by broadcast for the state's update", "update keys_turned state", r"broadcast|bcast", f"0.524 -> 0.576 ms {WHOLE}"),
            dead("approximate", "an approximate SiLU in the gate", "z", r"approx", f"0.5242 -> 0.5243 ms {WHOLE}"),
        ),
        MADE_UP,
    ),
    laid(
        "ornith9-prefill-packed", LOG, "prefill of 2048 tokens, one matmul for gate and up: 6.91 ms",
        prefill(Prefill(packed=True)),
        (gain("separate", "two matmuls for gate and up", 513, "both half_*", SPLIT, f"6.910 -> 6.397 ms {WHOLE}"),),
        "all times, by the products they make; gaps",
    ),
    laid(
        "ornith9-prefill-8x8", LOG, "prefill of 2048 tokens, 8 x 8 cores and in0_block_w 8: 6.40 ms",
        prefill(Prefill()),
        (
            gain("cores", "11 x 10 cores", 366, f"{ATTENTION} {FEED}", CORES, f"6.396 -> 6.030 ms {WHOLE}"),
            dead("inputs", "inputs of the matmuls in L1", f"{ATTENTION} {FEED}", IN_L1, f"6.979 -> 7.137 ms {WHOLE}"),
            dead("blocks", "blocks of 4 by 48 or 2 by 48 tiles", "gate up", r"out_block|per_core", f"6.404 -> 6.427 and 7.019 ms {WHOLE}"),
        ),
        "all times, by the products they make; gaps",
    ),
    laid(
        "ornith9-prefill-k8", LOG, "prefill of 2048 tokens, 11 x 10 cores and in0_block_w 8: 6.11 ms",
        prefill(Prefill(share=0.93, grid=GRID, feed_subblock=(1, 1), subblock=(1, 2))),
        (gain("block", "in0_block_w 16", 222, f"{ATTENTION} {FEED}", BLOCKS, f"6.113 -> 5.891 ms {WHOLE}"),),
        "all times, by the products they make; subblocks of attention's projections; gaps",
    ),
    laid(
        "ornith9-prefill-k16", LOG, "prefill of 2048 tokens, 11 x 10 cores and in0_block_w 16: 5.89 ms",
        prefill(Prefill(share=0.88, grid=GRID, k_block=16, feed_subblock=(1, 1), subblock=(1, 2))),
        (
            gain("subblock", "subblocks of 1 by 7, and of 1 by 6 for attention's projections", 447, f"{ATTENTION} {FEED}", r"subblock", f"5.891 -> 5.444 ms {WHOLE}", README),
            dead("block", "in0_block_w 32, for which the blocks of results must be one tile high", f"{ATTENTION} {FEED}", BLOCK_W, f"5.891 -> 9.508 ms {WHOLE}"),
            dead("narrow", "blocks of results of eight tiles", f"{ATTENTION} {FEED}", r"out_block", f"5.891 -> 6.086 ms {WHOLE}"),
        ),
        "all times, by the products they make; subblocks of attention's projections; gaps",
    ),
    laid(
        "ornith9-mesh-linear", PAIRS, "four chips, recurrent, DRAM-sharded matmuls: 0.3925 ms",
        linear(BANKS_4),
        (
            gain("interleaved", "interleaved weights on 32 cores", 11.5, "mixed mixed_* z z_* out out_* gate up down down_* feed_placed", INTERLEAVED_1D, f"0.3925 -> 0.3810 ms {WHOLE}"),
            dead("residual", "the residual on 16 or 64 cores", "norm_* sum_*", r"\b(16|64) cores|fewer cores|more cores", f"0.3925 -> 0.3930 and 0.3952 ms {WHOLE}"),
            dead("wide", "interleaved weights on 110 cores", "mixed z out gate up down", r"\b110 cores|all (the )?cores|11, ?10", f"0.3925 -> 0.3970 ms {WHOLE}"),
        ),
        "all times but the sums of matmuls, of collectives and of what moves; gaps",
    ),
    laid(
        "ornith9-mesh-full", PAIRS, "four chips, attention, DRAM-sharded matmuls: 0.3203 ms",
        full(BANKS_4),
        (
            gain("interleaved", "interleaved weights on 32 cores", 1.9, "qkvg qkvg_* out out_* gate up down down_* feed_placed", INTERLEAVED_1D, f"0.3203 -> 0.3184 ms {WHOLE}"),
            dead("residual", "the residual on 16 or 64 cores", "norm_in norm_feed sum_*", r"\b(16|64) cores|fewer cores|more cores", f"0.3203 -> 0.3260 and 0.3279 ms {WHOLE}"),
            dead("sdpa-cores", "110 or 32 cores for attention", "sdpa", SDPA_GRID, f"0.3203 -> 0.3203 and 0.3201 ms {WHOLE}"),
            dead("chunks", "chunks of 128 or 512 keys", "sdpa", SDPA_CHUNKS, f"0.3203 -> 0.3252 and 0.3244 ms {WHOLE}"),
            dead("wide", "interleaved weights on 110 cores", "qkvg out gate up down", r"\b110 cores|all (the )?cores|11, ?10", f"0.3203 -> 0.3612 ms {WHOLE}"),
        ),
        "all times but the sums of matmuls, of collectives and of what moves; gaps",
    ),
    laid(
        "ornith9-mesh-block", MESH, "four chips, attention, interleaved weights, in0_block_w 2 for the first projection: 0.3093 ms",
        full(SPREAD_4),
        (gain("block", "in0_block_w 16 for the first projection, right with BFLOAT8_B weights only", 16.1, "qkvg", rf"{BLOCK_W}|{BFP8}|{CONFIG}", f"0.3093 -> 0.2932 ms {WHOLE}"),),
        f"{MADE_UP}; in0_block_w of the others",
    ),
    laid(
        "ornith9-mesh-spread", MESH, "four chips, attention, BFLOAT8_B first projection on 32 cores: 0.2932 ms",
        full(WIDER_4),
        (
            gain("banks", "a DRAM-sharded first projection", 9.6, "qkvg", DRAM_SHARDED, f"0.2932 -> 0.2836 ms {WHOLE}"),
            dead("bfp4", "BFLOAT4_B weights of the first projection", "qkvg", BFP4, "refused at such blocks: wrong for a user of 32"),
        ),
        f"{MADE_UP}; in0_block_w of the others",
    ),
    laid(
        "ornith9-mesh-tuned", PAIRS, "four chips, attention, tuned: 0.2836 ms",
        full(LAST_4),
        (
            dead("packed", "one matmul for gate and up", "gate up glu", PACKED, f"0.2836 -> 0.2995 ms {WHOLE}"),
            dead("persistent", "buffers that the collectives keep", "sum_*_scattered sum_*_gathered", r"persistent", f"0.2836 -> 0.2976 ms {WHOLE}"),
            dead("narrow", "collectives in BFLOAT8_B", "sum_*_scattered sum_*_gathered", NARROW_SUMS, f"0.2836 -> 0.2962 ms {WHOLE}"),
            dead("residual", "the residual split over the chips", "sum_* norm_in norm_feed", r"distributed.{0,20}norm|residual.{0,60}(split|shard)|(split|shard).{0,30}residual|sequence.parallel", f"0.2836 -> 0.3929 ms {WHOLE}"),
            dead("gather-matmul", "an all-gather in the output and down projections", "out down sum_*_gathered", r"all_gather.{0,40}matmul|gather.{0,60}(fus|matmul)", f"0.2836 -> 0.4885 ms {WHOLE}"),
            dead("matmul-scatter", "a reduce-scatter in the output and down projections", "out down sum_*_scattered", r"matmul.{0,40}reduce_scatter|reduce.scatter.{0,60}(fus|matmul)|fus.{0,60}reduce.scatter", f"0.2836 -> 0.4398 ms {WHOLE}"),
            dead("qkvg-cores", "64 or 110 cores and interleaved weights for the first projection", "qkvg", r"\b(64|110) cores|more cores|all (the )?cores", f"0.2836 -> 0.2897 and 0.2880 ms {WHOLE}", MESH),
            dead("attention-hifi2", "HiFi2 for attention's projections", ATTENTION, HIFI2, f"0.2836 -> 0.2931 ms {WHOLE}"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", FEED, HIFI2, f"0.2836 -> 0.2831 ms {WHOLE}: within the noise"),
            dead("feed-bfp8", "BFLOAT8_B weights for the feed-forward", FEED, BFP8, f"0.2836 -> 0.3373 ms {WHOLE}"),
        ),
        f"{MADE_UP}; in0_block_w of the feed-forward",
    ),
    laid(
        "ornith9-mesh-prefill-8x8", MESH, "four chips, prefill of 2048 tokens, 8 x 8 cores and in0_block_w 8: 2.93 ms",
        prefill(Prefill(chips=4)),
        (gain("cores", "11 x 10 cores", 131, f"{ATTENTION} {FEED}", CORES, f"2.932 -> 2.801 ms {WHOLE}"),),
        "all times, by the products they make; gaps",
    ),
    laid(
        "ornith9-mesh-prefill-k8", MESH, "four chips, prefill of 2048 tokens, 11 x 10 cores and in0_block_w 8: 2.80 ms",
        prefill(Prefill(share=0.88, grid=GRID, subblock=(1, 3), feed_subblock=(1, 3), chips=4)),
        (gain("block", "in0_block_w 16", 123, f"{ATTENTION} {FEED}", BLOCKS, f"2.801 -> 2.678 ms {WHOLE}"),),
        "all times, by the products they make; subblocks; gaps",
    ),
)  # fmt: skip
