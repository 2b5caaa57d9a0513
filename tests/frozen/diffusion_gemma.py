"""DiffusionGemma 26B over four Blackhole chips (P150): a step that denoises 256 tokens at once.

Hidden 2816, 30 layers, 128 experts of 704 with eight of them active and a shared feed-forward of 2112, 262,144 words. A
chip has four heads of 256 with two of keys and values, and 192 columns of each expert (176, padded). BFLOAT16.
Experts first get their tokens by a matmul with a mask of ones (32 rows an expert, later 256), go through batched
matmuls, and come back by another such matmul. Norms of 256 rows run in eight pieces of 32.
The ledger tells wall times of parts with a wait at their end, and of blocks of 48 or 12 steps replayed from traces. A
figure of a block is shared out over its steps and layers. Two of the figures hold for experts as they were later
(256 rows, 4,352 keys), and there two totals of a layer follow from what was left after the change and the saving.
Left out: the greatest word's place in tiles (1,240 ms an op: more than a pass here may take), and what was done to the
host and to the commit of a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import L1, Block, chunks, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, BLOCK_W, BLOCKS, CORES, IN_L1, PACKED, SDPA_GRID

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "models/experimental/diffusion_gemma/doc"
REFUTED = f"{TT_METAL}/29c5db88f78370a9cbf707dab2ade1789363b5f4/{HOME}/REFUTED.md"
GEOMETRY = f"{TT_METAL}/29c5db88f78370a9cbf707dab2ade1789363b5f4/{HOME}/optimize_perf/opt004_matmul_geometry.md"
OTHERS = f"{TT_METAL}/29c5db88f78370a9cbf707dab2ade1789363b5f4/{HOME}/optimize_perf/winter_borrow_20260727.md"
FOLDER = f"{TT_METAL}/12735af7a5e3251f6b0f09afe057ae79b4a4adda/{HOME}/optimize_perf"
RESIDENCY, PROGRESS, WORK = f"{FOLDER}/l1_residency.md", f"{FOLDER}/perf_progress.md", f"{FOLDER}/work_log.md"
EMBEDDINGS, LOGITS = f"{FOLDER}/selfcond_prechunk.md", f"{FOLDER}/selfcond_logits_l1.md"
SPLIT = f"{FOLDER}/selfcond_logits_split_rejection.md"
ROOFLINE = f"{TT_METAL}/14e6ec8b360f56a6c3678d76d73428681e714a35/{HOME}/optimize_perf/nonmoe_roofline/README.md"
QUERIES = f"{TT_METAL}/d751dad77bee8088b1d0ae81d095faa637006239/{HOME}/optimize_perf/qchunk_sweep_20260724.md"
CHIPS, GRID, ALL_CORES = 4, (11, 10), 110
TOKENS, HIDDEN, HEADS, KV, SIZE = 256, 2816, 4, 2, 256
COUNT, ACTIVE, WIDE, SHARED, WORDS, CUT = 128, 8, 192, 528, 262_144, 8192
LAYERS, STEPS = 30, 48


def reuse(block: int, columns: int, subblock: int) -> str:
    """An expert on a core."""
    return (
        f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=11,y=10),in0_block_w={block},"
        f"out_subblock_h=1,out_subblock_w={subblock},per_core_M=1,per_core_N={columns})"
    )


@dataclass(frozen=True)
class Experts:
    """The experts of a layer; times in us."""

    rows: int = 32  # of an expert
    gather: float = 101
    gate: float = 593
    glue: float = 270
    down: float = 320
    combine: float = 92
    dispatch: float = 239
    tuned: bool = True


UNTUNED = Experts(gate=4_176, glue=218, down=320, dispatch=307, tuned=False)
TUNED = Experts()
ALL_ROWS = Experts(rows=TOKENS, gather=1_100, gate=1_550, glue=547, down=1_700, combine=1_300, dispatch=700, tuned=False)  # fmt: skip


def summed(block: Block, role: str, x: Tensor) -> Tensor:
    """What `ttnn.all_reduce` makes of it: 0.67 ms."""
    part = block.collective(f"{role}_scatter", "ReduceScatterMinimalAsync", x, HIDDEN // CHIPS, 360, ring=CHIPS, links=1, cores=8, topology="Linear")  # fmt: skip
    return block.collective(f"{role}_gather", "AllGatherAsync", part, HIDDEN, 310, ring=CHIPS, links=1, cores=8, topology="Linear")  # fmt: skip


def pieces(block: Block, role: str, x: Tensor) -> Tensor:
    """A norm of eight pieces of 32 rows, each in width shards of eight cores."""
    parts: list[Tensor] = []
    for n in range(TOKENS // 32):
        part = block.slice(f"{role}_slice_{n}", x, (0, 0, 32 * n, 0), (1, 1, 32 * (n + 1), HIDDEN), 8.7)
        part = block.to_shards(f"{role}_placed_{n}", part, block.across(32, HIDDEN, 8), 2.3)
        part = block.norm(f"{role}_norm_{n}", part, 15, cores=8, config=norm_shards((8, 1), 11))
        parts.append(block.from_shards(f"{role}_back_{n}", part, 2.3))
    return block.concat(f"{role}_concat", parts, x.shape, 2, 35)


def dispatched(block: Block, routing: Tensor, how: Experts) -> tuple[Tensor, Tensor]:
    """Masks of ones and of scores, tokens by places."""
    each, places = how.dispatch / 20, COUNT * how.rows
    few, wide = [1, 1, TOKENS, ACTIVE], [1, 1, TOKENS, places]
    best = (block.tensor(few), block.tensor(few, "UINT16"))
    scores = block.op("dispatch_best", "TopK", (routing,), best, 3 * each, cores=8, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    index = block.typecast("dispatch_index", best[1], "UINT32", each, cores=8)
    ones, zeros = block.tensor(few), block.tensor(routing.shape)
    mask = block.op(
        "dispatch_mask", "Scatter", (zeros, index, ones), block.tensor(routing.shape), each, cores=8, dim=3
    )
    turned = block.permute("dispatch_turn", mask, (2, 1, 0, 3), 2 * each)
    counted = block.op("dispatch_count", "Accumulation", (turned,), block.tensor(turned.shape, "FLOAT32"), 2 * each, cores=4, fidelity="HiFi4", dim=0, dtype="DataType::FLOAT32", flip=False, op="AccumulationOp::CUMSUM")  # fmt: skip
    counted = block.permute("dispatch_back", counted, (2, 1, 0, 3), 2 * each)
    before = block.binary("dispatch_before", "SUB", counted, block.typecast("dispatch_fp32", mask, "FLOAT32", each), each)  # fmt: skip
    place = block.op("dispatch_place", "Gather", (before, index), block.tensor(few, "FLOAT32"), each, cores=8, dim=3, sparse_grad=False)  # fmt: skip
    column = block.binary("dispatch_column", "ADD", place, block.tensor(few, "FLOAT32"), each)
    column = block.typecast("dispatch_to", column, "UINT32", each)
    empty = block.tensor([1, 1, TOKENS, places + 32])
    sent = block.op(
        "dispatch_sent", "Scatter", (empty, column, ones), block.tensor(empty.shape), each, cores=8, dim=3
    )
    kept = block.op("dispatch_kept", "Scatter", (empty, column, scores), block.tensor(empty.shape), each, cores=8, dim=3)  # fmt: skip
    sent = block.slice("dispatch_sent_cut", sent, (0, 0, 0, 0), wide, each)
    return sent, block.slice("dispatch_kept_cut", kept, (0, 0, 0, 0), wide, each)


def chosen(block: Block, x: Tensor, routing: Tensor, how: Experts) -> Tensor:
    sent, kept = dispatched(block, routing, how)
    places = COUNT * how.rows
    two_d = (
        "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=11,y=10),in0_block_w={},"
        "out_subblock_h=1,out_subblock_w=8,out_block_h={},out_block_w=8,per_core_M={},per_core_N=8,transpose_mcast=0,"
        "fused_activation=std::nullopt,fuse_batch=0)"
    )
    made = block.op("gather", "Matmul", (sent, x), block.tensor([1, 1, places, HIDDEN]), how.gather, cores=ALL_CORES, fidelity="HiFi2", bcast_batch=True, compute_kernel_config=block.kernel("HiFi2"), output_dtype="DataType::BFLOAT16", output_mem_config=x.placement, program_config=two_d.format(8, 13, 13) if how.tuned else None, transpose_a=True, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip
    made = block.view(made, [1, COUNT, how.rows, HIDDEN])
    config = reuse(22, WIDE // 32, 6) if how.tuned else None
    gate, up = (block.product(role, made, block.tensor([1, COUNT, HIDDEN, WIDE]), how.gate, cores=ALL_CORES, fidelity="HiFi2", fp32=False, config=config) for role in ("gate", "up"))  # fmt: skip
    hidden = block.binary("gated", "MUL", block.unary("gelu", "GELU", gate, 0.5 * how.glue), up, 0.5 * how.glue)
    config = reuse(2, HIDDEN // 32, 8) if how.tuned else None
    made = block.product("down", hidden, block.tensor([1, COUNT, WIDE, HIDDEN]), how.down, cores=ALL_CORES, fidelity="HiFi2", fp32=False, config=config)  # fmt: skip
    made = block.view(made, [1, 1, places, HIDDEN])
    made = block.product("combine", kept, made, how.combine, cores=88, fidelity="HiFi2", fp32=False, config=two_d.format(16, 1, 1) if how.tuned else None)  # fmt: skip
    return summed(block, "experts", made)


def experts() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID)
    chosen(block, block.tensor([1, 1, TOKENS, HIDDEN]), block.tensor([1, 1, TOKENS, COUNT]), UNTUNED)
    return block


def turned(block: Block, role: str, x: Tensor) -> Tensor:
    """Rotary positions of halves."""
    shape, half = x.shape, [*x.shape[:-1], SIZE // 2]
    ends = [half, shape]
    first, second = (block.slice(f"{role}_half_{n}", x, (0, 0, 0, n * SIZE // 2), ends[n], 9) for n in (0, 1))
    second = block.binary(f"{role}_negated", "MUL", second, block.tensor(half), 8)
    other = block.concat(f"{role}_halves", [second, first], shape, 3, 12)
    straight = block.binary(f"{role}_cosines", "MUL", x, block.tensor(shape), 10)
    return block.binary(f"{role}_sum", "ADD", straight, block.binary(f"{role}_sines", "MUL", other, block.tensor(shape), 10), 10)  # fmt: skip


def attention(block: Block, x: Tensor, keys: int, us: float) -> Tensor:
    qkv = block.linear("qkv", x, (HEADS + 2 * KV) * SIZE, 91, cores=ALL_CORES)
    q, k, v = block.split_heads("heads", qkv, 20, heads=HEADS, kv=KV, size=SIZE, rows=TOKENS)
    q, k, v = (block.norm(f"{name}_norm", one, 35, cores=64) for name, one in (("q", q), ("k", k), ("v", v)))
    q, k = turned(block, "q_rope", q), turned(block, "k_rope", k)
    shape, part = [1, KV, keys, SIZE], 12 * keys / 512
    k, v = (block.concat(f"{name}_prefix", [block.tensor([1, KV, keys - TOKENS, SIZE]), one], shape, 2, part) for name, one in (("k", k), ("v", v)))  # fmt: skip
    y = block.attend("attend", q, k, v, us, config=chunks(32, 128, (8, 1)), cores=8, causal=False, fidelity="HiFi4")
    y = block.linear("out", block.join_heads("joined", y, 15), HIDDEN, 44, cores=ALL_CORES)
    return summed(block, "attention", y)


def routed(block: Block, x: Tensor) -> Tensor:
    scores = block.softmax("router_scores", block.linear("router", x, COUNT, 20, fidelity="HiFi4", cores=32), 15)
    few = [1, 1, TOKENS, ACTIVE]
    best = (block.tensor(few), block.tensor(few, "UINT16"))
    values = block.op("router_best", "TopK", (scores,), best, 40, cores=8, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    return block.op("router_spread", "Scatter", (block.tensor(scores.shape), best[1], values), block.tensor(scores.shape), 20, cores=8, dim=3)  # fmt: skip


def layer(how: Experts, keys: int, us: float) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID)
        x = block.tensor([1, 1, TOKENS, HIDDEN])
        y = pieces(block, "after", attention(block, pieces(block, "in", x), keys, us))
        x = block.binary("attended_sum", "ADD", x, y, 12, cores=ALL_CORES)
        y = pieces(block, "feed", x)
        gate, up = (block.linear(f"shared_{role}", y, SHARED, 60, cores=ALL_CORES) for role in ("gate", "up"))
        y = block.binary("shared_gated", "MUL", block.unary("shared_gelu", "GELU", gate, 12), up, 12)
        shared = block.linear("shared_down", y, HIDDEN, 50, cores=ALL_CORES)
        routing = routed(block, pieces(block, "router", x))
        made = pieces(block, "experts", chosen(block, pieces(block, "choose", x), routing, how))
        y = block.binary("both_sum", "ADD", shared, made, 12, cores=ALL_CORES)
        block.binary("layer_sum", "ADD", x, y, 12, cores=ALL_CORES)
        return block

    return build


def decision(*, twice: bool) -> Callable[[], Block]:
    """Words of the greatest score, the entropy of each token, and which of them to keep."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID)
        scores = block.tensor([1, 1, TOKENS, WORDS])
        one = [1, 1, TOKENS, 32]

        def reduced(role: str, kind: str, x: Tensor, us: float) -> Tensor:
            return block.op(role, "Reduce", (x,), block.tensor(one), us, cores=8, fidelity="HiFi4", dim="ReduceOpDim::W", math_op=f"ReduceOpMath::{kind}")  # fmt: skip

        def greatest(role: str, x: Tensor) -> Tensor:
            rows = block.moved(f"{role}_rows", "Untilize", x, 730, layout="ROW_MAJOR", cores=ALL_CORES)
            return block.op(role, "ArgMax", (rows,), block.tensor([1, 1, 1, TOKENS], "UINT32", layout="ROW_MAJOR"), 13_560, cores=ALL_CORES, dim=3, keepdim=False, output_dtype="DataType::UINT32", output_mem_config=x.placement, sub_core_grids=None, use_multicore=True)  # fmt: skip

        def scaled(role: str) -> Tensor:
            return block.unary(role, "MUL_UNARY_SFPU", scores, 830, cores=ALL_CORES, parameter="1.25")

        if twice:
            greatest("sampled", scaled("sampled_scaled"))
        greatest("clean", scores)
        z = scaled("entropy_scaled")
        shifted = block.binary("entropy_shifted", "SUB", z, reduced("entropy_max", "MAX", z, 3_460), 870)
        exponents = block.unary("entropy_exp", "EXP", shifted, 860, cores=ALL_CORES)
        total = reduced("entropy_total", "SUM", exponents, 3_280)
        terms = block.binary("entropy_terms", "MUL", exponents, shifted, 880)
        mean = block.binary("entropy_mean", "DIV", reduced("entropy_weighted", "SUM", terms, 3_280), total, 15)
        entropy = block.binary("entropy", "SUB", block.unary("entropy_log", "LOG", total, 15), mean, 20)
        row = block.view(entropy, [1, TOKENS])
        ordered = (block.tensor(row.shape), block.tensor(row.shape, "UINT16"))
        best = block.op("accept_sort", "Sort", (row,), ordered, 114, cores=1, fidelity="HiFi4", descending=False, dim=1, stable=False)  # fmt: skip
        counted = block.op("accept_count", "Accumulation", (best,), block.tensor(row.shape), 80, cores=1, fidelity="HiFi4", dim=1, dtype="DataType::BFLOAT16", flip=False, op="AccumulationOp::CUMSUM")  # fmt: skip
        budget = block.op("accept_budget", "Full", (), block.tensor(row.shape), 47, cores=1, fill_value=0.1)
        below = block.binary("accept_below", "LE", counted, budget, 52)
        zeros = block.op("accept_zeros", "Full", (), block.tensor(row.shape), 48, cores=1, fill_value=0)
        block.op("accept", "Scatter", (zeros, ordered[1], below), block.tensor(row.shape), 75, cores=1, dim=1)
        return block

    return build


@dataclass(frozen=True)
class Signal:
    """The words' embeddings weighted by the last step's scores; a slice of embeddings comes in `cut` us."""

    cut: float = 239
    small: float = 210
    l1: bool = False


def signal(how: Signal) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID)
        scores, table = block.tensor([1, 1, TOKENS, WORDS]), block.tensor([1, 1, WORDS, HIDDEN])
        most = block.op("max", "Reduce", (scores,), block.tensor([1, 1, TOKENS, 32]), 3_460, cores=8, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::MAX")  # fmt: skip
        place = L1 if how.l1 else None
        part = how.small / 210
        sums: list[Tensor] = []
        above: Tensor | None = None
        for n in range(WORDS // CUT):
            start, end = n * CUT, (n + 1) * CUT
            x = block.slice(f"slice_{n}", scores, (0, 0, 0, start), (1, 1, TOKENS, end), 45 * part, place)
            x = block.binary(f"shifted_{n}", "SUB", x, most, 30 * part, cores=ALL_CORES)
            x = block.unary(f"exp_{n}", "EXP", x, 30 * part, cores=ALL_CORES)
            sums.append(block.op(f"sum_{n}", "Reduce", (x,), block.tensor([1, 1, TOKENS, 32], place=x.placement or L1), 105 * part, cores=8, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM"))  # fmt: skip
            words = block.tensor([1, 1, CUT, HIDDEN])
            if how.cut:
                words = block.slice(f"embeddings_{n}", table, (0, 0, start, 0), (1, 1, end, HIDDEN), how.cut)
            y = block.linear(f"weighted_{n}", x, HIDDEN, 225, cores=ALL_CORES, weight=words)
            above = y if above is None else block.binary(f"numerator_{n}", "ADD", above, y, 15, cores=ALL_CORES)
            if n:
                sums.append(block.binary(f"denominator_{n}", "ADD", sums.pop(-2), sums.pop(-1), 10))
        if above:
            block.binary("signal", "DIV", above, sums[-1], 20, cores=ALL_CORES)
        return block

    return build


NORMS = "after_* in_slice_* in_placed_* in_norm_* in_back_* in_concat feed_* router_slice_* router_placed_* router_norm_* router_back_* router_concat experts_slice_* experts_placed_* experts_norm_* experts_back_* experts_concat choose_*"  # fmt: skip
SLICES = "after_slice_* in_slice_* feed_slice_* router_slice_* experts_slice_* choose_slice_*"
REDUCED = "attention_scatter attention_gather experts_scatter experts_gather"
ONCE = r"\bonce\b|\btwice\b|duplicat|repeat|same (input|tensor|op|shape)|again"
WHOLE_NORM = r"block_h|(one|single|whole|full).{0,60}norm|norm.{0,80}(one|single|whole|full|all 256)|(slice|concat|chunk|piece)\w*.{0,100}norm|norm.{0,100}(slice|concat|chunk|piece)"  # fmt: skip
AHEAD = r"\bonce\b|ahead|before(hand)?\b|prepar|persist|constant|preallocat|outside|hoist|init"
BLOCK_US = 1e6 / STEPS / LAYERS  # of a layer, for a second of a block
MADE_UP = (
    "how a part's time splits over its small ops, places of results between them, attention's chunk of keys; gaps"
)

DIFFUSION_GEMMA = (
    laid(
        "diffusion-gemma-experts", PROGRESS, "the experts of a layer, 32 rows each, configs left to TTNN: 10.06 ms of wall time",
        experts,
        (
            gain("configs", "program configs for the experts' matmuls and those that send and bring tokens: an expert on a core", 7_160, "gate up down gather combine", rf"{BLOCKS}|{CORES}|MatmulMultiCoreReuse", "10.06 -> 2.90 ms; gate alone 4.176 -> 0.593 ms", GEOMETRY),
            dead("bfp8", "BFLOAT8_B for the experts' weights", "gate up down", BFP8, "6 to 9 % less of a replayed step, but 22.7 % of the words agree, for 95 asked", REFUTED, faster=True),
        ),
        f"what gathers, combines and sums took before the configs (told after them, or of the op alone); {MADE_UP}",
    ),
    laid(
        "diffusion-gemma-layer", RESIDENCY, "a layer with the configs, norms in pieces: 14.3 s for a block of 48 steps of 30 layers",
        layer(TUNED, 512, 55),
        (
            gain("norms", "one width-sharded norm of all 256 rows, for eight pieces of 32", 1_367, NORMS, WHOLE_NORM, "41 ms of a step of 30 layers: 14.34 -> 12.38 s a block; a norm alone 1.31 -> 0.15 ms. First kept back as words changed, later the only way"),
            dead("results", "the results of the matmul that sends tokens and of down in L1", "gather down", IN_L1, "0.6 % fewer words a second at 48 steps, 0.4 % more at 12, though 2.878 -> 2.786 ms alone"),
            dead("gate-up", "the results of gate and up in L1", "gate up", IN_L1, "the experts' matmuls did not move: 1.776 -> 1.76 ms"),
            dead("packed", "gate and up in one matmul", "gate up", PACKED, "0.62 ms for twice 0.31", GEOMETRY),
            dead("block", "other in0_block_w for gate and up: 11, 22, 44 and each other divisor", "gate up", BLOCK_W, "0.570 to 0.591 ms, the smaller ones a little faster", REFUTED),
            dead("links", "two links or a ring for the sums over the chips", REDUCED, r"num_links|more links|\blinks\b|topology|\bring\b", "0.67 ms with each", ROOFLINE),
            dead("apart", "a reduce-scatter and an all-gather of their own, for the sum over the chips", REDUCED, r"reduce.?scatter.{0,80}all.?gather|all.?reduce", "0.67 ms with either", ROOFLINE),
            dead("chunks", "query chunks of 64 or 128 for attention, for 32", "attend", r"q_chunk|chunk", "0.3 % more and 0.8 % less of a block, where runs differ by 30 %", QUERIES),
            dead("split", "one `ttnn.split` for the eight slices of a norm", SLICES, r"ttnn\.split|\bsplit\b", "5.434 -> 5.579 s for a block of 12 steps, though a norm alone took 1.430 -> 1.321 ms", REFUTED),
        ),
        f"how many norms a layer has (five of hidden and the router's are told), their parts' times from six layers' sums, the shared feed-forward; {MADE_UP}",
    ),
    laid(
        "diffusion-gemma-wide", OTHERS, "a layer with 256 rows an expert and 4,352 keys: 34.4 s for a block of 48 steps of 30 layers",
        layer(ALL_ROWS, 4_352, 2_430),
        (
            gain("attention-grid", "all cores for attention, for eight", round(2.783 * BLOCK_US), "attend", SDPA_GRID, "34.369 -> 31.586 s a block, over 48 steps and 30 layers; the same words"),
            gain("fold", "all experts in one wide matmul each way, scores multiplied in between, for sending tokens to batched matmuls", 6_600, "dispatch_* gather gate up gelu gated down combine", rf"{PACKED}|(all|every) experts?.{{0,60}}(one|single)|one.{{0,30}}(wide|large|dense).{{0,20}}matmul|batched", "31.737 -> 22.234 s a block: 661 -> 463 ms a step of 30 layers"),
            dead("configs", "program configs for the experts' matmuls at 256 rows", "gate up down gather combine", rf"{BLOCKS}|MatmulMultiCoreReuse", "34.642 -> 34.369 s a block, 0.8 %, where runs differ by 1.5"),
            dead("exp", "the fast exponential in attention", "attend", r"exp_approx_mode|approximat", "6.8 % more of a block, and other words", REFUTED),
            dead("rotary", "the fused op for rotary positions", "q_rope_* k_rope_*", r"rotary_embedding|fused.{0,30}rotary|rotary.{0,30}(op|fused)", "0.2 % less of a block, within the spread, and other words", REFUTED),
            dead("prefix", "the tokens' keys and values filled in behind the prefix, for the concats", "k_prefix v_prefix", r"fill_cache|in.?place|(avoid|drop|without|remove).{0,40}concat|concat.{0,80}(avoid|drop|prealloc|remove)|behind", "1.2 to 1.6 % more of a block", REFUTED),
        ),
        f"the experts' 9.1 ms (2.5 ms were left after 6.6 saved) and attention's 2.43 (0.99 ms of all of attention were left); {MADE_UP}",
    ),
    laid(
        "diffusion-gemma-decision", WORK, "what follows the scores of all words, the greatest sought in rows: 43.06 ms of wall time",
        decision(twice=True),
        (
            gain("one-argmax", "the place of the greatest score once, as scaling keeps it", 14_990, "sampled* clean*", rf"{ONCE}|argmax", "43.04 -> 28.05 ms; the same words", PROGRESS),
            gain("share", "one scaling of the scores for the sample and the entropy", 760, "sampled_scaled entropy_scaled", rf"{ONCE}|reuse|shar(e|ing)", "43.06 -> 42.30 ms"),
            gain("constants", "zeros and the budget made once, before the steps", 95, "accept_budget accept_zeros", AHEAD, "0.416 -> 0.321 ms of the choice of what to keep; no trace without it"),
            dead("top-k", "top-k for the greatest score", "sampled clean", r"top.?k", "42.5 ms for 14.4, rows and all"),
            dead("entropy-pieces", "the entropy over eight pieces of words held in L1", "entropy_*", rf"{IN_L1}|chunk|piece", "43.06 -> 45.43 ms"),
            dead("accept", "the entropies in L1 for the choice of what to keep", "accept*", IN_L1, "0.321 -> 0.345 ms"),
            dead("reshape", "the words in 512 rows of 512 for the entropy's sums", "entropy_max entropy_total entropy_weighted", r"reshape|two.?stage|view", "12.68 -> 40 ms, as the reshape of tiles moves them", ROOFLINE),
        ),
        f"how the entropy's 12.68 ms split (its greatest is told); {MADE_UP}",
    ),
    laid(
        "diffusion-gemma-once", PROGRESS, "what follows the scores of all words, the greatest sought once: 28.05 ms of wall time",
        decision(twice=False),
        (dead("stages", "greatest and sums over the words in two stages", "clean entropy_max entropy_total entropy_weighted", r"two.?stage|stage|chunk", "28.381 -> 35.169 ms, and other entropies", REFUTED),),
        f"how the entropy's 12.68 ms split (its greatest is told); {MADE_UP}",
    ),
    laid(
        "diffusion-gemma-signal", EMBEDDINGS, "the words' embeddings by their last scores, in 32 pieces: 25.86 ms of wall time",
        signal(Signal()),
        (gain("embeddings", "the embeddings cut into 32 tensors before the steps", 7_653, "embeddings_*", rf"{AHEAD}|(weight|embedding|table)s?.{{0,60}}(slice|cut|chunk)|slice.{{0,60}}(weight|embedding|table)", "25.863 -> 18.210 ms; 266.7 -> 258.8 ms of a replayed step"),),
        f"what each op of a piece takes; {MADE_UP}",
    ),
    laid(
        "diffusion-gemma-pieces", LOGITS, "the same with embeddings in pieces: 18.21 ms of wall time",
        signal(Signal(cut=0)),
        (
            gain("scores-l1", "the pieces of scores, their exponentials and sums in L1", 2_175, "slice_* shifted_* exp_* sum_* denominator_*", IN_L1, "18.213 -> 16.038 ms; 13.616 -> 13.511 s a block"),
            dead("split", "one `ttnn.split` for the 32 slices of scores", "slice_*", r"ttnn\.split|\bsplit\b", "18.2129 -> 18.2116 ms, and 13.6284 -> 13.6445 s a block", SPLIT),
        ),
        f"what each op of a piece takes; {MADE_UP}",
    ),
    laid(
        "diffusion-gemma-scores", LOGITS, "the same with pieces of scores in L1: 16.04 ms of wall time",
        signal(Signal(cut=0, small=142, l1=True)),
        (
            dead("sums", "sums of the denominator told to go to L1, where they went unasked", "sum_* denominator_*", rf"{IN_L1}|memory_config", "18.946 -> 18.771 words a second of blocks"),
            dead("larger", "eight pieces of 32,768 words, for 32 of 8,192", "slice_* shifted_* exp_* sum_* weighted_*", r"larger|fewer|chunk|piece", "13.632 -> 13.504 s a block, but other words", REFUTED, faster=True),
        ),
        f"what each op of a piece takes; {MADE_UP}",
    ),
)  # fmt: skip
