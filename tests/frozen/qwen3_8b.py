"""Qwen3 8B on two Wormhole chips (N300): a layer of decode behind 32,768 tokens, and the choice of the next token.

Hidden 4096, and on each chip 16 heads of 128 with four of keys and values, a feed-forward of 6144 and half of 151,936
words. Weights lie over the DRAM banks, BFLOAT8_B, gate and up BFLOAT4_B with LoFi. One user, whose row is one of a tile's
32. The ledger tells ms of each kind of op in a whole token, a line that times of the matmuls follow (4.95 us and 257.3
GB/s), and what each change saved of a token; a layer here has its share of the 36.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BLOCK_W, COLLECTIVE, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

NOTES = f"{TT_METAL}/e5a802b394113fe083510b5f90685703462c68eb/models/tt_transformers/QWEN3_8B_LONG_CONTEXT_ENGINEERING_NOTES.md"
GRID, CORES, CHIPS = (8, 8), 64, 2
HIDDEN, PART, HEADS, KV, SIZE, WIDE, WORDS = 4096, 2048, 16, 4, 128, 6144, 75968
QKV, FP8, FP4 = (HEADS + 2 * KV) * SIZE, "BFLOAT8_B", "BFLOAT4_B"


@dataclass(frozen=True)
class How:
    """Times in us; `shards`: of what gate and up read, `workers`: of the collectives."""

    gate: float = 60.0
    shards: int = 8
    attend: float = 210.1
    chunk: int = 256
    fp32: bool = False
    gather: float = 23.6
    scatter: float = 27.1
    workers: int = 3


FIRST = How(gate=95.8, shards=64, attend=227.2, chunk=0, fp32=True, gather=24.6, scatter=27.8, workers=2)
WIDER = How(attend=214.0, fp32=True, gather=24.6, scatter=27.8, workers=2)
LAST = How()


def cut(shards: int) -> tuple[int, int]:
    return (8, max(1, shards // 8))


def gathered(block: Block, how: How, role: str, x: Tensor) -> Tensor:
    """Both halves of the residual, and their norm."""
    place = block.across(32, HIDDEN, how.shards)
    whole = block.collective(f"{role}_gather", "AllGatherAsync", x, HIDDEN, how.gather, ring=CHIPS, links=1, cores=4 + how.workers, topology="Linear", workers=how.workers, place=place)  # fmt: skip
    config = norm_shards(cut(how.shards), HIDDEN // 32 // how.shards)
    return block.norm(f"{role}_norm", whole, 14.4, cores=how.shards, config=config)


def summed(block: Block, how: How, role: str, x: Tensor, onto: Tensor) -> Tensor:
    part = block.collective(f"{role}_scatter", "ReduceScatterMinimalAsync", x, PART, how.scatter, ring=CHIPS, links=1, cores=4 + how.workers, topology="Linear", workers=how.workers, place=block.across(32, PART, 32))  # fmt: skip
    return block.binary(f"{role}_sum", "ADD", onto, part, 2.6, cores=32)


def attended(block: Block, how: How, x: Tensor) -> Tensor:
    qkv = block.linear("qkv", x, QKV, 56.9, dtype=FP8, config=banked(128 // how.shards, 3), cores=12, place=block.across(32, QKV, 32), banks=True)  # fmt: skip
    flat = block.from_shards("qkv_flat", qkv, 2.6, L1)
    q, k, v = block.heads_of_decode("heads", flat, 6.5, heads=HEADS, kv=KV, size=SIZE, users=1)
    turn = [block.tensor([1, 1, 32, SIZE], place=L1) for _ in range(3)]
    turned: list[Tensor] = []
    for name, one in (("q", q), ("k", k)):
        moved = block.from_shards(f"{name}_flat", one, 1.9, L1)
        normed = block.norm(f"{name}_norm", moved, 7.6, cores=1)
        placed = block.to_shards(f"{name}_placed", normed, block.along(32, SIZE, 1), 1.9)
        turned.append(block.op(f"{name}_rotary", "RotaryEmbeddingLlama", (placed, *turn), block.tensor(one.shape, place=placed.placement or L1), 3.9, cores=1, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=True, output_mem_config=placed.placement))  # fmt: skip
    cache = block.tensor([128, KV, 256, SIZE], FP8)
    block.update_cache("update_k", cache, turned[1], 5.2)
    block.update_cache("update_v", cache, v, 5.2)
    config = chunks(0, how.chunk, GRID) if how.chunk else None
    y = block.attend_decode("attend", turned[0], cache, how.attend, config=config, cores=CORES, place=DRAM, k_chunk=how.chunk, fidelity="HiFi2", fp32=how.fp32)  # fmt: skip
    y = block.to_shards("attended", y, block.along(32, SIZE, 1), 1.5)
    y = block.moved("joined", "NLPConcatHeadsDecode", y, 3.2, shape=[1, 1, 32, PART], place=block.across(32, PART, HEADS), cores=HEADS, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
    return block.linear("out", y, HIDDEN, 39.6, dtype=FP8, config=banked(4, 8), cores=12, place=block.across(32, HIDDEN, HEADS), banks=True)  # fmt: skip


def layer(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=CHIPS, grid=GRID, gap_us=1.0)
        x = block.tensor([1, 1, 32, PART], place=block.across(32, PART, 32))
        x = summed(block, how, "out", attended(block, how, gathered(block, how, "in", x)), x)
        y = gathered(block, how, "feed", x)
        wide = block.across(32, WIDE, how.shards)
        gate, up = (block.linear(role, y, WIDE, how.gate, dtype=FP4, fidelity="LoFi", config=banked(128 // how.shards, WIDE // 32 // how.shards), cores=12, place=wide, banks=True) for role in ("gate", "up"))  # fmt: skip
        y = block.binary(
            "gated", "MUL", gate, up, 3.3, cores=CORES, lhs="SILU", place=block.across(32, WIDE, CORES)
        )
        y = block.linear("down", y, HIDDEN, 108.9, dtype=FP8, config=banked(3, 2), cores=12, place=block.across(32, HIDDEN, CORES), banks=True)  # fmt: skip
        summed(block, how, "down", y, x)
        return block

    return build


def head() -> Block:
    block = Block("wormhole_b0", devices=CHIPS, grid=GRID, gap_us=1.0)
    x = block.tensor([1, 1, 32, PART], place=block.across(32, PART, 32))
    x = gathered(block, LAST, "last", x)
    parts = [
        block.from_shards(f"head_{n}_flat", block.linear(f"head_{n}", x, WORDS // 2, 647.4, dtype=FP8, config=banked(16, 149), cores=12, place=block.across(32, WORDS // 2, 8), banks=True), 14)
        for n in (0, 1)
    ]  # fmt: skip
    scores = block.concat("scores", parts, [1, 1, 32, WORDS], 3, 60)
    whole = block.collective("scores_gather", "AllGatherAsync", scores, CHIPS * WORDS, 410, ring=CHIPS, links=1, cores=6, topology="Linear", workers=2)  # fmt: skip
    rows = block.moved("scores_rows", "UntilizeWithUnpadding", whole, 800, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")  # fmt: skip
    block.op("token", "ArgMax", (rows,), block.tensor([1, 1, 1, 32], "UINT32", layout=ROW_MAJOR), 1380, cores=CORES, dim=3, keepdim=False, output_dtype="DataType::UINT32", output_mem_config=DRAM, sub_core_grids=None, use_multicore=True)  # fmt: skip
    return block


EACH = "of a token, over 36 layers"
EVERY = "gate up down qkv out"
CHANNELS = "*_gather *_scatter"
MADE_UP = (
    "shapes and times of the small ops, whose sum alone is told; where the norms' shards lie; names of ops; gaps"
)
QWEN3_8B = (
    laid(
        "qwen3-8b-first", NOTES, "32,768 tokens, before any change: 36.17 ms a token", layer(FIRST),
        (
            gain("shards", "eight cores for what gate and up read, so that in0_block_w is 8 for 2, their product still on 64", 65, "gate up", rf"{BLOCK_W}|\b8 cores|fewer cores|core_grid", f"2.34 ms {EACH}; 95.8 -> 63.3 us a call"),
            gain("chunk", "chunks of 256 keys for attention", 9, "attend", r"k_chunk", "4.1 % of attention; 7.58 ms of a token at 256"),
            gain("pages", "pages of 256 tokens in the cache, for 32", 4.2, "attend", r"block.size|(page|block).{0,30}(tokens|256|128|larger|size)", "15,511 -> 15,206 us of attention in two tokens"),
        ),
        MADE_UP,
    ),
    laid(
        "qwen3-8b-wider", NOTES, "32,768 tokens, after the cores of gate and up and attention's chunks", layer(WIDER),
        (
            gain("fp32", "no sums in 32 bits in attention", 3.8, "attend", r"fp32|32.bit", f"0.139 ms {EACH}; 85.74 % of words agree, for 84.18"),
            gain("workers", "three workers a link and 40 chunks a sync for the collectives", 2.6, CHANNELS, rf"{COLLECTIVE}|chunks_per_sync", f"0.095 ms {EACH}: gathers 1.770 -> 1.705, scatters 1.998 -> 1.953"),
        ),
        MADE_UP,
    ),
    laid(
        "qwen3-8b-last", NOTES, "32,768 tokens, as kept: 28.73 ms a token, 30.74 in a profile", layer(LAST),
        (
            dead("exp", "the fast exponential in attention's softmax", "attend", r"exp_approx_mode|approximat", f"0.31 ms more {EACH}, in three of three pairs"),
            dead("attended-shards", "attention's output in shards", "attend attended", r"(output|result).{0,60}shard|shard.{0,60}(output|result)|output_mem_config|memory_config", "refused: no sharded output with grouped queries"),
            dead("staging", "the staging buffer of the scatters in L1", "*_scatter", r"(intermediate|staging|buffer).{0,60}L1|L1.{0,60}(intermediate|staging|buffer)|L1_MEMORY_CONFIG", f"0.012 ms less {EACH}, where 0.017 is noise"),
            dead("buffers", "four buffers a channel for the collectives", CHANNELS, r"num_buffers_per_channel|buffers per channel", f"0.067 ms more {EACH}"),
            dead("buffer", "one buffer a channel for the collectives", CHANNELS, r"num_buffers_per_channel.{0,20}1\b|one buffer", f"within 0.017 ms {EACH}, which is noise"),
            dead("q-chunk", "a query chunk of 32 for attention", "attend", r"q_chunk", f"0.002 ms more {EACH}"),
            dead("norms", "full sync of the destination and wider subblocks for the norms", "in_norm feed_norm", r"dst_full_sync_en|subblock_w", f"0.129 ms more {EACH}"),
            dead("small-chunk", "chunks of 128 keys for attention", "attend", r"k_chunk\w*.{0,20}128|smaller (key |k )?chunk", f"7.58 -> 8.02 ms {EACH}"),
            dead("large-chunk", "chunks of 512 or 1024 keys for attention", "attend", r"k_chunk\w*.{0,20}(512|1024)|larger (key |k )?chunk|bigger (key |k )?chunk", f"7.58 -> 7.64 and 7.75 ms {EACH}"),
            dead("attend-32", "32 cores for attention, for 64", "attend", r"\b32 cores|fewer cores|compute_with_storage_grid_size|max_cores_per_head_batch|core_grid", f"0.159 ms more {EACH}, though faster alone"),
            dead("packed", "gate and up in one matmul, cut after it", "gate up gated", PACKED, f"0.202 ms more {EACH}: 120 -> 118 us of matmuls, and two slices of 3.8 us"),
            dead("weights-bfp4", "BFLOAT4_B for queries, keys and values, the output and down", "qkv out down", BFP4, f"2.426 ms less {EACH}, but 82.23 % of words agree for 85.74", faster=True),
            dead("cache-bfp4", "BFLOAT4_B for the cache", "attend update_*", BFP4, f"2.562 ms less {EACH}, but 52.15 % of words agree for 85.74", faster=True),
            dead("cache-shards", "the cache in shards", "attend update_*", r"cache.{0,60}shard|shard.{0,60}cache", "refused: three ops take it interleaved alone"),
            dead("links", "more links between the chips", CHANNELS, r"num_links|more links|links", "refused: one link in each direction is all this board has"),
            dead("two-d", "another kind of program config for the matmuls over the banks", EVERY, r"ReuseMultiCastProgramConfig|MultiCast1DProgramConfig|\b[12]D\b", "refused: both inputs lie in width shards there"),
        ),
        MADE_UP, 734,
    ),
    laid(
        "qwen3-8b-head", NOTES, "the choice of the next token: 29.82 ms of a token with its layers", head,
        (
            gain("rows", "scores in rows, and the user's row alone, before the chips exchange them", 1_090, "scores_gather scores_rows token", r"(slice|cut|row).{0,80}(before|ahead).{0,40}(gather|exchange)|untilize.{0,80}(before|then).{0,60}gather|before the gather", "29.82 -> 28.70 ms a token, 1.09 over 20 runs; 9.7 MB exchanged for 0.3"),
            gain("workers", "four workers a link and 40 chunks a sync for the exchange of scores", 70, "scores_gather", rf"{COLLECTIVE}|chunks_per_sync", "0.41 -> 0.34 ms a token; alone 416 -> 304 us"),
            gain("bfp4", "BFLOAT4_B for the words' weights", 470, "head_0 head_1", BFP4, "0.470 ms a token, and 85.64 % of words agree for 85.74; not shipped, as the cache of weights does not know it"),
            dead("top-k", "top-k for the greedy choice", "token", r"top.?k", "22.46 ms where the maximum takes 1.38"),
        ),
        f"{MADE_UP}; the split of the choice's 2.18 ms, and the exchange's time, told as 0.41 and as 0.80 ms",
    ),
)  # fmt: skip
