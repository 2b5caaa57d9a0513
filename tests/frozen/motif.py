"""Motif-3 (314B, experts) on a Blackhole Galaxy: a decode step through a layer of experts, and attention of prefill.

Eight rows a chip in decode, 10 heads a chip over a latent cache of 576, 12 of 384 experts a chip, hidden 4096; groups of
eight chips share heads, groups of four share rows. The ledger measured op by op, by replayed traces in decode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block, chunks, one_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import (
    BFP8,
    BLOCK_W,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    RING,
    SDPA_CHUNKS,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

GATES = "https://github.com/changh95/tt-metal/blob/0553e86d76b5fff05d2ed73918baf1141acd36e6/models/demos/motif3/tests/unit/gates/GATES_RESULTS.md"
HIDDEN, EXPERTS, WIDE, LATENT = 4096, 12, 1280, 576
GRID = (12, 10)


@dataclass(frozen=True)
class How:
    """The layer at a step of its tuning; times in us."""

    window: int | None = 129  # None: a global layer at 4K tokens
    sdpa: float = 29.7
    k_chunk: int = 128
    flash: tuple[int, float] = (8, 0.0)  # users of a call, and the time of a second call
    gate_up: float = 433
    down: float = 226
    configs: bool = True
    poly: float = 164
    poly_dtype: str = "BFLOAT16"
    gather: float = 12.2
    tiled: bool = False  # the gather's rows
    scatter: bool = False  # the experts' sum by reduce-scatter
    router: tuple[int, str, float, float] = (384, "BFLOAT16", 55, 63)  # width, weights, matmul, TopK
    mixes: tuple[float, float] = (15, 36.4)
    by_hand: bool = False  # mixes of streams and rotary in parts


def _batched(block: Block, role: str, x: Tensor, n: int, us: float, config: str | None, cores: int) -> Tensor:  # noqa: PLR0917
    weight = block.tensor([1, EXPERTS, x.shape[-1], n], "BFLOAT8_B")
    return block.op(role, "Matmul", (x, weight), block.tensor([1, EXPERTS, 32, n]), us, cores=cores, fidelity="HiFi4", bcast_batch=False, compute_kernel_config=block.kernel("HiFi4", fp32=True), output_dtype="DataType::BFLOAT16", output_mem_config=DRAM, program_config=config, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip


def _reduced(block: Block, role: str, x: Tensor, us: float, ring: int) -> Tensor:
    return block.collective(role, "AllReduceAsync", x, x.shape[-1], us, ring=ring, topology="Torus")


def _mixed(block: Block, how: How, role: str, streams: Tensor, rows: int, us: float) -> Tensor:  # noqa: PLR0917
    """Weighted sums of the residual's four streams (one or four of them), by one op or by two."""
    scales = block.tensor([rows, 4, 8, 1], "FLOAT32")
    shape = [1, rows, 8, HIDDEN]
    if not how.by_hand:
        return block.op(f"{role}_mix", "AttnResWeightedReduceNc", (streams, scales), block.tensor(shape), us, cores=120, fidelity="HiFi4")  # fmt: skip
    wide = block.tensor([rows, 4, 8, HIDDEN], "FLOAT32")
    scaled = block.op(f"{role}_mix_scaled", "BinaryNg", (streams, scales), wide, 0.6 * us, cores=120, fidelity="HiFi4", binary_op_type="BinaryOpType::MUL", memory_config=DRAM)  # fmt: skip
    summed = block.op(f"{role}_mix_summed", "Reduce", (scaled,), block.tensor(shape, "FLOAT32"), 0.33 * us, cores=120, fidelity="HiFi4", dim=1)  # fmt: skip
    return block.typecast(f"{role}_mix_cast", summed, "BFLOAT16", 0.07 * us, cores=120)


def _rotated(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    if not how.by_hand:
        return block.rotary(f"rope_{role}", x, 3.0, decode=True, cores=8)
    tables = [block.tensor([1, 8, 32, 64]) for _ in range(2)]
    turned = block.linear(f"rope_{role}_turned", x, 64, 7.4, config=None, cores=8)
    straight = block.binary(f"rope_{role}_cos", "MUL", x, tables[0], 4.0, cores=8)
    turned = block.binary(f"rope_{role}_sin", "MUL", turned, tables[1], 4.0, cores=8)
    return block.binary(f"rope_{role}_sum", "ADD", straight, turned, 4.0, cores=8)


def _attended(block: Block, how: How, normed: Tensor) -> Tensor:
    qkv = block.linear("qkv", normed, 2496, 34, dtype="BFLOAT8_B", config=one_d((10, 8), 8, (1, 1)), cores=78)
    rope_q = _rotated(block, how, "q", block.slice("q_part", qkv, (0, 0, 0, 0), (1, 1, 8, 64), 2.0))
    rope_k = _rotated(block, how, "k", block.slice("k_part", qkv, (0, 0, 0, 64), (1, 1, 8, 128), 2.0))
    latent = block.concat("latent", (rope_k, rope_q), [1, 1, 8, LATENT], 3, 3.0)
    cache = block.tensor([4129, 1, 64, LATENT], "BFLOAT8_B")
    block.update_cache("cache", cache, block.view(latent, [1, 8, 1, LATENT]), 4.8)
    users = how.flash[0]
    where = block.tensor([users], "INT32", layout=ROW_MAJOR)
    pages = block.tensor([users, 512], "INT32", layout=ROW_MAJOR)

    def call(role: str, us: float) -> Tensor:
        query = block.tensor([1, users, 10, LATENT])
        return block.op(
            role, "SdpaDecode", (query, cache, where, pages), block.tensor([1, users, 10, 512]), us, cores=120,
            fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_causal=True, k_chunk_size=how.k_chunk,
            output_mem_config=DRAM, paged_attention=True, program_config=chunks(0, how.k_chunk, GRID), scale="1", share_cache=False,
            sliding_window_size=how.window, use_mla=True, head_dim_v=512,
        )  # fmt: skip

    attended = call("sdpa", how.sdpa)
    if how.flash[1]:
        attended = block.concat(
            "sdpa_joined", (attended, call("sdpa_second", how.flash[1])), [1, 16, 10, 512], 1, 5.0
        )
    rows = attended.shape[1]
    values = block.op("values", "Matmul", (attended, block.tensor([1, 1, 512, 128], "BFLOAT8_B")), block.tensor([1, rows, 10, 128]), 9, cores=80, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), program_config=one_d((10, 8), 4, (1, 1)))  # fmt: skip
    out = block.linear("wo", block.view(values, [1, 1, rows, 1280]), HIDDEN, 22, dtype="BFLOAT8_B", config=one_d((8, 8), 8, (1, 2)), cores=64)  # fmt: skip
    return _reduced(block, "reduce_attention", out, 33.4, 8)


def _experts(block: Block, how: How, normed: Tensor) -> Tensor:
    width, dtype, matmul_us, topk_us = how.router
    logits = block.linear("router", normed, width, matmul_us, dtype=dtype, fidelity="HiFi4", fp32=True, config=one_d((12, 1), 8, (1, width // 384)), cores=12, out="FLOAT32")  # fmt: skip
    scores = block.binary("router_bias", "ADD", logits, block.tensor([1, 1, 1, width], "FLOAT32"), 6.0, cores=12)
    best = (block.tensor([1, 1, 8, 8], "FLOAT32"), block.tensor([1, 1, 8, 8], "UINT32"))
    top = block.op("router_topk", "TopK", (scores,), best, topk_us, cores=1, fidelity="HiFi4", dim=3, k=8, largest=True, sorted=True)  # fmt: skip
    picked = block.op("router_gather", "Gather", (logits, best[1]), block.tensor([1, 1, 8, 8], "FLOAT32"), 36, cores=1, dim=3)  # fmt: skip
    total = block.op("router_total", "Reduce", (picked,), block.tensor([1, 1, 8, 1], "FLOAT32"), 11, cores=1, fidelity="HiFi4", dim=3)  # fmt: skip
    block.binary("router_share", "DIV", top, total, 18, cores=1)
    rows = normed
    if how.tiled:
        rows = block.op("gather_rows", "AllGatherAsync", (rows,), block.tensor([1, 1, 32, HIDDEN]), how.gather, cores=8, cluster_axis=0, dim=2, num_links=2, ring_size=4, topology="Topology::Torus", output_mem_config=DRAM)  # fmt: skip
    else:
        flat = block.moved("rows_untilized", "Untilize", rows, 3.0, layout=ROW_MAJOR, cores=120, fidelity="HiFi4", use_multicore=True)  # fmt: skip
        flat = block.op("gather_rows", "AllGatherAsync", (flat,), block.tensor([1, 1, 32, HIDDEN], layout=ROW_MAJOR), how.gather, cores=8, cluster_axis=0, dim=2, num_links=2, ring_size=4, topology="Topology::Torus", output_mem_config=DRAM)  # fmt: skip
        rows = block.moved("rows_tilized", "Tilize", flat, 4.0, layout="TILE", cores=120, fidelity="HiFi4", use_multicore=True)  # fmt: skip
    spread = block.moved("rows_repeated", "Repeat", rows, 10, shape=[1, EXPERTS, 32, HIDDEN], cores=120)
    config = one_d((10, 8), 8, (1, 1)) if how.configs else None
    both = _batched(block, "gate_up", spread, 2 * WIDE, how.gate_up, config, 80 if how.configs else 12)
    parts = [block.slice(f"half_{name}", both, (0, 0, 0, at), (1, EXPERTS, 32, at + WIDE), how.poly / 16) for name, at in (("gate", 0), ("up", WIDE))]  # fmt: skip
    gate = parts[0] if how.poly_dtype == "BFLOAT16" else block.typecast("poly_cast", parts[0], how.poly_dtype, how.poly / 16)  # fmt: skip
    small = how.poly / 16
    square = block.binary("poly_square", "MUL", gate, gate, small, cores=120)
    cube = block.binary("poly_cube", "MUL", square, gate, small, cores=120)
    powers = [block.norm(f"poly_norm{n}", one, 1.5 * small, cores=12) for n, one in enumerate((gate, square, cube))]
    scaled = [block.binary(f"poly_scaled{n}", "MUL", one, block.tensor([1, EXPERTS, 1, 1], how.poly_dtype), small, cores=120) for n, one in enumerate(powers)]  # fmt: skip
    summed = block.binary("poly_sum0", "ADD", scaled[0], scaled[1], small, cores=120)
    summed = block.binary("poly_sum1", "ADD", summed, scaled[2], small, cores=120)
    hidden = block.binary("poly_product", "MUL", summed, parts[1], small, cores=120, out="BFLOAT16")
    config = one_d((8, 4), 4, (1, 4)) if how.configs else None
    made = _batched(block, "down", hidden, HIDDEN, how.down, config, 32 if how.configs else 12)
    made = block.binary("weighted", "MUL", made, block.tensor([1, EXPERTS, 32, 1]), 14, cores=120)
    made = block.op("experts_sum", "FastReduceNC", (made,), block.tensor([1, 1, 32, HIDDEN]), 10, cores=120, fidelity="HiFi4", dim=1)  # fmt: skip
    if how.scatter:
        made = block.op("combine", "ReduceScatterMinimalAsync", (made,), block.tensor([1, 1, 8, HIDDEN]), 109, cores=8, fidelity="HiFi4", cluster_axis=0, dim=2, num_links=2, ring_size=4, topology="Topology::Torus", output_mem_config=DRAM)  # fmt: skip
    else:
        made = _reduced(block, "combine", made, 33.4, 4)
        made = block.slice("combine_own", made, (0, 0, 0, 0), (1, 1, 8, HIDDEN), 2.0)
    return _reduced(block, "reduce_experts", made, 33.4, 8)


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=8, grid=GRID, gap_us=0.7)
        streams = block.tensor([1, 4, 8, HIDDEN])
        x = _mixed(block, how, "before_attention", streams, 1, how.mixes[0])
        x = _attended(block, how, block.norm("norm_attention", x, 9, cores=1))
        if how.flash == (8, 0.0):
            streams = _mixed(block, how, "after_attention", block.tensor([1, 4, 8, HIDDEN]), 4, how.mixes[1])
        x = _mixed(block, how, "before_feed", streams, 1, how.mixes[0])
        normed = block.norm("norm_feed", x, 9, cores=1)
        shared = block.linear("shared_gate_up", normed, 320, 14, dtype="BFLOAT8_B", config=one_d((10, 1), 8, (1, 1)), cores=10)  # fmt: skip
        stats = _reduced(block, "reduce_stats", block.tensor([1, 1, 8, 3], "FLOAT32"), 38.8, 8)
        shared = block.binary("shared_scaled", "MUL", block.slice("shared_half", shared, (0, 0, 0, 0), (1, 1, 8, 160), 2.0), block.tensor([1, 1, 8, 1]), 3.0, cores=5)  # fmt: skip
        block.linear(
            "shared_down", shared, HIDDEN, 10, dtype="BFLOAT8_B", config=one_d((8, 8), 5, (1, 2)), cores=64
        )
        block.view(stats, [1, 1, 8, 3])
        _experts(block, how, normed)
        return block

    return build


def prefill(us: float, size: int, keys: str) -> Callable[[], Block]:
    """Attention of a global layer over 4096 new tokens, one chip's heads."""

    def build() -> Block:
        block = Block("blackhole", devices=8, grid=GRID, gap_us=6.0)
        low = {"dtype": "BFLOAT8_B", "fidelity": "HiFi2"}
        x = block.norm("norm_in", block.tensor([1, 1, 4096, HIDDEN]), 190, cores=120)
        qkv = block.minimal("qkv", x, 2496, 420, config=None, cores=120, **low)
        q = block.moved("q_heads", "NlpCreateHeads", qkv, 95, shape=[1, 10, 4096, 192], cores=120, head_dim=192)
        expanded = block.minimal("expand", block.tensor([1, 1, 4096, 512]), 640, 70, config=None, cores=120, **low)
        kv: list[Tensor] = []
        for name in ("k", "v"):
            one = block.moved(f"{name}_heads", "NlpCreateHeads", expanded, 40, shape=[1, 2, 4096, 192], cores=120, head_dim=192)  # fmt: skip
            kv.append(one if keys == "BFLOAT16" else block.typecast(f"{name}_narrow", one, keys, 12, cores=120))
        q = block.rotary("rope_q", q, 60, decode=False, cores=120)
        attended = block.attend("sdpa", q, *kv, us, config=chunks(size, size, GRID), cores=120, fidelity="HiFi2")
        joined = block.moved("joined", "NLPConcatHeads", attended, 60, shape=[1, 1, 4096, 1280], cores=120)
        out = block.minimal("wo", joined, HIDDEN, 240, config=None, cores=120, **low)
        _reduced(block, "reduce", out, 900, 8)
        return block

    return build


def resumed(rows: int, us: float, size: int) -> Callable[[], Block]:
    """Attention of a global layer over `rows` new tokens behind 8192 in the latent cache, one chip's heads."""

    def build() -> Block:
        block = Block("blackhole", devices=8, grid=GRID, gap_us=6.0)
        low = {"dtype": "BFLOAT8_B", "fidelity": "HiFi2"}
        part = rows / 4096
        x = block.norm(
            "norm_in", block.tensor([1, 1, rows, HIDDEN]), max(20, 190 * part), cores=min(120, rows // 32)
        )
        qkv = block.minimal("qkv", x, 2496, max(60, 420 * part), config=None, cores=120, **low)
        q = block.moved("q_heads", "NlpCreateHeads", qkv, max(12, 95 * part), shape=[1, 10, rows, LATENT], cores=120, head_dim=LATENT)  # fmt: skip
        cache = block.tensor([520, 1, 64, LATENT], "BFLOAT8_B")
        new = block.tensor([1, 1, rows, LATENT], "BFLOAT8_B")
        block.op(
            "fill",
            "PagedFillCache",
            (cache, new),
            cache,
            max(4, 60 * part),
            cores=min(120, rows // 32),
            batch_idx=0,
        )
        pages = block.tensor([1, 640], "INT32", layout=ROW_MAJOR)
        start = block.tensor([1], "INT32", layout=ROW_MAJOR)
        attended = block.op(
            "sdpa", "SDPAOperation", (q, cache, cache, pages, start), block.tensor([1, 10, rows, 512]), us, cores=120, fidelity="HiFi4",
            compute_kernel_config=block.kernel("HiFi4", fp32=True), is_causal=True, output_mem_config=DRAM,
            program_config=chunks(size, size, GRID), scale="1", sliding_window_size=None, use_mla=False, chunk_start_idx=8192,
        )  # fmt: skip
        values = block.op("values", "Matmul", (attended, block.tensor([1, 1, 512, 128], "BFLOAT8_B")), block.tensor([1, 10, rows, 128]), max(15, 150 * part), cores=120, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), program_config=None)  # fmt: skip
        joined = block.moved("joined", "NLPConcatHeads", values, max(10, 60 * part), shape=[1, 1, rows, 1280], cores=120)  # fmt: skip
        out = block.minimal("wo", joined, HIDDEN, max(40, 240 * part), config=None, cores=120, **low)
        _reduced(block, "reduce", out, max(60, 900 * part), 8)
        return block

    return build


TORUS = "the grid of a collective; times of projections, norms, moves and small ops; eight of 32 chips stand here"
AROUND = "all times but attention's"
MERGED = r"one call|single call|merge|batch|together|repeated"

MOTIF = (
    laid(
        "motif-decode-first", GATES, "decode, window of 129, as ops were first tried",
        decode(How(sdpa=39.1, k_chunk=256, gate_up=983, down=289, configs=False, poly=294, poly_dtype="FLOAT32", gather=62, tiled=True, scatter=True, router=(512, "FLOAT32", 69, 83))),
        (
            gain("gate-up", "a 1D config on 80 cores for the experts' gate and up", 557, "gate_up", rf"{CONFIG}|{CORES}", "983 -> 426 us"),
            gain("down", "a 1D config on 32 cores for their down", 67, "down", rf"{CONFIG}|{CORES}", "289 -> 222 us"),
            gain("poly", "BFLOAT16 between the ops of the activation", 130, "poly_* half_gate half_up", r"bfloat16|float32|FP32|typecast", "294 -> 164 us"),
            gain("gather", "rows gathered in row-major layout", 49.8, "gather_rows", r"row.major|ROW_MAJOR|padd|padding", "62.0 -> 12.2 us; the conversions not counted"),
            gain("combine", "an all-reduce and a slice instead of a reduce-scatter of padded rows", 75.6, "combine", r"all_reduce|all-reduce|padd|padding", "109 -> 33.4 us"),
            gain("chunk", "chunks of 128", 9.4, "sdpa", SDPA_CHUNKS, "39.1 -> 29.7 us"),
            gain("router", "a router of 384 columns with BFLOAT16 weights", 34, "router*", r"pad|bfloat16|512|384", "223 -> 189 us for the router's ops"),
            gain("ring", "a ring of links", 5, "reduce_attention", RING, "33.4 -> 28.4 us"),
        ),
        TORUS,
    ),
    laid(
        "motif-decode-parts", GATES, "decode, a global layer at 4K tokens, mixes and rotary in parts",
        decode(How(window=None, sdpa=116, k_chunk=256, mixes=(102, 232), by_hand=True)),
        (
            gain("chunk", "chunks of 128", 14.2, "sdpa", SDPA_CHUNKS, "116 -> 101.8 us"),
            gain("mixes", "one op for a mix of streams", 370, "*_mix_*", r"weighted_reduce|attn_res", "102 -> 15 us twice and 232 -> 36 us"),
            gain("rotary", "the rotary op", 16.4, "rope_q_*", r"rotary_embedding", "19.4 -> 3 us"),
        ),
        TORUS,
    ),
    laid(
        "motif-decode-window", GATES, "decode, window of 129, tuned: 1656 us in the whole layer",
        decode(How()),
        (
            gain("queries", "queries in height shards", 2.5, "sdpa", SHARDED, "29.7 -> 27.2 us"),
            dead("gate-up-hifi2", "HiFi2 for the experts' gate and up", "gate_up", HIFI2, "433 -> 426 us"),
            dead("down-hifi2", "HiFi2 for their down", "down", HIFI2, "226 -> 222 us"),
            dead("gate-up-banks", "gate and up flattened, over the banks", "gate_up", DRAM_SHARDED, "refused: 1.6 to 4.0 MB of circular buffers"),
            dead("down-banks", "down flattened, over the banks", "down", DRAM_SHARDED, "222 -> 225 us"),
            dead("gate-up-reuse", "a config without multicast for gate and up", "gate_up", r"MatmulMultiCoreReuseProgramConfig", "refused"),
            dead("gate-up-block", "in0_block_w 16 for gate and up", "gate_up", BLOCK_W, "476 -> 484 us on 40 cores"),
            dead("down-cores", "64 cores for down", "down", CORES, "222 -> 241 us"),
            dead("chunks", "chunks of 256, or TTNN's choice", "sdpa", SDPA_CHUNKS, "29.7 -> 39.1 and 38.4 us"),
            dead("reduce-l1", "an all-reduce in L1", "reduce_attention reduce_experts", IN_L1, "33.4 us either way"),
            dead("stats-l1", "the sum of statistics in L1", "reduce_stats", IN_L1, "38.8 us either way"),
            dead("router-exact", "FLOAT32 weights of the router", "router", r"float32|FP32", "189 -> 199 us, the same numbers"),
            dead("router-wide", "a router of 512 columns", "router_topk", r"pad|power of two|512", "63 -> 83 us for TopK"),
        ),
        TORUS,
    ),
    laid(
        "motif-decode-global", GATES, "decode, a global layer at 4K tokens, tuned: 1729 us in the whole layer",
        decode(How(window=None, sdpa=101.8)),
        (
            dead("queries", "queries in height shards", "sdpa", SHARDED, "101.8 -> 106.6 us"),
            dead("chunks", "chunks of 512", "sdpa", SDPA_CHUNKS, "refused: 1.7 MB of circular buffers"),
            dead("acc", "accumulation in BFLOAT16", "sdpa", r"fp32_dest_acc", "102.8 -> 101.8 us, less exact"),
        ),
        TORUS,
    ),
    laid(
        "motif-verify-window", GATES, "16 rows a chip, window of 129, attention in two calls",
        decode(How(sdpa=32, flash=(8, 31.7))),
        (gain("one-call", "one call of 16 rows", 37.9, "sdpa sdpa_second sdpa_joined", MERGED, "68.7 -> 30.8 us"),),
        TORUS,
    ),
    laid(
        "motif-verify-global", GATES, "16 rows a chip, a global layer at 4K tokens, attention in two calls",
        decode(How(window=None, sdpa=104.8, flash=(8, 104.5))),
        (gain("one-call", "one call of 16 rows", 66, "sdpa sdpa_second sdpa_joined", MERGED, "214.3 -> 148.3 us"),),
        TORUS,
    ),
    laid(
        "motif-prefill-first", GATES, "attention over 4096 tokens, chunks of 128",
        prefill(1436, 128, "BFLOAT16"),
        (gain("chunks", "chunks of 256", 633, "sdpa", SDPA_CHUNKS, "1436 -> 803 us"),),
        AROUND,
    ),
    laid(
        "motif-prefill-wide", GATES, "attention over 4096 tokens, chunks of 256",
        prefill(803, 256, "BFLOAT16"),
        (
            gain("keys", "keys and values in BFLOAT8_B", 245, "sdpa", BFP8, "803 -> 558 us"),
            dead("chunks", "chunks of 512", "sdpa", SDPA_CHUNKS, "refused: does not fit in L1"),
        ),
        AROUND,
    ),
    laid(
        "motif-resumed-256", GATES, "256 tokens behind 8192, chunks of 128",
        resumed(256, 7_380, 128),
        (gain("chunks", "chunks of 64", 2_980, "sdpa", SDPA_CHUNKS, "7.38 -> 4.40 ms"),),
        AROUND,
    ),
    laid(
        "motif-resumed-512", GATES, "512 tokens behind 8192, chunks of 128",
        resumed(512, 7_480, 128),
        (gain("chunks", "chunks of 64", 3_000, "sdpa", SDPA_CHUNKS, "7.48 -> 4.48 ms"),),
        AROUND,
    ),
    laid(
        "motif-resumed-1024", GATES, "1024 tokens behind 8192, chunks of 64",
        resumed(1024, 4_800, 64),
        (
            dead("chunks", "chunks of 128", "sdpa", SDPA_CHUNKS, "4.80 -> 7.73 ms"),
            dead("acc", "accumulation in BFLOAT16", "sdpa", r"fp32_dest_acc", "about the same, and wrong (PCC 0.998)"),
        ),
        AROUND,
    ),
    laid(
        "motif-resumed-2048", GATES, "2048 tokens behind 8192, chunks of 64",
        resumed(2048, 11_970, 64),
        (gain("chunks", "chunks of 128", 3_430, "sdpa", SDPA_CHUNKS, "11.97 -> 8.54 ms"),),
        AROUND,
    ),
    laid(
        "motif-resumed-8192", GATES, "8192 tokens behind 8192, chunks of 64",
        resumed(8192, 54_490, 64),
        (gain("chunks", "chunks of 128", 18_020, "sdpa", SDPA_CHUNKS, "54.49 -> 36.47 ms"),),
        AROUND,
    ),
    laid(
        "motif-resumed-8192-wide", GATES, "8192 tokens behind 8192, chunks of 128",
        resumed(8192, 36_470, 128),
        (dead("acc", "accumulation in BFLOAT16", "sdpa", r"fp32_dest_acc", "a fifth faster and wrong (PCC 0.998)"),),
        AROUND,
    ),
)  # fmt: skip
