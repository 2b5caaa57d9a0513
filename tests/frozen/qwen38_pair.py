"""Qwen3.8 27B over two Blackhole cards (P150A), tensor-parallel: decode of one user and of eight, and rows to be verified.

Hidden 5120, 64 layers, 48 of them with linear attention. A chip has 24 heads of linear attention's values and eight of its
keys, 12 heads with two of keys and values of 256 elsewhere, a feed-forward of 8704 and half of 248,320 words. Gate and up
BFLOAT4_B with LoFi, all other weights BFLOAT8_B, by 1D matmuls off interleaved weights, whose cores are told.
The ledger tells times of the matmuls, of collectives, of some relayouts and of all other ops of a module together, of one
user's and of eight's; savings are of a step: a 48th here for linear attention, a 16th for attention, a 64th for what each
layer has. What was measured on kernels of the engineer's own alone is left out, but where such a kernel replaced TTNN's ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import L1, ROW_MAJOR, Block, chunks, one_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, BLOCK_W, DRAM_SHARDED, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/Thatch-cloud/Tenstorrent.Blackhole-Qwen3.8-27B/blob"
PLAN = f"{HOME}/05c0167d5fe9eeab78858101680710fca6fe895c/docs/optimisation-plan.md"
DOWN = f"{HOME}/56bc31d72fd07249967e99487c402ba9b53f1d4a/scripts/ci/dram-mlp-down-hardware.json"
BANKED = f"{HOME}/1189bfca4158e949a60ccda3518217c8e9e13b7a/docs/dram-projection-reload-2026-09-10.md"
TILES = f"{HOME}/56bc31d72fd07249967e99487c402ba9b53f1d4a/docs/tiny-tile-projections-2026-09-09.md"
PREFETCH = f"{HOME}/a40b7d652671d0bc6cd9b822af53aa91ed6f7c6e/docs/dram-prefetch-verdict-2026-09-19.md"
GATE_UP = f"{HOME}/0d080fa6976f3abd5868d63af81e523560a48ed1/docs/captured-gate-up-2026-09-11.md"
VERIFIER = f"{HOME}/1148fb745fcba8f1bc4411f4b57d410c41dc2685/docs/dspark-t16-verifier-profile-2026-09-10.md"
FOLDED = f"{HOME}/17189fdafa4f0f56bde4ed3b74f9a07cc17527a3/docs/target-t16-attention-2026-09-10.md"
README = f"{HOME}/00b6a7c1413ad6d569c6b76d9f1f9b0d337d7e84/README.md"
CONVOLVED = f"{HOME}/52965d03117258954a6e268de41e329843e1a737/docs/gdn-conv-path-2026-09-19.md"
CHIPS, GRID, ALL = 2, (11, 10), 110
HIDDEN, PART, WIDE, WORDS = 5120, 2560, 8704, 124160
QKV, KEYS, VALUES, SIZE, HEADS, FUSED = 5120, 1024, 3072, 128, 24, 8240
FP8, FP4, FP32 = "BFLOAT8_B", "BFLOAT4_B", "FLOAT32"
IN, WIDER, BACK = one_d((11, 4), 8, (1, 6), subblock=(1, 3)), one_d((11, 4), 8, (1, 7)), one_d((11, 3), 8, (1, 5))


def summed(block: Block, role: str, x: Tensor, us: float, *, links: int = 2) -> Tensor:
    return block.collective(role, "ReduceScatterMinimalAsync", x, PART, us, ring=CHIPS, links=links, topology="Linear", place=L1)  # fmt: skip


def normed(block: Block, role: str, x: Tensor) -> Tensor:
    """Both halves of the residual, and their norm; no time of them is told."""
    whole = block.collective(f"{role}_gather", "AllGatherAsync", x, HIDDEN, 14, ring=CHIPS, links=2, topology="Linear", place=L1)  # fmt: skip
    return block.norm(f"{role}_norm", whole, 12, cores=1)


def fed(block: Block, x: Tensor, *, links: int = 2) -> Tensor:
    """The feed-forward of up to 32 rows, which take the same times."""
    y = block.moved("placed", "Copy", x, 2.4, place=L1, cores=ALL)
    gate = block.linear("gate", y, WIDE, 94.7, dtype=FP4, fidelity="LoFi", fp32=True, config=WIDER, cores=39, place=L1, act="SILU")  # fmt: skip
    up = block.linear("up", y, WIDE, 90.5, dtype=FP4, fidelity="LoFi", fp32=True, config=WIDER, cores=39, place=L1)
    y = block.binary("gated", "MUL", gate, up, 6, cores=ALL)
    y = block.linear(
        "down", y, HIDDEN, 122.2, dtype=FP8, fidelity="LoFi", fp32=True, config=BACK, cores=32, place=L1
    )
    return summed(block, "down_scatter", y, 24.8, links=links)


def projected(
    block: Block, x: Tensor, users: int, cut: float, slow: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """All that linear attention makes of its input in one matmul, cut: `slow` where a cut ends within a tile."""
    y = block.linear("in", x, FUSED, 118, dtype=FP8, config=IN, cores=43, place=L1)
    qkv = block.slice("cut_qkv", y, (0, 0, 0, 0), (1, 1, users, QKV), cut)
    z = block.slice("cut_z", y, (0, 0, 0, QKV), (1, 1, users, QKV + VALUES), cut)
    both = block.slice("cut_ab", y, (0, 0, 0, QKV + VALUES), (1, 1, users, FUSED), slow)
    a, b = (block.slice(f"cut_{name}", both, (0, 0, 0, at), (1, 1, users, at + HEADS), slow) for name, at in (("a", 0), ("b", HEADS)))  # fmt: skip
    return qkv, z, a, b


def convolved(  # noqa: PLR0917
    block: Block, x: Tensor, a: Tensor, b: Tensor, users: int, us: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Four taps over the last four inputs, which move on by copies, and both gates: 12 ops, of `us` each."""
    states = [block.tensor([1, users, QKV], place=L1) for _ in range(4)]
    for number, (old, new) in enumerate(zip(states, [*states[1:], block.view(x, [1, users, QKV])], strict=True)):
        block.op(f"shift_{number}", "Copy", (new,), old, us, cores=ALL, output_mem_config=L1)
    taps = [block.tensor([1, 1, QKV], place=L1) for _ in range(4)]
    y = block.binary("tap_0", "MUL", states[0], taps[0], us, cores=ALL)
    for number in (1, 2, 3):
        y = block.op(f"tap_{number}", "Ternary", (states[number], taps[number], y), block.tensor(y.shape, place=L1), us, cores=ALL, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL", memory_config=L1)  # fmt: skip
    y = block.unary("conv_silu", "SILU", y, us, cores=ALL)
    beta = block.unary("beta", "SIGMOID", b, us, cores=1)
    g = block.binary("softplus", "ADD", a, block.tensor([1, 1, 1, HEADS], place=L1), us, cores=1)
    return y, beta, block.binary("decay", "MUL", g, block.tensor([1, 1, 1, HEADS], place=L1), us, cores=1)


def headed(block: Block, x: Tensor, users: int, us: float) -> list[Tensor]:
    """Queries, keys and values head by head, keys' heads thrice: 13 ops with those of the gates."""
    made: list[Tensor] = []
    for name, start, columns in (("q", 0, KEYS), ("k", KEYS, KEYS), ("v", 2 * KEYS, VALUES)):
        y = block.slice(f"part_{name}", x, (0, 0, start), (1, users, start + columns), us)
        y = block.moved(f"heads_{name}", "ReshapeView", y, us, shape=[users, 1, columns // SIZE, SIZE], cores=ALL)
        if columns == KEYS:
            y = block.moved(f"thrice_{name}", "Repeat", y, us, shape=[users, 1, HEADS, SIZE], cores=ALL)
            y = block.moved(f"again_{name}", "ReshapeView", y, us, shape=[users, 1, HEADS, SIZE], cores=ALL)
        made.append(y)
    return made


def stepped(  # noqa: PLR0917
    block: Block, q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor, users: int
) -> Tensor:
    """The recurrence by TTNN's ops: 25 of them, 105 us for one user, with three relayouts whose times are told."""
    big = 1.9 * users if users > 1 else 6.0
    small, folds = (2.2, (12.13, 12.5, 12.16)) if users == 1 else (3.4, (26.0, 26.0, 26.0))
    state, shape = block.tensor([users, HEADS, SIZE, SIZE], FP32), [users, HEADS, 1, SIZE]
    casts = [block.typecast(f"cast_{name}", one, FP32, small) for name, one in (("q", q), ("k", k), ("v", v), ("beta", beta), ("g", g))]  # fmt: skip
    rows: list[Tensor] = []
    for name, one in (("q", casts[0]), ("k", casts[1])):
        y = block.norm(f"l2_{name}", one, small, cores=1)
        y = block.unary(f"l2_scale_{name}", "MUL_UNARY_SFPU", y, small, cores=24)
        rows.append(block.moved(f"row_{name}", "ReshapeView", y, 3.6, shape=shape, cores=24))
    h = block.moved("state_near", "Copy", state, small, place=L1, cores=ALL)
    decay = block.moved("decay_shaped", "ReshapeView", casts[4], small, shape=[users, HEADS, 1, 1], cores=24)
    h = block.binary("decayed", "MUL", h, decay, big, cores=ALL, rhs="EXP")
    read = block.product("read", rows[1], h, 4.65, cores=24, fidelity="HiFi2", place=L1)
    read = block.moved("read_folded", "ReshapeView", read, folds[0], shape=[users, HEADS, SIZE], cores=24)
    k_flat = block.moved("k_folded", "ReshapeView", rows[1], folds[1], shape=[users, HEADS, SIZE], cores=24)
    delta = block.binary("delta", "SUB", block.view(casts[2], [users, HEADS, SIZE]), read, small, cores=24)
    column = block.moved("k_column", "ReshapeView", k_flat, 3.6, shape=[users, HEADS, SIZE, 1], cores=24)
    row = block.moved("delta_row", "ReshapeView", delta, 3.6, shape=shape, cores=24)
    outer = block.product("outer", column, row, big, cores=24, fidelity="HiFi2", place=L1)
    scale = block.moved("beta_shaped", "ReshapeView", casts[3], small, shape=[users, HEADS, 1, 1], cores=24)
    outer = block.binary("outer_scaled", "MUL", outer, scale, big, cores=ALL)
    h = block.binary("state_new", "ADD", h, outer, big, cores=ALL)
    o = block.product("asked", rows[0], h, 4.71, cores=24, fidelity="HiFi2", place=L1)
    block.op("state_back", "Copy", (h,), state, 8.75 if users == 1 else 68, cores=ALL)
    return block.moved("asked_folded", "ReshapeView", o, folds[2], shape=[users, 1, HEADS, SIZE], cores=24)


def stepped_once(block: Block, parts: tuple[Tensor, ...], users: int) -> Tensor:
    """The recurrence in one op, which casts its inputs before it and puts its state back after it."""
    state = block.tensor([users, HEADS, SIZE, SIZE], FP32)
    casts = [block.typecast(f"cast_{name}", one, FP32, 5) for name, one in zip(("q", "k", "v", "beta", "g"), parts, strict=True)]  # fmt: skip
    made = block.tensor([users, 1, HEADS, SIZE], FP32, L1, ROW_MAJOR), block.tensor(state.shape, FP32)
    o = block.op("recurrence", "DecodeGatedDeltaRule", (*casts, state), made, 150, cores=96, fidelity="HiFi4", inplace_state=False)  # fmt: skip
    block.op("state_back", "Copy", (made[1],), state, 68, cores=ALL)
    return block.moved("tiled", "TilizeWithValPadding", o, 3.7, layout="TILE", cores=24)


def gated(block: Block, o: Tensor, z: Tensor, users: int, us: float) -> Tensor:
    y = block.moved(
        "asked_rows", "ReshapeView", o, us, shape=[users * HEADS, 1, 1, SIZE], cores=24, dtype="BFLOAT16"
    )
    y = block.norm("head_norm", y, us, cores=24)
    y = block.moved("asked_flat", "ReshapeView", y, us, shape=[1, 1, users, VALUES], cores=24)
    return block.binary("z_gated", "MUL", y, block.unary("z_silu", "SILU", z, us, cores=96), us, cores=96)


def linear(*, users: int, fused: bool) -> Callable[[], Block]:
    """A layer with linear attention: its small ops by TTNN's, but for the recurrence if `fused`."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.2)
        one = users == 1
        x = block.tensor([1, 1, users, PART], place=L1)
        y = normed(block, "in", x)
        qkv, z, a, b = projected(block, y, users, *((3.3, 3.4) if one else (8.5, 14.5)))
        y, beta, g = convolved(block, qkv, a, b, users, 3.4 if one else 6.4)
        q, k, v = headed(block, y, users, 3.3 if one else 5.2)
        shaped = [block.moved(f"heads_{name}", "ReshapeView", part, 3.3 if one else 5.2, shape=[users, 1, HEADS], cores=1) for name, part in (("beta", beta), ("g", g))]  # fmt: skip
        o = stepped_once(block, (q, k, v, *shaped), users) if fused else stepped(block, q, k, v, shaped[0], shaped[1], users)  # fmt: skip
        y = gated(block, o, z, users, 3.6)
        y = block.linear("out", y, HIDDEN, 49.1, dtype=FP8, config=BACK, cores=32, place=L1)
        x = block.binary("add", "ADD", x, summed(block, "out_scatter", y, 22.3), 3, cores=80)
        y = fed(block, normed(block, "feed", x))
        block.binary("add_feed", "ADD", x, y, 3, cores=80)
        return block

    return build


def verified() -> Block:
    """A layer with linear attention of 16 rows to be verified, its recurrence in the engineer's ops, over four links."""
    block, rows = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.2), 16
    x = block.tensor([1, 1, rows, PART], place=L1)
    y = block.linear("in", normed(block, "in", x), FUSED, 119.6, dtype=FP8, config=IN, cores=43, place=L1)
    y = block.op("windows", "GenericOp", (y,), block.tensor([4, rows, QKV], place=L1), 45.4, cores=48)
    y = block.op("conv", "GenericOp", (y,), block.tensor([1, rows, QKV], place=L1), 93.5, cores=24)
    y = block.op("recurrence", "GenericOp", (y, block.tensor([1, HEADS, SIZE, SIZE])), block.tensor([1, 1, rows, VALUES], place=L1), 237, cores=96)  # fmt: skip
    y = block.linear("out", y, HIDDEN, 46.2, dtype=FP8, config=BACK, cores=32, place=L1)
    x = block.binary("add", "ADD", x, summed(block, "out_scatter", y, 18, links=4), 3, cores=80)
    y = fed(block, normed(block, "feed", x), links=4)
    block.binary("add_feed", "ADD", x, y, 3, cores=80)
    return block


def attended(context: int, sdpa: float) -> Callable[[], Block]:
    """A layer with attention, of one user; of its 44 ops the matmuls' and the collective's times are told."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.2)
        x = block.tensor([1, 1, 1, PART], place=L1)
        qkvg = block.linear("qkv", normed(block, "in", x), 7168, 118.9, dtype=FP8, config=one_d((11, 4), 8, (1, 6), subblock=(1, 3)), cores=38)  # fmt: skip
        qkv = block.slice("cut_qkv", qkvg, (0, 0, 0, 0), (1, 1, 1, 4096), 4, L1)
        gate = block.slice("cut_gate", qkvg, (0, 0, 0, 4096), (1, 1, 1, 7168), 4, L1)
        q, k, v = block.heads_of_decode("heads", qkv, 6, heads=12, kv=2, size=256, users=1)
        turned = [block.rotary(f"{name}_rotary", block.norm(f"{name}_norm", one, 5, cores=1), 6, decode=True, cores=1) for name, one in (("q", q), ("k", k))]  # fmt: skip
        cache = block.tensor([context // 64, 2, 64, 256])
        block.update_cache("update_k", cache, turned[1], 6)
        block.update_cache("update_v", cache, v, 6)
        y = block.attend_decode(
            "sdpa", turned[0], cache, sdpa, config=chunks(0, 0, GRID), cores=ALL, fidelity="HiFi2"
        )
        y = block.to_shards("attended_placed", y, block.along(32, 256, 1), 3)
        y = block.moved("joined", "NLPConcatHeadsDecode", y, 5, shape=[1, 1, 1, VALUES], place=block.across(32, VALUES, 12), cores=12, num_heads=12)  # fmt: skip
        y = block.binary(
            "gated", "MUL", block.from_shards("joined_flat", y, 3, L1), gate, 3, cores=96, rhs="SIGMOID"
        )
        y = block.linear("out", y, HIDDEN, 49.1, dtype=FP8, config=BACK, cores=32, place=L1)
        x = block.binary("add", "ADD", x, summed(block, "out_scatter", y, 14.2), 3, cores=80)
        block.binary("add_feed", "ADD", x, fed(block, normed(block, "feed", x)), 3, cores=80)
        return block

    return build


def rows_attended() -> Block:
    """Attention of 16 rows to be verified behind 4096 tokens, row after row."""
    block, rows = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.2), 16
    x = block.tensor([1, 1, rows, HIDDEN], place=L1)
    block.linear("qkv", x, 7168, 118.9, dtype=FP8, config=one_d((11, 4), 8, (1, 6), subblock=(1, 3)), cores=38)
    queries = block.tensor([1, rows, 12, 256])
    cache = block.tensor([72, 2, 64, 256], FP8)
    made: list[Tensor] = []
    for row in range(rows):
        q = block.slice(f"query_{row}", queries, (0, row, 0, 0), (1, row + 1, 12, 256), 3)
        made.append(block.attend_decode(f"sdpa_{row}", q, cache, 45.5, config=chunks(0, 0, GRID), cores=ALL, fidelity="HiFi2"))  # fmt: skip
    y = block.concat("attended", made, [1, rows, 12, 256], 1, 12)
    y = block.moved("joined", "ReshapeView", y, 12, shape=[1, 1, rows, VALUES], cores=96)
    block.linear("out", y, HIDDEN, 49.1, dtype=FP8, config=BACK, cores=32, place=L1)
    return block


def sampled() -> Block:
    """The choice of the next token: both chips' scores, exchanged over one link."""
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.2)
    scores = block.tensor([1, 1, 32, WORDS])
    whole = block.collective(
        "gather", "AllGatherAsync", scores, CHIPS * WORDS, 1500, ring=CHIPS, links=1, topology="Linear"
    )
    rows = block.moved("rows", "UntilizeWithUnpadding", whole, 500, layout=ROW_MAJOR, cores=ALL, fidelity="HiFi4")
    block.op("token", "ArgMax", (rows,), block.tensor([1, 1, 1, 32], "UINT32", layout=ROW_MAJOR), 702, cores=ALL, dim=3, keepdim=False, output_dtype="DataType::UINT32", sub_core_grids=None, use_multicore=True)  # fmt: skip
    return block


def shifted() -> Block:
    """Linear attention's taps over a chunk of 2048 tokens: three shifts, each through rows, and four products."""
    block, rows = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.2), 2048
    x = block.concat(
        "carried", [block.tensor([1, 32, QKV]), block.tensor([1, rows, QKV])], [1, rows + 32, QKV], 1, 120
    )
    tap = block.tensor([1, 1, QKV])
    y = block.binary(
        "tap_0", "MUL", block.slice("now", x, (0, 32, 0), (1, rows + 32, QKV), 108), tap, 122, cores=ALL
    )
    for number in (1, 2, 3):
        flat = block.moved(f"rows_{number}", "Untilize", x, 112, layout=ROW_MAJOR, cores=66, fidelity="HiFi4", use_multicore=True, use_pack_untilize=True)  # fmt: skip
        part = block.slice(f"shift_{number}", flat, (0, 32 - number, 0), (1, rows + 32 - number, QKV), 108)
        tiles = block.moved(f"tiles_{number}", "Tilize", part, 164, layout="TILE", cores=64, fidelity="HiFi4", use_multicore=True)  # fmt: skip
        y = block.op(f"tap_{number}", "Ternary", (tiles, tap, y), block.tensor(y.shape), 122, cores=ALL, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
    block.unary("silu", "SILU", y, 60, cores=ALL)
    return block


ONE_OP = r"one (own |custom |fused )?(kernel|op|program)|single (op|kernel|program)|generic_op|custom kernel|own kernel|gated_delta_rule"
STEP = "cast_* l2_* row_* state_near decay_shaped decayed read read_folded k_folded delta k_column delta_row outer* beta_shaped state_new asked asked_folded"
TAPS = "shift_* tap_* conv_silu beta softplus decay"
SPLIT = "part_* heads_* thrice_* again_*"
NORMED = "tiled asked_rows head_norm asked_flat z_silu z_gated"
LINKS, EACH = r"num_links|links", "of a step with 48 layers of linear attention"
MORE = r"more cores|all (the |of the )?cores|core_grid|compute_with_storage_grid_size|\d+ cores|per_core_N"
MADE_UP = (
    "norms and gathers before both halves; how the small ops share their sum; cores of small ops; subblocks; gaps"
)
QWEN38_PAIR = (
    laid(
        "qwen38-pair-one", PLAN, "a layer with linear attention, one user, each op TTNN's: 420 us, and 346 of its feed-forward", linear(users=1, fused=False),
        (
            gain("links", "four links for the collectives, where the table of boards told two", 21, "*_scatter *_gather", LINKS, "56.55 -> 55.20 ms a step, a 64th of it"),
            gain("recurrence", "one op for the recurrence", 53, STEP, ONE_OP, f"54.19 -> 51.64 ms {EACH}"),
            dead("gate-88", "68 cores for gate and up, and 54 for down, for 39 and 32", "gate up down", MORE, "94.6, 87.7 and 122.2 us -> 91.6, 86.0 and 129.4"),
            dead("gate-110", "91 cores for gate and up, and 80 for down", "gate up down", MORE, "94.6, 87.7 and 122.2 us -> 90.2, 86.6 and 124.0: called noise of a step"),
            dead("gate-22", "21 cores for gate and up, and 20 for down", "gate up down", r"fewer cores|\b(20|21|22) cores", "94.6, 87.7 and 122.2 us -> 101.7, 88.0 and 127.2"),
            dead("packed", "gate and up in one matmul", "gate up gated", PACKED, "2 x 88.4 -> 189.0 us, ahead of two cuts after it"),
            dead("gate-banks", "gate's weight over the DRAM banks", "gate up", DRAM_SHARDED, "87.7 -> 88.2 us"),
            dead("gate-blocks", "in0_block_w of 16 to 40 for gate", "gate up", BLOCK_W, "87.6 us at 8 -> 10 to 22 % more; 2 within noise, 1 takes 146"),
            dead("down-banks", "down's weight over the DRAM banks", "down", DRAM_SHARDED, "122.3 -> 280.0 us: 16 cores are all that config finds"),
        ),
        MADE_UP,
    ),
    laid(
        "qwen38-pair-eight", PLAN, "the same layer, eight users: 657 us, and 346 of its feed-forward", linear(users=8, fused=False),
        (gain("recurrence", "one op for the recurrence", 198, STEP, ONE_OP, f"70.70 -> 61.19 ms {EACH}"),),
        MADE_UP,
    ),
    laid(
        "qwen38-pair-eight-fused", PLAN, "the same with the recurrence in one op, eight users", linear(users=8, fused=True),
        (
            gain("in-place", "the recurrence writes its state in place", 67.9, "state_back", r"in.?place", f"61.31 -> 58.06 ms {EACH}"),
            gain("bf16", "BFLOAT16 for the recurrence and its state, and no casts", 73, "cast_* recurrence", r"BFLOAT16|bfloat16|typecast|casts?\b", f"57.92 -> 54.40 ms {EACH}, the state in place: 57 of 60 sums right, as before"),
            gain("taps", "one op for the taps and both gates", 50, TAPS, ONE_OP, f"57.89 -> 55.49 ms {EACH}, the state in place; alone 81.3 -> 34.1 us"),
            gain("split", "the recurrence reads the taps' output, without a split into heads", 56, SPLIT, rf"{ONE_OP}|split|reshape|repeat|head", f"55.55 -> 52.85 ms {EACH}, after one op for the taps"),
            gain("cuts", "the taps' op reads the matmul's whole output", 46, "cut_qkv cut_ab cut_a cut_b", r"slice|cut|whole|split", f"52.72 -> 50.50 ms {EACH}, after the split went"),
            gain("folded", "the heads' norm and gate within the recurrence's op", 15, NORMED, rf"{ONE_OP}|norm.{{0,60}}(within|in(to)? the|fus)|fus.{{0,60}}norm", f"47.26 -> 46.53 ms {EACH}, after all others"),
            dead("norm", "one op of its own for the heads' norm and gate", NORMED, ONE_OP, "22.4 -> 27.7 us on 24 cores, 41.0 on 96"),
            dead("banks", "the weights of linear attention's and attention's first and last matmul over the DRAM banks", "in out", DRAM_SHARDED, "57.90 -> 60.91 ms of a step, though alone 120.6 -> 97.8 and 46.2 -> 43.4 us: what goes in and out is moved"),
        ),
        f"{MADE_UP}; the times of the recurrence's op and of the state's copy, the latter as what its removal saved",
    ),
    laid(
        "qwen38-pair-verify", VERIFIER, "16 rows to be verified through a layer with linear attention; its feed-forward takes 335 us", verified,
        (
            gain("down-banks", "down's weight over the DRAM banks, gate and up as they are", 13.2, "down", DRAM_SHARDED, "334.8 -> 321.5 us of the feed-forward with its collective, in nine of nine blocks; a whole request lost by it elsewhere", DOWN),
            gain("gate-up", "gate, up and their product in one op", 10, "gate up gated", rf"{ONE_OP}|{PACKED}", "206.2 -> 196.0 us of 32 rows, 207.4 -> 197.3 of eight; 69.16 -> 68.51 ms for all layers", GATE_UP),
            dead("all-banks", "all three weights over the DRAM banks", "gate up down", DRAM_SHARDED, "334.7 -> 357.1 us of the feed-forward, in nine of nine blocks", BANKED),
            dead("sharded", "their input in shards once, and their product too", "gate up gated down", r"shard", "335 -> 385 us of the feed-forward, weights over the banks", README),
            dead("tiles", "tiles of 16 rows for what goes through the feed-forward", "gate up gated down", r"tile.{0,40}16|16.{0,20}(row|x 32).{0,20}tile|(small|tiny|half).{0,10}tile", "334.8 -> 350.6 us, in nine of nine blocks", TILES),
            dead("prefetch", "the DRAM's own cores bring the weights of gate and up ahead", "gate up", r"prefetch", "231.7 -> 289.0 us of gate, up and their product", PREFETCH),
            dead("streamed", "eight cores stream the weights to 68 and 80 others", "gate up down", r"stream|prefetch|multicast|double.buffer", "335 -> 744 us; 456 with 16 such cores", README),
            dead("out-grid", "more cores for linear attention's last matmul", "out", MORE, "106.38 -> 105.76 tokens a second", README),
        ),
        f"{MADE_UP}; the ops are the engineer's own where they are generic, split off sums of each core count",
    ),
    laid(
        "qwen38-pair-long", PLAN, "a layer with attention, one user behind 261,000 tokens: 82.6 ms a token", attended(262144, 1437),
        (gain("cache", "the cache in BFLOAT8_B", 675, "sdpa", BFP8, "82.6 -> 71.8 ms a token, 84.9 -> 72.9 in a second pair, a 16th of it; the same words"),),
        f"{MADE_UP}; attention's time, as a 16th of what a step takes more than at 128 tokens",
    ),
    laid(
        "qwen38-pair-rows", VERIFIER, "attention of 16 rows to be verified, one after the other: 11.6 ms for 16 layers", rows_attended,
        (gain("folded", "four rows a call, as more heads of one query, and the groups at once", 437, "query_* sdpa_* attended joined", r"(one|fewer) (call|op)s?|batch|fold|group|at once|all (16|rows|quer)", "76.17 -> 69.17 ms of a block with what reads it back, a 16th of it", FOLDED),),
        f"{MADE_UP}; what moves queries and results",
    ),
    laid(
        "qwen38-pair-token", README, "the choice of the next token, scores exchanged over one link: 2.70 ms", sampled,
        (
            gain("four-links", "four links for the exchange", 875, "gather", LINKS, "2.702 -> 1.827 ms, three blocks each"),
            gain("two-links", "two links for the exchange", 573, "gather", LINKS, "2.671 -> 2.098 ms, three blocks each"),
        ),
        "how the choice's 2.70 ms are shared; its ops; gaps",
    ),
    laid(
        "qwen38-pair-taps", CONVOLVED, "linear attention's taps over a chunk of 2048 tokens: 473 ms of three prompts", shifted,
        (dead("conv1d", "ttnn.conv1d for the taps", "carried now rows_* shift_* tiles_* tap_*", r"conv1d|conv2d|convolution", "0.967 -> 0.991 s for 2062 tokens, the same words"),),
        "the carried rows, the first tap and the SiLU; core counts; gaps",
    ),
)  # fmt: skip
