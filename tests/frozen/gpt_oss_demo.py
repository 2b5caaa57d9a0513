"""GPT-OSS 20B by the demo port, decode of one user: on one Blackhole chip (P150), and tensor-parallel on four (QuietBox 2).

Hidden 2880, 24 layers, 64 heads of 64 over eight of keys and values, 32 experts of 2880 with four active, 201,088 words; a
quarter of the heads, experts' columns and words on each of four chips. Weights BFLOAT8_B, experts' BFLOAT4_B.
The ledgers tell savings of a token: a 24th here, a 48th for a layer's two norms and the last; half of the layers have
attention over all tokens. Of times before a change they tell the sparse matmuls' sum, the splitting into heads and the sum of
what chooses experts; all other times are made up such that a token's time fits.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, chunks, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import CONFIG, CORES, LOFI, PACKED, SDPA_CHUNKS, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

MODEL = "models/demos/gpt_oss"
DECODE = f"{TT_METAL}/2c3291577e9df9f0ca969d5bb67569268b6ae688/{MODEL}/DECODE_PERF.md"
CONFIGS = f"{TT_METAL}/0390332277446243c773200c17b427a2c244d946/{MODEL}/tt/expert_configs.py"
EXPERTS = f"{TT_METAL}/0335477cccfbc05e32c51854969dd65a8ac6948d/{MODEL}/tt/experts/decode.py"
GUARD = f"{TT_METAL}/8ff126e5707abc346ef344e0747db1086f65c606/{MODEL}/tt/matmul_guard.py"
ROUTER = f"{TT_METAL}/97cf9c58164341685a9c3f2be340632362f341d5/{MODEL}/kernels/router_split_reader.cpp"
MESH = f"{TT_METAL}/bc96f67626a370c3df217c82abb8c3ac61a39976/{MODEL}/MARK_TOOL_RESULT.md"
HIDDEN, COUNT, ACTIVE, WORDS, FP4, FP8 = 2880, 32, 4, 50304, "BFLOAT4_B", "BFLOAT8_B"
ANY = "std::nullopt"


def chosen(
    block: Block, role: str, x: Tensor, n: int, us: float, *, config: str, cores: int, out: str = "BFLOAT16", nnz: str = ANY,
    results: int = COUNT, kind: str = "SparseMatmul", place: Placement = L1,
) -> Tensor:  # fmt: skip
    """A matmul with the active experts' weights; rows of `results` experts come out."""
    k = x.shape[-1]
    weight = block.tensor([1, COUNT, k, n], FP4)
    sparsity = block.tensor([1, 1, 1, COUNT], layout=ROW_MAJOR)
    return block.op(
        role, kind, (x, weight, sparsity), block.tensor([1, results, 1, n], out, place), us, cores=cores, fidelity="LoFi",
        compute_kernel_config=block.kernel("LoFi"), is_input_a_sparse=role == "down", is_input_b_sparse=True, nnz=nnz,
        output_dtype=f"DataType::{out}", output_mem_config=place, program_config=config, user_core_coord=None,
    )  # fmt: skip


def attended(
    block: Block, x: Tensor, heads: int, us: tuple[float, float, float, float], *, tuned: bool = False
) -> Tensor:
    """`us`: of the first matmul, of the split into heads, of attention and of the last matmul."""
    kv, wide = heads // 8, heads * 64 + heads // 8 * 128
    one = one_d((11, 10), 6, (1, 1)) if tuned else None
    y = block.linear("qkv", x, wide, us[0], dtype=FP8, fidelity="HiFi2", config=one, cores=wide // 32 if tuned else None, place=L1)  # fmt: skip
    y = block.binary("qkv_bias", "ADD", y, block.tensor([1, 1, 32, wide]), 3, cores=40)
    q, k, v = block.heads_of_decode("heads", y, us[1], heads=heads, kv=kv, size=64, users=1)
    q, k = (block.rotary(f"rope_{name}", part, 5, decode=True, cores=1) for name, part in (("q", q), ("k", k)))
    cache = block.tensor([64, kv, 64, 64], FP8)
    block.update_cache("cache_k", cache, k, 4.5)
    block.update_cache("cache_v", cache, v, 4.5)
    y = block.attend_decode(
        "sdpa", q, cache, us[2], config=chunks(0, 128, (11, 10)), cores=110 if heads > 16 else 64
    )
    y = block.to_shards("attended_placed", y, block.along(max(32, heads), 64, 1), 2.5)
    y = block.moved("joined", "NLPConcatHeadsDecode", y, 4, shape=[1, 1, 32, heads * 64], place=block.across(32, heads * 64, heads), cores=heads, num_heads=heads)  # fmt: skip
    y = block.from_shards("joined_flat", y, 2.5, L1)
    one = one_d((11, 9), 8, (1, 1)) if tuned else None
    y = block.linear("out", y, HIDDEN, us[3], dtype=FP8, fidelity="HiFi2", config=one, cores=90 if tuned else None, place=L1)  # fmt: skip
    return block.binary("out_bias", "ADD", y, block.tensor([1, 1, 32, HIDDEN]), 3, cores=90)


def routed(block: Block, x: Tensor, us: float, step: float) -> tuple[Tensor, Tensor]:
    """The router's matmul, and 16 ops that make a row of 32 weights out of its result: of `step` each, the choice thrice."""
    logits = block.linear("router", x, COUNT, us, fidelity="HiFi2", cores=1, place=L1, bias=True)
    y = block.typecast("pick_cast", logits, "BFLOAT16", step, cores=1)
    y = block.moved("pick_fill", "FillPad", y, step, cores=1)
    y = block.moved("pick_pad", "Pad", y, step, shape=[1, 1, 32, 64], cores=1)
    y = block.moved("pick_fill_wide", "FillPad", y, step, cores=1)
    made = block.tensor([1, 1, 32, 32], place=L1), block.tensor([1, 1, 32, 32], "UINT16", L1)
    block.op("pick_topk", "TopK", (y,), made, 3 * step, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    best = block.slice("pick_weights", made[0], (0, 0, 0, 0), (1, 1, 32, ACTIVE), step)
    names = block.slice("pick_names", made[1], (0, 0, 0, 0), (1, 1, 32, ACTIVE), step)
    best = block.softmax("pick_softmax", best, step, cores=1)
    zeros = block.unary("pick_zeros", "FILL", logits, step, cores=1)
    rows = [block.moved(f"pick_rows_{at}", "UntilizeWithUnpadding", one, step, layout=ROW_MAJOR, cores=1) for at, one in enumerate((best, names, zeros))]  # fmt: skip
    spread = block.op("pick_scatter", "Scatter", tuple(rows), block.tensor([1, 1, 1, COUNT], layout=ROW_MAJOR), step, cores=1)  # fmt: skip
    tiles = block.moved("pick_tiles", "TilizeWithValPadding", spread, step, layout="TILE", cores=1)
    block.moved("pick_sparsity", "Untilize", tiles, step, layout=ROW_MAJOR, cores=1)
    return tiles, block.op(
        "pick_fill_last", "Fill", (tiles,), block.tensor([1, 1, 1, COUNT], place=L1), step, cores=1
    )


def tail(block: Block, y: Tensor, weights: Tensor, us: float, *, casts: float = 0) -> Tensor:
    """What comes after the experts' last matmul, over all 32 of them."""
    y = block.permute("down_turned", y, (0, 2, 1, 3), us)
    if casts:
        y = block.typecast("cast_down", y, "BFLOAT16", casts)
    y = block.binary("down_bias", "ADD", y, block.tensor([1, 1, COUNT, HIDDEN]), us, cores=90)
    turned = block.permute("weights_turned", weights, (0, 1, 3, 2), 3)
    y = block.binary("weighted", "MUL", y, turned, us, cores=90)
    return block.op("sum_experts", "FastReduceNC", (y,), block.tensor([1, 1, 32, HIDDEN], place=L1), us, cores=90, fidelity="HiFi4", dim=2)  # fmt: skip


def glued(  # noqa: PLR0917
    block: Block, gate: Tensor, up: Tensor, n: int, us: float, casts: float
) -> Tensor:
    """Both halves' biases, clamps and product, over all 32 experts; their results turned, and cast if in BFLOAT8_B."""
    halves: list[Tensor] = []
    for name, y in (("gate", gate), ("up", up)):
        z = block.turned(f"{name}_turned", y, us, dims="CH")
        z = block.typecast(f"cast_{name}", z, "BFLOAT16", casts) if casts else z
        z = block.turned(f"{name}_back", z, us, dims="CH")
        halves.append(block.binary(f"{name}_bias", "ADD", z, block.tensor([1, COUNT, 1, n]), us, cores=90))
    gate = block.unary("clamp_gate", "MINIMUM", halves[0], us, cores=90, parameter="7")
    up = block.unary("clamp_up", "CLAMP_TSS", halves[1], us, cores=90, parameter="-7, 7")
    glu = block.unary("glu", "SILU", gate, us, cores=90)
    plus = block.unary("plus", "ADD_UNARY_SFPU", up, us, cores=90, parameter="1")
    return block.binary("product", "MUL", plus, glu, us, cores=90)


def plain() -> Block:
    """One chip, as the demo came: 12 cores for gate and up, 30 for down, norms on one."""
    block = Block("blackhole", grid=(11, 10), gap_us=1.5)
    x = block.tensor([1, 1, 32, HIDDEN])
    y = attended(block, block.norm("norm_in", x, 43, cores=1), 64, (38, 23.28, 14, 32))
    x = block.binary("sum_attention", "ADD", x, y, 4, cores=90)
    y = block.norm("norm_feed", x, 43, cores=1)
    _, weights = routed(block, y, 40, 3.2)
    wide, narrow = one_d((3, 4), 30, (1, 8)), one_d((5, 6), 12, (1, 3), subblock=(1, 2))
    gate, up = (chosen(block, name, y, HIDDEN, 110, config=wide, cores=12, out=FP8) for name in ("gate", "up"))
    y = glued(block, gate, up, HIDDEN, 3, 8)
    y = tail(block, chosen(block, "down", y, HIDDEN, 100, config=narrow, cores=30, out=FP8), weights, 4, casts=8)
    block.binary("sum_feed", "ADD", x, y, 4, cores=90)
    return block


def packed(gate_up: float, down: float, config: tuple[str, int], last: tuple[str, int], *, bf8: bool = False) -> Callable[[], Block]:  # fmt: skip
    """One chip later: gate and up in one matmul, norms sharded; `bf8`: they write BFLOAT8_B, and TTNN's ops follow."""

    def build() -> Block:
        block, norm = Block("blackhole", grid=(13, 10), gap_us=1.5), norm_shards((10, 3), 3)
        x = block.to_shards("entry", block.tensor([1, 1, 32, HIDDEN]), block.across(32, HIDDEN, 30), 2)
        y = block.from_shards("in_flat", block.norm("norm_in", x, 10, cores=30, config=norm), 2, L1)
        y = block.to_shards(
            "out_placed", attended(block, y, 64, (38, 23.28, 14, 32)), block.across(32, HIDDEN, 30), 2
        )
        x = block.binary("sum_attention", "ADD", x, y, 3, cores=30)
        y = block.from_shards("feed_flat", block.norm("norm_feed", x, 10, cores=30, config=norm), 2, L1)
        _, weights = routed(block, y, 11, 3.267)
        out = FP8 if bf8 else "BFLOAT16"
        both = chosen(block, "gate_up", y, 2 * HIDDEN, gate_up, config=config[0], cores=config[1], out=out)
        if bf8:
            halves = [block.slice(f"half_{at}", both, (0, 0, 0, at * HIDDEN), (1, COUNT, 1, (at + 1) * HIDDEN), 4) for at in (0, 1)]  # fmt: skip
            y = glued(block, halves[0], halves[1], HIDDEN, 4, 17)
        else:
            named = block.tensor([1, 1, 1, ACTIVE], "UINT32", layout=ROW_MAJOR)
            y = block.op("swiglu", "GenericOp", (both, named), block.tensor([1, COUNT, 1, HIDDEN], place=L1), 12, cores=64)  # fmt: skip
        y = chosen(block, "down", y, HIDDEN, down, config=last[0], cores=last[1], out=out)
        y = tail(block, y, weights, 4, casts=17 if bf8 else 0)
        y = block.to_shards("fed_placed", y, block.across(32, HIDDEN, 30), 2)
        block.binary("sum_feed", "ADD", x, y, 3, cores=30)
        return block

    return build


def reduced(block: Block, role: str, x: Tensor) -> Tensor:
    """`ttnn.all_reduce`, which runs as seven ops: which, is made up but for both collectives."""
    y = block.typecast(f"{role}_cast", x, FP8, 3, cores=90)
    y = block.moved(f"{role}_placed", "Copy", y, 3, place=DRAM, cores=90)
    y = block.moved(f"{role}_pad", "Pad", y, 8, shape=[1, 1, 32, 3072], cores=32)
    y = block.collective(f"{role}_scatter", "ReduceScatterMinimalAsync", y, 768, 32, links=1)
    y = block.collective(f"{role}_gather", "AllGatherAsync", y, 3072, 24, links=1)
    y = block.slice(f"{role}_cut", y, (0, 0, 0, 0), (1, 1, 32, HIDDEN), 6)
    return block.typecast(f"{role}_wide", y, "BFLOAT16", 3, cores=90)


def four() -> Block:
    """Four chips, as the demo came: 18.34 ms a token."""
    block = Block("blackhole", devices=4, grid=(11, 10), gap_us=1)
    x = block.tensor([1, 1, 32, HIDDEN])
    y = attended(block, block.norm("norm_in", x, 43, cores=1), 16, (62, 7, 14, 48))
    x = block.binary("sum_attention", "ADD", x, reduced(block, "attention", y), 4, cores=90)
    y = block.norm("norm_feed", x, 43, cores=1)
    _, weights = routed(block, y, 40, 2.4)
    wide, narrow = one_d((3, 4), 30, (1, 2)), one_d((5, 6), 12, (1, 3), subblock=(1, 2))
    gate, up = (chosen(block, name, y, 720, 34, config=wide, cores=12, out=FP8) for name in ("gate", "up"))
    y = glued(block, gate, up, 720, 3.5, 3.5)
    y = tail(block, chosen(block, "down", y, HIDDEN, 44, config=narrow, cores=30, out=FP8), weights, 6, casts=6)
    block.binary("sum_feed", "ADD", x, reduced(block, "feed", y), 4, cores=90)
    return block


def summed(block: Block, role: str, x: Tensor, near: Placement) -> Tensor:
    """`all_reduce_async` on 30 cores, with a buffer of its own."""
    buffer = block.tensor([1, 1, 32, 4 * HIDDEN], place=block.across(32, 4 * HIDDEN, 30))
    return block.op(role, "AllReduceAsync", (block.reshard(f"{role}_placed", x, near, 2), buffer), block.tensor([1, 1, 32, HIDDEN], place=near), 14, cores=30, num_links=2, ring_size=4, topology="Topology::Ring", dtype="DataType::BFLOAT16", output_mem_config=near)  # fmt: skip


def indexed(*, one: bool) -> Callable[[], Block]:
    """Four chips with one op for a reduction and four experts' rows alone; `one`: gate and up in one matmul, small ops joined."""

    def build() -> Block:
        block, norm = Block("blackhole", devices=4, grid=(11, 10), gap_us=0.8), norm_shards((10, 3), 3)
        near = block.across(32, HIDDEN, 30)
        x = block.tensor([1, 1, 32, HIDDEN], place=near)
        y = block.from_shards("in_flat", block.norm("norm_in", x, 6, cores=30, config=norm), 1.5, L1)
        if one:
            y = block.linear("qkv", y, 1280, 18, dtype=FP8, config=one_d((10, 4), 6, (1, 1)), cores=40, place=L1, bias=True)  # fmt: skip
            q, k, v = block.heads_of_decode("heads", y, 6, heads=16, kv=2, size=64, users=1)
            cache = block.tensor([64, 2, 64, 64], FP8)
            q = block.op("rope", "RotaryEmbeddingLlamaFusedQk", (q, k), (q, k), 5, cores=2, fidelity="HiFi4")
            block.op("cache", "PagedUpdateCache", (cache, k, cache, v), (cache, cache), 5, cores=2, op_type="PagedUpdateCacheOpType::FUSED_UPDATE")  # fmt: skip
            y = block.attend_decode("sdpa", q, cache, 13, config=chunks(0, 128, (11, 10)), cores=64)
            y = block.moved("joined", "NLPConcatHeadsDecode", y, 3, shape=[1, 1, 32, 1024], place=L1, cores=16, num_heads=16)  # fmt: skip
            y = block.linear("out", y, HIDDEN, 14, dtype=FP8, config=one_d((10, 9), 8, (1, 1)), cores=90, place=L1, bias=True)  # fmt: skip
        else:
            y = attended(block, y, 16, (18, 6, 13, 14), tuned=True)
        x = block.binary("sum_attention", "ADD", x, summed(block, "reduce_attention", y, near), 2, cores=30)
        y = block.from_shards("feed_flat", block.norm("norm_feed", x, 6, cores=30, config=norm), 1.5, L1)
        logits = block.linear("router", y, 64, 11, config=one_d((2, 1), 45, (1, 1)), cores=2, place=L1, bias=True)
        best = block.op("pick", "GeneralizedMoeGate", (logits,), (block.tensor([1, 1, 32, 32], place=L1), block.tensor([1, 1, 32, 32], "UINT16", L1)), 8, cores=1)  # fmt: skip
        few = partial(chosen, block, results=ACTIVE, nnz=str(ACTIVE))
        if one:
            both = few("gate_up", y, 1536, 36, config=one_d((8, 3), 15, (1, 2), subblock=(1, 2)), cores=24)
            y = block.op("swiglu", "Swiglu", (both,), block.tensor([1, ACTIVE, 1, 768], place=L1), 4, cores=24)
        else:
            gate, up = (
                few(name, y, 768, 23, config=one_d((8, 3), 15, (1, 1)), cores=24) for name in ("gate", "up")
            )
            y = block.op("swiglu", "Swiglu", (gate, up), block.tensor([1, ACTIVE, 1, 768], place=L1), 4, cores=24)
        y = few("down", y, HIDDEN, 22, config=one_d((10, 9), 12, (1, 1)), cores=90)
        made = block.tensor([1, 1, 32, HIDDEN], place=L1)
        if one:
            y = block.op("weighted", "FastReduceNC", (y, best), made, 4, cores=90, fidelity="HiFi4", dim=1)
        else:
            y = block.binary("weighted", "MUL", y, best, 3.5, cores=90)
            y = block.op("sum_experts", "FastReduceNC", (y,), made, 4, cores=90, fidelity="HiFi4", dim=1)
        block.binary("sum_feed", "ADD", x, summed(block, "reduce_feed", y, near), 2, cores=30)
        return block

    return build


def scored() -> Block:
    """The last norm, a quarter of all words' scores, their best 32 and one among them."""
    block = Block("blackhole", devices=4, grid=(11, 10), gap_us=1)
    x = block.norm("norm", block.tensor([1, 1, 32, HIDDEN], place=block.across(32, HIDDEN, 30)), 6, cores=30, config=norm_shards((10, 3), 3))  # fmt: skip
    y = block.linear("head", block.from_shards("flat", x, 2, L1), WORDS, 640, dtype=FP8, cores=110, out=FP8)
    y = block.typecast("wide", y, "BFLOAT16", 55, cores=110)
    y = block.moved("padded", "Pad", y, 70, shape=[1, 1, 32, 65536], cores=110)
    made = block.tensor([1, 1, 32, 32]), block.tensor([1, 1, 32, 32], "UINT16")
    block.op("best", "TopK", (y,), made, 950, cores=65, fidelity="HiFi4", dim=3, k=32, largest=True, sorted=True)
    values, names = (block.collective(f"gather_{name}", "AllGatherAsync", one, 128, 24) for name, one in zip(("values", "names"), made, strict=True))  # fmt: skip
    names = block.binary("moved_on", "ADD", block.typecast("names_wide", names, "INT32", 3, cores=4), block.tensor([1, 1, 32, 128], "INT32"), 4, cores=4)  # fmt: skip
    rows = block.moved("rows", "Untilize", names, 5, layout=ROW_MAJOR, cores=1)
    block.op(
        "token", "Sampling", (values, rows), block.tensor([1, 1, 1, 32], "UINT32", layout=ROW_MAJOR), 25, cores=32
    )
    return block


OWN = r"one (own |custom |fused )?(kernel|op|program)|single (op|kernel|program)|generic_op|custom kernel|own kernel|stream"
FUSED = r"fus|one (op|call)|single op"
REDUCE = "attention_* feed_* norm_in norm_feed sum_attention sum_feed"
GLUE = "*_turned cast_* *_back *_bias clamp_* glu plus product weighted sum_experts"
MADE_UP = "all times but those told, which ops run within what they tell as a sum; core counts of small ops; gaps"
THREE = (one_d((12, 3), 45, (1, 5)), 36), (one_d((10, 3), 45, (1, 3)), 30)
LATER = (one_d((10, 3), 15, (1, 6), subblock=(1, 3)), 30), (one_d((9, 5), 30, (1, 2), subblock=(1, 2)), 45)
GPT_OSS_DEMO = (
    laid(
        "gpt-oss-demo-p150", DECODE, "one chip, no config of its own but the experts': 19.87 ms of kernels a token", plain,
        (
            gain("norm", "norms over a sharded input, on more cores", 61.2, "norm_in norm_feed", rf"{SHARDED}|{CORES}", "1.5 ms a token, of 49 norms"),
            gain("router", "a program config for the router's matmul", 28.3, "router", rf"{CONFIG}|{CORES}|in0_block_w|\b1D\b", "0.68 ms a token"),
            gain("experts", "more cores and longer blocks for gate, up and down", 215.8, "gate up down", rf"{CONFIG}|{CORES}|in0_block_w|per_core_N", "what is left of 19.87 -> 11.01 ms a token: derived"),
        ),
        MADE_UP,
    ),
    laid(
        "gpt-oss-demo-casts", EXPERTS, "one chip, gate and up in one matmul that writes BFLOAT8_B", packed(182.6, 86.5, *THREE, bf8=True),
        (gain("bf16", "BFLOAT16 out of the sparse matmuls, and no casts between", 50, "cast_*", r"BFLOAT16|bfloat16|typecast|casts?\b", "about 1.2 ms a token; 144 transposes with a cast"),),
        f"{MADE_UP}; three casts a layer, not six",
    ),
    laid(
        "gpt-oss-demo-swiglu", CONFIGS, "one chip, all between the sparse matmuls in one op: 6.458 ms a token of sparse matmuls", packed(182.6, 86.5, *THREE),
        (
            gain("down", "45 cores, blocks of 30 and subblocks of two for down", 3.1, "down", r"45 cores|\(?9, ?5\)?|9x5|subblock|in0_block_w|per_core_N|grid", "0.1795 -> 0.1764 ms alone"),
            dead("subblock", "30 cores, blocks of 15 and subblocks of three of six tiles for gate and up", "gate_up", r"subblock", "0.1935 -> 0.1709 ms alone, 6.458 -> 6.147 ms a token with down's: but a sum that is put off and read back in subblocks is wrong", GUARD, faster=True),
            dead("single", "one op less of those that choose experts: five tries", "pick_*", r"(drop|remove|skip|avoid|without|no) .{0,60}(typecast|pad|slice|untilize|tilize|fill)", "58.8 us, 1.412 ms a token; each try added an op elsewhere, and was slower", ROUTER),
        ),
        f"{MADE_UP}; how 6.458 ms are shared",
    ),
    laid(
        "gpt-oss-demo-30", CONFIGS, "the same later: 4.142 ms a token for gate and up, 2.005 for down", packed(172.6, 83.5, *LATER),
        (
            gain("cores", "45 cores and subblocks of four for gate and up", 35.3, "gate_up", rf"{CORES}|per_core_N|subblock", "4.142 -> 3.295 ms a token"),
            gain("nnz", "the number of active experts told to both sparse matmuls", 13.8, "gate_up down", r"nnz", "6.159 -> 5.827 ms a token, 15.854 -> 15.518 in all", EXPERTS),
        ),
        MADE_UP,
    ),
    laid(
        "gpt-oss-demo-four", MESH, "four chips, as the demo came: 18.34 ms a token", four,
        (
            gain("reduce", "one op for a reduction, norms on the same 30 cores, a residual in BFLOAT16, no padding", 190.4, REDUCE, r"all_reduce_async|all.reduce|reduce_scatter|shard|cores", "4.57 ms a token; which part is the norms' is not told"),
            gain("indexed", "rows of the four active experts alone, 24 cores for gate and up, one op for what is between", 180.4, f"gate up down {GLUE}", r"indices|indexed|only the (four |active |chosen |\d+ )|active experts|nnz|swiglu|24 cores", "4.33 ms a token"),
            gain("configs", "1D configs for the router's, first and last matmul", 92.1, "qkv router out", rf"{CONFIG}|\b1D\b|in0_block_w", "2.21 ms a token"),
            gain("pick", "the four best and their softmax in one op", 13.3, "pick_*", rf"moe_gate|{FUSED}", "0.32 ms a token"),
        ),
        MADE_UP,
    ),
    laid(
        "gpt-oss-demo-indexed", MESH, "four chips, all those changed: about 6.9 ms a token", indexed(one=False),
        (
            gain("packed", "gate and up in one matmul", 10.8, "gate up", PACKED, "0.26 ms a token"),
            gain("joined", "rotation, the cache's writing and the first matmul's bias in fewer ops", 4.6, "qkv_bias rope_* cache_*", rf"{FUSED}|bias", "0.11 ms a token"),
            gain("weighted", "weights and sum of the experts in one op", 2.9, "weighted sum_experts", FUSED, "0.07 ms a token"),
        ),
        MADE_UP,
    ),
    laid(
        "gpt-oss-demo-tuned", MESH, "four chips by TTNN's ops: 6.41 ms a token", indexed(one=True),
        (
            gain("gate-up", "one own op that streams gate and up, with bias and activation", 25, "gate_up swiglu", OWN, "0.60 ms a token"),
            gain("down", "one own op that streams down, with bias and the weighted sum", 15.8, "down weighted", OWN, "0.38 ms a token"),
            gain("linear", "own ops that stream the first, last and router's weights", 11.7, "qkv out router", OWN, "0.28 ms a token"),
            gain("payload", "three tiles to be reduced, for 90 of which one row counts", 5, "reduce_attention reduce_feed", r"tile|payload|row|pack", "0.12 ms a token"),
            gain("lofi", "LoFi for the last matmul of attention", 3.75, "out", LOFI, "0.09 ms a token"),
            gain("block", "another width of a block for gate and up", 2.9, "gate_up", r"in0_block_w|block width|block_w", "0.07 ms a token, by then in an own op"),
            gain("chunk", "chunks of 256 keys where attention sees all tokens", 2.5, "sdpa", SDPA_CHUNKS, "0.03 ms a token, for 12 layers"),
        ),
        MADE_UP,
    ),
    laid(
        "gpt-oss-demo-words", MESH, "four chips: the words' scores and the best of them", scored,
        (gain("head", "own ops: scores streamed as 32 short rows, 50,272 words a chip, merged, one picked", 1450, "head wide padded best gather_* names_wide moved_on rows token", rf"{OWN}|short(er)? rows|32 rows|multicore|argmax", "3.98 -> 2.42 ms a token, 1.45 of it so"),),
        f"{MADE_UP}; its ops",
    ),
)  # fmt: skip
