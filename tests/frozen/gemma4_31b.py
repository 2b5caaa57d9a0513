"""Gemma 4 31B on one Blackhole chip (P150): decode and prefill of its layers of sliding and of full attention.

Hidden 5376, a feed-forward of 21504, 32 heads; of 256 with 16 of keys and values, or of 512 with four. One user: 128
tokens, and a step at position 32 from a trace. Three stages (functional, fused, optimized) tell device times of whole
layers and, at the end, of each projection of decode; candidates differ from the last layer in one thing each, and were
timed as a traced layer, 1.186 ms as it was kept. A gate alone was timed at 4096 rows too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, banked, chunks, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import ACTIVATION_IN_MATMUL, BFP4, BFP8, BLOCK_W, DRAM_SHARDED, HIFI2, IN_L1, LOFI, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

DOC = "models/autoports/google_gemma_4_31b/doc"
TUNED = f"{TT_METAL}/5e21925512d4ccd748d0c5c9b5912c6d0f3fe600/{DOC}/optimized_decoder"
LOG, README = f"{TUNED}/work_log.md", f"{TUNED}/README.md"
FUSED = f"{TT_METAL}/ce88390ebcceb9e8d83af37ed8a166406e360370/{DOC}/fused_decoder"
FUSED_README, FIXES = f"{FUSED}/README.md", f"{FUSED}/AUTOFIX.md"
CROPS = f"{FUSED}/candidates/post_projection_slice_repeated/summary.md"
FUNCTIONAL = f"{TT_METAL}/a6e369a353ba9d6c3a99fbef2512e6f694228fa5/{DOC}/functional_decoder/README.md"
GRID, ALL_CORES = (11, 10), 110
HIDDEN, WIDE, HEADS, BANKED = 5376, 21504, 32, 8
FP8, FP4 = "BFLOAT8_B", "BFLOAT4_B"


@dataclass(frozen=True)
class How:
    """A step of decode; times in us, of queries with keys and values, the output, gate, up, down."""

    full: bool = False
    us: tuple[float, float, float, float, float] = (455, 227, 593, 593, 595)
    banked: bool = False
    folded: bool = True  # GELU, the layer's scalar, and no copy into L1
    crop_first: bool = False
    fidelity: tuple[str, str, str] = ("LoFi", "LoFi", "LoFi")  # attention, gate and up, down
    blocks: tuple[int, int, int, int] = (3, 8, 7, 21)  # in0_block_w
    apart: bool = False  # queries, keys and values
    packed: bool = False  # gate and up

    @property
    def size(self) -> int:
        return 512 if self.full else 256

    @property
    def kv(self) -> int:
        return 4 if self.full else 16

    @property
    def qkv(self) -> int:
        return (HEADS + 2 * self.kv) * self.size


def in_shards(block: Block, role: str, x: Tensor) -> Tensor:
    """A norm that works in shards, between tensors in DRAM."""
    put = block.to_shards(f"{role}_in", x, block.across(32, HIDDEN, 28), 1.6)
    return block.from_shards(f"{role}_out", block.norm(role, put, 5, cores=28, config=norm_shards((7, 4), 6)), 1.6)


def share(block: Block, columns: int) -> Placement:
    return block.across(32, columns, BANKED)


def by_banks(block: Block, role: str, x: Tensor, n: int, us: float, *, dtype: str, fidelity: str, width: int, act: str | None = None) -> Tensor:  # fmt: skip
    return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=banked(width, n // 32 // BANKED, act), cores=12, banks=True, place=share(block, n))  # fmt: skip


def projected(block: Block, how: How, x: Tensor) -> Tensor:
    if not how.banked:
        qkv = block.linear("qkv", x, how.qkv, how.us[0], cores=ALL_CORES, place=L1 if how.folded else DRAM)
        return qkv if how.folded else block.moved("qkv_copied", "Copy", qkv, 4.2, place=L1, cores=ALL_CORES)
    put = block.to_shards("qkv_in", x, share(block, HIDDEN), 2)
    if not how.apart:
        qkv = by_banks(
            block, "qkv", put, how.qkv, how.us[0], dtype=FP8, fidelity=how.fidelity[0], width=how.blocks[0]
        )
        return block.from_shards("qkv_back", qkv, 15, L1)
    parts: list[Tensor] = []
    for name, n, us, back in (("q", HEADS, 97, 5), ("k", how.kv, 49, 4), ("v", how.kv, 49, 4)):
        one = by_banks(block, name, put, n * how.size, us, dtype=FP8, fidelity=how.fidelity[0], width=how.blocks[0])
        parts.append(block.from_shards(f"{name}_back", one, back, L1))
    return block.concat("qkv_joined", parts, [1, 1, 1, how.qkv], 3, 24)


def attended(block: Block, how: How, x: Tensor) -> Tensor:
    size, kv = how.size, how.kv
    heads = block.heads_of_decode("split", projected(block, how, x), 5, heads=HEADS, kv=kv, size=size, users=1)
    q, k, v = (block.norm(f"norm_{name}", block.from_shards(f"{name}_out", one, 1.3), 3.5, cores=1) for name, one in zip("qkv", heads, strict=True))  # fmt: skip
    for name in ("cos", "sin"):
        block.op(name, "Embeddings", (block.tensor([1, 1], "UINT32"), block.tensor([1, 1, 262144, size])), block.tensor([1, 1, 1, size]), 2, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=True)  # fmt: skip
    q, k = (block.rotary(f"rotary_{name}", one, 3, decode=True, cores=8) for name, one in (("q", q), ("k", k)))
    k, v = (block.to_shards(f"{name}_in", one, block.along(32, size, 1), 1.2) for name, one in (("k", k), ("v", v)))
    cache = block.tensor([64, kv, 64, size], FP8 if how.banked else "BFLOAT16")
    if how.full:
        block.op("update", "PagedFusedUpdateCache", (cache, k, cache, v), cache, 4, cores=2, batch_offset=0, share_cache=False)  # fmt: skip
    else:
        block.update_cache("update_k", cache, k, 2.5)
        block.update_cache("update_v", cache, v, 2.5)
    out = block.attend_decode("attend", q, cache, 10, config=chunks(32, 64, (8, 4) if how.full else GRID), cores=32 if how.full else ALL_CORES)  # fmt: skip
    out = block.to_shards("attend_placed", out, block.along(32, size, 1), 1.5)
    out = block.moved("joined", "NLPConcatHeadsDecode", out, 3, shape=[1, 1, 32, HEADS * size], place=block.across(32, HEADS * size, HEADS), cores=HEADS, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
    out = block.from_shards("joined_out", out, 2)
    if how.crop_first:
        out = block.slice("crop", out, (0, 0, 0, 0), (1, 1, 1, HEADS * size), 4.5)
    if how.banked:
        put = block.to_shards("o_in", out, share(block, HEADS * size), 4)
        out = by_banks(block, "o", put, HIDDEN, how.us[1], dtype=FP8, fidelity=how.fidelity[0], width=how.blocks[1])
        out = block.from_shards("o_back", out, 5)
    else:
        out = block.linear("o", out, HIDDEN, how.us[1], cores=ALL_CORES)
    return out if how.crop_first else block.slice("crop", out, (0, 0, 0, 0), (1, 1, 1, HIDDEN), 2)


def fed(block: Block, how: How, x: Tensor) -> Tensor:
    _, _, gate_us, up_us, down_us = how.us
    if not how.banked:
        config = one_d(GRID, 2, (1, 7), subblock=(1, 7), act="GELU") if how.folded else None
        gate = block.linear("gate", x, WIDE, gate_us, cores=96 if how.folded else ALL_CORES, config=config)
        if not how.folded:
            gate = block.unary("gelu", "GELU", gate, 8.5, cores=ALL_CORES, parameter="1")
        up = block.linear("up", x, WIDE, up_us, cores=ALL_CORES)
        return block.linear("down", block.binary("gated", "MUL", gate, up, 7, cores=ALL_CORES), HIDDEN, down_us, cores=ALL_CORES)  # fmt: skip
    put, wide = block.to_shards("feed_in", x, share(block, HIDDEN), 2), share(block, WIDE)
    if how.packed:
        both = by_banks(
            block, "gate_up", put, 2 * WIDE, 600, dtype=FP4, fidelity=how.fidelity[1], width=how.blocks[2]
        )
        both = block.from_shards("gate_up_back", both, 68)
        gate, up = (block.slice(f"{name}_cut", both, (0, 0, 0, n * WIDE), (1, 1, 1, (n + 1) * WIDE), 25) for n, name in enumerate(("gate", "up")))  # fmt: skip
        gate = block.unary("gelu", "GELU", gate, 24.1, cores=ALL_CORES, parameter="1")
        gate, up = (block.to_shards(f"{name}_in", one, wide, 23.7) for name, one in (("gate", gate), ("up", up)))
    else:
        up = by_banks(block, "up", put, WIDE, up_us, dtype=FP4, fidelity=how.fidelity[1], width=how.blocks[2])
        up = block.from_shards("up_back", up, 24)
        gate = by_banks(
            block, "gate", put, WIDE, gate_us, dtype=FP4, fidelity=how.fidelity[1], width=how.blocks[2], act="GELU"
        )
        up = block.to_shards("up_in", up, wide, 24)
    hot = block.binary("gated", "MUL", gate, up, 78, cores=BANKED)
    down = by_banks(block, "down", hot, HIDDEN, down_us, dtype=FP4, fidelity=how.fidelity[2], width=how.blocks[3])
    return block.from_shards("down_back", down, 5)


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.7)
        x = block.tensor([1, 1, 1, HIDDEN])
        out = in_shards(block, "norm_attended", attended(block, how, in_shards(block, "norm", x)))
        x = block.binary("added", "ADD", x, out, 2, cores=8)
        out = in_shards(block, "norm_fed", fed(block, how, in_shards(block, "norm_feed", x)))
        x = block.binary("added_feed", "ADD", x, out, 2, cores=8)
        if not how.folded:
            block.unary("scaled", "MUL_UNARY_SFPU", x, 2.3, cores=8, parameter="0.1")
        return block

    return build


@dataclass(frozen=True)
class Read:
    """A prefill of 128 tokens; times in us, of queries with keys and values, the output, gate, up, down."""

    us: tuple[float, float, float, float, float]
    full: bool = False
    fused: bool = True
    narrow: bool = False


def prefill(how: Read) -> Callable[[], Block]:
    def build() -> Block:
        block, rows, tall = Block("blackhole", grid=GRID, gap_us=1.0), 128, 4
        size, kv, inner = (512, 4, HEADS * 512) if how.full else (256, 16, HEADS * 256)
        attention, feed = (FP8, FP4) if how.narrow else ("BFLOAT16", "BFLOAT16")
        x = block.tensor([1, 1, rows, HIDDEN])
        normed = block.norm("norm", x, 85, cores=tall)
        qkv = block.linear("qkv", normed, inner + 2 * kv * size, how.us[0], dtype=attention, cores=ALL_CORES)
        q, k, v = block.split_heads("split", qkv, 130 if how.full else 60, heads=HEADS, kv=kv, size=size, rows=rows, cores=tall)  # fmt: skip
        q, k, v = (block.norm(f"norm_{name}", one, us, cores=ALL_CORES if name == "q" else kv * tall) for name, one, us in zip("qkv", (q, k, v), (80, 20, 20) if how.full else (42, 25, 25), strict=True))  # fmt: skip
        q, k = (block.rotary(f"rotary_{name}", one, us, decode=False, cores=ALL_CORES) for name, one, us in zip("qk", (q, k), (90, 25) if how.full else (45, 25), strict=True))  # fmt: skip
        cache = block.tensor([64, kv, 64, size], FP8 if how.narrow else "BFLOAT16")
        for name, one in (("k", k), ("v", v)):
            kept = block.typecast(f"cast_{name}", one, FP8, 4, cores=kv * tall) if how.narrow else one
            block.op(f"fill_{name}", "PagedFillCache", (cache, kept, block.tensor([1, 64], "INT32", layout="ROW_MAJOR")), cache, 8, cores=kv * tall, batch_idx_fallback=0, block_size_override=None, mesh_coords=None, noop=False)  # fmt: skip
        out = block.attend("attend", q, k, v, 225 if how.full else 62, config=chunks(128, 128, GRID), cores=ALL_CORES, window=None if how.full else 1024)  # fmt: skip
        if how.full or not how.fused:
            out = block.turned("turned", out, 120 if how.full else 95, dims="CH", cores=ALL_CORES)
            out = block.moved("joined", "ReshapeView", out, 110 if how.full else 75, shape=[1, 1, rows, inner], cores=ALL_CORES)  # fmt: skip
        else:
            parts = [block.slice(f"cut_{n}", out, (0, 0, 64 * n, 0), (1, HEADS, 64 * (n + 1), size), 8) for n in range(2)]  # fmt: skip
            parts = [block.join_heads(f"joined_{n}", one, 46, place=L1, cores=1) for n, one in enumerate(parts)]
            out = block.concat("joined", parts, [1, 1, rows, inner], 2, 9)
        out = block.linear("o", out, HIDDEN, how.us[1], dtype=attention, cores=ALL_CORES)
        x = block.binary("added", "ADD", x, block.norm("norm_attended", out, 85, cores=tall), 14, cores=ALL_CORES)
        normed = block.norm("norm_feed", x, 85, cores=tall)
        config = one_d(GRID, 2, (tall, 7), subblock=(1, 7), act="GELU") if how.fused else None
        gate = block.linear("gate", normed, WIDE, how.us[2], dtype=feed, config=config, cores=96 if how.fused else ALL_CORES)  # fmt: skip
        if not how.fused:
            gate = block.unary("gelu", "GELU", gate, 31, cores=ALL_CORES, parameter="1")
        up = block.linear("up", normed, WIDE, how.us[3], dtype=feed, cores=ALL_CORES)
        hot = block.binary("gated", "MUL", gate, up, 23, cores=ALL_CORES)
        out = block.linear("down", hot, HIDDEN, how.us[4], dtype=feed, cores=ALL_CORES)
        x = block.binary("added_feed", "ADD", x, block.norm("norm_fed", out, 85, cores=tall), 14, cores=ALL_CORES)
        if not how.fused:
            block.unary("scaled", "MUL_UNARY_SFPU", x, 9, cores=ALL_CORES, parameter="0.1")
        return block

    return build


def gate_of_4096() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    gate = block.linear("gate", block.tensor([1, 1, 4096, HIDDEN]), WIDE, 10_113.03, cores=ALL_CORES)
    block.unary("gelu", "GELU", gate, 914.85, cores=ALL_CORES, parameter="1")
    return block


KEPT = How(us=(192, 97, 201, 208, 196), banked=True)
WHOLE = How(full=True, us=(562, 450, 591, 591, 592))
ALL, ATTENTION = "qkv o gate up down", "qkv o"
FORMATS = f"{DRAM_SHARDED}|{BFP8}|{BFP4}|{LOFI}"
APART = r"separate|apart|split|un-?pack|two (matmuls|linears|projections)"
JOINED = r"concat_heads|nlp_concat"
CROP = r"(slice|crop).{0,60}(after|later|behind)|(after|behind).{0,60}(slice|crop)"
UPDATE = r"paged_fused_update_cache|fus.{0,30}update"
PIECES = r"chunk|pieces|\d+ rows|split.{0,30}rows"
FEWER = r"\b(4|four) (cores|shards)|fewer cores"
FROM_BANKS = (
    "weights in shards over the eight banks (DRAMSharded configs), BFLOAT8_B for attention and BFLOAT4_B for the "
    "feed-forward, LoFi"
)
NARROW = "BFLOAT8_B weights for attention, BFLOAT4_B for the feed-forward"
TRACED = "of the traced layer"
OVER, HELD = "refused: more than L1 holds", "refused: its buffers meet live tensors in L1"
MADE_UP = "how the layer's device time is shared among ops, matmuls by bytes; core counts; the norms' shards; gaps"
ONE_THING = (
    "where the candidate's time beyond the kept layer's falls within its ops; times of moves and small ops; core "
    "counts; gaps"
)
PREFILL_MADE_UP = (
    "how the layer's device time is shared among its ops; core counts; attention's chunks; the cut of heads; gaps"
)
GEMMA4_31B = (
    laid(
        "gemma4-31b-functional", FUNCTIONAL, "a step of a sliding layer, first stage: 2577 us in 43 ops",
        decode(replace(How(us=(455, 227, 593, 593, 595)), folded=False, crop_first=True)),
        (
            gain("folded", "GELU in the gate's matmul (fused_activation), and the layer's scalar in the sum after it", 13, "gate gelu added_feed scaled", rf"{ACTIVATION_IN_MATMUL}|post_activations|fus.{{0,40}}(gelu|activation|scalar)", "2577 -> 2564 us of device time", FUSED_README),
            gain("qkv-l1", "queries, keys and values written to L1 (L1_MEMORY_CONFIG), without a copy", 4, "qkv qkv_copied", IN_L1, "2564 -> 2560 us of device time", FUSED_README),
        ),
        MADE_UP, 2577,
    ),
    laid(
        "gemma4-31b-fused", FUSED_README, "a step of a sliding layer, second stage: 2559 us in 40 ops", decode(How(crop_first=True)),
        (
            gain("banked", FROM_BANKS, 1_411, ALL, FORMATS, "2.560 -> 1.149 ms of device time, with the moves that it needs; 2.606 -> 1.186 traced", README),
            gain("crop", "the slice of one row after the output's projection, not before", 2.5, "crop o", CROP, "2558.6 -> 2556.1 us of device time, in six of six pairs", CROPS),
            dead("packed", "gate and up in one matmul", "gate up", PACKED, "2560 -> 2593 us of device time", FUSED_README),
            dead("attend-shards", "attention's output in shards", "attend attend_placed", r"shard", "refused with groups of heads", FUSED_README),
            dead("update", "keys and values into the cache by one paged_fused_update_cache", "update_k update_v", UPDATE, "it cannot wrap around the window", FUSED_README),
            dead("bfp4", "BFLOAT4_B with LoFi for attention's projections too", ATTENTION, BFP4, "PCC 0.9922, where 0.995 is asked; no time told", LOG, faster=True),
        ),
        MADE_UP, 2558.6,
    ),
    laid(
        "gemma4-31b-full-fused", FUSED_README, "a step of a full layer, second stage: 2881 us in 39 ops", decode(WHOLE),
        (
            gain("banked", FROM_BANKS, 1_584, ALL, FORMATS, "2.881 -> 1.297 ms of device time, with the moves that it needs; 2.949 -> 1.332 traced", README),
            dead("attend-shards", "attention's output in shards", "attend attend_placed", r"shard", "refused with groups of heads"),
        ),
        MADE_UP, 2881,
    ),
    laid(
        "gemma4-31b-hifi2-attention", LOG, "a step of a sliding layer with HiFi2 for attention's projections: 1.351 ms traced",
        decode(replace(KEPT, us=(302, 152.5, 201, 208, 196), fidelity=("HiFi2", "LoFi", "LoFi"))),
        (gain("lofi", "LoFi for attention's projections", 165.5, ATTENTION, LOFI, f"1351.4 -> 1185.9 us {TRACED}"),),
        ONE_THING,
    ),
    laid(
        "gemma4-31b-hifi2-gate", LOG, "a step of a sliding layer with HiFi2 for gate and up: 1.539 ms traced",
        decode(replace(KEPT, us=(192, 97, 377.6, 384.6, 196), fidelity=("LoFi", "HiFi2", "LoFi"))),
        (gain("lofi", "LoFi for gate and up", 353.2, "gate up", LOFI, f"1539.1 -> 1185.9 us {TRACED}"),),
        ONE_THING,
    ),
    laid(
        "gemma4-31b-hifi2-down", LOG, "a step of a sliding layer with HiFi2 for down: 1.363 ms traced",
        decode(replace(KEPT, us=(192, 97, 201, 208, 373.3), fidelity=("LoFi", "LoFi", "HiFi2"))),
        (gain("lofi", "LoFi for down", 177.3, "down", LOFI, f"1363.2 -> 1185.9 us {TRACED}"),),
        ONE_THING,
    ),
    laid(
        "gemma4-31b-qkv-block-1", LOG, "a step of a sliding layer with in0_block_w 1 for queries, keys and values: 1.293 ms traced",
        decode(replace(KEPT, us=(298.8, 97, 201, 208, 196), blocks=(1, 8, 7, 21))),
        (
            gain("blocks", "in0_block_w 3", 106.8, "qkv", BLOCK_W, f"1292.7 -> 1185.9 us {TRACED}"),
            dead("blocks-7", "in0_block_w 7", "qkv", BLOCK_W, f"{OVER}, 1.73 of 1.57 MB"),
        ),
        ONE_THING,
    ),
    laid(
        "gemma4-31b-gate-block-3", LOG, "a step of a sliding layer with in0_block_w 3 for gate and up: 1.211 ms traced",
        decode(replace(KEPT, us=(192, 97, 213.8, 220.8, 196), blocks=(3, 8, 3, 21))),
        (
            gain("blocks", "in0_block_w 7", 25.6, "gate up", BLOCK_W, f"1211.5 -> 1185.9 us {TRACED}"),
            dead("blocks-21", "in0_block_w 21", "gate up", BLOCK_W, OVER),
        ),
        ONE_THING,
    ),
    laid(
        "gemma4-31b-apart", LOG, "a step of a sliding layer with queries, keys and values apart: 1.211 ms traced",
        decode(replace(KEPT, apart=True)),
        (gain("packed", "queries, keys and values in one matmul", 25.2, "q k v q_back k_back v_back qkv_joined", PACKED, f"1211.1 -> 1185.9 us {TRACED}"),),
        ONE_THING,
    ),
    laid(
        "gemma4-31b-packed", LOG, "a step of a sliding layer with gate and up in one matmul, in0_block_w 1: 1.518 ms traced",
        decode(replace(KEPT, packed=True, blocks=(3, 8, 1, 21))),
        (
            gain("apart", "gate and up as separate matmuls, in0_block_w 7", 332.5, "gate* up* gelu", APART, f"1518.3 -> 1185.9 us {TRACED}"),
            gain("bfp8-out", "BFLOAT8_B for the matmul's output", 77.9, "gate_up gate_up_back gate_cut up_cut gelu gate_in up_in", BFP8, f"1518.3 -> 1440.4 us {TRACED}"),
            dead("blocks-3", "in0_block_w 3", "gate_up", BLOCK_W, f"{HELD}, with BFLOAT16 and with BFLOAT8_B outputs"),
            dead("blocks-7", "in0_block_w 7", "gate_up", BLOCK_W, f"{OVER}, with BFLOAT16 and with BFLOAT8_B outputs"),
        ),
        ONE_THING,
    ),
    laid(
        "gemma4-31b-kept", LOG, "a step of a sliding layer as it was kept: 1149 us in 48 ops, 1.186 ms traced", decode(KEPT),
        (
            dead("hifi2", "HiFi2 for attention's projections, for gate and up, or for down", ALL, HIFI2, f"1185.9 -> 1351.4, 1539.1 and 1363.2 us {TRACED}"),
            dead("apart", "queries, keys and values as separate matmuls", "qkv qkv_back", APART, f"1185.9 -> 1211.1 us {TRACED}"),
            dead("bfp4", "BFLOAT4_B for attention's projections", ATTENTION, BFP4, "PCC 0.9922, where 0.995 is asked; no time told", faster=True),
            dead("qkv-blocks", "in0_block_w 7 for queries, keys and values", "qkv", BLOCK_W, f"{OVER}, 1.73 of 1.57 MB"),
            dead("o-blocks", "in0_block_w 16 for the output's projection", "o", BLOCK_W, f"1185.9 -> 1187.1 us {TRACED}"),
            dead("gate-blocks", "in0_block_w 21 for gate and up", "gate up", BLOCK_W, OVER),
            dead("down-blocks", "in0_block_w 28 for down", "down", BLOCK_W, f"{HELD}; 14: 1188.9 us {TRACED}"),
            dead("packed", "gate and up in one matmul", "gate up up_back up_in", PACKED, f"1185.9 -> 1518.3 us {TRACED} with in0_block_w 1, 1440.4 with BFLOAT8_B outputs; 3 and 7 refused"),
            dead("cores", "shards on four cores", ALL, FEWER, f"{HELD}, even with smaller blocks"),
        ),
        "times of moves and small ops; core counts of these; the norms' shards; gaps", 1149,
    ),
    laid(
        "gemma4-31b-read-functional", FUNCTIONAL, "128 tokens of a sliding layer, first stage: 3521 us in 25 ops",
        prefill(Read((490, 300, 610, 600, 625), fused=False)),
        (
            gain("gelu", "GELU in the gate's matmul by a 1D config with fused_activation", 43.7, "gate gelu", ACTIVATION_IN_MATMUL, "688.0 -> 644.3 us of the gate alone from the host; the call's activation alone left an op of its own", FIXES),
            gain("joined", "heads joined by nlp_concat_heads in two parts in L1", None, "turned joined", JOINED, "with GELU and the layer's scalar folded 3521 -> 3427 us of device time", FUSED_README),
        ),
        PREFILL_MADE_UP, 3521,
    ),
    laid(
        "gemma4-31b-read-fused", FUSED_README, "128 tokens of a sliding layer, second stage: 3427 us in 26 ops",
        prefill(Read((490, 297, 600, 600, 620))),
        (gain("formats", NARROW, 840, ALL, f"{BFP8}|{BFP4}", "3427 -> 2587 us of device time, with the casts that the cache then needs; 3.519 -> 2.672 ms from the host", README),),
        PREFILL_MADE_UP, 3427,
    ),
    laid(
        "gemma4-31b-read-full-fused", FUSED_README, "128 tokens of a full layer, second stage: 4192 us in 23 ops",
        prefill(Read((610, 520, 605, 600, 620), full=True)),
        (
            gain("formats", NARROW, 892, ALL, f"{BFP8}|{BFP4}", "4192 -> 3300 us of device time, with the casts that the cache then needs; 4.326 -> 3.395 ms from the host", README),
            dead("joined", "heads joined by nlp_concat_heads", "turned joined", JOINED, "refused: 2.21 MB of L1 on a core for 32 tokens already"),
        ),
        PREFILL_MADE_UP, 4192,
    ),
    laid(
        "gemma4-31b-read-kept", LOG, "128 tokens of a sliding layer as it was kept: 2587 us in 29 ops",
        prefill(Read((330, 205, 415, 410, 400), narrow=True)),
        (dead("banked", "queries, keys and values by DRAMSharded matmuls of 32 rows each", "qkv", DRAM_SHARDED, "2.672 -> 3.356 ms from the host; all 128 rows at once refused"),),
        PREFILL_MADE_UP, 2587,
    ),
    laid(
        "gemma4-31b-gate-4096", FIXES, "the gate of 4096 rows: 10113 us and its GELU 915 us", gate_of_4096,
        (
            gain("halves", "two pieces of 2048 rows", 4_794, "gate gelu", PIECES, "11196 -> 6234 us from the host, of 11028 on the device; four of 1024 rows 6464; without the cuts and the join they need"),
            dead("gelu-1d", "GELU in the gate's matmul by a 1D config with fused_activation", "gate gelu", ACTIVATION_IN_MATMUL, "11196 -> 18636 us from the host, 18480 on the device; blocks of two rows of tiles 36824, of one 72887"),
            dead("gelu-pieces", "GELU in the matmuls of pieces by a 1D config with fused_activation", "gate gelu", ACTIVATION_IN_MATMUL, "11196 -> 18725 us from the host in pieces of 2048 rows, 18993 of 1024, 20618 of 128"),
            dead("pieces-128", "32 pieces of 128 rows", "gate gelu", PIECES, "11196 -> 22016 us from the host"),
        ),
        "core counts; the output's place; gaps", 11_027.9,
    ),
)  # fmt: skip
