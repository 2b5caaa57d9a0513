"""Qwen3 Coder 30B (128 experts, eight of them active) on one Blackhole chip (p300c), and over four.

Hidden 2048, 32 heads of 128 with four of keys and values, a norm of each head's queries and keys, experts of 768. Decode
of one user, whose row is one of a tile's 32, replayed from a trace; and the experts at 32 tokens of a prefill, where all
of them work. On four chips attention is split by heads and each chip has 32 of the experts.
The ledger tells kernel times of most ops in the last state on one chip and on four, matmuls of experts alone at each
block and format (host calls, medians), and wall times of a traced layer at each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCK_W, CORES, DRAM_SHARDED, HIFI2, IN_L1, LOFI, PACKED, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/autoports/qwen_qwen3_coder_30b_a3b_instruct/doc"
ONE = f"{TT_METAL}/0ba65b321c1a01c3248e2cfb2b20948045aa3b58/{FOLDER}/optimized_decoder"
README, LOG = f"{ONE}/README.md", f"{ONE}/work_log.md"
MESH = f"{TT_METAL}/864f1bdfb97cd22e75b16f98c3a0db13cb574a2c/{FOLDER}/optimized_multichip_decoder"
MESH_README, MESH_LOG = f"{MESH}/README.md", f"{MESH}/work_log.md"
GRID, ALL_CORES = (11, 10), 110
HIDDEN, HEADS, KV, SIZE, EXPERTS, WIDE = 2048, 32, 4, 128, 128, 768


def sparse(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, mask: Tensor, n: int, us: float, *, experts: int, dtype: str, fidelity: str,
    k_block: int, fill: float, second: bool = False, nnz: str = "8",
) -> Tensor:  # fmt: skip
    """A matmul with the weights of the chosen experts; a core for each 32 columns, after zeros for all of them."""
    cores = n // 32
    weight = block.tensor([1, experts, x.shape[-1], n], dtype)
    out = block.tensor([1, 1, 1, experts, x.shape[-2], n])
    if fill:
        out = block.unary(f"{role}_fill", "FILL", out, fill, cores=ALL_CORES, parameter="0")
    config = one_d((8, cores // 8), k_block, (1, 1))
    return block.op(
        role, "SparseMatmul", (x, weight, mask), out, us, cores=cores, fidelity=fidelity,
        compute_kernel_config=block.kernel(fidelity), is_input_a_sparse=second, is_input_b_sparse=True, nnz=nnz,
        output_dtype="DataType::BFLOAT16", output_mem_config=DRAM, program_config=config, user_core_coord=None,
    )  # fmt: skip


@dataclass(frozen=True)
class Chunk:
    """The experts at 32 tokens: times of their matmuls, in0_block_w of both."""

    us: tuple[float, ...]  # of gate and up (one, or one for each), of down
    blocks: tuple[int, int]
    dtype: str = "BFLOAT16"
    fidelity: str = "HiFi4"


def chunk(how: Chunk) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1)
        x = block.tensor([1, 1, 32, HIDDEN])
        mask = block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR)

        def first(role: str, n: int, us: float) -> Tensor:
            return sparse(block, role, x, mask, n, us, experts=EXPERTS, dtype=how.dtype, fidelity=how.fidelity, k_block=how.blocks[0], fill=30, nnz="std::nullopt")  # fmt: skip

        if len(how.us) == 3:
            gate, up = (first(f"experts_{role}", WIDE, us) for role, us in zip(("gate", "up"), how.us, strict=False))  # fmt: skip
        else:
            both = first("experts_both", 2 * WIDE, how.us[0])
            shape = [1, 1, 1, EXPERTS, 32]
            gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, 0, 0, at), (*shape, at + WIDE), 37.5) for role, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
        gate = block.unary("silu", "SILU", gate, 100, cores=ALL_CORES)
        hidden = block.binary("gated", "MUL", gate, up, 60, cores=ALL_CORES)
        out = sparse(block, "experts_down", hidden, mask, HIDDEN, how.us[-1], experts=EXPERTS, dtype=how.dtype, fidelity=how.fidelity, k_block=how.blocks[1], fill=60, second=True, nnz="std::nullopt")  # fmt: skip
        scores = block.permute("scores_turned", block.tensor([1, 1, 32, EXPERTS]), (0, 3, 2, 1), 88)
        scored = block.binary(
            "scored", "MUL", block.view(out, [1, EXPERTS, 32, HIDDEN]), scores, 83, cores=ALL_CORES
        )
        block.op("total", "FastReduceNC", (scored,), block.tensor([1, 1, 32, HIDDEN]), 48, cores=64, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
        return block

    return build


@dataclass(frozen=True)
class How:
    """A layer of decode on one chip; times in us."""

    experts: tuple[float, ...] = (62, 30)  # as of a chunk
    blocks: tuple[int, int] = (16, 12)
    fidelity: str = "LoFi"
    attention: str = "BFLOAT8_B"
    projections: tuple[float, float] = (27.33, 21.91)
    banks: bool = True
    reduced: bool = True  # the router's softmax by reductions of eight


def router(block: Block, x: Tensor, us: float, *, reduced: bool, cores: int) -> tuple[Tensor, Tensor]:
    """Scores of the chosen experts among zeros, and their mask."""

    def rows(role: str, x: Tensor, us: float) -> Tensor:
        return block.moved(role, "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")

    def one(role: str, x: Tensor, kind: str, us: float) -> Tensor:
        return block.op(role, "Reduce", (x,), block.tensor([1, 1, 1, 32]), us, cores=1, fidelity="HiFi4", dim="ReduceOpDim::W", math_op=f"ReduceOpMath::{kind}")  # fmt: skip

    shape = [1, 1, 1, EXPERTS]
    logits = block.linear("router", x, EXPERTS, us, fidelity="HiFi4", fp32=True, out="FLOAT32", cores=cores)
    logits = block.typecast("router_cast", logits, "BFLOAT16", 1.3, cores=4)
    logits = block.moved("topk_filled", "FillPad", logits, 4.2, cores=4)
    best = (block.tensor([1, 1, 1, 8]), block.tensor([1, 1, 1, 8], "UINT16"))
    values = block.op("topk", "TopK", (logits,), best, 26.3, cores=1, fidelity="HiFi4", dim=3, k=8, largest=True, sorted=True)  # fmt: skip
    if reduced:
        values = block.moved("max_filled", "FillPad", values, 10.42, cores=1)
        highest = one("max", values, "MAX", 1.43)
    else:
        highest = block.slice("max_first", values, (0, 0, 0, 0), (1, 1, 1, 1), 0.87)
    values = block.unary("exponent", "EXP", block.binary("less_max", "SUB", values, highest, 3.3, cores=1), 3.3, cores=1)  # fmt: skip
    if reduced:
        values = block.moved("sum_filled", "FillPad", values, 10.41, cores=1)
        values = block.binary("divided", "DIV", values, one("sum", values, "SUM", 1.41), 5, cores=1)
    index = rows("index_rows", best[1], 1.7)
    values = rows("scores_rows", values, 1.7)
    zeros = rows("zeros_rows", block.tensor(shape), 1.7)
    spread = block.op("scatter", "Scatter", (zeros, index, values), block.tensor(shape, layout=ROW_MAJOR), 3.2, cores=1, dim=3)  # fmt: skip
    scores = block.moved("scores", "TilizeWithValPadding", spread, 5.6, layout="TILE", cores=4, fidelity="HiFi4")
    if not reduced:
        total = block.linear("sum_ones", scores, 32, 5, fidelity="HiFi4", cores=1)
        total = block.unary("sum_guard", "CLAMP_TSS", total, 1.6, cores=1)
        scores = block.binary("divided", "DIV", scores, total, 4.5, cores=4)
    return scores, rows("mask_rows", scores, 1.7)


def fed(  # noqa: PLR0917
    block: Block, x: Tensor, scores: Tensor, mask: Tensor, us: tuple[float, ...], blocks: tuple[int, int], fidelity: str,
    *, experts: int = EXPERTS, tail: float = 1,
) -> Tensor:  # fmt: skip
    """The experts of one token; reshapes make its eight rows dense, and each of them a tile's row."""

    def first(role: str, n: int, us: float) -> Tensor:
        return sparse(block, role, x, mask, n, us, experts=experts, dtype="BFLOAT4_B", fidelity=fidelity, k_block=blocks[0], fill=12 * tail)  # fmt: skip

    if len(us) == 3:
        halves: list[Tensor] = []
        for role, value in zip(("gate", "up"), us, strict=False):
            one = first(f"experts_{role}", WIDE, value)
            halves.append(block.moved(f"compact_{role}", "ReshapeView", one, 26 * tail, shape=[1, 1, experts, WIDE], cores=ALL_CORES))  # fmt: skip
        gate, up = halves
    else:
        both = first("experts_both", 2 * WIDE, us[0])
        both = block.moved("compact_both", "ReshapeView", both, 31.4 * tail, shape=[1, 1, experts, 2 * WIDE], cores=ALL_CORES)  # fmt: skip
        gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, at), (1, 1, experts, at + WIDE), 2.5) for role, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
    hidden = block.binary("gated", "MUL", block.unary("silu", "SILU", gate, 4 * tail, cores=96), up, 4, cores=96)
    hidden = block.moved("spread", "ReshapeView", hidden, 33.4 * tail, shape=[1, experts, 1, WIDE], cores=ALL_CORES)
    out = sparse(block, "experts_down", hidden, mask, HIDDEN, us[-1], experts=experts, dtype="BFLOAT4_B", fidelity=fidelity, k_block=blocks[1], fill=22 * tail, second=True)  # fmt: skip
    out = block.moved(
        "compact_down", "ReshapeView", out, 46.4 * tail, shape=[1, 1, experts, HIDDEN], cores=ALL_CORES
    )
    turned = block.turned("scores_turned", scores, 2, dims="WH", cores=4)
    scored = block.binary("scored", "MUL", out, turned, 4, cores=ALL_CORES)
    total = block.op("total", "Reduce", (scored,), block.tensor([1, 1, 1, HIDDEN]), 4, cores=64, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    return block.moved("total_shaped", "ReshapeView", total, 3.4, shape=[1, 1, 1, HIDDEN], cores=64)


def attended(block: Block, qkv: Tensor, *, heads: int, kv: int, parts: float = 1) -> Tensor:
    """From the heads to their join."""
    q, k, v = block.heads_of_decode("heads", qkv, 14.4 * parts, heads=heads, kv=kv, size=SIZE, users=1)
    q, k = (block.norm(f"norm_{name}", one, 4, cores=1) for name, one in (("q", q), ("k", k)))
    tables = [block.tensor([1, 1, 32, SIZE]) for _ in range(2)]
    q, k = (block.op(f"rotary_{name}", "RotaryEmbedding", (one, *tables), block.tensor(one.shape, place=one.placement or DRAM), 4.6, cores=1, fidelity="HiFi4", output_mem_config=one.placement, token_idx=0) for name, one in (("q", q), ("k", k)))  # fmt: skip
    cache = block.tensor([128, kv, 64, SIZE])
    block.update_cache("cache_k", cache, k, 5.1)
    block.update_cache("cache_v", cache, v, 5.1)
    out = block.attend_decode("attend", q, cache, 11.8 * (0.5 + 0.5 * parts), config=None, cores=64)
    placed = block.to_shards("attended_placed", out, block.along(32, SIZE, 1), 1)
    return block.moved("joined", "NLPConcatHeadsDecode", placed, 2, shape=[1, 1, 1, heads * SIZE], place=block.across(32, heads * SIZE, heads), cores=heads, num_heads=heads, on_subcoregrids=False)  # fmt: skip


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.85)

        def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
            if not how.banks:
                return block.linear(role, x, n, us, dtype=how.attention, fidelity="LoFi", fp32=True)
            k = x.shape[-1]
            placed = block.to_shards(f"{role}_placed", x, block.across(32, k, 8), 1)
            made = block.linear(role, placed, n, us, dtype=how.attention, fidelity="LoFi", config=banked(k // 256, n // 256), cores=80, place=block.across(32, n, 8), banks=True)  # fmt: skip
            return block.from_shards(f"{role}_back", made, 1)

        x = block.tensor([1, 1, 1, HIDDEN])
        qkv = linear("qkv", block.norm("norm", x, 20.1, cores=1), (HEADS + 2 * KV) * SIZE, how.projections[0])
        out = block.from_shards("joined_back", attended(block, qkv, heads=HEADS, kv=KV), 1)
        x = block.binary("attention_added", "ADD", x, linear("out", out, HIDDEN, how.projections[1]), 1.9, cores=64)
        normed = block.norm("norm_feed", x, 20.1, cores=1)
        scores, mask = router(block, normed, 24.5, reduced=how.reduced, cores=4)
        total = fed(block, normed, scores, mask, how.experts, how.blocks, how.fidelity)
        block.binary("feed_added", "ADD", x, total, 1.9, cores=64)
        return block

    return build


@dataclass(frozen=True)
class Four:
    """A layer of decode on four chips; times in us."""

    tuned: bool = True  # norms in shards, and the router fed from them
    links: int = 1
    scatters: tuple[float, float] = (18.87, 15.02)
    gathers: tuple[float, float] = (12.93, 11.29)


def mesh(how: Four) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=4, grid=GRID, gap_us=0.95)
        place = block.across(32, HIDDEN, 8)

        def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
            k = x.shape[-1]
            return block.linear(role, x, n, us, dtype="BFLOAT8_B", fidelity="LoFi", config=banked(k // 256, n // 256), cores=80, place=block.across(32, n, 8), banks=True)  # fmt: skip

        def normed(role: str, x: Tensor) -> Tensor:
            if not how.tuned:
                return block.norm(role, x, 20.1, cores=1)
            return block.norm(role, block.to_shards(f"{role}_placed", x, place, 1.74), 4.92, cores=8, config=norm_shards((8, 1), 8))  # fmt: skip

        def summed(name: str, x: Tensor, number: int) -> Tensor:
            part = block.collective(f"scatter_{name}", "ReduceScatterMinimalAsync", x, HIDDEN // 4, how.scatters[number], links=how.links, place=DRAM)  # fmt: skip
            whole = block.collective(
                f"gather_{name}", "AllGatherAsync", part, HIDDEN, how.gathers[number], links=how.links, place=DRAM
            )
            return block.moved(f"{name}_copied", "Clone", whole, 1.27, cores=64) if how.tuned else whole

        x = block.tensor([1, 1, 1, HIDDEN])
        first = normed("norm", x)
        if not how.tuned:
            first = block.to_shards("qkv_placed", first, place, 1)
        qkv = block.from_shards("qkv_back", linear("qkv", first, 1280, 7), 1, L1)
        joined = attended(block, qkv, heads=8, kv=1, parts=0.4)
        out = linear("out", block.reshard("joined_moved", joined, block.across(32, 1024, 8), 1), HIDDEN, 8.23)
        x = block.binary("attention_added", "ADD", x, summed("attention", block.from_shards("out_back", out, 1), 0), 1.9, cores=64)  # fmt: skip
        fed_from = normed("norm_feed", x)
        scores, mask = router(block, fed_from, 6.24 if how.tuned else 24.92, reduced=False, cores=4)
        flat = block.from_shards("feed_flat", fed_from, 0.88) if how.tuned else fed_from
        scores = block.slice("scores_own", scores, (0, 0, 0, 0), (1, 1, 1, 32), 1.5)
        mask = block.slice("mask_own", mask, (0, 0, 0, 0), (1, 1, 1, 32), 1.5)
        total = fed(block, flat, scores, mask, (54, 28.7), (16, 12), "LoFi", experts=32, tail=0.3)
        block.binary("feed_added", "ADD", x, summed("fed", total, 1), 1.9, cores=64)
        return block

    return build


DOWN, BOTH = "experts_down", "experts_both"
WIDER = r"in0_block_w"
ACROSS_ROWS = r"output_tile|1 ?x ?32|tiles? of (one|1) row|Tile\(\(1, 32\)\)"
RANK = r"reshape|rank|view"
KEEPDIM = (
    r"FillPad|fill_pad|fill_implicit|keepdim|reduction|ttnn\.(sum|max)\b|first column|column 0|matmul.{0,40}ones"
)
FEWER_LINKS = r"num_links ?= ?1\b|one link|fewer links|a single link"
LINE = r"Linear\b|as a line"
NARROW_CCL = r"(collective|reduce|gather|scatter|payload|CCL).{0,80}(bfloat8_b|\bBFP8\b)|(bfloat8_b|\bBFP8\b).{0,80}(collective|reduce|gather|scatter|payload|CCL)"  # fmt: skip
THRESHOLD = r"threshold|ttnn\.where|scatter"
MATMUL_SCATTER = r"matmul_reduce_scatter|fus.{0,60}(reduce.scatter|collective)|reduce.scatter.{0,60}fus"
SUBBLOCK = r"out_subblock_w|subblock"
ALONE, WALL = "alone", "of wall time of a layer"
CHUNK_MADE_UP = (
    "times of all ops between the matmuls, but for sums by kinds in the last state; per-core sizes; gaps"
)
MADE_UP = "times of small ops, by the shares of kinds in the last state; the order of moves; the fills' times; gaps"

FIRST = Chunk((6735, 6735, 3456), (1, 1))
WIDE_BLOCKS = Chunk((1476, 1476, 1483), (8, 4))
JOINED = Chunk((2697, 1489), (4, 4))
EIGHT = Chunk((2371, 1062), (4, 4), "BFLOAT8_B")
FOUR = Chunk((2367, 1058), (4, 4), "BFLOAT4_B")
FOUR_WIDE = Chunk((1259, 654), (16, 12), "BFLOAT4_B")
CHUNK_LAST = Chunk((1149, 654), (16, 12), "BFLOAT4_B", "LoFi")
HOST = "in host calls"

BEFORE_BANKS = How(banks=False, projections=(51.7, 66), reduced=True)
WIDE_ATTENTION = replace(BEFORE_BANKS, experts=(70.5, 32.3), fidelity="HiFi4", attention="BFLOAT16", projections=(57.1, 72.8))  # fmt: skip

CODER_30B = (
    laid(
        "coder30-chunk-first", LOG, "the experts at 32 tokens, BFLOAT16 at in0_block_w 1: 16.9 ms in their matmuls",
        chunk(FIRST),
        (
            gain("gate-up", "in0_block_w 8 for gate and up", 10_518, "experts_gate experts_up", BLOCK_W, f"6.735 -> 1.476 ms each, {ALONE}"),
            gain("down", "in0_block_w 4 for down", 1_973, DOWN, BLOCK_W, f"3.456 -> 1.483 ms, {ALONE}"),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "coder30-chunk-blocks", LOG, "the experts at 32 tokens, BFLOAT16 at in0_block_w 8 and 4: 4.4 ms in their matmuls",
        chunk(WIDE_BLOCKS),
        (
            gain("packed", "gate and up as one matmul on 48 cores", 253, "experts_gate experts_up", PACKED, f"2 x 1.476 -> 2.699 ms, {ALONE}"),
            dead("gate-up-block", "in0_block_w 16 for gate and up", "experts_gate experts_up", WIDER, f"1.476 -> 1.480 ms, {ALONE}"),
            dead("down-block", "in0_block_w 8 or 16 for down", DOWN, WIDER, f"1.483 -> 1.503 ms, {ALONE}; 16 is refused, as it does not divide 24"),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "coder30-chunk-packed", LOG, "the experts at 32 tokens, packed, BFLOAT16 at in0_block_w 4: 4.19 ms in their matmuls",
        chunk(JOINED),
        (
            gain("gate-up-bfp8", "BFLOAT8_B for gate and up", 326, BOTH, BFP8, f"2.697 -> 2.371 ms, {ALONE}"),
            gain("down-bfp8", "BFLOAT8_B for down", 427, DOWN, BFP8, f"1.489 -> 1.062 ms, {ALONE}"),
            dead("gate-up-block", "in0_block_w 8, 16, 32 or 64 for gate and up", BOTH, WIDER, f"2.697 -> 2.726, 2.932, 2.910 and 3.180 ms, {ALONE}"),
            dead("down-block", "in0_block_w 6, 8, 12 or 24 for down", DOWN, WIDER, f"1.489 -> 1.507, 1.507, 1.513 and 1.622 ms, {ALONE}"),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "coder30-chunk-bfp8", LOG, "the experts at 32 tokens, BFLOAT8_B at in0_block_w 4: 3.43 ms in their matmuls",
        chunk(EIGHT),
        (
            gain("gate-up-block", "in0_block_w 8 for gate and up", 702, BOTH, BLOCK_W, f"2.371 -> 1.669 ms, {ALONE}; 16 and 32 take 1.806 and 1.734"),
            gain("down-block", "in0_block_w 12 for down", 121, DOWN, BLOCK_W, f"1.062 -> 0.941 ms, {ALONE}"),
            dead("gate-up-bfp4", "BFLOAT4_B for gate and up at that block", BOTH, BFP4, f"2.371 -> 2.367 ms, {ALONE}: a tie"),
            dead("down-bfp4", "BFLOAT4_B for down at that block", DOWN, BFP4, f"1.062 -> 1.058 ms, {ALONE}: a tie"),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "coder30-chunk-bfp4", LOG, "the experts at 32 tokens, BFLOAT4_B at in0_block_w 4: 3.43 ms in their matmuls",
        chunk(FOUR),
        (
            gain("gate-up-block", "in0_block_w 16 for gate and up", 1_108, BOTH, BLOCK_W, f"2.367 -> 1.259 ms, {ALONE}; 32 takes 1.158"),
            gain("down-block", "in0_block_w 12 for down", 404, DOWN, BLOCK_W, f"1.058 -> 0.654 ms, {ALONE}"),
            dead("lofi", "LoFi for gate and up at that block", BOTH, LOFI, f"2.367 -> 2.366 ms, {ALONE}: a tie"),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "coder30-chunk-bfp4-blocks", LOG, "the experts at 32 tokens, BFLOAT4_B at in0_block_w 16 and 12: 1.91 ms in their matmuls",
        chunk(FOUR_WIDE),
        (
            gain("lofi", "LoFi for gate and up", 110, BOTH, LOFI, f"1.259 -> 1.149 ms, {ALONE}; a prefill of 512 tokens 72.46 -> 69.13 us each"),
            gain("block", "in0_block_w 32 for gate and up", 101, BOTH, BLOCK_W, f"1.259 -> 1.158 ms, {ALONE}"),
            dead("down-block", "in0_block_w 24 for down", DOWN, WIDER, f"0.654 -> 0.733 ms, {ALONE}"),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "coder30-chunk-last", LOG, "the experts at 32 tokens as chosen: BFLOAT4_B at LoFi, 1.80 ms in their matmuls",
        chunk(CHUNK_LAST),
        (
            dead("block", "in0_block_w 32 or 64 for gate and up", BOTH, WIDER, f"1.149 -> 1.153 and 1.204 ms, {ALONE}"),
            dead("each", "each token's own eight experts instead of all for 32 tokens", f"{BOTH} {DOWN}", r"per.token|each token|sparsity|only the (chosen|active)|nnz", "6.70 -> 14.35 ms: a row of one token is padded to 32", README),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "coder30-decode-blocks", LOG, "decode, BFLOAT4_B experts at in0_block_w 4, all else as at the end",
        decode(How(experts=(139, 57), blocks=(4, 4), reduced=False)),
        (
            gain("gate-up-block", "in0_block_w 16 for gate and up", 77, BOTH, BLOCK_W, f"0.191 -> 0.114 ms {HOST}; 8 takes 0.133, 32 takes 0.114"),
            gain("down-block", "in0_block_w 12 for down", 27, DOWN, BLOCK_W, f"0.113 -> 0.086 ms {HOST}; 8 and 24 take 0.090 and 0.088"),
        ),
        f"the two matmuls' kernel times, from those of the last state and the difference of host calls; {MADE_UP}",
    ),
    laid(
        "coder30-decode-apart", LOG, "decode, gate and up as two matmuls, BFLOAT4_B experts at HiFi4: 735 us of wall time",
        decode(replace(WIDE_ATTENTION, experts=(53, 53, 32.3))),
        (gain("packed", "gate and up as one matmul on 48 cores", 62, "experts_gate* experts_up* compact_gate compact_up", PACKED, f"735 -> 673 us {WALL}"),),
        MADE_UP,
    ),
    laid(
        "coder30-decode-hifi4", LOG, "decode, packed, BFLOAT4_B experts at HiFi4, BFLOAT16 attention: 674.6 us of wall time",
        decode(WIDE_ATTENTION),
        (
            gain("lofi", "LoFi for the experts", 10.8, f"{BOTH} {DOWN}", LOFI, f"674.6 -> 663.8 us {WALL}"),
            gain("attention-bfp8", "BFLOAT8_B for attention's weights", 12.1, "qkv out", BFP8, f"672.6 -> 660.5 us {WALL}"),
            dead("block", "in0_block_w 8 or 64 for gate and up", BOTH, r"in0_block_w", f"674.6 -> 690.8 and 682.9 us {WALL}; 32 gives 672.8, a tie"),
            dead("rank", "no reshapes between the experts' ops", "compact_* spread", RANK, f"673 -> 713 us {WALL}"),
            dead("row", "tiles of one row for the experts' outputs", f"{BOTH} {DOWN}", ACROSS_ROWS, f"673.3 -> 628.9 us {WALL}, but no op after them reads such a tile", README),
        ),
        MADE_UP,
    ),
    laid(
        "coder30-decode-attention", LOG, "decode, BFLOAT4_B experts at HiFi4, BFLOAT8_B attention, interleaved: 660.5 us of wall time",
        decode(replace(WIDE_ATTENTION, attention="BFLOAT8_B", projections=(51.7, 66))),
        (
            dead("attention-bfp4", "BFLOAT4_B for attention's weights", "qkv out", BFP4, f"660.5 -> 659.5 us {WALL}, and wrong by the model's bar (0.9928)"),
            dead("fidelity", "HiFi2 or HiFi4 for attention's matmuls", "qkv out", rf"{HIFI2}|HiFi4", f"658.7 -> 660.0 and 659.5 us {WALL}: a tie"),
        ),
        f"times of attention's matmuls in BFLOAT8_B; {MADE_UP}",
    ),
    laid(
        "coder30-decode-interleaved", LOG, "decode, experts at LoFi, BFLOAT8_B attention, interleaved: 650.8 us of wall time",
        decode(BEFORE_BANKS),
        (
            gain("banks", "DRAM-sharded matmuls for QKV and the output projection", 64.5, "qkv out", DRAM_SHARDED, f"650.8 -> 586.3 us {WALL}; 57.06 -> 27.33 and 72.80 -> 21.91 us in kernels, from BFLOAT16"),
            dead("experts-l1", "what the experts read in L1", f"{BOTH} {DOWN}", IN_L1, f"651.9 -> 651.3 us {WALL}: a tie"),
            dead("attention-l1", "what QKV and the output projection read in L1", "qkv out", IN_L1, f"651.9 -> 652.9 us {WALL}"),
            dead("subblock", "a subblock of two or four columns for the experts", f"{BOTH} {DOWN}", SUBBLOCK, f"651.9 -> 651.3 and 650.9 us {WALL}: a tie"),
        ),
        f"times of attention's matmuls in BFLOAT8_B; {MADE_UP}",
    ),
    laid(
        "coder30-decode-banks", LOG, "decode, attention over the banks: 534.8 us in kernels, 586.3 us of wall time",
        decode(How()),
        (
            gain("router", "the softmax of eight without its two reductions that fill their padding", 23.9, "max_filled max sum_filled sum less_max exponent divided", KEEPDIM, f"586.6 -> 561.5 us {WALL}; 111.7 -> 87.8 us of the router's ops in kernels"),
            dead("banks-cores", "16, 32 or 64 shards for attention's matmuls", "qkv out", r"in0_block_w|per_core_N|(more|\d+) (cores|shards)", f"46.8 -> 50.3 and 59.1 us, 41.7 -> 45.8, 55.2 and 84.5 us {HOST}"),
            dead("scale", "the scores multiplied in before the down projection", "scored scores_turned experts_down", r"(scor|rout|weight|scal).{0,60}(before|into|ahead|earlier|fold)|fold", f"586.2 -> 585.2 us {WALL}: a tie", README),
            dead("reduce", "fast_reduce_nc of the padded experts", "compact_down scored total", r"fast_reduce_nc", f"586.2 -> 631.6 us {WALL}", README),
        ),
        MADE_UP, 534.8,
    ),
    laid(
        "coder30-decode-last", README, "decode as chosen: 59 ops, 512.7 us in kernels, 563.4 us of wall time",
        decode(How(reduced=False)),
        (
            dead("sum-rows", "the sum of the scores over rows that are not tiled", "sum_ones", r"row.?major|ttnn\.sum|untilize", "109.75 -> 114.79 us of the router's trace"),
            dead("sum-early", "the sum of the scores before they are scattered", "sum_ones scatter", r"before|earlier|scatter", f"561.5 -> 565.0 us {WALL}"),
            dead("softmax", "softmax as one op of the eight", "less_max exponent sum_ones divided", r"softmax", "131.9 -> 98.3 us of the router's trace, and wrong: it counts the tile's padding"),
        ),
        MADE_UP, 512.7,
    ),
)  # fmt: skip
CODER_30B_MESH = (
    laid(
        "coder30-tp4-first", MESH_README, "decode on four chips as it was: 64 ops, 414.7 us in kernels, 476.7 us of wall time",
        mesh(Four(tuned=False, links=2, scatters=(20.41, 16.32), gathers=(15.9, 14.1))),
        (
            gain("norms", "the residual's two norms in shards on eight cores", 26.9, "norm norm_feed", rf"{SHARDED}|{CORES}", "20.081 and 20.127 -> 6.663 us each with the move, in kernels"),
            gain("router", "the router fed from the norm's shards in L1", 18.7, "router", rf"{IN_L1}|{SHARDED}", "24.916 -> 6.241 us in kernels"),
            dead("line", "a line instead of a ring", "scatter_* gather_*", LINE, f"476.6 -> 483.6 us {WALL}", MESH_LOG),
            dead("payload", "collectives in BFLOAT8_B", "scatter_* gather_*", NARROW_CCL, f"476.6 -> 485.4 us {WALL}", MESH_LOG),
            dead("partials", "all partial sums gathered and added, instead of a reduce-scatter", "scatter_* gather_*", r"all_gather.{0,80}(sum|add|reduc)|(instead of|no|without|replace).{0,40}reduce.?scatter", f"476.0 -> 480.1 us {WALL}", MESH_LOG),
        ),
        f"times of ops within the sums of blocks (attention, the router's, the experts' tail); {MADE_UP}", 414.7,
    ),
    laid(
        "coder30-tp4-links", MESH_README, "decode on four chips, norms in shards, two links: 434.0 us of wall time",
        mesh(Four(links=2, scatters=(20.4, 16.3), gathers=(14.1, 12.5))),
        (
            gain("link", "one link for the collectives of decode", 5.25, "scatter_* gather_*", FEWER_LINKS, f"434.00 -> 428.75 us {WALL}"),
            dead("scatter-l1", "the first reduce-scatter fed from L1", "scatter_attention out_back", IN_L1, f"434.7 -> 440.1 us {WALL}"),
            dead("logits-l1", "the router's logits in L1 before the choice of the best", "router router_cast topk_filled topk", IN_L1, f"434.7 -> 438.2 us {WALL}"),
        ),
        f"how the links' cost is shared out among the collectives; {MADE_UP}",
    ),
    laid(
        "coder30-tp4-last", MESH_README, "decode on four chips as chosen: 68 ops, 362.8 us in kernels, 428.6 us of wall time",
        mesh(Four()),
        (
            dead("threshold", "the scores by a threshold, no scatter between layouts", "index_rows scores_rows zeros_rows scatter scores", THRESHOLD, f"428.2 -> 435.5 us {WALL}"),
            dead("rotary", "the other rotary op, of a shard in L1", "rotary_*", r"rotary_embedding_llama", "3.84 -> 1.26 us, alone, and wrong: the cache holds keys in the order of the first", MESH_README),
            dead("fused", "the output projection and its reduce-scatter as one op", "out scatter_attention", MATMUL_SCATTER, f"29.55 -> 30.85 us, {ALONE}", MESH_LOG),
            dead("router-banks", "a DRAM-sharded router", "router", DRAM_SHARDED, f"5.85 -> 7.34 us, {ALONE}, and 0.45 for the move", MESH_LOG),
            dead("sorted", "the best eight not sorted", "topk", r"sorted ?= ?False|unsorted|not sort", f"33.81 -> 33.78 us, {ALONE}: a tie", MESH_LOG),
            dead("norm-cores", "the norms on 16 or four cores", "norm norm_placed norm_feed norm_feed_placed", rf"{CORES}|block_w", f"4.26 -> 4.14 us but 0.47 more for the move; 7.36 us on four, {ALONE}", MESH_LOG),
        ),
        f"times of ops within the sums of blocks (attention, the router's, the experts' tail); {MADE_UP}", 362.8,
    ),
)  # fmt: skip
