"""A sentence-BERT on one Wormhole and one Blackhole chip: a layer of its twelve, eight texts of 384 words.

768 channels, 12 heads, block shards on 6 x 8 cores, the matmuls' configs as their file has them. The ledger tells the matmuls of
all layers, and texts a second before and after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block, norm_shards, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.profiles import block_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

SOURCE = f"{TT_METAL}/0b233032f3059ceb3d77b8e0f60adb3f9ede8888/MATMUL_HELPERS_OPT3_RESULTS.md"
COLUMNS, HIGH, TEXTS, WORDS, HIDDEN, HEADS, WIDE = 6, 8, 8, 384, 768, 12, 3072
CORES, EACH = COLUMNS * HIGH, WORDS
BFP = "BFLOAT8_B"


def linear(block: Block, role: str, x: Tensor, n: int, us: float, *, subblock: tuple[int, int], act: str | None = None) -> Tensor:  # fmt: skip
    place = block_sharded(EACH, n // COLUMNS, (COLUMNS, HIGH))
    config = two_d((COLUMNS, HIGH), 4, (12, n // 32 // COLUMNS), subblock=subblock, act=act)
    return block.linear(role, x, n, us, dtype=BFP, config=config, cores=CORES, place=place, out=BFP, bias=True, fidelity="HiFi2")  # fmt: skip


def layer(arch: str, part: float) -> Callable[[], Block]:
    """`part`: of Wormhole's times."""

    def build() -> Block:
        block = Block(arch, grid=(8, 8) if arch == "wormhole_b0" else (11, 10), gap_us=1.0)
        place = block_sharded(EACH, HIDDEN // COLUMNS, (COLUMNS, HIGH))
        x = block.tensor([1, 1, TEXTS * WORDS, HIDDEN], BFP, place)
        qkv = linear(block, "qkv", x, 3 * HIDDEN, 320 * part, subblock=(1, 6))
        q, k, v = block.split_heads("heads", qkv, 60 * part, heads=HEADS, kv=HEADS, size=64, rows=WORDS, batch=TEXTS, place=block.along(2 * WORDS, 64, CORES), cores=CORES)  # fmt: skip
        turned = block.view(k, [TEXTS, HEADS, 64, WORDS])
        scores = block.product("scores", q, turned, 75 * part, cores=CORES, fidelity="HiFi2", fp32=False, place=block.along(2 * WORDS, WORDS, CORES))  # fmt: skip
        made = block.product("mixed", block.softmax("softmax", scores, 85 * part, cores=CORES, fp32=False), v, 80 * part, cores=CORES, fidelity="HiFi2", fp32=False, place=block.along(2 * WORDS, 64, CORES))  # fmt: skip
        y = block.join_heads("joined", made, 35 * part, place=place, cores=CORES)
        y = linear(block, "out", block.view(y, x.shape), HIDDEN, 80 * part, subblock=(2, 4))
        config = norm_shards((COLUMNS, HIGH), 4, block_h=12)
        y = block.norm("norm", block.binary("sum", "ADD", x, y, 22 * part, cores=CORES), 52 * part, cores=CORES, config=config, kind="LAYERNORM")  # fmt: skip
        up = linear(block, "up", y, WIDE, 275 * part, subblock=(1, 8), act="GELU")
        z = linear(block, "down", up, HIDDEN, 285 * part, subblock=(1, 4))
        z = block.binary("feed_sum", "ADD", y, z, 22 * part, cores=CORES)
        block.norm("feed_norm", z, 52 * part, cores=CORES, config=config, kind="LAYERNORM")
        return block

    return build


MADE_UP = "how the matmuls' 1115.5 us and the rest are shared among ops; the down matmul's columns on a core, which its file seems to set for another; fidelity; gaps"
SENTENCE_BERT = (
    laid(
        "sentencebert-wormhole", SOURCE, "Wormhole: 13.386 ms of matmuls in twelve layers, 460 texts a second", layer("wormhole_b0", 1.0),
        (
            gain("subblocks", "subblocks of 4 x 2 tiles for Q, K and V and the way down", 239.2, "qkv down", r"subblock", "13,385.817 -> 10,515.489 us of matmuls in twelve layers, 460 -> 546.5 texts a second"),
            dead("order", "row_major_output alone for the other two", "out up", r"row_major_output", "13,385.817 -> 13,392.078 us of matmuls with it alone for all"),
        ),
        MADE_UP, pass_us=1449,
    ),
    laid(
        "sentencebert-blackhole", SOURCE, "Blackhole: 976.5 texts a second", layer("blackhole", 0.473),
        (dead("subblocks", "subblocks of 4 x 2 tiles for Q, K and V and the way down", "qkv down", r"subblock", "976.5 -> 991.7 texts a second: within its bar, reverted"),),
        MADE_UP, pass_us=682.7,
    ),
)  # fmt: skip
