"""Gemma 4 26B A4B over four Blackhole chips (P300c): decode and prefill of its layers of sliding and of full attention.

Hidden 2816, 128 experts of 704 of which eight run, and a shared feed-forward of 2112. A chip has a quarter of the heads
(four queries; two of keys and values of 256, or one of 512), and a quarter of each expert's width (192) or, in prefill
later, 32 whole experts. 4096 tokens, then 128 steps from a trace, one user. Changes were timed from the host; rows of
the first profile and of the one between the two stages are told in kernel times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    BFP4,
    BFP8,
    BLOCK_W,
    BLOCKS,
    COLLECTIVE,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    LOFI,
    SHARDED,
    unbanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

DOC = f"{TT_METAL}/100d5a660d2b9c3120a3bb5d67eb8f8a0ec5871a/models/autoports/google_gemma_4_26b_a4b_it/doc"
LOG, ADVICE = f"{DOC}/multichip_decoder/work_log.md", f"{DOC}/multichip_decoder/optimization_advice_audit.md"
GROUPED = f"{DOC}/multichip_decoder/shared_dram_grouped_results.md"
BANKED = f"{DOC}/multichip_decoder/attention_dram_results.md"
TUNED, README = f"{DOC}/optimized_multichip_decoder/work_log.md", f"{DOC}/optimized_multichip_decoder/README.md"
TRIED = f"{TT_METAL}/dc254cbde8997f0ec8f8f42bccb5aaf1f0e8d69e/models/autoports/google_gemma_4_26b_a4b_it/doc/optimized_multichip_decoder/candidate_comparisons.md"
FINDINGS = f"{DOC}/optimized_multichip_decoder/final_perf_findings.md"
GRID, ALL_CORES, CHIPS = (11, 10), 110, 4
HIDDEN, EXPERTS, ACTIVE, SHARED = 2816, 128, 8, 544
FP32, BFP = "FLOAT32", {16: "BFLOAT16", 8: "BFLOAT8_B", 4: "BFLOAT4_B"}


@dataclass(frozen=True)
class How:
    """A layer of decode; times in us."""

    full: bool = False
    qkv: tuple[float, str, int, int] = (22, "HiFi2", 22, 1)  # time, fidelity, in0_block_w, columns of tiles a core
    out: tuple[float, str, int] = (9.7, "HiFi2", 8)
    experts: tuple[int, float, float, int] = (8, 54, 13.4, 88)  # format, times of both matmuls, cores of the second
    shared: tuple[float, float] = (41, 24.7)
    formats: tuple[int, int] = (8, 8)  # of the shared feed-forward
    geometry: int = 0  # its program configs: TTNN's, 34 cores, 17 cores
    tail: bool = True  # norms in shards, sums fused
    grouped: bool = False  # one reduction of shared and routed sums
    wire: tuple[str, float] = (FP32, 50.8)  # attention's reduction: format and time
    pairs: tuple[str, float] = ("BFLOAT16", 38.7)  # that of the experts
    rope: tuple[bool, float] = (False, 30)  # in shards, time of one
    small: float = 1.0  # factor of the times of small ops
    tiles: float = 9.5

    @property
    def size(self) -> int:
        return 512 if self.full else 256

    @property
    def kv(self) -> int:
        return 1 if self.full else 2


def reduced(block: Block, name: str, x: Tensor, us: float) -> Tensor:
    part = block.collective(f"{name}_scatter", "ReduceScatterMinimalAsync", x, HIDDEN // CHIPS, us / 2, topology="Linear", place=DRAM)  # fmt: skip
    return block.collective(f"{name}_gather", "AllGatherAsync", part, HIDDEN, us / 2, topology="Linear", place=DRAM)


def normed(block: Block, role: str, x: Tensor, how: How, *, sharded: bool) -> Tensor:
    if sharded:
        x = block.to_shards(f"{role}_placed", x, block.across(32, HIDDEN, 11), 2)
        return block.from_shards(f"{role}_back", block.norm(role, x, 6 * how.small, cores=11, config=norm_shards((11, 1), 8)), 2)  # fmt: skip
    wide = x if x.dtype == FP32 else block.typecast(f"{role}_cast", x, FP32, 3.5 * how.small, cores=88)
    return block.norm(role, wide, 16 * how.small, cores=1)


def attended(block: Block, x: Tensor, how: How) -> Tensor:
    heads, size, kv, small = 4, how.size, how.kv, how.small
    us, fidelity, deep, per_n = how.qkv
    columns = (heads + 2 * kv) * size
    cores = columns // 32 // per_n
    config = one_d((8, cores // 8), deep, (1, per_n), subblock=(1, per_n))
    qkv = block.linear("qkv", x, columns, us, dtype=BFP[8], fidelity=fidelity, fp32=True, config=config, cores=cores, out=FP32, place=L1)  # fmt: skip
    made: list[Tensor] = []
    for name, at, count in (("q", 0, heads), ("k", heads, kv), ("v", heads + kv, kv)):
        one = block.slice(f"cut_{name}", qkv, (0, 0, 0, at * size), (1, 1, 1, (at + count) * size), 3 * small)
        one = block.moved(f"heads_{name}", "TilizeWithValPadding", one, how.tiles, shape=[1, 1, count, size], cores=count, fidelity="HiFi4")  # fmt: skip
        one = block.norm(f"norm_{name}", one, 6.5 * small, cores=1)
        if name != "v":
            sharded, turn = how.rope
            if sharded:
                one = block.to_shards(f"rotary_placed_{name}", block.typecast(f"rotary_cast_{name}", one, "BFLOAT16", 2.5, cores=8), block.along(32, size, 1), 1.5)  # fmt: skip
            one = block.rotary(f"rotary_{name}", one, turn, decode=sharded, cores=1 if sharded else count)
            if sharded:
                one = block.from_shards(f"rotary_back_{name}", one, 1.5, L1)
        made.append(one)
    cache = block.tensor([4096, kv, 32, size], BFP[8])
    for name, one in zip("kv", made[1:], strict=True):
        new = block.typecast(f"cache_cast_{name}", one, "BFLOAT16", 3 * small, cores=8)
        new = block.to_shards(f"cache_placed_{name}", new, block.along(32, size, 1), 2)
        block.update_cache(f"cache_{name}", cache, block.view(new, [1, 1, kv, size]), 8)
    q = block.typecast("q_cast", made[0], "BFLOAT16", 3 * small, cores=8)
    out = block.attend_decode("attend", block.view(q, [1, 1, heads, size]), cache, 50 if how.full else 27.2, config=None, cores=64)  # fmt: skip
    out = block.moved("joined", "ReshapeView", out, 6 * small, shape=[1, 1, 1, heads * size], cores=4)
    us, fidelity, deep = how.out
    out = block.linear("out", out, HIDDEN, us, dtype=BFP[8], fidelity=fidelity, fp32=True, config=one_d((11, 8), deep, (1, 1)), cores=88, out=FP32, place=L1)  # fmt: skip
    dtype, us = how.wire
    if dtype != FP32:
        out = block.typecast("out_cast", out, dtype, 2, cores=88)
    return reduced(block, "attention", out, us)


def sparse(  # noqa: PLR0917
    block: Block, role: str, x: Tensor, given: Tensor, n: int, us: float, *, dtype: str, grid: tuple[int, int], deep: int,
    per_n: int, slots: int, owned: int = EXPERTS, second: bool = False,
) -> Tensor:  # fmt: skip
    weight = block.tensor([1, owned, x.shape[-1], n], dtype)
    return block.op(
        role, "SparseMatmul", (x, weight, given), block.tensor([1, 1, 1, slots, 32, n]), us, cores=grid[0] * grid[1],
        fidelity="LoFi", compute_kernel_config=block.kernel("LoFi", packer=False), is_input_a_sparse=second,
        is_input_b_sparse=True, nnz="std::nullopt", output_dtype="DataType::BFLOAT16", output_mem_config=DRAM,
        program_config=one_d(grid, deep, (1, per_n)), user_core_coord=None,
    )  # fmt: skip


def routed(block: Block, x: Tensor, how: How) -> Tensor:
    """The eight experts that the router chooses, by their numbers."""
    small = how.small
    wide = normed(block, "norm_router", x, how, sharded=False)
    logits = block.linear("router", wide, EXPERTS, 13.3, fidelity="HiFi4", fp32=True, config=one_d((4, 1), 22, (1, 1)), cores=4, out=FP32)  # fmt: skip
    chosen = (block.tensor([1, 1, 1, ACTIVE]), block.tensor([1, 1, 1, ACTIVE], "UINT16"))
    scores = block.op("router_gate", "MoeGate", (logits,), chosen, 12 * small, cores=1, fidelity="HiFi4", k=ACTIVE)
    given = block.moved("router_rows", "UntilizeWithUnpadding", chosen[1], 4 * small, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")  # fmt: skip
    scores = block.moved("scores_filled", "FillPad", scores, 12 * small, cores=1)
    y = block.typecast("experts_cast", normed(block, "norm_experts", x, how, sharded=False), BFP[8], 4 * small, cores=88)  # fmt: skip
    dtype, gate_us, down_us, cores = how.experts
    both = sparse(block, "experts_gate_up", y, given, 384, gate_us, dtype=BFP[dtype], grid=(6, 2), deep=44, per_n=1, slots=ACTIVE)  # fmt: skip
    halves = [block.slice(f"experts_{name}", both, (0, 0, 0, 0, 0, at), (1, 1, 1, ACTIVE, 32, at + 192), 4 * small) for name, at in (("gate", 0), ("up", 192))]  # fmt: skip
    hidden = block.binary("experts_gated", "MUL", halves[0], halves[1], 15 * small, cores=48, lhs="GELU")
    out = sparse(block, "experts_down", hidden, given, HIDDEN, down_us, dtype=BFP[4], grid=(11, 8) if cores == 88 else (8, 1), deep=6, per_n=88 // cores, slots=ACTIVE, second=True)  # fmt: skip
    column = block.moved("scores_column", "ReshapeView", scores, 6 * small, shape=[1, ACTIVE, 1, 1], cores=1)
    out = block.binary("experts_weighed", "MUL", block.view(out, [1, ACTIVE, 32, HIDDEN]), column, 32 * small, cores=ALL_CORES)  # fmt: skip
    return block.op("experts_summed", "FastReduceNC", (out,), block.tensor([1, 1, 32, HIDDEN]), 12 * small, cores=88, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip


def fed(block: Block, x: Tensor, how: How) -> Tensor:
    """What all tokens take."""
    y = block.typecast("shared_narrow", normed(block, "norm_shared", x, how, sharded=False), "BFLOAT16", 3 * how.small, cores=88)  # fmt: skip
    config = (None, one_d((11, 4), 44, (1, 1)), one_d((9, 2), 88, (1, 2), subblock=(1, 2)))[how.geometry]
    cores = (34, 34, 17)[how.geometry]
    fidelity = "HiFi2" if how.formats[0] == 16 else "LoFi"
    both = block.linear("shared_gate_up", y, 2 * SHARED, how.shared[0], dtype=BFP[how.formats[0]], fidelity=fidelity, config=config, cores=cores)  # fmt: skip
    halves = [block.slice(f"shared_{name}", both, (0, 0, 0, at), (1, 1, 1, at + SHARED), 3 * how.small) for name, at in (("up", 0), ("gate", SHARED))]  # fmt: skip
    hidden = block.binary("shared_gated", "MUL", halves[1], halves[0], 6 * how.small, cores=17, lhs="GELU", place=L1 if how.geometry else DRAM)  # fmt: skip
    config = one_d((11, 4), 17, (1, 2), subblock=(1, 2)) if how.geometry else None
    return block.linear("shared_down", hidden, HIDDEN, how.shared[1], dtype=BFP[how.formats[1]], fidelity=fidelity, config=config, cores=44 if how.geometry else 88)  # fmt: skip


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=0.5)
        x = block.tensor([1, 1, 1, HIDDEN])
        out = attended(block, normed(block, "norm", x, how, sharded=False), how)
        out = normed(block, "tail_attention", out, how, sharded=how.tail)
        x = block.binary("added", "ADD", x, out, 7 * how.small, cores=88)
        total, shared = routed(block, x, how), fed(block, x, how)
        if how.grouped:
            if how.pairs[0] != "BFLOAT16":
                total, shared = (block.typecast(f"{name}_payload", one, how.pairs[0], 3, cores=88) for name, one in (("routed", total), ("shared", shared)))  # fmt: skip
            both = block.concat("grouped", [shared, total], [1, 2, 32, HIDDEN], 1, 4 * how.small)
            both = reduced(block, "grouped", both, how.pairs[1])
            shared, total = (block.slice(f"ungrouped_{at}", both, (0, at, 0, 0), (1, at + 1, 32, HIDDEN), 4 * how.small) for at in (0, 1))  # fmt: skip
        else:
            total, shared = (reduced(block, name, one, how.pairs[1]) for name, one in (("routed", total), ("shared", shared)))  # fmt: skip
        total, shared = (block.view(one, [1, 1, 1, HIDDEN]) for one in (total, shared))
        total = normed(block, "tail_routed", total, how, sharded=how.tail)
        shared = normed(block, "tail_shared", shared, how, sharded=how.tail)
        total = block.binary("tail_joined", "ADD", total, shared, 9 * how.small, cores=88)
        total = normed(block, "tail_whole", total, how, sharded=how.tail)
        if how.tail:
            block.op("tail_sum", "Ternary", (x, total, block.tensor([1, 1, 1, 1])), block.tensor(x.shape), 8 * how.small, cores=88, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
        else:
            total = block.typecast("tail_narrow", total, "BFLOAT16", 3.5, cores=88)
            y = block.binary("tail_added", "ADD", x, total, 8, cores=88)
            block.binary("tail_scaled", "MUL", y, block.tensor([1, 1, 1, 1]), 8, cores=88)
        return block

    return build


@dataclass(frozen=True)
class Chunk:
    """1024 tokens of a prompt of 4096, experts by groups of 32; times of a group's ops in us."""

    gate: float
    down: float
    rest: float  # of what else a group takes
    gate_block: int = 11
    whole: bool = False  # 32 whole experts on a chip
    few: bool = False  # eight cores for the second matmul


def prefill(how: Chunk) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=0.5)
        tokens, slots, wide = 1024, 32 if how.whole else EXPERTS, 704 if how.whole else 192
        x = block.tensor([1, 1, tokens, HIDDEN])
        y = block.norm("norm", block.typecast("norm_cast", x, FP32, 40, cores=ALL_CORES), 160, cores=32)
        qkv = block.minimal("qkv", y, 2048, 330, dtype=BFP[8], fidelity="HiFi2", cores=ALL_CORES, out=FP32)
        q, k, v = block.split_heads("heads", qkv, 120, heads=4, kv=2, size=256, rows=tokens, cores=32)
        q, k = (block.rotary(f"rotary_{name}", block.norm(f"norm_{name}", one, 70, cores=ALL_CORES), 90, decode=False, cores=ALL_CORES) for name, one in (("q", q), ("k", k)))  # fmt: skip
        out = block.attend("attend", q, k, v, 700, config=None, cores=ALL_CORES, window=1024)
        out = block.join_heads("joined", out, 40, cores=32)
        if how.whole:
            out = block.minimal("out", out, HIDDEN, 150, dtype=BFP[8], fidelity="LoFi", cores=ALL_CORES)
        else:
            out = block.linear("out", out, HIDDEN, 224, dtype=BFP[8], fidelity="HiFi4", fp32=True, config=None, cores=ALL_CORES)  # fmt: skip
        out = reduced(block, "attention", out, 900)
        x = block.binary("added", "ADD", x, block.norm("tail_attention", out, 160, cores=32), 60, cores=ALL_CORES)
        y = block.norm("norm_shared", x, 160, cores=32)
        both = block.linear("shared_gate_up", y, 2 * SHARED, 260, fidelity="HiFi2", cores=ALL_CORES)
        halves = [block.slice(f"shared_{name}", both, (0, 0, 0, at), (1, 1, tokens, at + SHARED), 35) for name, at in (("up", 0), ("gate", SHARED))]  # fmt: skip
        hidden = block.binary("shared_gated", "MUL", halves[1], halves[0], 40, cores=ALL_CORES, lhs="GELU")
        shared = reduced(block, "shared", block.linear("shared_down", hidden, HIDDEN, 190, cores=ALL_CORES), 900)
        wide_y = block.norm("norm_router", x, 160, cores=32)
        logits = block.linear("router", wide_y, EXPERTS, 60, fidelity="HiFi4", fp32=True, cores=ALL_CORES, out=FP32)
        best = (block.tensor([1, 1, tokens, ACTIVE]), block.tensor([1, 1, tokens, ACTIVE], "UINT16"))
        block.op("router_gate", "MoeGate", (logits,), best, 120, cores=32, fidelity="HiFi4", k=ACTIVE)
        y = block.typecast(
            "experts_cast", block.norm("norm_experts", x, 160, cores=32), BFP[8], 40, cores=ALL_CORES
        )
        parts: list[Tensor] = []
        for at in range(0, tokens, 32):
            rows = block.slice(f"rows_{at}", y, (0, 0, at, 0), (1, 1, at + 32, HIDDEN), how.rest * 0.02)
            given = block.tensor([1, 1, 1, slots], layout=ROW_MAJOR)
            n = 2 * wide
            both = sparse(block, f"gate_{at}", rows, given, n, how.gate, dtype=BFP[8], grid=(11, 4) if how.whole else (6, 2), deep=how.gate_block, per_n=1, slots=slots, owned=slots)  # fmt: skip
            halves = [block.slice(f"half_{name}_{at}", both, (0, 0, 0, 0, 0, a), (1, 1, 1, slots, 32, a + wide), how.rest * 0.13) for name, a in (("gate", 0), ("up", wide))]  # fmt: skip
            hidden = block.binary(f"gated_{at}", "MUL", halves[0], halves[1], how.rest * 0.16, cores=ALL_CORES, lhs="GELU")  # fmt: skip
            grid, per_n = ((8, 1), 11) if how.few else ((11, 8), 1)
            out = sparse(block, f"down_{at}", hidden, given, HIDDEN, how.down, dtype=BFP[4], grid=grid, deep=22 if how.whole else 6, per_n=per_n, slots=slots, owned=slots, second=True)  # fmt: skip
            out = block.binary(f"weighed_{at}", "MUL", block.view(out, [1, slots, 32, HIDDEN]), block.tensor([1, slots, 32, 1]), how.rest * 0.31, cores=ALL_CORES)  # fmt: skip
            parts.append(block.op(f"summed_{at}", "FastReduceNC", (out,), block.tensor([1, 1, 32, HIDDEN]), how.rest * 0.25, cores=88, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4")))  # fmt: skip
        total = reduced(block, "routed", block.concat("groups", parts, [1, 1, tokens, HIDDEN], 2, 90), 900)
        total, shared = (block.norm(f"tail_{name}", one, 160, cores=32) for name, one in (("routed", total), ("shared", shared)))  # fmt: skip
        total = block.norm("tail_whole", block.binary("tail_joined", "ADD", total, shared, 60, cores=ALL_CORES), 160, cores=32)  # fmt: skip
        block.binary("tail_added", "ADD", x, total, 60, cores=ALL_CORES)
        return block

    return build


V0 = How(
    qkv=(55.65, "HiFi4", 2, 1), out=(9.656, "HiFi4", 8), experts=(8, 54.05, 53.09, 8), formats=(16, 16), tail=False, pairs=("BFLOAT16", 39)
)  # fmt: skip
PAIRED = How()
LATER = replace(
    PAIRED, qkv=(22, "LoFi", 22, 1), out=(9.7, "LoFi", 8), shared=(11, 6.4), geometry=1, grouped=True, pairs=("BFLOAT16", 58.5),
    wire=("BFLOAT16", 37.9),
)  # fmt: skip
BASE = replace(
    LATER, qkv=(18.9, "LoFi", 22, 2), out=(7, "LoFi", 32), experts=(4, 44.7, 13.5, 88), formats=(4, 8), geometry=2,
    pairs=(BFP[8], 47.1), rope=(True, 2.8), small=0.95,
)  # fmt: skip
FULL = replace(PAIRED, full=True, qkv=(30, "LoFi", 22, 2), experts=(4, 45.1, 13.5, 88), formats=(4, 4), shared=(40, 24), tiles=28, small=0.8)  # fmt: skip
FULL_LATER = replace(
    FULL, qkv=(26.2, "LoFi", 22, 2), out=(14, "LoFi", 8), shared=(8, 5), geometry=1, grouped=True, pairs=("BFLOAT16", 58.5),
    wire=(BFP[8], 33.1),
)  # fmt: skip

FIRST = Chunk(4874.8, 883.5, 400, gate_block=1, few=True)
SECOND = Chunk(950, 161, 400)
WHOLE = Chunk(290, 85, 120, gate_block=22, whole=True)

GATHERS = "attention_scatter attention_gather grouped_scatter grouped_gather"
SHARED_PAIR = "shared_gate_up shared_down"
ONE_SUM = r"one (all.?reduce|reduce.?scatter|reduction|collective)|(merg|join|group|concat|combin|pack).{0,60}(all.?reduce|reduce.?scatter|reduction|collective)|(all.?reduce|reduce.?scatter|reduction|collective)s?.{0,60}(merg|join|group|concat|combin|pack|together)"
NORM_SHARDS = r"norm.{0,80}shard|shard.{0,80}norm|LayerNormSharded|fus.{0,60}(norm|residual|add)|addcmul"
NARROW = r"bfloat16|BF16|narrow|half the (bytes|payload)|lower.precision payload"
WIDER = rf"{BLOCK_W}|subblock|per_core_N|columns of tiles a core|{CONFIG}"
SPLIT = r"split|separate|unpack|(two|three) (matmuls|linears)|own (matmul|linear)|matmul each"
OWNERS = r"expert.parallel|whole experts?|experts? (each|per) (chip|device)|own(s|ing)? .{0,20}experts"
CARRIED = r"(residual|hidden).{0,60}(shard|fractur|split)|(shard|fractur).{0,60}residual|distributed.{0,20}norm|all_gather_matmul|matmul_reduce_scatter|fus.{0,60}(gather|scatter)"
PERSISTENT = r"persistent|preallocat|reus.{0,40}buffer"
WALL = "; wall of a traced step"
MADE_UP = "times of small ops and their kinds, cores of those, links, how a reduction's time divides; gaps"
CHUNK_MADE_UP = "that 1024 tokens stand for a quarter of the prompt and its savings; times of all but the experts' matmuls and the output's, cores, gaps"

GEMMA4_MESH = (
    laid(
        "gemma4-p300-v0", ADVICE, "sliding attention, decode, the first port over four chips: 938.3 us a step", decode(V0),
        (
            gain("down", "the experts' second matmul on 88 cores, one column of tiles each, not on eight", 39.7, "experts_down", rf"{CORES}|per_core_N|{CONFIG}", f"938.33 -> 898.61 us, 53.1 us in the profile before{WALL}"),
            gain("projections", "QKV with in0_block_w 22 in HiFi2, the output's with a config and L1", 34.2, "qkv out", unbanked(rf"{BLOCKS}|{HIFI2}"), f"898.61 -> 864.36 us; 55.7 and 9.7 us in the profile before{WALL}", LOG),
            gain("tail", "the last norms in shards, the residual's sum and scale in one op, not FP32 norms of their own", 47.8, "tail_*", NORM_SHARDS, f"864.36 -> 816.58 us{WALL}", LOG),
            dead("owners", "32 whole experts on a chip, sparsity at run time", "experts_* routed_*", OWNERS, "864.36 -> 936.39 us", LOG),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-p300-shared", GROUPED, "sliding attention, decode, the shared feed-forward as TTNN sets it: 817.8 us a step", decode(PAIRED),
        (
            gain("geometry", "1D configs for the shared feed-forward: in0_block_w 44 on 34 cores, 17 on 44", 48.3, SHARED_PAIR, unbanked(rf"{BLOCKS}|\b1D\b"), f"817.75 -> 769.43 us{WALL}"),
            gain("banks", "the shared feed-forward's weights over the DRAM banks", 34.1, SHARED_PAIR, DRAM_SHARDED, f"817.75 -> 783.62 us, and slower than 1D configs{WALL}"),
            gain("grouped", "shared and routed sums in one reduction", 19.0, "routed_scatter routed_gather shared_scatter shared_gather", ONE_SUM, f"769.43 -> 750.40 us{WALL}"),
            gain("wire", "attention's sums to BFLOAT16 before their reduction", 12.9, "attention_scatter attention_gather", NARROW, f"748.79 -> 735.84 us{WALL}", LOG),
            dead("lofi", "LoFi for QKV and the output's projection", "qkv out", LOFI, "750.40 -> 748.79 us: no more than noise", LOG),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-p300-full-shared", GROUPED, "full attention, decode, the shared feed-forward as TTNN sets it: 812.3 us a step", decode(FULL),
        (
            gain("geometry", "1D configs for the shared feed-forward: in0_block_w 44 on 34 cores, 17 on 44", 50.9, SHARED_PAIR, unbanked(rf"{BLOCKS}|\b1D\b"), f"812.31 -> 761.41 us{WALL}"),
            gain("banks", "the shared feed-forward's weights over the DRAM banks", 37.7, SHARED_PAIR, DRAM_SHARDED, f"812.31 -> 774.58 us, and slower than 1D configs{WALL}"),
            gain("grouped", "shared and routed sums in one reduction", 19.5, "routed_scatter routed_gather shared_scatter shared_gather", ONE_SUM, f"761.41 -> 741.93 us{WALL}"),
            gain("wire", "attention's sums to BFLOAT16 before their reduction", 12.7, "attention_scatter attention_gather", NARROW, f"741.31 -> 728.62 us{WALL}", LOG),
            gain("wire8", "attention's sums to BFLOAT8_B before their reduction", 17.3, "attention_scatter attention_gather", BFP8, f"741.31 -> 723.98 us{WALL}", LOG),
            dead("lofi", "LoFi for the output's projection", "out", LOFI, "741.93 -> 741.31 us: no more than noise", LOG),
            dead("carried", "the residual in shards over the chips, gathers fused with QKV", "attention_* routed_* shared_scatter shared_gather tail_*", CARRIED, "937.3 us, 933.9 with the fused op, where about 812 is without", LOG),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-p300-rope", LOG, "sliding attention, decode, one reduction of the experts' sums: 737.6 us a step", decode(LATER),
        (
            gain("qkv", "two columns of tiles a core for QKV, on 32 cores", 6.1, "qkv", WIDER, f"737.56 -> 731.48 us{WALL}"),
            gain("rope", "rotation of BFLOAT16 in height shards, not of FP32 interleaved", 59.7, "rotary_*", r"shard|bfloat16|BF16", f"731.48 -> 671.71 us{WALL}"),
            gain("out", "in0_block_w 32 for the output's projection", None, "out", BLOCK_W, "671.71 -> 658.02 us of a traced step, more than the 9.7 us that the op took in the first profile"),
            gain("pairs", "the experts' sums to BFLOAT8_B before their reduction", 2.6, "grouped_scatter grouped_gather", BFP8, f"658.02 -> 655.43 us{WALL}"),
            dead("banks-qkv", "QKV's weights over the DRAM banks", "qkv", DRAM_SHARDED, "735.84 -> 736.70 us", BANKED),
            dead("banks-out", "the output's weights over the DRAM banks", "out", DRAM_SHARDED, "735.84 -> 743.37 us", BANKED),
            dead("banks-shared", "the shared feed-forward's weights over the DRAM banks", SHARED_PAIR, DRAM_SHARDED, "769.43 -> 783.62 us", GROUPED),
            dead("wire8", "attention's sums to BFLOAT8_B before their reduction", "attention_scatter attention_gather", BFP8, "737.44 -> 737.56 us"),
            dead("qkv-block", "in0_block_w 44 or 88 for QKV", "qkv", BLOCK_W, "no faster than 671.71 us"),
            dead("router-block", "in0_block_w 44 or 88 for the router", "router", BLOCK_W, "no faster than 671.71 us"),
            dead("gate-wide", "two columns of tiles a core for the experts' first matmul, six cores", "experts_gate_up", WIDER, "737.56 -> 758.72 us; 762.15 with in0_block_w 88"),
            dead("down-wide", "two columns of tiles a core for the experts' second matmul, 44 cores", "experts_down", WIDER, "737.56 -> 739.49 us"),
            dead("split", "gate and up of the experts by a matmul each", "experts_gate_up", SPLIT, "658.02 -> 702.06 us"),
            dead("split-shared", "gate and up of the shared feed-forward by a matmul each", "shared_gate_up", SPLIT, "658.02 -> 662.63 us"),
            dead("owners", "32 whole experts on a chip, sparsity at run time", "experts_* grouped_*", OWNERS, "735.84 -> 808.40 us"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-p300-full-later", LOG, "full attention, decode, one reduction of the experts' sums: 724.3 us a step", decode(FULL_LATER),
        (
            dead("rope", "rotation of BFLOAT16 in height shards, in two halves of 256", "rotary_*", r"shard", "724.29 -> 740.51 us"),
            dead("banks-qkv", "QKV's weights over the DRAM banks", "qkv", DRAM_SHARDED, "723.98 -> 730.12 us", BANKED),
            dead("banks-out", "the output's weights over the DRAM banks", "out", DRAM_SHARDED, "723.98 -> 731.68 us", BANKED),
            dead("banks-shared", "the shared feed-forward's weights over the DRAM banks", SHARED_PAIR, DRAM_SHARDED, "761.41 -> 774.58 us", GROUPED),
            dead("out-block", "in0_block_w 16, 32 or 64 for the output's projection", "out", BLOCK_W, "no faster than 724.29 us"),
            dead("qkv-block", "in0_block_w 44 or 88 for QKV", "qkv", BLOCK_W, "no faster than 724.29 us"),
            dead("gate-wide", "two columns of tiles a core for the experts' first matmul, six cores", "experts_gate_up", WIDER, "724.29 -> 756.21 us; 758.50 with in0_block_w 88"),
            dead("down-wide", "two columns of tiles a core for the experts' second matmul, 44 cores", "experts_down", WIDER, "724.29 -> 725.28 us"),
            dead("split", "gate and up of the experts by a matmul each", "experts_gate_up", SPLIT, "724.29 -> 762.60 us"),
            dead("pairs", "the experts' sums to BFLOAT8_B before their reduction", "grouped_scatter grouped_gather", BFP8, "724.29 -> 727.59 us"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-p300-base", TUNED, "sliding attention, decode, before the second stage: 650.3 us a step, 588.3 in kernels", decode(BASE),
        (
            dead("qkv4", "BFLOAT4_B for QKV's weights", "qkv", BFP4, "649.09 -> 646.62 us, and not taken: two layers on end fall under their gate", faster=True),
            dead("qkv-split", "QKV by three matmuls", "qkv", SPLIT, "644.09 -> 670.51 us", TRIED),
            dead("banks", "QKV's weights over the DRAM banks, one to three readers", "qkv", DRAM_SHARDED, "655.01 us with one reader, 661.90 with two, where 650.32 is without"),
            dead("workers", "one worker a link for the collectives", GATHERS, rf"{COLLECTIVE}|workers? a link", "644.09 -> 643.06 us: no more than noise", TRIED),
            dead("l1-residual", "the residual in L1 shards of four cores", "tail_* added norm*", rf"{SHARDED}|{IN_L1}", "650.32 -> 685.40 us"),
            dead("activation8", "attention's activations in BFLOAT8_B", "qkv out", BFP8, "644.09 -> 665.38 us", TRIED),
            dead("shared8", "the shared feed-forward's activations in BFLOAT8_B", SHARED_PAIR, BFP8, "644.09 -> 653.26 us", TRIED),
            dead("carried", "the residual in shards over the chips, gathers or scatters fused with matmuls", f"{GATHERS} tail_*", CARRIED, "801.8 to 818.7 us", TRIED),
        ),
        MADE_UP, 588.3,
    ),
    laid(
        "gemma4-p300-sliding8", TUNED, "sliding attention, decode, experts' first weights in BFLOAT8_B for their accuracy: 656.5 us a step",
        decode(replace(BASE, experts=(8, 48, 13.5, 88))),
        (
            gain("persistent", "persistent buffers in L1 for the collectives' outputs", 3.5, GATHERS, rf"{PERSISTENT}|{IN_L1}", f"656.49 -> 652.97 us{WALL}"),
            dead("qkv-block", "in0_block_w 44 or 88 for QKV", "qkv", BLOCK_W, "652.97 us with 22, 652.53 with 44, 653.91 with 88"),
            dead("qkv-narrow", "one or four columns of tiles a core for QKV", "qkv", r"per_core_N|subblock|cores|columns of tiles a core|grid", "652.53 -> 658.82 and 656.60 us"),
            dead("gate-block", "in0_block_w 88 for the experts' first matmul", "experts_gate_up", BLOCK_W, "652.53 -> 655.32 us"),
            dead("gate-wide", "two columns of tiles a core for the experts' first matmul", "experts_gate_up", r"per_core_N|subblock|columns of tiles a core", "652.53 -> 679.14 us; 681.94 with in0_block_w 88"),
            dead("hifi2", "HiFi2 for QKV", "qkv", HIFI2, "652.53 -> 655.59 us"),
            dead("banks", "QKV's weights over the DRAM banks, two readers", "qkv", DRAM_SHARDED, "652.53 -> 661.68 us"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-p300-full-base", TUNED, "full attention, decode, before the second stage: 724.8 us a step, 667.1 in kernels",
        decode(replace(FULL_LATER, wire=(BFP[8], 33), small=0.73, rope=(False, 28.9))),
        (
            gain("persistent", "persistent buffers for the collectives", 9.5, GATHERS, PERSISTENT, f"724.81 -> 715.31 us{WALL}"),
            gain("qkv4", "BFLOAT4_B for QKV's weights", None, "qkv", BFP4, "taken, but timed with the collectives' buffers in L1: 715.31 -> 702.63 us"),
            dead("out4", "BFLOAT4_B for the output's weights", "out", BFP4, "700.91 us and wrong for 32 users; 701.86 without it", README, faster=True),
            dead("qkv-split", "QKV by three matmuls", "qkv", SPLIT, "702.63 -> 724.18 us", TRIED),
            dead("qkv-narrow", "one column of tiles a core for QKV, 96 cores", "qkv", r"per_core_N|subblock|cores|columns of tiles a core|grid", "719.80 us, where 702.63 is with two"),
            dead("workers", "two workers a link for the collectives", GATHERS, rf"{COLLECTIVE}|workers? a link", "702.63 -> 700.84 us: no more than noise", TRIED),
            dead("l1-residual", "the residual in L1 shards of four cores", "tail_* added norm*", rf"{SHARDED}|{IN_L1}", "724.81 -> 751.18 us"),
            dead("activation8", "attention's activations in BFLOAT8_B", "qkv out", BFP8, "702.63 -> 731.42 us", TRIED),
            dead("shared8", "the shared feed-forward's activations in BFLOAT8_B", SHARED_PAIR, BFP8, "702.63 -> 712.76 us", TRIED),
            dead("carried", "the residual in shards over the chips, gathers or scatters fused with matmuls", f"{GATHERS} tail_*", CARRIED, "860.1 to 888.0 us", TRIED),
        ),
        MADE_UP, 667.1,
    ),
    laid(
        "gemma4-p300-prefill-v0", ADVICE, "sliding attention, 1024 of 4096 tokens, the first port: the whole prompt 820.0 ms", prefill(FIRST),
        (gain("blocks", "in0_block_w 11 for gate and up, the second matmul on 88 cores, not eight", 148_700, "gate_* down_*", rf"{BLOCK_W}|{CORES}|{CONFIG}", "819.99 -> 225.14 ms of the whole prompt, a quarter of it"),),
        CHUNK_MADE_UP,
    ),
    laid(
        "gemma4-p300-prefill-v2", LOG, "sliding attention, 1024 of 4096 tokens, a quarter of each expert on a chip: the whole prompt 224.2 ms", prefill(SECOND),
        (
            gain("owners", "32 whole experts on a chip, each chip those that its tokens chose", 30_970, "gate_* half_* gated_* down_* weighed_* summed_*", OWNERS, "224.25 -> 100.37 ms of the whole prompt, a quarter of it"),
            gain("tail", "the last norms in shards, the residual's sum and scale in one op", None, "tail_*", NORM_SHARDS, "224.25 -> 218.61 ms of the whole prompt with its decode's changes"),
        ),
        CHUNK_MADE_UP,
    ),
    laid(
        "gemma4-p300-prefill", FINDINGS, "sliding attention, 1024 of 4096 tokens, whole experts: the whole prompt 92.7 to 93.3 ms", prefill(WHOLE),
        (
            dead("qkv-l1", "QKV's input in L1", "norm qkv", IN_L1, "0.4 to 0.5 % at first, gone when repeated"),
            dead("out-l1", "the output projection's input in L1", "joined out", IN_L1, "0.4 to 0.5 % at first, gone when repeated"),
            dead("router-l1", "the router's input in L1", "norm_router router", IN_L1, "92.69 -> 92.72 ms when repeated"),
            dead("shared-l1", "the shared feed-forward's input in L1", "norm_shared shared_gate_up", IN_L1, "2.3 to 2.4 % slower"),
            dead("shared-block", "in0_block_w 17 for the shared feed-forward's second matmul", "shared_down", BLOCK_W, "0.1 to 0.4 % of a layer, not taken", TRIED),
        ),
        CHUNK_MADE_UP,
    ),
)  # fmt: skip
