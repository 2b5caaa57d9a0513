"""GPT-OSS 120B over four Blackhole chips (p300c), and over two: one layer with sliding attention, decode and prefill.

Each of four chips has 16 heads with two of keys and values, and a quarter of each expert's width; sums of the output
projection and of the experts are reduced over a ring. Decode of one user reads its four experts by number; of 32 users
the experts that any of them has. A prompt of 127 tokens runs all experts in groups of 32 tokens; one of 16,384 tokens
lays each expert's rows together in slabs. Times are of a traced layer but where a note says kernels; the ledger tells
kernel times of the largest ops in the first and the last state, and sums of some passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d
from tests.frozen.gpt_oss_120b import DOC
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP4, BFP8, CONFIG, CORES, DRAM_SHARDED, IN_L1, SHARDED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MESH = DOC.format("18327e507c00f7485a5d747bb277b6c05fadf2e4") + "multichip_decoder/README.md"
TUNED = DOC.format("7ce496464f045eafa28a9f87e76569229cabe4c8") + "optimized_multichip_decoder/"
README, LOG = f"{TUNED}README.md", f"{TUNED}work_log.md"
HEAD = DOC.format("1989f63169858ef22a6dfff6fba24e3e5f93d889") + "optimized_full_model/README.md"
MANY = DOC.format("452cb37a92899d0dfc32aa399120ffa8b3898b7d") + "optimized_batched_decode/README.md"
GRID, ALL_CORES = (11, 10), 110
HIDDEN, HEADS, KV, SIZE, EXPERTS, ACTIVE, WIDE = 2880, 64, 8, 64, 128, 4, 2880


@dataclass(frozen=True)
class How:
    """A layer over the chips; times in us. `norm`: cores and time, on one core not in shards."""

    chips: int = 4
    rows: int = 1  # users of a decode, tokens of a prefill
    qkv: float = 19
    out: float = 14.5
    norm: tuple[int, float] = (10, 6)
    router: float = 7.2
    fidelity: str = "LoFi"
    experts: str = "BFLOAT4_B"
    both: tuple[float, int, int] = (40.2, 45, 30)  # time, cores, in0_block_w of gate and up
    down: tuple[float, int] = (31.8, 15)  # time and cores
    reduced: str = "physical"  # width of attention's reduction
    small: float = 1.0  # factor of the times of small ops

    @property
    def part(self) -> int:
        return WIDE // self.chips


FLAT = {9: (9, 1), 12: (6, 2), 15: (5, 3), 30: (10, 3), 45: (9, 5), 48: (8, 6)}


def normed(block: Block, role: str, x: Tensor, how: How) -> Tensor:
    cores, us = how.norm
    if cores == 1:
        return block.norm(role, x, us, cores=max(1, how.rows // 32), place=L1)
    placed = block.to_shards(f"{role}_placed", x, block.across(32, HIDDEN, cores), 1.1)
    return block.norm(role, placed, us, cores=cores, config=norm_shards((cores, 1), HIDDEN // 32 // cores))


def broadcast_sum(block: Block, role: str, x: Tensor, us: float, how: How) -> Tensor:
    """An all-reduce of a width that does not divide: each chip's part to all, and a sum."""
    parts = block.collective(f"{role}_broadcast", "AllBroadcast", x, x.shape[-1], us, ring=how.chips)
    joined = block.concat(f"{role}_parts", [parts] * how.chips, [how.chips, *x.shape[1:]], 0, 4 * how.small)
    return block.op(f"{role}_sum", "MorehSum", (joined,), block.tensor(x.shape, x.dtype, L1), 5 * how.small, cores=90, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), dim=0, keepdim=True)  # fmt: skip


def reduced(block: Block, x: Tensor, how: How) -> Tensor:
    """Attention's sums over the chips."""
    if how.reduced == "logical":
        x = block.slice("attention_cut", x, (0, 0, 0, 0), (*x.shape[:-1], HIDDEN), 2)
        return broadcast_sum(block, "attention", block.moved("attention_copy", "Copy", x, 2.5, place=DRAM), 35, how)
    wide = x.shape[-1]
    if how.fidelity == "LoFi":
        x = block.typecast("attention_cast", x, "BFLOAT8_B", 1.8)
    part = block.collective("attention_scatter", "ReduceScatterMinimalDirect", x, wide // how.chips, 13, ring=how.chips)  # fmt: skip
    whole = block.collective("attention_gather", "AllGather", part, wide, 10, ring=how.chips)
    return block.slice("attention_cut", whole, (0, 0, 0, 0), (*whole.shape[:-1], HIDDEN), 2, L1)


def attended(block: Block, x: Tensor, how: How) -> Tensor:
    users, heads, kv, small = how.rows, HEADS // how.chips, KV // how.chips, how.small
    config = one_d((10, 1), 9, (1, (heads + 2 * kv) * SIZE // 320), subblock=(1, 4)) if how.norm[0] == 10 else None
    qkv = block.linear("qkv", x, (heads + 2 * kv) * SIZE, how.qkv, dtype="BFLOAT8_B", fidelity=how.fidelity, config=config, cores=10 if config else 40, place=L1, bias=True)  # fmt: skip
    q, k, v = block.heads_of_decode("heads", qkv, 14 * small, heads=heads, kv=kv, size=SIZE, users=users)
    tables = [block.tensor([1, users, 32, SIZE], place=block.along(32, SIZE, users)) for _ in range(2)]
    turn = block.tensor([1, 1, 32, 32 * users], place=block.along(32, 32, users))
    q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape, place=one.placement or L1), 4 * small, cores=users, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=True, output_mem_config=one.placement) for name, one in (("q", q), ("k", k)))  # fmt: skip
    cache = block.tensor([2048 * users, kv, 64, SIZE], "BFLOAT8_B")
    block.update_cache("cache_k", cache, k, 6 * small)
    block.update_cache("cache_v", cache, v, 6 * small)
    out = block.attend_decode("attend", q, cache, 14 if users == 1 else 50, config=chunks(0, 128, (8, 8)), cores=64, k_chunk=128)  # fmt: skip
    out = block.to_shards("attended_placed", out, block.along(32, SIZE, users), 1)
    out = block.moved("joined", "NLPConcatHeadsDecode", out, 3, shape=[1, 1, users, heads * SIZE], place=block.across(32, heads * SIZE, heads), cores=heads, num_heads=heads, on_subcoregrids=False)  # fmt: skip
    wide = 2944 if how.chips == 4 else 3072
    if how.chips == 2:
        config = banked(4, wide // 32 // 16)
        out = block.reshard("out_placed", out, block.across(32, heads * SIZE, 16), 1.2)
        out = block.linear("out", out, wide, how.out, dtype="BFLOAT8_B", fidelity=how.fidelity, config=config, cores=8, place=block.across(32, wide, 16), banks=True)  # fmt: skip
        out = block.from_shards("out_back", out, 1.5, L1)
    else:
        out = block.from_shards("joined_back", out, 1, L1)
        out = block.linear("out", out, wide, how.out, dtype="BFLOAT8_B", fidelity=how.fidelity, config=one_d((8, 2), 2, (1, 6), subblock=(1, 6)), cores=16, place=L1)  # fmt: skip
    return reduced(block, out, how)


def routed(block: Block, x: Tensor, how: How) -> tuple[Tensor, Tensor]:
    weight = block.tensor([1, 1, HIDDEN, EXPERTS], place=L1)
    logits = block.linear("router", x, EXPERTS, how.router, cores=10 if how.norm[0] == 10 else 4, place=L1, bias=True, weight=weight)  # fmt: skip
    best = (block.tensor([1, 1, how.rows, ACTIVE], place=L1), block.tensor([1, 1, how.rows, ACTIVE], "UINT16", L1))
    scores = block.op("topk", "TopK", (logits,), best, 22, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    return block.softmax("scores", scores, 6 * how.small, cores=1), best[1]


def rows_of(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.moved(role, "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")


def sparse(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, given: tuple[Tensor, ...], n: int, us: float, *, how: How, shape: list[int],
    cores: int, deep: int, second: bool = False, config: str | None = None,
) -> Tensor:  # fmt: skip
    weight = block.tensor([1, EXPERTS, x.shape[-1], n], how.experts)
    per_n = -(-n // 32 // cores)
    wide = next(one for one in (6, 4, 3, 2, 1) if per_n % one == 0)
    config = config or one_d(
        FLAT[cores], deep, (max(1, shape[-2] // 32), per_n), subblock=(1, wide if second else 1)
    )
    fidelity = "LoFi" if how.experts != "BFLOAT16" else "HiFi2"
    return block.op(
        role, "SparseMatmul", (x, weight, *given), block.tensor(shape, place=L1 if how.rows == 1 else DRAM), us, cores=cores,
        fidelity=fidelity, compute_kernel_config=block.kernel(fidelity), is_input_a_sparse=second, is_input_b_sparse=True,
        nnz="std::nullopt", output_dtype="DataType::BFLOAT16", output_mem_config=L1 if how.rows == 1 else DRAM,
        program_config=config, user_core_coord=None,
    )  # fmt: skip


def swiglu(block: Block, both: Tensor, part: int, us: float) -> Tensor:
    shape = both.shape
    lead = [0] * (len(shape) - 1)
    gate, up = (block.slice(f"half_{role}", both, (*lead, at), (*shape[:-1], at + part), us) for role, at in (("gate", 0), ("up", part)))  # fmt: skip
    gate = block.unary("clamp_gate", "MINIMUM", gate, us * 0.8, parameter="7")
    up = block.unary("clamp_up", "CLAMP_TSS", up, us * 0.8, parameter="-7, 7")
    glu = block.binary("glu", "MUL", gate, block.unary("scaled", "MUL_UNARY_SFPU", gate, us * 0.8, parameter="1.702"), us, rhs="SIGMOID")  # fmt: skip
    return block.binary(
        "product", "MUL", block.unary("plus", "ADD_UNARY_SFPU", up, us * 0.8, parameter="1"), glu, us
    )


def few_experts(block: Block, x: Tensor, scores: Tensor, numbers: Tensor, how: How) -> Tensor:
    """One user's four experts, by number."""
    small, part = how.small, how.part
    index = rows_of(block, "index_rows", numbers, 2.5 * small)
    given = (block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), index)
    us, cores, deep = how.both
    both = sparse(block, "experts_both", x, given, 2 * part, us, how=how, shape=[1, 1, 1, ACTIVE, 32, 2 * part], cores=cores, deep=deep)  # fmt: skip
    bias = block.op("both_bias_rows", "Embeddings", (index, block.tensor([EXPERTS, 2 * part], layout=ROW_MAJOR)), block.tensor([1, 1, 1, ACTIVE, 1, 2 * part]), 6 * small, cores=4)  # fmt: skip
    hidden = swiglu(block, block.binary("both_bias", "ADD", both, bias, 4 * small), part, 2.5 * small)
    deep = 9 if how.chips == 2 else 23
    down = sparse(block, "experts_down", hidden, given, HIDDEN, how.down[0], how=how, shape=[1, 1, 1, ACTIVE, 32, HIDDEN], cores=how.down[1], deep=deep, second=True)  # fmt: skip
    bias = block.op("down_bias_rows", "Embeddings", (index, block.tensor([EXPERTS, HIDDEN], layout=ROW_MAJOR)), block.tensor([1, 1, 1, ACTIVE, 1, HIDDEN]), 6 * small, cores=4)  # fmt: skip
    down = block.binary("down_bias", "ADD", down, bias, 4 * small)
    column = block.moved("scores_shaped", "ReshapeView", scores, 3 * small, shape=[1, 1, 1, ACTIVE, 1, 1])
    down = block.binary("weighted", "MUL", down, column, 4 * small)
    total = block.op("total", "FastReduceNC", (down,), block.tensor([1, 1, 1, HIDDEN], place=L1), 6 * small, cores=90, fidelity="HiFi4", dim=3, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    return broadcast_sum(block, "feed", total, 34, how)


def spread(block: Block, scores: Tensor, numbers: Tensor, us: float, rows: int) -> Tensor:
    """Scores of all experts, zero where one is not chosen."""
    index, values = (
        rows_of(block, f"{name}_rows", one, us) for name, one in (("index", numbers), ("values", scores))
    )
    zeros = block.tensor([1, 1, rows, EXPERTS], layout=ROW_MAJOR)
    out = block.op("scatter", "Scatter", (zeros, index, values), block.tensor([1, 1, rows, EXPERTS], layout=ROW_MAJOR), 2 * us, cores=4, dim=3)  # fmt: skip
    return block.moved(
        "scores_tiles", "TilizeWithValPadding", out, 2 * us, layout="TILE", cores=4, fidelity="HiFi4"
    )


def united(block: Block, x: Tensor, scores: Tensor, numbers: Tensor, how: How) -> Tensor:
    """All experts that any of 32 users has, each for all of them."""
    part, rows = 768, 32
    every = spread(block, scores, numbers, 4, rows)
    hit = block.op("hit", "Reduce", (every,), block.tensor([1, 1, 1, EXPERTS]), 5, cores=4, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM", compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    mask = (rows_of(block, "mask_rows", hit, 2),)
    shape = [1, 1, 1, EXPERTS, rows, 2 * part]
    block.unary("both_fill", "FILL", block.tensor(shape), 32, cores=ALL_CORES, parameter="0")
    both = sparse(block, "experts_both", x, mask, 2 * part, how.both[0], how=how, shape=shape, cores=48, deep=30)
    both = block.binary(
        "both_bias", "ADD", both, block.tensor([1, 1, 1, EXPERTS, 1, 2 * part]), 41, cores=ALL_CORES
    )
    gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, 0, 0, at), (1, 1, 1, EXPERTS, rows, at + part), 18) for role, at in (("gate", 0), ("up", part)))  # fmt: skip
    glu = block.binary("glu", "MUL", gate, gate, 19, cores=ALL_CORES, rhs="SIGMOID")
    hidden = block.binary("product", "MUL", up, glu, 19, cores=ALL_CORES)
    column = block.permute("scores_turned", every, (0, 3, 2, 1), 8)
    hidden = block.binary(
        "weighted", "MUL", hidden, block.view(column, [1, 1, 1, EXPERTS, rows, 1]), 16, cores=ALL_CORES
    )
    shape = [1, 1, 1, EXPERTS, rows, HIDDEN]
    block.unary("down_fill", "FILL", block.tensor(shape), 24, cores=ALL_CORES, parameter="0")
    out = sparse(block, "experts_down", hidden, mask, HIDDEN, how.down[0], how=how, shape=shape, cores=45, deep=24, second=True)  # fmt: skip
    total = block.op("total", "FastReduceNC", (out,), block.tensor([1, 1, rows, HIDDEN], place=L1), 48, cores=90, fidelity="HiFi4", dim=3, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    bias = block.linear("down_bias", every, HIDDEN, 9, cores=90, place=L1)
    return broadcast_sum(block, "feed", block.binary("biased", "ADD", total, bias, 3, cores=90), 40, how)


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=GRID, gap_us=0.7)
        x = block.tensor([1, 1, how.rows, HIDDEN], place=L1)
        if how.norm[0] == 1 and how.rows == 1:
            x = block.moved("entry", "Copy", x, 3, place=DRAM)
        out = attended(block, normed(block, "norm", x, how), how)
        x = block.binary("attention_added", "ADD", x, out, 2.5, cores=90, out="BFLOAT16")
        fed = normed(block, "norm_feed", x, how)
        fed = block.from_shards("norm_back", fed, 1.2, L1) if how.norm[0] > 1 else fed
        kind = few_experts if how.rows == 1 else united
        total = kind(block, fed, *routed(block, fed, how), how)
        block.binary("feed_added", "ADD", x, total, 2.5, cores=90)
        return block

    return build


def attended_prompt(block: Block, x: Tensor, how: How, us: tuple[float, ...]) -> Tensor:
    """QKV, heads, rotary, attention, join, output projection and the ring."""
    heads, kv, tokens = HEADS // how.chips, KV // how.chips, how.rows
    qkv = block.linear("qkv", x, (heads + 2 * kv) * SIZE, us[0], dtype="BFLOAT8_B", fidelity="HiFi2", cores=40, bias=True)  # fmt: skip
    q, k, v = block.split_heads("heads", qkv, us[1], heads=heads, kv=kv, size=SIZE, rows=tokens, cores=min(ALL_CORES, tokens // 32))  # fmt: skip
    q, k = (block.rotary(f"rotary_{name}", one, us[2], decode=False, cores=ALL_CORES) for name, one in (("q", q), ("k", k)))  # fmt: skip
    cache = block.tensor([2048, kv, 64, SIZE], "BFLOAT8_B")
    for name, one in (("k", k), ("v", v)):
        part = block.typecast(f"cast_{name}", one, "BFLOAT8_B", us[2] / 2, cores=ALL_CORES)
        block.op(f"fill_{name}", "PagedFillCache", (cache, part, block.tensor([1, 256], "INT32", layout=ROW_MAJOR)), cache, us[2], cores=min(ALL_CORES, tokens // 16), batch_idx_fallback=0, block_size_override=None, mesh_coords=None, noop=False)  # fmt: skip
    out = block.attend("attend", q, k, v, us[3], config=chunks(128, 128, (8, 8)), cores=64, window=128)
    out = block.join_heads("joined", out, us[1] * 0.7, cores=min(ALL_CORES, tokens // 32))
    out = block.linear("out", out, 2944 if how.chips == 4 else HIDDEN, us[4], dtype="BFLOAT8_B", fidelity="LoFi", cores=90, bias=True)  # fmt: skip
    wide = out.shape[-1]
    out = block.collective("attention_scatter", "ReduceScatterMinimalAsync", out, wide // how.chips, us[5], ring=how.chips, cores=24)  # fmt: skip
    out = block.collective("attention_gather", "AllGatherAsync", out, wide, us[5] * 0.7, ring=how.chips, cores=16)
    return block.slice("attention_cut", out, (0, 0, 0, 0), (1, 1, tokens, HIDDEN), us[2]) if wide != HIDDEN else out


def prompt(how: How) -> Callable[[], Block]:
    """127 tokens as four groups of 32, each through every expert."""

    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=GRID, gap_us=3)
        groups, tokens, part, small = 4, 128, 736 if how.chips == 4 else 1440, how.small
        x = block.tensor([1, 1, tokens, HIDDEN])
        out = attended_prompt(block, block.norm("norm", x, 52, cores=4), how, (60, 18, 9, 16, 40, 38))
        x = block.binary("attention_added", "ADD", x, out, 5, cores=90)
        fed = block.norm("norm_feed", x, 52, cores=4)
        logits = block.linear("router", fed, EXPERTS, 67, cores=16, bias=True)
        best = (block.tensor([1, 1, tokens, ACTIVE]), block.tensor([1, 1, tokens, ACTIVE], "UINT16"))
        scores = block.op("topk", "TopK", (logits,), best, 30, cores=4, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
        every = spread(block, block.softmax("scores", scores, 9, cores=4), best[1], 5, tokens)
        folded, mask = (
            block.view(fed, [1, groups, 32, HIDDEN]),
            block.tensor([1, 1, groups, EXPERTS], layout=ROW_MAJOR),
        )
        shape = [1, groups, 1, EXPERTS, 32, 2 * part]
        both = sparse(block, "experts_both", folded, (mask,), 2 * part, how.both[0], how=how, shape=shape, cores=how.both[1], deep=30)  # fmt: skip
        both = block.binary("both_bias", "ADD", both, block.tensor([1, 1, 1, EXPERTS, 1, 2 * part]), 390 * small, cores=ALL_CORES)  # fmt: skip
        hidden = swiglu(block, both, part, 165 * small)
        shape = [1, groups, 1, EXPERTS, 32, HIDDEN]
        out = sparse(block, "experts_down", hidden, (mask,), HIDDEN, how.down[0], how=how, shape=shape, cores=how.down[1], deep=23 if how.chips == 4 else 45, second=True)  # fmt: skip
        out = block.binary(
            "down_bias", "ADD", out, block.tensor([1, 1, 1, EXPERTS, 1, HIDDEN]), 640, cores=ALL_CORES
        )
        column = block.permute("scores_turned", every, (0, 3, 2, 1), 12)
        out = block.binary("weighted", "MUL", out, block.view(column, [1, groups, 1, EXPERTS, 32, 1]), 640, cores=ALL_CORES)  # fmt: skip
        total = block.op("total", "FastReduceNC", (out,), block.tensor([1, 1, tokens, HIDDEN]), 560, cores=90, fidelity="HiFi4", dim=3, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
        block.binary("feed_added", "ADD", x, broadcast_sum(block, "feed", total, 60, how), 5, cores=90)
        return block

    return build


def slabs(both_us: float, down_us: float) -> Callable[[], Block]:
    """16,384 tokens, each expert's rows in slabs of 512 and one shorter: two pairs of matmuls."""

    def build() -> Block:
        how = How(rows=16384)
        block = Block("blackhole", devices=4, grid=GRID, gap_us=5)
        tokens, part = how.rows, 768
        x = block.tensor([1, 1, tokens, HIDDEN])
        out = attended_prompt(
            block, block.norm("norm", x, 360, cores=ALL_CORES), how, (980, 190, 160, 900, 760, 2100)
        )
        x = block.binary("attention_added", "ADD", x, out, 330, cores=ALL_CORES)
        fed = block.norm("norm_feed", x, 360, cores=ALL_CORES)
        block.linear("router", fed, EXPERTS, 210, cores=ALL_CORES, bias=True)
        table = block.moved("rows", "Untilize", fed, 420, layout=ROW_MAJOR, cores=ALL_CORES, fidelity="HiFi4")
        outs: list[Tensor] = []
        for name, count, high, share in (("full", 112, 512, 0.8), ("rest", 64, 256, 0.2)):
            index = block.tensor([1, count * high], "UINT32", layout=ROW_MAJOR)
            taken = block.op(f"taken_{name}", "Embeddings", (index, table), block.tensor([1, count, high, HIDDEN]), 3800 * share, cores=ALL_CORES)  # fmt: skip
            given = (block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), block.tensor([1, count], "UINT16", layout=ROW_MAJOR))  # fmt: skip

            def blocks(cores: int, deep: int, per_n: int, high: int = high) -> str:
                config = one_d(FLAT[cores], deep, (high // 32, per_n), subblock=(1, 1))
                return config.replace(f"out_block_h={high // 32}", "out_block_h=1")

            shape = [1, 1, 1, count, high, 2 * part]
            both = sparse(block, f"experts_both_{name}", taken, given, 2 * part, both_us * share, how=how, shape=shape, cores=48, deep=30, config=blocks(48, 30, 1))  # fmt: skip
            both = block.binary(f"both_bias_{name}", "ADD", both, block.tensor([1, 1, 1, count, 1, 2 * part]), 4300 * share, cores=ALL_CORES)  # fmt: skip
            gate, up = (block.slice(f"half_{role}_{name}", both, (0, 0, 0, 0, 0, at), (*shape[:-1], at + part), 1300 * share) for role, at in (("gate", 0), ("up", part)))  # fmt: skip
            glu = block.binary(f"glu_{name}", "MUL", gate, gate, 1600 * share, cores=ALL_CORES, rhs="SIGMOID")
            hidden = block.binary(f"product_{name}", "MUL", up, glu, 1600 * share, cores=ALL_CORES)
            shape = [1, 1, 1, count, high, HIDDEN]
            down = sparse(block, f"experts_down_{name}", hidden, given, HIDDEN, down_us * share, how=how, shape=shape, cores=45, deep=24, second=True, config=blocks(45, 24, 2))  # fmt: skip
            flat = block.view(down, [1, 1, count * high, HIDDEN])
            outs.append(block.moved(f"down_rows_{name}", "Untilize", flat, 2800 * share, layout=ROW_MAJOR, cores=ALL_CORES, fidelity="HiFi4"))  # fmt: skip
        joined = block.concat("joined_rows", outs, [1, 1, sum(one.shape[-2] for one in outs), HIDDEN], 2, 900)
        index = block.tensor([ACTIVE, tokens], "UINT32", layout=ROW_MAJOR)
        back = block.op("taken_back", "Embeddings", (index, joined), block.tensor([1, ACTIVE, tokens, HIDDEN]), 3600, cores=ALL_CORES)  # fmt: skip
        back = block.binary("weighted", "MUL", back, block.tensor([1, ACTIVE, tokens, 1]), 1900, cores=ALL_CORES)
        total = block.op("total", "FastReduceNC", (back,), block.tensor([1, 1, tokens, HIDDEN]), 1800, cores=90, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
        bias = block.linear("down_bias", block.tensor([1, 1, tokens, EXPERTS]), HIDDEN, 300, cores=ALL_CORES)
        total = block.binary("biased", "ADD", total, bias, 330, cores=ALL_CORES)
        part_of = block.collective("feed_scatter", "ReduceScatterMinimalAsync", total, HIDDEN // 4, 2200, cores=24)
        total = block.collective("feed_gather", "AllGatherAsync", part_of, HIDDEN, 1600, cores=16)
        block.binary("feed_added", "ADD", x, total, 330, cores=ALL_CORES)
        return block

    return build


def head() -> Block:
    """What turns one user's hidden row into a token: each chip has a quarter of the padded words."""
    block = Block("blackhole", devices=4, grid=GRID, gap_us=1)
    words = 65536
    x = block.norm("norm", block.tensor([1, 1, 1, HIDDEN], place=L1), 41, cores=1)
    logits = block.linear("head", x, words, 707.3, dtype="BFLOAT8_B", fidelity="HiFi2", cores=ALL_CORES, out="BFLOAT8_B")  # fmt: skip
    logits = block.typecast("logits", logits, "BFLOAT16", 22, cores=ALL_CORES)
    best = (block.tensor([1, 1, 32, 32]), block.tensor([1, 1, 32, 32], "UINT32"))
    values = block.op("best", "TopkLargeIndices", (logits,), best, 190, cores=64, fidelity="HiFi4", dim=3, k=32, largest=True, sorted=True)  # fmt: skip
    values, numbers = (block.collective(f"{name}_gather", "AllGather", one, 128, 12) for name, one in (("values", values), ("numbers", best[1])))  # fmt: skip
    numbers = block.moved("numbers_rows", "Untilize", numbers, 5, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
    for name in ("first", "second"):
        values = block.op(f"{name}_topk", "TopK", (values,), (block.tensor([1, 1, 32, 32]), block.tensor([1, 1, 32, 32], "UINT16")), 54, cores=1, fidelity="HiFi4", dim=3, k=32, largest=True, sorted=True)  # fmt: skip
    token = block.tensor([1, 1, 1, 32], "UINT32", layout=ROW_MAJOR)
    settings = [block.tensor([32], layout=ROW_MAJOR) for _ in range(3)]
    block.op(
        "sampled", "Sampling", (values, numbers, *settings), token, 53, cores=32, seed=None, sub_core_grids=None
    )
    return block


WALL = "of the traced layer, 100 replays, medians of five"
PROMPT = "of a prompt of 127 tokens"
ROUTED = "experts_both experts_down"
NORMS = "norm norm_feed"
ATTENTION_RING = "attention_cast attention_scatter attention_gather attention_cut"
FEED_RING = "feed_broadcast feed_parts feed_sum"
SEPARATE = (
    r"separate|(two|three) (matmuls|linears|projections|sparse)|split.{0,30}(queries|QKV|gate|weights?|projection)"
)
FIDELITY = r"HiFi2|HiFi4"
ASYNC = r"async|reduce_scatter.{0,60}all_gather"
FUSED_CCL = r"matmul_reduce_scatter|(fus|overlap).{0,60}(collective|CCL|reduce.?scatter|all.?gather)"
TALL = r"out_block_h|out_subblock_h|subblock"
MADE_UP = "times of small ops and of attention, which small ops there are, cores but of the matmuls named, gaps"
OF_STATE = f"kernel times in this state, which follow from the last state and the measured differences; {MADE_UP}"

FIRST = How(
    qkv=44, out=15, norm=(1, 41), router=53.5, fidelity="HiFi2", both=(94, 12, 9), down=(22, 30), small=1.35
)
LAST = How(small=1.1)
MIDDLE = replace(LAST, both=(70, 12, 15), down=(33.1, 30))
USERS = How(rows=32, qkv=44, out=24, norm=(1, 41), router=40, both=(385, 48, 30), down=(258, 45), small=1.2)
SHORT = How(rows=128, both=(5400, 45, 30), down=(3200 + 1124, 15), small=1.4)
PAIR = How(chips=2, rows=128, both=(8600, 45, 30), down=(5300 + 2167, 15), small=2.0)

GPT_OSS_120B_MESH = (
    laid(
        "gptoss120-tp4-logical", MESH, "decode of one user on four chips, attention's sums reduced at 2880 columns",
        decode(replace(FIRST, reduced="logical")),
        (
            gain("physical", "the reduction at the projection's 2944 columns, cut after it", 12.0, "attention_broadcast attention_parts attention_sum attention_cut attention_copy", r"pad.{0,60}(reduce|collective|width)|(reduce|collective).{0,60}pad|reduce.?scatter|2944|slice.{0,40}after", "kernels: 35 us of a broadcast -> 13 us of a scatter and 10 of a gather; what copies before it is not counted; the chain alone 193 -> 110 us"),
            dead("sharded", "the residual scattered, a norm over the chips, its gather within QKV", "attention_broadcast attention_sum norm_feed", r"distributed.{0,20}norm|rms_norm_pre_all_gather|scattered residual", "110.5 us of the reduction that was kept -> 129.1 us of the chain alone"),
            dead("feed-padded", "the experts' sums reduced at 2944 columns", FEED_RING, r"pad|2944", "70.3 -> 115.1 us of the chain alone"),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-tp4-first", MESH, "decode of one user on four chips as brought up: 653 us of the traced layer, 581 us in kernels, 76 ops",
        decode(FIRST),
        (
            gain("norms", "both norms in shards on ten cores", 69.2, NORMS, rf"{SHARDED}|{CORES}", "kernels: 42 and 40 us -> at most 6.4 us each", README),
            gain("cores", "45 cores for the experts' gate and up", None, "experts_both", rf"{CORES}|per_core_N", "kernels: 94 -> 40.2 us, but with other blocks, formats of its input and an earlier change too", README),
        ),
        MADE_UP, 581,
    ),
    laid(
        "gptoss120-tp4-middle", LOG, "decode of one user on four chips, norms in shards and LoFi: 427 us of the traced layer",
        decode(MIDDLE),
        (
            gain("cores-45", "45 cores for the experts' gate and up", 24.1, "experts_both", rf"{CORES}|per_core_N", f"426.2 -> 402.1 us {WALL}; 408.5 on 15 cores"),
            gain("down-15", "15 cores for the experts' down, a subblock of six columns", None, "experts_down", rf"{CORES}|per_core_N|subblock", f"about 427.5 -> 426.2 us {WALL}"),
            dead("cores-9", "nine cores for the experts' gate and up", "experts_both", r"\b9 cores|x=9,y=1|fewer cores", f"426.2 -> 434.8 us {WALL}"),
            dead("down-45", "45 cores for the experts' down", "experts_down", r"45 cores|x=9,y=5|9x5|more cores|all (the |of the )?cores", f"about 427.5 -> 429.6 us {WALL}"),
            dead("banks", "QKV over the DRAM banks", "qkv", DRAM_SHARDED, f"about 427.5 -> 438.1 us {WALL}"),
            dead("out-config", "another program config for the output projection", "out", unbanked(CONFIG), f"about 427.5 -> 428.9 us {WALL}"),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-tp4-bf16", README, "decode of one user on four chips, experts in BFLOAT16: 469 us of the traced layer",
        decode(replace(LAST, experts="BFLOAT16", both=(83, 45, 30), down=(64, 15))),
        (
            gain("bfp8", "BFLOAT8_B and LoFi for the experts' weights", 54.3, ROUTED, BFP8, f"468.7 -> 414.4 us {WALL}"),
            gain("bfp4", "BFLOAT4_B and LoFi for the experts' weights", 72.1, ROUTED, BFP4, f"468.7 -> 396.6 us {WALL}"),
        ),
        OF_STATE,
    ),
    laid(
        "gptoss120-tp4-bfp8", README, "decode of one user on four chips, experts in BFLOAT8_B: 414 us of the traced layer",
        decode(replace(LAST, experts="BFLOAT8_B", both=(50, 45, 30), down=(40, 15))),
        (gain("bfp4", "BFLOAT4_B for the experts' weights", 17.8, ROUTED, BFP4, f"414.4 -> 396.6 us {WALL}"),),
        OF_STATE,
    ),
    laid(
        "gptoss120-tp4-last", README, "decode of one user on four chips as it was left: 396 us of the traced layer, 360 us in kernels",
        decode(LAST),
        (
            dead("three", "queries, keys and values by three matmuls", "qkv", SEPARATE, f"396.6 -> 500.7 us {WALL}"),
            dead("two", "gate and up by two sparse matmuls", "experts_both", SEPARATE, f"396.6 -> 506.3 us {WALL}"),
            dead("fidelity", "HiFi2 or HiFi4 for QKV and the output projection", "qkv out", FIDELITY, f"396.6 -> 479.0 us with HiFi4, {WALL}; HiFi2 is told as slower"),
            dead("router-bfp8", "BFLOAT8_B for the router's weight", "router", BFP8, f"396.4 -> 396.3 us {WALL}"),
            dead("router-bfp4", "BFLOAT4_B for the router's weight", "router", BFP4, f"396.4 -> 396.2 us {WALL}, and less exact"),
            dead("feed-bfp8", "the experts' sums over the chips in BFLOAT8_B", FEED_RING, BFP8, f"396.6 -> 464.6 us {WALL}"),
            dead("feed-padded", "the experts' sums reduced at 2944 columns", FEED_RING, r"pad|2944", "54.1 -> 96.3 us of the chain alone"),
            dead("async", "attention's reduction as an async scatter and gather", ATTENTION_RING, ASYNC, "112.2 -> 117.8 us of the reduction, norm and QKV alone"),
            dead("buffers", "the async scatter and gather with buffers that stay", ATTENTION_RING, r"persistent|buffers? that", "112.2 -> 113.4 us of the reduction, norm and QKV alone"),
            dead("sharded", "the residual scattered, a norm over the chips, its gather within QKV", f"{ATTENTION_RING} norm_feed", r"distributed.{0,20}norm|rms_norm_pre_all_gather|scattered residual", "112.2 -> 135.1 us of the reduction, norm and QKV alone; 131.0 with buffers that stay"),
            dead("fused", "the output projection and its scatter in one op", f"out {ATTENTION_RING}", FUSED_CCL, f"396.6 -> 414.7 us {WALL}"),
            dead("banks", "the output projection over the DRAM banks", "out", DRAM_SHARDED, f"396.6 -> 396.7 us on 16 cores, 398.6 on eight, 400.0 on four, 396.7 on two, {WALL}"),
        ),
        MADE_UP, 360.3,
    ),
    laid(
        "gptoss120-tp2-last", LOG, "decode of one user on two chips as it was left: 428 us of the traced layer, 389 us in kernels",
        decode(replace(LAST, chips=2, qkv=28.1, out=18.3, both=(72.6, 45, 30), down=(52.8, 15), small=0.95)),
        (
            dead("out-cores", "the output projection from eight or four shards over the banks", "out out_placed", r"\b(8|4|eight|four) (cores|shards)|fewer (cores|shards)", f"480.2 -> 480.3 us on eight, 483.1 on four, {WALL}, before a change to the experts"),
            dead("fused", "the output projection and its scatter in one op", f"out {ATTENTION_RING}", FUSED_CCL, "refused: it hung at 2880 and at 3072 columns"),
        ),
        MADE_UP, 389.2,
    ),
    laid(
        "gptoss120-tp4-users", MANY, "decode of 32 users on four chips: 1328 us of the traced layer",
        decode(USERS),
        (
            gain("norms", "both norms in shards on ten cores", 66.0, NORMS, rf"{SHARDED}|{CORES}", "1.328 -> 1.262 ms of the traced layer; 1.454 -> 1.384 with full attention"),
            gain("banks", "QKV over the DRAM banks", 29.0, "qkv", DRAM_SHARDED, "1.328 -> 1.299 ms of the traced layer; 1.454 -> 1.430 with full attention"),
        ),
        f"how 643 us are shared out over the two sparse matmuls; {MADE_UP}",
    ),
    laid(
        "gptoss120-tp4-users-norms", MANY, "decode of 32 users on four chips, norms in shards: 1262 us of the traced layer",
        decode(replace(USERS, norm=(10, 7))),
        (dead("banks", "QKV over the DRAM banks", "qkv", DRAM_SHARDED, "1.262 -> 1.266 ms of the traced layer; 1.384 -> 1.375 with full attention"),),
        f"how 643 us are shared out over the two sparse matmuls; {MADE_UP}",
    ),
    laid(
        "gptoss120-tp4-prompt-bf16", README, "a prompt of 127 tokens on four chips, experts in BFLOAT16: 27.9 ms",
        prompt(replace(SHORT, experts="BFLOAT16", both=(12100, 45, 30), down=(9400, 15))),
        (
            gain("bfp8", "BFLOAT8_B and LoFi for the experts' weights", 8_694, ROUTED, BFP8, f"27.933 -> 19.239 ms {PROMPT}"),
            gain("bfp4", "BFLOAT4_B and LoFi for the experts' weights", 12_462, ROUTED, BFP4, f"27.933 -> 15.471 ms {PROMPT}"),
        ),
        f"how the experts' time is shared out over the two matmuls; {MADE_UP}",
    ),
    laid(
        "gptoss120-tp4-prompt", LOG, "a prompt of 127 tokens on four chips, 15 cores for the experts' down: 15.5 ms",
        prompt(SHORT),
        (
            gain("down-45", "45 cores for the experts' down", 1_124, "experts_down", rf"{CORES}|per_core_N", f"15.471 -> 14.346 ms {PROMPT}; 15.594 -> 14.011 with full attention"),
            gain("down-30", "30 cores for the experts' down", 771, "experts_down", r"30 cores|x=10,y=3|10x3", f"15.471 -> 14.700 ms {PROMPT}; 15.594 -> 14.436 with full attention"),
        ),
        f"how the experts' time is shared out over the two matmuls; {MADE_UP}",
    ),
    laid(
        "gptoss120-tp4-prompt-last", README, "a prompt of 127 tokens on four chips, 45 cores for the experts' down: 14.4 ms, 13.3 ms in kernels",
        prompt(replace(SHORT, down=(3200, 45))),
        (
            dead("router-config", "a config of 4 x 4 cores with in0_block_w 2 for the router", "router", CONFIG, f"14.346 -> 14.216 ms {PROMPT}, 14.011 -> 14.010 with full attention; less exact"),
            dead("router-l1", "the router's input in L1", "router norm_feed", IN_L1, f"14.346 -> 14.456 ms {PROMPT}, 14.011 -> 14.062 with full attention"),
            dead("two", "gate and up by two sparse matmuls", "experts_both", SEPARATE, f"15.471 -> 23.720 ms {PROMPT}, with 15 cores for down"),
            dead("three", "queries, keys and values by three matmuls", "qkv", SEPARATE, f"15.471 -> 24.916 ms {PROMPT}, with 15 cores for down"),
        ),
        f"how the experts' time is shared out over the two matmuls; {MADE_UP}", 13_311,
    ),
    laid(
        "gptoss120-tp2-prompt", LOG, "a prompt of 127 tokens on two chips, 15 cores for the experts' down: 24.3 ms",
        prompt(PAIR),
        (
            gain("down-45", "45 cores for the experts' down", 2_167, "experts_down", r"45 cores|x=9,y=5|9x5|more cores|all (the |of the )?cores|\bgrid\b|per_core_N", f"24.306 -> 22.139 ms {PROMPT}; 23.956 -> 21.656 with full attention"),
            dead("down-30", "30 cores for the experts' down", "experts_down", r"30 cores|x=10,y=3|10x3", f"24.306 -> 27.097 ms {PROMPT}; 23.956 -> 26.748 with full attention"),
        ),
        f"how the experts' time is shared out over the two matmuls; {MADE_UP}",
    ),
    laid(
        "gptoss120-tp4-slabs", MANY, "a prompt of 16,384 tokens on four chips, experts' rows in slabs, decode's configs",
        slabs(27_700, 20_800),
        (
            gain("both-blocks", "four rows of tiles a block for the experts' gate and up, two a subblock", 12_200, "experts_both_*", TALL, "27.7 -> 15.5 ms of these matmuls, each stage synchronised; 16.8 with in0_block_w 15 instead of 30"),
            gain("down-blocks", "eight rows of tiles a block for the experts' down, subblocks of 4 x 2", 14_000, "experts_down_*", TALL, "20.8 -> 6.8 ms of these matmuls, each stage synchronised; 7.9 with in0_block_w 12 and four rows"),
            dead("slabs", "slabs of 4096 rows", "experts_both_* experts_down_*", r"(taller|larger|longer|4096).{0,30}(slab|chunk|rows)|(slab|chunk)s? of 4096", "refused: no room in L1 for the input of so many rows"),
        ),
        f"that 112 slabs are full and 64 have 256 rows, times of attention and of the copies; {MADE_UP}",
    ),
    laid(
        "gptoss120-tp4-head", HEAD, "the head and the sampling of one user on four chips: 707 us of the head, 352 us of the sampling, in kernels",
        head,
        (
            dead("banks", "eight matmuls of 8192 columns over the DRAM banks", "head logits", DRAM_SHARDED, "kernels: 707.3 -> 674.7 us of the head with its moves, but 2335.9 -> 2342.6 us of two layers and the head; refused with 16,384 columns: no room for the circular buffers"),
            dead("argmax", "all words gathered and one argmax", "best *_topk values_gather numbers_gather sampled", r"argmax", "154.3 -> 139.1 tokens a second with two layers"),
        ),
        "how the sampling is shared out over its ops, the norm, gaps",
    ),
)  # fmt: skip
