"""Solar Open 100B over eight Blackhole chips (P150): its experts in prefill, of 128 tokens and of 1024.

At 128 tokens each expert gets all of them: activations are repeated for the 128 experts, a batched matmul for gate and
up, one for down, a sum. At 1024 tokens an expert with few tokens gets a gathered list of them, padded to 96, and
the 15 with the most (the router's choices are uneven) get all 1024; a matmul with a one-hot matrix puts the lists back.
The ledger tells times of single ops (kernel times, or of a burst of calls), and wall times of all that the 15 take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, BLOCKS, INTERLEAVED_1D, MINIMAL, TWO_D, unbanked
from tests.frozen.solar import ALL_CORES, CHIPS, COUNT, FOLDER, GRID, HIDDEN, README, REPOSITORY, WIDE, multicast

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FIRST = f"{REPOSITORY}/993ccc02c228f283ff084d81676e3c2974ddc1c9/{FOLDER}/tt/experts/prefill.py"
CONFIGS = f"{REPOSITORY}/de5c31bb3dc4160fe42cf30867b4f06dbcf2e030/{FOLDER}/tt/expert_configs.py"
EARLY_CONFIGS = f"{REPOSITORY}/156304d63b54f71020b235cd10ba5df3b4e683d5/{FOLDER}/tt/expert_configs.py"
HOT, LISTED, LONG = 15, 96, 1024


def batched(tokens: int) -> str:
    """An expert's whole output on a core."""
    return (
        f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x={GRID[0]},y={GRID[1]}),in0_block_w=4,"
        f"out_subblock_h=1,out_subblock_w=2,per_core_M={tokens // 32},per_core_N={2 * WIDE // 32})"
    )


def matmul(
    block: Block, role: str, a: Tensor, b: Tensor, us: float, *, cores: int, config: str | None = None,
    turned: bool = False, fp32: bool = False,
) -> Tensor:  # fmt: skip
    """Of expert by expert, or of two activations; `config` None: TTNN chose within a grid."""
    rows = a.shape[-1] if turned else a.shape[-2]
    out = block.tensor([*b.shape[:-2], rows, b.shape[-1]], "BFLOAT8_B")
    return block.op(
        role, "Matmul", (a, b), out, us, cores=cores, fidelity="HiFi2", bcast_batch=False,
        compute_kernel_config=block.kernel("HiFi2", fp32=fp32), global_cb=None, output_dtype="DataType::BFLOAT8_B",
        output_mem_config=DRAM, output_tile="Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=4)",
        program_config=config, sub_device_id=None, transpose_a=turned, transpose_b=False, untilize_out=False,
        user_core_coord=None if config else f"(x={GRID[0]},y={GRID[1]})", user_fused_activation=None,
        user_run_batched=False,
    )  # fmt: skip


def halves(block: Block, role: str, x: Tensor, us: float, last: float) -> Tensor:
    _, experts, rows, _ = x.shape
    gate, up = (block.slice(f"{role}half_{name}", x, (0, 0, 0, at), (1, experts, rows, at + WIDE), us) for name, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
    return block.binary(f"{role}gated", "MUL", up, gate, last, cores=ALL_CORES, rhs="SILU")


def summed(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.op(role, "FastReduceNC", (x,), block.tensor([1, 1, *x.shape[-2:]], "BFLOAT8_B"), us, cores=ALL_CORES, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip


@dataclass(frozen=True)
class Short:
    """128 tokens; times in us."""

    configs: bool = True  # of the router, the shared expert and down
    down: float = 642


def short(how: Short) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1)
        x = block.norm("norm_feed", block.tensor([1, 1, 128, HIDDEN]), 34, cores=4)
        config = multicast((4, 1), 32, 1, rows=4) if how.configs else None
        logits = block.linear("router", x, COUNT, 40 if config else 97, fidelity="HiFi4", fp32=True, packer=False, out="FLOAT32", config=config, cores=4 if config else 16)  # fmt: skip
        best = (block.tensor([128, 8]), block.tensor([128, 8], "UINT16"))
        bias = block.tensor([128, COUNT], "FLOAT32")
        scores = block.op("topk", "MoeGroupedTopk", (block.view(logits, [128, COUNT]), bias), best, 14, cores=4, fidelity="HiFi4", epsilon="1e-20", n_activated_experts=8, n_groups=1, route_scale="1", summed_experts_per_group=1, topk_groups=1)  # fmt: skip
        index, values, zeros = (block.moved(f"{role}_rows", "UntilizeWithUnpadding", one, 2.5, layout=ROW_MAJOR, cores=4, fidelity="HiFi4") for role, one in (("index", best[1]), ("scores", scores), ("zeros", block.tensor([128, COUNT]))))  # fmt: skip
        spread = block.op("scatter", "Scatter", (zeros, index, values), block.tensor([128, COUNT], layout=ROW_MAJOR), 5, cores=64, dim=1)  # fmt: skip
        spread = block.moved("scores", "Tilize", spread, 5, layout="TILE", cores=4, fidelity="HiFi4")

        narrow, wide = (multicast((5, 1), 32, 1, rows=4), multicast((8, 8), 5, 2, subblock=2, rows=4)) if how.configs else (None, None)  # fmt: skip
        us = 38 if how.configs else 92
        gate, up = (block.linear(f"shared_{role}", x, WIDE, us, dtype="BFLOAT8_B", config=narrow, cores=5 if narrow else 20) for role in ("gate", "up"))  # fmt: skip
        hidden = block.binary("shared_gated", "MUL", up, gate, 3, cores=20, rhs="SILU")
        one = block.linear("shared_down", hidden, HIDDEN, 9, dtype="BFLOAT8_B", config=wide, cores=64)

        column = block.turned("scores_turned", block.view(spread, [1, 1, 128, COUNT]), 3, cores=16)
        column = block.moved("scores_shaped", "ReshapeView", column, 22, shape=[1, COUNT, 128, 1], cores=ALL_CORES)
        many = block.moved("repeat", "Repeat", x, 540, shape=[1, COUNT, 128, HIDDEN], cores=ALL_CORES, num_repeats=COUNT, rep_dim=1)  # fmt: skip
        weights = block.tensor([1, COUNT, HIDDEN, 2 * WIDE], "BFLOAT8_B")
        both = matmul(block, "experts_both", many, weights, 808, cores=ALL_CORES, config=batched(128))
        hidden = halves(block, "", both, 32, 34)
        hidden = block.binary("scored", "MUL", hidden, column, 36, cores=ALL_CORES)
        weights = block.tensor([1, COUNT, WIDE, HIDDEN], "BFLOAT8_B")
        config = multicast((8, 8), 5, 2, subblock=2, rows=4) if how.configs else None
        out = matmul(block, "experts_down", hidden, weights, how.down, cores=64 if config else ALL_CORES, config=config)  # fmt: skip
        total = summed(block, "total", out, 260)
        total = block.binary("shared_added", "ADD", total, one, 6, cores=ALL_CORES)
        part = block.collective("feed_scatter", "ReduceScatterMinimalDirect", total, HIDDEN // CHIPS, 40, ring=CHIPS, links=1)  # fmt: skip
        block.collective("feed_gather", "AllGather", part, HIDDEN, 30, ring=CHIPS, links=1)
        return block

    return build


@dataclass(frozen=True)
class Long:
    """1024 tokens; times in us."""

    each: bool = True  # a linear for each of the 15
    copies: bool = False  # of the scores and numbers, in other shapes
    down: tuple[float, bool] = (530, True)  # of the lists; whether its config is given


def by_lists(block: Block, x: Tensor, turned: Tensor, how: Long) -> Tensor:
    """What the experts with few tokens make of their lists, put back."""
    active = block.unary("active", "GTZ", turned, 4, cores=ALL_CORES)
    counts = block.op("counts", "Reduce", (active,), block.tensor([1, 1, COUNT, 1]), 6, cores=4, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
    few = block.unary("few", "UNARY_LE", counts, 2, cores=4, parameter=str(LISTED))
    best = (block.tensor([1, 1, COUNT, LISTED]), block.tensor([1, 1, COUNT, LISTED], "UINT16"))
    values = block.op("topk", "TopK", (turned,), best, 190, cores=4, fidelity="HiFi4", dim=3, k=LISTED, largest=True, sorted=True)  # fmt: skip
    values = block.binary("values_masked", "MUL", values, few, 3, cores=12)
    index = block.typecast("index_cast", best[1], "UINT32", 3, cores=12)
    index = block.moved("index_rows", "Untilize", index, 4, layout=ROW_MAJOR, cores=4, fidelity="HiFi4")
    if how.copies:
        index = block.moved("index_flat", "ReshapeView", index, 54, shape=[1, COUNT * LISTED], cores=ALL_CORES)

    def gathered(role: str, table: Tensor, us: float) -> Tensor:
        out = block.tensor([1, COUNT, LISTED, table.shape[-1]])
        return block.op(role, "Embeddings", (index, table), out, us, cores=ALL_CORES, embeddings_type="EmbeddingsType::GENERIC", pad_token=None, tilized=True, output_dtype="DataType::BFLOAT16", output_mem_config=DRAM)  # fmt: skip

    rows = gathered("gather_rows", block.view(x, [LONG, HIDDEN]), 440)
    ones = gathered("gather_ones", block.tensor([LONG, LONG]), 112)
    both = matmul(block, "experts_both", rows, block.tensor([1, COUNT, HIDDEN, 2 * WIDE], "BFLOAT8_B"), 763, cores=ALL_CORES, config=batched(LISTED))  # fmt: skip
    hidden = halves(block, "", both, 26, 28)
    column = block.moved("values_rows", "Untilize", values, 3, layout=ROW_MAJOR, cores=4, fidelity="HiFi4")
    column = block.moved("values_shaped", "ReshapeView", column, 15, shape=[1, COUNT, LISTED, 1], cores=ALL_CORES)  # fmt: skip
    column = block.moved("values", "TilizeWithValPadding", column, 12, layout="TILE", cores=ALL_CORES, fidelity="HiFi4")  # fmt: skip
    hidden = block.binary("scored", "MUL", hidden, column, 28, cores=ALL_CORES)
    us, explicit = how.down
    config = multicast((8, 8), 5, 2, subblock=2, rows=LISTED // 32) if explicit else None
    out = matmul(block, "experts_down", hidden, block.tensor([1, COUNT, WIDE, HIDDEN], "BFLOAT8_B"), us, cores=64 if config else ALL_CORES, config=config)  # fmt: skip
    rows = block.view(out, [1, 1, COUNT * LISTED, HIDDEN])
    return matmul(block, "put_back", block.view(ones, [1, 1, COUNT * LISTED, LONG]), rows, 588, cores=ALL_CORES, turned=True)  # fmt: skip


def of_all(block: Block, x: Tensor, turned: Tensor, how: Long) -> Tensor:
    """What the 15 with the most tokens make of all of them."""
    weight = block.tensor([1, COUNT, HIDDEN, 2 * WIDE], "BFLOAT8_B")
    slices = [block.slice(f"hot_weight_{n}", weight, (0, n, 0, 0), (1, n + 1, HIDDEN, 2 * WIDE), 9) for n in range(HOT)]  # fmt: skip
    if how.each:
        outs = [block.linear(f"hot_both_{n}", x, 2 * WIDE, 81, cores=ALL_CORES, out="BFLOAT8_B", weight=one, grid=GRID) for n, one in enumerate(slices)]  # fmt: skip
        both = block.concat("hot_stacked", outs, [1, HOT, LONG, 2 * WIDE], 1, 45)
    else:
        weights = block.concat("hot_stacked", slices, [1, HOT, HIDDEN, 2 * WIDE], 1, 150)
        many = block.moved("hot_repeat", "Repeat", x, 870, shape=[1, HOT, LONG, HIDDEN], cores=ALL_CORES, num_repeats=HOT, rep_dim=1)  # fmt: skip
        both = matmul(block, "hot_both", many, weights, 1830, cores=HOT)
    hidden = halves(block, "hot_", both, 26, 30)
    table = block.view(turned, [COUNT, LONG])
    taken = block.op("hot_scores", "Embeddings", (block.tensor([1, HOT], "UINT32", layout=ROW_MAJOR), table), block.tensor([1, HOT, LONG], layout=ROW_MAJOR), 6, cores=HOT, embeddings_type="EmbeddingsType::GENERIC", pad_token=None, tilized=False, output_dtype="DataType::BFLOAT16", output_mem_config=DRAM)  # fmt: skip
    if how.copies:
        column = block.moved("hot_scores_shaped", "ReshapeView", taken, 140, shape=[1, HOT, LONG, 1], cores=ALL_CORES)  # fmt: skip
        column = block.moved("hot_column", "TilizeWithValPadding", column, 12, layout="TILE", cores=ALL_CORES, fidelity="HiFi4")  # fmt: skip
    else:
        column = block.moved("hot_tiles", "TilizeWithValPadding", block.view(taken, [1, HOT, 1, LONG]), 8, layout="TILE", cores=HOT, fidelity="HiFi4")  # fmt: skip
        column = block.turned("hot_column", column, 8, cores=ALL_CORES)
    hidden = block.binary("hot_scored", "MUL", hidden, column, 30, cores=ALL_CORES)
    weight = block.tensor([1, COUNT, WIDE, HIDDEN], "BFLOAT8_B")
    slices = [block.slice(f"hot_down_weight_{n}", weight, (0, n, 0, 0), (1, n + 1, WIDE, HIDDEN), 5) for n in range(HOT)]  # fmt: skip
    weights = block.concat("hot_down_stacked", slices, [1, HOT, WIDE, HIDDEN], 1, 40)
    out = matmul(block, "hot_down", hidden, weights, 394, cores=ALL_CORES)
    return summed(block, "hot_total", out, 205)


def long(how: Long) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1)
        x = block.tensor([1, 1, LONG, HIDDEN])
        scores = block.tensor([1, 1, LONG, COUNT])
        turned = block.turned("scores_turned", scores, 9, cores=ALL_CORES)
        if how.copies:
            block.moved("scores_shaped", "ReshapeView", turned, 128, shape=[1, COUNT, LONG, 1], cores=ALL_CORES)
        back = by_lists(block, x, turned, how)
        total = of_all(block, x, turned, how)
        total = block.binary("hot_added", "ADD", back, total, 20, cores=ALL_CORES)
        part = block.collective("feed_scatter", "ReduceScatterMinimalDirect", total, HIDDEN // CHIPS, 150, ring=CHIPS, links=1)  # fmt: skip
        block.collective("feed_gather", "AllGather", part, HIDDEN, 110, ring=CHIPS, links=1)
        return block

    return build


ONE_D = unbanked(rf"{INTERLEAVED_1D}|{BLOCKS}")
BLOCK_OR_SUBBLOCK = r"in0_block_w|subblock|per_core_[MN]|8 ?x ?8"
VIEW = r"view|reshape|copy|copies|ROW_MAJOR|row.major|not needed|unused|never read|transpos"
JOINED_K = (
    r"(one|single|wider) (matmul|linear)|concatenat|along K|K.concat|longer K|\bK\b.{0,40}(join|stack|concat)"
)
EACH = r"(one|a) (linear|matmul) (for|per|of) each|per.expert|without.{0,30}repeat|(repeat|broadcast).{0,60}(not|no|avoid|drop|remov|instead)"
HOST = "of wall time, one call"
BURST = "in a burst of calls"
MADE_UP = "times of what stands between the matmuls, cores that TTNN chose, gaps"

SOLAR_PREFILL = (
    laid(
        "solar-prefill-128", README, "the experts at 128 tokens as brought up: some 4.5 ms a whole layer, dispatched op by op",
        short(Short(configs=False, down=1148)),
        (
            gain("down", "a 1D config of 64 cores with in0_block_w 5 for the experts' down", 506.0, "experts_down", ONE_D, "1148 -> 642 us in kernels; 0.5 ms of a layer, 24 of the first token's", EARLY_CONFIGS),
            gain("router", "a 1D config with in0_block_w 32 for the router", 57.0, "router", ONE_D, f"0.121 -> 0.064 ms {HOST}; bit-identical"),
            gain("shared", "a 1D config with in0_block_w 32 for the shared expert's gate and up", 108.0, "shared_gate shared_up", ONE_D, f"0.115 -> 0.061 ms each {HOST}"),
            dead("width", "a grid of ten columns instead of eleven", "experts_both experts_down", r"x=10\b|(10|ten) columns|100 cores|fewer cores", "the same", README),
        ),
        f"times of the shared expert and the router in kernels (the ledger has wall times at 128 rows); {MADE_UP}",
    ),
    laid(
        "solar-prefill-128-late", README, "the experts at 128 tokens with all configs: 3.97 ms a whole layer, dispatched op by op",
        short(Short()),
        (
            gain("down-subblock", "a subblock of all four rows for the experts' down", 51.0, "experts_down", r"out_subblock_h|subblock", "8 % less at 96 to 128 rows, of 642 us; bit-identical; a layer 3.97 -> 3.90 ms", CONFIGS),
            gain("narrow", "activations in BFLOAT8_B before they are repeated", 307.0, "repeat experts_both", BFP8, "270 us of the repeat and 37 of the matmul less; less accurate (0.999896 against 0.999917), so not taken", CONFIGS),
            dead("both", "in0_block_w 8 to 32, other subblocks, or 64 cores for the experts' gate and up", "experts_both", BLOCK_OR_SUBBLOCK, f"740 to 808 us at 32 to 128 rows -> 751 to 1033, {BURST}", FIRST),
        ),
        f"the repeat's time (half of its bytes saved 270 us); times of the shared expert and the router in kernels; {MADE_UP}",
    ),
    laid(
        "solar-prefill-1024", README, "the experts at 1024 tokens as brought up: the 15 with all tokens take 4.06 ms",
        long(Long(each=False, copies=True, down=(897, False))),
        (
            gain("each", "a linear for each of the 15, without a repeat", 1640.0, "hot_repeat hot_both hot_stacked", EACH, "4.06 -> 2.42 ms of all that the 15 take, wall time", FIRST),
            gain("scores-copy", "no copy of the scores for experts that are listed", 128.0, "scores_shaped", VIEW, "128 us a copy, which nobody read", FIRST),
            gain("index-copy", "the numbers taken as a view, not flattened", 54.0, "index_flat", VIEW, "54 us a copy", FIRST),
            gain("hot-copy", "the scores of the 15 turned as tiles instead of reshaped as rows", None, "hot_scores_shaped hot_column", VIEW, "140 us a copy; what stands instead is not told", FIRST),
            gain("down", "a 1D config of 64 cores with in0_block_w 5 for the lists' down", None, "experts_down", ONE_D, "measured at 32, 128 and 256 rows only: 396, 1148 and 1716 -> 311, 642 and 1096 us", EARLY_CONFIGS),
        ),
        f"times of the lists' ops from what the ledger says of 1024 rows each, of down between its measured sizes; {MADE_UP}",
    ),
    laid(
        "solar-prefill-1024-late", README, "the experts at 1024 tokens, a linear for each of the 15: these take 2.42 ms",
        long(Long()),
        (
            gain("minimal", "minimal_matmul for each of the 15's gate and up", 525.0, "hot_both_*", MINIMAL, f"81 -> 46 us each, {BURST}, with blocks of 3, 16 and 2 on 11 x 5 cores; 55 with 3, 8 and 1 on 11 x 10", CONFIGS),
            gain("joined", "the down projection of the 15 as one matmul along K, with their sum", 308.0, "hot_down hot_total hot_down_stacked", JOINED_K, f"394 and 205 -> 117 us and 36 for the join, {BURST}; 308 in all, says the ledger", CONFIGS),
            gain("down-subblock", "a subblock of all three rows for the lists' down", None, "experts_down", r"out_subblock_h|subblock", "8 % less at 96 to 128 rows, of a time that is not told", CONFIGS),
            dead("eight-wide", "minimal_matmul on eight columns of cores", "hot_both_*", rf"({MINIMAL}).{{0,300}}x=8\b|x=8\b.{{0,300}}({MINIMAL})", f"81 -> 155 us each, {BURST}", CONFIGS),
            dead("joined-2d", "the same join by a 2D config, of BFLOAT8_B pieces", "hot_down hot_total hot_down_stacked", rf"(?s)({JOINED_K}).*({TWO_D})|({TWO_D}).*({JOINED_K})", "2.42 -> 2.75 ms of all that the 15 take, wall time", FIRST),
            dead("both", "in0_block_w 8 to 32, other subblocks, or 64 cores for the lists' gate and up", "experts_both", BLOCK_OR_SUBBLOCK, f"740 to 808 us at 32 to 128 rows -> 751 to 1033, {BURST}", FIRST),
            dead("fp32", "sums in 32 bits for the matmul that puts back", "put_back", r"fp32_dest_acc_en|fp32", "388 to 401 -> 416 ms to the first token of 1024; 2907 to 2927 -> 2920 of 8192: kept for accuracy", FIRST),
        ),
        f"times of the lists' ops from what the ledger says of 1024 rows each, of down between its measured sizes; {MADE_UP}",
    ),
)  # fmt: skip
