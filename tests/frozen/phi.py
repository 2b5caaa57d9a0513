"""Phi 3.5 mini on one Blackhole chip (p300c): one layer, decode of one user and of 32, a prefill of 128 tokens of each.

Hidden 3072, 32 heads of 96 with as many of keys and values, feed-forward 8192. The heads' width allows no rotary op as it
is, so that slices, permutes and changes of layout turn queries and keys by halves. Four ports of the layer have ledgers
of their own: one leaves attention's matmuls to TTNN, and three put all of them over the DRAM banks, on 8 or 16 shards.
The ledgers tell wall times of a traced layer, kernel times of the matmuls in the last states, and sums of some passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block, banked, chunks, norm_shards, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    CONFIG,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    LOFI,
    PACKED,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/autoports/microsoft_phi_3_5_mini_instruct/doc"
FUSED = f"{TT_METAL}/e7c887226e732c8baa517e26fa6238cb4aabf35a/{FOLDER}/fused_decoder/README.md"
FUSED_LATER = f"{TT_METAL}/145ed2b5d80a458422165248b811b8c029709a40/{FOLDER}/fused_decoder/README.md"
EIGHT = f"{TT_METAL}/e43fd1e8a2fb9df431d9bdb4e519a112ad791190/{FOLDER}/optimized_decoder/work_log.md"
CACHES = (
    f"{TT_METAL}/e43fd1e8a2fb9df431d9bdb4e519a112ad791190/{FOLDER}/optimized_decoder/sweeps/composite_evidence.md"
)
BLOCKS = f"{TT_METAL}/0be8bbdd3a6a90cf3eb96c43dc13fb2a0b630b27/{FOLDER}/optimized_decoder/README.md"
TURNED = f"{TT_METAL}/a2c53017167859b79a943155d4ab478b73ff533b/{FOLDER}/advisor_challenger/README.md"
SIXTEEN = f"{TT_METAL}/58af598354e555a781741673c67214066bbf9a54/{FOLDER}/optimized_decoder/work_log.md"
OWN = f"{TT_METAL}/5079efd7aa8a9c1f0801b6c3aaab34704e883be9/{FOLDER}/optimized_decoder/AUTOFIX_BFP4_PRECISION_FRONTIER.md"
OWN_LOG = f"{TT_METAL}/04d269d36018bcd5e03cfe89319b811c8a9fa21f/{FOLDER}/optimized_decoder/work_log.md"
OWN_TURNED = f"{TT_METAL}/1527e0a1298c8098e5dc4374088dccec95ae789d/{FOLDER}/advisor_challenger/README.md"
PROMPTS = f"{TT_METAL}/4f659ed85312db92c786261b0b10be8049607109/{FOLDER}/optimized_decoder/prefill_explicit_config_runner.txt"
GRID, ALL_CORES = (11, 10), 110
HIDDEN, HEADS, SIZE, WIDE = 3072, 32, 96, 8192
HALF, QKV = SIZE // 2, 3 * HEADS * SIZE
WIDTHS = {"qkv": QKV, "out": HIDDEN, "both": 2 * WIDE, "gate": WIDE, "up": WIDE, "down": HIDDEN}
NARROW, WIDER = ("BFLOAT4_B", "LoFi"), ("BFLOAT8_B", "LoFi")


@dataclass(frozen=True)
class How:
    """A layer of decode; times in us. `us`: QKV, out, gate and up (in one, or one for each), down."""

    users: int
    us: tuple[float, ...]
    attention: tuple[str, str] = NARROW
    feed: tuple[str, str] = NARROW
    down: tuple[str, str] = NARROW
    blocks: tuple[int, int, int, int] = (12, 12, 6, 16)
    per_n: tuple[int, int, int, int] | None = None  # per_core_N; None: as many shards as the residual has
    shards: int = 8  # of the residual; 0 where it lies in DRAM and the norms run on one core
    banks: tuple[str, ...] = ("qkv", "out", "both", "gate", "up", "down")
    turn: str = "by halves"
    one_update: bool = True
    cache: str = "BFLOAT8_B"
    attend: tuple[float, str | None] = (17, None)
    folded: bool = False  # SiLU in the multiplication
    small: float = 1.0  # factor of the times of the many small ops, which no ledger tells


def turned(block: Block, name: str, x: Tensor, tables: list[Tensor], many: float) -> Tensor:
    """One half, the other negated before it, each times its table: through DRAM and rows."""

    def rows(role: str, x: Tensor, us: float, *, kind: str = "UntilizeWithUnpadding") -> Tensor:
        return block.moved(role, kind, x, us, layout=ROW_MAJOR, cores=x.shape[1], fidelity="HiFi4")

    def tiles(role: str, x: Tensor) -> Tensor:
        return block.moved(role, "TilizeWithValPadding", x, 3.5 * many, layout="TILE", cores=x.shape[1], fidelity="HiFi4")  # fmt: skip

    users = x.shape[1]
    flat = block.from_shards(f"{name}_flat", x, 1)
    left = block.slice(f"{name}_left", flat, (0, 0, 0, 0), (1, users, HEADS, HALF), 2)
    both = rows(f"{name}_rows", flat, 3 * many, kind="Untilize")
    right = block.slice(f"{name}_right", both, (0, 0, 0, HALF), (1, users, HEADS, SIZE), 3 * many)
    right = block.unary(f"{name}_negated", "NEG", tiles(f"{name}_right_tiles", right), 2, cores=ALL_CORES)
    halves = [
        block.permute(f"{name}_{side}_turned", rows(f"{name}_{side}_rows", half, 8 * many), (0, 1, 3, 2), 4 * many)
        for side, half in (("right", right), ("left", left))
    ]
    joined = block.concat(f"{name}_halves", halves, [1, users, SIZE, HEADS], 2, 4 * many)
    joined = tiles(f"{name}_tiles", block.permute(f"{name}_turned", joined, (0, 1, 3, 2), 5 * many))
    parts = [
        block.binary(f"{name}_{wave}", "MUL", one, table, 3, cores=ALL_CORES)
        for wave, one, table in zip(("cos", "sin"), (flat, joined), tables, strict=True)
    ]
    return block.binary(f"{name}_sum", "ADD", *parts, 2, cores=ALL_CORES)


def waves(block: Block, how: How) -> list[Tensor]:
    """Cosines and sines of the users' positions."""
    many = how.small
    position = block.tensor([1, how.users], "INT32", layout=ROW_MAJOR)
    position = block.typecast("position", position, "UINT32", 1, cores=1)
    tables: list[Tensor] = []
    for wave in ("cos", "sin"):
        table = block.tensor([1, 1, 4096, SIZE], layout=ROW_MAJOR)
        row = block.tensor([1, 1, how.users, SIZE], layout=ROW_MAJOR)
        row = block.op(f"{wave}_rows", "Embeddings", (position, table), row, 2, cores=1)
        row = block.moved(f"{wave}_tiles", "TilizeWithValPadding", row, 4 * many, layout="TILE", cores=1, fidelity="HiFi4")  # fmt: skip
        tables.append(block.turned(f"{wave}_turned", row, 3 * many, dims="CH", cores=ALL_CORES))
    return tables


def linear(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    """Over the banks, from and to shards, or left to TTNN."""
    parts = ("qkv", "out", "gate", "up", "down") if len(how.us) == 5 else ("qkv", "out", "both", "down")
    number = {"qkv": 0, "out": 1, "down": 3}.get(role, 2)
    us = how.us[parts.index(role)]
    dtype, fidelity = how.down if role == "down" else how.attention if role in {"qkv", "out"} else how.feed
    n, k = WIDTHS[role], x.shape[-1]
    if role not in how.banks:
        return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, cores=min(n // 32, 96))
    count = how.shards or (8 if "qkv" in how.banks else 16)
    place = block.across(32, k, count)
    if x.placement != place:
        moved = block.reshard if x.placement and x.placement.shard else block.to_shards
        x = moved(f"{role}_placed", x, place, 1.2)
    per_n = how.per_n[number] if how.per_n else n // 32 // count
    made = block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=banked(how.blocks[number], per_n), cores=12, place=block.across(32, n, -(-n // 32 // per_n)), banks=True)  # fmt: skip
    return made if how.shards else block.from_shards(f"{role}_back", made, 1.5)


def norm(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    if not how.shards:
        return block.norm(role, x, 44, cores=1)
    config = norm_shards((8, how.shards // 8), HIDDEN // 32 // how.shards)
    return block.norm(role, x, 6.5, cores=how.shards, config=config)


def written(block: Block, how: How, k: Tensor, v: Tensor) -> Tensor:
    """The cache, after the update."""
    users = how.users
    cache = block.tensor([4 * users, HEADS, 32, SIZE], how.cache)
    if how.one_update:
        v = block.reshard("v_placed", v, block.along(32, SIZE, users), 1)
        index, table = block.tensor([users], "INT32", layout=ROW_MAJOR), block.tensor([users, 4], "INT32", layout=ROW_MAJOR)  # fmt: skip
        block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v, index, table), (cache, cache), 28 if users == 1 else 39.4, cores=min(2 * users, 88), batch_offset=0, compute_kernel_config=block.kernel("HiFi4"), op_type="PagedUpdateCacheOpType::FUSED_UPDATE", share_cache=False, update_idxs="{}")  # fmt: skip
    else:
        for name, one in (("cache_k", k), ("cache_v", v)):
            block.update_cache(name, cache, one, 32.5 if users == 1 else 29.7)
    return cache


def attended(block: Block, how: How, qkv: Tensor) -> Tensor:
    """From the heads to their join."""
    users = how.users
    q, k, v = block.heads_of_decode("heads", qkv, 8 if users == 1 else 20, heads=HEADS, kv=HEADS, size=SIZE, users=users)  # fmt: skip
    tables = waves(block, how)
    if how.turn == "by halves":
        q, k = (turned(block, name, one, tables, how.small) for name, one in (("q", q), ("k", k)))
        q, k = (block.to_shards(f"{name}_placed", one, block.along(32, SIZE, users), 1) for name, one in (("q", q), ("k", k)))  # fmt: skip
    else:
        pairs = block.tensor([1, 1, 32, 32])
        q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, pairs), block.tensor(one.shape, place=one.placement or DRAM), 5, cores=users, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=True, output_mem_config=one.placement) for name, one in (("q", q), ("k", k)))  # fmt: skip
    spent, config = how.attend
    out = block.attend_decode("attend", q, written(block, how, k, v), spent, config=config, cores=ALL_CORES)
    out = block.to_shards("attended_placed", out, block.along(32, SIZE, users), 2)
    out = block.moved("joined", "NLPConcatHeadsDecode", out, 2 if users == 1 else 4, shape=[1, 1, users, HIDDEN], place=block.across(32, HIDDEN, 32), cores=32, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
    return out if how.shards or "out" in how.banks else block.from_shards("joined_back", out, 1.5)


def gated(block: Block, how: How, fed: Tensor) -> Tensor:
    if len(how.us) == 5:
        gate, up = (linear(block, how, role, fed) for role in ("gate", "up"))
    else:
        both = linear(block, how, "both", fed)
        both = block.from_shards("both_back", both, 3) if both.placement and both.placement.shard else both
        gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, at), (1, 1, how.users, at + WIDE), 3.5) for role, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
    if not how.folded:
        gate = block.unary("silu", "SILU", gate, 5, cores=ALL_CORES)
    return block.binary("gated", "MUL", gate, up, 7, cores=ALL_CORES, lhs="SILU" if how.folded else None)


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1)
        x = block.tensor([1, 1, how.users, HIDDEN])
        if how.shards:
            x = block.to_shards("entry", x, block.across(32, HIDDEN, how.shards), 1)
        out = attended(block, how, linear(block, how, "qkv", norm(block, how, "norm", x)))
        x = block.binary("attention_added", "ADD", x, linear(block, how, "out", out), 2, cores=ALL_CORES)
        hidden = gated(block, how, norm(block, how, "norm_feed", x))
        x = block.binary("feed_added", "ADD", x, linear(block, how, "down", hidden), 2, cores=ALL_CORES)
        if how.shards:
            block.from_shards("exit", x, 1.5)
        return block

    return build


@dataclass(frozen=True)
class Prompt:
    """A prefill of 128 tokens of each user; times in us. `us`: QKV, out, gate and up, down."""

    users: int
    us: tuple[float, float, float, float]
    spent: float  # of the small ops of one turn by halves
    others: tuple[float, float, float, float]  # of a norm, the heads' split, attention, the gating
    fill: float
    attention: str = "BFLOAT4_B"
    blocks: tuple[int, int, int, int] | None = None  # in0_block_w; None: TTNN chose
    group: int = 32  # users that the feed-forward takes at once


def prefill(how: Prompt) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=3)
        users, tokens, us = how.users, 128, dict(zip(("qkv", "out", "both", "down"), how.us, strict=True))
        deep = dict(zip(us, how.blocks, strict=True)) if how.blocks else {}

        def matmul(role: str, x: Tensor, part: float = 1) -> Tensor:
            n, high = WIDTHS[role], x.shape[0] * tokens // 32
            config = (
                two_d((8, 8), deep[role], (-(-high // 8), n // 256), subblock=(1, 4), batch=True) if deep else None
            )
            return block.linear(role, x, n, us[role] * part, dtype="BFLOAT4_B" if role != "qkv" else how.attention, fidelity="LoFi", config=config, cores=min(8, high) * 8 if config else 96)  # fmt: skip

        def turn(name: str, x: Tensor) -> Tensor:
            """As in decode, of all tokens; permutes take most of it."""
            wide = [*x.shape[:-1], HALF]
            slow, fast = how.spent * 0.11, how.spent * 0.04
            left = block.slice(f"{name}_left", x, (0, 0, 0, 0), tuple(wide), fast)
            rows = block.moved(
                f"{name}_rows", "Untilize", x, fast, layout=ROW_MAJOR, cores=ALL_CORES, fidelity="HiFi4"
            )
            right = block.slice(f"{name}_right", rows, (0, 0, 0, HALF), tuple(x.shape), fast)
            right = block.moved(f"{name}_right_tiles", "TilizeWithValPadding", right, fast, layout="TILE", cores=ALL_CORES, fidelity="HiFi4")  # fmt: skip
            right = block.unary(f"{name}_negated", "NEG", right, fast, cores=ALL_CORES)
            halves: list[Tensor] = []
            for side, half in (("right", right), ("left", left)):
                plain = block.moved(f"{name}_{side}_rows", "UntilizeWithUnpadding", half, fast, layout=ROW_MAJOR, cores=ALL_CORES, fidelity="HiFi4")  # fmt: skip
                halves.append(block.permute(f"{name}_{side}_turned", plain, (0, 1, 3, 2), slow))
            joined = block.concat(f"{name}_halves", halves, [x.shape[0], x.shape[1], SIZE, tokens], 2, 2 * fast)
            joined = block.permute(f"{name}_turned", joined, (0, 1, 3, 2), 1.5 * slow)
            joined = block.moved(f"{name}_tiles", "TilizeWithValPadding", joined, fast, layout="TILE", cores=ALL_CORES, fidelity="HiFi4")  # fmt: skip
            tables = [block.tensor([1, 1, tokens, SIZE]) for _ in range(2)]
            parts = [block.binary(f"{name}_{wave}", "MUL", one, table, 2 * fast, cores=ALL_CORES) for wave, one, table in zip(("cos", "sin"), (x, joined), tables, strict=True)]  # fmt: skip
            return block.binary(f"{name}_sum", "ADD", *parts, 2 * fast, cores=ALL_CORES)

        normed, split, attention, product = how.others
        x = block.tensor([users, 1, tokens, HIDDEN])
        qkv = matmul("qkv", block.norm("norm", x, normed, cores=min(ALL_CORES, 4 * users)))
        q, k, v = block.split_heads("heads", qkv, split, heads=HEADS, kv=HEADS, size=SIZE, rows=tokens, batch=users, cores=ALL_CORES)  # fmt: skip
        q, k = (turn(name, one) for name, one in (("q", q), ("k", k)))
        for name, one in (("k", k), ("v", v)):
            cache = block.tensor([4 * users, HEADS, 32, SIZE], "BFLOAT8_B" if how.blocks else "BFLOAT16")
            for user in range(users):
                part = one if users == 1 else block.slice(f"part_{name}", one, (user, 0, 0, 0), (user + 1, HEADS, tokens, SIZE), how.fill)  # fmt: skip
                pages = block.tensor([1, 4], "INT32", layout=ROW_MAJOR)
                block.op(f"fill_{name}", "PagedFillCache", (cache, part, pages), cache, how.fill, cores=ALL_CORES, batch_idx_fallback=user)  # fmt: skip
        out = block.attend("attend", q, k, v, attention, config=chunks(128, 128, (11, 10)), cores=ALL_CORES, fidelity="HiFi4")  # fmt: skip
        out = block.join_heads("joined", out, split / 2, cores=ALL_CORES)
        x = block.binary("attention_added", "ADD", x, matmul("out", out), product / 4, cores=ALL_CORES)
        fed = block.norm("norm_feed", x, normed, cores=min(ALL_CORES, 4 * users))
        groups, parts = max(1, users // how.group), []
        for group in range(groups):
            step = users // groups
            one = fed if groups == 1 else block.slice("group", fed, (group * step, 0, 0, 0), ((group + 1) * step, 1, tokens, HIDDEN), 40)  # fmt: skip
            both = matmul("both", one, 1 / groups)
            gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, at), (one.shape[0], 1, tokens, at + WIDE), product / groups) for role, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
            hidden = block.binary("gated", "MUL", gate, up, product / groups, cores=ALL_CORES, lhs="SILU")
            parts.append(matmul("down", hidden, 1 / groups))
        fed = parts[0] if groups == 1 else block.concat("groups", parts, list(x.shape), 0, 120)
        block.binary("feed_added", "ADD", x, fed, product / 4, cores=ALL_CORES)
        return block

    return build


MATMULS = "qkv out both down"
TURN = "q_* k_* cos_* sin_*"
SMALL = "times of all ops but the matmuls (those of the small ops share what the layer's wall time leaves), their order where the ledger only counts them; gaps"  # fmt: skip
OTHERS = f"the matmuls' times in this state follow from the last state's and the layer's difference; {SMALL}"
WALL = "of wall time of a traced layer"
ONE_OP = r"paged_fused_update_cache|fus.{0,60}(cache|update)|one update"
SEPARATE = r"separate|two (matmuls|linears|projections)|split.{0,40}(gate|projection)|unpack"
ROTARY = r"rotary_embedding"
ROTARY_HF = r"rotary_embedding(?!_llama)"
FEWER = r"in0_block_w ?= ?(2|3|4|8)\b|(smaller|lower|less).{0,30}in0_block_w"
OTHER_CORES = r"(fewer|more) (cores|shards)|\d+ (cores|shards)|core_grid|num_cores"
WIDE_CACHE = r"bfloat16|\bBF16\b"
N_BLOCK = r"per_core_N"
NORM_SHARDS = r"shard|LayerNormShardedMultiCoreProgramConfig"

PLAIN_1 = How(1, (154, 55, 268, 182), ("BFLOAT16", "HiFi2"), ("BFLOAT16", "HiFi2"), ("BFLOAT16", "HiFi2"), shards=0, banks=(), one_update=False, cache="BFLOAT16")  # fmt: skip
PLAIN_32 = replace(PLAIN_1, users=32, attend=(60, None), small=1.3)
LAST_1 = How(
    1,
    (55.5, 20.5, 93.3, 48.2),
    blocks=(12, 12, 6, 32),
    per_n=(3, 1, 5, 1),
    attend=(17, chunks(32, 32, (11, 10), 1)),
)
LAST_32 = replace(LAST_1, users=32, attend=(85, chunks(32, 32, (11, 10), 1)), small=1.1)
CORE_NORMS_1 = replace(LAST_1, shards=0, blocks=(6, 12, 6, 16), us=(57, 20.5, 94, 49.5), cache="BFLOAT16")
CORE_NORMS_32 = replace(LAST_32, shards=0, blocks=(6, 12, 6, 16), us=(57, 20.5, 94, 49.5), cache="BFLOAT16")
EIGHT_DEAD = (
    ("out-n2", "per_core_N 2 or 3 for the output projection", "out", N_BLOCK, "491.4 -> 491 and 493 us", "634.7 -> 635 and 635 us"),
    ("gate-n8", "per_core_N 8 for gate and up", "both", N_BLOCK, "491.4 -> 492 us", "634.7 -> 634 us: a tie"),
    ("down-n", "per_core_N 2 or 3 for the down projection", "down", N_BLOCK, "491.4 -> 492 us", "634.7 -> 635 and 634 us"),
    ("gate-block-12", "in0_block_w 12 for gate and up", "both", r"in0_block_w ?= ?(12|16|24)\b|(larger|wider|deeper|higher).{0,40}in0_block_w", "refused: 1,618,688 bytes of buffers, 1,572,864 is what L1 has", "refused: 1,618,688 bytes of buffers, 1,572,864 is what L1 has"),
    ("gate-six", "gate and up on six shards, with in0_block_w 8", "norm_feed both", OTHER_CORES, "489.9 -> 489.7 us: within noise, and refused with in0_block_w 16", "631.9 -> 634.6 us"),
    ("qkv-hifi2", "HiFi2 for QKV", "qkv", HIFI2, "491 -> 534 us", "634 -> 676 us"),
    ("out-hifi2", "HiFi2 for the output projection", "out", HIFI2, "491 -> 505 us", "634 -> 649 us"),
    ("gate-hifi2", "HiFi2 for gate and up", "both", HIFI2, "491 -> 568 us", "634 -> 711 us"),
    ("down-hifi2", "HiFi2 for the down projection", "down", HIFI2, "491 -> 530 us", "634 -> 672 us"),
    ("split", "Q, K and V as three matmuls, gate and up as two", "qkv both half_*", SEPARATE, "488.9 -> 566.5 us", "632.7 -> 712.6 us"),
)  # fmt: skip
DEEP_1 = How(1, (54.5, 20.5, 92.5, 47.5), turn="pairs", attend=(14, chunks(32, 128, (11, 10))))
DEEP_32 = replace(DEEP_1, users=32, attend=(70, chunks(32, 128, (11, 10))))
SHALLOW = {"blocks": (4, 4, 4, 4), "us": (59, 25, 97, 55)}
APART = {"us": (54.5, 20.5, 66, 66, 47.5)}
FINAL_1 = replace(DEEP_1, turn="by halves", attend=(17, None))
FINAL_32 = replace(DEEP_32, turn="by halves", attend=(192, None), small=1.25)
SIX = How(1, (55, 22, 50, 50, 48), blocks=(6, 6, 6, 16), shards=16, one_update=False, attend=(19, chunks(32, 32, (11, 10), 1)))  # fmt: skip
SIX_32 = replace(SIX, users=32, attend=(130, chunks(32, 32, (11, 10), 1)), small=1.2)
THREE = replace(SIX, us=(60, 27, 98, 52), blocks=(3, 3, 3, 8), shards=32)
THREE_8 = replace(THREE, us=(67, 30, 106, 60), attention=WIDER, feed=WIDER, down=WIDER)
OWN_1 = How(1, (74.5, 73, 106, 57.5), WIDER, NARROW, WIDER, blocks=(1, 1, 1, 8), shards=0, banks=("down",), one_update=False, cache="BFLOAT16", folded=True)  # fmt: skip
OWN_32 = replace(OWN_1, users=32, attend=(60, None), small=1.3)
OWN_NARROW = {"us": (68, 64.5, 106, 52), "attention": NARROW, "down": NARROW}
OWN_LAST_32 = replace(OWN_32, us=(68, 64.5, 106, 48), attention=NARROW, down=NARROW, blocks=(1, 1, 1, 16))

PHI = (
    laid(
        "phi-plain-one", FUSED, "decode of one user in BFLOAT16, all left to TTNN: 1,050 us of wall time", decode(PLAIN_1),
        (
            gain("silu", "SiLU in the multiplication of gate and up", 2.4, "silu gated", rf"{ACTIVATION_IN_BINARY}|{ACTIVATION_IN_MATMUL}", f"2.45 us {WALL}, mean of 20,000 pairs"),
            dead("rotary-hf", "rotary_embedding_hf or rotary_embedding for queries and keys", TURN, ROTARY_HF, "refused: the heads' width of 96 is no multiple of 64; padded to 128 it computes something else", FUSED_LATER),
        ),
        SMALL,
    ),
    laid(
        "phi-plain-32", FUSED, "decode of 32 users in BFLOAT16, all left to TTNN: 1,214 us of wall time", decode(PLAIN_32),
        (
            gain("silu", "SiLU in the multiplication of gate and up", 2.8, "silu gated", rf"{ACTIVATION_IN_BINARY}|{ACTIVATION_IN_MATMUL}", f"2.8 us {WALL}, mean of 20,000 pairs"),
            dead("one-update", "both updates of the cache in one op", "cache_*", ONE_OP, "lost: a reshard of V, which it needs, took more than it saved", FUSED_LATER),
        ),
        SMALL,
    ),
    laid(
        "phi-core-norms-one", EIGHT, "decode of one user over the banks, BFLOAT4_B at LoFi, norms on one core: 566 us of wall time", decode(CORE_NORMS_1),
        (gain("norms", "the residual and the norms on eight shards", 76, "norm norm_feed qkv_placed qkv_back out_placed out_back both_placed both_back down_placed down_back attention_added feed_added", NORM_SHARDS, f"566 -> 490 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-core-norms-32", EIGHT, "decode of 32 users over the banks, BFLOAT4_B at LoFi, norms on one core: 723 us of wall time", decode(CORE_NORMS_32),
        (gain("norms", "the residual and the norms on eight shards", 71, "norm norm_feed qkv_placed qkv_back out_placed out_back both_placed both_back down_placed down_back attention_added feed_added", NORM_SHARDS, f"723 -> 652 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-wide-attention-one", EIGHT, "decode of one user over the banks, attention BFLOAT8_B at LoFi, down BFLOAT8_B at HiFi2: 622 us of wall time",
        decode(replace(CORE_NORMS_1, attention=WIDER, down=("BFLOAT8_B", "HiFi2"), us=(66, 28, 94, 87))),
        (gain("attention", "BFLOAT4_B for attention's weights", 16, "qkv out", BFP4, f"622 -> 606 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-wide-attention-32", EIGHT, "decode of 32 users over the banks, attention BFLOAT8_B at LoFi, down BFLOAT8_B at HiFi2: 778 us of wall time",
        decode(replace(CORE_NORMS_32, attention=WIDER, down=("BFLOAT8_B", "HiFi2"), us=(60, 24, 94, 87))),
        (dead("attention", "BFLOAT4_B for attention's weights", "qkv out", BFP4, f"778 -> 779 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-wide-down-one", EIGHT, "decode of one user over the banks, down BFLOAT8_B at LoFi, attention BFLOAT8_B at HiFi2: 636 us of wall time",
        decode(replace(CORE_NORMS_1, attention=("BFLOAT8_B", "HiFi2"), down=WIDER, us=(98, 36, 94, 58))),
        (gain("down", "BFLOAT4_B for the down projection", 10, "down", BFP4, f"636 -> 626 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-wide-down-32", EIGHT, "decode of 32 users over the banks, down BFLOAT8_B at LoFi, attention BFLOAT8_B at HiFi2: 797 us of wall time",
        decode(replace(CORE_NORMS_32, attention=("BFLOAT8_B", "HiFi2"), down=WIDER, us=(98, 36, 94, 60))),
        (gain("down", "BFLOAT4_B for the down projection", 13, "down", BFP4, f"797 -> 784 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-hifi2-one", EIGHT, "decode of one user over the banks, BFLOAT4_B at HiFi2: 666 us of wall time",
        decode(replace(LAST_1, attention=("BFLOAT4_B", "HiFi2"), feed=("BFLOAT4_B", "HiFi2"), down=("BFLOAT4_B", "HiFi2"), us=(98.5, 34.5, 171.3, 87.2))),
        (gain("fidelity", "LoFi for all matmuls", 175, MATMULS, LOFI, f"666 -> 491 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-hifi2-32", EIGHT, "decode of 32 users over the banks, BFLOAT4_B at HiFi2: 807 us of wall time",
        decode(replace(LAST_32, attention=("BFLOAT4_B", "HiFi2"), feed=("BFLOAT4_B", "HiFi2"), down=("BFLOAT4_B", "HiFi2"), us=(97.5, 35.5, 170.3, 86.2))),
        (gain("fidelity", "LoFi for all matmuls", 173, MATMULS, LOFI, f"807 -> 634 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-wide-cache-32", CACHES, "decode of 32 users over the banks, BFLOAT4_B at LoFi, a BFLOAT16 cache: 648.5 us of wall time",
        decode(replace(LAST_32, cache="BFLOAT16", attend=(100, chunks(32, 32, (11, 10), 1)))),
        (gain("cache", "a BFLOAT8_B cache", 15.8, "cache attend", BFP8, f"648.5 -> 632.7 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-last-one", EIGHT, "decode of one user over the banks on eight shards, BFLOAT4_B at LoFi: 490 us of wall time", decode(LAST_1),
        (
            *(dead(key, what, roles, names, f"{one} {WALL}") for key, what, roles, names, one, _ in EIGHT_DEAD),
            dead("wide-cache", "a BFLOAT16 cache", "cache attend", WIDE_CACHE, f"488.9 -> 488.7 us {WALL}: a tie", CACHES),
        ),
        SMALL,
    ),
    laid(
        "phi-last-32", EIGHT, "decode of 32 users over the banks on eight shards, BFLOAT4_B at LoFi: 632 us of wall time", decode(LAST_32),
        tuple(dead(key, what, roles, names, f"{many} {WALL}") for key, what, roles, names, _, many in EIGHT_DEAD),
        SMALL,
    ),
    laid(
        "phi-seed-blocks-one", EIGHT, "decode of one user over the banks on eight shards, blocks as an advisor chose: 491 us of wall time",
        decode(replace(LAST_1, blocks=(6, 12, 6, 16), us=(56.5, 20.5, 93.3, 48.9))),
        (
            dead("qkv-block", "in0_block_w 12 for QKV", "qkv", r"in0_block_w ?= ?(12|24)\b|(larger|wider|deeper|higher).{0,40}in0_block_w", f"491.4 -> 489.3 us {WALL}, the fastest replays 488.7 and 488.2: within noise, though it was kept"),
            dead("down-block", "in0_block_w 32 for the down projection", "down", r"in0_block_w ?= ?(32|64)\b|(larger|wider|deeper|higher).{0,40}in0_block_w", f"491.4 -> 490 us {WALL}: within noise, though it was kept"),
        ),
        OTHERS,
    ),
    laid(
        "phi-shallow-one", BLOCKS, "decode of one user over the banks on eight shards, in0_block_w 4 for all: 379 us of wall time",
        decode(replace(DEEP_1, **SHALLOW)),
        (gain("blocks", "in0_block_w 12, 12, 6 and 16", 21, MATMULS, BLOCK_W, f"379 -> 358 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-shallow-32", BLOCKS, "decode of 32 users over the banks on eight shards, in0_block_w 4 for all: 494 us of wall time",
        decode(replace(DEEP_32, **SHALLOW)),
        (gain("blocks", "in0_block_w 12, 12, 6 and 16", 22, MATMULS, BLOCK_W, f"494 -> 472 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-apart-one", BLOCKS, "decode of one user over the banks on eight shards, gate and up apart: 392 us of wall time",
        decode(replace(DEEP_1, **APART)),
        (gain("packed", "gate and up as one matmul", 34, "gate up silu gated", PACKED, f"392 -> 358 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-apart-32", BLOCKS, "decode of 32 users over the banks on eight shards, gate and up apart: 507 us of wall time",
        decode(replace(DEEP_32, **APART)),
        (gain("packed", "gate and up as one matmul", 34, "gate up silu gated", PACKED, f"507 -> 473 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-two-updates-one", BLOCKS, "decode of one user over the banks on eight shards, keys and values written apart: 395 us of wall time",
        decode(replace(DEEP_1, one_update=False)),
        (gain("one-update", "both updates of the cache in one op", 37, "cache_*", ONE_OP, f"395 -> 358 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-two-updates-32", BLOCKS, "decode of 32 users over the banks on eight shards, keys and values written apart: 493 us of wall time",
        decode(replace(DEEP_32, one_update=False)),
        (gain("one-update", "both updates of the cache in one op", 20, "cache_*", ONE_OP, f"493 -> 473 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-by-halves-one", f"{TT_METAL}/d4f1698f5f9f0ff667e357e1cf15d70ad63c2f7d/{FOLDER}/optimized_decoder/work_log.md",
        "decode of one user over the banks on eight shards, queries and keys turned by halves: 459 us of wall time", decode(replace(DEEP_1, turn="by halves")),
        (gain("rotary", "rotary_embedding_llama, with the projections' columns in pairs", 101, TURN, ROTARY, f"459 -> 358 us {WALL}; given up later, since 32 users' outputs were not exact enough with it"),),
        OTHERS,
    ),
    laid(
        "phi-pairs-one", BLOCKS, "decode of one user over the banks on eight shards, in0_block_w 12, 12, 6 and 16, a rotary op: 358 us of wall time", decode(DEEP_1),
        (
            dead("qkv-block", "in0_block_w 6 for QKV", "qkv", rf"{FEWER}|in0_block_w ?= ?6\b", f"358 -> 361 us {WALL}"),
            dead("out-block", "in0_block_w 6 for the output projection", "out", rf"{FEWER}|in0_block_w ?= ?6\b", f"358 -> 360 us {WALL}"),
            dead("gate-block", "in0_block_w 4 for gate and up", "both", FEWER, f"358 -> 361 us {WALL}"),
            dead("down-block", "in0_block_w 8 for the down projection", "down", FEWER, f"358 -> 363 us {WALL}"),
            dead("down-block-32", "in0_block_w 32 for the down projection", "down", r"in0_block_w ?= ?(32|64)\b|(larger|wider|deeper|higher).{0,40}in0_block_w", f"358 -> 357 us {WALL}: a tie"),
            dead("gate-block-12", "in0_block_w 12 for gate and up", "both", r"in0_block_w ?= ?(12|16|24)\b|(larger|wider|deeper|higher).{0,40}in0_block_w", "refused: 1,618,688 bytes of buffers, 1,572,864 is what L1 has"),
            dead("cores", "16 or 32 shards", "norm norm_feed qkv out both down", OTHER_CORES, f"358 -> 363 and 381 us {WALL}"),
        ),
        SMALL,
    ),
    laid(
        "phi-pairs-32", BLOCKS, "decode of 32 users over the banks on eight shards, in0_block_w 12, 12, 6 and 16, a rotary op: 472 us of wall time", decode(DEEP_32),
        (
            dead("qkv-block", "in0_block_w 6 for QKV", "qkv", rf"{FEWER}|in0_block_w ?= ?6\b", f"472 -> 474 us {WALL}"),
            dead("out-block", "in0_block_w 6 for the output projection", "out", rf"{FEWER}|in0_block_w ?= ?6\b", f"472 -> 476 us {WALL}"),
            dead("gate-block", "in0_block_w 4 for gate and up", "both", FEWER, f"472 -> 475 us {WALL}"),
            dead("down-block", "in0_block_w 8 for the down projection", "down", FEWER, f"472 -> 477 us {WALL}"),
            dead("down-block-32", "in0_block_w 32 for the down projection", "down", r"in0_block_w ?= ?(32|64)\b|(larger|wider|deeper|higher).{0,40}in0_block_w", f"472 -> 474 us {WALL}"),
            dead("cores", "16 or 32 shards", "norm norm_feed qkv out both down", OTHER_CORES, f"472 -> 473 and 487 us {WALL}"),
        ),
        SMALL,
    ),
    laid(
        "phi-final-32", TURNED, "decode of 32 users over the banks on eight shards, turned by halves: 699 us in kernels, 788.6 us of wall time", decode(FINAL_32),
        (gain("turn", "what turns queries and keys in L1, on 32 shards", 40.2, f"{TURN} q_placed k_placed", rf"{IN_L1}|{SHARDED}", f"788.6 -> 748.5 us {WALL}"),),
        SMALL, 698.6,
    ),
    laid(
        "phi-bfp8-hifi2", SIXTEEN, "decode of one user over the banks on 32 shards, BFLOAT8_B at HiFi2: 735.7 us of wall time",
        decode(replace(THREE_8, attention=("BFLOAT8_B", "HiFi2"), feed=("BFLOAT8_B", "HiFi2"), down=("BFLOAT8_B", "HiFi2"), us=(103, 41, 177, 95))),
        (
            gain("fidelity", "LoFi for all matmuls", 153, MATMULS, LOFI, f"735.7 -> 582.7 us {WALL}"),
            gain("weights", "BFLOAT4_B for all weights", 6.3, MATMULS, BFP4, f"735.7 -> 729.4 us {WALL}"),
        ),
        OTHERS,
    ),
    laid(
        "phi-bfp8-lofi", SIXTEEN, "decode of one user over the banks on 32 shards, BFLOAT8_B at LoFi: 582.7 us of wall time", decode(THREE_8),
        (gain("weights", "BFLOAT4_B for all weights", 25.9, MATMULS, BFP4, f"582.7 -> 556.8 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-bfp4-hifi2", SIXTEEN, "decode of one user over the banks on 32 shards, BFLOAT4_B at HiFi2: 729.4 us of wall time",
        decode(replace(THREE, attention=("BFLOAT4_B", "HiFi2"), feed=("BFLOAT4_B", "HiFi2"), down=("BFLOAT4_B", "HiFi2"), us=(103, 40, 175, 91))),
        (gain("fidelity", "LoFi for all matmuls", 172.6, MATMULS, LOFI, f"729.4 -> 556.8 us {WALL}"),),
        OTHERS,
    ),
    laid(
        "phi-32-shards", SIXTEEN, "decode of one user over the banks on 32 shards, BFLOAT4_B at LoFi: 556.7 us of wall time", decode(THREE),
        (
            gain("cores", "16 shards, with in0_block_w 6 and 16", 2.0, "norm norm_feed qkv out both down", rf"{OTHER_CORES}|{BLOCK_W}", f"556.7 -> 554.7 us {WALL}, each the mean of three runs of 200 replays that differ by less"),
            dead("banks", "sizes by the twelve banks, with in0_block_w 3 and 8", MATMULS, r"per_core_N|\b12 (banks|cores)", f"556.9 -> 593.3 us {WALL}"),
            dead("cores-8", "8 or 16 shards, in0_block_w as it is", "norm norm_feed qkv out both down", r"(fewer) (cores|shards)|\b(8|16) (cores|shards)", f"556.8 -> 578.4 and 573.1 us {WALL}"),
        ),
        OTHERS,
    ),
    laid(
        "phi-packed", SIXTEEN, "decode of one user over the banks on 16 shards, gate and up in one: 555.2 us of wall time",
        decode(replace(SIX, us=(55, 22, 94.5, 48))),
        (gain("apart", "gate and up as two matmuls", 4.9, "both both_back half_* silu gated", SEPARATE, f"555.2 -> 550.3 us {WALL}, each the mean of three runs of 200 replays"),),
        OTHERS,
    ),
    laid(
        "phi-sixteen-one", SIXTEEN, "decode of one user over the banks on 16 shards, gate and up apart: 499 us in kernels, 521.7 us of wall time", decode(SIX),
        (
            dead("packed", "gate and up as one matmul", "gate up silu gated", PACKED, f"550.3 -> 555.2 us {WALL}"),
            dead("split", "Q, K and V as three matmuls", "qkv", SEPARATE, f"550.3 -> 564.8 us {WALL}"),
            dead("eight", "8 shards, with in0_block_w 12 and 32, as an advisor chose", "norm norm_feed qkv out gate up down", rf"{OTHER_CORES}|in0_block_w ?= ?(12|32)\b", f"521.7 -> 555.7 us {WALL}"),
        ),
        SMALL, 499,
    ),
    laid(
        "phi-sixteen-32", SIXTEEN, "decode of 32 users over the banks on 16 shards, gate and up apart: 635 us in kernels, 723 us of wall time", decode(SIX_32),
        (dead("eight", "8 shards, with in0_block_w 12 and 32, as an advisor chose", "norm norm_feed qkv out gate up down", rf"{OTHER_CORES}|in0_block_w ?= ?(12|32)\b", f"722.9 -> 756.1 us {WALL}"),),
        SMALL, 635,
    ),
    laid(
        "phi-own-one", OWN, "decode of one user, down over the banks, the rest left to TTNN, attention and down BFLOAT8_B: 667.5 us of wall time", decode(OWN_1),
        (
            gain("attention", "BFLOAT4_B for attention's weights", 15, "qkv out", BFP4, f"667.5 -> 652.5 us {WALL}"),
            gain("down", "BFLOAT4_B for the down projection", 5.3, "down", BFP4, f"667.5 -> 662.1 us {WALL}"),
            dead("banks", "QKV, the output projection, gate and up over the banks as well", "qkv out both", DRAM_SHARDED, f"each was faster alone, none in the sum {WALL}: taken back", OWN_LOG),
        ),
        OTHERS,
    ),
    laid(
        "phi-own-32", OWN, "decode of 32 users, down over the banks, the rest left to TTNN, attention and down BFLOAT8_B: 873.3 us of wall time", decode(OWN_32),
        (
            gain("attention", "BFLOAT4_B for attention's weights", 15.4, "qkv out", BFP4, f"873.3 -> 857.9 us {WALL}"),
            gain("down", "BFLOAT4_B for the down projection", 4.9, "down", BFP4, f"873.3 -> 868.4 us {WALL}"),
            dead("banks", "QKV, the output projection, gate and up over the banks as well", "qkv out both", DRAM_SHARDED, f"each was faster alone, none in the sum {WALL}: taken back", OWN_LOG),
        ),
        OTHERS,
    ),
    laid(
        "phi-own-narrow-one", OWN, "decode of one user, down over the banks with in0_block_w 8, all BFLOAT4_B: 647.0 us of wall time", decode(replace(OWN_1, **OWN_NARROW)),
        (gain("block", "in0_block_w 16 for the down projection", 3.8, "down", BLOCK_W, f"647.0 -> 643.2 us {WALL}; alone, 65.2 -> 61.1 us"),),
        OTHERS,
    ),
    laid(
        "phi-own-narrow-32", OWN, "decode of 32 users, down over the banks with in0_block_w 8, all BFLOAT4_B: 811.0 us of wall time", decode(replace(OWN_32, **OWN_NARROW)),
        (gain("block", "in0_block_w 16 for the down projection", 4.8, "down", BLOCK_W, f"811.0 -> 806.2 us {WALL}; alone, 65.2 -> 61.5 us"),),
        OTHERS,
    ),
    laid(
        "phi-own-last-32", OWN_TURNED, "decode of 32 users, down over the banks with in0_block_w 16, all BFLOAT4_B: 725 us in kernels, 807.2 us of wall time", decode(OWN_LAST_32),
        (
            gain("turn", "what turns queries and keys in L1", 39.1, f"{TURN} q_placed k_placed", rf"{IN_L1}|{SHARDED}", f"807.2 -> 768.1 us {WALL}"),
            gain("norms", "the norms in shards on 11 cores", 61.2, "norm norm_feed", NORM_SHARDS, f"807.2 -> 745.9 us {WALL}; 749.0 and 748.5 us on 12 and 24 cores. Kept off, since outputs changed a little"),
            dead("attended", "attention's output in shards", "attend attended_placed", SHARDED, "refused: no sharded output for grouped queries"),
        ),
        SMALL, 725.2,
    ),
    laid(
        "phi-prefill-one", PROMPTS, "prefill of 128 tokens, BFLOAT4_B at LoFi, matmuls left to TTNN: 1,396 us of wall time",
        prefill(Prompt(1, (113, 102.3, 138.1, 235.1), 105, (44, 30, 40, 20), 20)),
        (
            gain("down", "a 2D config of 8 x 8 cores with in0_block_w 8 for the down projection", 44.6, "down", CONFIG, "1,395.8 -> 1,351.2 us of wall time of a layer; alone, 235.1 -> 152.8 us from a trace", OWN),
            gain("out", "a 2D config of 8 x 8 cores with in0_block_w 8 for the output projection", 31, "out", CONFIG, "102.3 -> 71.3 us alone, from a trace"),
            dead("qkv", "a 2D config of 8 x 8 cores for QKV", "qkv", r"ReuseMultiCastProgramConfig|8 ?x ?8|\b2D\b", "113.1 -> 163.8 us alone, from a trace"),
            dead("both", "a 2D config of 8 x 8 cores for gate and up", "both", r"ReuseMultiCastProgramConfig|8 ?x ?8|\b2D\b", "138.1 -> 271.4 us alone, from a trace"),
        ),
        "times of all ops but the matmuls; gaps",
    ),
    laid(
        "phi-prefill-32", OWN, "prefill of 128 tokens of 32 users, BFLOAT4_B at LoFi, matmuls left to TTNN: 30,267 us of wall time",
        prefill(Prompt(32, (3023, 1250, 4900, 9100), 3100, (110, 420, 560, 560), 14)),
        (
            gain("down", "a 2D config of 8 x 8 cores with in0_block_w 8 for the down projection", 6118, "down", CONFIG, "30,266.6 -> 24,148.5 us of wall time of a layer"),
            dead("qkv", "a 2D config of 8 x 8 cores, in0_block_w 4 or 8, for QKV", "qkv", r"ReuseMultiCastProgramConfig|8 ?x ?8|\b2D\b", "refused: 1,719,040 and 2,147,072 bytes of buffers, 1,572,864 is what L1 has"),
            dead("both", "a 2D config of 8 x 8 cores, in0_block_w 4 or 8, for gate and up", "both", r"ReuseMultiCastProgramConfig|8 ?x ?8|\b2D\b", "refused: 3,322,624 bytes of buffers with in0_block_w 8, 1,572,864 is what L1 has"),
        ),
        "times of all ops but QKV's matmul; gaps",
    ),
    laid(
        "phi-prefill-2d-one", BLOCKS, "prefill of 128 tokens, BFLOAT4_B at LoFi, 2D configs: 1,219 us in kernels, 1,596 us of wall time",
        prefill(Prompt(1, (150, 64, 262, 145), 150, (44, 30, 40, 20), 20, blocks=(2, 2, 4, 4))),
        (dead("rotary", "rotary_embedding_llama, with slices that put columns back in order", "q_* k_*", ROTARY, "1,596 -> 1,626 us of wall time of a layer"),),
        "times of all ops; only their sum is told; gaps", 1219,
    ),
    laid(
        "phi-prefill-2d-32", BLOCKS, "prefill of 128 tokens of 32 users, BFLOAT4_B at LoFi, 2D configs: 18,974 us in kernels, 19,670 us of wall time",
        prefill(Prompt(32, (1700, 560, 3000, 1320), 3150, (110, 420, 560, 560), 14, blocks=(2, 2, 4, 4), group=8)),
        (dead("rotary", "rotary_embedding_llama, with slices that put columns back in order", "q_* k_*", ROTARY, "19,670 -> 28,358 us of wall time of a layer"),),
        "times of all ops but of the six permutes (3,955 us); only their sum is told; gaps", 18974,
    ),
)  # fmt: skip
