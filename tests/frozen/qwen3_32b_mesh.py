"""Qwen3 32B over four Blackhole chips (p300c) in a ring: one layer, decode of 32 users, tensor parallel.

Each chip keeps a quarter of the residual, 1280 columns on 20 cores; it is gathered before QKV and before gate and up,
and scattered while it is reduced after the output and the down projection. Weights are BFLOAT4_B at LoFi over the banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import HIFI2, INTERLEAVED_1D, PACKED, TWO_D
from tests.frozen.qwen3_32b import rotary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/autoports/qwen_qwen3_32b/doc"
FIRST = f"{TT_METAL}/9a49fbb0bf1f3cfba14e409317f3e7a1f2a31cad/{FOLDER}/multichip_decoder"
FIRST_README, PROFILE = f"{FIRST}/README.md", f"{FIRST}/perf_report.md"
README = f"{TT_METAL}/ff27647f8f88c7009bb8810a4d0b099fb07bd491/{FOLDER}/optimized_multichip_decoder/README.md"
GRID, USERS = (11, 10), 32
HIDDEN, PART, QKV, ATTENDED, WIDE, HEADS, KV, SIZE = 5120, 1280, 2560, 2048, 6400, 16, 2, 128  # of one chip


@dataclass(frozen=True)
class How:
    """A layer of decode on four chips."""

    out_shards: int = 8
    packed: bool = False  # gate and up as one matmul on ten shards
    stacked: bool = True  # the residual comes and goes in its shards
    gathers: tuple[float, float] = (11, 11.4)
    scatters: tuple[float, float] = (23, 20)
    out_us: float = 23


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=4, grid=GRID, gap_us=1.7)
        residual = block.across(32, PART, 20)

        def linear(role: str, x: Tensor, n: int, us: float, *, shards: int, k_block: int) -> Tensor:
            k = x.shape[-1]
            placed = block.reshard(f"{role}_moved", x, block.across(32, k, shards), 1.4) if x.placement != block.across(32, k, shards) else x  # fmt: skip
            return block.linear(role, placed, n, us, dtype="BFLOAT4_B", fidelity="LoFi", config=banked(k_block, n // 32 // shards), cores=12, place=block.across(32, n, shards), banks=True)  # fmt: skip

        def normed(name: str, x: Tensor, number: int) -> Tensor:
            """The whole residual, its norm."""
            x = block.collective(f"gather_{name}", "AllGatherAsync", x, HIDDEN, how.gathers[number], place=DRAM, workers=2)  # fmt: skip
            x = block.to_shards(f"{name}_placed", x, block.across(32, HIDDEN, 20), 3)
            return block.norm(f"norm_{name}", x, 9.5, cores=20, config=norm_shards((10, 2), 8))

        def summed(name: str, x: Tensor, number: int) -> Tensor:
            x = block.from_shards(f"{name}_flat", x, 2.5, L1)
            return block.collective(f"scatter_{name}", "ReduceScatterMinimalAsync", x, PART, how.scatters[number], place=residual, workers=2)  # fmt: skip

        x = block.tensor([1, 1, USERS, PART], place=residual)
        if not how.stacked:
            x = block.moved("entry_shape", "ReshapeView", block.tensor([1, USERS, 1, PART]), 8, shape=[1, 1, USERS, PART])  # fmt: skip
            x = block.to_shards("entry", x, residual, 3)
        qkv = linear("qkv", normed("in", x, 0), QKV, 29, shards=20, k_block=8)
        q, k, v = block.heads_of_decode("heads", block.from_shards("qkv_back", qkv, 2.5, L1), 15, heads=HEADS, kv=KV, size=SIZE, users=USERS)  # fmt: skip
        position = block.tensor([1, 32], "UINT32", layout=ROW_MAJOR)
        tables = [block.op(f"rotary_{wave}", "Embeddings", (position, block.tensor([1, 1, 8192, SIZE], layout=ROW_MAJOR)), block.tensor([1, 1, 32, SIZE]), 6, cores=4) for wave in ("cos", "sin")]  # fmt: skip
        tables = [block.moved(f"rotary_{wave}_shaped", "ReshapeView", one, 5, shape=[1, USERS, 1, SIZE]) for wave, one in zip(("cos", "sin"), tables, strict=True)]  # fmt: skip
        q, k = (block.from_shards(f"{name}_flat", one, 3.5, L1) for name, one in (("q", q), ("k", k)))
        q, k = (block.norm(f"norm_{name}", one, us, cores=32) for name, one, us in (("q", q, 10), ("k", k, 9)))
        q, k = (rotary(block, name, one, us, cores=32, tables=tables) for name, one, us in (("q", q, 12), ("k", k, 11)))  # fmt: skip
        k = block.to_shards("k_placed", k, block.along(32, SIZE, USERS), 2)
        cache = block.tensor([USERS, KV, 128, SIZE], "BFLOAT8_B")
        block.update_cache("cache_k", cache, k, 8)
        block.update_cache("cache_v", cache, v, 8)
        q = eights(
            block, "twice", q, (0, 0, 8, 8)
        )  # attention is wrong for 16 heads, so each eight are there twice
        attended = block.attend_decode("attend", q, cache, 21, config=chunks(0, 0, (8, 8)), cores=64)
        attended = eights(block, "once", attended, (0, 16))
        placed = block.to_shards("attended_placed", attended, block.along(32, SIZE, USERS), 2.5)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 8, shape=[1, 1, USERS, ATTENDED], place=block.across(32, ATTENDED, 16), cores=16, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        out = linear("out", joined, HIDDEN, how.out_us, shards=how.out_shards, k_block=64 // how.out_shards)
        x = block.binary("attention_added", "ADD", x, summed("attention", out, 0), 2.5, cores=20)
        fed = normed("feed", x, 1)
        if how.packed:
            both = block.from_shards("packed_flat", linear("gate_up", fed, 2 * WIDE, 119, shards=10, k_block=8), 4)
            gate, up = (block.slice(f"half_{name}", both, (0, 0, 0, first), (1, 1, USERS, first + WIDE), 7, L1) for name, first in (("gate", 0), ("up", WIDE)))  # fmt: skip
            hidden = block.binary("gated", "MUL", gate, up, 12, cores=110, lhs="SILU")
            hidden = block.to_shards("gated_placed", hidden, block.across(32, WIDE, 20), 3)
        else:
            gate, up = (linear(role, fed, WIDE, 63, shards=20, k_block=8) for role in ("gate", "up"))
            hidden = block.binary("gated", "MUL", gate, up, 16, cores=20, lhs="SILU")
        down = linear("down", hidden, HIDDEN, 62, shards=20, k_block=10)
        x = block.binary("feed_added", "ADD", x, summed("fed", down, 1), 2.5, cores=20)
        if not how.stacked:
            block.moved("exit_shape", "ReshapeView", block.from_shards("exit", x, 3), 8, shape=[1, USERS, 1, PART])
        return block

    return build


def eights(block: Block, name: str, x: Tensor, starts: tuple[int, ...]) -> Tensor:
    """Some groups of eight heads of each user."""
    users, size = x.shape[1], x.shape[3]
    parts = {start: block.slice(f"heads_{name}_{start}", x, (0, 0, start, 0), (1, users, start + 8, size), 4.5) for start in starts}  # fmt: skip
    return block.concat(
        f"heads_{name}", [parts[start] for start in starts], [1, users, 8 * len(starts), size], 2, 7
    )


PERSISTENT = r"persistent|preallocat|buffers? that stay"
NARROW_CCL = r"(collective|reduce|gather|scatter|payload|CCL).{0,80}(bfloat8_b|\bBFP8\b)|(bfloat8_b|\bBFP8\b).{0,80}(collective|reduce|gather|scatter|payload|CCL)"  # fmt: skip
SHARDS_OF = r"in0_block_w|(fewer|more|\d+) (cores|shards)|per_core_N"
STACKED = r"(keep|stay|hand|carr|pass|leave|hold|next layer).{0,80}(shard|L1)|(shard|L1).{0,80}(keep|stay|hand|carr|pass|next layer)|without (moving|conver)"  # fmt: skip
MATMUL_SCATTER = r"matmul_reduce_scatter|fus.{0,60}(reduce.scatter|collective)|reduce.scatter.{0,60}fus"
GATHER_MATMUL = r"all_gather_(minimal_)?matmul|gather.{0,40}fus|fus.{0,40}gather"
FRACTURED = r"distributed|pre_all_gather|post_all_gather|before the (all.?)?gather"
WALL = "of wall time of a layer"
MADE_UP = "times of all ops but the matmuls, the collectives and attention; which moves there are; the workers of the norms; gaps"  # fmt: skip
COLLECTIVES = "gather_* scatter_*"

QWEN3_32B_MESH = (
    laid(
        "qwen3-32b-tp4-wide-out", FIRST_README, "decode on four chips, the output projection on 16 shards: 631.3 us of wall time",
        decode(How(out_shards=16, stacked=False, gathers=(11, 12), scatters=(25, 20), out_us=25)),
        (gain("out", "the output projection on eight shards", 1.9, "out attention_flat", SHARDS_OF, f"631.343 -> 629.469 us {WALL}, in each of three alternating pairs"),),
        MADE_UP,
    ),
    laid(
        "qwen3-32b-tp4-entry", PROFILE, "decode on four chips: 58 ops, 554.1 us in kernels, 629.5 us of wall time",
        decode(How(stacked=False, gathers=(11, 12), scatters=(25, 20))),
        (
            gain("stacked", "the residual handed on in its shards", 5.5, "exit exit_shape entry entry_shape", STACKED, f"629.593 -> 624.113 us {WALL}", README),
            dead("attention-hifi2", "HiFi2 for attention's matmuls", "qkv out", HIFI2, f"629.5 -> 669.2 us {WALL}"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", "gate up down", HIFI2, f"629.5 -> 782.3 us {WALL}"),
            dead("payload", "collectives in BFLOAT8_B", COLLECTIVES, NARROW_CCL, f"629.5 -> 675.6 us {WALL}"),
            dead("fused-scatter", "matmul and reduce-scatter as one op", "out scatter_attention down scatter_fed", MATMUL_SCATTER, f"629.5 -> 768.5 us {WALL}"),
            dead("fused-gather", "all-gather and matmul as one op", "gather_in qkv gather_feed gate up", GATHER_MATMUL, "refused: its numbers are wrong"),
            dead("shards", "QKV on ten shards, other counts for gate, up and down", "qkv gate up down", SHARDS_OF, f"629.5 -> 636.2 us {WALL} for QKV; 632.0 to 650.8 for the others", FIRST_README),
        ),
        MADE_UP, 554.1,
    ),
    laid(
        "qwen3-32b-tp4-stacked", README, "decode on four chips, the residual in its shards: 624.1 us of wall time",
        decode(How()),
        (gain("packed", "gate and up as one matmul", 6.7, "gate up gated", PACKED, f"624.113 -> 617.377 us {WALL}"),),
        MADE_UP,
    ),
    laid(
        "qwen3-32b-tp4-buffers", README, "decode on four chips, gate and up packed, collectives that make their buffers anew: 630.4 us of wall time",
        decode(How(packed=True, gathers=(13.4, 13.8), scatters=(27, 25))),
        (gain("persistent", "buffers of the collectives that stay", 13.6, COLLECTIVES, PERSISTENT, f"630.448 -> 616.889 us {WALL}"),),
        f"how the buffers' cost is shared out among the collectives (some of it is of gaps); {MADE_UP}",
    ),
    laid(
        "qwen3-32b-tp4-last", README, "decode on four chips as chosen: 539 us in kernels, 616.7 us of wall time",
        decode(How(packed=True)),
        (
            dead("cores", "gate and up packed on 40 shards", "gate_up", SHARDS_OF, f"616.7 -> 625.1 us {WALL}"),
            dead("blocks", "in0_block_w 4 or 2 for gate and up", "gate_up", r"in0_block_w ?= ?[24]\b|(smaller|lower).{0,30}in0_block_w", f"616.7 -> 624.9 and 645.7 us {WALL}"),
            dead("halves", "the packed matmul's output kept in L1 before its halves are cut", "packed_flat half_*", r"\bL1\b", f"617.2 -> 624.3 us {WALL}, 632.9 on 40 shards"),
            dead("payload", "collectives in BFLOAT8_B", COLLECTIVES, NARROW_CCL, f"616.7 -> 635.1 us {WALL}"),
            dead("fractured", "norms of a quarter with gathered statistics, the gather after it", "gather_* norm_in norm_feed", FRACTURED, f"616.7 -> 628.1 us {WALL}"),
            dead("fused-gather", "all-gather and matmul as one op", "gather_in qkv gather_feed gate_up", GATHER_MATMUL, f"616.7 -> 778.5 us {WALL}"),
            dead("fused-scatter", "matmul and reduce-scatter as one op", "out scatter_attention down scatter_fed", MATMUL_SCATTER, f"616.7 -> 752.6 us {WALL}"),
            dead("matmuls", "all matmuls 1D of weights that lie interleaved", "qkv out gate_up down", rf"{INTERLEAVED_1D}|{TWO_D}|more cores|all (the |of the )?cores", f"616.7 -> 728.4 us {WALL}"),
            dead("attention-hifi2", "HiFi2 for attention's matmuls", "qkv out", HIFI2, f"616.7 -> 653.6 us {WALL}"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", "gate_up down", HIFI2, f"616.7 -> 767.6 us {WALL}"),
            dead("cache", "a BFLOAT16 cache", "cache_* attend", r"bfloat16|\bBF16\b", f"616.7 -> 618.8 us {WALL}"),
        ),
        MADE_UP, 539,
    ),
)  # fmt: skip
