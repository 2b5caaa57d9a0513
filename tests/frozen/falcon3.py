"""Falcon3 7B and 10B on one Blackhole chip (p300c): one layer, decode and prefill of 32 users.

The two have equal layers (hidden 3072, 12 heads of 256 with four of keys and values, feed-forward 23040) and a ledger
each, which tells whole layers replayed from a trace, the time in kernels of the last one and that of its five matmuls.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, banked, chunks, norm_shards, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BLOCK_W, CORES, DRAM_SHARDED, HIFI2, LOFI, PACKED, SHARDED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER_7B = "models/autoports/tiiuae_falcon3_7b_base/doc/optimized_decoder"
FOLDER_10B = "models/autoports/tiiuae_falcon3_10b_base/doc/optimized_decoder"
LOG_7B = f"{TT_METAL}/36f41b593c46c255cd0f10e096c0d89e87d30cde/{FOLDER_7B}/work_log.md"
LOG_10B = f"{TT_METAL}/50aeb2605ce28fd427d9d8584701a201e56e2d42/{FOLDER_10B}/work_log.md"
README_10B = f"{TT_METAL}/50aeb2605ce28fd427d9d8584701a201e56e2d42/{FOLDER_10B}/README.md"
GRID, CORES_OF_ALL, USERS = (11, 10), 110, 32
HIDDEN, QKV, WIDE, HEADS, KV, SIZE = 3072, 5120, 23_040, 12, 4, 256
NARROW = ("BFLOAT4_B", "LoFi")


@dataclass(frozen=True)
class How:
    """A layer of decode; times in us."""

    us: dict[str, float]
    attention: tuple[str, str] = NARROW
    feed: tuple[str, str] = NARROW
    banks: int = 24  # shards of the feed-forward's input, weights DRAM-sharded; 0: 1D and interleaved
    aligned: bool = True
    mask: tuple[float, int] | None = None  # what making it takes, and the keys that attention then reads
    residual: int = 32
    rest: dict[str, float] = field(default_factory=dict[str, float])


REST = {"entry": 4, "norm": 12, "back": 4, "heads": 24, "table": 11, "rotary": 17, "cache": 14, "attend": 46, "joined": 7, "add": 4, "gated": 14, "moved": 4, "exit": 5, "shape": 19}  # fmt: skip


def decode(how: How) -> Callable[[], Block]:
    """37 ops without a mask."""

    def build() -> Block:
        block, us, rest = Block("blackhole", grid=GRID, gap_us=0.8), how.us, {**REST, **how.rest}
        residual = block.across(32, HIDDEN, how.residual)
        norm = norm_shards((8, how.residual // 8), HIDDEN // 32 // how.residual)

        def linear(role: str, x: Tensor, n: int, formats: tuple[str, str], shards: int) -> Tensor:
            per_n, k = n // 32, x.shape[-1] // 32
            if how.banks:
                config = banked(k // shards, per_n // shards)
                return block.linear(role, x, n, us[role], dtype=formats[0], fidelity=formats[1], config=config, cores=80, place=block.across(32, n, shards), banks=True)  # fmt: skip
            rows = {"qkv": 8, "gate": 10, "up": 10}.get(role, 9)
            each = -(-per_n // (11 * rows))
            config = one_d((11, rows), 8 if role in {"out", "down"} else 2, (1, each), subblock=(1, each))
            return block.linear(role, x, n, us[role], dtype=formats[0], fidelity=formats[1], config=config, cores=-(-per_n // each), place=block.across(32, n, -(-per_n // each)))  # fmt: skip

        x = block.moved("entry_shape", "ReshapeView", block.tensor([1, USERS, 1, HIDDEN]), rest["shape"], shape=[1, 1, USERS, HIDDEN])  # fmt: skip
        x = block.to_shards("entry", x, residual, rest["entry"])
        qkv = linear(
            "qkv", block.norm("norm", x, rest["norm"], cores=how.residual, config=norm), QKV, how.attention, 32
        )
        qkv = block.from_shards("qkv_back", qkv, rest["back"], L1)
        q, k, v = block.heads_of_decode("heads", qkv, rest["heads"], heads=HEADS, kv=KV, size=SIZE, users=USERS)
        turned = rotated(block, rest, (("q", q), ("k", k)))
        placed = block.to_shards("k_placed", turned[1], block.along(32, SIZE, USERS), rest["back"])
        cache = block.tensor([USERS, KV, 6528, SIZE], "BFLOAT8_B")
        block.update_cache("cache_k", cache, placed, rest["cache"])
        block.update_cache("cache_v", cache, v, rest["cache"])
        q = block.moved("q_cut", "Slice", turned[0], rest["back"], place=DRAM, shape=q.shape)
        config = chunks(0, 0, GRID)
        attended = masked(block, how, q, cache) if how.mask else block.attend_decode("attend", q, cache, rest["attend"], config=config, cores=CORES_OF_ALL)  # fmt: skip
        placed = block.to_shards("attended_placed", attended, block.along(32, SIZE, USERS), rest["back"])
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, rest["joined"], shape=[1, 1, 32, HIDDEN], place=block.across(32, HIDDEN, 12), cores=12, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        joined = block.reshard("joined_moved", joined, block.across(32, HIDDEN, 32), rest["moved"])
        out = block.reshard("out_moved", linear("out", joined, HIDDEN, how.attention, 32), residual, rest["moved"])
        x = block.binary("attention_added", "ADD", x, out, rest["add"], cores=how.residual)
        fed = block.norm("norm_feed", x, rest["norm"], cores=how.residual, config=norm)
        shards = how.banks or 48
        fed = block.reshard("feed_moved", fed, block.across(32, HIDDEN, shards), rest["moved"])
        gate, up = (linear(role, fed, WIDE, how.feed, shards) for role in ("gate", "up"))
        hidden = block.binary("gated", "MUL", gate, up, rest["gated"], cores=CORES_OF_ALL, lhs="SILU")
        if not how.aligned:
            hidden = block.reshard("gated_moved", hidden, block.across(32, WIDE, shards), rest["moved"] + 1.5)
        down = block.reshard(
            "down_moved", linear("down", hidden, HIDDEN, how.feed, shards), residual, rest["moved"]
        )
        x = block.binary("feed_added", "ADD", x, down, rest["add"], cores=how.residual)
        x = block.from_shards("exit", x, rest["exit"])
        block.moved("exit_shape", "ReshapeView", x, rest["shape"], shape=[1, USERS, 1, HIDDEN])
        return block

    return build


def rotated(block: Block, rest: dict[str, float], parts: tuple[tuple[str, Tensor], ...]) -> list[Tensor]:
    """The tables leave their tiles as a whole, for one row of each."""
    tables: list[Tensor] = []
    for name in ("cos", "sin"):
        rows = block.moved(f"{name}_rows", "Untilize", block.tensor([1, 1, 6528, SIZE]), rest["table"], layout="ROW_MAJOR", use_multicore=True)  # fmt: skip
        row = block.slice(f"{name}_row", rows, (0, 0, 17, 0), (1, 1, 18, SIZE), rest["back"])
        tables.append(block.moved(f"{name}_tiled", "TilizeWithValPadding", row, rest["back"], layout="TILE", use_multicore=True))  # fmt: skip
    turned: list[Tensor] = []
    for name, one in parts:
        flat = block.from_shards(f"{name}_flat", one, rest["back"], L1)
        turned.append(block.rotary(f"rotary_{name}", flat, rest["rotary"], decode=False, cores=32, tables=tables))
    return turned


def masked(block: Block, how: How, q: Tensor, cache: Tensor) -> Tensor:
    """Attention with a mask that each step makes anew, of users and keys."""
    assert how.mask
    took, keys = how.mask
    shape = [1, 1, 32, keys]
    part = block.slice("mask_positions", block.tensor(shape), (0, 0, 0, 0), (1, 1, 32, keys), took * 0.1)
    part = block.binary("mask_compared", "LE", part, block.tensor(shape), took * 0.2)
    part = block.op("mask_chosen", "Ternary", (part, part), block.tensor(shape), took * 0.25, cores=CORES_OF_ALL, ternary_op_type="TernaryOpType::WHERE", memory_config=DRAM)  # fmt: skip
    part = block.moved("mask_repeated", "Repeat", part, took * 0.45, shape=[1, USERS, 32, keys], repetition_vector="Shape([1, 32, 1, 1])")  # fmt: skip
    return block.op("attend", "SdpaDecode", (q, cache, cache, part), block.tensor(q.shape), how.rest["attend"], cores=CORES_OF_ALL, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_causal=False, k_chunk_size=0, output_mem_config=DRAM, paged_attention=False, program_config=chunks(0, 0, GRID), scale="0.0625", share_cache=False, sliding_window_size=None, use_mla=False)  # fmt: skip


LAST_US = {"qkv": 38, "out": 27, "gate": 132, "up": 133, "down": 122.5}
ONE_US: dict[str, float] = {"qkv": 40, "out": 29, "gate": 135, "up": 136, "down": 123}
LAST = How(LAST_US)
LAST_48 = How({**LAST_US, "gate": 134, "up": 135, "down": 124}, banks=48)
ONE = How(ONE_US, banks=0)
LAST_10B, LAST_48_10B, ONE_10B = (replace(how, rest={"attend": 56, "shape": 23}) for how in (LAST, LAST_48, ONE))


def wider(how: How, feed: float = 0, attention: float = 0) -> How:
    """Its matmuls take so much longer in all."""
    whole = {"gate": 0.35, "up": 0.35, "down": 0.3}
    us = {role: took + feed * whole.get(role, 0) for role, took in how.us.items()}
    us |= {"qkv": us["qkv"] + attention * 0.6, "out": us["out"] + attention * 0.4}
    return replace(how, us=us)


def prefill(grid: tuple[int, int], block_w: int, us: dict[str, float]) -> Callable[[], Block]:
    """17 tokens of each of 32 users, padded to 1024 rows; each user's keys and values are filled apart."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=5.0)
        rows, used = 1024, grid[0] * grid[1]

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            per_n = -(-n // 32 // grid[0])
            wide = next(one for one in (4, 3, 2, 1) if per_n % one == 0)
            config = two_d(grid, block_w, (-(-rows // 32 // grid[1]), per_n), subblock=(1, wide))
            return block.linear(role, x, n, us[role], dtype="BFLOAT4_B", fidelity="LoFi", config=config, cores=used)  # fmt: skip

        x = block.tensor([1, 1, rows, HIDDEN])
        qkv = block.view(linear("qkv", block.norm("norm", x, 40, cores=32), QKV), [USERS, 1, 32, QKV])
        q, k, v = block.split_heads("heads", qkv, 90, heads=HEADS, kv=KV, size=SIZE, rows=32, batch=USERS, cores=32)  # fmt: skip
        q, k = (block.rotary(f"rotary_{name}", one, took, decode=False, cores=CORES_OF_ALL) for name, one, took in (("q", q, 75), ("k", k, 30)))  # fmt: skip
        for name, one in (("k", k), ("v", v)):
            cache = block.tensor([USERS, KV, 128, SIZE], "BFLOAT8_B")
            narrow = block.typecast(f"{name}_narrow", one, "BFLOAT8_B", 25)
            for user in range(USERS):
                part = block.slice(f"{name}_{user}_cut", narrow, (user, 0, 0, 0), (user + 1, KV, 32, SIZE), 8)
                block.op(
                    f"{name}_{user}_fill", "UpdateKVCache", (cache, part), cache, 10.5, cores=4, batch_idx=user
                )
        out = block.attend("attend", q, k, v, 110, config=chunks(32, 32, GRID), cores=CORES_OF_ALL)
        out = block.view(block.join_heads("joined", out, 45, cores=32), x.shape)
        x = block.binary("attention_added", "ADD", x, linear("out", out, HIDDEN), 20, cores=CORES_OF_ALL)
        fed = block.norm("norm_feed", x, 40, cores=32)
        gate, up = (linear(role, fed, WIDE) for role in ("gate", "up"))
        hidden = block.binary("gated", "MUL", gate, up, 290, cores=CORES_OF_ALL, lhs="SILU")
        block.binary("feed_added", "ADD", x, linear("down", hidden, HIDDEN), 20, cores=CORES_OF_ALL)
        return block

    return build


PREFILL_US: dict[str, float] = {"qkv": 50, "out": 32, "gate": 205, "up": 205, "down": 210}


def slower(more: float) -> dict[str, float]:
    whole = sum(PREFILL_US.values())
    return {role: us * (1 + more / whole) for role, us in PREFILL_US.items()}


FEED, ATTENTION = "gate up down", "qkv out"
MASK = r"\bmask|is_causal|cur_pos"
KEPT = r"(keep|stay|straight|direct|same).{0,40}shard|reshard|align"
MADE_UP = (
    "times but those of the five matmuls, which are the last layer's and what the measured difference adds; gaps"
)

FALCON3_7B = (
    laid(
        "falcon3-7b-mask", LOG_7B, "decode, a mask made and read, feed-forward in BFLOAT4_B: 1.004 ms",
        decode(wider(replace(ONE, mask=(160, 128), rest={"attend": 107}), attention=8.6)),
        (gain("mask", "no mask: attention by positions", 221.2, "mask_* attend", MASK, "1003.8 -> 782.6 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-7b-feed8", LOG_7B, "decode, feed-forward in BFLOAT8_B: 969 us",
        decode(wider(replace(ONE, feed=("BFLOAT8_B", "LoFi")), feed=195.3)),
        (gain("four", "the feed-forward's weights in BFLOAT4_B", 195.3, FEED, BFP4, "969.5 -> 774.2 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-7b-attention8", LOG_7B, "decode, attention in BFLOAT8_B at HiFi2: 783 us",
        decode(wider(replace(ONE, attention=("BFLOAT8_B", "HiFi2")), attention=8.5)),
        (
            gain("four", "attention's weights in BFLOAT4_B at LoFi", 8.5, ATTENTION, rf"{BFP4}|{LOFI}", "782.7 -> 774.2 us of the layer"),
            dead("lofi", "LoFi alone", ATTENTION, rf"{LOFI}(?!.{{0,80}}bfloat4_b)", "782.7 -> 782.9 us of the layer"),
            dead("residual", "the residual on 96 cores, norms on eleven", "norm norm_feed attention_added feed_added", r"\b(96|11) cores|block.shard", "782.6 -> 787.0 us of the layer"),
            dead("blocks", "wider blocks for the feed-forward", FEED, unbanked(BLOCK_W), "782.6 -> 807.9 and 801.1 us of the layer"),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, "782.6 -> 824.9 us of the layer"),
        ),
        MADE_UP,
    ),
    laid(
        "falcon3-7b-one-d", LOG_7B, "decode, all in BFLOAT4_B, 1D and interleaved: 774 us",
        decode(ONE),
        (dead("banked", "weights DRAM-sharded", f"{ATTENTION} {FEED}", DRAM_SHARDED, "773.7 -> 773.4 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-7b-banked8", LOG_7B, "decode, all in BFLOAT8_B, DRAM-sharded: 1.135 ms",
        decode(wider(replace(LAST_48, attention=("BFLOAT8_B", "HiFi2"), feed=("BFLOAT8_B", "HiFi2")), feed=346.2, attention=20)),
        (gain("four", "all weights in BFLOAT4_B at LoFi", 366.2, f"{ATTENTION} {FEED}", rf"{BFP4}|{LOFI}", "1134.7 -> 768.5 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-7b-unaligned", LOG_7B, "decode, all in BFLOAT4_B, DRAM-sharded: 773 us",
        decode(replace(LAST_48, aligned=False)),
        (
            gain("aligned", "the product in the shards that down reads", 4.8, "gated gated_moved", KEPT, "773.25 -> 768.43 us of the layer"),
            dead("hifi2", "HiFi2 for attention", ATTENTION, HIFI2, "774.2 -> 774.7 us of the layer"),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, "773.4 -> 938.4 us of the layer"),
        ),
        MADE_UP,
    ),
    laid(
        "falcon3-7b-prefill-grid", LOG_7B, "prefill of 32 times 17 tokens, matmuls on 8 x 10 cores, in0_block_w 8: 3.55 ms",
        prefill((8, 10), 8, slower(287.3)),
        (gain("grid", "the matmuls on eleven columns", 287.3, f"{ATTENTION} {FEED}", rf"{CORES}|\bcolumns", "3.546 -> 3.259 ms of wall time"),),
        f"{MADE_UP}; times of the five from their share of DRAM's bandwidth; how many slices and fills there are",
    ),
    laid(
        "falcon3-7b-prefill-blocks", LOG_7B, "prefill, matmuls on 11 x 10 cores, in0_block_w 1: 4.00 ms",
        prefill(GRID, 1, slower(753.8)),
        (gain("blocks", "in0_block_w 8", 753.8, f"{ATTENTION} {FEED}", BLOCK_W, "4.004 -> 3.250 ms of wall time; 3.485 with 2, 3.413 with 4"),),
        f"{MADE_UP}; times of the five from their share of DRAM's bandwidth; how many slices and fills there are",
    ),
    laid(
        "falcon3-7b-prefill", LOG_7B, "prefill, matmuls on 11 x 10 cores, in0_block_w 8: 3.26 ms, 2.69 ms in kernels",
        prefill(GRID, 8, PREFILL_US),
        (dead("blocks", "in0_block_w 16", f"{ATTENTION} {FEED}", r"in0_block_w", "refused: does not fit in L1"),),
        f"{MADE_UP}; times of the five from their share of DRAM's bandwidth; how many slices and fills there are",
    ),
)  # fmt: skip
FALCON3_10B = (
    laid(
        "falcon3-10b-mask", LOG_10B, "decode, a mask made and read over 6528 keys: 2.62 ms",
        decode(replace(ONE, mask=(900, 6528), rest={"attend": 965})),
        (gain("mask", "no mask: attention by positions", 1819.1, "mask_* attend", MASK, "2623.0 -> 803.9 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-eight", LOG_10B, "decode, all in BFLOAT8_B, 1D and interleaved: 1.008 ms",
        decode(wider(replace(ONE_10B, attention=("BFLOAT8_B", "HiFi2"), feed=("BFLOAT8_B", "HiFi2")), feed=194.1, attention=10)),
        (gain("four", "all weights in BFLOAT4_B at LoFi", 204.1, f"{ATTENTION} {FEED}", rf"{BFP4}|{LOFI}", "1008.0 -> 803.9 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-feed8", LOG_10B, "decode, feed-forward in BFLOAT8_B: 999 us",
        decode(wider(replace(ONE_10B, feed=("BFLOAT8_B", "LoFi")), feed=194.7)),
        (gain("four", "the feed-forward's weights in BFLOAT4_B", 194.7, FEED, BFP4, "999.1 -> 804.4 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-attention8", LOG_10B, "decode, attention in BFLOAT8_B at LoFi: 813 us",
        decode(wider(replace(ONE_10B, attention=("BFLOAT8_B", "LoFi")), attention=8.4)),
        (gain("four", "attention's weights in BFLOAT4_B", 8.4, ATTENTION, BFP4, "812.7 -> 804.4 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-one-d", LOG_10B, "decode, all in BFLOAT4_B, 1D and interleaved: 804 us",
        decode(ONE_10B),
        (
            gain("banked", "weights DRAM-sharded", 10.5, f"{ATTENTION} {FEED}", DRAM_SHARDED, "804.0 -> 793.5 us of the layer", README_10B),
            dead("blocks", "wider blocks for the feed-forward", FEED, unbanked(BLOCK_W), "803.9 -> 831.3 us of the layer"),
            dead("residual", "the residual on 96 cores, norms on eleven", "norm norm_feed attention_added feed_added", r"\b(96|11) cores|block.shard", "803.9 -> 817.0 us of the layer"),
            dead("inputs", "what the matmuls read in other shards too", "qkv out feed_moved gate up down", SHARDED, "803.9 -> 819.5 us of the layer"),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, "803.9 -> 855.6 us of the layer"),
            dead("hifi2", "HiFi2 for attention", ATTENTION, HIFI2, "804.4 -> 805.0 us of the layer"),
        ),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-unaligned", LOG_10B, "decode, DRAM-sharded, feed-forward on 48 shards: 804 us",
        decode(replace(LAST_48_10B, aligned=False)),
        (gain("aligned", "the product in the shards that down reads", 5.0, "gated gated_moved", KEPT, "804.3 -> 799.3 us of the layer"),),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-48", LOG_10B, "decode, the product in down's shards: 799 us",
        decode(LAST_48_10B),
        (
            gain("fewer", "24 shards and in0_block_w 4 instead of 48 and 2", 6.0, FEED, rf"{BLOCK_W}|fewer (cores|shards)|\b24 cores", "799.1 -> 793.1 us of the layer, 200 replays"),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, "799.3 -> 968.1 us of the layer"),
        ),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-last", LOG_10B, "decode as chosen: 793 us, 782 us in kernels",
        decode(LAST_10B),
        (
            dead("fewer", "16 shards and in0_block_w 6", FEED, rf"{BLOCK_W}|fewer (cores|shards)|\b16 cores", "793.5 -> 809.6 us of the layer; 12 and 6 shards do not fit in L1", README_10B),
            dead("attention-hifi2", "HiFi2 for attention", ATTENTION, HIFI2, "793.5 -> 830.3 us of the layer"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", FEED, HIFI2, "793.5 -> 1116.1 us of the layer"),
        ),
        MADE_UP, 782,
    ),
)  # fmt: skip
