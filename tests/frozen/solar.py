"""Solar Open 100B (128 experts, eight of them active, and one shared) over eight Blackhole chips (P150): its decode.

Hidden 4096, 64 heads of 128 with eight of keys and values, experts of 1280: a chip has eight heads with one of keys and
values, and 160 columns of each expert. Decode of one user and of 32, replayed from a trace.
The ledger tells kernel times of single ops at each setting, wall times of a traced layer, and of a step of 48 layers.
Left out are kernels that its engineers wrote themselves and TTNN does not have (experts in groups of cores, outputs of
which nobody chose the expert filled by the matmul), and what they did to the host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import L1, ROW_MAJOR, Block, chunks, norm_shards, one_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCK_W, BLOCKS, CORES, INTERLEAVED_1D, SHARDED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/demos/solar_open"
REPOSITORY = "https://github.com/changh95/tt-metal/blob"
README = f"{REPOSITORY}/3d822c9191be39af0196055520187764dbb68b28/{FOLDER}/README.md"
TUNED = f"{REPOSITORY}/156304d63b54f71020b235cd10ba5df3b4e683d5/{FOLDER}/tt"
EXPERTS, NORM, SHARED = f"{TUNED}/expert_configs.py", f"{TUNED}/rms_norm.py", f"{TUNED}/shared_expert.py"
ROUTER, ATTENTION, DECODE = f"{TUNED}/topk.py", f"{TUNED}/attention_configs.py", f"{TUNED}/experts/decode.py"
GRID, ALL_CORES, CHIPS = (11, 10), 110, 8
HIDDEN, HEADS, SIZE, COUNT, ACTIVE, WIDE = 4096, 8, 128, 128, 8, 160


def multicast(grid: tuple[int, int], block: int, columns: int, *, subblock: int = 1, rows: int = 1) -> str:
    """A 1D config whose batches are not fused."""
    return one_d(grid, block, (rows, columns), subblock=(1, subblock)).replace("fuse_batch=1", "fuse_batch=0")


def in_blocks(grid: tuple[int, int], columns: int, subblock: int) -> str:
    """Of the experts' down: an output block is as wide as its subblock."""
    return multicast(grid, 5, columns, subblock=subblock).replace(
        f"out_block_w={columns}", f"out_block_w={subblock}"
    )


@dataclass(frozen=True)
class How:
    """A layer; times in us."""

    users: int = 1
    indexed: bool = False  # experts by their numbers, outputs of the chosen ones only
    configs: bool = True  # of the router, the shared expert and QKV; norms in shards
    gate_up: tuple[float, int] = (158.7 - 4.5, 32)  # in0_block_w
    down: tuple[float, tuple[int, int], int] = (178.7 - 45.5, (8, 4), 1)  # grid, out_subblock_w
    early: bool = True  # scores before the down projection
    reduce: float = 45


def rows_of(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.moved(role, "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")


def sparse(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, given: tuple[Tensor, ...], n: int, us: float, *, config: str, slots: int,
    fill: float, second: bool = False, cores: int,
) -> Tensor:  # fmt: skip
    """A matmul with the weights of the chosen experts, after zeros for its whole output."""
    weight = block.tensor([1, COUNT, x.shape[-1], n], "BFLOAT8_B")
    shape = [1, slots, x.shape[-2], n] if second else [1, 1, 1, slots, x.shape[-2], n]
    out = block.tensor(shape, "BFLOAT8_B", L1)
    out = block.unary(f"{role}_fill", "FILL", out, fill, cores=ALL_CORES, parameter="0")
    return block.op(
        role, "SparseMatmul", (x, weight, *given), out, us, cores=cores, fidelity="LoFi",
        compute_kernel_config=block.kernel("LoFi", packer=False), is_input_a_sparse=second, is_input_b_sparse=True,
        nnz="std::nullopt", output_dtype="DataType::BFLOAT8_B", output_mem_config=L1, program_config=config,
        user_core_coord=None,
    )  # fmt: skip


def all_reduced(block: Block, role: str, x: Tensor) -> Tensor:
    """What `ttnn.all_reduce` makes of it."""
    part = block.collective(f"{role}_scatter", "ReduceScatterMinimalDirect", x, HIDDEN // CHIPS, 19.1, ring=CHIPS, links=1, cores=8)  # fmt: skip
    return block.collective(f"{role}_gather", "AllGather", part, HIDDEN, 14.4, ring=CHIPS, links=1, cores=8)


def normed(block: Block, role: str, x: Tensor, *, configs: bool) -> Tensor:
    if not configs:
        return block.norm(role, x, 57.4, cores=1, place=L1)
    placed = block.to_shards(f"{role}_placed", x, block.across(32, HIDDEN, 32), 0.8)
    made = block.norm(role, placed, 5.2, cores=32, config=norm_shards((8, 4), 4))
    return block.from_shards(f"{role}_back", made, 0.9, L1)


def attention(block: Block, x: Tensor, how: How) -> Tensor:
    users = how.users
    wide = block.across(32, 1280, 40)
    config = multicast((8, 5), 16, 1) if how.configs else None
    qkv = block.linear(
        "qkv", x, 1280, 19.8 if config else 60.3, dtype="BFLOAT8_B", config=config, cores=40, place=wide
    )
    q, k, v = block.heads_of_decode("heads", qkv, 4 if users == 1 else 6, heads=HEADS, kv=1, size=SIZE, users=users)
    tables = [block.tensor([1, users, 32, SIZE], place=block.along(32, SIZE, users)) for _ in range(2)]
    turn = block.tensor([1, 1, 32, 32 * users], place=block.along(32, 32, users))
    q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape, place=one.placement or L1), us, cores=users, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=True, output_mem_config=one.placement) for name, one, us in (("q", q, 3.8), ("k", k, 4.1)))  # fmt: skip
    cache = block.tensor([128 * users, 1, 64, SIZE], "BFLOAT8_B")
    block.update_cache("cache_k", cache, k, 5.5)
    block.update_cache("cache_v", cache, v, 6.6)
    out = block.attend_decode("attend", q, cache, 9, config=chunks(0, 128, (8, 8)), cores=64, k_chunk=128)
    out = block.to_shards("attended_placed", out, block.along(32, SIZE, users), 1)
    out = block.moved("joined", "NLPConcatHeadsDecode", out, 2, shape=[1, 1, users, HEADS * SIZE], place=block.across(32, HEADS * SIZE, HEADS), cores=HEADS, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
    out = block.linear("out", out, HIDDEN, 23, dtype="BFLOAT8_B", cores=64, place=block.across(32, HIDDEN, 64))
    out = block.typecast("out_cast", block.from_shards("out_back", out, 1, L1), "BFLOAT8_B", 1.9, cores=64)
    return all_reduced(block, "attention", out)


def routed(block: Block, x: Tensor, how: How) -> tuple[Tensor, Tensor]:
    """The scores and numbers of the chosen experts, or scores of all and who is chosen."""
    users = how.users
    config = multicast((4, 1), 32, 1) if how.configs else None
    logits = block.linear("router", x, COUNT, 11.9 if config else 92, fidelity="HiFi4", fp32=True, packer=False, out="FLOAT32", config=config, cores=4, place=L1)  # fmt: skip
    best = (block.tensor([users, ACTIVE], place=L1), block.tensor([users, ACTIVE], "UINT16", L1))
    bias = block.tensor([users, COUNT], "FLOAT32")
    scores = block.op("topk", "MoeGroupedTopk", (block.view(logits, [users, COUNT]), bias), best, 10, cores=1, fidelity="HiFi4", epsilon="1e-20", n_activated_experts=ACTIVE, n_groups=1, route_scale="1", summed_experts_per_group=1, topk_groups=1)  # fmt: skip
    if how.indexed:
        return scores, rows_of(block, "index_rows", best[1], 1.7)
    index, values = rows_of(block, "index_rows", best[1], 1.7), rows_of(block, "scores_rows", scores, 1.7)
    zeros = rows_of(block, "zeros_rows", block.tensor([users, COUNT]), 1.7)
    spread = block.op("scatter", "Scatter", (zeros, index, values), block.tensor([users, COUNT], layout=ROW_MAJOR), 3.2, cores=1, dim=1)  # fmt: skip
    spread = block.moved("scores", "TilizeWithValPadding", spread, 5.6, layout="TILE", cores=4, fidelity="HiFi4")
    hit = spread
    if users > 1:
        hit = block.op("hit", "Reduce", (spread,), block.tensor([1, COUNT]), 3, cores=4, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    return spread, rows_of(block, "mask_rows", block.view(hit, [1, 1, 1, COUNT]), 1.7)


def shared(block: Block, x: Tensor, *, configs: bool) -> Tensor:
    narrow, wide = (multicast((5, 1), 32, 1), multicast((8, 8), 5, 2, subblock=2)) if configs else (None, None)
    us = 11.1 if configs else 90.1
    gate, up = (block.linear(f"shared_{role}", x, WIDE, us, dtype="BFLOAT8_B", config=narrow, cores=5, place=L1) for role in ("gate", "up"))  # fmt: skip
    hidden = block.binary("shared_gated", "MUL", up, gate, 2, cores=5, rhs="SILU")
    return block.linear("shared_down", hidden, HIDDEN, 3 if configs else 6.9, dtype="BFLOAT8_B", config=wide, cores=64, place=L1)  # fmt: skip


def halves(block: Block, x: Tensor, us: float, last: float) -> Tensor:
    """The gate's half by its activation times the other."""
    shape = x.shape
    ends = [[*shape[:-1], WIDE], [*shape[:-1], 2 * WIDE]]
    starts = [[0] * (len(shape) - 1) + [at] for at in (0, WIDE)]
    gate, up = (block.slice(f"half_{role}", x, starts[n], ends[n], us) for n, role in enumerate(("gate", "up")))
    return block.binary("gated", "MUL", up, gate, last, cores=ALL_CORES, rhs="SILU")


def by_number(block: Block, x: Tensor, scores: Tensor, numbers: Tensor, how: How) -> Tensor:
    """Experts of one user by their numbers."""
    ones = block.tensor([1, 1, 1, COUNT], layout=ROW_MAJOR)
    (us, k_block), (down, grid, subblock) = how.gate_up, how.down
    both = sparse(block, "experts_both", x, (ones, numbers), 2 * WIDE, us, config=multicast((5, 2), k_block, 1), slots=ACTIVE, fill=1.1, cores=10)  # fmt: skip
    hidden = halves(block, block.view(both, [1, ACTIVE, 1, 2 * WIDE]), 1.2, 1.5)
    column = block.turned("scores_turned", block.view(scores, [1, 1, 1, ACTIVE]), 1.5, cores=1)
    column = block.moved("scores_shaped", "ReshapeView", column, 2, shape=[1, ACTIVE, 1, 1], cores=8)
    cores = grid[0] * grid[1]
    config = in_blocks(grid, 128 // cores, subblock)
    hidden = block.binary("scored", "MUL", hidden, column, 1.5, cores=40)
    out = sparse(block, "experts_down", hidden, (ones, numbers), HIDDEN, down, config=config, slots=ACTIVE, fill=3.8, second=True, cores=cores)  # fmt: skip
    return block.op("total", "FastReduceNC", (out,), block.tensor([1, 1, 1, HIDDEN], "BFLOAT8_B", L1), 4, cores=ALL_CORES, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip


def scanned(block: Block, x: Tensor, scores: Tensor, mask: Tensor, how: How) -> Tensor:
    """Experts of one user, found by a scan of all 128."""
    (us, k_block), (down, grid, subblock) = how.gate_up, how.down
    both = sparse(block, "experts_both", x, (mask,), 2 * WIDE, us, config=multicast((5, 2), k_block, 1), slots=COUNT, fill=4.5, cores=10)  # fmt: skip
    both = block.typecast("both_wide", block.view(both, [1, COUNT, 1, 2 * WIDE]), "BFLOAT16", 5, cores=ALL_CORES)
    both = block.turned("both_turned", both, 9, dims="CH", cores=ALL_CORES)
    both = block.typecast("both_narrow", both, "BFLOAT8_B", 2, cores=40)
    hidden = halves(block, block.view(both, [1, COUNT, 2 * WIDE]), 1.5, 2)
    hidden = block.typecast("hidden_wide", hidden, "BFLOAT16", 1.5, cores=20)
    hidden = block.turned("hidden_turned", block.view(hidden, [1, 1, COUNT, WIDE]), 8, dims="CH", cores=ALL_CORES)
    hidden = block.typecast("hidden_narrow", hidden, "BFLOAT8_B", 3, cores=ALL_CORES)
    cores = grid[0] * grid[1]
    config = in_blocks(grid, 128 // cores, subblock)
    out = sparse(block, "experts_down", block.view(hidden, [1, COUNT, 1, WIDE]), (mask,), HIDDEN, down, config=config, slots=COUNT, fill=45.5, second=True, cores=cores)  # fmt: skip
    out = block.typecast("down_wide", out, "BFLOAT16", 24, cores=ALL_CORES)
    out = block.permute("down_turned", out, (0, 2, 1, 3), 42, L1)
    out = block.typecast("down_narrow", out, "BFLOAT8_B", 4, cores=ALL_CORES)
    column = block.permute("scores_turned", block.view(scores, [1, COUNT]), (1, 0), 2)
    column = block.moved("scores_shaped", "ReshapeView", column, 3, shape=[1, COUNT, 1], cores=8)
    out = block.binary("scored", "MUL", block.view(out, [1, COUNT, HIDDEN]), column, 7, cores=ALL_CORES)
    return block.op("total", "Reduce", (out,), block.tensor([1, 1, 1, HIDDEN], "BFLOAT8_B", L1), 12, cores=ALL_CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip


def united(block: Block, x: Tensor, scores: Tensor, mask: Tensor, how: How) -> Tensor:
    """All experts that any of 32 users has, each for all of them."""
    (us, k_block), (down, grid, subblock) = how.gate_up, how.down
    both = sparse(block, "experts_both", x, (mask,), 2 * WIDE, us, config=multicast((5, 2), k_block, 1), slots=COUNT, fill=4.5, cores=10)  # fmt: skip
    hidden = halves(block, block.view(both, [1, COUNT, 32, 2 * WIDE]), 6, 7)
    column = block.permute("scores_turned", scores, (1, 0), 2)
    column = block.moved("scores_shaped", "ReshapeView", column, 6, shape=[1, COUNT, 32, 1], cores=ALL_CORES)
    if how.early:
        hidden = block.binary("scored", "MUL", hidden, column, 12.7, cores=ALL_CORES)
    cores = grid[0] * grid[1]
    config = in_blocks(grid, 128 // cores, subblock)
    out = sparse(block, "experts_down", hidden, (mask,), HIDDEN, down, config=config, slots=COUNT, fill=45.5, second=True, cores=cores)  # fmt: skip
    if not how.early:
        out = block.binary("scored", "MUL", out, column, 58.9, cores=ALL_CORES)
    return block.op("total", "FastReduceNC", (out,), block.tensor([1, 1, 32, HIDDEN], "BFLOAT8_B", L1), how.reduce, cores=ALL_CORES, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=0.9)
        x = block.tensor([1, 1, how.users, HIDDEN], place=L1)
        out = attention(block, normed(block, "norm", x, configs=how.configs), how)
        x = block.binary("attention_added", "ADD", x, out, 2, cores=64, out="BFLOAT16")
        fed = normed(block, "norm_feed", x, configs=how.configs)
        scores, chosen = routed(block, fed, how)
        one = shared(block, fed, configs=how.configs)
        kind = by_number if how.indexed else scanned if how.users == 1 else united
        total = kind(block, fed, scores, chosen, how)
        total = block.binary("shared_added", "ADD", total, one, 12.6 if how.users == 1 else 2.4, cores=64)
        total = all_reduced(block, "feed", total)
        block.binary("feed_added", "ADD", x, total, 2, cores=64, out="BFLOAT16")
        return block

    return build


ONE_D = unbanked(rf"{INTERLEAVED_1D}|{BLOCKS}")
IN_SHARDS = rf"(?s)^(?!.*(?:DRAM.?Sharded|interleaved)).*(?:{INTERLEAVED_1D}|{BLOCKS})"
ROUTED = "experts_both experts_down"
SUBBLOCK = r"out_subblock_w|out_block_w|subblock"
EARLIER = r"(scor|rout|weight|scal|multipl).{0,80}(before|into|ahead|earlier|fold|smaller)|fold|(before|ahead of).{0,40}(down|matmul)"
BY_NUMBER = r"indices|indexed|only the (chosen|selected|active)|top.?k (ids|indices)|compact"
ONE_OP = r"all_reduce_async|one (fused )?(kernel|op|collective)|fus.{0,40}(all.?reduce|collective)"
WIDE_WIRE = r"(reduce|gather|scatter|wire|collective|CCL).{0,80}bfloat16|bfloat16.{0,80}(reduce|gather|scatter|wire|collective|CCL)|without.{0,40}cast|(skip|drop|remov).{0,40}cast"
LINKS = r"num_links ?= ?2|two links|more links|both links"
ROTARY_CACHE = r"fused_qk|fused_update|one op|fus"
ALONE = "in kernels, one chip, alone"
STEP = "a step of 48 layers"
WALL = "of the traced layer"
MADE_UP = (
    "times of what stands between the matmuls, cores of ops in L1, fidelity and sums of the experts' matmuls, gaps"
)
TP = f"{MADE_UP}; that these ops took the same when they were tried"
LATE = How(indexed=True, gate_up=(68.2, 128), down=(20.6, (8, 4), 4))
MANY = How(users=32, gate_up=(668.8, 128), down=(215.9, (8, 8), 2))
CCL = "attention_scatter attention_gather out_cast out_back"
FED_CCL = "feed_scatter feed_gather"

COMMON = (
    gain("norms", "the two norms in shards on 32 cores", 101.0, "norm norm_feed", rf"{SHARDED}|{CORES}", f"57.4 -> 5.2 us and 1.7 for both moves, each, {ALONE}", NORM),
    gain("qkv", "a 1D config of 40 cores with in0_block_w 16 for QKV", 40.5, "qkv", ONE_D, f"60.3 -> 19.8 us, {ALONE}; 20.9 with in0_block_w 8", ATTENTION),
    gain("router", "a 1D config with in0_block_w 32 for the router", 80.1, "router", ONE_D, f"92 -> 11.9 us, {ALONE}; bit-identical", ROUTER),
    gain("shared", "a 1D config with in0_block_w 32 for the shared expert's gate and up", 158.0, "shared_gate shared_up", ONE_D, f"90.1 -> 11.1 us each, {ALONE}", SHARED),
    gain("shared-down", "a 1D config with in0_block_w 5 and a subblock of two for the shared expert's down", 3.9, "shared_down", ONE_D, f"6.9 -> 3.0 us, {ALONE}", SHARED),
)  # fmt: skip
TUNED_DEAD = (
    dead("qkv-block", "in0_block_w 8 for QKV", "qkv", r"in0_block_w\D{0,4}8\b", f"19.8 -> 20.9 us, {ALONE}", ATTENTION),
    dead("norm-cores", "the norms on 64 or 16 cores", "norm norm_feed", rf"{CORES}|block_w", f"5.2 -> 5.4 us on 8 x 8, 5.5 on 4 x 4 and 5.8 on 8 x 2, {ALONE}", NORM),
    dead("router-block", "in0_block_w 16 or 64 for the router", "router", r"in0_block_w\D{0,4}(16|64)\b", f"11.9 -> 13.0 and 12.6 us, {ALONE}", ROUTER),
    dead("out-shards", "a 1D config of 64 cores for the output projection of shards", "out", IN_SHARDS, "0.056 -> 0.064 ms of wall time in that layout", ATTENTION),
    dead("one-link", "the fused all-reduce by one link", f"{CCL} {FED_CCL}", rf"({ONE_OP}).{{0,200}}(one link|num_links ?= ?1\b)|(one link|num_links ?= ?1\b).{{0,200}}({ONE_OP})", "27.0 -> 30.3 us a call, trace wall"),
    dead("wire", "the attention's all-reduce in BFLOAT16, without its cast", "attention_scatter attention_gather out_cast", WIDE_WIRE, "36.4 -> 41.6 us in kernels with the moves; a step of one user 36.45 -> 37.22 ms when the whole branch stays so"),
    dead("gather", "all-gather and a sum instead of the all-reduce", f"{CCL} {FED_CCL}", r"all_gather.{0,80}(sum|add|reduc)|(instead of|no|without|replace).{0,40}reduce.?scatter", "27.0 -> 30.9 us a call, trace wall"),
    dead("line", "the fused all-reduce in a line", f"{CCL} {FED_CCL}", r"Linear\b|as a line", "17.2 -> 24.0 us a call with two links, 47.5 with one, trace wall"),
)  # fmt: skip
MESH_GAINS = (
    gain("links", "two links for the all-reduces", 6.8, "*_scatter *_gather", LINKS, "27.0 -> 23.6 us a call in BFLOAT8_B, trace wall; two calls a layer"),
    gain("fused-attention", "attention's all-reduce as one op, from the projection's shards", 14.5, CCL, ONE_OP, "36.4 -> 21.9 us in kernels with casts and moves, mean of the chips; 30.7 -> 21.1 by trace wall"),
    gain("fused-feed", "the experts' all-reduce as one op between two moves", 11.4, FED_CCL, ONE_OP, "33.4 -> 22.0 us in kernels with the moves, mean of the chips; 27.1 -> 19.9 by trace wall"),
)  # fmt: skip

SOLAR = (
    laid(
        "solar-b1", README, "decode of one user as brought up: 1152 us of a traced layer, 54.4 ms a step",
        decode(How(configs=False)),
        (
            *COMMON,
            gain("gate-up-block", "in0_block_w 128, all of it, for the experts' gate and up", 9.1, "experts_both", BLOCK_W, f"158.7 -> 149.6 us with the fill, {ALONE}; a step did not move (-0.03 ms)", EXPERTS),
            gain("down-subblock", "a subblock of four columns for the experts' down", 26.8, "experts_down", SUBBLOCK, f"178.7 -> 151.9 us with the fill, {ALONE}; 1.4 ms of {STEP}", EXPERTS),
            dead("bfp4", "BFLOAT4_B for the experts", ROUTED, BFP4, f"54.4 -> 54.1 ms of {STEP}: no gain, and less accurate"),
        ),
        MADE_UP,
    ),
    laid(
        "solar-b1-scan", README, "decode of one user, the experts' configs tuned: 1109 us of a traced layer, 52.8 ms a step",
        decode(How(configs=False, gate_up=(145.8, 128), down=(106.4, (8, 4), 4))),
        (
            gain("indexed", "the eight experts by their numbers, outputs of these only", 349.0, f"{ROUTED} *_fill both_* hidden_* half_* gated down_* scores* zeros_rows scatter index_rows mask_rows scored total", BY_NUMBER, f"1.109 -> 0.760 ms {WALL}; 52.83 -> 35.77 ms of {STEP}"),
            dead("down-grid", "64 cores instead of 32 for the experts' down", "experts_down", unbanked(rf"{CORES}|per_core_N"), f"106.4 -> 144.4 us at eight experts, {ALONE}"),
        ),
        MADE_UP,
    ),
    laid(
        "solar-b1-indexed", README, "decode of one user, experts by number, other matmuls as TTNN chose: 760 us of a traced layer",
        decode(replace(LATE, configs=False)),
        (
            dead("late-scores", "the scores multiplied in after the down projection", "scored scores_* experts_down", r"after.{0,40}down|(scor|rout|weight).{0,60}(after|output)", f"0.760 -> 0.763 ms {WALL}; 35.8 -> 36.7 ms of {STEP}", DECODE),
            dead("rows", "the scores turned as rows that are not tiled", "scores_turned scores_shaped", r"row.?major|untilize|to_layout", "0.127 -> 0.130 ms of the traced experts", DECODE),
            dead("wire", "the attention branch in BFLOAT16 to the end of its all-reduce", "attention_scatter attention_gather out_cast", WIDE_WIRE, f"36.45 -> 37.22 ms of {STEP}, and less accurate"),
        ),
        MADE_UP,
    ),
    laid(
        "solar-b1-late", README, "decode of one user, all configs given: 376 us of a traced layer, 18.0 ms a step",
        decode(LATE),
        (
            *MESH_GAINS,
            *TUNED_DEAD,
            gain("down-grid", "64 cores with two columns each for the experts' down", 4.9, "experts_down", unbanked(rf"{CORES}|per_core_N|out_subblock_w"), f"20.6 -> 15.7 us, {ALONE}; 5 us {WALL}"),
            gain("shared-bfp8", "the shared expert's sum in BFLOAT8_B, as what it is added to", 10.0, "shared_added shared_down", BFP8, f"0.289 -> 0.279 ms {WALL}, not blocking"),
            gain("rotary-cache", "one rotary op of queries and keys, one update of the cache", 4.0, "rotary_q rotary_k cache_k cache_v heads", ROTARY_CACHE, f"0.279 -> 0.275 ms {WALL}, not blocking; bit-identical"),
            gain("out", "the output projection from an interleaved input by a 1D config of 64 cores", None, "out out_back", r"interleaved|sharded_to_interleaved", f"0.275 -> 0.273 ms {WALL} when not blocking, 0.296 -> 0.301 when blocking"),
            dead("fp32", "sums in 32 bits for QKV", "qkv", r"fp32_dest_acc_en|fp32", f"0.378 -> 0.377 ms {WALL}: a tie, and less accurate in all", ATTENTION),
            dead("grid", "the fused all-reduce's output on 64 cores", f"{CCL} {FED_CCL}", rf"({ONE_OP}).{{0,200}}(8x8|64 cores)|(8x8|64 cores).{{0,200}}({ONE_OP})", "17.2 -> 30.1 us a call, trace wall"),
        ),
        f"{TP}; the last five changes were measured after the experts had kernels of their own",
    ),
    laid(
        "solar-b32", README, "decode of 32 users as brought up, 112 experts at work: 92.1 ms a step",
        decode(How(users=32, configs=False, early=False, gate_up=(1162 - 4.5, 32), down=(437.9 - 45.5, (8, 8), 1))),
        (
            *COMMON,
            gain("gate-up-block", "in0_block_w 128, all of it, for the experts' gate and up", 201.0, "experts_both", BLOCK_W, f"1162 -> 961 us with the fill, {ALONE}; 5.8 ms of {STEP}", EXPERTS),
            gain("down-subblock", "a subblock of two columns for the experts' down", 130.2, "experts_down", SUBBLOCK, f"437.9 -> 307.7 us with the fill, {ALONE}; 4.4 ms of {STEP}", EXPERTS),
            gain("early-scores", "the scores multiplied into what the down projection reads", 46.2, "scored", EARLIER, f"58.9 -> 12.7 us, {ALONE}; 1.737 -> 1.671 ms {WALL} with what else was done to the layout", DECODE),
            dead("bfp4", "BFLOAT4_B for the experts", ROUTED, BFP4, f"92.1 -> 90.6 ms of {STEP}: no gain, says the ledger, and less accurate"),
        ),
        f"that 112 experts work in this layer (what the matmuls were measured with); {MADE_UP}",
    ),
    laid(
        "solar-b32-late", README, "decode of 32 users, all configs given, 72 experts at work: 1306 us of a traced layer, 62.7 ms a step",
        decode(MANY),
        (
            *MESH_GAINS,
            *TUNED_DEAD,
            gain("out", "the output projection from an interleaved input by a 1D config of 64 cores", 7.8, "out out_back", r"interleaved|sharded_to_interleaved", f"0.726 -> 0.718 ms {WALL}, not blocking; bit-identical"),
            gain("rotary-cache", "one rotary op of queries and keys, one update of the cache", None, "rotary_q rotary_k cache_k cache_v heads", ROTARY_CACHE, f"0.727 -> 0.726 ms {WALL} when not blocking, 0.759 -> 0.753 when blocking"),
            dead("shared-bfp8", "the shared expert's sum in BFLOAT8_B, as what it is added to", "shared_added shared_down", BFP8, f"0.727 -> 0.727 ms {WALL}, not blocking: the addition took 2.4 us"),
        ),
        f"{TP}; the last three changes were measured after the experts had kernels of their own", 1255,
    ),
)  # fmt: skip
