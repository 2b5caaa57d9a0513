"""Ornith 1.0 35B (256 experts, eight of them active) on one Blackhole chip (p300c): both kinds of a layer.

Hidden 2048, 16 heads of 256 with two of keys and values or 32 recurrent states of 128 by 128, experts of 512 and a
shared one. Decode of one user, whose row is one of a tile's 32, replayed from a trace; and the dense matmuls of a
prefill of 2048 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, chunks, norm_shards, one_d, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import (
    BFP4,
    BFP8,
    BLOCK_W,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    LOFI,
    SDPA_CHUNKS,
    SDPA_GRID,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.profiles import Placement, Tensor

HOME = "https://github.com/housTT/tt-metal/blob"
FOLDER = "models/autoports/ornith_ai_ornith_1_0_35b/doc/optimized_decoder"
README = f"{HOME}/8f6e685c7af599551a331cd4da78d33912308870/{FOLDER}/README.md"
LOG = f"{HOME}/01894ec88457b79812c0c3afc0f70adba87d89c5/{FOLDER}/work_log.md"
HIDDEN, HEADS, KV, SIZE, EXPERTS, WIDE = 2048, 16, 2, 256, 256, 512
STATES, STATE = 32, 128
GRID = (11, 10)
NARROW = ("BFLOAT8_B", "HiFi2")

# Time of each dense matmul and its config: cores on the grid, in0_block_w, per_core_N; None: TTNN chose.
Shape = tuple[int, int, int]
Dense = tuple[float, "Shape | None"]
FIRST: Mapping[str, Dense] = {"attn_in": (95.6, None), "o_proj": (73.9, None), "shared_in": (31.3, None), "shared_down": (15, None), "router": (25.5, None)}  # fmt: skip
CHOSEN: Mapping[str, Dense] = {"attn_in": (57.9, None), "o_proj": (75.0, None), "gdn_in": (75.8, None), "gdn_out": (75.2, None), "shared_in": (32.3, None), "shared_down": (12.7, None), "router": (26.4, None)}  # fmt: skip
TUNED: Mapping[str, Dense] = {"attn_in": (55.8, (99, 8, 3)), "o_proj": (26.4, (22, 16, 3)), "gdn_in": (73.9, (110, 8, 4)), "gdn_out": (29.0, (33, 8, 2)), "shared_in": (9.4, (33, 32, 1)), "shared_down": (9.4, (55, 16, 2)), "router": (9.1, (33, 32, 1))}  # fmt: skip


@dataclass(frozen=True)
class How:
    """A layer at a step of its tuning; times in us."""

    dense: Mapping[str, Dense] = field(default_factory=lambda: TUNED)
    projections: tuple[str, str] = NARROW
    experts: tuple[str, str] = ("BFLOAT4_B", "LoFi")
    sparse: tuple[float, float] = (136, 131.4)
    cores: tuple[int, int] = (8, 8)
    block: int = 64  # in0_block_w of the experts' first matmul
    between: Placement = L1
    active: str = "BFLOAT8_B"
    fills: tuple[float, float] = (23, 47)
    halves: float = 11.8
    products: tuple[float, float] = (36, 35.6)
    total: float = 22.2
    shards: bool = True  # of the residual's norms
    hoisted: bool = False  # the zeros that routing scatters into
    cache: str = "BFLOAT8_B"
    state: tuple[float, float] = (9.1, 9.0)  # a read of the state, and its update
    state_place: Placement = L1
    repeated: Placement = L1
    casts: float = 0.0  # each of two, to FLOAT32
    out_dtype: str = "BFLOAT16"  # of what the last projection of a recurrent layer reads


def _projected(block: Block, how: How, role: str, x: Tensor, n: int) -> Tensor:
    us, shape = how.dense[role]
    dtype, fidelity = ("BFLOAT16", "HiFi4") if role == "router" else how.projections
    out = "FLOAT32" if role == "router" else "BFLOAT16"
    if shape is None:
        cores = min(110, -(-n // 32 // -(-n // 32 // 110)))
        return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, cores=cores, fp32=True, out=out)
    cores, k_block, per_n = shape
    config = one_d((11, -(-cores // 11)), k_block, (1, per_n), subblock=(1, per_n))
    return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=config, cores=-(-n // 32 // per_n), place=L1, fp32=True, out=out)  # fmt: skip


def _normed(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    if not how.shards:
        return block.norm(role, x, 21, cores=1)
    place = block.across(32, HIDDEN, 8)
    placed = block.to_shards(f"{role}_placed", x, place, 2.9)
    normed = block.norm(role, placed, 5.3, cores=8, config=norm_shards((8, 1), 8))
    return block.from_shards(f"{role}_flat", normed, 2.9, L1)


def _sparse(block: Block, how: How, number: int, x: Tensor, mask: Tensor) -> Tensor:
    n = (2 * WIDE, HIDDEN)[number]
    dtype, fidelity = how.experts
    cores = how.cores[number]
    columns = max(1, cores // 8)
    role = ("experts_up", "experts_down")[number]
    weight = block.tensor([1, EXPERTS, x.shape[-1], n], dtype)
    k_block = how.block if number == 0 else 16
    made = block.tensor([1, 1, 1, EXPERTS, 32, n], how.active, how.between)
    filled = block.unary(f"{role}_fill", "FILL", made, how.fills[number], cores=110, parameter="0")
    config = one_d((columns, 8), k_block, (1, n // 32 // cores), subblock=(1, min(4, n // 32 // cores)))
    return block.op(
        role, "SparseMatmul", (x, weight, mask), filled, how.sparse[number],
        cores=cores, fidelity=fidelity, compute_kernel_config=block.kernel(fidelity), is_input_a_sparse=number == 1,
        is_input_b_sparse=True, nnz="std::nullopt", output_dtype=f"DataType::{how.active}", output_mem_config=how.between,
        program_config=config, user_core_coord=None,
    )  # fmt: skip


def _routed(block: Block, how: How, x: Tensor) -> tuple[Tensor, Tensor]:
    """Scores of all experts, and the mask of the chosen ones."""
    logits = _projected(block, how, "router", x, EXPERTS)
    best = (block.tensor([1, 1, 32, 8], "FLOAT32"), block.tensor([1, 1, 32, 8], "UINT16"))
    values = block.op("topk", "TopK", (logits,), best, 48.3, cores=1, fidelity="HiFi4", dim=3, k=8, largest=True, sorted=True)  # fmt: skip
    soft = block.op("softmax", "Softmax", (values,), block.tensor(values.shape, "FLOAT32"), 8, cores=1, fidelity="HiFi4", dim=3, program_config="SoftmaxDefaultProgramConfig()")  # fmt: skip
    rows = block.moved("scores_rows", "UntilizeWithUnpadding", soft, 8, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
    index = block.moved(
        "index_rows", "UntilizeWithUnpadding", best[1], 8, layout=ROW_MAJOR, cores=1, fidelity="HiFi4"
    )
    shape = [1, 1, 32, EXPERTS]
    empty = block.tensor(shape, "FLOAT32")
    if not how.hoisted:
        empty = block.unary("zeros", "FILL", empty, 3.1, cores=8, parameter="0")
    empty = block.moved(
        "zeros_rows", "UntilizeWithUnpadding", empty, 7.3, layout=ROW_MAJOR, cores=8, fidelity="HiFi4"
    )
    spread = block.op("scatter", "Scatter", (empty, index, rows), block.tensor(shape, "FLOAT32", layout=ROW_MAJOR), 12, cores=1, dim=3)  # fmt: skip
    scores = block.moved(
        "scores", "TilizeWithValPadding", spread, 6, layout="TILE", cores=8, fidelity="HiFi4", dtype="BFLOAT16"
    )
    filled = block.moved("scores_filled", "FillPad", scores, 9.8, cores=8)
    mask = block.moved(
        "mask", "Untilize", filled, 3, shape=[1, 1, 1, EXPERTS], layout=ROW_MAJOR, cores=8, fidelity="HiFi4"
    )
    return scores, mask


def _fed(block: Block, how: How, x: Tensor, residual: Tensor) -> None:
    scores, mask = _routed(block, how, x)
    both = _sparse(block, how, 0, x, mask)
    start, middle, end = [0] * 6, [1, 1, 1, EXPERTS, 32, WIDE], [1, 1, 1, EXPERTS, 32, 2 * WIDE]
    gate = block.slice("half_gate", both, start, middle, how.halves)
    up = block.slice("half_up", both, [*start[:-1], WIDE], end, how.halves)
    hidden = block.binary("glu", "MUL", gate, up, how.products[0], cores=110, lhs="SILU")
    turned = block.permute("scores_turned", scores, (0, 3, 2, 1), 11.5)
    hidden = block.binary(
        "scored", "MUL", hidden, block.view(turned, [1, 1, 1, EXPERTS, 32, 1]), how.products[1], cores=110
    )
    down = _sparse(block, how, 1, hidden, mask)
    summed = block.op("total", "DeepseekMoEFastReduceNC", (down,), block.tensor([1, 1, 32, HIDDEN], place=L1), how.total, cores=64, fidelity="HiFi4", dim=3, split_size=HIDDEN)  # fmt: skip
    shared = _projected(block, how, "shared_in", x, 1056)
    gate, up, switch = (block.slice(f"shared_{name}", shared, (0, 0, 0, first), (1, 1, 32, last), 4) for name, first, last in (("gate", 0, WIDE), ("up", WIDE, 2 * WIDE), ("switch", 1024, 1056)))  # fmt: skip
    wide = block.binary("shared_glu", "MUL", gate, up, 4, cores=16, lhs="SILU")
    out = _projected(block, how, "shared_down", wide, HIDDEN)
    out = block.binary("shared_scaled", "MUL", out, switch, 4, cores=64, rhs="SIGMOID")
    summed = block.binary("shared_sum", "ADD", summed, out, 4, cores=64)
    block.binary("sum_feed", "ADD", residual, summed, 5, cores=64)


def full(how: How) -> Callable[[], Block]:
    """A layer with attention over all tokens: decode of one."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.3)
        x = block.tensor([1, 1, 32, HIDDEN])
        normed = _normed(block, how, "norm_in", x)
        both = _projected(block, how, "attn_in", normed, 9216)
        heads, kept = HEADS * SIZE, (HEADS + 2 * KV) * SIZE
        qkv = block.slice("slice_qkv", both, (0, 0, 0, 0), (1, 1, 32, kept), 5)
        gate = block.slice("slice_gate", both, (0, 0, 0, kept), (1, 1, 32, kept + heads), 5)
        q, k, v = block.heads_of_decode("heads", qkv, 19.3, heads=HEADS, kv=KV, size=SIZE, users=1)
        q = block.norm("norm_q", q, 4.5, cores=1)
        k = block.norm("norm_k", k, 4.5, cores=1)
        q = block.rotary("rope_q", q, 4.9, decode=True, cores=1)
        k = block.rotary("rope_k", k, 4.9, decode=True, cores=1)
        cache = block.tensor([128, KV, 64, SIZE], how.cache)
        block.update_cache("cache_k", cache, k, 5)
        block.update_cache("cache_v", cache, v, 5)
        attended = block.attend_decode("sdpa", q, cache, 17.6, config=chunks(32, 64, (8, 8)), cores=64)
        placed = block.to_shards("attended_placed", attended, block.along(32, SIZE, 1), 3)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 4, shape=[1, 1, 32, heads], place=block.across(32, heads, 16), cores=16, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        flat = block.from_shards("joined_flat", joined, 3.2, L1)
        gated = block.binary("gated", "MUL", flat, gate, 6, cores=110, rhs="SIGMOID")
        out = _projected(block, how, "o_proj", gated, HIDDEN)
        x = block.binary("sum_attention", "ADD", x, out, 5, cores=64)
        _fed(block, how, _normed(block, how, "norm_feed", x), x)
        return block

    return build


def linear(how: How) -> Callable[[], Block]:
    """A layer with recurrent states: decode of one token."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=0.8)
        x = block.tensor([1, 1, 32, HIDDEN])
        normed = _normed(block, how, "norm_in", x)
        both = _projected(block, how, "gdn_in", normed, 12352)
        mixed = block.slice("slice_mixed", both, (0, 0, 0, 0), (1, 1, 32, 8192), 5)
        z = block.slice("slice_z", both, (0, 0, 0, 8192), (1, 1, 32, 12288), 5)
        rates = block.slice("slice_rates", both, (0, 0, 0, 12288), (1, 1, 32, 12352), 3)
        summed = mixed
        for tap in range(3):
            last, weight = block.tensor(mixed.shape), block.tensor([1, 1, 1, 8192])
            summed = block.op(f"conv_{tap}", "Ternary", (summed, last, weight), block.tensor(mixed.shape, place=L1), 5.7, cores=110, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL", memory_config=L1, output_dtype="DataType::BFLOAT16", scalar_input_a="1")  # fmt: skip
        shaped = block.moved("heads_shaped", "ReshapeView", summed, 19.6, shape=[1, 32, 64, STATE], cores=110)
        heads = block.permute("heads_turned", shaped, (0, 2, 1, 3), 11.3)
        keys = block.slice("slice_keys", heads, (0, 0, 0, 0), (1, 16, 32, STATE), 4)
        rows = block.moved("repeat_rows", "UntilizeWithUnpadding", keys, 4.3, layout=ROW_MAJOR, cores=16, fidelity="HiFi4")  # fmt: skip
        twice = block.concat("repeat", (rows, rows), [1, STATES, 32, STATE], 1, 4.3)
        keys = block.moved("repeat_tiles", "TilizeWithValPadding", twice, 4.2, layout="TILE", cores=32, fidelity="HiFi4", place=how.repeated)  # fmt: skip
        values = block.slice("slice_values", heads, (0, 32, 0, 0), (1, 64, 32, STATE), 4)
        rate = block.unary("decay", "EXP", rates, 3, cores=2, parameter="1")
        rate = block.view(rate, [1, STATES, 1, 1])
        exact = "BFLOAT16" if how.casts else "FLOAT32"
        weights = block.binary("write", "MUL", values, rate, 6, cores=32, out=exact)
        placed = block.binary("keys_scaled", "MUL", keys, rate, 4, cores=32, place=how.state_place, out=exact)
        if how.casts:
            weights = block.typecast("cast_write", weights, "FLOAT32", how.casts, cores=32)
            placed = block.typecast("cast_keys", placed, "FLOAT32", how.casts, cores=32)
        state = block.tensor([1, STATES, STATE, STATE], "FLOAT32")
        kernel = block.kernel("HiFi4", fp32=True)

        def product(role: str, a: Tensor, b: Tensor, us: float) -> Tensor:
            shape = [1, STATES, a.shape[-2], b.shape[-1]]
            return block.op(role, "Matmul", (a, b), block.tensor(shape, "FLOAT32", how.state_place), us, cores=32, fidelity="HiFi4", bcast_batch=False, compute_kernel_config=kernel, output_dtype="DataType::FLOAT32", output_mem_config=how.state_place, program_config=None, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip

        decayed = block.binary("decayed", "MUL", state, rate, 14, cores=110, place=how.state_place)
        told = product("read", placed, decayed, how.state[0])
        delta = block.binary("delta", "SUB", told, weights, 6, cores=32)
        turned = block.permute("delta_turned", delta, (0, 1, 3, 2), 4, how.state_place)
        added = product("update", turned, delta, how.state[1])
        state = block.binary("state", "ADD", decayed, added, 14, cores=110)
        answer = product("query", placed, state, how.state[0])
        inner = block.norm("norm_inner", answer, 9, cores=32)
        merged = block.moved("merged", "ReshapeView", inner, 7, shape=[1, 1, 32, 4096], cores=110)
        gated = block.binary("gated", "MUL", merged, z, 8, cores=110, rhs="SILU", out=how.out_dtype)
        out = _projected(block, how, "gdn_out", gated, HIDDEN)
        x = block.binary("sum_mixer", "ADD", x, out, 5, cores=64)
        _fed(block, how, _normed(block, how, "norm_feed", x), x)
        return block

    return build


PREFILL: Mapping[str, tuple[int, int, float, float, int]] = {
    "attn_in": (2048, 9216, 517.7, 468.3, 8),
    "o_proj": (4096, 2048, 257.3, 181.9, 16),
    "gdn_in": (2048, 12352, 686.7, 642.2, 8),
    "gdn_out": (4096, 2048, 260.6, 189.6, 16),
    "shared_in": (2048, 1056, 112.0, 62.9, 16),
    "shared_down": (512, 2048, 69.6, 51.4, 16),
}  # of a matmul: its K and N, its time by TTNN's choice and by the config that was taken, that one's in0_block_w


def prefill(*, tuned: bool) -> Callable[[], Block]:
    """The dense matmuls of 2048 tokens, of both kinds of a layer one after the other, and attention."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=2.0)
        rows = 2048
        for role, (k, n, before, after, k_block) in PREFILL.items():
            per_n = -(-n // 32 // 11)
            if role == "o_proj":
                q = block.tensor([1, HEADS, rows, SIZE])
                kv = block.tensor([1, KV, rows, SIZE], "BFLOAT8_B")
                length = 256 if tuned else 64
                block.attend(
                    "sdpa", q, kv, kv, 700 if tuned else 2000, config=chunks(length, length, GRID), cores=110
                )
            config = two_d(GRID, k_block if tuned else 1, (7, per_n), subblock=(1, 4 if per_n % 4 == 0 else 1))
            block.linear(role, block.tensor([1, 1, rows, k]), n, after if tuned else before, dtype="BFLOAT8_B", config=config, cores=110, fp32=True)  # fmt: skip
        return block

    return build


WIDE_FIRST = {"between": DRAM, "fills": (88, 178.9), "halves": 43.65, "products": (55, 56.8), "total": 92, "cores": (32, 64), "shards": False, "active": "BFLOAT16"}  # fmt: skip
NEAR = {**WIDE_FIRST, "between": L1, "fills": (30, 58.9), "halves": 21, "products": (38.5, 38.5), "total": 23}
EIGHT = {"sparse": (247, 296), "dense": CHOSEN}
STATE_FIRST = {"state": (14.8, 14.6), "state_place": DRAM, "repeated": DRAM, "casts": 8.5, "out_dtype": "FLOAT32"}
LAST = {"hoisted": True, "block": 32, "sparse": (129, 131.4)}
MATMULS = "attn_in o_proj shared_in shared_down router"
EXPERTS_OPS = "experts_up experts_down"
CHAIN = "experts_up* experts_down* half_* glu scored total"
WHOLE = "of the whole layer"
MADE_UP = "how the sparse matmuls' time at each step splits; the times below 17 us and what they add up to; gaps; subblocks"
RECURRENT_MADE_UP = f"{MADE_UP}; the ops of the recurrence but for its matmuls"
DENSE_1D = rf"{CONFIG}|MultiCast1D|{BLOCK_W}"

ORNITH_35B = (
    laid(
        "ornith35-full-first", LOG, "attention, BFLOAT16 and HiFi4: 1.83 ms, 1,815 us in ops",
        full(How(**WIDE_FIRST, dense=FIRST, projections=("BFLOAT16", "HiFi4"), experts=("BFLOAT16", "HiFi4"), sparse=(368.0, 343.8), cache="BFLOAT16")),
        (gain("formats", "BFLOAT4_B experts at LoFi, BFLOAT8_B projections at HiFi2, a BFLOAT8_B cache", 139, f"{EXPERTS_OPS} {MATMULS} sdpa", rf"{BFP4}|{BFP8}|{LOFI}|{HIFI2}", f"1.830 -> 1.691 ms {WHOLE}"),),
        "the times below 17 us; which binary, slice and fill took how much; gaps", 1815,
    ),
    laid(
        "ornith35-full-narrow", LOG, "attention, BFLOAT4_B experts: 1.69 ms",
        full(How(**WIDE_FIRST, dense=CHOSEN, sparse=(280, 330))),
        (gain("padding", "no experts for the 31 rows of padding: 8 active ones, not 16", 67, EXPERTS_OPS, r"padd|active experts|nnz|rows that route", f"1.691 -> 1.624 ms {WHOLE}"),),
        MADE_UP,
    ),
    laid(
        "ornith35-full-dram", LOG, "attention, eight active experts: 1.62 ms",
        full(How(**WIDE_FIRST, **EIGHT)),
        (gain("l1", "what the experts pass on in L1", 327, CHAIN, IN_L1, f"1.624 -> 1.297 ms {WHOLE}; fills 270 -> 92 us, the sum 92 -> 23 us"),),
        MADE_UP,
    ),
    laid(
        "ornith35-full-l1", LOG, "attention, the experts' results in L1: 1.30 ms",
        full(How(**NEAR, **EIGHT)),
        (gain("bfp8", "what the experts pass on in BFLOAT8_B", 44, CHAIN, BFP8, f"1.297 -> 1.253 ms {WHOLE}"),),
        MADE_UP,
    ),
    laid(
        "ornith35-full-spread", LOG, "attention, the experts' matmuls on 32 and 64 cores: 1.25 ms",
        full(How(cores=(32, 64), shards=False, **EIGHT)),
        (gain("geometry", "eight cores with blocks of four and eight tiles", 270, EXPERTS_OPS, rf"{CONFIG}|{CORES}|per_core_N|out_block", f"1.253 -> 0.983 ms {WHOLE}"),),
        MADE_UP,
    ),
    laid(
        "ornith35-full-chosen", README, "attention, TTNN's own choice for the dense matmuls: 0.98 ms",
        full(How(shards=False, dense=CHOSEN)),
        (
            gain("attn-in", "a 1D config for the first projection", 2.1, "attn_in", DENSE_1D, "57.9 -> 55.8 us"),
            gain("o-proj", "a 1D config for the output projection", 48.6, "o_proj", DENSE_1D, "75.0 -> 26.4 us"),
            gain("shared-in", "a 1D config for the shared expert's first matmul", 22.9, "shared_in", DENSE_1D, "32.3 -> 9.4 us"),
            gain("shared-down", "a 1D config for its second one", 3.3, "shared_down", DENSE_1D, "12.7 -> 9.4 us"),
            gain("router", "a 1D config for the router", 17.3, "router", DENSE_1D, "26.4 -> 9.1 us"),
        ),
        MADE_UP,
    ),
    laid(
        "ornith35-full-norms", LOG, "attention, norms on one core: 0.875 ms",
        full(How(shards=False)),
        (gain("norms", "the residual's norms in shards on eight cores", 20, "norm_in norm_feed", SHARDED, f"0.875 -> 0.855 ms {WHOLE}"),),
        MADE_UP,
    ),
    laid(
        "ornith35-full-zeros", LOG, "attention, zeros made in each step: 0.849 ms",
        full(How(block=32, sparse=(129, 131.4))),
        (gain("hoisted", "the zeros made once, before the trace", 3, "zeros", r"once|hoist|before the trace|constant|reuse|persist", f"0.849 -> 0.846 ms {WHOLE}"),),
        MADE_UP,
    ),
    laid(
        "ornith35-full-tuned", README, "attention, tuned: 0.845 ms, 823 us in ops",
        full(How(**LAST)),
        (
            dead("attn-in-banks", "a DRAM-sharded first projection", "attn_in", DRAM_SHARDED, "55.8 -> 71.1 us"),
            dead("o-proj-banks", "a DRAM-sharded output projection", "o_proj", DRAM_SHARDED, "26.4 -> 34.1 us"),
            dead("shared-in-banks", "a DRAM-sharded first matmul of the shared expert", "shared_in", DRAM_SHARDED, "9.4 -> 14.0 us"),
            dead("shared-down-banks", "a DRAM-sharded second one", "shared_down", DRAM_SHARDED, "9.4 -> 12.0 us"),
            dead("router-banks", "a DRAM-sharded router", "router", DRAM_SHARDED, "9.1 -> 12.5 us"),
            dead("lofi", "LoFi for the projections", "attn_in o_proj", LOFI, f"0.845 -> 0.844 ms {WHOLE}"),
            dead("experts-hifi2", "HiFi2 for the experts", EXPERTS_OPS, HIFI2, f"0.845 -> 0.875 ms {WHOLE}"),
            dead("experts-bfp8", "BFLOAT8_B weights of either of the experts' matmuls", EXPERTS_OPS, BFP8, f"0.845 -> 0.890 and 0.863 ms {WHOLE}"),
            dead("shared-bfp4", "BFLOAT4_B weights and LoFi for the shared expert", "shared_in shared_down", rf"{BFP4}|{LOFI}", f"0.845 -> 0.843 ms {WHOLE}: within the noise"),
            dead("topk", "logits padded to 8192, so that more cores choose", "topk", r"8192|pad|multi.?core|more cores", "52.2 -> 149.5 us"),
            dead("split", "two matmuls for the experts' gate and up", "experts_up half_gate half_up", r"split|separate|two (matmuls|weights)|unpack", "222.1 -> 297.8 us"),
            dead("threshold", "the scores by a threshold and where, no scatter", "topk softmax scatter scores", r"ttnn\.where|threshold|\bscatter", "103.9 -> 121.1 us"),
            dead("chunk", "chunks of 128 keys", "sdpa", r"k_chunk", "10 % faster and wrong (PCC 0.02)", LOG),
            dead("op-chunks", "chunks of the op's own choice", "sdpa", SDPA_CHUNKS, f"0.865 -> 0.864 ms {WHOLE}: within the noise", LOG),
            dead("sdpa-grid", "32 or 110 cores for attention", "sdpa", SDPA_GRID, "60.9 -> 60.2 us, which no batch above 32 can run, and 62.4 us at 8192 tokens", LOG),
            dead("sdpa-cores", "64 cores for a head", "sdpa", r"max_cores_per_head", "60.9 -> 61.0 us at 8192 tokens"),
            dead("nnz", "the number of active experts told", EXPERTS_OPS, r"\bnnz", "refused: the chip hung", LOG),
            dead("subblock", "a wider subblock for the shared expert's first matmul", "shared_in", r"subblock", "9.6 -> 10.9 us"),
            dead("row", "the experts' eight cores in a row", EXPERTS_OPS, r"(one|a) row of|8 ?x ?1\b|\(8, ?1\)|x=8,y=1", "154.0 -> 172.3 and 152.8 -> 171.9 us", LOG),
        ),
        MADE_UP, 822.9,
    ),
    laid(
        "ornith35-full-cache", README, "attention, tuned, a BFLOAT16 cache: 0.845 ms",
        full(How(cache="BFLOAT16", **LAST)),
        (dead("cache", "a BFLOAT8_B cache", "cache_* sdpa", BFP8, f"0.845 -> 0.845 ms {WHOLE}"),),
        MADE_UP,
    ),
    laid(
        "ornith35-linear-chosen", README, "recurrent, TTNN's own choice for the dense matmuls: 1.205 ms",
        linear(How(shards=False, dense=CHOSEN, **STATE_FIRST)),
        (
            gain("gdn-in", "a 1D config for the first projection", 1.9, "gdn_in", DENSE_1D, "75.8 -> 73.9 us"),
            gain("gdn-out", "a 1D config for the last projection", 48.8, "gdn_out", DENSE_1D, "75.2 -> 26.4 us"),
        ),
        RECURRENT_MADE_UP,
    ),
    laid(
        "ornith35-linear-state", LOG, "recurrent, its states' matmuls in DRAM: 1.093 ms",
        linear(How(**STATE_FIRST)),
        (
            gain("state", "what the states' matmuls read in L1", 19, "read update query keys_scaled decayed delta_turned", IN_L1, f"1.093 -> 1.074 ms {WHOLE}"),
            gain("repeated", "the repeated keys in L1", 3, "repeat*", IN_L1, f"1.074 -> 1.071 ms {WHOLE}"),
            dead("fidelity", "HiFi2 or LoFi for the states' matmuls", "read update query", rf"{HIFI2}|{LOFI}", "14.6 -> 14.7 and 14.6 us", README),
        ),
        RECURRENT_MADE_UP,
    ),
    laid(
        "ornith35-linear-wide", LOG, "recurrent, FLOAT32 before the last projection: 1.075 ms",
        linear(How(casts=8.5, out_dtype="FLOAT32")),
        (
            gain("out", "BFLOAT16 before the last projection", 4, "gated gdn_out", r"bfloat16|BFLOAT16", f"1.075 -> 1.071 ms {WHOLE}; 29 -> 25 us"),
            gain("block", "in0_block_w 32 for the experts' first matmul", 7, "experts_up", BLOCK_W, "about 7 us at both kinds of a layer"),
        ),
        RECURRENT_MADE_UP,
    ),
    laid(
        "ornith35-linear-casts", LOG, "recurrent, conversions to FLOAT32 apart: 1.061 ms",
        linear(How(casts=8.5, block=32, sparse=(129, 131.4), dense={**TUNED, "gdn_out": (25.0, (33, 8, 2))})),
        (gain("casts", "the conversions in the multiplications before them", 17, "cast_* write keys_scaled", r"typecast|convert|conversion|dtype=|output_dtype|fus", f"1.061 -> 1.044 ms {WHOLE}"),),
        RECURRENT_MADE_UP,
    ),
    laid(
        "ornith35-linear-tuned", README, "recurrent, tuned: 1.04 ms, 936 us in ops",
        linear(How(**LAST, dense={**TUNED, "gdn_out": (25.0, (33, 8, 2))})),
        (
            dead("gdn-in-banks", "a DRAM-sharded first projection", "gdn_in", DRAM_SHARDED, "73.9 -> 94.1 us"),
            dead("gdn-out-banks", "a DRAM-sharded last projection", "gdn_out", DRAM_SHARDED, "26.4 -> 33.9 us"),
        ),
        RECURRENT_MADE_UP, 936.1,
    ),
    laid(
        "ornith35-prefill-chosen", README, "dense matmuls of 2048 tokens by TTNN's choice, in0_block_w 1, without the experts",
        prefill(tuned=False),
        (
            gain("attn-in", "in0_block_w 8 for the first projection", 49.4, "attn_in", DENSE_1D, "517.7 -> 468.3 us"),
            gain("o-proj", "in0_block_w 16 for the output projection", 75.4, "o_proj", DENSE_1D, "257.3 -> 181.9 us"),
            gain("gdn-in", "in0_block_w 8 for a recurrent layer's first projection", 44.5, "gdn_in", DENSE_1D, "686.7 -> 642.2 us"),
            gain("gdn-out", "in0_block_w 16 for its last projection", 71, "gdn_out", DENSE_1D, "260.6 -> 189.6 us"),
            gain("shared-in", "a larger in0_block_w for the shared expert's first matmul", 49.1, "shared_in", DENSE_1D, "112.0 -> 62.9 us"),
            gain("shared-down", "a larger in0_block_w for its second one", 18.2, "shared_down", DENSE_1D, "69.6 -> 51.4 us"),
            gain("chunks", "chunks of 256 instead of 64", None, "sdpa", SDPA_CHUNKS, "nearly three times as fast", LOG),
        ),
        "attention's times; per_core_N; in0_block_w of the shared expert; gaps",
    ),
    laid(
        "ornith35-prefill-tuned", README, "dense matmuls of 2048 tokens, tuned, without the experts",
        prefill(tuned=True),
        (
            dead("attn-in-l1", "the first projection's input in L1", "attn_in", IN_L1, "468.3 -> 471.4 us, and 26.5 us to place it"),
            dead("shared-in-l1", "the input of the shared expert's first matmul in L1", "shared_in", IN_L1, "5.8 us saved, 25.9 us to place it"),
            dead("shared-down-l1", "the input of its second one in L1", "shared_down", IN_L1, "3.2 us saved, 12.0 us to place it"),
            dead("chunks", "chunks of 512", "sdpa", SDPA_CHUNKS, "refused: does not fit in L1", LOG),
            dead("grid", "fewer cores for attention", "sdpa", SDPA_GRID, "slower", LOG),
            dead("block", "in0_block_w 16 for the two wide projections", "attn_in gdn_in", BLOCK_W, "refused: does not fit in L1", LOG),
        ),
        "attention's time; per_core_N; in0_block_w of the shared expert; gaps",
    ),
)  # fmt: skip
