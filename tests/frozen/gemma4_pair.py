"""Gemma 4 26B A4B over two Blackhole chips, and over four on a ring: another port than that of `gemma4_mesh`.

A chip has a half or a quarter of the heads, of the shared feed-forward (2112, with four chips padded to 2176) and of
each expert's width (704, or 768). The residual is whole on each chip, in L1 shards of 22 cores; three all-reduces a
layer have buffers of their own. 1024 tokens, then a step of one user. Times are of warm runs from the host, decode from
a trace; of the last state the ledger tells sums of kernel times, some 40 us less than those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, CORES, DRAM_SHARDED, IN_L1, PACKED, SHARDED, TWO_D

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/housTT/tt-metal/blob/d03bc791f7c2dbf9fc955332b53544e120fe1b16/models/autoports/google_gemma_4_26b_a4b_it/doc/optimized_multichip_decoder"
LOG, README = f"{HOME}/work_log.md", f"{HOME}/README.md"
TIMED = f"{HOME}/candidates/{{}}_seq1024_batch1_host_timings.json"
SLIDING, FULL = "layer0_sliding_attention", "layer5_full_attention"
GRID, ALL_CORES, HIDDEN, EXPERTS, ACTIVE = (11, 10), 110, 2816, 128, 8


@dataclass(frozen=True)
class How:
    """A layer of decode; times in us."""

    chips: int = 2
    full: bool = False
    qkv: float = 58
    out: float = 33
    dense: tuple[float, ...] = (24, 24, 19)  # gate, up, down
    carried: bool = False  # the shared feed-forward in the residual's shards
    experts: tuple[float, ...] = (78, 78, 66)  # gate, up, down; one for both if two
    indexed: bool = False
    sums: float = 20  # an all-reduce
    small: float = 1.0

    @property
    def size(self) -> int:
        return 512 if self.full else 256

    @property
    def part(self) -> int:
        return 352 if self.chips == 2 else 192

    @property
    def shared(self) -> int:
        return 1056 if self.chips == 2 else 544


def summed(block: Block, name: str, x: Tensor, how: How) -> Tensor:
    place = block.across(32, HIDDEN, 22)
    sharded = x.placement is not None and x.placement.shard is not None
    placed = block.reshard(f"{name}_sum_placed", x, place, 2.2) if sharded else block.to_shards(f"{name}_sum_placed", x, place, 2.2)  # fmt: skip
    return block.collective(f"{name}_sum", "AllReduceAsync", placed, HIDDEN, how.sums, ring=how.chips, links=how.chips // 2, topology="Linear" if how.chips == 2 else "Ring")  # fmt: skip


def normed(block: Block, role: str, x: Tensor, how: How) -> Tensor:
    return block.norm(role, x, 7 * how.small, cores=22, config=norm_shards((11, 2), 4))


def attended(block: Block, x: Tensor, how: How) -> Tensor:
    heads, kv, size, small = 16 // how.chips, max(1, (2 if how.full else 8) // how.chips), how.size, how.small
    dtype = "BFLOAT8_B" if how.full else "BFLOAT16"
    columns = (heads + 2 * kv) * size
    cores = columns // 64
    qkv = block.linear("qkv", x, columns, how.qkv, dtype=dtype, config=one_d((8, cores // 8), 2, (1, 2), subblock=(1, 2)), cores=cores)  # fmt: skip
    q, k, v = block.split_heads("heads", qkv, 9 * small, heads=heads, kv=kv, size=size, rows=1, cores=1)
    q, k, v = (block.norm(f"norm_{name}", one, 8 * small, cores=heads if name == "q" else kv) for name, one in (("q", q), ("k", k), ("v", v)))  # fmt: skip
    q, k = (block.rotary(f"rotary_{name}", one, (24 if how.full else 13) * small, decode=False, cores=heads) for name, one in (("q", q), ("k", k)))  # fmt: skip
    cache = block.tensor([17, kv, 64, size])
    for name, one in (("k", k), ("v", v)):
        turned = block.turned(f"cache_turned_{name}", one, 6 * small, dims="CH", cores=kv)
        placed = block.to_shards(f"cache_placed_{name}", turned, block.along(32, size, 1), 2.2)
        block.update_cache(f"cache_{name}", cache, placed, 8 * small)
    q = block.turned("q_turned", q, 6 * small, dims="CH", cores=heads)
    out = block.attend_decode("attend", q, cache, 52 if how.full else 32, config=chunks(0, 128, (8, 8)), cores=64, k_chunk=128)  # fmt: skip
    out = block.moved("joined", "ReshapeView", out, 8 * small, shape=[1, 1, 1, heads * size], cores=8)
    if how.chips == 4:
        out = block.to_shards("out_placed", out, block.across(32, heads * size, 8), 2.2)
        return block.linear("out", out, HIDDEN, how.out, dtype=dtype, config=banked(2, 11), cores=8, place=block.across(32, HIDDEN, 8), banks=True)  # fmt: skip
    return block.linear(
        "out", out, HIDDEN, how.out, dtype=dtype, config=one_d((11, 8), 4, (1, 1)), cores=88, place=L1
    )


def sparse(block: Block, role: str, x: Tensor, given: Tensor, n: int, us: float, how: How) -> Tensor:  # noqa: PLR0917
    second = role.endswith("down")
    slots = ACTIVE if how.indexed else EXPERTS
    tiles = n // 32
    per_n = 1 if tiles % 2 or second else 2
    cores = tiles // per_n
    grid = next((cores // rows, rows) for rows in range(1, 11) if cores % rows == 0 and cores // rows <= 11)
    return block.op(
        role, "SparseMatmul", (x, block.tensor([1, EXPERTS, x.shape[-1], n], "BFLOAT8_B"), given),
        block.tensor([1, 1, 1, slots, 32, n]), us, cores=cores, fidelity="LoFi", compute_kernel_config=block.kernel("LoFi"),
        is_input_a_sparse=second, is_input_b_sparse=True, nnz="std::nullopt" if how.indexed else "8",
        output_dtype="DataType::BFLOAT16", output_mem_config=DRAM,
        program_config=one_d(grid, x.shape[-1] // 32 // (1 if second else 4), (1, per_n)), user_core_coord=None,
    )  # fmt: skip


def routed(block: Block, x: Tensor, how: How) -> Tensor:
    small, part, slots = how.small, how.part, ACTIVE if how.indexed else EXPERTS
    y = block.from_shards("router_back", normed(block, "norm_router", x, how), 2.2)
    logits = block.linear("router", block.typecast("router_cast", y, "FLOAT32", 3, cores=88), EXPERTS, 15, dtype="FLOAT32", fidelity="HiFi4", fp32=True, cores=4, out="FLOAT32")  # fmt: skip
    best = (block.tensor([1, 1, 1, ACTIVE]), block.tensor([1, 1, 1, ACTIVE], "UINT16"))
    scores = block.op("topk", "TopK", (block.typecast("logits_cast", logits, "BFLOAT16", 2, cores=4),), best, 24 * small, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    scores = block.softmax("scores", scores, 7 * small, cores=1)
    if how.indexed:
        given = block.moved(
            "numbers", "UntilizeWithUnpadding", best[1], 3, layout=ROW_MAJOR, cores=1, fidelity="HiFi4"
        )
    else:
        given = block.op("scores_spread", "Scatter", (block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), scores, best[1]), block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), 6 * small, cores=1, dim=3)  # fmt: skip
    y = block.from_shards("experts_back", normed(block, "norm_experts", x, how), 2.2)
    each = 5 if how.indexed else 13
    if len(how.experts) == 3:
        gate, up = (sparse(block, f"experts_{name}", y, given, part, us, how) for name, us in zip(("gate", "up"), how.experts, strict=False))  # fmt: skip
    else:
        both = sparse(block, "experts_gate_up", y, given, 2 * part, how.experts[0], how)
        gate, up = (block.slice(f"experts_cut_{name}", both, (0, 0, 0, 0, 0, at), (1, 1, 1, slots, 32, at + part), each) for name, at in (("up", 0), ("gate", part)))  # fmt: skip
    hidden = block.binary("experts_gated", "MUL", gate, up, each + 4, cores=ALL_CORES, lhs="GELU")
    out = sparse(block, "experts_down", hidden, given, HIDDEN, how.experts[-1], how)
    out = block.binary("experts_weighed", "MUL", block.view(out, [1, slots, 32, HIDDEN]), block.tensor([1, slots, 32, 1]), 2 * each + 8, cores=ALL_CORES)  # fmt: skip
    return block.op("experts_total", "FastReduceNC", (out,), block.tensor([1, 1, 32, HIDDEN]), each + 8, cores=88, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip


def fed(block: Block, x: Tensor, how: How) -> Tensor:
    y, dtype, n = normed(block, "norm_dense", x, how), "BFLOAT8_B", how.shared
    config = one_d((11, 3), 4, (1, 1))
    where = block.across(32, n, 11) if how.carried else DRAM
    if not how.carried:
        y = block.from_shards("dense_back", y, 3.5)
    if how.chips == 4:  # weights over the DRAM banks, gate and up in one
        y = block.to_shards("dense_placed", y, block.across(32, HIDDEN, 8), 2.2)
        both = block.linear("dense_gate_up", y, 2 * n, sum(how.dense[:2]), dtype=dtype, config=banked(11, 5), fidelity="LoFi", cores=8, place=block.across(32, 2 * n, 8), banks=True)  # fmt: skip
        both = block.from_shards("dense_both_back", both, 2.2)
        gate, up = (block.slice(f"dense_cut_{name}", both, (0, 0, 0, at), (1, 1, 1, at + n), 3) for name, at in (("gate", 0), ("up", n)))  # fmt: skip
        hidden = block.binary("dense_gated", "MUL", gate, up, 6, cores=17, lhs="GELU")
        hidden = block.to_shards("dense_hidden_placed", hidden, block.across(32, n, 17), 2.2)
        out = block.linear("dense_down", hidden, HIDDEN, how.dense[2], dtype=dtype, fidelity="LoFi", config=banked(1, 6), cores=8, place=block.across(32, HIDDEN, 17), banks=True)  # fmt: skip
        out = summed(block, "dense", out, how)
        return block.to_shards("dense_restored", block.from_shards("dense_left", out, 3), block.across(32, HIDDEN, 22), 3)  # fmt: skip
    gate, up = (block.linear(f"dense_{name}", y, n, us, dtype=dtype, config=config, fidelity="LoFi", cores=33, place=where) for name, us in zip(("gate", "up"), how.dense, strict=False))  # fmt: skip
    hidden = block.binary("dense_gated", "MUL", gate, up, 7, cores=33, lhs="GELU")
    out = block.linear("dense_down", hidden, HIDDEN, how.dense[2], dtype=dtype, fidelity="LoFi", config=one_d((11, 8), 1, (1, 1)), cores=88, place=block.across(32, HIDDEN, 22) if how.carried else DRAM)  # fmt: skip
    if how.carried:
        return block.collective("dense_sum", "AllReduceAsync", out, HIDDEN, how.sums, ring=how.chips, links=how.chips // 2, topology="Linear" if how.chips == 2 else "Ring")  # fmt: skip
    out = summed(block, "dense", out, how)
    return block.to_shards(
        "dense_restored", block.from_shards("dense_left", out, 3), block.across(32, HIDDEN, 22), 3
    )


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=how.chips, grid=GRID, gap_us=0.5)
        x = block.to_shards("placed", block.tensor([1, 1, 1, HIDDEN]), block.across(32, HIDDEN, 22), 2.2)
        y = block.from_shards("qkv_back", normed(block, "norm", x, how), 2.2)
        out = normed(block, "norm_out", summed(block, "out", attended(block, y, how), how), how)
        x = block.binary("added", "ADD", x, out, 5 * how.small, cores=22)
        shared, total = fed(block, x, how), summed(block, "experts", routed(block, x, how), how)
        shared, total = (normed(block, f"norm_{name}_out", one, how) for name, one in (("dense", shared), ("experts", total)))  # fmt: skip
        total = normed(block, "norm_both", block.binary("joined_both", "ADD", shared, total, 5 * how.small, cores=22), how)  # fmt: skip
        x = block.binary("added_feed", "ADD", x, total, 5 * how.small, cores=22)
        block.from_shards(
            "restored", block.binary("scaled", "MUL", x, block.tensor([1, 1, 1, 1]), 5, cores=22), 2.2
        )
        return block

    return build


def prefill(
    chips: int, gate_us: float, down_us: float, rest_us: float, *, full: bool = False
) -> Callable[[], Block]:
    """1024 tokens; the experts by groups of 32, gate and up each by a matmul; times of a group's ops."""

    def build() -> Block:
        block = Block("blackhole", devices=chips, grid=GRID, gap_us=0.5)
        how, rows, heads, kv = How(chips, full=full), 1024, 16 // chips, max(1, (2 if full else 8) // chips)
        x = block.tensor([1, 1, rows, HIDDEN])
        dtype = "BFLOAT8_B" if full else "BFLOAT16"
        size, n = how.size, (heads + 2 * kv) * how.size
        qkv = block.linear("qkv", block.norm("norm", x, 110, cores=32), n, 420, dtype=dtype, cores=88)
        q, k, v = block.split_heads("heads", qkv, 130, heads=heads, kv=kv, size=size, rows=rows, cores=32)
        q, k = (block.rotary(f"rotary_{name}", block.norm(f"norm_{name}", one, 80, cores=ALL_CORES), 90, decode=False, cores=ALL_CORES) for name, one in (("q", q), ("k", k)))  # fmt: skip
        out = block.join_heads("joined", block.attend("attend", q, k, v, 600, config=None, cores=ALL_CORES, window=None if full else 1024), 50, cores=32)  # fmt: skip
        out = block.linear("out", out, HIDDEN, 280, dtype=dtype, cores=88)
        ring = {"ring": chips, "links": chips // 2, "topology": "Linear" if chips == 2 else "Ring"}
        out = block.norm("norm_out", block.collective("out_sum", "AllReduceAsync", out, HIDDEN, 330, **ring), 110, cores=32)  # fmt: skip
        x = block.binary("added", "ADD", x, out, 45, cores=ALL_CORES)
        y = block.norm("norm_experts", x, 110, cores=32)
        parts: list[Tensor] = []
        for at in range(0, rows, 32):
            own = block.slice(f"rows_{at}", y, (0, 0, at, 0), (1, 1, at + 32, HIDDEN), 6)
            given = block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR)
            gate, up = (
                sparse(block, f"{name}_{at}", own, given, how.part, gate_us, how) for name in ("gate", "up")
            )
            hidden = block.binary(f"gated_{at}", "MUL", gate, up, rest_us * 0.25, cores=ALL_CORES, lhs="GELU")
            out = sparse(block, f"{at}_down", hidden, given, HIDDEN, down_us, how)
            out = block.binary(f"weighed_{at}", "MUL", block.view(out, [1, EXPERTS, 32, HIDDEN]), block.tensor([1, EXPERTS, 32, 1]), rest_us * 0.4, cores=ALL_CORES)  # fmt: skip
            parts.append(block.op(f"total_{at}", "FastReduceNC", (out,), block.tensor([1, 1, 32, HIDDEN]), rest_us * 0.35, cores=88, fidelity="HiFi4", dim=1, compute_kernel_config=block.kernel("HiFi4")))  # fmt: skip
        out = block.concat("groups", parts, [1, 1, rows, HIDDEN], 2, 90)
        out = block.collective("experts_sum", "AllReduceAsync", out, HIDDEN, 330, **ring)
        block.binary("added_feed", "ADD", x, block.norm("norm_both", out, 110, cores=32), 45, cores=ALL_CORES)
        return block

    return build


BASE, BASE_FULL = How(), How(full=True, qkv=52, out=62)
PLACED = replace(BASE, dense=(14, 14, 11), carried=True, experts=(106, 66), small=0.85)
FOUR = How(chips=4, qkv=34, out=14, dense=(5, 5, 7), experts=(66, 42), sums=18.7, small=0.93)
TO_SHARDS = rf"{SHARDED}|{IN_L1}"
BY_NUMBER = r"ind(ex|ic)|top.?k (id|numb)|compact|nnz"
DENSE = "dense_*"
BOTH = "experts_gate experts_up"
SUMS = "out_sum dense_sum experts_sum"
MADE_UP = (
    "times of all ops, so that a step takes some 40 us less than from the host; core counts, in0_block_w; gaps"
)
WALL = "; wall of a traced step"
GEMMA4_PAIR = (
    laid(
        "gemma4-tp2-sliding", LOG, "two chips, sliding attention, decode: 845.1 us a step", decode(BASE),
        (
            gain("carried", "the shared feed-forward in L1 shards from norm to residual, without ways to DRAM", 55.0, DENSE, TO_SHARDS, f"845.15 -> 790.15 us{WALL}", TIMED.format(f"coherent_r22_dense/p150x2/{SLIDING}")),
            gain("packed", "one matmul for gate and up of the experts", 50.3, BOTH, PACKED, f"790.15 -> 739.82 us{WALL}", TIMED.format(f"packed_expert_both/p150x2/{SLIDING}")),
            dead("out", "the output's weights over the DRAM banks", "out", DRAM_SHARDED, "739.82 -> 740.12 us"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-tp2-full", LOG, "two chips, full attention, decode: 943.9 us a step", decode(BASE_FULL),
        (
            gain("carried", "the shared feed-forward in L1 shards from norm to residual, without ways to DRAM", 51.2, DENSE, TO_SHARDS, f"943.89 -> 892.72 us{WALL}", TIMED.format(f"coherent_r22_dense/p150x2/{FULL}")),
            gain("packed", "one matmul for gate and up of the experts", 55.1, BOTH, PACKED, f"892.72 -> 837.66 us{WALL}", TIMED.format(f"packed_expert_both/p150x2/{FULL}")),
            gain("out", "the output's weights over the DRAM banks", 36.3, "out", DRAM_SHARDED, f"837.66 -> 801.36 us{WALL}"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-tp2-packed", LOG, "two chips, sliding attention, decode, gate and up in one: 739.8 us a step", decode(PLACED),
        (gain("indexed", "the experts' matmuls over the eight numbers and scores of the router, not over 128 with nnz", 92.9, "experts_gate_up experts_cut_* experts_gated experts_down experts_weighed experts_total", BY_NUMBER, f"739.82 -> 646.95 us, the last change between{WALL}"),),
        MADE_UP,
    ),
    laid(
        "gemma4-tp2-indexed", LOG, "two chips, sliding attention, decode, the last state: 646.9 us a step, 608.8 in kernels",
        decode(replace(PLACED, indexed=True, experts=(82, 47), small=0.8)),
        (
            dead("wide", "two columns of tiles a core for gate and up, subblock 1 x 2", "experts_gate_up", r"per_core_N|subblock|columns of tiles a core", "646.95 -> 666.38 us"),
            dead("qkv", "QKV's weights over the DRAM banks", "qkv", DRAM_SHARDED, "646.95 -> 669.84 us with in0_block_w 11, 684.79 with 1"),
            dead("sums8", "the sums to BFLOAT8_B before their all-reduce", SUMS, BFP8, "6535.6 -> 6548.5 us of 32 users; one user is not told"),
        ),
        MADE_UP, 608.8,
    ),
    laid(
        "gemma4-tp4ring-sliding", LOG, "four chips, sliding attention, decode: 677.4 us a step", decode(FOUR),
        (
            gain("indexed", "the experts' matmuls over the eight numbers and scores of the router, not over 128 with nnz", 82.1, "experts_gate_up experts_cut_* experts_gated experts_down experts_weighed experts_total", BY_NUMBER, f"676.45 -> 594.38 us, the state before QKV's change{WALL}"),
            gain("qkv", "QKV's weights over the DRAM banks", 9.3, "qkv", DRAM_SHARDED, f"594.26 and 594.50 -> 584.68 and 585.39 us{WALL}"),
            dead("carried", "the shared feed-forward in L1 shards from norm to residual, in0_block_w 1", DENSE, TO_SHARDS, "677.39 -> 690.09 us"),
            dead("scan", "the experts' matmuls without nnz, over all 128 scores", "experts_gate_up experts_down", r"(without|no|drop|remov|omit).{0,20}nnz|nnz.{0,10}None", "790.69 us, where 677.39 is with nnz 8"),
            dead("sums8", "the sums to BFLOAT8_B before their all-reduce", SUMS, BFP8, "677.39 -> 685.66 us, and PCC 0.991 of 32 users"),
            dead("links", "one link for the all-reduces", SUMS, r"(one|1|single|fewer) links?|num_links ?= ?1\b", "677.39 -> 720.69 us"),
            dead("unkept", "all-reduces without buffers of their own", SUMS, r"persistent|buffer", "0.2 to 0.3 % less: no more than noise"),
            dead("fractured", "the residual in shards over the chips: six scatters and gathers of norms' statistics", "norm* out_sum dense_sum experts_sum added*", r"reduce.?scatter|fractur|distributed.{0,20}norm|residual.{0,40}(shard|split)", "652.1 -> 844.3 us after 33 tokens", README),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-tp2-prefill", LOG, "two chips, sliding attention, 1024 tokens: 70.7 ms", prefill(2, 700, 320, 390),
        (
            gain("packed", "one matmul for gate and up of the experts", 17_870, "gate_* up_*", PACKED, "70.75 -> 52.88 ms", TIMED.format(f"packed_expert_both/p150x2/{SLIDING}")),
            dead("grid", "2D configs on 110 cores for QKV and the output's projection", "qkv out", rf"{TWO_D}|{CORES}", "52.65 -> 53.09 ms"),
            dead("l1", "the experts' input in L1", "rows_* gate_* up_*", IN_L1, "52.65 -> 52.81 ms"),
            dead("grid-l1", "the same 2D configs, their inputs in L1", "norm qkv joined out", IN_L1, "52.65 -> 52.78 ms"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-tp2-full-prefill", LOG, "two chips, full attention, 1024 tokens: 77.8 ms", prefill(2, 800, 340, 390, full=True),
        (
            gain("packed", "one matmul for gate and up of the experts", 20_360, "gate_* up_*", PACKED, "77.77 -> 57.42 ms", TIMED.format(f"packed_expert_both/p150x2/{FULL}")),
            dead("grid", "2D configs on 110 cores for QKV and the output's projection", "qkv out", rf"{TWO_D}|{CORES}", "57.38 -> 57.38 ms"),
            dead("l1", "the experts' input in L1", "rows_* gate_* up_*", IN_L1, "57.38 -> 57.43 ms"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-tp4ring-prefill", LOG, "four chips, sliding attention, 1024 tokens: 78.7 ms", prefill(4, 840, 310, 380),
        (
            gain("packed", "one matmul for gate and up of the experts", 15_160, "gate_* up_*", PACKED, "78.70 -> 63.54 ms", TIMED.format(f"packed_expert_both/p150x4/{SLIDING}")),
            dead("grid", "2D configs on 110 cores for QKV and the output's projection", "qkv out", rf"{TWO_D}|{CORES}", "63.52 -> 63.86 ms"),
            dead("l1", "the experts' input in L1", "rows_* gate_* up_*", IN_L1, "63.52 -> 63.49 ms: no more than noise"),
        ),
        MADE_UP,
    ),
)  # fmt: skip
