"""Qwen3.6 35B A3B (256 experts, eight of them active) on one Blackhole chip (P150): decode, checked drafts, prefill.

Hidden 2048; 30 layers of a gated delta rule (32 states of 128 by 128, a convolution of four taps over 8192 channels) and
ten of attention (16 heads of 256 with two of keys and values, and a gate); experts of 512 in BFLOAT4_B, and a shared one in
BFLOAT16. One user, whose row is one of a tile's 32, replayed from a trace. The ledger tells ms of a token over 40 layers
before and after each change, times of parts of a layer from a profile of four, and single ops replayed from a trace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, one_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import (
    BFP4,
    BFP8,
    BLOCK_W,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    IN_L1,
    INTERLEAVED_1D,
    MINIMAL,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/Knight-Ops/tt-metal/blob"
FOLDER = "models/demos/qwen3_6_a3b"
DECODE = f"{HOME}/5a12b25b341b5722a9a026fd114b6ea9dfa28b9e/{FOLDER}/FUTURE_OPTIMIZATIONS.md"
ROOF = f"{HOME}/5a12b25b341b5722a9a026fd114b6ea9dfa28b9e/{FOLDER}/ROOFLINE.md"
CHECKED = f"{HOME}/224f98fafb797bfb30da05d84aa577364b181825/{FOLDER}/EXPERIMENTS.md"
PREFILL = f"{HOME}/2a6f3c9a3e4ed678936673a699ef1ac10da5d1f0/{FOLDER}/PREFILL.md"
GRID, ALL_CORES = (11, 10), 110
HIDDEN, EXPERTS, ACTIVE, WIDE, HEADS, KV, SIZE = 2048, 256, 8, 512, 16, 2, 256
STATES, STATE, CONV, DELTA = 32, 128, 8192, 4096
FP8, FP4, BF16 = "BFLOAT8_B", "BFLOAT4_B", "BFLOAT16"


@dataclass(frozen=True)
class How:
    """A step of decode; times in us."""

    experts: tuple[float, float] = (56.9, 35.6)
    block: int = 32  # in0_block_w of the experts' first matmul
    short_router: bool = True  # softmax over the chosen, and a mask that is there before
    shared: tuple[float, float] = (18.4, 12.8)
    shared_1d: bool = True
    rows_apart: bool = True  # of the convolution
    banks: bool = True  # the output's weights over the DRAM banks
    queries_banks: bool = True
    keys: float = 12.7  # of keys, and of values
    attend: float = 18.8
    depth: int = 1024


LAST = How()
THIRD = replace(LAST, shared=(38.0, 19.9), shared_1d=False, keys=34.4)
SECOND = replace(THIRD, experts=(66.0, 35.6), block=16, short_router=False)
FIRST = replace(SECOND, experts=(90.8, 38.0), block=8, rows_apart=False, banks=False, queries_banks=False)


def plain(block: Block, role: str, x: Tensor, n: int, us: float, *, dtype: str, wide: bool = False, fidelity: str = "HiFi2") -> Tensor:  # fmt: skip
    """A matmul that TTNN chose a config for, or a 1D one over 22 cores."""
    config = one_d((11, 2), 8 if x.shape[-1] > WIDE else 4, (1, -(-n // 32 // 22))) if wide else None
    return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=config, cores=22 if wide else min(n // 32, 104), place=L1)  # fmt: skip


def over_banks(block: Block, role: str, x: Tensor, n: int, us: float) -> Tensor:
    placed = block.to_shards(f"{role}_placed", x, block.across(32, x.shape[-1], 8), 3.5)
    made = block.linear(role, placed, n, us, dtype=FP8, config=banked(x.shape[-1] // 32 // 8, n // 32 // 8), cores=8, place=block.across(32, n, 8), banks=True)  # fmt: skip
    return block.from_shards(f"{role}_flat", made, 3.5, L1)


def sparse(block: Block, how: How, number: int, x: Tensor, given: tuple[Tensor, Tensor]) -> Tensor:
    role, n = (("experts_up", 2 * WIDE), ("experts_down", HIDDEN))[number]
    cores = n // 32
    weight = block.tensor([1, EXPERTS, x.shape[-1], n], FP4)
    return block.op(
        role, "SparseMatmul", (x, weight, *given), block.tensor([1, 1, 1, ACTIVE, 32, n], place=L1), how.experts[number],
        cores=cores, fidelity="LoFi", compute_kernel_config=block.kernel("LoFi"), is_input_a_sparse=number == 1,
        is_input_b_sparse=True, nnz=str(ACTIVE), output_dtype=f"DataType::{BF16}", output_mem_config=L1,
        program_config=one_d((8, cores // 8), min(how.block, (64, 16)[number]), (1, 1)),
        user_core_coord=None,
    )  # fmt: skip


def routed(block: Block, how: How, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    logits = plain(block, "router", x, EXPERTS, 29.7, dtype=BF16)
    best = (block.tensor([1, 1, 32, 32], place=L1), block.tensor([1, 1, 32, 32], "UINT16", place=L1))
    given = logits if how.short_router else block.softmax("router_softmax", logits, 14, cores=1)
    values = block.op("router_topk", "TopK", (given,), best, 30, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True)  # fmt: skip
    if how.short_router:
        values = block.softmax("router_softmax", values, 7, cores=1)
        return values, block.tensor([1, 1, 1, EXPERTS], layout=ROW_MAJOR), best[1]
    total = block.op("router_sum", "Reduce", (values,), block.tensor([1, 1, 32, 32], place=L1), 9, cores=1, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
    values = block.binary("router_divided", "DIV", values, total, 8.1, cores=1)
    zeros = block.binary("router_zeros", "MUL", given, block.tensor(given.shape, place=L1), 2.5, cores=8)
    spread = block.op("router_scatter", "Scatter", (zeros, best[1], values), block.tensor([1, 1, 32, EXPERTS], place=L1), 9, cores=1, dim=3)  # fmt: skip
    return values, block.moved("router_mask", "UntilizeWithUnpadding", spread, 11.6, layout=ROW_MAJOR, cores=8, fidelity="HiFi4"), best[1]  # fmt: skip


def fed(block: Block, how: How, x: Tensor) -> Tensor:
    """The experts and the shared one."""
    y = block.norm("norm_feed", x, 30.1, cores=1)
    weights, mask, index = routed(block, how, y)
    up = sparse(block, how, 0, y, (mask, index))
    shape = [1, 1, 1, ACTIVE, 32, WIDE]
    halves = [block.slice(f"experts_{name}", up, (*[0] * 5, n * WIDE), (1, 1, 1, ACTIVE, 32, (n + 1) * WIDE), 2.6) for n, name in enumerate(("gate", "value"))]  # fmt: skip
    hot = block.binary("experts_gated", "MUL", halves[0], halves[1], 4.8, cores=ACTIVE * 16, lhs="SILU")
    down = sparse(block, how, 1, block.view(hot, shape), (mask, index))
    weighed = block.binary("experts_weighed", "MUL", block.view(down, [1, ACTIVE, 32, HIDDEN]), block.view(weights, [1, 1, 32, 32]), 3, cores=ALL_CORES)  # fmt: skip
    y1 = block.op("experts_sum", "Reduce", (weighed,), block.tensor([1, 1, 32, HIDDEN], place=L1), 3.1, cores=64, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    both = plain(block, "shared_up", y, 2 * WIDE, how.shared[0], dtype=BF16, wide=how.shared_1d)
    parts = [block.slice(f"shared_{name}", both, (0, 0, 0, n * WIDE), (1, 1, 32, (n + 1) * WIDE), 1.1) for n, name in enumerate(("gate", "value"))]  # fmt: skip
    hot = block.binary("shared_gated", "MUL", parts[0], parts[1], 2.4, cores=16, lhs="SILU")
    y2 = plain(block, "shared_down", hot, HIDDEN, how.shared[1], dtype=BF16, wide=how.shared_1d)
    y2 = block.binary("shared_weighed", "MUL", y2, block.tensor(y2.shape, place=L1), 5.8, cores=64, rhs="SIGMOID")
    return block.binary("residual_feed", "ADD", x, block.binary("combined", "ADD", y1, y2, 1.5, cores=64), 1.6, cores=64)  # fmt: skip


def convolved(block: Block, how: How, x: Tensor) -> Tensor:
    """Four taps over this row and three that came before."""
    rows = [block.tensor([1, 1, 32, CONV], place=L1) for _ in range(3)]
    if how.rows_apart:
        parts = [block.binary(f"conv_tap_{n}", "MUL", one, block.tensor([1, 1, 32, CONV], place=L1), 3.2, cores=ALL_CORES) for n, one in enumerate((*rows, x))]  # fmt: skip
        total = parts[0]
        for n, one in enumerate(parts[1:]):
            total = block.binary(f"conv_add_{n}", "ADD", total, one, 3, cores=ALL_CORES)
        for n, one in enumerate((*rows[1:], x)):
            block.op(f"conv_kept_{n}", "Copy", (one, rows[n]), rows[n], 4.5, cores=ALL_CORES)
        return block.unary("conv_silu", "SILU", total, 4.8, cores=ALL_CORES)
    window = block.concat("conv_window", [block.tensor([1, 1, 3, CONV], place=L1), x], [1, 1, 4, CONV], 2, 75)
    block.slice("conv_kept", window, (0, 0, 1, 0), (1, 1, 4, CONV), 79)
    window = block.binary("conv_taps", "MUL", window, block.tensor([1, 1, 4, CONV], place=L1), 8, cores=ALL_CORES)
    total = block.op("conv_sum", "Reduce", (window,), block.tensor([1, 1, 32, CONV], place=L1), 10, cores=ALL_CORES, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    return block.unary("conv_silu", "SILU", total, 5, cores=ALL_CORES)


def delta(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.7)
        x = block.tensor([1, 1, 32, HIDDEN], place=L1)
        y = plain(block, "in_all", block.norm("norm", x, 30.1, cores=1), 12352, 74.2, dtype=FP8)
        given = [block.slice(f"cut_{n}", y, (0, 0, 0, at), (1, 1, 32, at + wide), 1.1) for n, (at, wide) in enumerate(((0, CONV), (CONV, DELTA), (CONV + DELTA, 64)))]  # fmt: skip
        y = convolved(block, how, given[0])
        state = block.tensor([1, STATES, STATE, STATE], "FLOAT32")
        y = block.op("recurrence", "GenericOp", (y, given[1], given[2], state), block.tensor([1, 1, 32, DELTA], place=L1), 74.9, cores=STATES)  # fmt: skip
        out = over_banks(block, "out", y, HIDDEN, 16.6) if how.banks else plain(block, "out", y, HIDDEN, 82.3, dtype=FP8)  # fmt: skip
        fed(block, how, block.binary("residual", "ADD", x, out, 1.7, cores=64))
        return block

    return build


def attention(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.7)
        x = block.tensor([1, 1, 32, HIDDEN], place=L1)
        y = block.norm("norm", x, 30.1, cores=1)
        wide = HEADS * SIZE
        q, gate = (over_banks(block, role, y, wide, 24.9) if how.queries_banks else plain(block, role, y, wide, 47.8, dtype=FP8) for role in ("query", "gate"))  # fmt: skip
        k, v = (
            plain(block, role, y, KV * SIZE, how.keys, dtype=FP8, wide=how.keys < 20) for role in ("key", "value")
        )
        q, k = (block.norm(f"{role}_norm", block.view(one, [1, 1, heads, SIZE]), 12.7, cores=1) for role, one, heads in (("query", q, HEADS), ("key", k, KV)))  # fmt: skip
        turned: list[Tensor] = []
        for role, one in (("query", q), ("key", k)):
            first = block.slice(f"{role}_turned_part", one, (0, 0, 0, 0), (1, 1, one.shape[-2], 64), 2)
            rest = block.slice(f"{role}_rest", one, (0, 0, 0, 64), (1, 1, one.shape[-2], SIZE), 2)
            halves = [block.slice(f"{role}_half_{n}", first, (0, 0, 0, 32 * n), (1, 1, one.shape[-2], 32 * (n + 1)), 1.2) for n in (0, 1)]  # fmt: skip
            turn = block.concat(f"{role}_halves", [block.unary(f"{role}_negated", "NEG", halves[1], 1.2, cores=1), halves[0]], first.shape, 3, 2)  # fmt: skip
            parts = [block.binary(f"{role}_{wave}", "MUL", given, block.tensor(first.shape, place=L1), 1.2, cores=1) for wave, given in (("cos", first), ("sin", turn))]  # fmt: skip
            first = block.binary(f"{role}_sum", "ADD", *parts, 1.2, cores=1)
            turned.append(block.concat(f"{role}_whole", [first, rest], one.shape, 3, 2.8))
        cache = block.tensor([how.depth // 32, KV, 32, SIZE])
        for role, one in (("key", turned[1]), ("value", v)):
            placed = block.to_shards(
                f"{role}_padded", block.view(one, [1, 1, KV, SIZE]), block.along(32, SIZE, 1), 4.9
            )
            block.update_cache(f"{role}_kept", cache, placed, 5)
        y = block.attend_decode("attend", block.view(turned[0], [1, 1, HEADS, SIZE]), cache, how.attend, config=None, cores=ALL_CORES, place=L1)  # fmt: skip
        y = block.binary("attend_gated", "MUL", block.view(y, [1, 1, 32, wide]), gate, 3.4, cores=64, rhs="SIGMOID")
        out = over_banks(block, "out", y, HIDDEN, 26.9) if how.banks else plain(block, "out", y, HIDDEN, 82.5, dtype=FP8)  # fmt: skip
        fed(block, how, block.binary("residual", "ADD", x, out, 1.7, cores=64))
        return block

    return build


def checked() -> Block:
    """The delta rule over three drafted tokens, between its norm and the residual."""
    block = Block("blackhole", grid=GRID, gap_us=0.7)
    x = block.tensor([1, 1, 3, HIDDEN])
    both = block.linear("in_all", x, 12352, 84.5, dtype=FP8, cores=104)
    y = block.slice("cut", both, (0, 0, 0, 0), (1, 1, 3, CONV), 2)
    pads = [
        block.moved(f"padded_{name}", "Pad", y, 1.5, shape=[1, 1, 32, CONV], cores=ALL_CORES) for name in "qkvz"
    ]
    window = block.concat("conv_window", [block.tensor([1, 1, 3, CONV]), pads[0]], [1, 1, 6, CONV], 2, 123.4)
    total: Tensor | None = None
    for n in range(4):
        one = block.slice(f"conv_rows_{n}", window, (0, 0, n, 0), (1, 1, n + 3, CONV), 62)
        one = block.binary(f"conv_tap_{n}", "MUL", one, block.tensor([1, 1, 3, CONV]), 4.5, cores=ALL_CORES)
        total = block.binary(f"conv_add_{n}", "ADD", total, one, 5.4, cores=ALL_CORES) if total else one
    y = block.unary("conv_silu", "SILU", total or window, 12.7, cores=ALL_CORES)
    block.slice("conv_state", window, (0, 0, 3, 0), (1, 1, 6, CONV), 86.8)
    rows = [block.moved(f"rows_{name}", "Transpose", y, 15.7, shape=[1, STATES, 96, STATE], cores=STATES, fidelity="HiFi4", dim="TransposeOpDim::HC", pad_value=0) for name in "qkvz"]  # fmt: skip
    decays = [block.moved(f"repeated_{name}", "Repeat", block.tensor([1, 3, 1, STATES]), 55.2, shape=[1, 96, 32, STATE], cores=ALL_CORES) for name in "ba"]  # fmt: skip
    state = block.tensor([1, STATES, STATE, STATE], "FLOAT32")
    y = block.op("recurrence", "GenericOp", (*rows, *decays, state), block.tensor([1, STATES, 96, STATE]), 160, cores=STATES)  # fmt: skip
    y = block.moved("back", "Transpose", y, 19.5, shape=[1, 1, 3, DELTA], cores=STATES, fidelity="HiFi4", dim="TransposeOpDim::HC", pad_value=0)  # fmt: skip
    block.linear("out", y, HIDDEN, 94.8, dtype=FP8, cores=64)
    return block


def reuse(block_w: int, per_n: int) -> str:
    return (
        f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=11,y=10),in0_block_w={block_w},"
        f"out_subblock_h=1,out_subblock_w=4,per_core_M=8,per_core_N={per_n})"
    )


def dense(
    us: tuple[float, float, float, float, float], block_w: int | None, kept: str = BF16
) -> Callable[[], Block]:
    """All experts over all of 256 tokens: the repeat, both matmuls and what stands between, the sum."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=2.0)
        repeat, up, between, down, total = us

        def product(role: str, x: Tensor, n: int, time: float) -> Tensor:
            config = reuse(block_w, n // 32) if block_w else None
            weight = block.tensor([1, EXPERTS, x.shape[-1], n], FP4)
            return block.op(role, "Matmul", (x, weight), block.tensor([1, EXPERTS, 256, n], kept if role == "down" else BF16), time, cores=ALL_CORES if block_w else 8, fidelity="LoFi", bcast_batch=False, compute_kernel_config=block.kernel("LoFi"), output_dtype=f"DataType::{BF16}", output_mem_config=DRAM, program_config=config, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip

        x = block.tensor([1, 1, 256, HIDDEN], kept)
        spread = block.moved("repeat", "Repeat", x, repeat, shape=[1, EXPERTS, 256, HIDDEN], cores=ALL_CORES)
        both = product("up", spread, 2 * WIDE, up)
        halves = [block.slice(f"cut_{name}", both, (0, 0, 0, n * WIDE), (1, EXPERTS, 256, (n + 1) * WIDE), between / 5) for n, name in enumerate(("gate", "value"))]  # fmt: skip
        hot = block.binary("gated", "MUL", halves[0], halves[1], between * 0.4, cores=ALL_CORES, lhs="SILU")
        hot = block.binary("weighed", "MUL", hot, block.tensor([1, EXPERTS, 256, 1]), between / 5, cores=ALL_CORES, out=kept)  # fmt: skip
        out = product("down", hot, HIDDEN, down)
        block.op("sum", "Reduce", (out,), block.tensor([1, 1, 256, HIDDEN]), total, cores=ALL_CORES, fidelity="HiFi4", dim="ReduceOpDim::N", math_op="ReduceOpMath::SUM")  # fmt: skip
        return block

    return build


EACH = "a token over 40 layers"
FEED = "repeat up cut_* gated weighed down sum"
ROUTED = "router_*"
MADE_UP = (
    "times of single ops within a part of a layer, whose sum a profile of four layers tells; what they keep in L1; "
    "fidelities; gaps"
)
CACHE = r"bfloat8_b|\bBFP8\b"
QWEN36_A3B = (
    laid(
        "a3b-delta-first", DECODE, "decode, July: 0.510 ms of the delta rule and 0.348 of the experts", delta(FIRST),
        (
            gain("banks", "the output's projection over the DRAM banks, eight cores", 51.4, "out", DRAM_SHARDED, "82.3 -> 30.9 us with moves to shards and back, from a trace; 2.67 times alone"),
            gain("experts-block", "in0_block_w 16 for both matmuls of the experts, for 8", 27, "experts_up experts_down", BLOCK_W, "0.348 -> 0.321 ms of the experts in each of 40 layers"),
            gain("rows", "rows of the convolution kept apart, and added after their taps", 128, "conv_*", r"concat|separate|apart|add.chain|sub.?tile|row slice", f"0.451 -> 0.323 ms of the delta rule in each of 30 layers; 31.79 -> 28.92 ms {EACH}"),
        ),
        MADE_UP,
    ),
    laid(
        "a3b-delta-second", DECODE, "decode after the convolution's rows: 28.92 ms a token", delta(SECOND),
        (
            gain("experts-block", "in0_block_w 32 for the experts' first matmul, for 16", 6.8, "experts_up", BLOCK_W, f"28.92 -> 28.65 ms {EACH}; alone 66.0 -> 56.9 us"),
            gain("router", "top-k of the logits, softmax over the chosen eight, and a mask made once", 47, ROUTED, r"top.?k.{0,160}softmax|softmax.{0,160}top.?k|scatter|sparsity", f"28.61 -> 26.72 ms {EACH}: 0.318 -> 0.271 ms of the experts"),
            dead("norms", "both norms in width shards on eight cores", "norm norm_feed", SHARDED, f"28.73 -> 28.73 ms {EACH}, though 33 -> 10 us alone"),
            dead("shared-banks", "the shared expert's second matmul over the DRAM banks", "shared_down", DRAM_SHARDED, f"nothing {EACH}: the moves to shards take what it saves"),
        ),
        MADE_UP,
    ),
    laid(
        "a3b-delta-third", DECODE, "decode after the router: 26.74 ms a token", delta(THIRD),
        (
            gain("shared", "1D configs on 22 cores for both matmuls of the shared expert", 18, "shared_up shared_down", rf"{INTERLEAVED_1D}|{CONFIG}|{BLOCK_W}", f"0.72 ms {EACH}; alone 38.0 -> 18.4 and 19.9 -> 12.8 us"),
            dead("router-1d", "a 1D config on 66 cores for the router's matmul", "router", rf"{INTERLEAVED_1D}|{CONFIG}|{BLOCK_W}", f"0.70 ms less {EACH}, but a PCC of 0.9857 where 0.99 is asked: other experts are chosen", faster=True),
        ),
        MADE_UP,
    ),
    laid(
        "a3b-delta-last", DECODE, "decode as kept: 25.49 ms a token", delta(LAST),
        (
            dead("shared-bfp8", "BFLOAT8_B for the router and the shared expert", "router shared_up shared_down", BFP8, f"25.49 -> 25.43 ms {EACH}: nothing"),
            dead("delta-bfp4", "BFLOAT4_B for both projections of the delta rule", "in_all out", BFP4, f"25.43 -> 24.97 ms {EACH}, but a prefill in chunks differs from a whole one", faster=True),
            dead("experts-block", "in0_block_w 64 for the experts' first matmul", "experts_up", BLOCK_W, "56.9 -> 57.2 us"),
            dead("experts-own", "moe_compute for the experts", "experts_up experts_down", r"moe_compute", "reads all 256 experts: 3.6 ms a layer where this takes 0.25"),
            dead("experts-cores", "more cores for the experts' matmuls", "experts_up experts_down", CORES, "refused: per_core_N 1 is the least, and a core for each 32 columns the most"),
        ),
        MADE_UP,
    ),
    laid(
        "a3b-attention-first", DECODE, "decode, July: 0.382 ms of attention", attention(FIRST),
        (
            gain("out-banks", "the output's projection over the DRAM banks, eight cores", 50, "out", DRAM_SHARDED, "0.382 -> 0.332 ms of attention in each of ten layers"),
            gain("query-banks", "queries and the gate over the DRAM banks, eight cores", 29, "query gate", DRAM_SHARDED, "0.332 -> 0.303 ms of attention in each of ten layers"),
        ),
        MADE_UP,
    ),
    laid(
        "a3b-attention-third", DECODE, "decode after the router: 0.295 ms of attention", attention(THIRD),
        (gain("keys", "1D configs on eight cores for keys and for values", 41, "key value", rf"{INTERLEAVED_1D}|{CONFIG}|{BLOCK_W}|{CORES}", f"0.41 ms {EACH}: 0.295 -> 0.254 ms of attention in each of ten layers"),),
        MADE_UP,
    ),
    laid(
        "a3b-attention-4k", ROOF, "decode as kept, at position 4096: 25.69 ms a token", attention(replace(LAST, attend=57, depth=4096)),
        (
            dead("cache-bfp8", "BFLOAT8_B for the cache", "attend", CACHE, f"25.69 -> 25.59 ms {EACH}: within noise"),
            dead("bfp4", "BFLOAT4_B for attention's projections", "query gate key value out", BFP4, f"24.97 -> 24.88 ms {EACH}, but a prefill in chunks differs from a whole one", DECODE, faster=True),
        ),
        MADE_UP,
    ),
    laid(
        "a3b-attention-32k", ROOF, "decode as kept, at position 32,768", attention(replace(LAST, attend=227.7, depth=32768)),
        (gain("cache-bfp8", "BFLOAT8_B for the cache", 90.3, "attend", CACHE, "227.7 -> 137.4 us alone, from a trace"),),
        MADE_UP,
    ),
    laid(
        "a3b-attention-128k", ROOF, "decode as kept, at position 131,072", attention(replace(LAST, attend=796.7, depth=131072)),
        (gain("cache-bfp8", "BFLOAT8_B for the cache", 357.9, "attend", CACHE, "796.7 -> 438.8 us alone, from a trace"),),
        MADE_UP,
    ),
    laid(
        "a3b-checked", CHECKED, "three drafted tokens checked at once: 1.019 ms of the delta rule in a layer", checked,
        (
            gain("state", "no new state of the convolution, which nothing reads", 74, "conv_state", r"(unused|never (read|used)|not (read|used)|discard|drop|remove|skip|dead)", "1.0100 -> 0.9357 ms of the delta rule in a layer"),
            gain("banks", "the output's projection over the DRAM banks", 50, "out", DRAM_SHARDED, "0.9357 -> 0.8854 ms of the delta rule in a layer"),
            dead("l1", "what stands between the ops in L1", "in_all cut conv_* rows_* repeated_* back", IN_L1, "1.0189 -> 1.0100 ms: noise"),
            dead("window", "the convolution as one product over a window of rows, and a sum", "conv_*", r"stack|window|fewer ops|one (multipl|product|op)", "0.4752 -> 0.6552 ms of the convolution"),
            dead("pads", "two pads for four, over queries with keys and values with gates", "padded_*", r"\bpads?\b|padding", "58.92 -> 58.79 ms of 40 layers: nothing"),
        ),
        "times of the slices, pads and cuts; all shapes but those of the weights; gaps", 1_019,
    ),
    laid(
        "a3b-experts-first", PREFILL, "256 tokens over all experts, with configs of TTNN's choice", dense((1380, 15600, 2130, 5000, 950), None),
        (gain("config", "MatmulMultiCoreReuseProgramConfig over 11 x 10 cores for both matmuls", 17_000, "up down", rf"{CONFIG}|{CORES}", "15.6 -> 2.1 and 5.0 -> 1.5 ms of a layer"),),
        "times of all but the matmuls, from a later state; gaps",
    ),
    laid(
        "a3b-experts-second", PREFILL, "256 tokens over all experts, activations in BFLOAT16: 8.27 ms of a layer", dense((1380, 2180, 2130, 1630, 950), 1),
        (
            gain("bfp8", "BFLOAT8_B for what both matmuls read, with in0_block_w 8", 2_650, FEED, BFP8, "8.27 -> 5.62 ms of a layer, each of the five parts; 450.3 -> 336.5 ms of 40 layers"),
            dead("block", "in0_block_w 4 alone", "up down", BLOCK_W, "refused: 1.59 MB of L1 a core"),
            dead("tokens", "512 tokens at a time", FEED, r"\b(512|1024)\b.{0,40}(tokens|rows)|(larger|bigger|longer|more).{0,20}(chunk|tokens)", "refused: L1, past 320 tokens"),
        ),
        "the split of what stands between the matmuls; gaps", 8_270,
    ),
    laid(
        "a3b-experts-last", PREFILL, "256 tokens over all experts, as kept: 5.62 ms of a layer", dense((860, 1700, 1400, 1140, 520), 8, FP8),
        (
            dead("flat", "one matmul over the columns of all experts", FEED, r"(one|single|flat|2D|plain).{0,60}matmul|merg.{0,60}(expert|axis|axes)", "4.74 -> 6.61 ms, in a trace; faster only above 512 tokens, where weights do not fit"),
            dead("minimal", "minimal_matmul with SwiGLU over the columns of all experts", FEED, MINIMAL, "4.74 -> 8.23 ms, in a trace"),
            dead("split", "columns of both matmuls in four parts", "up down", r"split.{0,60}(column|N\b|output)|per_core_N|(smaller|narrower) (output )?blocks?", "4.74 -> 9.86 ms, in a trace"),
            dead("union", "sparse_matmul over the experts that some token chose", FEED, r"sparse_matmul|only (the )?.{0,30}experts", "0.44 to 0.50 of the speed of a whole prefill"),
            dead("tokens", "tokens of each expert gathered before its matmul", FEED, r"(gather|group|sort|permut|compact).{0,60}tokens|tokens.{0,60}(per|by|of each|to each) expert", "1.05 times as slow over 40 layers: a few experts take nearly all tokens"),
        ),
        "the split of what stands between the matmuls; gaps", 5_620,
    ),
)  # fmt: skip
