"""Muse-Glimmer 30B on one Blackhole chip (p300c): a decode step of one user through one layer.

Hidden 6656, 32 heads over 2 KV heads of 128, an output gate on the attention, SwiGLU of 19968.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    CORES,
    DRAM_SHARDED,
    INTERLEAVED_1D,
    LOFI,
    PACKED,
    PACKER,
    SDPA_CHUNKS,
    SHARDED,
    unbanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MODEL = "models/autoports/meta_models_muse_glimmer_30b/doc"
TABLES = f"{TT_METAL}/48dd8e2caa729666ea72584d29807c4fc4f7c2f8/{MODEL}/optimized_decoder/evidence_tables.md"
LOG = f"{TT_METAL}/15de3f57f31eba0253206b9147db5a7a24808098/{MODEL}/optimized_decoder/work_log.md"
FUSED = f"{TT_METAL}/190437a00ed4647669d21664ddd8fda240dfea76/{MODEL}/fused_decoder/work_log.md"
LATER = f"{TT_METAL}/68231464980fbd83faf9f31fcc51e1582188cfbc/{MODEL}/optimized_decoder/work_log.md"

HIDDEN, QKV, GATE, WIDE = 6656, 4608, 4096, 19968
REST_US = 186.1  # of the tuned step: all but its six matmuls
HOST_US = 13.8  # of a traced step beyond its device time
TUNED = {"qkv": 57.2, "gate": 52.0, "out": 52.7, "up1": 236.7, "up2": 236.0, "down": 229.5}
MATMULS = "qkv gate out up1 up2 down"
WALL = "wall time of the traced step; both measured in one process, spread of repeats 0.2 %"


def scaled(wall_us: float) -> dict[str, float]:
    """The six matmuls of a step of `wall_us`, in the tuned one's proportions."""
    factor = (wall_us - HOST_US - REST_US) / sum(TUNED.values())
    return {role: us * factor for role, us in TUNED.items()}


@dataclass(frozen=True)
class Decode:
    """A step with the sharded residual; the defaults are the tuned one."""

    times: tuple[tuple[str, float], ...] = tuple(TUNED.items())
    attention: str = "BFLOAT4_B"
    feed: str = "BFLOAT4_B"
    fidelity: str = "LoFi"
    family: str = "banks"
    cores: int = 52
    blocks: tuple[int, int, int, int] = (13, 8, 4, 12)  # QKV and gate, out, gate and up, down
    packer: bool = True
    packed: bool = False
    slices_us: float = 0


def _project(block: Block, step: Decode, role: str, x: Tensor, n: int, size: int, cores: int) -> Tensor:  # noqa: PLR0917
    dtype = step.attention if role in {"qkv", "gate", "out"} else step.feed
    us = dict(step.times)[role]
    how = {"dtype": dtype, "fidelity": step.fidelity, "packer": step.packer}
    if step.family == "banks":
        place = block.across(32, n, cores)
        return block.linear(
            role, x, n, us, config=banked(size, -(-n // 32 // cores)), cores=12, place=place, banks=True, **how
        )
    per_n = -(-n // 32 // 104)
    used = -(-n // 32 // per_n)
    config = one_d((11, 10), 2, (1, per_n), subblock=(1, per_n if per_n < 8 else 1))
    return block.linear(role, x, n, us, config=config, cores=used, place=block.across(32, n, cores), **how)


def tuned(step: Decode = Decode()) -> Block:
    block = Block("blackhole")
    residual = block.across(32, HIDDEN, 16)
    norm = norm_shards((8, 2), 13)
    x = block.tensor([1, 1, 32, HIDDEN], place=residual)
    normed = block.norm("norm_in", x, 9.2, cores=16, config=norm)
    qkv = _project(block, step, "qkv", normed, QKV, step.blocks[0], 16)
    gate = _project(block, step, "gate", normed, GATE, step.blocks[0], 16)
    flat = block.from_shards("qkv_flat", qkv, 1.5, L1)
    q, k, v = block.heads_of_decode("heads", flat, 12.6, heads=32, kv=2, size=128, users=1)
    q = block.norm("norm_q", q, 3.7, cores=1, place=L1)
    k = block.norm("norm_k", k, 3.7, cores=1, place=L1)
    q = block.binary("scale", "MUL", q, block.tensor([1, 1, 1, 1]), 2.0, cores=1)
    tables = []
    for name in ("cos", "sin"):
        rows = block.tensor([1, 1, 131_072, 128], layout=ROW_MAJOR)
        picked = block.op(f"{name}_rows", "Embeddings", (block.tensor([1, 1], "UINT32", layout=ROW_MAJOR), rows), block.tensor([1, 1, 1, 128], layout=ROW_MAJOR), 2.6, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=False)  # fmt: skip
        tiles = block.moved(f"{name}_tilized", "TilizeWithValPadding", picked, 5.6, cores=1, layout="TILE", fidelity="HiFi4", output_padded_shape="Shape([1, 1, 32, 128])", pad_value=0, use_multicore=True)  # fmt: skip
        tables.append(block.to_shards(f"{name}_placed", tiles, block.along(32, 128, 1), 0.7))
    place = block.along(32, 128, 1)
    q = block.rotary("rope_q", block.to_shards("q_placed", q, place, 1.0), 3.0, decode=True, cores=1, tables=tables)
    k = block.rotary("rope_k", block.to_shards("k_placed", k, place, 1.0), 3.0, decode=True, cores=1, tables=tables)
    cache = block.tensor([64, 2, 64, 128], "BFLOAT8_B")
    block.update_cache("cache_k", cache, k, 3.6)
    block.update_cache("cache_v", cache, v, 3.6)
    attended = block.attend_decode("sdpa", q, cache, 36.8, config=chunks(32, 64, (8, 4)), cores=32, k_chunk=64)
    joined = block.moved("joined", "NLPConcatHeadsDecode", block.to_shards("attended_placed", attended, place, 1.0), 3.0, shape=[1, 1, 32, GATE], place=block.across(32, GATE, 32), cores=32, num_heads=32, on_subcoregrids=False)  # fmt: skip
    gated = block.binary("gated", "MUL", block.reshard("joined_placed", joined, block.across(32, GATE, 16), 1.0), gate, 9.6, cores=16, rhs="SIGMOID")  # fmt: skip
    out = _project(block, step, "out", gated, HIDDEN, step.blocks[1], 16)
    out = block.norm("norm_attended", block.reshard("out_placed", out, residual, 1.8), 9.2, cores=16, config=norm)
    x = block.binary("sum_attention", "ADD", x, out, 4.0, cores=16)
    normed = block.norm("norm_feed", x, 9.2, cores=16, config=norm)
    normed = block.reshard("feed_placed", normed, block.across(32, HIDDEN, step.cores), 1.8)
    if step.packed:
        both = _project(block, step, "up1", normed, 2 * WIDE, 2, step.cores)
        halves = [
            block.slice(
                f"half{n}",
                both,
                (0, 0, 0, n * WIDE),
                (1, 1, 32, (n + 1) * WIDE),
                step.slices_us,
                block.across(32, WIDE, step.cores),
            )
            for n in (0, 1)
        ]
    else:
        halves = [_project(block, step, role, normed, WIDE, step.blocks[2], step.cores) for role in ("up1", "up2")]
    hidden = block.binary("swiglu", "MUL", *halves, 24.0, cores=step.cores, lhs="SILU")
    down = _project(block, step, "down", hidden, HIDDEN, step.blocks[3], step.cores)
    down = block.norm("norm_fed", block.reshard("down_placed", down, residual, 1.8), 9.2, cores=16, config=norm)
    block.binary("sum_feed", "ADD", x, down, 4.0, cores=16)
    return block


def with_times(**change: object) -> Callable[[], Block]:
    wall = change.pop("wall", None)
    step = replace(Decode(), **change)
    if wall is not None:
        step = replace(step, times=tuple(scaled(wall).items()))
    return lambda: tuned(step)


def longer(**more: float) -> tuple[tuple[str, float], ...]:
    return tuple({role: us + more.get(role, 0) for role, us in TUNED.items()}.items())


def functional() -> Block:
    """Everything interleaved in DRAM, BFLOAT16, no settings but TTNN's: 64 ops, 3163 us."""
    block = Block("blackhole")
    row = [1, 1, 32, HIDDEN]
    x = block.tensor(row)
    normed = block.norm("norm_in", x, 110, cores=1)

    def project(role: str, given: Tensor, n: int, us: float) -> Tensor:
        per_n = -(-n // 32 // 104)
        config = one_d((11, 10), 2, (1, per_n), subblock=(1, per_n))
        return block.linear(role, given, n, us, config=config, cores=-(-n // 32 // per_n))

    qkv = project("qkv", normed, QKV, 161)
    flat = block.moved("qkv_flat", "Copy", qkv, 3.0, place=L1, backwards=False, output_dtype="DataType::BFLOAT16")
    q, k, v = block.heads_of_decode("heads", flat, 13.0, heads=32, kv=2, size=128, users=1)
    q = block.norm("norm_q", q, 3.7, cores=1, place=L1)
    k = block.norm("norm_k", k, 3.7, cores=1, place=L1)
    tables = []
    for name in ("cos", "sin"):
        rows = block.tensor([1, 1, 131_072, 128], layout=ROW_MAJOR)
        table = block.op(f"table_{name}_rows", "Embeddings", (block.tensor([1, 1], "UINT32", layout=ROW_MAJOR), rows), block.tensor([1, 1, 1, 128], layout=ROW_MAJOR), 2.6, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=False)  # fmt: skip
        table = block.moved(f"table_{name}_tiles", "TilizeWithValPadding", table, 5.6, cores=1, layout="TILE", fidelity="HiFi4", use_multicore=True)  # fmt: skip
        table = block.moved(f"table_{name}_turned", "Transpose", table, 2.0, dim="TransposeOpDim::HC", cores=1)
        for turn in (1, 2):
            table = block.moved(f"table_{name}_rows{turn}", "Untilize", table, 2.6, layout=ROW_MAJOR, fidelity="HiFi4", cores=1, use_multicore=True)  # fmt: skip
            table = block.moved(
                f"table_{name}_repeated{turn}", "Repeat", table, 3.2, shape=[1, 1, 32, 128], cores=32
            )
        tables.append(
            block.moved(f"table_{name}_last", "Tilize", table, 2.6, layout="TILE", fidelity="HiFi4", cores=1)
        )
    turned = []
    for name, given, heads in (("q", q, 32), ("k", k, 2)):
        halves = [block.slice(f"turn_{name}_half{n}", given, (0, 0, 0, 64 * n), (1, 1, heads, 64 * (n + 1)), 1.6) for n in (0, 1)]  # fmt: skip
        minus = block.unary(f"turn_{name}_neg", "NEG", halves[1], 1.5, cores=1)
        rotated = block.concat(f"turn_{name}_joined", (minus, halves[0]), given.shape, 3, 1.8)
        sine = block.binary(f"turn_{name}_sin", "MUL", rotated, tables[1], 1.5, cores=1)
        cosine = block.binary(f"turn_{name}_cos", "MUL", given, tables[0], 1.5, cores=1)
        turned.append(block.binary(f"turn_{name}_sum", "ADD", cosine, sine, 1.5, cores=1))
    cache = block.tensor([32, 2, 64, 128])
    block.update_cache("cache_k", cache, turned[1], 3.6)
    block.update_cache("cache_v", cache, v, 3.6)
    attended = block.attend_decode(
        "sdpa", turned[0], cache, 36, config=chunks(32, 64, (8, 4)), cores=32, k_chunk=64
    )
    placed = block.to_shards("attended_placed", attended, block.along(32, 128, 1), 1.0)
    joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 3.0, shape=[1, 1, 32, GATE], place=block.across(32, GATE, 32), cores=32, num_heads=32, on_subcoregrids=False)  # fmt: skip
    joined = block.from_shards("joined_flat", joined, 1.5)
    gate = block.unary("sigmoid", "SIGMOID", project("gate", normed, GATE, 140), 4.0)
    gated = block.binary("gated", "MUL", joined, gate, 4.5)
    out = block.norm("norm_attended", project("out", gated, HIDDEN, 147), 110, cores=1)
    x = block.binary("sum_attention", "ADD", x, out, 4.5)
    normed = block.norm("norm_feed", x, 110, cores=1)
    first = block.unary("silu", "SILU", project("up1", normed, WIDE, 696), 7.0)
    hidden = block.binary("swiglu", "MUL", first, project("up2", normed, WIDE, 695), 9.0)
    down = block.norm("norm_fed", project("down", hidden, HIDDEN, 694), 110, cores=1)
    block.binary("sum_feed", "ADD", x, down, 4.5)
    return block


def fused() -> Block:
    """The same after graph rewrites: norms on 8 cores, BFLOAT16 weights streamed; 2710 us."""
    block = Block("blackhole")
    residual, norm = block.across(32, HIDDEN, 8), norm_shards((4, 2), 26)
    x = block.to_shards("entry", block.tensor([1, 1, 32, HIDDEN]), residual, 1.4)

    def project(role: str, given: Tensor, n: int, us: float, place=DRAM) -> Tensor:
        per_n = -(-n // 32 // 104)
        config = one_d((11, 10), 2, (1, per_n), subblock=(1, per_n))
        return block.linear(role, given, n, us, config=config, cores=-(-n // 32 // per_n), place=place)

    normed = block.from_shards("normed_flat", block.norm("norm_in", x, 12, cores=8, config=norm), 1.3)
    qkv = project("qkv", normed, QKV, 161, L1)
    q, k, v = block.heads_of_decode("heads", qkv, 13, heads=32, kv=2, size=128, users=1)
    q, k = (block.norm(f"norm_{n}", one, 5.5, cores=1, place=L1) for n, one in (("q", q), ("k", k)))
    tables: list[Tensor] = []
    for name in ("cos", "sin"):
        rows = block.tensor([1, 1, 131_072, 128], layout=ROW_MAJOR)
        picked = block.op(f"{name}_rows", "Embeddings", (block.tensor([1, 1], "UINT32", layout=ROW_MAJOR), rows), block.tensor([1, 1, 1, 128], layout=ROW_MAJOR), 2.6, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=False)  # fmt: skip
        tiles = block.moved(f"{name}_tilized", "TilizeWithValPadding", picked, 5.6, cores=1, layout="TILE", fidelity="HiFi4", output_padded_shape="Shape([1, 1, 32, 128])", pad_value=0, use_multicore=True)  # fmt: skip
        tables.append(block.to_shards(f"{name}_placed", tiles, block.along(32, 128, 1), 0.8))
    place = block.along(32, 128, 1)
    q = block.rotary("rope_q", block.to_shards("q_placed", q, place, 1.2), 3.0, decode=True, cores=1, tables=tables)
    k = block.rotary("rope_k", block.to_shards("k_placed", k, place, 1.2), 3.0, decode=True, cores=1, tables=tables)
    cache = block.tensor([32, 2, 64, 128])
    block.update_cache("cache_k", cache, k, 3.6)
    block.update_cache("cache_v", cache, v, 3.6)
    attended = block.attend_decode("sdpa", q, cache, 38, config=chunks(32, 64, (8, 4)), cores=32, k_chunk=64)
    joined = block.moved("joined", "NLPConcatHeadsDecode", block.to_shards("attended_placed", attended, place, 1.0), 3.0, shape=[1, 1, 32, GATE], place=block.across(32, GATE, 32), cores=32, num_heads=32, on_subcoregrids=False)  # fmt: skip
    joined = block.from_shards("joined_flat", joined, 1.3)
    gated = block.binary("gated", "MUL", joined, project("gate", normed, GATE, 141), 7.0, rhs="SIGMOID")
    out = block.to_shards("out_placed", project("out", gated, HIDDEN, 147), residual, 2.4)
    x = block.binary("sum_attention", "ADD", x, block.norm("norm_attended", out, 12, cores=8, config=norm), 3.0, cores=8)  # fmt: skip
    normed = block.from_shards("feed_flat", block.norm("norm_feed", x, 12, cores=8, config=norm), 1.3)
    halves = [project(role, normed, WIDE, us) for role, us in (("up1", 694), ("up2", 693))]
    hidden = block.binary("swiglu", "MUL", *halves, 11.2, lhs="SILU")
    down = block.to_shards("down_placed", project("down", hidden, HIDDEN, 690), residual, 2.4)
    x = block.binary("sum_feed", "ADD", x, block.norm("norm_fed", down, 12, cores=8, config=norm), 3.0, cores=8)
    block.from_shards("exit", x, 1.4)
    return block


def long_context(sdpa_us: float, cache_dtype: str, q: int, k: int) -> Callable[[], Block]:
    """The layer without rotary at 131,071 tokens: attention reads the whole cache."""

    def build() -> Block:
        block = Block("blackhole")
        residual, norm = block.across(32, HIDDEN, 16), norm_shards((8, 2), 13)
        x = block.tensor([1, 1, 32, HIDDEN], place=residual)
        step = replace(
            Decode(), attention="BFLOAT8_B", times=tuple({**TUNED, "qkv": 69, "gate": 63, "out": 64}.items())
        )
        normed = block.norm("norm_in", x, 9.2, cores=16, config=norm)
        flat = block.from_shards("qkv_flat", _project(block, step, "qkv", normed, QKV, 13, 16), 1.5, L1)
        gate = _project(block, step, "gate", normed, GATE, 13, 16)
        q_heads, k_heads, v_heads = block.heads_of_decode("heads", flat, 12.6, heads=32, kv=2, size=128, users=1)
        q_heads, k_heads = (block.norm(f"norm_{n}", one, 3.7, cores=1, place=L1) for n, one in (("q", q_heads), ("k", k_heads)))  # fmt: skip
        cache = block.tensor([2048, 2, 64, 128], cache_dtype)
        block.update_cache("cache_k", cache, k_heads, 3.6)
        block.update_cache("cache_v", cache, v_heads, 3.6)
        attended = block.attend_decode("sdpa", q_heads, cache, sdpa_us, config=chunks(q, k, (11, 10)), cores=110, k_chunk=k)  # fmt: skip
        joined = block.moved("joined", "NLPConcatHeadsDecode", block.to_shards("attended_placed", attended, block.along(32, 128, 1), 1.0), 3.0, shape=[1, 1, 32, GATE], place=block.across(32, GATE, 16), cores=16, num_heads=32, on_subcoregrids=False)  # fmt: skip
        gated = block.binary("gated", "MUL", joined, gate, 14.0, cores=16, rhs="SIGMOID")
        out = block.norm("norm_attended", block.reshard("out_placed", _project(block, step, "out", gated, HIDDEN, 4, 16), residual, 1.8), 9.2, cores=16, config=norm)  # fmt: skip
        x = block.binary("sum_attention", "ADD", x, out, 4.0, cores=16)
        normed = block.reshard("feed_placed", block.norm("norm_feed", x, 9.2, cores=16, config=norm), block.across(32, HIDDEN, 26), 1.8)  # fmt: skip
        halves = [_project(block, step, role, normed, WIDE, 8, 26) for role in ("up1", "up2")]
        hidden = block.binary("swiglu", "MUL", *halves, 34.0, cores=26, lhs="SILU")
        down = block.reshard("down_placed", _project(block, step, "down", hidden, HIDDEN, 24, 26), residual, 1.8)
        block.binary("sum_feed", "ADD", x, block.norm("norm_fed", down, 9.2, cores=16, config=norm), 4.0, cores=16)
        return block

    return build


SPLIT = "times of the small ops (their sums are told); how wall time beyond the device's splits"
PROPORTION = "the matmuls' times: the step's wall time less the tuned step's rest, in the tuned proportions"

MUSE_DECODE = (
    laid(
        "muse-decode-functional", FUSED, "decode at 2048 tokens, BFLOAT16, all interleaved, TTNN's own choices: 3163 us, 64 ops",
        functional,
        (
            gain("norms", "the four norms of 6656 on one core -> width-sharded residual in L1, norms on 8 cores", 369, "norm_in norm_attended norm_feed norm_fed", SHARDED,
                 "norms 447 -> 59 us; 14 moves more, 19.2 us, taken off"),
            gain("table", "cos and sin gathered straight into the decode layout: no repeats, no tilize and untilize between", None, "table_*", r"repeat|tiliz|gather|row.major|ROW_MAJOR|once|rotary",
                 "16 ops to 6; of their 49 us the source does not tell the rest"),
            gain("rotary", "slices, negation, concat, products and sum -> rotary_embedding_hf", None, "turn_*", r"rotary_embedding|rotary",
                 "14 ops of 22 us become two"),
            gain("silu", "SiLU inside the product", None, "silu swiglu", ACTIVATION_IN_BINARY, "kept; its decode figure is not told"),
            dead("more-norm-cores", "the norms on 52 or 104 cores", "norm_in norm_attended norm_feed norm_fed", r"(52|104|110|all (of )?the) cores",
                 "22.8 us a call on 8 cores, 37.7 and 57.6 on 52 and 104"),
        ),
        f"in0_block_w of the matmuls as printed; {SPLIT}",
        3163,
    ),
    laid(
        "muse-decode-fused", FUSED, "decode at 2048 tokens after graph rewrites, BFLOAT16 weights at 383 GB/s: 2710 us",
        fused,
        (
            gain("dtype", "BFLOAT8_B weights", None, MATMULS, BFP8, "2735 -> 1265 us together with DRAM sharding and LoFi", LATER),
            gain("banks", "weights over the DRAM banks, DRAM-sharded config", None, MATMULS, DRAM_SHARDED, "2735 -> 1265 us together with BFLOAT8_B and LoFi", LATER),
            dead("pack-attention", "QKV and the gate as one matmul", "qkv gate", PACKED, "2738 us against 2734"),
            dead("pack-feed", "gate and up as one matmul", "up1 up2", PACKED, "2758 us against 2734"),
            dead("fused-cache", "paged_fused_update_cache for both writes", "cache_k cache_v", r"paged_fused_update_cache|fused.{0,20}update|one.{0,30}update", "2736 us against 2734, 2704 against 2708 in the other kind of layer"),
            dead("matmul-activation", "SiLU and sigmoid as activation of the matmuls", "up1 gate", ACTIVATION_IN_MATMUL, "the unary op stays, and the matmul takes longer: 23.96 -> 26.46 ms on a prompt"),
            dead("straight-into-residual", "out and down write the norm's shards themselves", "out down out_placed down_placed", unbanked("shard"), "222 us against 149 and 1072 against 701: 8 cores in place of 104"),
        ),
        f"in0_block_w of the matmuls as printed; {SPLIT}",
        2710,
    ),
    laid(
        "muse-decode-tuned", TABLES, "decode at 4096 tokens, tuned: BFLOAT4_B, LoFi, DRAM-sharded on 12 cores, 1050 us",
        tuned,
        (
            dead("one-d", "1D multicast on 16 cores with interleaved weights", MATMULS, INTERLEAVED_1D, "1064 -> 1231 us", LOG),
            dead("auto", "interleaved weights and TTNN's own config on 104 cores", MATMULS, r"interleav|104 cores|more cores|all (of )?the cores", "1065 -> 1402 us"),
            dead("pack-feed", "gate and up as one matmul", "up1 up2", PACKED, "1064 -> 1093 us"),
            dead("pack-attention", "QKV and the gate as one matmul", "qkv gate", PACKED, "1063.6 -> 1065.1 us"),
            dead("sdpa-grid", "attention on 8x8 or 11x10 cores instead of 8x4", "sdpa", CORES, "1063.6 -> 1064.0 and 1064.1 us"),
            dead("sdpa-chunk", "k chunks of 128 instead of 64", "sdpa", SDPA_CHUNKS, "1063.6 -> 1063.4 us"),
            dead("feed-shards", "the feed-forward's activations on 104 cores instead of 52", "feed_placed up1 up2 swiglu down", r"104|more cores|all (of )?the cores", "1064 -> 1116 us"),
            dead("larger-block", "26 cores, so that in0_block_w 8 fits gate and up", "up1 up2", BLOCK_W, "1064 -> 1078 us"),
            dead("tables", "a whole tile of positions gathered, so that nothing is tilized", "cos_tilized sin_tilized cos_rows sin_rows", r"tiliz|TILE", "1064.0 -> 1063.0 us", LOG),
            dead("activation", "SiLU and sigmoid as fused_activation of the DRAM-sharded matmuls", "up1 gate swiglu gated", ACTIVATION_IN_MATMUL, "1091 -> 1139 us with attention weights in BFLOAT8_B", LATER),
        ),
        SPLIT,
        1050.2,
    ),
    laid(
        "muse-decode-hifi2", TABLES, "decode, DRAM-sharded BFLOAT8_B weights, HiFi2: 1845 us of wall time",
        with_times(wall=1845.4, attention="BFLOAT8_B", feed="BFLOAT8_B", fidelity="HiFi2", blocks=(13, 8, 2, 6)),
        (gain("lofi", "LoFi", 591.4, MATMULS, LOFI, f"1845.4 -> 1254.0 us, {WALL}"),),
        f"{PROPORTION}; blocks of K",
    ),
    laid(
        "muse-decode-bfp8-interleaved", TABLES, "decode, interleaved BFLOAT8_B weights, TTNN's own config, LoFi: 1868 us of wall time",
        with_times(wall=1867.6, attention="BFLOAT8_B", feed="BFLOAT8_B", family="auto"),
        (gain("banks", "weights over the DRAM banks, DRAM-sharded config", 613.6, MATMULS, DRAM_SHARDED, f"1867.6 -> 1254.0 us, {WALL}"),),
        f"{PROPORTION}; in0_block_w and where activations lie",
    ),
    laid(
        "muse-decode-bfp4-interleaved", TABLES, "decode, interleaved BFLOAT4_B weights, TTNN's own config, LoFi: 1402 us of wall time",
        with_times(wall=1401.9, family="auto"),
        (
            gain("banks", "weights over the DRAM banks, DRAM-sharded config", 337.2, MATMULS, DRAM_SHARDED, f"1401.9 -> 1064.7 us, {WALL}"),
            gain("one-d", "an explicit 1D config on 16 cores with the largest in0_block_w that fits", 170.8, MATMULS, unbanked(r"in0_block_w|MultiCast1DProgramConfig"), f"1401.9 -> 1231.1 us, {WALL}", LOG),
        ),
        f"{PROPORTION}; in0_block_w and where activations lie",
    ),
    laid(
        "muse-decode-bfp8", TABLES, "decode, DRAM-sharded BFLOAT8_B weights, LoFi: 1254 us of wall time",
        with_times(wall=1254.0, attention="BFLOAT8_B", feed="BFLOAT8_B", blocks=(13, 8, 2, 6)),
        (gain("bfp4", "BFLOAT4_B weights", 190.1, MATMULS, BFP4, f"1254.0 -> 1063.9 us, {WALL}; 100.6 of them by gate and up alone"),),
        f"{PROPORTION}; blocks of K",
    ),
    laid(
        "muse-decode-one-tile-blocks", TABLES, "decode, gate and up with in0_block_w 1: 1461 us of wall time",
        with_times(times=longer(up1=198.45, up2=198.45), blocks=(13, 8, 1, 12)),
        (gain("blocks", "in0_block_w 4 for gate and up", 396.9, "up1 up2", BLOCK_W, f"1461.2 -> 1064.3 us, {WALL}"),),
        "how the difference splits over gate and up",
    ),
    laid(
        "muse-decode-attention-blocks", TABLES, "decode, QKV and the gate with in0_block_w 1: 1245 us of wall time",
        with_times(times=longer(qkv=95, gate=85.9), blocks=(1, 8, 4, 12)),
        (gain("blocks", "in0_block_w 13 for QKV and the gate", 180.9, "qkv gate", BLOCK_W, f"1245.2 -> 1064.3 us, {WALL}"),),
        "how the difference splits over QKV and the gate",
    ),
    laid(
        "muse-decode-no-packer", TABLES, "decode without packer_l1_acc: 1343 us of wall time",
        with_times(wall=1343.4, packer=False),
        (gain("packer", "packer_l1_acc=True", 279.3, MATMULS, PACKER, f"1343.4 -> 1064.1 us, {WALL}"),),
        PROPORTION,
    ),
    laid(
        "muse-decode-narrow-feed", TABLES, "decode, the feed-forward on the residual's 16 cores, in0_block_w 1: 1506 us of wall time",
        with_times(times=longer(up1=160, up2=160, down=121.3), cores=16, blocks=(13, 8, 1, 3)),
        (gain("cores", "its activations on 52 cores, in0_block_w 4 and 12", 441.3, "feed_placed up1 up2 swiglu down", r"in0_block_w|more cores|\d+ cores|core_grid|reshard", f"1505.6 -> 1064.3 us, {WALL}"),),
        "how the difference splits over the three matmuls; down's in0_block_w",
    ),
    laid(
        "muse-decode-packed-feed", TABLES, "decode, gate and up as one matmul and two slices: 1093 us of wall time",
        with_times(times=longer(up1=236.0), packed=True, slices_us=14.7),
        (gain("unpack", "two matmuls", 29.3, "up1 half0 half1", r"two (matmuls|linears|projections|weights)|separate|split the weight|slice", f"1092.9 -> 1063.6 us, {WALL}"),),
        "how the difference splits over the matmul and the slices",
    ),
    laid(
        "muse-decode-long-bf16-cache", LATER, "decode at 131,071 tokens, BFLOAT16 cache, chunks of 64: 1557 us of wall time",
        long_context(491, "BFLOAT16", 32, 64),
        (
            gain("chunks", "chunk sizes left to the op (0 and 0)", 152.8, "sdpa", SDPA_CHUNKS, f"1556.9 -> 1404.1 us, {WALL}"),
            dead("cache", "the cache in BFLOAT8_B", "sdpa", BFP8, "1556.9 -> 1558.4 us at these chunks"),
            dead("grid", "8x8 cores instead of 11x10", "sdpa", r"8x8|\(8, ?8\)|64 cores", "0.5 % of the step, the other way"),
        ),
        "the share of attention in the step",
    ),
    laid(
        "muse-decode-long-bfp8-cache", LATER, "decode at 131,071 tokens, BFLOAT8_B cache, chunks of 64: 1558 us of wall time",
        long_context(492, "BFLOAT8_B", 32, 64),
        (gain("chunks", "chunk sizes left to the op (0 and 0)", 292.6, "sdpa", SDPA_CHUNKS, f"1558.4 -> 1265.8 us, {WALL}"),),
        "the share of attention in the step",
    ),
    laid(
        "muse-decode-long-chunks", LATER, "decode at 131,071 tokens, BFLOAT16 cache, the op's own chunks: 1404 us of wall time",
        long_context(338, "BFLOAT16", 0, 0),
        (gain("cache", "the cache in BFLOAT8_B", 138.3, "sdpa", BFP8, f"1404.1 -> 1265.8 us, {WALL}"),),
        "the share of attention in the step",
    ),
)  # fmt: skip
