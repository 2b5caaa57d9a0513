"""Mistral Small 24B on Blackhole chips (p300c): decode of 32 users through a layer, on one chip and on four.

Hidden 5120, 32 heads over 8 KV heads of 128, SwiGLU of 32768; weights in BFLOAT4_B, LoFi. The ledger tells wall times of
replayed traces; the times of the tuned layer's larger ops are its profile's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    ACTIVATION_IN_MATMUL,
    BFP8,
    BLOCK_W,
    CORES,
    DRAM_SHARDED,
    INTERLEAVED_1D,
    LOFI,
    PACKED,
    RING,
    SHARDED,
    unbanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = f"{TT_METAL}/1ddac9361dc3ab67306d228eb4d892b882d0c4ae/models/autoports/mistralai_mistral_small_24b_instruct_2501/doc"
ONE = f"{FOLDER}/optimized_decoder/work_log.md"
MESH = f"{FOLDER}/optimized_multichip_decoder/README.md"
FIRST_MESH = f"{FOLDER}/multichip_decoder/work_log.md"
HIDDEN, USERS, HEADS, KV, SIZE = 5120, 32, 32, 8, 128


@dataclass(frozen=True)
class How:
    """The layer at a step of its tuning; times in us."""

    qkv: float = 58.65
    out: float = 40.7
    gate: float = 292.4
    up: float = 294.6
    down: float = 286.3
    product: float = 53.7
    silu: float = 0.0  # an op of its own where not 0
    sdpa: float = 43.1
    cache: float = 11.5
    attention_block: int = 16
    gate_block: int = 4
    down_block: int = 16
    hidden_cores: int = 40
    wide_cores: int = 32
    residual: bool = True  # residual and norms in shards
    direct: bool = True  # rotary tables by index, no bounce through DRAM
    fidelity: str = "LoFi"
    keys: str = "BFLOAT8_B"
    one_d: bool = False


def _project(block: Block, how: How, role: str, x: Tensor, n: int, us: float, size: int, cores: int) -> Tensor:  # noqa: PLR0917
    """A matmul with a weight over the banks, or interleaved under a 1D config."""
    if how.one_d:
        tiles = -(-n // 32)
        per_n = -(-tiles // 110)
        config = one_d((11, 10), 4, (1, per_n), subblock=(1, 2 if per_n % 2 == 0 else 1))
        return block.linear(role, x, n, us, dtype="BFLOAT4_B", fidelity=how.fidelity, config=config, cores=-(-tiles // per_n), place=L1)  # fmt: skip
    place = block.across(32, n, cores)
    return block.linear(role, x, n, us, dtype="BFLOAT4_B", fidelity=how.fidelity, config=banked(size, -(-n // 32 // cores)), cores=8, place=place, banks=True)  # fmt: skip


def _tables(block: Block, how: How) -> list[Tensor]:
    """Cosines and sines of the users' positions."""
    made: list[Tensor] = []
    for name in ("cos", "sin"):
        if how.direct:
            made.append(block.tensor([1, USERS, 32, SIZE]))
            continue
        tiles = block.tensor([1, 1, 4096, SIZE])
        rows = block.moved(f"{name}_untilized", "Untilize", tiles, 9.0, layout=ROW_MAJOR, cores=110, fidelity="HiFi4", use_multicore=True, use_pack_untilize=True)  # fmt: skip
        part = block.slice(f"{name}_part", rows, (0, 0, 0, 0), (1, 1, USERS, SIZE), 3.0)
        made.append(block.moved(f"{name}_tilized", "TilizeWithValPadding", part, 5.5, layout="TILE", cores=1, fidelity="HiFi4", use_multicore=True))  # fmt: skip
    return made


def _normed(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    if how.residual:
        return block.norm(role, x, 8.5, cores=10, config=norm_shards((10, 1), 16))
    return block.norm(role, x, 58.0, cores=1, config=PLAIN_NORM)


def _placed(block: Block, how: How, role: str, x: Tensor, columns: int, cores: int) -> Tensor:  # noqa: PLR0917
    """In the shards that a matmul over the banks wants."""
    place = block.across(32, columns, cores)
    if how.one_d or x.placement == place:
        return x
    if x.placement is None or not x.placement.cores:
        return block.to_shards(role, x, place, 2.5)
    return block.reshard(role, x, place, 2.0)


def _summed(block: Block, how: How, name: str, x: Tensor, out: Tensor) -> Tensor:
    if how.residual:
        return block.binary(f"sum_{name}", "ADD", x, _placed(block, how, f"{name}_back", out, HIDDEN, 10), 9.0)
    return block.binary(f"sum_{name}", "ADD", x, block.from_shards(f"{name}_flat", out, 9.0), 14.0)


def _heads(block: Block, how: How, qkv: Tensor) -> Tensor:
    """Attention between its projections."""
    q, k, v = block.heads_of_decode("heads", qkv, 22.0, heads=HEADS, kv=KV, size=SIZE, users=USERS)
    made = _tables(block, how)
    q = block.rotary("rope_q", q, 54.0, decode=True, cores=USERS, tables=made)
    k = block.rotary("rope_k", k, 34.0, decode=True, cores=USERS, tables=made)
    cache = block.tensor([USERS, KV, 4096, SIZE], how.keys)
    block.update_cache("cache_k", cache, k, how.cache)
    block.update_cache("cache_v", cache, v, how.cache)
    attended = block.attend_decode("sdpa", q, cache, how.sdpa, config=chunks(0, 0, (8, 8)), cores=64)
    attended = block.to_shards("attended_placed", attended, block.along(32, SIZE, USERS), 4.0)
    joined = block.moved("joined", "NLPConcatHeadsDecode", attended, 22.0, shape=[1, 1, 32, HEADS * SIZE], place=block.across(32, HEADS * SIZE, 32), cores=32, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
    return joined if how.direct else block.from_shards("joined_flat", joined, 4.0)


def _attention(block: Block, how: How, x: Tensor) -> Tensor:
    given = _placed(
        block, how, "qkv_placed", _normed(block, how, "norm_in", x), HIDDEN, HIDDEN // 32 // how.attention_block
    )
    qkv = _project(block, how, "qkv", given, 6144, how.qkv, how.attention_block, 12)
    if not how.one_d:
        qkv = block.from_shards("qkv_flat", qkv, 2.5, L1 if how.direct else DRAM)
    if not how.direct:
        qkv = block.moved(
            "qkv_copied", "Copy", qkv, 3.5, place=L1, backwards=False, output_dtype="DataType::BFLOAT16"
        )
    joined = _placed(
        block, how, "out_placed", _heads(block, how, qkv), HEADS * SIZE, max(8, 128 // how.attention_block)
    )
    out = _project(block, how, "out", joined, HIDDEN, how.out, how.attention_block, 10)
    return _summed(block, how, "attention", x, out)


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", gap_us=0.7)
        x = block.tensor([1, 1, 32, HIDDEN])
        if how.residual:
            x = block.to_shards("entry", x, block.across(32, HIDDEN, 10), 2.0)
        x = _attention(block, how, x)
        given = _placed(block, how, "feed_placed", _normed(block, how, "norm_feed", x), HIDDEN, how.hidden_cores)
        gate = _project(block, how, "gate", given, 32768, how.gate, how.gate_block, how.wide_cores)
        up = _project(block, how, "up", given, 32768, how.up, how.gate_block, how.wide_cores)
        if how.silu:
            gate = block.unary("silu", "SILU", gate, how.silu, cores=how.wide_cores)
        hidden = block.binary("product", "MUL", gate, up, how.product, cores=how.wide_cores, lhs=None if how.silu else "SILU")  # fmt: skip
        down = _project(block, how, "down", hidden, HIDDEN, how.down, how.down_block, how.hidden_cores)
        x = _summed(block, how, "feed", x, down)
        if how.residual:
            block.from_shards("exit", x, 2.0)
        return block

    return build


def mesh(
    *, persistent: bool, block_w: int = 16, matmuls: tuple[float, float, float] = (20.4, 19.6, 60.4), down_us: float = 60.4,
) -> Callable[[], Block]:  # fmt: skip
    """On four chips, 32 users: `matmuls` are QKV, output, and each of gate and up."""

    def build() -> Block:
        block = Block("blackhole", devices=4, gap_us=0.1)
        low = {"dtype": "BFLOAT4_B", "fidelity": "LoFi"}
        residual, norm = block.across(32, HIDDEN, 10), norm_shards((10, 1), 16)

        def banks(role: str, x: Tensor, n: int, us: float, size: int, cores: int) -> Tensor:  # noqa: PLR0917
            return block.linear(role, x, n, us, config=banked(size, -(-n // 32 // cores)), cores=8, place=block.across(32, n, cores), banks=True, **low)  # fmt: skip

        def summed(name: str, x: Tensor) -> Tensor:
            if persistent:
                place = block.across(32, HIDDEN, 40)
                x = block.reshard(f"{name}_placed", x, place, 1.8)
                spare = block.tensor([1, 1, 32, 4 * HIDDEN], place=block.across(32, 4 * HIDDEN, 40))
                made = block.op(f"reduce_{name}", "AllReduceAsync", (x, spare), block.tensor(x.shape, "BFLOAT16", place), 20.0, cores=42, num_links=2, ring_size=4, topology="Topology::Linear", output_mem_config=place, cluster_axis=1, dtype="DataType::BFLOAT16")  # fmt: skip
                return block.reshard(f"{name}_back", made, residual, 2.3)
            x = block.from_shards(f"{name}_flat", x, 2.5)
            part = block.collective(
                f"scatter_{name}", "ReduceScatterMinimalAsync", x, HIDDEN // 4, 22.0, topology="Linear"
            )
            whole = block.collective(f"gather_{name}", "AllGatherAsync", part, HIDDEN, 19.5, topology="Linear")
            return block.to_shards(f"{name}_back", whole, residual, 2.5)

        x = block.to_shards("entry", block.tensor([1, 1, 32, HIDDEN]), residual, 2.0)
        normed = block.norm("norm_in", x, 8.0, cores=10, config=norm)
        qkv = banks("qkv", normed, 1536, matmuls[0], 16, 12)
        q, k, v = block.heads_of_decode("heads", block.from_shards("qkv_flat", qkv, 1.5, L1), 10.0, heads=8, kv=2, size=SIZE, users=USERS)  # fmt: skip
        made = [block.tensor([1, USERS, 32, SIZE]) for _ in range(2)]
        q = block.rotary("rope_q", q, 11.0, decode=True, cores=USERS, tables=made)
        k = block.rotary("rope_k", k, 11.0, decode=True, cores=USERS, tables=made)
        cache = block.tensor([USERS, 2, 4096, SIZE], "BFLOAT8_B")
        block.update_cache("cache_k", cache, k, 9.0)
        block.update_cache("cache_v", cache, v, 9.0)
        attended = block.attend_decode("sdpa", q, cache, 22.0, config=chunks(0, 128, (8, 8)), cores=64)
        attended = block.to_shards("attended_placed", attended, block.along(32, SIZE, USERS), 3.0)
        joined = block.moved("joined", "NLPConcatHeadsDecode", attended, 8.0, shape=[1, 1, 32, 1024], place=block.across(32, 1024, 8), cores=8, num_heads=8, on_subcoregrids=False)  # fmt: skip
        out = banks("out", joined, HIDDEN, matmuls[1], 4, 10)
        x = block.binary("sum_attention", "ADD", x, summed("attention", out), 9.0)
        normed = block.norm("norm_feed", x, 8.0, cores=10, config=norm)
        cores = 160 // block_w
        given = (
            normed if cores == 10 else block.reshard("feed_placed", normed, block.across(32, HIDDEN, cores), 2.0)
        )
        gate, up = (banks(role, given, 8192, matmuls[2], block_w, 32) for role in ("gate", "up"))
        hidden = block.binary("product", "MUL", gate, up, 12.0, cores=32, lhs="SILU")
        down = banks("down", hidden, HIDDEN, down_us, 8, 40)
        x = block.binary("sum_feed", "ADD", x, summed("fed", down), 9.0)
        block.from_shards("exit", x, 2.0)
        return block

    return build


def prefill() -> Block:
    """18 tokens of one user on four chips, interleaved in DRAM, not traced: about 815 us of kernels, 340 of gaps."""
    block = Block("blackhole", devices=4, gap_us=13.0)
    low = {"dtype": "BFLOAT4_B", "fidelity": "LoFi"}
    x = block.tensor([1, 1, 18, HIDDEN])

    def summed(name: str, given: Tensor) -> Tensor:
        part = block.collective(
            f"scatter_{name}", "ReduceScatterMinimalAsync", given, HIDDEN // 4, 27.0, topology="Linear"
        )
        return block.collective(f"gather_{name}", "AllGatherAsync", part, HIDDEN, 20.0, topology="Linear")

    normed = block.norm("norm_in", x, 100.0, cores=1)
    qkv = block.linear("qkv", normed, 1536, 40.0, config=one_d((8, 6), 8, (1, 1)), cores=48, **low)
    q, k, v = block.split_heads("heads", qkv, 14.0, heads=8, kv=2, size=SIZE, rows=18)
    q, k = (block.rotary(f"rope_{name}", one, 13.0, decode=False) for name, one in (("q", q), ("k", k)))
    for name, one in (("k", k), ("v", v)):
        cache = block.tensor([64, 2, 64, SIZE], "BFLOAT8_B")
        narrow = block.typecast(f"{name}_narrow", one, "BFLOAT8_B", 4.0)
        block.op(f"fill_{name}", "PagedFillCache", (cache, narrow), cache, 4.0, cores=2, batch_idx=0)
    attended = block.attend("sdpa", q, k, v, 9.5, config=chunks(64, 64, (8, 8)), cores=64, fidelity="HiFi4")
    joined = block.join_heads("joined", attended, 6.0)
    out = block.linear("out", joined, HIDDEN, 36.0, config=one_d((10, 8), 8, (1, 2)), cores=80, **low)
    x = block.binary("sum_attention", "ADD", x, summed("attention", out), 5.0)
    normed = block.norm("norm_feed", x, 101.0, cores=1)
    halves = [block.linear(role, normed, 8192, 91.0, config=one_d((11, 8), 8, (1, 3)), cores=86, **low) for role in ("gate", "up")]  # fmt: skip
    hidden = block.binary("product", "MUL", *halves, 9.0, lhs="SILU")
    down = block.linear("down", hidden, HIDDEN, 92.0, config=one_d((10, 8), 8, (1, 2)), cores=80, **low)
    x = block.binary("sum_feed", "ADD", x, summed("fed", down), 5.0)
    block.moved("exit_shaped", "ReshapeView", x, 41.0, shape=[1, 18, 1, HIDDEN])
    return block


WALL = "wall time of a replayed trace"
SPLIT = "how the difference splits over the ops; the times of heads, rotary and moves"
ALL = "qkv out gate up down"
ISLANDS = (
    r"untilize|row.major|ROW_MAJOR|token_index|embedding|round.?trip|same (shard|placement)|DRAM and back|stay in"
)
FUSED_EXCHANGE = (
    r"matmul_reduce_scatter|strided_reduce_scatter|all_gather_(minimal_)?matmul|fus.{0,40}(reduce.scatter|gather)"
)

MISTRAL_24B = (
    laid(
        "mistral-24b-decode-unfused", ONE, "decode, BFLOAT4_B feed-forward on 80 and 64 cores, SiLU apart: 1826 us of wall time",
        decode(How(qkv=80, out=58, gate=300, up=302, down=286, silu=103, product=55, gate_block=2, hidden_cores=80, wide_cores=64, attention_block=2, residual=False, direct=False, keys="BFLOAT16", sdpa=75, cache=14)),
        (gain("silu", "SiLU in the product", 103, "silu product", rf"{ACTIVATION_IN_BINARY}|{ACTIVATION_IN_MATMUL}", f"1826 -> 1723 us, {WALL}"),),
        f"{SPLIT}; the time of SiLU (what its fusion saved)",
    ),
    laid(
        "mistral-24b-decode-blocks", ONE, "decode, feed-forward on 80 and 64 cores: 1723 us of wall time",
        decode(How(qkv=80, out=58, gate=304, up=306, down=291, gate_block=2, hidden_cores=80, wide_cores=64, attention_block=2, residual=False, direct=False, keys="BFLOAT16", sdpa=75, cache=14)),
        (gain("blocks", "gate and up on 40 input cores, so in0_block_w 4 instead of 2", 27, "gate up down", BLOCK_W, f"1723 -> 1696 us, {WALL}"),),
        SPLIT,
    ),
    laid(
        "mistral-24b-decode-cache", ONE, "decode, the cache in BFLOAT16: 1567 us of wall time",
        decode(How(qkv=80, out=58, attention_block=2, residual=False, direct=False, keys="BFLOAT16", sdpa=73.1, cache=15.5)),
        (gain("narrow-cache", "the cache in BFLOAT8_B", 38, "sdpa cache_k cache_v", BFP8, f"1567 -> 1529 us, {WALL}"),),
        f"{SPLIT}; how the cache's 38 us split",
    ),
    laid(
        "mistral-24b-decode-residual", ONE, "decode, residual and norms in DRAM: 1529 us of wall time",
        decode(How(qkv=80, out=58, attention_block=2, residual=False, direct=False)),
        (gain("residual", "norms over 11 cores in shards, sums and residual in shards", 152, "norm_* sum_* attention_flat feed_flat qkv_placed feed_placed", rf"{CORES}|{SHARDED}", f"1529 -> 1377 us, {WALL}"),),
        f"{SPLIT}; the times of norms and sums in DRAM",
    ),
    laid(
        "mistral-24b-decode-attention", ONE, "decode, residual in shards, attention with in0_block_w 2: 1377 us of wall time",
        decode(How(qkv=82.65, out=58.7, attention_block=2, direct=False)),
        (gain("block", "in0_block_w 16 instead of 2 on fewer input cores", 42, "qkv out", BLOCK_W, f"1377 -> 1335 us, {WALL}"),),
        f"{SPLIT}; how the 42 us split",
    ),
    laid(
        "mistral-24b-decode-islands", ONE, "decode, tuned but for its moves: 1335 us of wall time",
        decode(How(direct=False)),
        (gain("islands", "whole rotary tables by index, QKV and the joined heads straight from shard to shard", 47, "cos_* sin_* qkv_flat qkv_copied joined_flat out_placed", ISLANDS, f"1335 -> 1288 us, 39 -> 31 ops, {WALL}"),),
        SPLIT,
    ),
    laid(
        "mistral-24b-decode-hifi2", ONE, "decode, tuned but for HiFi2: 2228 us of wall time",
        decode(How(qkv=115, out=80, gate=575, up=579, down=563, fidelity="HiFi2")),
        (gain("lofi", "LoFi", 940, ALL, LOFI, f"2228 -> 1288 us, {WALL}"),),
        SPLIT,
    ),
    laid(
        "mistral-24b-decode-one-d", ONE, "decode, tuned but for interleaved weights under 1D configs: 1788 us of wall time",
        decode(How(qkv=89, out=62, gate=443, up=446, down=432, one_d=True)),
        (gain("banks", "DRAM-sharded", 500, ALL, DRAM_SHARDED, f"1788 -> 1288 us, {WALL}"),),
        f"{SPLIT}; the configs' blocks",
    ),
    laid(
        "mistral-24b-decode-tuned", ONE, "decode, tuned: 1281 us of kernels, 1288 of wall time",
        decode(How()),
        (
            dead("pack", "gate and up as one matmul", "gate up product", PACKED, f"1288 -> 1857 us, {WALL}"),
            dead("gate-block", "in0_block_w 16 for gate and up", "gate up", BLOCK_W, "refused twice: circular buffers of 3.98 MB"),
            dead("one-d", "interleaved weights under 1D configs", ALL, unbanked(INTERLEAVED_1D), f"1288 -> 1788 us, {WALL}"),
        ),
        "the times of heads, rotary and moves", 1_281.5,
    ),
    laid(
        "mistral-24b-tp4-decode", FIRST_MESH, "decode on four chips, general collectives: 575 us of kernels and moves, 579.6 of wall time",
        mesh(persistent=False),
        (
            gain("persistent", "all_reduce_async over persistent buffers in L1 shards", 45.6, "scatter_* gather_* attention_flat fed_flat", r"all_reduce|persistent|one (op|call|collective)", f"579.4 -> 533.8 us, {WALL}", MESH),
            dead("ring", "a ring instead of a line", "scatter_* gather_*", RING, "114.2 -> 117.9 us alone"),
            dead("one-d", "interleaved weights under 1D configs", ALL, unbanked(INTERLEAVED_1D), f"579.4 -> 755.2 us, {WALL}", MESH),
            dead("fractured", "the residual in four parts, norms over all chips", "scatter_* gather_* norm_*", r"distributed|each (chip|device)|per (chip|device)|fractured", "102.0 -> 155.6 us for sum, norm and QKV"),
        ),
        f"{SPLIT} (matmuls 265.6 us and exchanges 83.1 in all are told)",
    ),
    laid(
        "mistral-24b-tp4-geometry", FIRST_MESH, "the same with in0_block_w 4 for gate and up: 609.7 us of wall time",
        mesh(persistent=False, block_w=4, matmuls=(20.4, 19.6, 75.4)),
        (gain("block", "in0_block_w 16 on 10 input cores", 30.1, "gate up down", BLOCK_W, f"609.7 -> 579.6 us, {WALL}"),),
        f"{SPLIT}; that all of it was gate and up",
    ),
    laid(
        "mistral-24b-tp4-tuned", MESH, "decode on four chips, tuned: 399 us of kernels, 403 of wall time a layer",
        mesh(persistent=True),
        (
            dead("pack", "gate and up as one matmul", "gate up product", PACKED, f"807.8 -> 811.9 us for two layers, {WALL}"),
            dead("attention-inputs", "attention's activations in BFLOAT8_B", "qkv out norm_in joined", BFP8, f"806.2 -> 828.8 us for two layers, {WALL}"),
            dead("feed-inputs", "the feed-forward's activations in BFLOAT8_B", "gate up down norm_feed product", BFP8, f"806.2 -> 824.3 us for two layers, {WALL}"),
            dead("narrow-reduce", "exchanges in BFLOAT8_B", "reduce_*", BFP8, f"807.7 -> 806.0 us for two layers, 0.2 %, {WALL}"),
            dead("attention-cores", "attention on 20 or 40 input cores", "qkv out", r"in0_block_w\W{0,4}[248]\b|more cores", f"806.2 -> 826.6 and 864.8 us for two layers, {WALL}"),
            dead("feed-cores", "the feed-forward on 20 or 80 input cores", "gate up down", r"in0_block_w\W{0,4}[248]\b|more cores", f"806.2 -> 832.4 and 902.4 us for two layers, {WALL}"),
            dead("fused-exchange", "matmul and exchange as one op, in interleaved 2D form", "out down reduce_*", FUSED_EXCHANGE, "347.1 -> 842.5 us for both boundaries"),
        ),
        f"{SPLIT}",
    ),
    laid(
        "mistral-24b-tp4-prefill", MESH, "18 tokens on four chips, not traced: 948 us of wall time a layer",
        prefill,
        (
            gain("trace", "a trace", 247.4, "*", r"trace", "1896.0 -> 1401.2 us for two layers"),
            dead("norm-in", "the norm before QKV over 8 cores in shards", "norm_in", rf"{CORES}|{SHARDED}", "2084.2 -> 2167.2 us for two layers"),
            dead("norm-feed", "the norm before the feed-forward over 10 cores in shards", "norm_feed", rf"{CORES}|{SHARDED}", "2084.2 -> 2119.5 us for two layers"),
        ),
        "all times but the shares of matmuls, norms, exchanges and gaps",
    ),
)  # fmt: skip
