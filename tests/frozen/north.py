"""North Mini Code 1.0 (128 experts, eight of them active) on one Blackhole chip of four: its three kinds of layers.

Hidden 2048, 32 heads of 128 with four of keys and values, one norm for attention and feed-forward, which is one of
3072 in the first layer and experts of 768 after it. Decode of one user, whose row is one of a tile's 32, replayed from
a trace; prefill of 128 tokens, for one user or for 32. Two attempts at it kept a ledger each: one with sums of kinds of
ops at the end, both with the time of a layer at each try. The savings are those of a layer, with its gaps.
DRAM-sharded matmuls stand with the 80 cores that this chip's profiler tells of them elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, norm_shards, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    BFP4,
    BFP8,
    BLOCK_W,
    BLOCKS,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    LOFI,
    PACKED,
    SHARDED,
    unbanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.profiles import Placement, Tensor

FOLDER = "models/autoports/coherelabs_north_mini_code_1_0/doc"
LOG = f"{TT_METAL}/1248bbe6cb5d25fb4eea0ced2f8e9692b8984181/{FOLDER}/optimized_decoder/work_log.md"
OTHER = f"{TT_METAL}/04a16ce2f05bb3786976467622dfa7e87883b940/{FOLDER}/optimized_decoder/README.md"
ADVISED = f"{TT_METAL}/29a69e898de100967f83cec9c3f0d521d4baee96/{FOLDER}/advisor_challenger/README.md"
NORMS = f"{TT_METAL}/433053a393a01bb10641ac44635c441e06bd9241/{FOLDER}/advisor_challenger/work_log.md"
GRID, CORES_OF_ALL = (11, 10), 110
HIDDEN, HEADS, KV, SIZE, QKV, ATTENDED = 2048, 32, 4, 128, 5120, 4096
WIDE, EXPERTS, NARROW = 3072, 128, 768


@dataclass(frozen=True)
class Dense:
    """The first layer at a step of its tuning; times in us."""

    us: Mapping[str, float]
    blocks: Mapping[str, int] = field(default_factory=lambda: {"qkv": 8, "out": 16, "both": 8, "down": 12})
    banks: bool = True  # weights over the banks, their results in shards
    near: bool = True  # the residual and its norm in shards
    qkv_near: bool = True  # what the heads are made of stays in its shards
    weights: str = "BFLOAT8_B"
    fidelity: str = "HiFi2"


def dense(how: Dense) -> Callable[[], Block]:
    """Decode of one: 25 ops at the end."""

    def build() -> Block:
        block, us = Block("blackhole", grid=GRID, gap_us=0.9), how.us
        residual = block.across(32, HIDDEN, 8)

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            if not how.banks:
                return block.linear(role, x, n, us[role], dtype=how.weights, fidelity=how.fidelity)
            config = banked(how.blocks[role], n // 32 // 8)
            return block.linear(role, x, n, us[role], dtype=how.weights, fidelity=how.fidelity, config=config, cores=80, place=block.across(32, n, 8), banks=True)  # fmt: skip

        x = block.tensor([1, 1, 32, HIDDEN], place=residual if how.near else DRAM)
        x = block.slice(
            "entry", block.turned("entry_turned", x, 2.5, dims="CH", cores=8), (0, 0, 0, 0), x.shape, 2.1
        )
        if how.near:
            normed = block.norm("norm", x, 5.8, cores=8, config=norm_shards((8, 1), 8), kind="LAYERNORM")
        else:
            normed = block.norm("norm", x, 26, cores=1, kind="LAYERNORM")
            if how.banks:
                normed = block.to_shards("norm_placed", normed, residual, 1)
        qkv = linear("qkv", normed, QKV)
        if how.banks and not how.qkv_near:
            qkv = block.from_shards("qkv_back", qkv, 1.8)
        q, k, v = block.heads_of_decode("heads", qkv, 4.6 if how.banks and how.qkv_near else 25.5, heads=HEADS, kv=KV, size=SIZE, users=1)  # fmt: skip
        q, k = (
            block.rotary(f"rotary_{name}", one, 1.8, decode=True, cores=1) for name, one in (("q", q), ("k", k))
        )
        cache = block.tensor([1, KV, 4096, SIZE])
        block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v), cache, 5.4, cores=2, batch_offset=0, share_cache=False, update_idxs="{}")  # fmt: skip
        out = block.attend_decode("attend", q, cache, 9, config=None, cores=32)
        out = block.to_shards("attended_placed", out, block.along(32, SIZE, 1), 0.8)
        out = block.moved("joined", "NLPConcatHeadsDecode", out, 1.3, shape=[1, 1, 32, ATTENDED], place=block.across(32, ATTENDED, 32), cores=32, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        if how.banks:
            out = block.reshard("joined_moved", out, block.across(32, ATTENDED, 8), 1.4)
        else:
            out = block.from_shards("joined_back", out, 1.2)
        out = linear("out", out, HIDDEN)
        both = linear("both", normed, 2 * WIDE)
        place = block.across(32, WIDE, 8) if how.banks else DRAM
        gate, up = (block.slice(f"half_{name}", both, (0, 0, 0, at * WIDE), (1, 1, 32, (at + 1) * WIDE), 2.2, place) for at, name in enumerate(("gate", "up")))  # fmt: skip
        down = linear("down", block.binary("gated", "MUL", gate, up, 4, cores=8 if how.banks else 96, lhs="SILU"), HIDDEN)  # fmt: skip
        if how.banks and not how.near:
            out, down = (block.from_shards(f"{name}_back", one, 1) for name, one in (("out", out), ("down", down)))
        x = block.binary("attention_added", "ADD", x, out, 2.4, cores=8 if how.near else 64)
        block.binary("feed_added", "ADD", x, down, 2.4, cores=8 if how.near else 64)
        return block

    return build


PLAIN = Dense({"qkv": 42, "out": 34, "both": 50, "down": 26}, banks=False, near=False)
SHORT = Dense({"qkv": 42.3, "out": 33.8, "both": 50.7, "down": 25.4}, {"qkv": 2, "out": 4, "both": 2, "down": 4}, near=False, qkv_near=False)  # fmt: skip
LONG = Dense({"qkv": 40.8, "out": 32.6, "both": 48.9, "down": 24.4}, near=False, qkv_near=False)
NEAR = replace(LONG, near=True)
STAYING = replace(NEAR, qkv_near=True)
LAST = replace(STAYING, us={"qkv": 27.7, "out": 22.2, "both": 33.3, "down": 16.6}, fidelity="LoFi")


@dataclass(frozen=True)
class Apart:
    """The first layer of the other attempt, gate and up as two matmuls; times in us."""

    us: Mapping[str, float]
    feed: tuple[str, str] = ("BFLOAT4_B", "LoFi")
    last: tuple[str, str] = ("BFLOAT8_B", "LoFi")
    tuned: bool = True  # the last matmul with a config


def apart(how: Apart) -> Callable[[], Block]:
    def build() -> Block:
        block, us = Block("blackhole", grid=GRID, gap_us=1.2), how.us
        residual = block.across(32, HIDDEN, 32)

        def banked_linear(role: str, x: Tensor, n: int, k_block: int) -> Tensor:
            return block.linear(role, x, n, us[role], dtype="BFLOAT8_B", fidelity="LoFi", config=banked(k_block, n // 32 // 8), cores=80, place=block.across(32, n, 8), banks=True)  # fmt: skip

        x = block.tensor([1, 1, 32, HIDDEN], place=residual)
        normed = block.norm("norm", x, 6, cores=32, config=norm_shards((8, 4), 2), kind="LAYERNORM")
        qkv = block.from_shards("qkv_back", banked_linear("qkv", block.reshard("qkv_moved", normed, block.across(32, HIDDEN, 8), 1.3), QKV, 8), 1.8)  # fmt: skip
        q, k, v = block.heads_of_decode("heads", qkv, 14.1, heads=HEADS, kv=KV, size=SIZE, users=1)
        q, k = (
            block.rotary(f"rotary_{name}", one, 1.8, decode=True, cores=1) for name, one in (("q", q), ("k", k))
        )
        cache = block.tensor([1, KV, 4096, SIZE], "BFLOAT8_B")
        block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v), cache, 5.4, cores=2, batch_offset=0, share_cache=False, update_idxs="{}")  # fmt: skip
        out = block.to_shards("attended_placed", block.attend_decode("attend", q, cache, 9, config=None, cores=32), block.along(32, SIZE, 1), 0.8)  # fmt: skip
        out = block.moved("joined", "NLPConcatHeadsDecode", out, 1.3, shape=[1, 1, 32, ATTENDED], place=block.across(32, ATTENDED, 32), cores=32, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        out = banked_linear(
            "out", block.reshard("joined_moved", out, block.across(32, ATTENDED, 8), 1.4), HIDDEN, 16
        )
        out = block.reshard("out_moved", out, residual, 1.3)
        flat = block.from_shards("feed_flat", normed, 1.5, L1)
        config = one_d((8, 6), 16, (1, 2), subblock=(1, 2))
        gate, up = (block.linear(role, flat, WIDE, us[role], dtype=how.feed[0], fidelity=how.feed[1], config=config, cores=48, place=L1) for role in ("gate", "up"))  # fmt: skip
        wide = block.binary("gated", "MUL", gate, up, 4, cores=96, lhs="SILU")
        config = one_d((8, 4), 8, (1, 2), subblock=(1, 2)) if how.tuned else None
        down = block.linear("down", wide, HIDDEN, us["down"], dtype=how.last[0], fidelity=how.last[1], config=config, cores=32 if how.tuned else None, place=L1)  # fmt: skip
        down = block.to_shards("down_placed", down, residual, 1.2)
        x = block.binary("attention_added", "ADD", x, out, 2.4, cores=32)
        block.binary("feed_added", "ADD", x, down, 2.4, cores=32)
        return block

    return build


APART_US = {"qkv": 28, "out": 23, "gate": 18.6, "up": 18.6, "down": 18.8}
APART = Apart(APART_US)
APART_EIGHT = Apart({**APART_US, "gate": 23, "up": 23, "down": 20}, ("BFLOAT8_B", "HiFi2"), ("BFLOAT8_B", "HiFi2"))
APART_FIRST = Apart({**APART_US, "gate": 23, "up": 23, "down": 55.6}, ("BFLOAT8_B", "HiFi2"), ("BFLOAT8_B", "HiFi2"), tuned=False)  # fmt: skip


@dataclass(frozen=True)
class Mixed:
    """A layer with experts at a step of its tuning; times in us."""

    experts: tuple[float, float]  # of gate with up, and of down
    weights: tuple[str, str] = ("BFLOAT8_B", "LoFi")
    cores: tuple[int, int] = (24, 32)
    near: Placement = DRAM  # what passes between the experts' matmuls
    moves: float = 1.0  # times of the ops between them, against those in L1
    active: str = "8"
    all_down: bool = False
    shards: bool = False  # of the residual and its norm
    banks: bool = False  # of attention's weights
    attention: tuple[str, str] = ("BFLOAT8_B", "HiFi2")
    us: tuple[float, float, float] = (36, 32.5, 30.6)  # QKV, its projection, the router


def mixed(how: Mixed) -> Callable[[], Block]:
    """Decode of one, a layer that sees all and has no rotary embedding: 46 ops at the end."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        residual = block.across(32, HIDDEN, 32)

        def linear(role: str, x: Tensor, n: int, us: float, k_block: int) -> Tensor:
            dtype, fidelity = how.attention
            if not how.banks:
                return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity)
            x = block.reshard(f"{role}_moved", x, block.across(32, x.shape[-1], 8), 1.3)
            made = block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=banked(k_block, n // 32 // 8), cores=80, place=block.across(32, n, 8), banks=True)  # fmt: skip
            return block.from_shards(f"{role}_back", made, 1.8)

        x = block.tensor([1, 1, 32, HIDDEN], place=residual if how.shards else DRAM)
        if how.shards:
            normed = block.norm("norm", x, 6, cores=32, config=norm_shards((8, 4), 2), kind="LAYERNORM")
            flat = block.from_shards("norm_flat", normed, 1.5)
        else:
            normed = flat = block.norm("norm", x, 26.1, cores=1, kind="LAYERNORM")
        qkv = linear("qkv", normed if how.banks else flat, QKV, how.us[0], 8)
        q, k, v = block.heads_of_decode("heads", qkv, 25.5, heads=HEADS, kv=KV, size=SIZE, users=1)
        cache = block.tensor([1, KV, 4096, SIZE])
        block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v), cache, 5.5, cores=2, batch_offset=0, share_cache=False, update_idxs="{}")  # fmt: skip
        out = block.to_shards("attended_placed", block.attend_decode("attend", q, cache, 8.1, config=None, cores=32), block.along(32, SIZE, 1), 0.6)  # fmt: skip
        out = block.moved("joined", "NLPConcatHeadsDecode", out, 1.3, shape=[1, 1, 32, ATTENDED], place=block.across(32, ATTENDED, 32), cores=32, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        out = linear("out", out if how.banks else block.from_shards("joined_back", out, 1.2), HIDDEN, how.us[1], 16)
        x = block.binary("attention_added", "ADD", x, out, 2.3, cores=32 if how.shards else 64)
        scores, mask = routed(block, flat, how.us[2])
        fed(block, how, flat, scores, mask, x)
        return block

    return build


def routed(block: Block, x: Tensor, us: float) -> tuple[Tensor, Tensor]:
    """Scores of the chosen experts among zeros, and their mask."""

    def rows(role: str, x: Tensor, us: float, dtype: str | None = None) -> Tensor:
        return block.moved(role, "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=1, fidelity="HiFi4", dtype=dtype)  # fmt: skip

    shape = [1, 1, 32, EXPERTS]
    logits = block.linear("router", x, EXPERTS, us, dtype="BFLOAT8_B", fidelity="HiFi4", fp32=True)
    best = (block.tensor([1, 1, 32, 8]), block.tensor([1, 1, 32, 8], "UINT16"))
    values = block.op("topk", "TopK", (logits,), best, 24.7, cores=1, fidelity="HiFi4", dim=3, k=8, largest=True, sorted=True)  # fmt: skip
    values = block.unary("scores_sigmoid", "SIGMOID", values, 2.2, cores=1)
    ones = block.unary("ones", "FILL", values, 2.2, cores=1, parameter="1")
    values, ones, index = (rows(f"{name}_rows", one, 1.7) for name, one in (("scores", values), ("ones", ones), ("index", best[1])))  # fmt: skip
    parts: list[Tensor] = []
    for name, given in (("scores", values), ("mask", ones)):
        empty = rows(f"{name}_zeros_rows", block.unary(f"{name}_zeros", "FILL", block.tensor(shape), 2.2, cores=4, parameter="0"), 1.7)  # fmt: skip
        parts.append(block.op(f"{name}_scattered", "Scatter", (empty, index, given), block.tensor(shape, layout=ROW_MAJOR), 3, cores=1, dim=3))  # fmt: skip
    tiled = block.moved(
        "scores_tiled", "TilizeWithValPadding", parts[0], 5.6, layout="TILE", cores=4, fidelity="HiFi4"
    )
    mask = block.moved(
        "mask_tiled", "TilizeWithValPadding", parts[1], 5.6, layout="TILE", cores=4, fidelity="HiFi4"
    )
    mask = rows("mask_rows", block.moved("mask_filled", "FillPad", mask, 4.8, cores=4), 1.6)
    return block.turned("scores_turned", tiled, 2.2, dims="WH", cores=4), mask


def fed(block: Block, how: Mixed, x: Tensor, scores: Tensor, mask: Tensor, residual: Tensor) -> None:  # noqa: PLR0917
    def sparse(number: int, x: Tensor, n: int) -> Tensor:
        dtype, fidelity = how.weights
        role, cores = ("experts_up", "experts_down")[number], how.cores[number]
        weight = block.tensor([1, EXPERTS, x.shape[-1], n], dtype)
        made = block.tensor([1, 1, 1, EXPERTS, 32, n], place=how.near)
        filled = block.unary(f"{role}_fill", "FILL", made, (17.4, 29)[number], cores=CORES_OF_ALL, parameter="0")
        config = one_d((8, -(-cores // 8)), 8, (1, n // 32 // cores), subblock=(1, min(4, n // 32 // cores)))
        active = "std::nullopt" if number and how.all_down else how.active
        return block.op(
            role, "SparseMatmul", (x, weight, mask), filled, how.experts[number], cores=cores, fidelity=fidelity,
            compute_kernel_config=block.kernel(fidelity), is_input_a_sparse=number == 1, is_input_b_sparse=True,
            nnz=active, output_dtype="DataType::BFLOAT16", output_mem_config=how.near, program_config=config,
            user_core_coord=None,
        )  # fmt: skip

    both = sparse(0, x, 2 * NARROW)
    start, end = [0] * 6, [1, 1, 1, EXPERTS, 32, 2 * NARROW]
    gate = block.slice("half_gate", both, start, [*end[:-1], NARROW], 1.7 * how.moves)
    up = block.slice("half_up", both, [*start[:-1], NARROW], end, 1.7 * how.moves)
    wide = block.binary("gated", "MUL", gate, up, 4.2 * how.moves, cores=CORES_OF_ALL, lhs="SILU")
    wide = block.moved("gated_shaped", "ReshapeView", wide, 32 * how.moves, shape=[1, EXPERTS, 32, NARROW], cores=CORES_OF_ALL)  # fmt: skip
    down = sparse(1, wide, HIDDEN)
    down = block.turned("down_turned", block.view(down, [1, 32, EXPERTS, HIDDEN]), 20 * how.moves, dims="CH", cores=CORES_OF_ALL)  # fmt: skip
    down = block.turned("down_back", down, 20 * how.moves, dims="CH", cores=CORES_OF_ALL)
    down = block.binary("scored", "MUL", block.view(down, [1, EXPERTS, 32, HIDDEN]), block.view(scores, [1, EXPERTS, 32, 1]), 4.1, cores=CORES_OF_ALL)  # fmt: skip
    total = block.op("total", "Reduce", (down,), block.tensor([1, 1, 32, HIDDEN]), 3.2, cores=64, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    block.binary("feed_added", "ADD", residual, total, 2.3, cores=64)


ALL_DOWN = Mixed((125, 1553), ("BFLOAT16", "HiFi4"), all_down=True, moves=1.13)
SIXTEEN = Mixed((125, 75), ("BFLOAT16", "HiFi4"), moves=1.13)
EIGHT = Mixed((77, 40), moves=1.13)
LAST_MIXED = Mixed((76.7, 40.3), near=L1)
OLD = Mixed(
    (122, 70), ("BFLOAT8_B", "HiFi2"), (16, 16), active="std::nullopt", attention=("BFLOAT8_B", "LoFi"), moves=1.13
)
OLD_SHARDS = replace(OLD, shards=True)
OLD_BANKS = replace(OLD_SHARDS, banks=True, us=(28, 23, 30.6))


@dataclass(frozen=True)
class Many:
    """Prefill through a layer whose experts all work; times in us."""

    rows: int  # of one round
    rounds: int
    gate_up: float  # of one matmul
    down: float
    other: float  # times of the ops between, against those of 128 rows
    config: str
    down_config: str
    packed: bool = True
    dtype: str = "BFLOAT8_B"
    fidelity: str = "HiFi2"
    cores: tuple[int, int] = (24, 32)


def many(how: Many) -> Callable[[], Block]:
    def build() -> Block:
        block, rows = Block("blackhole", grid=GRID, gap_us=1.0), how.rows * how.rounds
        spans = -(-rows // 32 // CORES_OF_ALL)  # rows of tiles for each core
        x = block.tensor([1, 1, rows, HIDDEN])
        normed = block.norm("norm", x, 26.3 * how.rounds, cores=min(110, rows // 32), kind="LAYERNORM")
        qkv = block.linear("qkv", normed, QKV, 48 * rows / 128, dtype="BFLOAT8_B")
        q, k, v = block.split_heads("heads", qkv, 67.5 * spans, heads=HEADS, kv=KV, size=SIZE, rows=rows, cores=min(110, rows // 32))  # fmt: skip
        out = block.attend("attend", q, k, v, 21.4 * rows / 128, config=None, cores=CORES_OF_ALL)
        out = block.join_heads("joined", out, 53.5 * spans, cores=min(110, rows // 32))
        x = block.binary("attention_added", "ADD", x, block.linear("out", out, HIDDEN, 40 * rows / 128, dtype="BFLOAT8_B"), 8 * rows / 128, cores=CORES_OF_ALL)  # fmt: skip
        logits = block.linear("router", normed, EXPERTS, 15 * rows / 128, fidelity="HiFi4", fp32=True)
        best = (block.tensor([1, 1, rows, 8]), block.tensor([1, 1, rows, 8], "UINT16"))
        values = block.op("topk", "TopK", (logits,), best, 25 * rows / 128, cores=rows // 32, fidelity="HiFi4", dim=3, k=8, largest=True, sorted=True)  # fmt: skip
        block.op("scattered", "Scatter", (block.tensor([1, 1, rows, EXPERTS], layout=ROW_MAJOR), best[1], values), block.tensor([1, 1, rows, EXPERTS]), 6.5 * rows / 128, cores=4, dim=3)  # fmt: skip
        for n in range(how.rounds):
            part = normed if how.rounds == 1 else block.slice(f"round_{n}", normed, (0, 0, n * how.rows, 0), (1, 1, (n + 1) * how.rows, HIDDEN), 30)  # fmt: skip
            part = block.moved(f"repeated_{n}", "Repeat", part, 402 * how.other, shape=[1, EXPERTS, how.rows, HIDDEN], repetition_vector=f"Shape([1, {EXPERTS}, 1, 1])")  # fmt: skip
            summed = expert(block, how, n, part)
            block.binary(f"feed_added_{n}", "ADD", x if how.rounds == 1 else block.slice(f"residual_{n}", x, (0, 0, n * how.rows, 0), (1, 1, (n + 1) * how.rows, HIDDEN), 30), summed, 8 * how.other, cores=CORES_OF_ALL)  # fmt: skip
        return block

    return build


def expert(block: Block, how: Many, n: int, x: Tensor) -> Tensor:
    def product(role: str, x: Tensor, width: int, us: float, *, last: bool = False) -> Tensor:
        weight = block.tensor([1, EXPERTS, x.shape[-1], width], how.dtype)
        made = block.tensor([1, EXPERTS, how.rows, width])
        fp32 = how.fidelity == "HiFi4"
        return block.op(
            f"{role}_{n}", "Matmul", (x, weight), made, us, cores=how.cores[last], fidelity=how.fidelity, bcast_batch=False,
            compute_kernel_config=block.kernel(how.fidelity, fp32=fp32), output_dtype="DataType::BFLOAT16",
            output_mem_config=DRAM, program_config=how.down_config if last else how.config, transpose_a=False,
            transpose_b=False, user_core_coord=None, user_fused_activation=None,
        )  # fmt: skip

    if how.packed:
        both = product("both", x, 2 * NARROW, how.gate_up)
        gate, up = (block.slice(f"half_{name}_{n}", both, (0, 0, 0, at * NARROW), (1, EXPERTS, how.rows, (at + 1) * NARROW), 135 * how.other) for at, name in enumerate(("gate", "up")))  # fmt: skip
    else:
        gate, up = (product(role, x, NARROW, how.gate_up) for role in ("gate", "up"))
    wide = block.binary(f"gated_{n}", "MUL", gate, up, 190 * how.other, cores=CORES_OF_ALL, lhs="SILU")
    down = product("down", wide, HIDDEN, how.down, last=True)
    down = block.binary(f"scored_{n}", "MUL", down, block.tensor([1, EXPERTS, how.rows, 1]), 390 * how.other, cores=CORES_OF_ALL)  # fmt: skip
    return block.op(f"total_{n}", "FastReduceNC", (down,), block.tensor([1, 1, how.rows, HIDDEN]), 174 * how.other, cores=64, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), dim=1)  # fmt: skip


def few(gate_up: float, down: float, k_blocks: tuple[int, int]) -> Many:
    """128 rows: 24 cores for gate and up, 32 for down."""
    first, second = two_d((6, 4), k_blocks[0], (1, 8), subblock=(1, 4), batch=False), two_d((8, 4), k_blocks[1], (1, 8), subblock=(1, 4), batch=False)  # fmt: skip
    return Many(128, 1, gate_up, down, 1, first, second)


def rounds(us: float, columns: int, rows: int) -> Many:
    """4096 rows in four rounds, weights in BFLOAT16."""
    per_m = 32 // rows
    first, second = two_d((columns, rows), 2, (per_m, 24 // columns), batch=False), two_d((columns, rows), 2, (per_m, 64 // columns), batch=False)  # fmt: skip
    return Many(1024, 4, us, us, 8.6, first, second, packed=False, dtype="BFLOAT16", fidelity="HiFi4", cores=(columns * rows, columns * rows))  # fmt: skip


def first_rows() -> Block:
    """The first layer, prefill of 128 tokens: 17 ops."""
    block, rows = Block("blackhole", grid=GRID, gap_us=0.9), 128
    x = block.tensor([1, 1, rows, HIDDEN])
    normed = block.norm("norm", x, 26.2, cores=4, kind="LAYERNORM")
    qkv = block.linear("qkv", normed, QKV, 78, dtype="BFLOAT8_B", fidelity="LoFi")
    q, k, v = block.split_heads("heads", qkv, 66.5, heads=HEADS, kv=KV, size=SIZE, rows=rows, cores=4)
    tables = [block.tensor([1, 1, rows, SIZE]) for _ in range(2)]
    q, k = (block.op(f"rotary_{name}", "RotaryEmbedding", (one, *tables), block.tensor(one.shape), us, cores=CORES_OF_ALL, fidelity="HiFi4", output_mem_config=DRAM, seq_len=rows) for name, one, us in (("q", q, 31), ("k", k, 6.8)))  # fmt: skip
    cache = block.tensor([1, KV, 4096, SIZE])
    for name, one in (("k", k), ("v", v)):
        block.op(f"cache_{name}", "PagedFillCache", (cache, one), cache, 2, cores=4, batch_idx=0)
    out = block.join_heads("joined", block.attend("attend", q, k, v, 22.7, config=None, cores=CORES_OF_ALL), 54.2, cores=4)  # fmt: skip
    out = block.linear("out", out, HIDDEN, 66, dtype="BFLOAT8_B", fidelity="LoFi")
    both = block.linear("both", normed, 2 * WIDE, 98, dtype="BFLOAT8_B", fidelity="LoFi")
    gate, up = (block.slice(f"half_{name}", both, (0, 0, 0, at * WIDE), (1, 1, rows, (at + 1) * WIDE), 5.3) for at, name in enumerate(("gate", "up")))  # fmt: skip
    down = block.linear("down", block.binary("gated", "MUL", gate, up, 9.5, cores=CORES_OF_ALL, lhs="SILU"), HIDDEN, 51, dtype="BFLOAT8_B", fidelity="LoFi")  # fmt: skip
    x = block.binary("attention_added", "ADD", x, out, 6.8, cores=CORES_OF_ALL)
    block.binary("feed_added", "ADD", x, down, 6.8, cores=CORES_OF_ALL)
    return block


MATMULS = "qkv out both down"
EXPERTS_ONLY = "experts_up experts_down"
BETWEEN = "half_gate half_up gated gated_shaped experts_up experts_down down_turned down_back"
CACHE_EIGHT = rf"cache.{{0,80}}({BFP8})|({BFP8}).{{0,80}}cache"
ACTIVE = r"\bnnz\b|active experts|number of (active|chosen|non-?zero)"
FEWER_EXPERTS = rf"{ACTIVE}|sparsity|only the (active|chosen)"
WIDER = r"\b(48|64) cores|more cores|all (the |of the )?cores"
SIXTEEN_CORES = r"\b16 cores"
NARROW_OUT = r"(output|result|activation|dtype=).{0,60}bfloat8_b|bfloat8_b.{0,60}(output|result|activation)"
LOW_TILES = r"tile.{0,30}(height|16|\b1\b)|output_tile|tiny"
PLAIN_TIMES = "heads and widths, which follow from the blocks and bytes that are told; how time splits between the matmuls, but by their bytes; the ops around where only their sum at the end is told; gaps; TTNN's own configs"
OTHER_TIMES = "which cores the experts had at first; times of the ops around the matmuls, which are those of the first attempt's end where they are alike; gaps"

NORTH = (
    laid(
        "north-dense-plain", LOG, "the first layer's decode, matmuls interleaved, BFLOAT8_B and HiFi2: 286 us", dense(PLAIN),
        (
            gain("banks", "weights over the banks, matmuls in shards", 14.2, MATMULS, DRAM_SHARDED, "285.97 us, its last time interleaved, -> 271.73 us"),
            dead("cache", "a BFLOAT8_B cache", "cache attend", CACHE_EIGHT, "285.97 -> 287.44 us"),
            dead("attend", "a config for attention, 8 x 8 cores", "attend", r"SDPAProgramConfig|program_config|chunk|grid|cores", "285.97 -> 285.90 us"),
            dead("lofi", "LoFi for attention's matmuls", "qkv out", LOFI, "299.02 -> 299.96 us"),
            dead("narrow", "BFLOAT4_B and LoFi for attention's matmuls", "qkv out", BFP4, "299.02 -> 299.70 us, and refused for its error"),
        ),
        PLAIN_TIMES,
    ),
    laid(
        "north-dense-short", LOG, "the same over the banks with small blocks: 272 us", dense(SHORT),
        (gain("blocks", "the largest in0_block_w that divides", 5.5, MATMULS, BLOCK_W, "271.73 -> 266.24 us"),),
        PLAIN_TIMES,
    ),
    laid(
        "north-dense-long", LOG, "the same with large blocks: 266 us", dense(LONG),
        (gain("norm", "norm and residual in shards on eight cores", 21.9, "norm norm_placed out_back down_back attention_added feed_added", SHARDED, "266.24 -> 244.34 us"),),
        PLAIN_TIMES,
    ),
    laid(
        "north-dense-near", LOG, "the same with norm and residual in shards: 244 us", dense(NEAR),
        (gain("qkv", "heads made of QKV's shards", 23.6, "qkv_back heads", r"shard", "244.34 -> 220.76 us"),),
        PLAIN_TIMES,
    ),
    laid(
        "north-dense-staying", LOG, "the same with QKV in shards, HiFi2: 221 us", dense(STAYING),
        (
            gain("lofi", "LoFi", 46.9, MATMULS, LOFI, "220.76 -> 173.89 us"),
            dead("blocks", "in0_block_w of at most four", MATMULS, r"in0_block_w\D{0,4}[124]\b", "220.76 -> 233.76 us"),
        ),
        PLAIN_TIMES,
    ),
    laid(
        "north-dense", LOG, "the same at LoFi, the end: 174 us, 153 us of ops", dense(LAST),
        (gain("narrow", "BFLOAT4_B", 15.5, MATMULS, BFP4, "173.89 -> 158.44 us; not taken for its error"),),
        PLAIN_TIMES, 153.39,
    ),
    laid(
        "north-apart-first", OTHER, "the other attempt's first layer, TTNN's config for the last matmul: 244 us", apart(APART_FIRST),
        (gain("down", "32 cores, in0_block_w 8, two columns each", 36.1, "down", rf"{CONFIG}|{BLOCKS}|{CORES}", "55.6 -> 18.8 us; the layer 243.6 -> 207.5 us"),),
        OTHER_TIMES,
    ),
    laid(
        "north-apart-eight", OTHER, "the same with it, BFLOAT8_B and HiFi2: 207 us", apart(APART_EIGHT),
        (
            gain("narrow", "BFLOAT4_B for gate and up, LoFi for all three", 10, "gate up down", rf"{BFP4}|{LOFI}", "207 -> 197 us"),
            dead("banks", "the last matmul over the banks", "down", DRAM_SHARDED, "206.6 -> 221.2 us"),
        ),
        OTHER_TIMES,
    ),
    laid(
        "north-apart", OTHER, "the same at LoFi: 197 us, 173 us of ops", apart(APART),
        (
            dead("packed", "gate and up as one matmul", "gate up", PACKED, "196.94 -> 198.84 us at the best of five blocks"),
            dead("chain", "a chain of shards over the feed-forward as an advisor drew it, at 96 cores or the 110 above", "gate up gated down", r"\b(96|99|110) cores|all (the |of the )?cores|more cores", "203.3 -> 234.1 us where the cores divide, 292.2 us at 110", ADVISED),
            dead("banks", "the last matmul over the banks", "down", DRAM_SHARDED, "203.3 -> 207.4 us", ADVISED),
        ),
        OTHER_TIMES, 173,
    ),
    laid(
        "north-experts-all", LOG, "a layer with experts, the second matmul for all 128: 2,130 us", mixed(ALL_DOWN),
        (gain("active", "the second matmul for the eight that are active", 1_478, "experts_down", FEWER_EXPERTS, "2129.9 -> 651.8 us"),),
        PLAIN_TIMES,
    ),
    laid(
        "north-experts-16", LOG, "the same with both for eight, BFLOAT16: 652 us", mixed(SIXTEEN),
        (gain("eight", "BFLOAT8_B and LoFi", 82.9, EXPERTS_ONLY, rf"{BFP8}|{LOFI}", "651.83 -> 568.97 us"),),
        PLAIN_TIMES,
    ),
    laid(
        "north-experts-8", LOG, "the same with BFLOAT8_B and LoFi: 569 us", mixed(EIGHT),
        (
            gain("four", "BFLOAT4_B", 20.7, EXPERTS_ONLY, BFP4, "568.97 -> 548.25 us; not taken for its error"),
            gain("near", "what passes between the experts' matmuls in L1", 10.9, BETWEEN, IN_L1, "561.70 -> 550.78 us later, 100 samples each"),
            dead("wider", "48 and 64 cores instead of 24 and 32", EXPERTS_ONLY, WIDER, "568.97 -> 606.25 us"),
            dead("narrower", "16 cores each", EXPERTS_ONLY, SIXTEEN_CORES, "568.97 -> 591.44 us"),
            dead("hifi2", "HiFi2", EXPERTS_ONLY, HIFI2, "568.97 -> 575.00 us"),
            dead("output", "results in BFLOAT8_B", EXPERTS_ONLY, NARROW_OUT, "slower: 622.05 us"),
            dead("banks", "attention's weights over the banks", "qkv out", DRAM_SHARDED, "543.47 -> 567.96 us later"),
        ),
        PLAIN_TIMES,
    ),
    laid(
        "north-experts", LOG, "the same between them in L1, the end: 530 us, 497 us of ops", mixed(LAST_MIXED),
        (
            gain("norm", "the norm in shards on 32 cores", 53.1, "norm qkv router experts_up out attention_added", unbanked(SHARDED), "24,949 -> 22,398 us of the model, whose 48 such layers it changed", NORMS),
            dead("tiles", "results in tiles of 1 or 16 rows", EXPERTS_ONLY, LOW_TILES, "refused: they must be as high as those of the input"),
        ),
        PLAIN_TIMES, 497.4,
    ),
    laid(
        "north-mixed-old", OTHER, "the other attempt's layer with experts, interleaved: 724 us", mixed(OLD),
        (
            gain("residual", "residual and norm in shards on 32 cores", 32, "norm attention_added feed_added qkv router experts_up", unbanked(SHARDED), "724 -> 692 us"),
            dead("wider", "24 and 32 cores for the experts", EXPERTS_ONLY, r"\b(24|32|48|64) cores|more cores|all (the |of the )?cores", "724 -> 740 us"),
            dead("eight", "8 cores for the experts", EXPERTS_ONLY, r"\b8 cores", "724 -> 777 us"),
        ),
        OTHER_TIMES,
    ),
    laid(
        "north-mixed-shards", OTHER, "the same with residual and norm in shards: 692 us", mixed(OLD_SHARDS),
        (
            gain("banks", "attention's weights over the banks", 14, "qkv out joined_back", DRAM_SHARDED, "692 -> 678 us"),
        ),
        OTHER_TIMES,
    ),
    laid(
        "north-mixed", OTHER, "the same with attention's weights over the banks: 679 us", mixed(OLD_BANKS),
        (
            gain("active", "the number of active experts told", 75, EXPERTS_ONLY, ACTIVE, "679 -> 604 us"),
            dead("four", "BFLOAT4_B for attention", "qkv out", BFP4, "604 -> 602 us later, and refused for its error"),
        ),
        OTHER_TIMES,
    ),
    laid(
        "north-prefill-dense", LOG, "the first layer's prefill of 128 tokens: 576 us, 538 us of ops", first_rows,
        (dead("attend", "a config for attention, 8 x 8 cores", "attend", r"SDPAProgramConfig|program_config|chunk|grid|cores", "573.57 -> 583.76 us"),),
        PLAIN_TIMES, 537.8,
    ),
    laid(
        "north-prefill-first", LOG, "prefill of 128 tokens, experts with in0_block_w 2: 9.7 ms", many(few(5250, 2560, (2, 2))),
        (gain("blocks", "in0_block_w of eight", 1_738, "both_0 down_0", BLOCK_W, "9741.7 -> 8003.3 us"),),
        PLAIN_TIMES,
    ),
    laid(
        "north-prefill", LOG, "the same with in0_block_w 8: 8.0 ms, 7.9 ms of ops", many(few(4250, 1815, (8, 8))),
        (
            dead("blocks", "in0_block_w of 16 and 12", "both_0 down_0", BLOCK_W, "8003.3 -> 8105.1 us"),
            dead("wider", "48 and 64 cores", "both_0 down_0", WIDER, "refused: four rows of tiles and a grid of eleven columns leave no such rectangle"),
        ),
        PLAIN_TIMES, 7864,
    ),
    laid(
        "north-rounds-first", OTHER, "prefill of 32 times 128 tokens in four rounds, experts on 8 x 4 cores: 193 ms", many(rounds(11_617, 8, 4)),
        (gain("cores", "8 x 8 cores", 57_991, "gate_* up_* down_*", CORES, "193.06 -> 135.06 ms"),),
        OTHER_TIMES,
    ),
    laid(
        "north-rounds", OTHER, "the same on 8 x 8 cores: 135 ms, 130 ms of ops", many(rounds(6_784, 8, 8)),
        (
            dead("packed", "gate and up as one matmul", "gate_* up_*", PACKED, "135.01 -> 142.40 ms"),
            dead("sparse", "only the chosen experts, in chunks of 1024 tokens", "gate_* up_* down_*", r"sparse_matmul|sparsity|sparse|only the (active|chosen)", "135.06 -> 646.51 ms"),
        ),
        OTHER_TIMES, 129_726,
    ),
)  # fmt: skip
