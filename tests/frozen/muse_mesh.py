"""Muse-Glimmer 30B over four Blackhole chips in a ring: tensor parallel, the residual replicated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, minimal, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.muse_decode import HIDDEN, MODEL
from tests.frozen.names import (
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    PACKED,
    RING,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FIRST = f"{TT_METAL}/0ffe4c2fa43894ff78af6e3d0c2f99e67f210c7e/{MODEL}/multichip_decoder/work_log.md"
SECOND = f"{TT_METAL}/093c65bd2c2cbc6bd22f01558c24595fb5133356/{MODEL}/optimized_multichip_decoder/work_log.md"
QKV, GATE, WIDE = 1280, 1024, 5120  # of one chip


def decode(
    *, scatter_us: float = 14.0, topology: str = "Ring", workers: int | None = 1, attention: tuple[float, float] = (22.3, 19.4),
    block_w: int = 13, rotary: bool = True, sdpa_us: float = 20.9, most_cores: int = 32,
) -> Callable[[], Block]:  # fmt: skip
    def build() -> Block:
        block = Block("blackhole", devices=4)
        residual, norm = block.across(32, HIDDEN, 16), norm_shards((8, 2), 13)

        def project(role: str, x: Tensor, n: int, us: float, size: int, dtype: str = "BFLOAT8_B") -> Tensor:  # noqa: PLR0917
            place = block.across(32, n, 16)
            config = banked(size, -(-n // 32 // 16))
            return block.linear(role, x, n, us, dtype=dtype, fidelity="LoFi", config=config, cores=12, place=place, banks=True)  # fmt: skip

        def summed(name: str, x: Tensor) -> Tensor:
            part = block.collective(f"scatter_{name}", "ReduceScatterMinimalAsync", x, HIDDEN // 4, scatter_us, topology=topology, workers=workers, place=DRAM)  # fmt: skip
            whole = block.collective(f"gather_{name}", "AllGatherAsync", part, HIDDEN, 12.6, topology=topology, place=residual)  # fmt: skip
            return block.norm(f"norm_{name}", whole, 8.4, cores=16, config=norm)

        x = block.to_shards("entry", block.tensor([1, 1, 32, HIDDEN]), residual, 1.9)
        normed = block.norm("norm_in", x, 8.4, cores=16, config=norm)
        flat = block.from_shards("qkv_flat", project("qkv", normed, QKV, attention[0], block_w), 1.5, L1)
        q, k, v = block.heads_of_decode("heads", flat, 10, heads=8, kv=1, size=128, users=1)
        q, k = (block.norm(f"norm_{n}", one, 3.75, cores=1, place=L1) for n, one in (("q", q), ("k", k)))
        if rotary:
            tables = []
            for name in ("cos", "sin"):
                rows = block.tensor([1, 1, 131_072, 128], layout=ROW_MAJOR)
                picked = block.op(f"{name}_rows", "Embeddings", (block.tensor([1, 1], "UINT32", layout=ROW_MAJOR), rows), block.tensor([1, 1, 1, 128], layout=ROW_MAJOR), 2.6, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=False)  # fmt: skip
                tables.append(block.moved(f"{name}_tilized", "TilizeWithValPadding", picked, 5.6, cores=1, layout="TILE", fidelity="HiFi4", use_multicore=True))  # fmt: skip
            q, k = (block.rotary(f"rope_{n}", one, 2.6, decode=True, cores=1, tables=tables) for n, one in (("q", q), ("k", k)))  # fmt: skip
        cache = block.tensor([2048, 1, 64, 128], "BFLOAT8_B")
        block.update_cache("cache_k", cache, k, 2.85)
        block.update_cache("cache_v", cache, v, 2.85)
        attended = block.attend_decode("sdpa", q, cache, sdpa_us, config=chunks(0, 0, (11, 10), most_cores), cores=most_cores)  # fmt: skip
        placed = block.to_shards("attended_placed", attended, block.along(32, 128, 1), 0.9)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 1.6, shape=[1, 1, 32, GATE], place=block.across(32, GATE, 16), cores=16, num_heads=8, on_subcoregrids=False)  # fmt: skip
        gate = project("gate", normed, GATE, attention[1], block_w)
        gated = block.binary("gated", "MUL", joined, gate, 6.5, cores=16, rhs="SIGMOID")
        x = block.binary("sum_attention", "ADD", x, summed("attention", project("out", gated, HIDDEN, 21.3, 2)), 6.5, cores=16)  # fmt: skip
        normed = block.norm("norm_feed", x, 8.4, cores=16, config=norm)
        halves = [project(role, normed, WIDE, 63.85, 13, "BFLOAT4_B") for role in ("up1", "up2")]
        hidden = block.binary("swiglu", "MUL", *halves, 6.5, cores=16, lhs="SILU")
        down = project("down", hidden, HIDDEN, 63.9, 10, "BFLOAT4_B")
        x = block.binary("sum_feed", "ADD", x, summed("fed", down), 6.5, cores=16)
        block.from_shards("exit", x, 1.9)
        return block

    return build


def prefill(payload: str, reduced_us: float, matmuls_us: float) -> Callable[[], Block]:
    """8192 tokens, interleaved in DRAM."""

    def build() -> Block:
        block = Block("blackhole", devices=4)
        rows = 8192
        x = block.tensor([1, 1, rows, HIDDEN])
        work = {"qkv": QKV * HIDDEN, "gate": GATE * HIDDEN, "out": GATE * HIDDEN, "up1": WIDE * HIDDEN}
        work |= {"up2": work["up1"], "down": work["up1"]}

        def project(role: str, given: Tensor, n: int, dtype: str = "BFLOAT8_B", out: str = "BFLOAT16") -> Tensor:
            us = matmuls_us * work[role] / sum(work.values())
            config = minimal((8, 8, 16), (2, 4), (11, 10))
            return block.minimal(role, given, n, us, dtype=dtype, fidelity="LoFi", config=config, cores=110, out=out, banks=True)  # fmt: skip

        def summed(name: str, part: Tensor) -> Tensor:
            part = block.collective(f"scatter_{name}", "ReduceScatterMinimalAsync", part, HIDDEN // 4, 0.63 * reduced_us, cores=24)  # fmt: skip
            return block.collective(f"gather_{name}", "AllGatherAsync", part, HIDDEN, 0.37 * reduced_us, cores=18)

        normed = block.norm("norm_in", x, 835, cores=110)
        q, k, v = block.split_heads("heads", project("qkv", normed, QKV), 90, heads=8, kv=1, size=128, rows=rows)
        q, k = (block.norm(f"norm_{n}", one, us, cores=110) for n, one, us in (("q", q, 100), ("k", k, 20.4)))
        turned = [block.rotary(f"rope_{n}", one, us, decode=False) for n, one, us in (("q", q, 190), ("k", k, 30))]
        attended = block.attend("sdpa", turned[0], turned[1], v, 1_950, config=chunks(256, 256, (11, 10)), cores=110, window=2048, fidelity="HiFi4", fp32=True)  # fmt: skip
        joined = block.join_heads("joined", attended, 60)
        gated = block.binary("gated", "MUL", joined, project("gate", normed, GATE), 160, rhs="SIGMOID")
        out = summed("attention", project("out", gated, HIDDEN, out=payload))
        x = block.binary("sum_attention", "ADD", x, block.norm("norm_attention", out, 835, cores=110), 616.5)
        normed = block.norm("norm_feed", x, 835, cores=110)
        halves = [project(role, normed, WIDE, "BFLOAT4_B") for role in ("up1", "up2")]
        hidden = block.binary("swiglu", "MUL", *halves, 640, lhs="SILU")
        down = summed("fed", project("down", hidden, HIDDEN, "BFLOAT4_B", payload))
        block.binary("sum_feed", "ADD", x, block.norm("norm_fed", down, 835, cores=110), 555.7)
        return block

    return build


MOVES = "how the rotary part, heads and joins split; RS and AG of one reduction"
ASYNC = r"async|workers|semaphore|persistent"

MUSE_MESH = (
    laid(
        "muse-tp4-decode", SECOND, "decode at 2048 tokens on four chips, tuned: 441.5 us, four collectives of 53.2 us",
        decode(),
        (
            gain("boundary", "the residual handed on in its L1 shards: no moves at the layer's ends", 2.5, "entry exit", r"shard|L1|layout|move|convert", "441.5 -> 439.0 us of device time; 457.1 -> 454.7 of wall time"),
            dead("pack-attention", "QKV and the gate as one matmul", "qkv gate", PACKED, "40.50 -> 41.05 us, splitting included"),
            dead("pack-feed", "gate and up as one matmul", "up1 up2", PACKED, "142.96 -> 145.66 us, splitting included"),
            dead("matmul-scatter", "matmul and reduce-scatter as one op", "out scatter_attention down scatter_fed", r"matmul_reduce_scatter|fus.{0,60}(reduce.scatter|collective)|reduce.scatter.{0,60}fus", "refuses the DRAM-sharded config; with a 2D one 63.3 us against 44.9, and 173 against 87"),
            dead("gather-matmul", "gathered input and a matmul of all its rows, fused", "out gather_attention", r"all_gather_matmul|all_gather_minimal_matmul|gather.{0,40}fus|fus.{0,40}gather", "64.7 us against 44.9"),
            dead("async", "async collectives with own semaphores", "scatter_* gather_*", ASYNC, "454.5 -> 455.4 us of wall time with the barrier they need"),
            dead("bfp4-attention", "attention weights in BFLOAT4_B", "qkv gate out", BFP4, "0.5 %, and 0.97 of the correlation: refused"),
            dead("bfp4-cache", "the cache in BFLOAT4_B", "sdpa", BFP4, "450.1 -> 449.9 us, and refused for its accuracy"),
            dead("out-shards", "the output projection on 8 cores, in0_block_w 4", "out", BLOCK_W, "454.6 -> 454.2 us"),
            dead("activation", "SiLU and sigmoid in the matmuls", "up1 gate swiglu gated", ACTIVATION_IN_MATMUL, "466.9 -> 476.3 us", FIRST),
            dead("distributed-norm", "a residual in four parts, norms of 1664 with gathered statistics", "norm_attention norm_feed norm_fed norm_in", r"distributed|pre_all_gather|each (chip|device)|per (chip|device)", "4.6 us saved by a norm, 10.4 added by a gather", FIRST),
        ),
        MOVES,
        441.5,
    ),
    laid(
        "muse-tp4-decode-line", FIRST, "decode on four chips, collectives as a line: 39.9 us a reduce-scatter",
        decode(scatter_us=39.88, topology="Linear", workers=None),
        (
            gain("ring", "ring topology", 12.7, "scatter_*", RING, "39.88 -> 33.55 us each"),
            gain("workers", "num_workers_per_link=1", None, "scatter_*", r"workers", "33.55 -> 20.93 us each alone, but 461.8 -> 458.9 us of the whole step"),
        ),
        f"that all else is as tuned; {MOVES}",
    ),
    laid(
        "muse-tp4-decode-attention-blocks", FIRST, "decode on four chips, in0_block_w 1 where 13 fits: 715.8 us of wall time",
        decode(attention=(155.3, 135.3), block_w=1),
        (gain("blocks", "in0_block_w 13", 248.9, "qkv gate", BLOCK_W, "715.8 -> 466.9 us of wall time"),),
        f"how the difference splits over QKV and the gate; {MOVES}",
    ),
    laid(
        "muse-tp4-decode-long", FIRST, "decode at 131,071 tokens on four chips, full attention, 16 cores a head: 607.7 us of wall time",
        decode(rotary=False, sdpa_us=193, most_cores=16),
        (gain("cores", "max_cores_per_head_batch=32", 69.3, "sdpa", r"max_cores_per_head_batch|more cores|cores", "607.7 -> 538.4 us of wall time; 64 take 540.8"),),
        f"the share of attention; {MOVES}",
    ),
    laid(
        "muse-tp4-prefill", SECOND, "8192 tokens on four chips, BFLOAT8_B collectives: 18.2 ms, 30 ops",
        prefill("BFLOAT8_B", 1_723.9, 6_981),
        (
            gain("distributed-norm", "norms after a reduction on a quarter of the columns, statistics gathered", 884, "norm_attention norm_fed gather_attention gather_fed", r"distributed|pre_all_gather|each (chip|device)|per (chip|device)|before the (all.?)?gather", "norms 3460.4 -> 2454.8 us, 121.1 us of gathers added"),
            gain("async", "async collectives, four workers", 481, "scatter_* gather_*", ASYNC, "1588.7 -> 1348.0 us each of two, alone"),
        ),
        f"the matmuls' times (their sum follows), attention; {MOVES}",
        18_211.6,
    ),
    laid(
        "muse-tp4-prefill-bf16", FIRST, "8192 tokens on four chips, BFLOAT16 collectives: 21.2 ms of wall time",
        prefill("BFLOAT16", 2_197.8, 7_300),
        (gain("payload", "collectives in BFLOAT8_B", 1_268, "scatter_* gather_*", BFP8, "2197.8 -> 1563.7 us each of two, alone; 21.16 -> 18.82 ms of wall time"),),
        f"the matmuls' times, attention; {MOVES}",
    ),
)  # fmt: skip
