"""Qwen3.8 Flash Next on one Blackhole chip (p300c): one layer of three kinds, decode of one user, and a prefill of 128 tokens.

Four streams of 2560 that a small mixer joins before each block and feeds after it; blocks are a gated delta rule (48
heads of 128, a convolution of four taps), in one layer beside an embedding of n-grams, or sparse attention (24 heads of 256
with two of keys and values over 2080 keys that an index picks); then 512 experts of 640, ten active, and a shared one.
Times are of a traced layer (100 replays) or of a warmed prefill, medians of three or seven runs; the ledger tells sums of
the last states in kernels, and kernel times of two matmuls and of all changes of layout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, one_d, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, DRAM_SHARDED, HIFI2, IN_L1, PACKED, SDPA_CHUNKS, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

DOC = "https://github.com/housTT/tt-metal/blob/{}/models/autoports/qwen_qwen3_8_flash_next/doc/"
TUNED = DOC.format("d7baac46495ce468e70f0f3fc578e708fea6c60a") + "optimized_decoder/"
README, LOG = f"{TUNED}README.md", f"{TUNED}work_log.md"
FUSED = DOC.format("09b97d35f4a42db1d286787ab37d0c3019ded594") + "fused_decoder/candidates/README.md"
GRID, ALL_CORES = (11, 10), 110
STREAMS, HIDDEN, INNER = 4, 2560, 320
KEYS, VALUES, SIZE = 16, 48, 128
MIXED, JOINED = (2 * KEYS + VALUES) * SIZE, VALUES * SIZE
HEADS, KV, WIDE_HEAD, PICKED = 24, 2, 256, 2080
QSA = 2 * HEADS * WIDE_HEAD + 2 * KV * WIDE_HEAD + 5 * SIZE
EXPERTS, ACTIVE, WIDE = 512, 10, 640
FLAT = {10: (10, 1), 20: (10, 2), 40: (10, 4), 48: (8, 6), 55: (11, 5), 80: (10, 8), 100: (10, 10), 110: (11, 10)}


@dataclass(frozen=True)
class How:
    """A layer of decode; times in us."""

    experts: str = "by number"
    format: tuple[str, str] = ("BFLOAT4_B", "LoFi")  # of the experts
    gate: tuple[float, ...] = (78,)  # of gate and up: in one, or each
    gate_cores: int = 40
    down: float = 46
    input: tuple[float, str] = (151.8, "HiFi2")  # of the attention's packed projection
    out: float = 66.5
    banks: tuple[str, ...] = ("qsa_input", "attn_out")
    scores: str = "one op"  # of attention
    turn: str = "one op"  # of rotary
    small: float = 1.0  # factor of the other ops' times


def linear(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, n: int, us: float, cores: int, *, dtype: str = "BFLOAT8_B", fidelity: str = "HiFi2",
    out: str = "BFLOAT16", banks: bool = False,
) -> Tensor:  # fmt: skip
    deep, width = x.shape[-1] // 32, -(-n // 32)
    if banks:
        shards = 20 if deep % 20 == 0 else 16
        placed = block.to_shards(f"{role}_placed", x, block.across(32, x.shape[-1], shards), 1.1)
        made = block.linear(role, placed, n, us, dtype=dtype, fidelity=fidelity, config=banked(deep // shards, -(-width // shards)), cores=8, place=block.across(32, n, shards), banks=True, out=out)  # fmt: skip
        return block.from_shards(f"{role}_back", made, 1.3, L1)
    per_n = -(-width // cores)
    block_w = next(one for one in (8, 5, 4, 2, 1) if deep % one == 0)
    subblock = next(one for one in (4, 3, 2, 1) if per_n % one == 0)
    return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=one_d(FLAT[cores], block_w, (1, per_n), subblock=(1, subblock)), cores=min(cores, width), place=L1, out=out)  # fmt: skip


def rows(block: Block, role: str, x: Tensor, us: float, cores: int = 1) -> Tensor:
    return block.moved(role, "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=cores, fidelity="HiFi4")


def tiles(block: Block, role: str, x: Tensor, us: float, cores: int = 1) -> Tensor:
    return block.moved(role, "TilizeWithValPadding", x, us, layout="TILE", cores=cores, fidelity="HiFi4")


def reshaped(block: Block, role: str, x: Tensor, shape: list[int], us: float) -> Tensor:
    return block.moved(role, "ReshapeView", x, us, shape=shape, cores=min(ALL_CORES, max(1, shape[-1] // 32)))


def ternary(block: Block, role: str, parts: tuple[Tensor, Tensor, Tensor], us: float) -> Tensor:
    out = block.tensor(parts[0].shape, parts[0].dtype, parts[0].placement or L1)
    return block.op(role, "Ternary", parts, out, us, cores=min(ALL_CORES, max(1, out.shape[-1] // 32)), fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL", ternary_variant="TernaryVariant::TTT", scalar_input_a=1, memory_config=L1)  # fmt: skip


def mixed(block: Block, name: str, x: Tensor, how: How) -> tuple[Tensor, Tensor]:
    """The streams as one row, and how much of the block's output each gets."""
    small = how.small
    both = linear(block, f"{name}_down_inject", block.norm(f"{name}_norm", x, 15 * small, cores=1, place=L1), INNER + STREAMS, 11, 10)  # fmt: skip
    inner = block.slice(f"{name}_inner", both, (0, 0, 0, 0), (1, 1, STREAMS, INNER), 2 * small)
    inject = block.slice(f"{name}_inject", both, (0, 0, 0, INNER), (1, 1, STREAMS, INNER + STREAMS), 2 * small)
    up = linear(block, f"{name}_up", block.unary(f"{name}_silu", "SILU", inner, 2 * small, cores=10), HIDDEN, 7, 80)
    one = block.binary(f"{name}_weighed", "MUL", up, x, 3 * small, cores=80, place=L1)
    one = block.moved(f"{name}_filled", "FillPad", one, 4 * small, cores=80)
    mean = block.op(f"{name}_mean", "Reduce", (one,), block.tensor([1, 1, 1, HIDDEN], place=L1), 5 * small, cores=80, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM", compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    return mean, inject


def injected(block: Block, name: str, x: Tensor, out: Tensor, inject: Tensor, how: How) -> Tensor:  # noqa: PLR0917
    spread = block.view(inject, [1, 1, STREAMS, STREAMS])
    wide = block.moved(f"{name}_spread", "Repeat", out, 4 * how.small, shape=[1, 1, STREAMS, HIDDEN], cores=80)
    share = block.binary(f"{name}_share", "MUL", wide, block.slice(f"{name}_column", spread, (0, 0, 0, 0), (1, 1, STREAMS, 1), 2 * how.small), 3 * how.small, cores=80, rhs="SIGMOID")  # fmt: skip
    return ternary(block, f"{name}_added", (x, share, block.tensor(x.shape, place=L1)), 3 * how.small)


def delta(block: Block, x: Tensor, how: How) -> Tensor:
    """The gated delta rule: four taps, then a state of 48 heads."""
    small = how.small
    wide = linear(block, "gdn_qkv_b_a", x, MIXED + 2 * VALUES, 112, 55, out="FLOAT32")
    wide = block.view(wide, [1, 1, 1, MIXED + 2 * VALUES])
    z = linear(block, "in_proj_z", x, JOINED, 62, 48)
    new = block.slice("gdn_new", wide, (0, 0, 0, 0), (1, 1, 1, MIXED), 12 * small)
    beta, decay = (block.slice(f"gdn_{name}", wide, (0, 0, 0, MIXED + at), (1, 1, 1, MIXED + at + VALUES), 3 * small) for name, at in (("beta", 0), ("decay", VALUES)))  # fmt: skip
    taps = [block.tensor([1, 1, 1, MIXED], "FLOAT32", L1) for _ in range(3)]
    weight = block.tensor([1, 1, 1, MIXED], "FLOAT32", L1)
    total = block.binary("gdn_tap", "MUL", new, weight, 5 * small, cores=ALL_CORES)
    for number, tap in enumerate(taps):
        total = ternary(block, f"gdn_tap_{number}", (total, tap, weight), 6 * small)
        block.moved(f"gdn_keep_{number}", "Copy", tap, 4 * small, cores=ALL_CORES)
    total = block.unary("gdn_silu", "SILU", total, 4 * small, cores=ALL_CORES)
    q, k = (block.slice(f"gdn_{name}", total, (0, 0, 0, at), (1, 1, 1, at + KEYS * SIZE), 3 * small) for name, at in (("q", 0), ("k", KEYS * SIZE)))  # fmt: skip
    v = block.slice("gdn_v", total, (0, 0, 0, 2 * KEYS * SIZE), (1, 1, 1, MIXED), 4 * small)
    heads: list[Tensor] = []
    for name, one in (("q", q), ("k", k)):
        one = block.norm(f"gdn_{name}_norm", reshaped(block, f"gdn_{name}_heads", one, [1, 1, KEYS, SIZE], 8 * small), 7 * small, cores=1)  # noqa: PLW2901 # fmt: skip
        flat = rows(block, f"gdn_{name}_rows", one, 4 * small)
        flat = block.concat(f"gdn_{name}_thrice", [flat] * 3, [1, KEYS, 3, SIZE], 2, 5 * small)
        heads.append(tiles(block, f"gdn_{name}_tiles", block.view(flat, [1, VALUES, 1, SIZE]), 5 * small, 48))
    v = reshaped(block, "gdn_v_heads", v, [1, VALUES, 1, SIZE], 22 * small)
    beta = reshaped(block, "gdn_beta_heads", block.unary("gdn_beta_sigmoid", "SIGMOID", beta, 2 * small, cores=2), [1, VALUES, 1, 1], 6 * small)  # fmt: skip
    decay = block.unary("gdn_softplus", "SOFTPLUS", decay, 5 * small, cores=2)
    decay = block.unary("gdn_exp", "EXP", block.binary("gdn_decay_scale", "MUL", decay, block.tensor([1, 1, 1, VALUES], "FLOAT32", L1), 3 * small, cores=2), 3 * small, cores=2)  # fmt: skip
    decay = reshaped(block, "gdn_decay_heads", decay, [1, VALUES, 1, 1], 6 * small)
    state = block.tensor([1, VALUES, SIZE, SIZE], "FLOAT32", L1)
    state = block.binary("gdn_decayed", "MUL", state, decay, 14 * small, cores=ALL_CORES)
    known = block.product("gdn_known", heads[1], state, 12 * small, cores=48, place=L1)
    error = block.binary("gdn_error", "SUB", v, known, 4 * small, cores=48)
    error = block.binary("gdn_error_beta", "MUL", error, beta, 4 * small, cores=48)
    column = block.turned("gdn_k_turned", heads[1], 6 * small, cores=48)
    update = block.product("gdn_outer", column, error, 14 * small, cores=48, place=L1)
    state = block.binary("gdn_state", "ADD", state, update, 12 * small, cores=ALL_CORES)
    block.moved("gdn_state_kept", "Copy", state, 12 * small, cores=ALL_CORES)
    out = block.product("gdn_read", heads[0], state, 12 * small, cores=48, place=L1)
    out = block.norm("gdn_out_norm", reshaped(block, "gdn_out_heads", out, [1, 1, VALUES, SIZE], 10 * small), 8 * small, cores=2)  # fmt: skip
    gate = block.unary("gdn_gate", "SIGMOID", reshaped(block, "gdn_z_heads", z, [1, 1, VALUES, SIZE], 10 * small), 3 * small, cores=8)  # fmt: skip
    out = block.typecast("gdn_narrow", block.binary("gdn_gated", "MUL", out, gate, 4 * small, cores=8), "BFLOAT16", 3 * small, cores=8)  # fmt: skip
    return linear(
        block, "gdn_out", reshaped(block, "gdn_joined", out, [1, 1, 1, JOINED], 10 * small), HIDDEN, 52, 20
    )


def grams(block: Block, x: Tensor, how: How) -> Tensor:
    """What the n-grams' embedding adds to the streams."""
    small = how.small
    given = block.tensor([1, 1, 1, HIDDEN], place=L1)
    both = linear(block, "ple_key_value", given, 2 * STREAMS * HIDDEN, 120, 100)
    key, value = (block.slice(f"ple_{name}", both, (0, 0, 0, at), (1, 1, 1, at + STREAMS * HIDDEN), 6 * small) for name, at in (("key", 0), ("value", STREAMS * HIDDEN)))  # fmt: skip
    key, value = (reshaped(block, f"ple_{name}_streams", one, [1, 1, STREAMS, HIDDEN], 14 * small) for name, one in (("key", key), ("value", value)))  # fmt: skip
    score = block.binary("ple_product", "MUL", block.norm("ple_key_norm", key, 12 * small, cores=1), block.norm("ple_norm", x, 12 * small, cores=1, place=L1), 4 * small, cores=80)  # fmt: skip
    score = block.op("ple_score", "Reduce", (score,), block.tensor([1, 1, STREAMS, 1], place=L1), 6 * small, cores=1, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM", compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    value = block.binary("ple_weighed", "MUL", value, score, 4 * small, cores=80, rhs="SIGMOID")
    weight = block.tensor([1, 1, STREAMS, HIDDEN], place=L1)
    total = block.binary("ple_tap", "MUL", value, weight, 4 * small, cores=80)
    for number in range(6):
        tap = block.tensor([1, 1, STREAMS, HIDDEN], place=L1)
        if number % 2:
            total = ternary(block, f"ple_tap_{number}", (total, tap, weight), 4 * small)
        block.moved(f"ple_keep_{number}", "Copy", tap, 3 * small, cores=80)
    value = block.binary("ple_silu", "ADD", value, total, 4 * small, cores=80, rhs="SILU")
    return block.binary("ple_added", "ADD", x, value, 4 * small, cores=80, place=L1)


def turned(block: Block, name: str, x: Tensor, how: How) -> Tensor:
    """Rotary of the first 64 of each head's columns."""
    small, shape = how.small, x.shape
    tables = [block.tensor([1, 1, 1, 64], place=L1) for _ in range(2)]
    if how.turn == "one op":
        return block.rotary(f"{name}_turn", x, 7 * small, decode=True, cores=1, tables=tables)
    part, rest = (block.slice(f"{name}_{part}", x, (0, 0, 0, a), (*shape[:-1], b), 3 * small) for part, a, b in (("part", 0, 64), ("rest", 64, shape[-1])))  # fmt: skip
    part = block.op(f"{name}_turn", "RotaryEmbedding", (part, *tables), block.tensor(part.shape, place=L1), 8 * small, cores=1, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), output_mem_config=L1, seq_len=1, token_idx=0)  # fmt: skip
    return block.concat(f"{name}_whole", [part, rest], list(shape), 3, 5 * small)


def picked(block: Block, index: Tensor, keys: Tensor, how: How) -> tuple[Tensor, Tensor]:
    """Where the 512 best groups of four keys and what they hold lie, and a mask."""
    small = how.small
    scores = block.product("index_scores", index, keys, 34 * small, cores=ALL_CORES, place=L1)
    scores = block.unary("index_relu", "RELU", scores, 12 * small, cores=ALL_CORES)
    scores = block.op("index_sum", "Reduce", (scores,), block.tensor([1, 1, 1, 65536]), 46 * small, cores=ALL_CORES, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM", compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    scores = block.binary("index_masked", "ADD", scores, block.tensor(scores.shape), 22 * small, cores=ALL_CORES)
    best = (block.tensor([1, 1, 1, 512]), block.tensor([1, 1, 1, 512], "UINT32"))
    block.op("index_best", "TopK", (scores,), best, 640, cores=64, fidelity="HiFi4", dim=3, k=512, largest=True, sorted=True)  # fmt: skip
    where = block.typecast("index_groups", best[1], "INT32", 4 * small, cores=16)
    kinds = ("RIGHT_SHIFT", "BITWISE_AND", "LEFT_SHIFT", "ADD", "MUL", "ADD", "GE", "LT")
    for step in range(24):
        where = block.binary(f"index_address_{step}", kinds[step % 8], where, block.tensor(where.shape, "INT32"), 6 * small, cores=16)  # fmt: skip
        where = rows(block, f"index_rows_{step}", where, 7 * small) if step % 2 else where
        where = tiles(block, f"index_tiles_{step}", where, 7 * small) if step % 2 else where
    page = block.op("index_pages", "Gather", (block.tensor([1, 1, 1, 4096], "INT32"), where), block.tensor([1, 1, 1, 512], "INT32"), 96 * small, cores=16, dim=3, sparse_grad=False)  # fmt: skip
    where = block.concat("index_offsets", [page] * 4, [1, 1, 1, 2048], 3, 9 * small)
    where = block.permute("index_turned", where, (0, 1, 3, 2), 12 * small)
    where = rows(block, "index_final", where, 16 * small, 64)
    mask = tiles(block, "mask_tiles", block.tensor([1, 1, 1, PICKED], layout=ROW_MAJOR), 10 * small, 65)
    return where, mask


def sparse_attention(block: Block, x: Tensor, how: How) -> Tensor:
    small = how.small
    us, fidelity = how.input
    wide = linear(block, "qsa_input", x, QSA, us, 110, dtype="BFLOAT16", fidelity=fidelity, banks="qsa_input" in how.banks)  # fmt: skip
    at = HEADS * WIDE_HEAD
    gate = block.slice("qsa_gate", wide, (0, 0, 0, at), (1, 1, 1, 2 * at), 8 * small)
    index = block.slice("index_query", wide, (0, 0, 0, QSA - 640), (1, 1, 1, QSA - 128), 3 * small)
    fresh = block.slice("index_key", wide, (0, 0, 0, QSA - 128), (1, 1, 1, QSA), 3 * small)
    qkv = block.slice("qsa_qkv", wide, (0, 0, 0, 0), (1, 1, 1, at + 2 * KV * WIDE_HEAD), 8 * small)
    q, k, v = block.heads_of_decode("heads", qkv, 12 * small, heads=HEADS, kv=KV, size=WIDE_HEAD, users=1)
    q, k = (block.from_shards(f"{name}_flat", one, 1, L1) for name, one in (("q", q), ("k", k)))
    q, k = (turned(block, name, block.norm(f"{name}_norm", one, 9 * small, cores=1), how) for name, one in (("q", q), ("k", k)))  # fmt: skip
    k = block.to_shards("k_placed", k, block.along(32, WIDE_HEAD, 1), 1)
    cache = block.tensor([4096, KV, 64, WIDE_HEAD])
    ids, table = block.tensor([1], "INT32", layout=ROW_MAJOR), block.tensor([1, 4096], "INT32", layout=ROW_MAJOR)
    block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v, ids, table), (cache, cache), 9 * small, cores=2, batch_offset=0, compute_kernel_config=block.kernel("HiFi4"), op_type="PagedUpdateCacheOpType::FUSED_UPDATE", share_cache=False, update_idxs="{}")  # fmt: skip
    index = turned(block, "index_query", block.norm("index_query_norm", reshaped(block, "index_query_heads", index, [1, 1, 4, SIZE], 8 * small), 8 * small, cores=1), how)  # fmt: skip
    fresh = turned(block, "index_key", block.norm("index_key_norm", fresh, 8 * small, cores=1), how)
    fresh = block.to_shards("index_key_placed", fresh, block.along(32, SIZE, 1), 1)
    block.update_cache("index_cache", block.tensor([4096, 1, 64, SIZE]), fresh, 6 * small)
    keys = block.tensor([1, 1, SIZE, 65536])
    where, mask = picked(block, index, keys, how)
    parts: list[Tensor] = []
    for kind in ("k", "v"):
        for head in range(KV):
            table = block.tensor([1, 1, 262144, WIDE_HEAD], layout=ROW_MAJOR)
            taken = block.op(f"taken_{kind}{head}", "Embeddings", (where, table), block.tensor([1, 1, PICKED, WIDE_HEAD], layout=ROW_MAJOR), 26 * small, cores=65)  # fmt: skip
            parts.append(tiles(block, f"tiles_{kind}{head}", taken, 13 * small, 65))
    k, v = (block.concat(f"heads_{kind}", parts[a : a + 2], [1, KV, PICKED, WIDE_HEAD], 1, 14 * small) for kind, a in (("k", 0), ("v", 2)))  # fmt: skip
    if how.scores == "one op":
        wide_mask = block.moved("mask_heads", "Repeat", mask, 9 * small, shape=[1, 1, HEADS, PICKED], cores=65)
        out = block.op("attend", "SdpaDecode", (q, k, v, wide_mask), block.tensor([1, 1, HEADS, WIDE_HEAD], place=DRAM), 52, cores=ALL_CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_causal=False, k_chunk_size=32, output_mem_config=DRAM, paged_attention=False, program_config=chunks(0, 32, GRID), scale="0.0625", share_cache=False, sliding_window_size=None, use_mla=False)  # fmt: skip
    else:
        thick = [block.moved(f"repeated_{kind}", "RepeatInterleave", one, 60, shape=[1, HEADS, PICKED, WIDE_HEAD], cores=ALL_CORES) for kind, one in (("k", k), ("v", v))]  # fmt: skip
        turn = block.turned("k_turned", thick[0], 24, cores=ALL_CORES)
        heads = reshaped(block, "q_heads", q, [1, HEADS, 1, WIDE_HEAD], 9 * small)
        scores = block.binary("scores_masked", "ADD", block.product("scores", heads, turn, 22, cores=ALL_CORES), mask, 6, cores=ALL_CORES)  # fmt: skip
        out = block.product("attended", block.softmax("scores_soft", scores, 14, cores=24), thick[1], 24, cores=ALL_CORES)  # fmt: skip
    out = reshaped(block, "qsa_joined", out, [1, 1, 1, at], 12 * small)
    out = block.binary("qsa_gated", "MUL", out, gate, 5 * small, cores=ALL_CORES, rhs="SIGMOID", place=L1)
    return linear(block, "attn_out", out, HIDDEN, how.out, 20, dtype="BFLOAT16", fidelity=fidelity, banks="attn_out" in how.banks)  # fmt: skip


def sparse(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, given: tuple[Tensor, ...], n: int, us: float, *, slots: int, cores: int, deep: int,
    groups: int = 1, second: bool = False, kept: tuple[str, str] = ("BFLOAT4_B", "LoFi"),
) -> Tensor:  # fmt: skip
    dtype, fidelity = kept
    weight = block.tensor([1, EXPERTS, x.shape[-1], n], dtype)
    place = L1 if slots == ACTIVE else DRAM
    return block.op(
        role, "SparseMatmul", (x, weight, *given), block.tensor([1, groups, 1, slots, 32, n], place=place), us, cores=cores,
        fidelity=fidelity, compute_kernel_config=block.kernel(fidelity), is_input_a_sparse=second, is_input_b_sparse=True,
        nnz="std::nullopt", output_dtype="DataType::BFLOAT16", output_mem_config=place,
        program_config=one_d(FLAT[cores], deep, (1, -(-n // 32 // cores))), user_core_coord=None,
    )  # fmt: skip


def experts(block: Block, x: Tensor, how: How) -> Tensor:
    """Ten of 512 experts, and one that all tokens have."""
    small = how.small
    wide = linear(block, "moe_input", x, EXPERTS + 2 * WIDE + 32, 34, 40, fidelity="LoFi")
    logits = block.slice("router", wide, (0, 0, 0, 0), (1, 1, 1, EXPERTS), 3 * small)
    halves = [block.slice(f"shared_{name}", wide, (0, 0, 0, a), (1, 1, 1, a + WIDE), 3 * small) for name, a in (("gate", EXPERTS), ("up", EXPERTS + WIDE))]  # fmt: skip
    scalar = block.slice("shared_scalar", wide, (0, 0, 0, EXPERTS + 2 * WIDE), (1, 1, 1, EXPERTS + 2 * WIDE + 1), 2 * small)  # fmt: skip
    best = (block.tensor([1, 1, 1, ACTIVE], place=L1), block.tensor([1, 1, 1, ACTIVE], "UINT16", L1))
    scores = block.softmax("scores", block.op("topk", "TopK", (logits,), best, 60, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True), 6 * small, cores=1)  # fmt: skip
    index, values = rows(block, "index_row", best[1], 3 * small), rows(block, "values_row", scores, 3 * small)
    slots = ACTIVE if how.experts == "by number" else EXPERTS
    if slots == ACTIVE:
        given: tuple[Tensor, ...] = (block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), index)
        column = reshaped(block, "scores_column", scores, [1, 1, 1, ACTIVE, 1, 1], 4 * small)
    else:
        zeros = block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR)
        spread = block.op("scatter", "Scatter", (zeros, index, values), block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), 6 * small, cores=1, dim=3)  # fmt: skip
        given = (spread,)
        column = block.permute(
            "scores_turned", tiles(block, "scores_tiles", spread, 5 * small), (0, 3, 1, 2), 12 * small
        )
    wide_us = 4 if slots == ACTIVE else 66
    if len(how.gate) == 2:
        gate, up = (sparse(block, f"experts_{name}", x, given, WIDE, us, slots=slots, cores=how.gate_cores, deep=16, kept=how.format) for name, us in zip(("gate", "up"), how.gate, strict=True))  # fmt: skip
    else:
        both = sparse(
            block,
            "experts_both",
            x,
            given,
            2 * WIDE,
            how.gate[0],
            slots=slots,
            cores=how.gate_cores,
            deep=16,
            kept=how.format,
        )
        gate, up = (block.slice(f"half_{name}", both, (0, 0, 0, 0, 0, a), (1, 1, 1, slots, 32, a + WIDE), wide_us) for name, a in (("gate", 0), ("up", WIDE)))  # fmt: skip
    hidden = block.binary("gated", "MUL", up, gate, wide_us, cores=ALL_CORES, rhs="SILU")
    hidden = block.binary(
        "weighted", "MUL", hidden, block.view(column, [1, 1, 1, slots, 1, 1]), wide_us, cores=ALL_CORES
    )
    out = sparse(
        block,
        "experts_down",
        hidden,
        given,
        HIDDEN,
        how.down,
        slots=slots,
        cores=40,
        deep=5,
        second=True,
        kept=how.format,
    )
    total = block.op("total", "FastReduceNC", (out,), block.tensor([1, 1, 1, HIDDEN], place=L1), 3 * wide_us, cores=80, fidelity="HiFi4", dim=3, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    shared = block.binary("shared_gated", "MUL", halves[1], halves[0], 2 * small, cores=20, rhs="SILU")
    shared = block.binary("shared_weighted", "MUL", shared, scalar, 2 * small, cores=20, rhs="SIGMOID")
    shared = linear(block, "shared_down_proj", shared, HIDDEN, 9, 40, fidelity="LoFi")
    return block.binary("shared_added", "ADD", total, shared, 2.5 * small, cores=80)


def decode(how: How, kind: str) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.8)
        x = block.tensor([1, 1, STREAMS, HIDDEN])
        if kind == "grams":
            x = grams(block, x, how)
        one, inject = mixed(block, "attn_hc", x, how)
        out = sparse_attention(block, one, how) if kind == "attention" else delta(block, one, how)
        x = injected(block, "attn_hc", x, out, inject, how)
        one, inject = mixed(block, "mlp_hc", x, how)
        injected(block, "mlp_hc", x, experts(block, one, how), inject, how)
        return block

    return build


@dataclass(frozen=True)
class Prompt:
    """Sparse attention's layer at 128 tokens; times in us."""

    chunk: int = 64
    attend: float = 1500
    kept: str = "BFLOAT16"
    grouped: bool = True  # keys and values of two heads; not: repeated for 24


def prefill(how: Prompt) -> Callable[[], Block]:  # noqa: PLR0915
    def build() -> Block:  # noqa: PLR0915
        block = Block("blackhole", grid=GRID, gap_us=2)
        tokens, groups, at = 128, 4, HEADS * WIDE_HEAD
        x = block.tensor([1, 1, STREAMS * tokens, HIDDEN])

        def flat(role: str, x: Tensor, n: int, us: float, *, dtype: str = "BFLOAT8_B", grid: tuple[int, int] = (11, 4), deep: int = 8) -> Tensor:  # fmt: skip
            high = -(-x.shape[-2] // 32 // grid[1])
            return block.linear(role, x, n, us, dtype=dtype, config=two_d(grid, deep, (high, -(-n // 32 // grid[0]))), cores=grid[0] * min(grid[1], x.shape[-2] // 32), place=L1)  # fmt: skip

        def mix(name: str, x: Tensor) -> Tensor:
            both = flat(f"{name}_down_inject", block.norm(f"{name}_norm", x, 62, cores=16), INNER + STREAMS, 24)
            inner = block.unary(f"{name}_silu", "SILU", block.slice(f"{name}_inner", both, (0, 0, 0, 0), (1, 1, STREAMS * tokens, INNER), 6), 5, cores=ALL_CORES)  # fmt: skip
            up = flat(f"{name}_up", inner, HIDDEN, 22, grid=(10, 4), deep=5)
            one = block.binary(f"{name}_weighed", "MUL", up, x, 14, cores=ALL_CORES)
            one = reshaped(block, f"{name}_streams", one, [1, STREAMS, tokens, HIDDEN], 38)
            return block.op(f"{name}_mean", "FastReduceNC", (one,), block.tensor([1, 1, tokens, HIDDEN]), 18, cores=80, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip

        wide = flat("qsa_input", mix("attn_hc", x), QSA, 420, dtype="BFLOAT16", deep=2)
        gate = block.slice("qsa_gate", wide, (0, 0, 0, at), (1, 1, tokens, 2 * at), 22)
        index = block.slice("index_query", wide, (0, 0, 0, QSA - 640), (1, 1, tokens, QSA - 128), 6)
        qkv = block.slice("qsa_qkv", wide, (0, 0, 0, 0), (1, 1, tokens, at + 2 * KV * WIDE_HEAD), 26)
        q, k, v = block.split_heads("heads", qkv, 58, heads=HEADS, kv=KV, size=WIDE_HEAD, rows=tokens, cores=4)
        q, k = (block.rotary(f"{name}_turn", block.norm(f"{name}_norm", one, us, cores=min(96, 4 * one.shape[1])), us, decode=False, cores=96) for name, one, us in (("q", q, 30), ("k", k, 12)))  # fmt: skip
        cache = block.tensor([4096, KV, 64, WIDE_HEAD], how.kept)
        for name, one in (("k", k), ("v", v)):
            kept = block.typecast(f"cast_{name}", one, how.kept, 5, cores=8) if how.kept != "BFLOAT16" else one
            block.op(f"fill_{name}", "PagedFillCache", (cache, kept, block.tensor([1, 4096], "INT32", layout=ROW_MAJOR)), cache, 9, cores=8, batch_idx_fallback=0, block_size_override=None, mesh_coords=None, noop=False)  # fmt: skip
        index = block.norm("index_query_norm", reshaped(block, "index_query_heads", index, [1, 4, tokens, SIZE], 30), 16, cores=16)  # fmt: skip
        scores = block.product("index_scores", index, block.tensor([1, 1, SIZE, 1024]), 60, cores=ALL_CORES)
        scores = block.op("index_sum", "FastReduceNC", (block.unary("index_relu", "RELU", scores, 14, cores=ALL_CORES),), block.tensor([1, 1, tokens, 1024]), 26, cores=ALL_CORES, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
        best = (block.tensor([1, 1, tokens, 512]), block.tensor([1, 1, tokens, 512], "UINT32"))
        block.op("index_best", "TopK", (scores,), best, 1600, cores=4, fidelity="HiFi4", dim=3, k=512, largest=True, sorted=True)  # fmt: skip
        where = block.typecast("index_groups", best[1], "INT32", 9, cores=64)
        for step in range(4):
            where = block.binary(f"index_address_{step}", ("RIGHT_SHIFT", "BITWISE_AND", "LEFT_SHIFT", "ADD")[step], where, block.tensor(where.shape, "INT32"), 14, cores=64)  # fmt: skip
        where = block.op("index_pages", "Gather", (block.tensor([1, 1, tokens, 4096], "INT32"), where), block.tensor([1, 1, tokens, 512], "INT32"), 2600, cores=64, dim=3, sparse_grad=False)  # fmt: skip
        where = rows(
            block, "index_final", block.concat("index_offsets", [where] * 4, [1, 1, tokens, 2048], 3, 60), 90, 64
        )
        mask = tiles(block, "mask_tiles", block.tensor([1, tokens, 1, PICKED], layout=ROW_MAJOR), 420, ALL_CORES)
        parts: list[Tensor] = []
        for kind in ("k", "v"):
            for head in range(KV):
                table = block.tensor([1, 1, 262144, WIDE_HEAD], layout=ROW_MAJOR)
                taken = block.op(f"taken_{kind}{head}", "Embeddings", (where, table), block.tensor([tokens, 1, PICKED, WIDE_HEAD], layout=ROW_MAJOR), 2900, cores=ALL_CORES)  # fmt: skip
                parts.append(tiles(block, f"tiles_{kind}{head}", taken, 1800, ALL_CORES))
        k, v = (block.concat(f"heads_{kind}", parts[a : a + 2], [tokens, KV, PICKED, WIDE_HEAD], 1, 2350) for kind, a in (("k", 0), ("v", 2)))  # fmt: skip
        if not how.grouped:
            k, v = (block.moved(f"repeated_{kind}", "RepeatInterleave", one, 58_000, shape=[tokens, HEADS, PICKED, WIDE_HEAD], cores=ALL_CORES) for kind, one in (("k", k), ("v", v)))  # fmt: skip
        q = block.permute("q_turned", q, (2, 1, 0, 3), 160)
        out = block.op("attend", "SDPAOperation", (q, k, v, mask), block.tensor([tokens, HEADS, 1, WIDE_HEAD]), how.attend, cores=ALL_CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_causal=False, output_mem_config=DRAM, program_config=chunks(32, how.chunk, GRID), scale="0.0625", sliding_window_size=None, use_mla=False)  # fmt: skip
        out = reshaped(block, "qsa_joined", out, [1, 1, tokens, at], 210)
        out = block.binary("qsa_gated", "MUL", out, gate, 24, cores=ALL_CORES, rhs="SIGMOID")
        out = flat("attn_out", out, HIDDEN, 190, dtype="BFLOAT16", grid=(10, 4))
        x = block.binary("attn_added", "ADD", x, block.moved("attn_spread", "Repeat", out, 32, shape=x.shape, cores=ALL_CORES), 16, cores=ALL_CORES)  # fmt: skip
        fed = mix("mlp_hc", x)
        wide = flat("moe_input", fed, EXPERTS + 2 * WIDE + 32, 62)
        logits = block.slice("router", wide, (0, 0, 0, 0), (1, 1, tokens, EXPERTS), 6)
        top = (block.tensor([1, 1, tokens, ACTIVE]), block.tensor([1, 1, tokens, ACTIVE], "UINT16"))
        block.op("topk", "TopK", (logits,), top, 130, cores=4, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
        column = block.tensor([1, groups, 1, EXPERTS, 32, 1])
        given = (block.tensor([1, 1, groups, EXPERTS], layout=ROW_MAJOR),)
        folded = block.view(fed, [1, groups, 32, HIDDEN])
        both = sparse(
            block, "experts_both", folded, given, 2 * WIDE, 6300, slots=EXPERTS, cores=40, deep=16, groups=groups
        )
        gate, up = (block.slice(f"half_{name}", both, (0, 0, 0, 0, 0, a), (1, groups, 1, EXPERTS, 32, a + WIDE), 640) for name, a in (("gate", 0), ("up", WIDE)))  # fmt: skip
        hidden = block.binary("gated", "MUL", up, gate, 700, cores=ALL_CORES, rhs="SILU")
        hidden = block.binary("weighted", "MUL", hidden, column, 560, cores=ALL_CORES)
        out = sparse(block, "experts_down", hidden, given, HIDDEN, 4600, slots=EXPERTS, cores=40, deep=5, groups=groups, second=True)  # fmt: skip
        total = block.op("total", "FastReduceNC", (out,), block.tensor([1, 1, tokens, HIDDEN]), 2900, cores=80, fidelity="HiFi4", dim=3, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
        halves = [block.slice(f"shared_{name}", wide, (0, 0, 0, a), (1, 1, tokens, a + WIDE), 6) for name, a in (("gate", EXPERTS), ("up", EXPERTS + WIDE))]  # fmt: skip
        shared = block.binary("shared_gated", "MUL", halves[1], halves[0], 5, cores=80, rhs="SILU")
        shared = flat("shared_down_proj", shared, HIDDEN, 26, grid=(10, 4), deep=5)
        total = block.binary("shared_added", "ADD", total, shared, 8, cores=80)
        block.binary("feed_added", "ADD", x, block.moved("feed_spread", "Repeat", total, 32, shape=x.shape, cores=ALL_CORES), 16, cores=ALL_CORES)  # fmt: skip
        return block

    return build


WALL = "of the traced layer, 100 replays"
TEN = "of the traced layer, ten replays, inputs of zeros"
WARM = "of the warmed prefill"
ROUTED = "experts_* half_* gated weighted total"
BY_NUMBER = r"indices|indexed|only the (chosen|selected|active)|top.?k (ids|indices)|compact"
SEPARATE = r"separate|two (matmuls|sparse)|split.{0,30}(gate|weights?|projection)"
MADE_UP = "which small ops there are and their times, widths of the packed projections' parts, gaps"
OF_STATE = f"kernel times in this state, which follow from the last state and the measured differences; {MADE_UP}"
DELTA = How(small=1.24)
GRAMS = How(small=1.36)
ATTENTION = How(small=1.25)
LOOSE = replace(ATTENTION, banks=(), input=(170, "HiFi2"), out=75.1)
EARLY = replace(
    LOOSE, experts="by mask", format=("BFLOAT8_B", "HiFi2"), gate=(1560,), down=1060, input=(195, "HiFi4"), out=90
)

FLASH_NEXT = (
    laid(
        "flashnext-delta-mask", LOG, "decode, the delta rule's layer, experts by a mask of all: 3.41 ms of the traced layer",
        decode(replace(DELTA, experts="by mask", gate=(1150,), down=760), "delta"),
        (gain("indexed", "the ten experts by their numbers, outputs of these only", 2316.4, f"{ROUTED} scatter scores_*", BY_NUMBER, f"3406.97 -> 1090.55 us {WALL}"),),
        OF_STATE,
    ),
    laid(
        "flashnext-delta-two", LOG, "decode, the delta rule's layer, gate and up by two sparse matmuls: 1160 us of the traced layer",
        decode(replace(DELTA, gate=(76, 76), gate_cores=20), "delta"),
        (gain("pack", "gate and up as one sparse matmul", 69.4, "experts_gate experts_up", PACKED, f"1160.03 -> 1090.62 us {WALL}, and 40 cores for 20"),),
        OF_STATE,
    ),
    laid(
        "flashnext-delta", README, "decode, the delta rule's layer: 1091 us of the traced layer, 1061 us in kernels, 132 ops",
        decode(DELTA, "delta"),
        (
            dead("qkv-banks", "the packed projection over the DRAM banks", "gdn_qkv_b_a", DRAM_SHARDED, f"1090.9 -> 1122.2 us {WALL}", LOG),
            dead("z-banks", "the gate's projection over the DRAM banks", "in_proj_z", DRAM_SHARDED, f"1090.9 -> 1111.6 us {WALL}", LOG),
            dead("out-banks", "the output projection over the DRAM banks", "gdn_out", DRAM_SHARDED, f"1090.9 -> 1114.4 us {WALL}", LOG),
            dead("gate-cores", "20 cores for the experts' gate and up", "experts_both", r"20 cores|fewer cores|per_core_N\D{0,4}2\b", f"1090.6 -> 1098.5 us {WALL}", LOG),
            dead("two", "gate and up by two sparse matmuls", "experts_both", SEPARATE, f"1090.6 -> 1160.0 us {WALL}", LOG),
            dead("streams", "the streams and their norms in width shards", "attn_hc_norm mlp_hc_norm attn_hc_added", SHARDED, "refused: first the grids did not agree, then a tensor of the chain was not allocated", LOG),
        ),
        MADE_UP, 1060.9,
    ),
    laid(
        "flashnext-grams", README, "decode, the layer with n-grams: 1456 us of the traced layer, 1403 us in kernels, 176 ops",
        decode(GRAMS, "grams"),
        (dead("banks", "the n-grams' keys and values over the DRAM banks", "ple_key_value", DRAM_SHARDED, f"1455.4 -> 1481.1 us {WALL}", LOG),),
        MADE_UP, 1402.6,
    ),
    laid(
        "flashnext-attention-hifi4", LOG, "decode, sparse attention's layer, its projections in HiFi4: 2900 us of the traced layer",
        decode(replace(LOOSE, input=(171, "HiFi4")), "attention"),
        (
            gain("hifi2", "HiFi2 for the attention's two projections", None, "qsa_input attn_out", HIFI2, f"2899.8 -> 2898.5 us {WALL}; samples of three runs do not overlap"),
            dead("index-l1", "the index's query in L1 after its rotary", "index_query*", IN_L1, f"2899.7 -> 2903.6 us {WALL}"),
            dead("chunks", "chunks of 64 or 128 keys", "attend", SDPA_CHUNKS, "refused: the mask's 2080 columns are no multiple of them"),
        ),
        OF_STATE,
    ),
    laid(
        "flashnext-attention-loose", LOG, "decode, sparse attention's layer, no weights over the banks: 2898 us of the traced layer",
        decode(LOOSE, "attention"),
        (
            gain("input-banks", "the packed projection over the DRAM banks", 21.3, "qsa_input", DRAM_SHARDED, f"2898.3 -> 2877.0 us {WALL}, with both moves"),
            gain("out-banks", "the output projection over the DRAM banks", 8.9, "attn_out", DRAM_SHARDED, f"2898.3 -> 2889.4 us {WALL}, with both moves"),
        ),
        OF_STATE,
    ),
    laid(
        "flashnext-attention-input", README, "decode, sparse attention's layer, the packed projection over the banks: 2877 us of the traced layer",
        decode(replace(ATTENTION, banks=("qsa_input",), out=75.1), "attention"),
        (gain("out-banks", "the output projection over the DRAM banks", 10.1, "attn_out", DRAM_SHARDED, f"2876.96 -> 2866.89 us {WALL}; kernels: 75.1 -> 66.5 us, net 6.6 with the moves", LOG),),
        OF_STATE,
    ),
    laid(
        "flashnext-attention", README, "decode, sparse attention's layer as it was left: 2867 us of the traced layer, 2553 us in kernels, 234 ops",
        decode(ATTENTION, "attention"),
        (dead("cache", "BFLOAT8_B for the cache", "cache attend taken_*", BFP8, f"2866.9 -> 2868.0 us {WALL}"),),
        MADE_UP, 2552.6,
    ),
    laid(
        "flashnext-attention-matmuls", FUSED, "decode, sparse attention's layer, attention by matmuls: 6219 us of the traced layer",
        decode(replace(EARLY, scores="matmuls"), "attention"),
        (gain("attend", "decode's attention op over the picked keys", 167.5, "repeated_* k_turned q_heads scores scores_masked scores_soft attended", r"scaled_dot_product_attention|SDPA", f"6219.2 -> 6051.7 us {TEN}"),),
        f"that its checkpoint is the one before it in the list; {OF_STATE}",
    ),
    laid(
        "flashnext-attention-slices", FUSED, "decode, sparse attention's layer, rotary of a slice: 6244 us of the traced layer",
        decode(replace(EARLY, scores="matmuls", turn="slices"), "attention"),
        (gain("rotary", "one rotary op for the part of each head", 25.1, "*_part *_rest *_turn *_whole", r"rotary_embedding_hf|partial|one (rotary )?op|fus", f"6244.3 -> 6219.2 us {TEN}"),),
        f"that its checkpoint is the one before it in the list; {OF_STATE}",
    ),
    laid(
        "flashnext-attention-early", FUSED, "decode, sparse attention's layer after its ops were fused: 5540 us of the traced layer",
        decode(EARLY, "attention"),
        (
            dead("index-op", "one op for the index's scores, their activation and their sum", "index_scores index_relu index_sum", r"indexer_score", f"5540.2 -> 5588.4 us {TEN}"),
            dead("experts-320", "experts by a list of 320 numbers, ten for each row of the tile", "experts_* total", r"\b320\b", f"about 5.6 -> 14.6 ms {TEN}"),
        ),
        f"that its checkpoint is the one before it in the list; {OF_STATE}",
    ),
    laid(
        "flashnext-prompt-repeated", FUSED, "128 tokens, sparse attention's layer, keys and values repeated for 24 heads: 246 ms",
        prefill(Prompt(grouped=False, attend=78_000)),
        (gain("grouped", "attention with two heads of keys and values as they are", 91_577, "repeated_k repeated_v attend", r"GQA|grouped|without repeat|repeat", "246.421 -> 154.844 ms of the prefill, inputs of zeros"),),
        f"how 246 ms are shared out; {MADE_UP}",
    ),
    laid(
        "flashnext-prompt-32", LOG, "128 tokens, sparse attention's layer, chunks of 32 keys: 48.6 ms",
        prefill(Prompt(chunk=32, attend=1602)),
        (
            gain("chunk-64", "chunks of 64 keys", 102.1, "attend", r"k_chunk\w*\D{0,4}64\b|larger|bigger|chunk", f"48.605 -> 48.503 ms {WARM}"),
            gain("chunk-128", "chunks of 128 keys", 71.4, "attend", r"k_chunk\w*\D{0,4}128\b|chunks of 128", f"48.605 -> 48.534 ms {WARM}"),
        ),
        MADE_UP,
    ),
    laid(
        "flashnext-prompt", README, "128 tokens, sparse attention's layer: 48.6 ms, 48.3 ms in kernels, 220 ops",
        prefill(Prompt()),
        (
            gain("cache", "BFLOAT8_B for the cache", 122.1, "fill_k fill_v taken_*", BFP8, f"48.573 -> 48.451 ms {WARM}", LOG),
            dead("chunk-32", "chunks of 32 keys", "attend", r"k_chunk\w*\D{0,4}32\b|chunks of 32|smaller", f"48.503 -> 48.605 ms {WARM}", LOG),
            dead("chunk-128", "chunks of 128 keys", "attend", r"k_chunk\w*\D{0,4}128\b|chunks of 128|larger", f"48.503 -> 48.534 ms {WARM}", LOG),
        ),
        MADE_UP, 48_269,
    ),
)  # fmt: skip
