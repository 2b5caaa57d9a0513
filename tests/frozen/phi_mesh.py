"""Phi 3.5 mini on Wormhole chips: a prefill of 32 tokens on one, and decode of one user over eight in a ring.

Each of the eight chips has four heads and an eighth of the feed-forward; after the output and the down projection
their sums are scattered and gathered. The ledger tells wall times of a traced layer, kernel times of the collectives, of
the prefill's matmuls, and sums of the passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, DRAM_SHARDED, LOFI

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/autoports/microsoft_phi_3_5_mini_instruct/doc"
ONE = f"{TT_METAL}/3fb37af8707d051e5f57bca4cc3af15e3a83e439/{FOLDER}/optimized_decoder/README.md"
RING = f"{TT_METAL}/2958f11db115471594431477500ab906ea19f308/{FOLDER}/optimized_multichip_decoder/work_log.md"
GRID, ALL_CORES, CHIPS = (8, 8), 64, 8
HIDDEN, HEADS, SIZE, WIDE, TOKENS = 3072, 32, 96, 8192, 32
HALF, QKV = SIZE // 2, 3 * HEADS * SIZE


def turned(block: Block, name: str, x: Tensor, tables: list[Tensor], us: float) -> Tensor:
    """A half, and the other negated before it, each times its table; times share `us`."""
    first, heads, rows, _ = x.shape
    cores = min(ALL_CORES, first * heads)
    left = block.slice(f"{name}_left", x, (0, 0, 0, 0), (first, heads, rows, HALF), 0.06 * us, DRAM)
    both = block.moved(f"{name}_rows", "Untilize", x, 0.1 * us, layout=ROW_MAJOR, place=DRAM, cores=cores, fidelity="HiFi4")  # fmt: skip
    right = block.slice(f"{name}_right", both, (0, 0, 0, HALF), (first, heads, rows, SIZE), 0.07 * us)
    right = block.moved(f"{name}_right_tiles", "TilizeWithValPadding", right, 0.1 * us, layout="TILE", cores=cores, fidelity="HiFi4")  # fmt: skip
    right = block.unary(f"{name}_negated", "NEG", right, 0.05 * us, cores=cores)
    halves = [block.moved(f"{name}_{side}_rows", "UntilizeWithUnpadding", half, 0.15 * us, layout=ROW_MAJOR, cores=cores, fidelity="HiFi4") for side, half in (("right", right), ("left", left))]  # fmt: skip
    joined = block.concat(f"{name}_halves", halves, list(x.shape), 3, 0.08 * us)
    joined = block.moved(f"{name}_tiles", "TilizeWithValPadding", joined, 0.1 * us, layout="TILE", cores=cores, fidelity="HiFi4")  # fmt: skip
    parts = [block.binary(f"{name}_{wave}", "MUL", one, table, 0.05 * us, cores=cores, place=DRAM) for wave, one, table in zip(("cos", "sin"), (x, joined), tables, strict=True)]  # fmt: skip
    return block.binary(f"{name}_sum", "ADD", *parts, 0.04 * us, cores=cores)


def prefill() -> Block:
    """BFLOAT8_B weights that lie interleaved, matmuls left to TTNN; what the output and the down projection read in L1."""
    block = Block("wormhole_b0", grid=GRID, gap_us=25)

    def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
        return block.linear(role, x, n, us, dtype="BFLOAT8_B", fidelity="HiFi2", cores=min(ALL_CORES, n // 32))

    x = block.tensor([1, 1, TOKENS, HIDDEN])
    qkv = linear("qkv", block.norm("norm", x, 62, cores=1), QKV, 152)
    q, k, v = block.split_heads("heads", qkv, 45, heads=HEADS, kv=HEADS, size=SIZE, rows=TOKENS, cores=1)
    tables = [block.tensor([1, 1, TOKENS, SIZE]) for _ in range(2)]
    q, k = (turned(block, name, one, tables, 170) for name, one in (("q", q), ("k", k)))
    for name, one in (("k", k), ("v", v)):
        cache = block.tensor([4, HEADS, 32, SIZE], "BFLOAT8_B")
        part = block.typecast(f"{name}_cast", one, "BFLOAT8_B", 8, cores=HEADS)
        block.op(f"fill_{name}", "PagedFillCache", (cache, part, block.tensor([1, 4], "INT32", layout=ROW_MAJOR)), cache, 16, cores=HEADS, batch_idx_fallback=0)  # fmt: skip
    out = block.attend("attend", q, k, v, 36, config=chunks(32, 32, (8, 8)), cores=HEADS, fidelity="HiFi4")
    out = block.join_heads("joined", out, 22, place=L1, cores=1)
    x = block.binary("attention_added", "ADD", x, linear("out", out, HIDDEN, 63), 6, cores=ALL_CORES)
    both = linear("both", block.norm("norm_feed", x, 62, cores=1), 2 * WIDE, 274)
    gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, at), (1, 1, TOKENS, at + WIDE), 12, L1) for role, at in (("gate", 0), ("up", WIDE)))  # fmt: skip
    hidden = block.binary("gated", "MUL", block.unary("silu", "SILU", gate, 14, cores=ALL_CORES), up, 8, cores=ALL_CORES)  # fmt: skip
    block.binary("feed_added", "ADD", x, linear("down", hidden, HIDDEN, 161), 6, cores=ALL_CORES)
    return block


@dataclass(frozen=True)
class Ring:
    """Decode over the ring; times in us. `us`: QKV, out, gate and up, down."""

    us: tuple[float, float, float, float]
    pairs: tuple[tuple[float, float], tuple[float, float]] = ((66, 37), (67, 36))  # of scatter and gather
    block: int = 2  # in0_block_w of the output and the down projection
    payload: str = "BFLOAT16"
    attend: float = 30


def decode(how: Ring) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, grid=GRID, gap_us=0.2)
        us = dict(zip(("qkv", "out", "both", "down"), how.us, strict=True))
        heads, residual = HEADS // CHIPS, block.across(32, HIDDEN, 16)

        def linear(role: str, x: Tensor, n: int, k_block: int, dtype: str) -> Tensor:
            return block.linear(role, x, n, us[role], dtype=dtype, fidelity="HiFi2", config=banked(k_block, max(1, n // 512)), cores=12, place=block.across(32, n, 16), banks=True)  # fmt: skip

        def summed(role: str, x: Tensor, times: tuple[float, float]) -> Tensor:
            x = block.from_shards(f"{role}_flat", x, 3)
            if how.payload != "BFLOAT16":
                x = block.typecast(f"{role}_narrowed", x, how.payload, 2.5, cores=ALL_CORES)
            x = block.collective(f"{role}_scatter", "ReduceScatterMinimalAsync", x, HIDDEN // CHIPS, times[0], ring=CHIPS, links=1)  # fmt: skip
            x = block.collective(f"{role}_gather", "AllGatherAsync", x, HIDDEN, times[1], ring=CHIPS, links=1)
            if how.payload != "BFLOAT16":
                x = block.typecast(f"{role}_widened", x, "BFLOAT16", 2.5, cores=ALL_CORES)
            return x

        x = block.tensor([1, 1, 1, HIDDEN])
        normed = block.norm("norm", block.to_shards("entry", x, residual, 3), 11, cores=16, config=norm_shards((8, 2), 6))  # fmt: skip
        qkv = block.from_shards("qkv_flat", linear("qkv", normed, QKV // CHIPS, 6, "BFLOAT8_B"), 3)
        q, k, v = block.heads_of_decode("heads", qkv, 10, heads=heads, kv=heads, size=SIZE, users=1)
        position = block.tensor([1, 1], "UINT32", layout=ROW_MAJOR)
        tables: list[Tensor] = []
        for wave in ("cos", "sin"):
            row = block.op(f"{wave}_rows", "Embeddings", (position, block.tensor([1, 1, 4096, SIZE], layout=ROW_MAJOR)), block.tensor([1, 1, 1, SIZE], layout=ROW_MAJOR), 4, cores=1)  # fmt: skip
            tables.append(block.moved(f"{wave}_tiles", "TilizeWithValPadding", row, 7, layout="TILE", cores=1, fidelity="HiFi4"))  # fmt: skip
        turns: list[Tensor] = []
        for name, one in (("q", q), ("k", k)):
            flat = block.from_shards(f"{name}_flat", one, 2)
            turns.append(block.to_shards(f"{name}_placed", turned(block, name, flat, tables, 46), block.along(32, SIZE, 1), 2))  # fmt: skip
        q, k = turns
        cache = block.tensor([4, heads, 32, SIZE], "BFLOAT8_B")
        block.update_cache("cache_k", cache, k, 11)
        block.update_cache("cache_v", cache, v, 11)
        out = block.attend_decode("attend", q, cache, how.attend, config=chunks(32, 32, (8, 8)), cores=ALL_CORES, fidelity="HiFi2", fp32=False)  # fmt: skip
        out = block.to_shards("attended_placed", out, block.along(32, SIZE, 1), 2)
        out = block.moved("joined", "NLPConcatHeadsDecode", out, 4, shape=[1, 1, 1, heads * SIZE], place=block.across(32, heads * SIZE, heads), cores=heads, num_heads=heads, on_subcoregrids=False)  # fmt: skip
        out = block.reshard("joined_moved", out, block.across(32, heads * SIZE, 12 // how.block), 2)
        out = summed("out", linear("out", out, HIDDEN, how.block, "BFLOAT8_B"), how.pairs[0])
        x = block.binary("attention_added", "ADD", x, out, 4, cores=ALL_CORES)
        fed = block.norm("norm_feed", block.to_shards("feed_placed", x, residual, 3), 11, cores=16, config=norm_shards((8, 2), 6))  # fmt: skip
        both = block.from_shards("both_flat", linear("both", fed, 2 * WIDE // CHIPS, 6, "BFLOAT4_B"), 4)
        gate, up = (block.slice(f"half_{role}", both, (0, 0, 0, at), (1, 1, 1, at + WIDE // CHIPS), 4) for role, at in (("gate", 0), ("up", WIDE // CHIPS)))  # fmt: skip
        hidden = block.binary("gated", "MUL", block.unary("silu", "SILU", gate, 5, cores=32), up, 5, cores=32)
        hidden = block.to_shards("gated_placed", hidden, block.across(32, WIDE // CHIPS, 32 // how.block), 2)
        down = summed("down", linear("down", hidden, HIDDEN, how.block, "BFLOAT4_B"), how.pairs[1])
        block.binary("feed_added", "ADD", x, down, 4, cores=ALL_CORES)
        return block

    return build


WALL = "of wall time of a traced layer"
SUMS = "out_scatter out_gather down_scatter down_gather"
MADE_UP = "times of all ops but the collectives; their cores and links; where the reshards stand; gaps"
BASE = Ring((27, 17, 36, 24), block=1)
DEEP = replace(BASE, us=(27, 13, 36, 19), block=2)
NARROW = replace(DEEP, payload="BFLOAT8_B", pairs=((61, 33), (60, 34)))

PHI_MESH = (
    laid(
        "phi-wormhole-prefill", ONE, "prefill of 32 tokens on one chip, BFLOAT8_B at HiFi2: 46 ops, 1,328.9 us in kernels, gaps as long", prefill,
        (dead("banks", "the matmuls over the DRAM banks", "qkv out both down", DRAM_SHARDED, "1,328.9 -> 1,918.8 us in kernels"),),
        "times of all ops but the matmuls; gaps", 1328.9,
    ),
    laid(
        "phi-ring-base", RING, "decode of one user on eight chips, BFLOAT16 between them: 570 us in kernels, 580.7 us of wall time", decode(BASE),
        (dead("async", "an all-reduce with semaphores of its own", SUMS, r"all_reduce|semaphore|persistent", f"580.7 -> 584.1 us {WALL}, 570.0 -> 572.3 us in kernels"),),
        MADE_UP, 570,
    ),
    laid(
        "phi-ring-wide", RING, "decode of one user on eight chips, in0_block_w 2, BFLOAT16 between them: 571.5 us of wall time", decode(DEEP),
        (gain("payload", "BFLOAT8_B between the chips, with a cast before and after", 4.1, SUMS, BFP8, f"571.5 -> 567.4 us {WALL}; scatters and gathers 66, 37, 67, 36 -> 61, 33, 60, 34 us"),),
        MADE_UP,
    ),
    laid(
        "phi-ring-narrow", RING, "decode of one user on eight chips, in0_block_w 2, BFLOAT8_B between them: 567.4 us of wall time", decode(NARROW),
        (gain("fidelity", "LoFi for the matmuls and attention", 8.2, "qkv out both down attend", LOFI, f"567.4 -> 559.2 us {WALL}"),),
        MADE_UP,
    ),
)  # fmt: skip
