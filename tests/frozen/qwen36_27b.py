"""Qwen3.6 27B, one engineer's port for one user: feed-forwards on one Blackhole chip (P150) and on four of them, and the words' scores.

Hidden 5120, a feed-forward of 17,408, 64 layers, 248,320 words. Everything is interleaved in DRAM, matmuls are at HiFi4 with sums in 32
bits. The catalog tells a feed-forward alone in ms, and tokens a second of a trace of all layers before and after a change; a saving of
a token is divided by 64 layers with two all-reduces each. On four chips a matmul's time follows from what it reads at the 400 GB/s that
the catalog tells of the feed-forward, an all-reduce's is made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, DRAM_SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

CATALOG = "https://github.com/aweditya/tt-model-bringup/blob/e6b928d4d76ea120e15fdadb88920550996caf67/presentation/02_perf_catalog.md"
GRID, ALL, HIDDEN, WIDE, CHIPS, WORDS = (11, 10), 110, 5120, 17_408, 4, 248_320
FP8 = "BFLOAT8_B"


def fed(block: Block, x: Tensor, wide: int, each: float, dtype: str) -> Tensor:
    def linear(role: str, y: Tensor, n: int) -> Tensor:
        return block.linear(role, y, n, each, dtype=dtype, fidelity="HiFi4", fp32=True, cores=ALL)

    gate, up = linear("gate", x, wide), linear("up", x, wide)
    return linear("down", block.binary("gated", "MUL", gate, up, 5, cores=ALL, lhs="SILU"), HIDDEN)


def alone(dtype: str, us: float) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        fed(block, block.tensor([1, 1, 1, HIDDEN]), WIDE, (us - 5) / 3, dtype)
        return block

    return build


def of_four() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
    x = block.tensor([1, 1, 1, HIDDEN])
    y = fed(block, block.norm("norm", x, 30, cores=1), WIDE // CHIPS, 60, FP8)
    y = block.collective(
        "down_scatter", "ReduceScatter", y, HIDDEN // CHIPS, 50, links=1, cores=4, topology="Linear"
    )
    y = block.collective("down_gather", "AllGather", y, HIDDEN, 38, links=1, cores=4, topology="Linear")
    block.binary("added", "ADD", x, y, 4, cores=ALL)
    return block


def words() -> Block:
    """All of them on each chip; the choice is the host's."""
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
    y = block.norm("norm", block.tensor([1, 1, 1, HIDDEN]), 30, cores=1)
    y = block.linear("scores", y, WORDS, 6400, fidelity="HiFi4", fp32=True, cores=ALL)
    block.moved("rows", "UntilizeWithUnpadding", y, 100, layout=ROW_MAJOR, cores=ALL, fidelity="HiFi4")
    return block


MLP = "gate up down"
SUM = "down_scatter down_gather"
QWEN36_27B = (
    laid(
        "qwen36-27b-feed-bf16", CATALOG, "a feed-forward on one chip, weights in BFLOAT16: 1.484 ms", alone("BFLOAT16", 1484),
        (gain("bfp8", "BFLOAT8_B for the weights", 465, MLP, BFP8, "1.484 -> 1.019 ms"),),
        "the share of gate, up, down and their product; core counts; gaps", 1484,
    ),
    laid(
        "qwen36-27b-feed", CATALOG, "a feed-forward on one chip, weights in BFLOAT8_B: 0.93 ms", alone(FP8, 930),
        (dead("banks", "DRAM-sharded matmuls, inputs in width shards", MLP, DRAM_SHARDED, "0.930 -> 1.975 ms: no more than two tiles of in0_block_w fit"),),
        "the share of gate, up, down and their product; core counts; gaps", 930,
    ),
    laid(
        "qwen36-27b-feed-four", CATALOG, "a feed-forward on four chips with its all-reduce over one link: 12.72 tokens a second", of_four,
        (
            gain("links", "two links for the all-reduce", 10, SUM, r"num_links|two links|more links|links", "12.72 -> 12.93 tokens a second, 128 all-reduces; alone 11.2 % less"),
            dead("async", "an asynchronous all-reduce", SUM, r"async|overlap", "4 % more to set up, and nothing to run beside it"),
        ),
        "the all-reduce's time and cores; times of norm and sum; gaps",
    ),
    laid(
        "qwen36-27b-words", CATALOG, "the words' scores, all of them on each chip: 11.43 tokens a second", words,
        (
            gain("apart", "a quarter of the words on each chip, gathered in BFLOAT16, and the choice on the chips", 4300, "scores rows", r"shard.{0,60}(vocab|words|columns|chips|devices|mesh)|(vocab|words|columns).{0,60}(shard|split|apart)|column.parallel|each (chip|device)", "11.43 -> 12.02 tokens a second; alone, with reading the scores, 37.7 -> 2.58 ms"),
        ),
        "times, from what is read at 404 GB/s; gaps",
    ),
)  # fmt: skip
