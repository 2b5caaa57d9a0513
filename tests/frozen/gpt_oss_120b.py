"""GPT-OSS 120B: decode of one layer with sliding attention on one Blackhole chip (p300c), of one user and of two.

Hidden 2880, 64 heads of 64 with eight of keys and values, 128 experts of 2880, four of them active. Two ledgers: one
makes the experts' ops fewer (three sparse matmuls, two, two by numbers, then one op for all), the other tunes what stands
around that op. Times are of a traced layer (500 or 1000 replays) but where a note says kernels; kernel times of single ops
are told for the last states of one user and of two as shares of the sum, and of few ops besides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, norm_shards, one_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import (
    BFP4,
    BFP8,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    IN_L1,
    INTERLEAVED_1D,
    LOFI,
    PACKED,
    SHARDED,
    unbanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

DOC = "https://github.com/housTT/tt-metal/blob/{}/models/autoports/openai_gpt_oss_120b/doc/"
FUSED = f"{DOC.format('389f48ba6030b6d380aa3d214a03d25748e005cd')}fused_decoder/work_log.md"
ASSESSED = f"{DOC.format('389f48ba6030b6d380aa3d214a03d25748e005cd')}fused_decoder/graph_fusion_assessment.md"
LOG = f"{DOC.format('40cd075ea2cced61c0632f54fe6d87f24d4f79fc')}optimized_decoder/work_log.md"
README = f"{DOC.format('f00119daaa7adbb65d36948f0e79de76dbf79f51')}optimized_decoder/README.md"
FORMATS = f"{DOC.format('f00119daaa7adbb65d36948f0e79de76dbf79f51')}optimized_decoder/AUTOFIX_attention_precision_final32c.md"
BANKED = (
    f"{DOC.format('f00119daaa7adbb65d36948f0e79de76dbf79f51')}optimized_decoder/AUTOFIX_dram_qkv_final32c_matrix.md"
)
GRID, ALL_CORES = (11, 10), 110
HIDDEN, HEADS, KV, SIZE, EXPERTS, ACTIVE, WIDE = 2880, 64, 8, 64, 128, 4, 2880
QKV, JOINED = (HEADS + 2 * KV) * SIZE, HEADS * SIZE


@dataclass(frozen=True)
class How:
    """A layer of decode; times in us. `qkv` is one time, or one for each of three matmuls."""

    users: int = 1
    qkv: tuple[float, ...] = (67,)
    out: float = 61
    attention: tuple[str, str] = ("BFLOAT8_B", "HiFi2")
    folded: bool = True  # QKV's bias in its matmul
    norm: tuple[int, float] = (10, 5.9)  # cores and time; on one core the norm is not in shards
    router: tuple[float, bool] = (7, True)  # time, and whether its weight is in L1
    out_cores: int = 0  # of a 1D config on shards; 0: TTNN chose
    banks: bool = False  # QKV over the DRAM banks, on 15 cores
    experts: str = "one op"
    moe: tuple[float, ...] = (228,)
    small: float = 1.0  # factor of the times of small ops, which no ledger tells


def normed(block: Block, role: str, x: Tensor, how: How) -> Tensor:
    cores, us = how.norm
    if cores == 1:
        return block.norm(role, x, us, cores=1, place=L1)
    placed = block.to_shards(f"{role}_placed", x, block.across(32, HIDDEN, cores), 1.1)
    made = block.norm(role, placed, us, cores=cores, config=norm_shards((cores, 1), HIDDEN // 32 // cores))  # fmt: skip
    return block.from_shards(f"{role}_back", made, 1.3, L1)


def projected(block: Block, x: Tensor, how: How) -> Tensor:
    dtype, fidelity = how.attention
    if how.banks:
        placed = block.to_shards("qkv_placed", x, block.across(32, HIDDEN, 15), 1.2)
        made = block.linear("qkv", placed, QKV, how.qkv[0], dtype=dtype, fidelity=fidelity, config=banked(6, 10), cores=8, place=block.across(32, QKV, 16), banks=True)  # fmt: skip
        made = block.from_shards("qkv_back", made, 1.6)
    elif len(how.qkv) == 3:
        widths = (JOINED, KV * SIZE, KV * SIZE)
        parts = [block.linear(name, x, width, us, dtype=dtype, fidelity=fidelity, cores=min(width // 32, 64), place=L1, bias=True) for name, width, us in zip(("q_part", "k_part", "v_part"), widths, how.qkv, strict=True)]  # fmt: skip
        return block.concat("qkv", parts, [1, 1, how.users, QKV], 3, 6)
    else:
        made = block.linear("qkv", x, QKV, how.qkv[0], dtype=dtype, fidelity=fidelity, cores=80, place=L1, bias=how.folded)  # fmt: skip
    if how.folded and not how.banks:
        return made
    return block.binary("qkv_bias", "ADD", made, block.tensor([1, 1, 1, QKV]), 5.5, cores=ALL_CORES)


def attended(block: Block, x: Tensor, how: How) -> Tensor:
    users, small = how.users, how.small
    q, k, v = block.heads_of_decode(
        "heads", projected(block, x, how), 44.7, heads=HEADS, kv=KV, size=SIZE, users=users
    )
    tables = [block.tensor([1, users, 32, SIZE], place=block.along(32, SIZE, users)) for _ in range(2)]
    turn = block.tensor([1, 1, 32, 32 * users], place=block.along(32, 32, users))
    q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape, place=one.placement or L1), 4 * small, cores=users, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=True, output_mem_config=one.placement) for name, one in (("q", q), ("k", k)))  # fmt: skip
    cache = block.tensor([2048 * users, KV, 64, SIZE], "BFLOAT8_B")
    block.update_cache("cache_k", cache, k, 8.1 * small)
    block.update_cache("cache_v", cache, v, 8.1 * small)
    out = block.attend_decode("attend", q, cache, 21 if users == 1 else 23.4, config=None, cores=64)
    out = block.to_shards("attended_placed", out, block.along(64, SIZE, users), 1)
    out = block.moved("joined", "NLPConcatHeadsDecode", out, 3, shape=[1, 1, users, JOINED], place=block.across(32, JOINED, 64), cores=64, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
    dtype, fidelity = how.attention
    if not how.out_cores:
        out = block.from_shards("joined_back", out, 1.2, L1)
        return block.linear(
            "out", out, HIDDEN, how.out, dtype=dtype, fidelity=fidelity, cores=90, place=L1, bias=True
        )
    block_w, per_n, subblock = {32: (4, 3, 3), 64: (2, 2, 2), 16: (8, 6, 6), 8: (16, 12, 6)}[how.out_cores]
    out = block.reshard("out_placed", out, block.across(32, JOINED, how.out_cores), 1.45)
    config = one_d((8, how.out_cores // 8), block_w, (1, per_n), subblock=(1, subblock))
    return block.linear("out", out, HIDDEN, how.out, dtype=dtype, fidelity=fidelity, config=config, cores=30, place=L1, bias=True)  # fmt: skip


def chosen(block: Block, x: Tensor, how: How) -> tuple[Tensor, Tensor]:
    """The scores and the numbers of the four experts."""
    us, near = how.router
    weight = block.tensor([1, 1, HIDDEN, EXPERTS], place=L1) if near else None
    logits = block.linear("router", x, EXPERTS, us, cores=4, place=L1, bias=True, weight=weight)
    best = (
        block.tensor([1, 1, how.users, ACTIVE], place=L1),
        block.tensor([1, 1, how.users, ACTIVE], "UINT16", L1),
    )
    scores = block.op("topk", "TopK", (logits,), best, 22, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    return block.softmax("scores", scores, 8 * how.small, cores=1), best[1]


def rows(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.moved(role, "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")


def one_op(block: Block, x: Tensor, scores: Tensor, numbers: Tensor, how: How) -> Tensor:
    """All of the experts' work in one op, then the sum of four outputs by their scores.

    The profiler prints HiFi4 for the op, whose matmuls run in LoFi.
    """
    small, users = how.small, how.users
    x = rows(block, "moe_rows", x, 4 * small)
    scores = block.moved(
        "moe_scores_shaped", "ReshapeView", scores, 2.2 * small, shape=[1, users, 1, ACTIVE], cores=users
    )
    numbers = block.moved(
        "moe_numbers_shaped", "ReshapeView", numbers, 2.2 * small, shape=[1, users, 1, ACTIVE], cores=users
    )
    given = [
        rows(block, f"moe_{name}_rows", one, 2.5 * small)
        for name, one in (("scores", scores), ("numbers", numbers))
    ]
    if users > 1:
        parts: list[Tensor] = []
        for user in range(users):
            part = block.slice(f"moe_user{user}", x, (0, 0, user, 0), (1, 1, user + 1, HIDDEN), 2.2 * small)
            parts.append(
                block.moved(f"moe_shaped{user}", "ReshapeView", part, 2.5 * small, shape=[1, 1, 1, HIDDEN])
            )
            for which, one in zip(("scores", "numbers"), given, strict=True):
                block.slice(f"moe_{which}{user}", one, (0, user, 0, 0), (1, user + 1, 1, ACTIVE), 1.8 * small)
        x = block.concat("moe_joined", parts, [1, 1, users, HIDDEN], 2, 3 * small)
    ring = [
        block.tensor([8, 1, EXPERTS, k, n], "BFLOAT4_B") for k, n in ((HIDDEN, 2 * WIDE // 8), (WIDE, HIDDEN // 8))
    ]
    mapping = block.tensor([1, EXPERTS], "UINT16", layout=ROW_MAJOR)
    out = block.tensor([ACTIVE, users, HIDDEN], layout=ROW_MAJOR)
    out = block.op("moe", "MoECompute", (x, given[1], given[0], mapping, *ring), out, how.moe[0], cores=8 + 32, fidelity="HiFi4", activation_type="MoEActivationFunction::SWIGLU", compute_only=False, has_bias=True, layer_id=0, output_height_shard_dim=4, output_width_shard_dim=8, intermediate_size=WIDE)  # fmt: skip
    out = block.moved(
        "moe_tiles", "TilizeWithValPadding", out, 6 * small, layout="TILE", cores=90, fidelity="HiFi4"
    )
    return block.op("moe_total", "DeepseekMoeFastReduceNcFused", (out, given[0]), block.tensor([1, 1, users, HIDDEN]), 7 * small, cores=90, fidelity="HiFi4", dim=0, compute_kernel_config=block.kernel("HiFi4"), split_size=HIDDEN)  # fmt: skip


def sparse(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, given: tuple[Tensor, ...], n: int, us: float, *, slots: int, cores: tuple[int, int],
    second: bool = False,
) -> Tensor:  # fmt: skip
    weight = block.tensor([1, EXPERTS, x.shape[-1], n], "BFLOAT4_B")
    count = cores[0] * cores[1]
    config = one_d(cores, 30, (1, -(-n // 32 // count)))
    return block.op(
        role, "SparseMatmul", (x, weight, *given), block.tensor([1, 1, 1, slots, 32, n]), us, cores=count, fidelity="LoFi",
        compute_kernel_config=block.kernel("LoFi"), is_input_a_sparse=second, is_input_b_sparse=True, nnz=ACTIVE,
        output_dtype="DataType::BFLOAT16", output_mem_config=L1 if slots == ACTIVE else DRAM, program_config=config,
        user_core_coord=None,
    )  # fmt: skip


def gated(block: Block, gate: Tensor, up: Tensor, us: float) -> Tensor:
    """The model's SwiGLU, op by op."""
    gate = block.unary("clamp_gate", "MINIMUM", gate, us, parameter="7")
    up = block.unary("clamp_up", "CLAMP_TSS", up, us, parameter="-7, 7")
    scaled = block.unary("scaled", "MUL_UNARY_SFPU", gate, us, parameter="1.702")
    glu = block.binary("glu", "MUL", gate, block.unary("squashed", "SIGMOID", scaled, us), us)
    return block.binary("product", "MUL", block.unary("plus", "ADD_UNARY_SFPU", up, us, parameter="1"), glu, us)


def op_by_op(block: Block, x: Tensor, scores: Tensor, numbers: Tensor, how: How) -> Tensor:
    """Sparse matmuls of the active experts: by a mask of all, or by their numbers."""
    indexed, small = how.experts == "indexed", how.small
    slots = ACTIVE if indexed else EXPERTS
    index, values = rows(block, "index_rows", numbers, 2.5 * small), rows(block, "values_rows", scores, 2.5 * small)
    if indexed:
        given: tuple[Tensor, ...] = (block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), index)
        column = block.moved("values_shaped", "ReshapeView", scores, 4 * small, shape=[1, 1, 1, ACTIVE, 1, 1])
    else:
        zeros = block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR)
        spread = block.op("scatter", "Scatter", (zeros, index, values), block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), 6 * small, cores=1, dim=3)  # fmt: skip
        given = (spread,)
        column = block.moved("scores_tiles", "TilizeWithValPadding", spread, 5 * small, layout="TILE", cores=1, fidelity="HiFi4")  # fmt: skip
        column = block.permute("scores_turned", column, (0, 3, 1, 2), 9 * small)

    def biased(role: str, one: Tensor, n: int, us: float) -> Tensor:
        bias = block.tensor([1, 1, 1, slots, 1, n])
        if indexed:
            table = block.tensor([EXPERTS, n], layout=ROW_MAJOR)
            bias = block.op(f"{role}_bias_rows", "Embeddings", (index, table), bias, 7 * small, cores=4)
        return block.binary(f"{role}_bias", "ADD", one, bias, us)

    wide = 5 if indexed else 22 * small
    if how.experts == "three":
        gate, up = (biased(role, sparse(block, f"experts_{role}", x, given, WIDE, us, slots=slots, cores=(9, 5)), WIDE, wide) for role, us in zip(("gate", "up"), how.moe[:2], strict=True))  # fmt: skip
    else:
        both = biased("both", sparse(block, "experts_both", x, given, 2 * WIDE, how.moe[0], slots=slots, cores=(9, 10)), 2 * WIDE, 2 * wide)  # fmt: skip
        shape = both.shape
        gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, 0, 0, at), (*shape[:-1], at + WIDE), wide) for role, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
    hidden = gated(block, gate, up, wide * 0.8)
    out = biased("down", sparse(block, "experts_down", hidden, given, HIDDEN, how.moe[-1], slots=slots, cores=(9, 5), second=True), HIDDEN, wide)  # fmt: skip
    out = block.binary("weighted", "MUL", out, block.view(column, [1, 1, 1, slots, 1, 1]), wide)
    return block.op("total", "Reduce", (out,), block.tensor([1, 1, 1, HIDDEN]), wide, cores=90, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.9)
        x = block.tensor([1, 1, how.users, HIDDEN])
        out = attended(block, normed(block, "norm", x, how), how)
        x = block.binary("attention_added", "ADD", x, out, 2.5, cores=90)
        fed = normed(block, "norm_feed", x, how)
        scores, numbers = chosen(block, fed, how)
        kind = one_op if how.experts == "one op" else op_by_op
        block.binary("feed_added", "ADD", x, kind(block, fed, scores, numbers, how), 2.5, cores=90)
        return block

    return build


WALL = "of the traced layer"
REPLAYS = f"{WALL}, 1000 replays"
ATTENTION = "qkv out"
SWIGLU = "clamp_* scaled squashed glu plus product"
EARLY_EXPERTS = f"experts_* {SWIGLU} down_bias weighted total"
BY_NUMBER = r"indices|indexed|only the (chosen|selected|active)|top.?k (ids|indices)|compact"
ONE_OP = r"moe_compute|one (fused )?op.{0,40}expert|fus.{0,40}expert"
SEPARATE = r"separate|three (matmuls|linears|projections)|split.{0,30}(queries|QKV|weights?|projection)"
BIAS = r"bias=|bias.{0,60}(linear|matmul|fold|fus)|(fold|fus|linear|matmul).{0,60}bias"
OUT_1D = unbanked(rf"{INTERLEAVED_1D}|{CONFIG}")
MADE_UP = "times of the small ops and how the rest is shared out, which ops move rows for the experts, attributes of the experts' op, gaps"
OF_STATE = f"kernel times in this state, which follow from the last state and the measured differences; {MADE_UP}"

ONE_USER = How(moe=(228,), norm=(1, 71.2), router=(18, False))
FIRST = replace(ONE_USER, attention=("BFLOAT16", "HiFi2"), qkv=(74.5,), out=67.7, folded=False)
FOLDED = replace(ONE_USER, folded=True)
NEAR = replace(FOLDED, router=(7, True))
NORMS = replace(NEAR, norm=(10, 5.9))
LAST = replace(NORMS, out=30, out_cores=32)
TWO_USERS = replace(LAST, users=2, moe=(325.7,), small=1.25)
NARROW_TWO = replace(TWO_USERS, attention=("BFLOAT4_B", "LoFi"), qkv=(59.5,), out=24)

GPT_OSS_120B = (
    laid(
        "gptoss120-three", FUSED, "decode of one user as brought up, three sparse matmuls by a mask: 2060 us in kernels, 64 ops",
        decode(replace(FIRST, experts="three", moe=(315, 315, 285), small=2.7)),
        (
            gain("pack", "gate and up as one sparse matmul", 218.0, "experts_gate experts_up gate_bias up_bias", PACKED, "1755 -> 1537 us of the experts' kernels, 46 -> 42 ops"),
            dead("unified", "the prefill's op of all experts", EARLY_EXPERTS, r"unified_routed_expert|routed_expert", "36.6 ms and what maps rows for it, against 2.1 ms of the whole layer"),
        ),
        f"how 1755 us are shared out over the experts' ops; {MADE_UP}", 2060,
    ),
    laid(
        "gptoss120-packed", FUSED, "decode of one user, gate and up as one sparse matmul by a mask: 1531 us of the experts' kernels",
        decode(replace(FIRST, experts="two", moe=(500, 285), small=2.1)),
        (gain("indexed", "the four experts by their numbers, outputs of these only", 538.0, f"{EARLY_EXPERTS} both_bias half_* scatter scores_*", BY_NUMBER, "1531 -> 993 us of the experts' kernels"),),
        f"how 1531 us are shared out over the experts' ops; {MADE_UP}",
    ),
    laid(
        "gptoss120-indexed", FUSED, "decode of one user, experts by number: 1312 us in kernels, 67 ops; 1369 us of the traced layer",
        decode(replace(FIRST, experts="indexed", moe=(458, 255), small=1.9)),
        (
            gain("one-op", "one op for the experts' projections, biases and SwiGLU, and one for the weighted sum", 649.5, f"{EARLY_EXPERTS} half_* index_rows values_* both_* down_*", ONE_OP, f"1368.6 -> 719.1 us {WALL}, 500 replays; 1312 -> 678 us in kernels"),
            dead("combine", "post_combine_reduce for the weighted sum", "weighted total", r"post_combine_reduce", "997.5 -> 1052.5 us of the replayed experts", ASSESSED),
            dead("fast-reduce", "fast_reduce_nc for the sum", "total", r"fast_reduce_nc", "997.5 -> 1007.5 us of the replayed experts", ASSESSED),
            dead("out-bias", "the bias within the output projection", "out", BIAS, "slower in a profile, says the log without a figure", ASSESSED),
        ),
        f"how 993 us are shared out over the experts' ops; {MADE_UP}", 1312,
    ),
    laid(
        "gptoss120-first", LOG, "decode of one user, experts in one op, attention's weights in BFLOAT16: 736 us of the traced layer",
        decode(FIRST),
        (
            gain("bfp8", "BFLOAT8_B for the weights of QKV and the output projection", 14.2, ATTENTION, BFP8, f"736.5 -> 722.3 us {REPLAYS}"),
            dead("experts-l1", "the experts' output in L1", "moe moe_tiles", IN_L1, "1440.4 -> 1443.1 us of two traced layers", ASSESSED),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-bfp8", LOG, "decode of one user, attention's weights in BFLOAT8_B: 722 us of the traced layer",
        decode(replace(ONE_USER, folded=False)),
        (
            gain("bias", "QKV's bias within its matmul", 15.8, "qkv qkv_bias", BIAS, f"722.3 -> 706.5 us {REPLAYS}"),
            dead("bfp4", "BFLOAT4_B for the weights of attention's matmuls", ATTENTION, BFP4, f"722.3 -> 739.6 us {REPLAYS}, and not exact enough"),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-folded", LOG, "decode of one user, QKV's bias in its matmul: 706 us of the traced layer",
        decode(FOLDED),
        (gain("router", "the router's weight and bias kept in L1", 11.1, "router", IN_L1, f"706.5 -> 695.4 us {REPLAYS}; the matmul took 6.9 to 7.0 us then"),),
        OF_STATE,
    ),
    laid(
        "gptoss120-near-router", LOG, "decode of one user, the router in L1: 695 us of the traced layer",
        decode(NEAR),
        (gain("norms", "both norms in shards on nine cores", 107.3, "norm norm_feed", rf"{SHARDED}|{CORES}", f"695.4 -> 588.1 us {REPLAYS}"),),
        OF_STATE,
    ),
    laid(
        "gptoss120-nine-cores", LOG, "decode of one user, norms in shards on nine cores: 588 us of the traced layer",
        decode(replace(NEAR, norm=(9, 17.5))),
        (gain("norms", "both norms in shards on ten cores", 23.3, "norm norm_feed", rf"{CORES}|block_w", f"588.1 -> 564.8 us {REPLAYS}"),),
        OF_STATE,
    ),
    laid(
        "gptoss120-separate", LOG, "decode of one user, queries, keys and values by three matmuls: 585 us of the traced layer",
        decode(replace(NORMS, qkv=(54, 12, 12))),
        (gain("pack", "one matmul for queries, keys and values", 20.2, "q_part k_part v_part qkv", PACKED, f"584.97 -> 564.75 us {REPLAYS}"),),
        OF_STATE,
    ),
    laid(
        "gptoss120-norms", LOG, "decode of one user, norms in shards on ten cores: 565 us of the traced layer",
        decode(NORMS),
        (
            gain("out", "the output projection from 32 shards by a 1D config with in0_block_w 4", 29.6, "out joined_back", OUT_1D, f"564.75 -> 535.19 us {REPLAYS}, with the move to shards"),
            dead("out-8", "the output projection from eight shards, in0_block_w 16", "out", r"in0_block_w\D{0,4}16\b|\b8 cores|\b8x1\b|x=8,y=1\b", f"564.75 -> 566.04 us {REPLAYS}"),
            dead("norm-cores", "the norms on 15 or 30 cores", "norm norm_feed", rf"{CORES}|block_w", f"564.8 -> 571.6 us on 15 cores, 596.2 on 30, {REPLAYS}"),
            dead("lofi", "LoFi for QKV and the output projection", ATTENTION, LOFI, f"564.8 -> 577.4 us {REPLAYS}"),
            dead("qkv-config", "a program config for QKV", "qkv", unbanked(CONFIG), f"564.83 -> 564.86 us {REPLAYS}"),
            dead("out-bfp8", "the output projection's input in BFLOAT8_B", "out joined", r"(activation|input|in0).{0,60}(bfloat8_b|BFP8)|(bfloat8_b|BFP8).{0,60}(activation|input|in0)|typecast", f"564.8 -> 564.1 us {REPLAYS}: a tie, and slower when it was tried again"),
            dead("three", "queries, keys and values by three matmuls", "qkv", SEPARATE, f"564.75 -> 584.97 us {REPLAYS}"),
            dead("heights-8", "the experts' output in eight heights of shards", "moe", r"height.?shard.?\w*\W{0,4}8\b|output_height_shard_dim\W{0,4}8\b", f"564.8 -> 565.0 us {REPLAYS}"),
            dead("heights-2", "the experts' output in two heights of shards", "moe", r"height.?shard.?\w*\W{0,4}2\b|output_height_shard_dim\W{0,4}2\b", "refused: 737,280 bytes of buffers, and a bank of L1 has 368,640 left"),
            dead("banks", "QKV over the DRAM banks, its bias added after it", "qkv", DRAM_SHARDED, f"564.7 -> 568.8 us on ten cores, 587.6 on 15, 592.6 on 30, 597.9 on 45, 614.7 on 90, {REPLAYS}"),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-last", README, "decode of one user as it was left: 535 us of the traced layer, 505 us in kernels, 36 ops",
        decode(LAST),
        (
            dead("out-64", "the output projection from 64 shards, in0_block_w 2", "out", r"in0_block_w\D{0,4}2\b|64 cores|x=8,y=8|8x8|more cores|all (the |of the )?cores", f"535.2 -> 561.6 us {REPLAYS}"),
            dead("out-16", "the output projection from 16 shards, in0_block_w 8", "out", r"in0_block_w\D{0,4}8\b|16 cores|x=8,y=2|8x2", f"535.2 -> 536.1 us {REPLAYS}"),
            dead("out-8", "the output projection from eight shards, in0_block_w 16", "out", r"in0_block_w\D{0,4}16\b|\b8 cores|x=8,y=1\b|8x1", f"535.2 -> 566.0 us {REPLAYS}"),
            dead("bfp4", "BFLOAT4_B and LoFi for attention's matmuls", ATTENTION, rf"{BFP4}|{LOFI}", f"535.2 -> 554.9 us {REPLAYS}; with full attention 547.7 -> 542.2", FORMATS),
            dead("banks", "QKV over the DRAM banks in BFLOAT8_B and HiFi2", "qkv", DRAM_SHARDED, f"0.8 to 12.2 % more {WALL} on 10 to 90 cores", BANKED),
        ),
        MADE_UP, 504.85,
    ),
    laid(
        "gptoss120-two-bf16", LOG, "decode of two users, attention's weights in BFLOAT16: 858 us of the traced layer",
        decode(replace(TWO_USERS, attention=("BFLOAT16", "HiFi2"), qkv=(101,), out=52)),
        (gain("bfp8", "BFLOAT8_B for the weights of QKV and the output projection", 57.3, ATTENTION, BFP8, f"857.96 -> 800.65 us {REPLAYS}, means of both orders"),),
        OF_STATE,
    ),
    laid(
        "gptoss120-two-bfp8", FORMATS, "decode of two users, attention in BFLOAT8_B and HiFi2: 801 us of the traced layer",
        decode(TWO_USERS),
        (
            gain("bfp4", "BFLOAT4_B for the weights of QKV and the output projection", 10.1, ATTENTION, BFP4, f"1.29 and 1.24 % less of 800.5 us {REPLAYS}; 7.4 % less with full attention"),
            dead("lofi", "LoFi for QKV and the output projection", ATTENTION, LOFI, f"0.38 and 0.45 % more {REPLAYS}"),
            dead("out-bfp8", "the output projection's input in BFLOAT8_B", "out joined", r"(activation|input|in0).{0,60}(bfloat8_b|BFP8)|(bfloat8_b|BFP8).{0,60}(activation|input|in0)|typecast", f"0.41 and 0.45 % more {REPLAYS}"),
            dead("banks", "QKV over the DRAM banks, its bias added after it", "qkv", DRAM_SHARDED, f"0.8 to 12.2 % more {WALL} on 10 to 90 cores", BANKED),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-two-bfp4", FORMATS, "decode of two users, attention in BFLOAT4_B and HiFi2: 790 us of the traced layer",
        decode(replace(NARROW_TWO, attention=("BFLOAT4_B", "HiFi2"), qkv=(61,), out=24.7)),
        (
            gain("lofi", "LoFi for QKV and the output projection", 2.1, ATTENTION, LOFI, f"0.27 and 0.24 % less of 800.5 us {REPLAYS}; 2.3 us with full attention"),
            dead("out-bfp8", "the output projection's input in BFLOAT8_B", "out joined", r"(activation|input|in0).{0,60}(bfloat8_b|BFP8)|(bfloat8_b|BFP8).{0,60}(activation|input|in0)|typecast", f"0.49 and 0.50 % more {REPLAYS}"),
            dead("banks", "QKV over the DRAM banks on 15 cores, its bias added after it", "qkv", DRAM_SHARDED, f"0.5 % less to 1.4 % more {WALL} in four cases: not faster in all", BANKED),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-two-lofi", BANKED, "decode of two users, attention in BFLOAT4_B and LoFi: 788 us of the traced layer",
        decode(NARROW_TWO),
        (
            gain("banks", "QKV over the DRAM banks on 15 cores, its bias added after it", 10.1, "qkv", DRAM_SHARDED, f"788.3 -> 778.3 us {REPLAYS}; 744.9 -> 727.3 with full attention"),
            dead("out-bfp8", "the output projection's input in BFLOAT8_B", "out joined", r"(activation|input|in0).{0,60}(bfloat8_b|BFP8)|(bfloat8_b|BFP8).{0,60}(activation|input|in0)|typecast", f"0.55 and 0.51 % more {REPLAYS}", FORMATS),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-two-last", README, "decode of two users as it was left: 778 us of the traced layer, 628 us in kernels, 57 ops",
        decode(replace(NARROW_TWO, banks=True, qkv=(41,), out=24)),
        (
            dead("cores", "QKV over the banks from 30, 45 or 90 shards", "qkv qkv_placed", rf"{CORES}|per_core_N|in0_block_w", f"{WALL} at best 0.8 % less than without banks on 30 cores, 0.05 on 45, 2.7 % more on 90; 15 cores have 1.5 % less", BANKED),
            dead("three", "queries, keys and values by three matmuls over the banks", "qkv", SEPARATE, "13.7 to 15.5 % more of attention alone; 3.5 to 6.4 % of the layer as reckoned from it", README),
        ),
        MADE_UP, 628.1,
    ),
)  # fmt: skip
