"""DiffusionGemma 26B over four Blackhole chips (P150), of another engineer's port: a step on a canvas of 256 tokens.

Hidden 2816, 30 layers, 128 experts of 704 with eight active and a shared feed-forward of 2112, 262,144 words. A chip has
four heads of 256 with two of keys and values, 192 columns of each expert (176, padded; BFLOAT4_B) and 65,536 words. Each
expert works on each token, and scores leave out what was not chosen.
The ledger tells seconds of a whole step, replayed from a trace, after each change, rounded to 10 or 100 ms; a change of the
layers is its saving over 30. Single ops and the shared feed-forward are told alone too; alone they take more than in a
trace, where the ledger says they overlap (a layer takes 3.45 ms at the end). The experts' 225 ms of a layer are told in one sum
of a step (6.7 s). Cores and blocks of the first experts' matmuls follow from the code, and so does how 256 tokens go
through in halves and pieces of 32.
Left out: scores of all words sought for the greatest on each chip (505 ms for an op alone, more than a pass here may take),
and what was done to the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block, one_d, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BLOCK_W, PACKED
from tests.profiles import block_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/Knight-Ops/tt-metal/blob"
FOLDER = "models/demos/gemma4/diffusion"
README = f"{HOME}/49c7b5bc8fd6c3230c94a9e34c4a686a07950976/{FOLDER}/README.md"
CODE = f"{HOME}/90715918cdc71de999ba909a3324573948474060/{FOLDER}/tt_model.py"
CHIPS, GRID, ALL_CORES = 4, (13, 10), 130
TOKENS, HIDDEN, HEADS, KV, SIZE, KEYS = 256, 2816, 4, 2, 256, 384
COUNT, ACTIVE, WIDE, SHARED, WORDS = 128, 8, 192, 528, 262_144
ALL, PART = COUNT * WIDE, WORDS // CHIPS
FP8, FP4 = "BFLOAT8_B", "BFLOAT4_B"


@dataclass(frozen=True)
class How:
    """A state of the layer: its experts, `block` of the first ones' gate and up, the shared feed-forward in halves."""

    experts: str
    block: int = 8
    gate: float = 3_060  # us, of 32 tokens through all experts one after the other
    halves: bool = True


def summed(block: Block, role: str, x: Tensor, us: float = 400) -> Tensor:
    """What `ttnn.all_reduce` makes of it."""
    part = block.collective(f"{role}_scatter", "ReduceScatterMinimalAsync", x, HIDDEN // CHIPS, us / 2, ring=CHIPS, links=2, topology="Linear")  # fmt: skip
    return block.collective(f"{role}_gather", "AllGatherAsync", part, HIDDEN, us / 2, ring=CHIPS, links=2, topology="Linear")  # fmt: skip


def attention(block: Block, x: Tensor) -> Tensor:
    qkv = block.linear("qkv", x, (HEADS + 2 * KV) * SIZE, 60, dtype=FP8, cores=ALL_CORES)
    q, k, v = block.split_heads("heads", qkv, 12, heads=HEADS, kv=KV, size=SIZE, rows=TOKENS)
    q, k, v = (block.norm(f"{name}_norm", one, 12, cores=32) for name, one in (("q", q), ("k", k), ("v", v)))
    q, k = (block.rotary(f"{name}_rotary", one, 10, decode=False) for name, one in (("q", q), ("k", k)))
    both: list[Tensor] = []
    for name, one in (("k", k), ("v", v)):
        kept = block.tensor([1, KV, 2_048, SIZE])
        prefix = block.slice(f"{name}_prefix", kept, (0, 0, 0, 0), (1, KV, KEYS - TOKENS, SIZE), 6)
        both.append(block.concat(f"{name}_all", [prefix, one], [1, KV, KEYS, SIZE], 2, 8))
    mask = block.tensor([1, 1, TOKENS, KEYS])
    y = block.op("attend", "SDPAOperation", (q, *both, mask), block.tensor(q.shape), 60, cores=ALL_CORES, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), is_causal=False, output_mem_config=DRAM, program_config=None, scale="1", sliding_window_size=None, use_mla=False)  # fmt: skip
    y = block.linear("out", block.join_heads("joined", y, 10), HIDDEN, 40, dtype=FP8, cores=ALL_CORES)
    return summed(block, "attention", y)


def routed(block: Block, role: str, x: Tensor) -> Tensor:
    y = block.binary(f"{role}_scaled", "MUL", block.norm(f"{role}_norm", x, 15, cores=8), block.tensor([1, 1, 1, HIDDEN]), 8)  # fmt: skip
    scores = block.softmax(f"{role}_softmax", block.linear(role, y, COUNT, 30, cores=32), 12)
    few = [1, 1, x.shape[-2], ACTIVE]
    best = (block.tensor(few), block.tensor(few, "UINT16"))
    values = block.op(f"{role}_best", "TopK", (scores,), best, 45, cores=8, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    total = block.op(f"{role}_total", "Reduce", (values,), block.tensor([1, 1, x.shape[-2], 1]), 8, cores=8, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
    values = block.binary(f"{role}_shares", "DIV", values, total, 5)
    spread = block.op(f"{role}_spread", "Scatter", (block.tensor(scores.shape), best[1], values), block.tensor(scores.shape), 20, cores=8, dim=3)  # fmt: skip
    return block.binary(f"{role}_weighted", "MUL", spread, block.tensor([1, 1, 1, COUNT]), 5)


def sparse(block: Block, role: str, x: Tensor, n: int, us: float, *, second: bool = False, size: int = 1) -> Tensor:
    """32 tokens through all experts, one after the other, on as many cores as divide the columns in an 8 x 8 grid."""
    cores = 8 if second else 6
    weight = block.tensor([1, COUNT, x.shape[-1], n], FP4)
    mask = block.tensor([1, 1, 1, COUNT], layout=ROW_MAJOR)
    out = block.tensor([1, COUNT, 32, n] if second else [1, 1, 1, COUNT, 32, n])
    return block.op(
        role, "SparseMatmul", (x, weight, mask), out, us, cores=cores, fidelity="LoFi",
        compute_kernel_config=block.kernel("LoFi"), is_input_a_sparse=second, is_input_b_sparse=not second,
        nnz=str(COUNT), output_dtype="DataType::BFLOAT16", output_mem_config=DRAM,
        program_config=one_d((cores, 1), size, (1, n // 32 // cores)), user_core_coord=None,
    )  # fmt: skip


def one_by_one(block: Block, x: Tensor, routing: Tensor, half: int, how: How) -> Tensor:
    """Half of the tokens in four pieces."""
    made: Tensor | None = None
    for n in range(4):
        name = f"{half}_{n}"
        piece = block.slice(f"piece_{name}", x, (0, 0, 32 * n, 0), (1, 1, 32 * (n + 1), HIDDEN), 8)
        scores = block.slice(f"scores_{name}", routing, (0, 0, 32 * n, 0), (1, 1, 32 * (n + 1), COUNT), 4)
        gate, up = (block.view(sparse(block, f"{role}_{name}", piece, WIDE, how.gate, size=how.block), [1, COUNT, 32, WIDE]) for role in ("gate", "up"))  # fmt: skip
        gate, up = (block.moved(f"{role}_turn_{name}", "Transpose", one, 150, dim="TransposeOpDim::HC", pad_value=0) for role, one in (("gate", gate), ("up", up)))  # fmt: skip
        y = block.binary(f"gated_{name}", "MUL", gate, up, 120, lhs="GELU")
        y = sparse(block, f"down_{name}", y, HIDDEN, 2_000, second=True)
        y = block.binary(f"scored_{name}", "MUL", y, block.permute(f"turned_{name}", scores, (0, 3, 2, 1), 20), 450)
        y = block.op(f"total_{name}", "FastReduceNC", (y,), block.tensor([1, 1, 32, HIDDEN]), 350, cores=88, fidelity="HiFi4", dim=1)  # fmt: skip
        made = y if made is None else block.concat(f"pieces_{name}", [made, y], [1, 1, 32 * (n + 1), HIDDEN], 2, 20)
    assert made
    return made


def wide(block: Block, x: Tensor, name: str = "") -> Tensor:
    """Gate and up of all experts in one matmul each."""
    gate, up = (block.linear(f"{role}{name}", x, ALL, 450, dtype=FP4, cores=ALL_CORES) for role in ("gate", "up"))
    return block.binary(f"gated{name}", "MUL", gate, up, 250, lhs="GELU")


def apart(block: Block, x: Tensor, routing: Tensor, half: int) -> Tensor:
    """Half of the tokens: down is a batched matmul, an expert a batch."""
    rows = TOKENS // 2
    y = block.moved(f"parted_{half}", "ReshapeView", wide(block, x, f"_{half}"), 900, shape=[1, rows, COUNT, WIDE])
    y = block.permute(f"by_expert_{half}", y, (0, 2, 1, 3), 500)
    y = block.product(f"down_{half}", y, block.tensor([1, COUNT, WIDE, HIDDEN], FP4), 1_100, cores=ALL_CORES, fidelity="LoFi", fp32=False)  # fmt: skip
    y = block.binary(f"scored_{half}", "MUL", y, block.permute(f"turned_{half}", routing, (0, 3, 2, 1), 20), 700)
    return block.op(f"total_{half}", "FastReduceNC", (y,), block.tensor([1, 1, rows, HIDDEN]), 450, cores=88, fidelity="HiFi4", dim=1)  # fmt: skip


def at_once(block: Block, x: Tensor, routing: Tensor, how: How) -> Tensor:
    """All tokens: scores meet the wide result, and down sums over the experts too."""
    y = wide(block, x)
    if how.experts == "fold":
        y = block.moved("parted", "ReshapeView", y, 2_000, shape=[1, TOKENS, COUNT, WIDE])
        scores = block.moved("scores", "ReshapeView", routing, 20, shape=[1, TOKENS, COUNT, 1])
        y = block.binary("folded", "MUL", y, scores, 220)
        y = block.moved("wide_again", "ReshapeView", y, 2_000, shape=[1, 1, TOKENS, ALL])
        return block.linear("down", y, HIDDEN, 1_360, dtype=FP4, cores=88)
    scores = block.linear("spread", routing, ALL, 120, cores=ALL_CORES)
    y = block.binary("folded", "MUL", y, scores, 120)
    y = block.to_shards("placed", y, block_sharded(32, 2_048, (12, 8)), 100)
    return block.linear(
        "down", y, HIDDEN, 430, dtype=FP4, config=two_d((12, 8), 32, (1, 8), subblock=(1, 8)), cores=88
    )


def shared(block: Block, x: Tensor, name: str, us: float) -> Tensor:
    gate, up = (block.linear(f"shared_{role}{name}", x, SHARED, us, dtype=FP8, fidelity="LoFi", cores=17) for role in ("gate", "up"))  # fmt: skip
    y = block.binary(f"shared_gated{name}", "MUL", block.unary(f"shared_gelu{name}", "GELU", gate, 12), up, 12)
    y = block.linear(f"shared_down{name}", y, HIDDEN, us, dtype=FP8, fidelity="LoFi", cores=88)
    return summed(block, f"shared{name}", y)


def half_of(block: Block, role: str, x: Tensor, n: int) -> Tensor:
    rows = TOKENS // 2
    return block.slice(f"{role}_half_{n}", x, (0, 0, rows * n, 0), (1, 1, rows * (n + 1), x.shape[-1]), 15)


def layer(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID)
        x = block.tensor([1, 1, TOKENS, HIDDEN])
        y = attention(block, block.norm("in_norm", x, 20, cores=8))
        x = block.binary("attended_sum", "ADD", x, block.norm("after_norm", y, 20, cores=8), 10)
        given = block.norm("choose_norm", x, 20, cores=8)
        parts: list[Tensor] = []
        if how.experts in {"sparse", "apart"}:
            for n in (0, 1):
                routing = routed(block, f"router_{n}", half_of(block, "router", x, n))
                y = half_of(block, "experts", given, n)
                y = (
                    one_by_one(block, y, routing, n, how)
                    if how.experts == "sparse"
                    else apart(block, y, routing, n)
                )
                parts.append(summed(block, f"experts_{n}", y))
            made = block.concat("experts_whole", parts, x.shape, 2, 20)
        else:
            made = summed(block, "experts", at_once(block, given, routed(block, "router", x), how))
        given = block.norm("feed_norm", x, 20, cores=8)
        if how.halves:
            parts = [shared(block, half_of(block, "shared", given, n), f"_{n}", 150) for n in (0, 1)]
            y = block.concat("shared_whole", parts, x.shape, 2, 20)
        else:
            y = shared(block, given, "", 85)
        y, made = (block.norm(f"{role}_norm", one, 20, cores=8) for role, one in (("shared", y), ("experts", made)))
        y = block.norm("layer_norm", block.binary("both_sum", "ADD", y, made, 10), 20, cores=8)
        y = block.binary("layer_sum", "ADD", x, y, 10)
        block.unary("layer_scaled", "MUL_UNARY_SFPU", y, 10, parameter="0.5")
        return block

    return build


def ends(*, whole: bool) -> Callable[[], Block]:
    """What is outside the layers; `whole`: each chip has the scores of all words before it weighs embeddings by them."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID)

        def reduced(role: str, kind: str, x: Tensor, us: float) -> Tensor:
            return block.op(role, "Reduce", (x,), block.tensor([*x.shape[:-1], 1]), us, cores=8, fidelity="HiFi4", dim="ReduceOpDim::W", math_op=f"ReduceOpMath::{kind}")  # fmt: skip

        words, part = (WORDS, 1.0) if whole else (PART, 0.25)
        hot = block.tensor([1, 1, 1, 1])
        x = block.binary("signal_scaled", "MUL", block.tensor([1, 1, TOKENS, words]), hot, 1_200 * part)
        most = reduced("signal_max", "MAX", x, 4_400 * part)
        if not whole:
            most = block.collective("signal_most", "AllGatherAsync", most, CHIPS, 40, ring=CHIPS, topology="Linear")
            most = reduced("signal_max_all", "MAX", most, 10)
        x = block.unary(
            "signal_exp", "EXP", block.binary("signal_shifted", "SUB", x, most, 1_300 * part), 1_200 * part
        )
        total = reduced("signal_sum", "SUM", x, 4_300 * part)
        if whole:
            y = block.linear("weighted", x, HIDDEN // CHIPS, 11_840, cores=ALL_CORES)
            y = block.binary("divided", "DIV", y, total, 15)
            y = block.collective("signal_gather", "AllGatherAsync", y, HIDDEN, 200, ring=CHIPS, topology="Linear")
        else:
            parts = block.collective("signal_total", "AllReduceAsync", total, 1, 60, ring=CHIPS, topology="Linear")
            y = summed(block, "signal", block.linear("weighted", x, HIDDEN, 3_520, cores=ALL_CORES))
            y = block.binary("divided", "DIV", y, parts, 15)
        y = block.unary("signal_size", "MUL_UNARY_SFPU", y, 10, parameter="53.066")
        y = block.norm("signal_norm", y, 20, cores=8)
        gate, up = (block.linear(f"signal_{role}", y, 2_112, 400, cores=ALL_CORES) for role in ("gate", "up"))
        y = block.binary("signal_gated", "MUL", block.unary("signal_gelu", "GELU", gate, 30), up, 20)
        y = block.linear("signal_down", y, HIDDEN, 400, cores=ALL_CORES)
        y = block.norm(
            "signal_done", block.binary("signal_added", "ADD", block.tensor(y.shape), y, 10), 20, cores=8
        )
        x = block.norm("last_norm", y, 20, cores=8)
        if whole:
            head = block.weight(HIDDEN, PART, "BFLOAT16")
            rows = [block.slice(f"head_slice_{n}", x, (0, 0, 32 * n, 0), (1, 1, 32 * (n + 1), HIDDEN), 8) for n in range(8)]  # fmt: skip
            parted = [block.linear(f"head_{n}", row, PART, 1_460, cores=ALL_CORES, weight=head) for n, row in enumerate(rows)]  # fmt: skip
            x = block.concat("head_concat", parted, [1, 1, TOKENS, PART], 2, 200)
        else:
            x = block.linear("head", x, PART, 1_940, cores=ALL_CORES)
        x = block.unary("cap_in", "MUL_UNARY_SFPU", x, 210, parameter="0.0333")
        x = block.unary("cap_out", "MUL_UNARY_SFPU", block.unary("cap", "TANH", x, 230), 210, parameter="30")
        one = [1, 1, TOKENS, 1]
        block.op("best", "TopK", (x,), (block.tensor(one), block.tensor(one, "UINT16")), 19_000, cores=8, fidelity="HiFi4", dim=3, k=1, largest=True, sorted=False)  # fmt: skip
        most = reduced("best_score", "MAX", x, 1_100)
        y = block.binary("entropy_scaled", "MUL", x, hot, 300)
        y = block.binary("entropy_shifted", "SUB", y, block.binary("entropy_max", "MUL", most, hot, 5), 325)
        spread = block.unary("entropy_exp", "EXP", y, 300)
        reduced("entropy_sum", "SUM", spread, 1_075)
        reduced("entropy_weighted", "SUM", block.binary("entropy_terms", "MUL", spread, y, 325), 1_075)
        if whole:
            block.collective("scores_gather", "AllGatherAsync", x, WORDS, 12_000, ring=CHIPS, topology="Linear")
        return block

    return build


EXPERTS = "piece_* scores_* gate_* up_* gated_* down_* scored_* turned_* total_* pieces_*"
AT_ONCE = rf"{PACKED}|(all|every) experts?.{{0,80}}(one|single|wide)|(one|single).{{0,40}}(wide|large|dense|big).{{0,20}}(matmul|linear)|dense matmul"  # fmt: skip
WHOLE = r"(one|single) (pass|call|matmul)|\bonce\b|(all|whole|full).{0,30}(256|rows|tokens)|halves|(without|avoid|drop|remove|instead).{0,60}(slice|concat|chunk|half|split|piece)|(slice|concat|chunk|piece|split)\w*.{0,80}(avoid|drop|remove|whole|merge|fewer)"  # fmt: skip
MADE_UP = "the chips' cores (13 x 10), how a part's time splits over its ops, the sums over the chips (0.4 ms alone), formats of the shared feed-forward; gaps"

GEMMA_CANVAS = (
    laid(
        "gemma-canvas-starved", README, "a layer with experts one by one, a tile of hidden at a time: 8.4 s a step of 30 layers",
        layer(How("sparse", 1, 12_400)),
        (gain("block", "in0_block_w of 8 for gate and up, for 1", 150_000, "gate_?_? up_?_?", BLOCK_W, "8.4 -> 3.9 s a step, over 30 layers; gate and up four times as fast"),),
        f"gate's and up's share of the experts' 225 ms (four thirds of what was saved), their formats; {MADE_UP}",
    ),
    laid(
        "gemma-canvas-serial", README, "a layer with experts one by one, eight tiles at a time: 3.9 s a step of 30 layers",
        layer(How("sparse")),
        (gain("wide", "gate and up of all experts in one wide matmul each, and one batched down, for 128 matmuls of 32 rows one after the other", 50_000, EXPERTS, AT_ONCE, "3.9 -> 2.4 s a step, over 30 layers"),),
        f"gate's and up's share of the experts' 75 ms, their formats; {MADE_UP}",
    ),
    laid(
        "gemma-canvas-halves", README, "a layer with experts in wide matmuls, on half of the tokens at a time: 0.91 s a step of 30 layers",
        layer(How("apart")),
        (gain("whole", "the experts on all 256 tokens at once, their scores multiplied in before one wide down for a batched one", 2_800, "router_half_* experts_half_* gate_* up_* gated_* parted_* by_expert_* down_* scored_* turned_* total_* experts_*_scatter experts_*_gather experts_whole", rf"{WHOLE}|{AT_ONCE}|batched", "0.91 -> 0.34 s a step together with a top-k (505 -> 19 ms alone): what is left, over 30 layers"),),
        f"how the tokens got to their experts' batches, how experts' 10 ms split; {MADE_UP}",
    ),
    laid(
        "gemma-canvas-fold", README, "a layer with experts on all tokens, their scores multiplied in between two reshapes: 0.34 s a step of 30 layers",
        layer(How("fold")),
        (
            gain("expand", "the scores spread over each expert's columns by a matmul with a mask of ones, for two reshapes of the wide tensor", 4_000, "parted scores folded wide_again", r"(without|avoid|drop|remove|instead|replace).{0,80}reshape|reshape.{0,120}(avoid|drop|remove|replace|matmul|mask|repeat|expand|broadcast)|expand|repeat_interleave|block.?diagonal", "0.34 -> 0.22 s a step, over 30 layers; the same bits"),
            gain("down", "block shards of the wide tensor and a 2D config for down, for what TTNN chose", 830, "down", r"block.?shard|ReuseMultiCastProgramConfig|\b2D\b|program_config|in0_block_w|core_grid", "1.36 -> 0.53 ms alone, with the way into shards; 0.22 -> 0.20 s a step"),
            gain("shared", "the shared feed-forward on all 256 tokens in one pass with one sum over the chips, for two halves", 1_150, "shared_*_0 shared_*_1 shared_?_scatter shared_?_gather shared_whole", WHOLE, "1.83 -> 0.68 ms a layer alone; 0.16 -> 0.15 s a step"),
        ),
        f"how the reshapes' 4 ms split; {MADE_UP}",
    ),
    laid(
        "gemma-canvas-layer", README, "a layer after all: 3.45 ms in a trace, 0.15 s a step of 30 layers",
        layer(How("once", halves=False)),
        (
            dead("gathered", "only the tokens that chose an expert, gathered for it", "gate up gated spread folded down", r"sparse|gather|(only|just).{0,40}(active|chosen|selected|routed)|(active|chosen|selected|routed).{0,20}only|skip.{0,40}experts", "2 to 12 times as slow, alone"),
            dead("one-sum", "experts and shared feed-forward side by side in one sum over the chips", "experts_scatter experts_gather shared_scatter shared_gather", r"(one|single|fewer|join|merge|batch|fuse|combine).{0,60}(all.?reduce|collective|sum|reduce.?scatter)|concat", "0.38 ms less a layer alone, but a step as long: concat and slices take it up, and the sums run beside matmuls", CODE),
        ),
        f"all splits: alone the parts take more than the 3.45 ms; {MADE_UP}",
    ),
    laid(
        "gemma-canvas-ends", README, "what is outside the layers, scores of all words on each chip: 0.20 s a step with 30 layers",
        ends(whole=True),
        (
            gain("head", "the words' scores of all 256 tokens in one matmul, for eight of 32", 10_000, "head_slice_* head_? head_concat", WHOLE, "0.20 -> 0.19 s a step; 1.94 ms alone after it"),
            gain("words", "each chip weighs the embeddings of its own words by its own scores, and the sums meet; for all scores gathered on each chip", 30_000, "signal_scaled signal_max signal_shifted signal_exp signal_sum weighted scores_gather", r"(vocab|word|row)\w*.{0,40}(shard|parallel|split)|(shard|split)\w*.{0,60}(vocab|logits|words|embedding|\bK\b|inner)|row.?parallel|(avoid|drop|without|skip|remove).{0,60}(all.?gather|gather)|all.?gather.{0,100}(avoid|drop|remove|later|after|smaller)|reduce.?scatter", "0.19 -> 0.16 s a step; the matmul alone 11.84 -> 3.52 ms"),
            dead("softmax", "`ttnn.softmax` for greatest, difference, exponential and sum", "signal_max signal_shifted signal_exp signal_sum", r"ttnn\.softmax|\bsoftmax op|softmax\(|fused softmax", "about nine times as slow over 262,144 words", CODE),
        ),
        f"the gather of all scores (12 ms), how the other 16 of 28 ms of weighed embeddings split, the formats of the words' matmul; {MADE_UP}",
    ),
    laid(
        "gemma-canvas-ends-parted", README, "what is outside the layers, each chip with its own words: 47 ms of 0.15 s a step",
        ends(whole=False),
        (dead("best", "greatest score and a search for its place, for a top-k", "best best_score", r"argmax|max.{0,60}(equal|eq\b|where|index)|(without|avoid|instead of|replace).{0,30}top.?k|top.?k.{0,60}(avoid|drop|replace|argmax|max)", "12 ms less, but other places where scores are equal", faster=True),),
        f"some 12 of the 47 ms, which no op here fills; {MADE_UP}",
    ),
)  # fmt: skip
