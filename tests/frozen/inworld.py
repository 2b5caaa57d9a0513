"""Inworld TTS's voice on one Wormhole chip: a layer of the 12 of its backbone for eight pieces of 32 frames, and what comes before.

Hidden 1024, 16 heads of 64, feed-forward of 4096, a rotation of pairs; BFLOAT16, HiFi4 with sums in FLOAT32. The guide tells
single matmuls before and after, and 5.9 ms for the whole voice, replayed from a trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import IN_L1, INTERLEAVED_1D, SHARDED, TWO_D

if TYPE_CHECKING:
    from tests.profiles import Placement, Tensor

SOURCE = f"{TT_METAL}/68b15f20c3bdd7d59671436c7036e386f2a31e9b/skills/optimization/SKILL.md"
CORES, HIDDEN, HEADS, SIZE, WIDE, CODES = 64, 1024, 16, 64, 4096, 2048


def _linear(block: Block, role: str, x: Tensor, n: int, us: float, *, config: str | None = None, place: Placement = L1, cores: int = CORES) -> Tensor:  # fmt: skip
    return block.linear(role, x, n, us, fidelity="HiFi4", fp32=True, config=config, place=place, cores=cores)


def layer() -> Block:
    """Eight tiles of rows: 256."""
    block, batch, rows = Block("wormhole_b0", grid=(8, 8), gap_us=1.0), 8, 32
    x = block.tensor([1, 1, batch * rows, HIDDEN], place=L1)
    config = one_d((8, 8), 2, (8, 2))
    qkv = _linear(block, "qkv", block.norm("norm", x, 17, cores=8), 3 * HIDDEN, 88, config=one_d((8, 6), 2, (8, 2)), cores=48)  # fmt: skip
    q, k, v = block.split_heads("heads", block.view(qkv, [batch, 1, rows, 3 * HIDDEN]), 21, heads=HEADS, kv=HEADS, size=SIZE, rows=rows, batch=batch, place=L1, cores=8)  # fmt: skip
    q, k = (block.rotary(f"rope_{name}", one, 9, decode=False, cores=CORES) for name, one in (("q", q), ("k", k)))
    y = block.attend("sdpa", q, k, v, 24, config=None, cores=CORES, causal=False, fidelity="HiFi4", fp32=True)
    y = block.view(block.join_heads("joined", y, 10, cores=8), x.shape)
    x = block.binary("sum", "ADD", x, _linear(block, "out", y, HIDDEN, 46, config=one_d((8, 4), 2, (8, 1)), cores=32), 4, cores=CORES)  # fmt: skip
    y = _linear(block, "up", block.norm("feed_norm", x, 17, cores=8), WIDE, 118, config=config)
    y = _linear(block, "down", block.unary("silu", "SILU", y, 9, cores=CORES), HIDDEN, 112, config=one_d((8, 4), 2, (8, 1)), cores=32)  # fmt: skip
    block.binary("feed_sum", "ADD", x, y, 4, cores=CORES)
    return block


def codes() -> Block:
    """One tile of rows: from codes to what the backbone takes."""
    block = Block("wormhole_b0", grid=(8, 8), gap_us=1.0)
    digits = block.tensor([1, 1, 32, 32])
    made = _linear(block, "quant", digits, CODES, 6.6, place=DRAM)
    made = block.binary("quant_bias", "ADD", made, block.tensor([1, 1, 1, CODES]), 4.39, cores=CORES)
    whole = block.binary("quant_sum", "ADD", block.tensor(made.shape), made, 4.8, cores=CORES)
    y = _linear(block, "post", whole, HIDDEN, 82, cores=32)
    block.norm("post_norm", y, 17, cores=1)
    return block


INWORLD = (
    laid(
        "inworld-layer", SOURCE, "a layer of the backbone with 1D configs for eight tiles of rows", layer,
        (gain("two-d", "shards by block and a 2D config for the first matmul of the feed-forward", 43, "up", rf"{TWO_D}|block.?shard", "118 -> 75 us"),),
        "all times but the first matmul's of the feed-forward, so that twelve take less than 5.9 ms; how many tiles of rows (at least four are told); gaps",
    ),
    laid(
        "inworld-codes", SOURCE, "what comes before the backbone, one tile of rows", codes,
        (
            gain("one-d", "shards by width and a 1D config for the matmul of 2048 channels", 41, "post", rf"{INTERLEAVED_1D}|{SHARDED}", "82 -> 41 us"),
            gain("bias", "the bias in the matmul: its result in L1 and a core_grid", 5.94, "quant quant_bias", rf"{IN_L1}|core_grid|bias", "10.99 -> 5.05 us"),
            dead("sum-l1", "the sum over quantizers in L1", "quant_sum", IN_L1, "slower: another matmul, with its bias apart"),
        ),
        "all other times; how the 10.99 us are shared; gaps",
    ),
)  # fmt: skip
