"""MiniMax-Music3 (it sings) on one Blackhole chip (p300c): its language model, its depth decoder and its flow.

Two rows of guidance, padded to tiles. The ledger has the time of each op of one layer at each step, sweeps of single
matmuls, and times of whole frames or windows. DRAM-sharded matmuls stand with the 80 cores that this chip's profiler
tells of them elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    BFP4,
    BFP8,
    BLOCKS,
    CONFIG,
    HIFI2,
    IN_L1,
    INTERLEAVED_1D,
    LOFI,
    SDPA_CHUNKS,
    SHARDED,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/autoports/minimaxai_minimax_music3/doc"
LOG = f"{TT_METAL}/56da949aa9644c0a53c5203f3f609c7cfa01a6cb/{FOLDER}/optimize/README.md"
FLOW_LOG = f"{TT_METAL}/6035b073ec5c36e6e980a529928d823079ecd1c4/{FOLDER}/flow_dit/README.md"
DEPTH_LOG = f"{TT_METAL}/21a5e24ff3b5711befd52cd9f90b516ebeec419b/{FOLDER}/depth_decoder/README.md"
SWEEPS = f"{TT_METAL}/56da949aa9644c0a53c5203f3f609c7cfa01a6cb/{FOLDER}/optimize/sweeps"
TABLE = f"{TT_METAL}/56da949aa9644c0a53c5203f3f609c7cfa01a6cb/{FOLDER}/optimize/dtype_sweep.md"
GRID, CORES = (11, 10), 110
SUMS = r"fp32_dest_acc_en|FLOAT32 (sums|accum)"
FEWER = r"8 ?x ?8|x=8,y=8|\b64 cores|fewer cores"
SILU = rf"{ACTIVATION_IN_BINARY}|fused_activation(?!=(None|std::nullopt))|activation="
MATMULS_OF_FLOW = "qkv out wide_a wide_g down"


@dataclass(frozen=True)
class Flow:
    """One of 36 blocks of the flow, with the ops around all of them; times in us."""

    us: dict[str, float]
    dtype: str = "BFLOAT16"
    fp32: bool = True
    chunk: int = 128


def flow(how: Flow) -> Callable[[], Block]:
    """1536 rows, two times 768; the matmuls on the grid of TTNN's choice, in0_block_w 1."""

    def build() -> Block:
        block, us = Block("blackhole", grid=GRID, gap_us=1.0), how.us
        rows, hidden = 1536, 2048

        def linear(role: str, x: Tensor, n: int, *, inner: bool = True) -> Tensor:
            per_n = -(-n // 32 // 11)
            wide = next(one for one in ((4, 3, 2, 1) if how.fp32 else (8, 6, 4, 3, 2, 1)) if per_n % one == 0)
            config = two_d(GRID, 1, (5, per_n), subblock=(1, wide))
            dtype = how.dtype if inner else "BFLOAT16"
            return block.linear(role, x, n, us[role], dtype=dtype, config=config, cores=CORES, fp32=how.fp32)

        def normed(role: str, x: Tensor) -> Tensor:
            return block.norm(role, x, us[role], cores=48, kind="LAYERNORM")

        def added(role: str, x: Tensor, other: Tensor) -> Tensor:
            return block.binary(role, "ADD", x, other, us["add"], cores=CORES)

        x = linear("latent_in", block.tensor([1, 1, rows, 128]), hidden, inner=False)
        x = added("condition_added", x, block.tensor([1, 1, rows, hidden]))
        step = block.linear(
            "step_rows", block.tensor([1, 1, rows, 32]), hidden, 28, cores=CORES, fp32=True, dtype="BFLOAT16"
        )
        x = added("step_added", x, step)
        qkv = block.view(linear("qkv", normed("norm", x), 3 * hidden), [2, 1, 768, 3 * hidden])
        q, k, v = block.split_heads("heads", qkv, 99, heads=32, kv=32, size=64, rows=768, batch=2, cores=48)
        tables = [block.tensor([1, 1, 768, 64]), block.tensor([1, 1, 768, 64]), block.tensor([1, 1, 32, 32])]
        q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables), block.tensor(one.shape), 62, cores=CORES, fidelity="HiFi4", is_decode_mode=False, output_mem_config=DRAM, compute_kernel_config=block.kernel("HiFi4", fp32=True)) for name, one in (("q", q), ("k", k)))  # fmt: skip
        block.binary("mask_scaled", "MUL", block.tensor([1, 1, 768, 768]), block.tensor([1, 1, 1, 1]), 7, cores=CORES)  # fmt: skip
        config = chunks(how.chunk, how.chunk, GRID)
        out = block.attend("attend", q, k, v, us["attend"], config=config, cores=CORES, causal=False, fidelity="HiFi4", fp32=True)  # fmt: skip
        out = block.view(block.join_heads("joined", out, 39, cores=48), [1, 1, rows, hidden])
        x = added("attention_added", x, linear("out", out, hidden))
        fed = normed("norm_feed", x)
        wide, gate = (linear(f"wide_{name}", fed, 4 * hidden) for name in "ag")
        gate = block.unary("silu", "SILU", gate, 177, cores=CORES)
        wide = block.binary("gated", "MUL", wide, gate, 178, cores=CORES)
        x = added("feed_added", x, linear("down", wide, hidden))
        block.linear("latent_out", x, 128, 47, cores=48, fp32=True, dtype="BFLOAT16")
        return block

    return build


FLOW_US = {"latent_in": 31, "add": 47.5, "norm": 70, "qkv": 334, "attend": 380, "out": 126, "norm_feed": 69, "wide_a": 417, "wide_g": 417, "down": 428}  # fmt: skip
FLOW_FIRST = Flow(FLOW_US)
FLOW_SUMS = Flow({**FLOW_US, "qkv": 259, "out": 115, "wide_a": 335, "wide_g": 335, "down": 382, "attend": 311}, "BFLOAT8_B", fp32=False, chunk=256)  # fmt: skip


@dataclass(frozen=True)
class Depth:
    """One of four layers of a step of the depth decoder, its projection before and its heads after; times in us."""

    us: dict[str, float] = field(default_factory=dict[str, float])
    dtype: str = "BFLOAT16"
    shards: bool = True  # the norms', on 16 cores
    near: bool = True  # the heads in L1


def depth(how: Depth) -> Callable[[], Block]:
    """64 rows, a tile of them for each row of guidance."""

    def build() -> Block:
        block, us = Block("blackhole", grid=GRID, gap_us=1.0), how.us
        hidden, place = 4096, L1 if how.near else DRAM

        def linear(role: str, x: Tensor, n: int, cores: int) -> Tensor:
            return block.linear(role, x, n, us[role], dtype=how.dtype, cores=cores, fp32=True, place=place if role == "qkv" else DRAM)  # fmt: skip

        def normed(role: str, x: Tensor) -> Tensor:
            if not how.shards:
                return block.norm(role, x, 75, cores=2)
            shards = block.to_shards(f"{role}_placed", x, block.across(64, hidden, 16), 2.4)
            shards = block.norm(role, shards, 8.5, cores=16, config=norm_shards((4, 4), 8, block_h=2))
            return block.from_shards(f"{role}_back", shards, 2.9)

        linear("project", block.tensor([1, 1, 32, hidden]), hidden, 64)
        x = block.tensor([1, 1, 64, hidden])
        qkv = block.view(linear("qkv", normed("norm", x), 3 * hidden, 96), [2, 1, 32, 3 * hidden])
        q, k, v = block.split_heads("heads", qkv, us["heads"], heads=16, kv=16, size=256, rows=32, batch=2, place=place, cores=2)  # fmt: skip
        out = block.attend(
            "attend", q, k, v, 8, config=chunks(32, 32, GRID), cores=CORES, fidelity="HiFi4", place=place
        )
        out = block.view(block.join_heads("joined", out, us["joined"], cores=2, place=place), x.shape)
        x = block.binary("attention_added", "ADD", x, linear("out", out, hidden, 64), 6, cores=CORES)
        fed = normed("norm_feed", x)
        gate = block.unary("silu", "SILU", linear("gate", fed, 6144, 96), 7, cores=CORES)
        wide = block.binary("gated", "MUL", gate, linear("up", fed, 6144, 96), 10, cores=CORES)
        block.binary("feed_added", "ADD", x, linear("down", wide, hidden, 64), 6, cores=CORES)
        linear("all_heads", block.tensor([1, 1, 32, hidden]), 7168, 75)
        return block

    return build


DEPTH_US: dict[str, float] = {"project": 87, "qkv": 258, "heads": 113, "joined": 38, "out": 87, "gate": 129, "up": 129, "down": 131, "all_heads": 155}  # fmt: skip
DEPTH_WIDE = Depth(DEPTH_US)
DEPTH_FIRST = replace(DEPTH_WIDE, us={**DEPTH_US, "heads": 155, "joined": 52}, shards=False, near=False)
DEPTH_EIGHT = Depth({**DEPTH_US, "project": 75, "qkv": 148, "out": 83, "gate": 100, "up": 100, "down": 122, "all_heads": 94}, "BFLOAT8_B")  # fmt: skip


@dataclass(frozen=True)
class Model:
    """One of 36 layers of the language model and its head in 13 parts; times in us."""

    us: dict[str, float]
    attention: tuple[str, str] = ("BFLOAT8_B", "HiFi2")
    feed: str = "HiFi2"
    head: tuple[str, str] = ("BFLOAT8_B", "HiFi2")
    cache: str = "BFLOAT8_B"


def model(how: Model) -> Callable[[], Block]:
    """Decode of two users: 71 ops."""

    def build() -> Block:
        block, us = Block("blackhole", grid=GRID, gap_us=1.0), how.us
        hidden, residual, users = 4096, block.across(32, 4096, 32), 2

        def linear(role: str, x: Tensor, n: int, cores: int, dtype: tuple[str, str], us: float) -> Tensor:  # noqa: PLR0917
            config = banked(x.shape[-1] // 32 // cores, -(-n // 32 // cores))
            return block.linear(role, x, n, us, dtype=dtype[0], fidelity=dtype[1], config=config, cores=80, place=block.across(32, n, cores), banks=True)  # fmt: skip

        def normed(role: str, x: Tensor, cores: int, us: float) -> Tensor:
            return block.norm(
                role, x, us, cores=cores, config=norm_shards((8, cores // 8), x.shape[-1] // 32 // cores)
            )

        for name, turned_us in (("cos", 4), ("sin", 3)):
            rows = block.tensor([1, 1, 40960, 128], layout=ROW_MAJOR)
            picked = block.op(f"{name}_rows", "Embeddings", (block.tensor([1, 32], "UINT32", layout=ROW_MAJOR), rows), block.tensor([1, 1, 32, 128]), 3, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=True)  # fmt: skip
            turned = block.turned(
                f"{name}_turned", block.view(picked, [1, 1, 32, 128]), turned_us, dims="CH", cores=CORES
            )
            turned = block.slice(
                f"{name}_cut", block.view(turned, [1, 32, 1, 128]), (0, 0, 0, 0), (1, users, 1, 128), 1.2
            )
            block.to_shards(f"{name}_placed", turned, block.along(32, 128, users), 1)
        x = block.to_shards("entry", block.tensor([1, 1, 32, hidden]), residual, 1)
        qkv = linear("qkv", normed("norm", x, 32, 6), 6144, 32, how.attention, us["qkv"])
        qkv = block.from_shards("qkv_back", qkv, 2)
        q, k, v = block.heads_of_decode("heads", qkv, 18, heads=32, kv=8, size=128, users=users)
        parts = {"q": q, "k": k}
        for name, one in parts.items():
            flat = block.from_shards(f"{name}_flat", one, 1)
            flat = block.norm(f"{name}_norm", flat, 5, cores=users)
            parts[name] = block.to_shards(f"{name}_placed", flat, block.along(32, 128, users), 1)
        q, k = parts["q"], block.reshard("k_moved", parts["k"], block.along(32, 128, users), 0.4)
        block.op("rotary", "RotaryEmbeddingLlamaFusedQK", (q, k, block.tensor([1, users, 1, 128]), block.tensor([1, users, 1, 128])), (block.tensor(q.shape, place=q.placement or L1), block.tensor(k.shape, place=k.placement or L1)), 3, cores=4, fidelity="HiFi4", row_major_QK=False)  # fmt: skip
        cache = block.tensor([64, 8, 32, 128], how.cache)
        block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v), cache, 9, cores=4, batch_offset=0, share_cache=False, update_idxs="{}")  # fmt: skip
        out = block.attend_decode("attend", q, cache, us["attend"], config=None, cores=64)
        out = block.to_shards("attended_placed", out, block.along(32, 128, users), 1)
        out = block.moved("joined", "NLPConcatHeadsDecode", out, 2, shape=[1, 1, 32, hidden], place=residual, cores=32, num_heads=32, on_subcoregrids=False)  # fmt: skip
        out = block.reshard(
            "out_moved", linear("out", out, hidden, 32, how.attention, us["out"]), residual, us["moved"]
        )
        x = block.binary("attention_added", "ADD", x, out, 1.2, cores=CORES)
        spread = block.across(32, hidden, 64)
        fed = normed("norm_feed", block.reshard("feed_moved", x, spread, 1.2), 64, 8)
        narrow = ("BFLOAT8_B", how.feed)
        gate, up = (linear(role, fed, 12288, 64, narrow, us[role]) for role in ("gate", "up"))
        wide = block.binary("gated", "MUL", gate, up, 11, cores=CORES, lhs="SILU", out="BFLOAT8_B")
        wide = block.reshard("wide_moved", wide, block.across(32, 12288, 64), 2)
        down = block.reshard("down_moved", linear("down", wide, hidden, 64, narrow, us["down"]), residual, 1)
        x = block.binary("feed_added", "ADD", x, down, 1.2, cores=CORES)
        x = normed("norm_last", block.reshard("last_moved", x, spread, 1), 64, 7)
        block.from_shards("last_back", x, 2)
        parts_of_head: list[Tensor] = []
        for at in range(13):
            n, took = (16032, us["head"]) if at < 12 else (7616, us["head_last"])
            made = linear(f"head_{at}", x, n, 64, how.head, took)
            parts_of_head.append(block.from_shards(f"head_{at}_back", made, 2 if at < 12 else 1))
        logits = block.concat("head_joined", parts_of_head, [1, 1, 32, 200000], 3, 22)
        logits = block.moved("head_copied", "Copy", logits, 50, cores=CORES)
        block.moved("head_rows", "Untilize", logits, 79, cores=108, layout=ROW_MAJOR, use_multicore=True)
        for name in ("position", "page"):
            where = block.tensor([1, 32], "INT32", layout=ROW_MAJOR)
            block.op(f"{name}_next", "PlusOne", (where,), where, 1, cores=1, skip_negative_entries=True)
        return block

    return build


MODEL_FIRST = Model(
    {"qkv": 168, "attend": 11, "out": 115, "moved": 2, "gate": 185, "up": 186, "down": 180, "head": 269, "head_last": 130},
    ("BFLOAT16", "HiFi4"), "HiFi2", ("BFLOAT16", "HiFi2"), "BFLOAT16",
)  # fmt: skip
MODEL_EIGHT = Model({"qkv": 94, "attend": 10, "out": 67, "moved": 1, "gate": 186, "up": 186, "down": 180, "head": 238, "head_last": 124})  # fmt: skip
MODEL_LOFI = Model(
    {"qkv": 58, "attend": 10, "out": 41, "moved": 1, "gate": 114, "up": 112, "down": 110, "head": 147, "head_last": 80},
    ("BFLOAT8_B", "LoFi"), "LoFi", ("BFLOAT8_B", "LoFi"),
)  # fmt: skip
ONE_SWEPT = "swept alone, with the launch"
MADE_UP = "gaps; shards; cores of DRAM-sharded matmuls; how many of the 200,064 words' padding there is"

MUSIC3 = (
    laid(
        "music3-flow", FLOW_LOG, "one block of 36 of the flow, BFLOAT16: 3.16 ms with the ops around all blocks",
        flow(FLOW_FIRST),
        (
            gain("sums", "sums in 16 bits", 434.7, MATMULS_OF_FLOW, SUMS, f"457.0 -> 339.8 us twice, 455.4 -> 381.6, 364.1 -> 254.9 and 132.5 -> 114.3 us, {ONE_SWEPT}; a window 3.46 -> 2.90 s", LOG),
            gain("silu", "SILU inside the product", 137.6, "silu gated", SILU, f"363.6 -> 226.0 us, {ONE_SWEPT}; inside the matmul it is as fast", LOG),
            gain("chunks", "chunks of 256 instead of 128", 69.2, "attend", SDPA_CHUNKS, f"392.3 -> 323.0 us, {ONE_SWEPT}", f"{SWEEPS}/sdpa.json"),
            gain("lofi", "LoFi", 91.2, MATMULS_OF_FLOW, LOFI, f"457.0 -> 433.3 us twice, 455.4 -> 437.2, 364.1 -> 343.5 and 132.5 -> 127.5 us, {ONE_SWEPT}; not taken for its error", f"{SWEEPS}/dit.json"),
            gain("down-blocks", "in0_block_w 8, on 64 cores", 82.8, "down", BLOCKS, f"455.4 -> 372.6 us, {ONE_SWEPT}; not taken: with sums in 16 bits the whole grid is faster", f"{SWEEPS}/dit.json"),
            gain("qkv-blocks", "in0_block_w 4, on 64 cores", 28.6, "qkv", BLOCKS, f"364.1 -> 335.5 us, {ONE_SWEPT}; not taken, as above", f"{SWEEPS}/dit.json"),
            gain("out-blocks", "in0_block_w 8, on 64 cores", 18.4, "out", BLOCKS, f"132.5 -> 114.2 us, {ONE_SWEPT}; not taken, as above", f"{SWEEPS}/dit.json"),
            dead("eight", "the blocks' weights in BFLOAT8_B", MATMULS_OF_FLOW, BFP8, "2.91 to 2.94 s a window either way", LOG),
            dead("wide-64", "in0_block_w 2 on 64 cores for both wide matmuls", "wide_a wide_g", FEWER, "457.0 -> 477.5 us; 4 and 8 do not fit in L1", f"{SWEEPS}/dit.json"),
            dead("few", "48 or 32 cores", MATMULS_OF_FLOW, r"fewer cores|\b48 cores|\b32 cores|8 ?x ?6|8 ?x ?4", "each slower, or does not fit in L1", f"{SWEEPS}/dit.json"),
            dead("attend-hifi2", "HiFi2 for attention", "attend", HIFI2, "392.3 -> 389.0 us: not taken", f"{SWEEPS}/sdpa.json"),
            dead("short", "chunks of 64 queries", "attend", r"(smaller|shorter).{0,30}chunk|q_chunk_size=(32|64)\b", "392.3 -> 697.2 us", f"{SWEEPS}/sdpa.json"),
        ),
        "gaps; subblocks; how the config is printed", 3161,
    ),
    laid(
        "music3-flow-sums", LOG, "the same with sums in 16 bits, BFLOAT8_B weights, chunks of 256: 96.4 ms a step of 36",
        flow(FLOW_SUMS),
        (
            gain("wide", "in0_block_w 8 for both wide matmuls", 76.8, "wide_a wide_g", BLOCKS, f"335.2 -> 296.7 us each, {ONE_SWEPT}", f"{SWEEPS}/dit_grid.json"),
            gain("down", "in0_block_w 8", 133.1, "down", BLOCKS, f"382.2 -> 249.1 us, {ONE_SWEPT}", f"{SWEEPS}/dit_grid.json"),
            gain("qkv", "in0_block_w 8", 36.2, "qkv", BLOCKS, f"259.4 -> 223.2 us, {ONE_SWEPT}", f"{SWEEPS}/dit_grid.json"),
            gain("out", "in0_block_w 8", 33.7, "out", BLOCKS, f"115.3 -> 81.5 us, {ONE_SWEPT}", f"{SWEEPS}/dit_grid.json"),
            dead("wide-64", "64 cores for both wide matmuls and the first one", "wide_a wide_g qkv", FEWER, "339.8 -> 416.1 and 254.9 -> 314.8 us at best", f"{SWEEPS}/dit.json"),
            dead("chunks", "chunks of 384 or 768", "attend", SDPA_CHUNKS, "323.0 -> 326.4 us; 768 does not fit in L1", f"{SWEEPS}/sdpa.json"),
            dead("attend-hifi2", "HiFi2 for attention", "attend", HIFI2, "323.0 -> 316.7 us: 0.2 % of the block, not taken", f"{SWEEPS}/sdpa.json"),
        ),
        "times of the small ops as before; gaps; subblocks; how the config is printed",
    ),
    laid(
        "music3-depth-first", DEPTH_LOG, "depth decoder, norms and heads in DRAM: 35.3 ms a frame of 28 such layers",
        depth(DEPTH_FIRST),
        (
            gain("norms", "the norms in shards on 16 cores", 122.4, "norm norm_feed", SHARDED, "75 -> 13.8 us each with both moves"),
            gain("heads", "what splits and joins heads in L1", 56, "qkv heads attend joined", IN_L1, "155 -> 113 us and 52 -> 38 us"),
            dead("composed", "the norm by hand, from a mean and a root", "norm norm_feed", r"rsqrt|composed?\b|by hand|ttnn\.mean", "slower: its sum runs on two cores too"),
            dead("batched", "a matmul for each head instead of the split", "qkv heads", r"batched (matmul|product)|(for|per) each head|per.head", "seven times as slow"),
        ),
        "times of the wide matmuls from their share of DRAM's bandwidth; gaps",
    ),
    laid(
        "music3-depth", DEPTH_LOG, "the same, norms in shards, heads in L1: 29.5 ms a frame",
        depth(DEPTH_WIDE),
        (
            gain("eight", "weights in BFLOAT8_B", 181, "qkv out gate up down", BFP8, "29.5 -> 23.3 ms a frame; these of the profile 734 -> 553 us", LOG),
            dead("norm-cores", "32 or 64 cores for the norms", "norm norm_feed", r"more cores|\b32 cores|\b64 cores|8 ?x ?[48]\b", "7 to 8 us, and gaps of 30 to 45 us"),
        ),
        "times of the wide matmuls from their share of DRAM's bandwidth; gaps",
    ),
    laid(
        "music3-depth-eight", LOG, "the same with BFLOAT8_B weights, in0_block_w 2: 23.3 ms a frame",
        depth(DEPTH_EIGHT),
        (
            gain("out", "a 1D config on 100 cores, in0_block_w 4", 25.7, "out", rf"{CONFIG}|{BLOCKS}", f"85.1 -> 59.4 us, {ONE_SWEPT}", f"{SWEEPS}/depth.json"),
            gain("down", "a 1D config on 100 cores, in0_block_w 4", 38.1, "down", rf"{CONFIG}|{BLOCKS}", f"124.3 -> 86.2 us, {ONE_SWEPT}", f"{SWEEPS}/depth.json"),
            gain("wide", "the same for gate and up", 20.5, "gate up", rf"{CONFIG}|{BLOCKS}", f"102.4 -> 92.1 us each, {ONE_SWEPT}", f"{SWEEPS}/depth.json"),
            gain("project", "the same for the projection of a row", 15.9, "project", rf"{CONFIG}|{BLOCKS}", f"75.9 -> 60.0 us, {ONE_SWEPT}", f"{SWEEPS}/depth12k.json"),
            dead("qkv", "1D configs on 100 cores for the first matmul", "qkv", rf"{CONFIG}|{BLOCKS}", "157.7 -> 155.7 us with in0_block_w 2, else 159.5 to 163.9 us", f"{SWEEPS}/depth12k.json"),
            dead("all-heads", "the same for all heads", "all_heads", rf"{CONFIG}|{BLOCKS}", "93.9 -> 96.9 to 102.8 us", f"{SWEEPS}/depth12k.json"),
            dead("lofi", "LoFi", "qkv out gate up down project all_heads", LOFI, "157.5 -> 156.8, 85.1 -> 84.5, 102.4 -> 101.7, 124.3 -> 123.5 us", f"{SWEEPS}/depth.json"),
            dead("sums", "sums in 16 bits", "qkv project all_heads", SUMS, "157.7 -> 157.3, 75.9 -> 76.0, 93.9 -> 93.6 us", f"{SWEEPS}/depth12k.json"),
            dead("permuted", "heads split by slices and permutes", "heads", r"slice|permute|by hand", "113.5 -> 159.0 us", f"{SWEEPS}/depth_heads.json"),
            dead("split-op", "heads split by another op", "heads", r"split_query_key_value", "113.5 -> 113.3 us", f"{SWEEPS}/depth_heads.json"),
            dead("joined-permuted", "heads joined by a permute", "joined", r"permute|by hand|reshape", "38.5 -> 57.5 us", f"{SWEEPS}/depth_heads.json"),
            dead("joined-op", "heads joined by another op", "joined", r"concatenate_heads", "38.5 -> 38.4 us", f"{SWEEPS}/depth_heads.json"),
        ),
        "gaps; whether the config is printed",
    ),
    laid(
        "music3-model", LOG, "the language model, a layer and the head, as it came: 4.3 ms",
        model(MODEL_FIRST),
        (
            gain("attention", "attention's weights in BFLOAT8_B at HiFi2", 122, "qkv out", rf"{BFP8}|{HIFI2}", "168 -> 94 us and 115 -> 67 us"),
            gain("head", "the head's weights in BFLOAT8_B", 378, "head_?? head_?", BFP8, "269 -> 238 us twelve times, 130 -> 124 us"),
            dead("cache", "keys and values in BFLOAT8_B", "cache attend", BFP8, "attention 11 -> 10 us; 22.45 and 22.53 frames a second of the whole", TABLE),
        ),
        MADE_UP,
    ),
    laid(
        "music3-model-eight", LOG, "the same, all weights in BFLOAT8_B, HiFi2",
        model(MODEL_EIGHT),
        (
            gain("lofi", "LoFi for the layer", 278, "qkv out gate up down", LOFI, "94 -> 58, 67 -> 41, twice 186 -> 113 and 180 -> 110 us; 33.1 -> 21.8 ms a step"),
            gain("head-lofi", "LoFi for the head", 1136, "head_?? head_?", LOFI, "238 -> 147 us twelve times, 124 -> 80 us"),
            gain("wide-1d", "weights interleaved, a 1D config for gate and up", 71, "gate up", rf"{INTERLEAVED_1D}|interleaved", f"186 -> 150.4 us each, {ONE_SWEPT}; not taken: it asks for another library", f"{SWEEPS}/llm.json"),
            gain("down-1d", "weights interleaved, a 1D config for down", 11.1, "down", rf"{INTERLEAVED_1D}|interleaved", f"180 -> 168.9 us, {ONE_SWEPT}; not taken, as above", f"{SWEEPS}/llm.json"),
        ),
        MADE_UP,
    ),
    laid(
        "music3-model-lofi", LOG, "the same at LoFi: 21.8 ms a step of 36",
        model(MODEL_LOFI),
        (
            gain("four", "gate, up and down in BFLOAT4_B", 15.6, "gate up down", BFP4, "22.48 -> 22.77 frames a second, means of four cells each; not taken for its error", TABLE),
            dead("wide-1d", "weights interleaved, a 1D config", "gate up down", rf"{INTERLEAVED_1D}|interleaved", "114 -> 150.0 us each and 110 -> 164.4 us", f"{SWEEPS}/llm.json"),
        ),
        MADE_UP,
    ),
)  # fmt: skip
