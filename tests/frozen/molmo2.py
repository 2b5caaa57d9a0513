"""Molmo2 8B (it sees and tells) on Wormhole: what brings its eye's patches to words, and a layer of the 25 of its eye.

The eye: hidden 1152, 16 heads of 72, feed-forward of 4304, 729 patches. After it 12,288 channels and a gate make 4096 of them.
The page tells whole tests in microseconds of the device, before and after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import CONFIG

if TYPE_CHECKING:
    from tests.profiles import Tensor

SOURCE = f"{TT_METAL}/67919cf9a84672fd668e56d4e94b6813c5db5add/models/demos/molmo2/performance.md"
GRID, CORES, ROWS, HIDDEN, HEADS, SIZE, WIDE, OUT = (8, 8), 64, 768, 1152, 16, 96, 4320, 4096
BFP = "BFLOAT8_B"


def projector() -> Block:
    block = Block("wormhole_b0", grid=GRID, gap_us=1.0)
    x = block.tensor([1, 1, 1024, HIDDEN])
    gate, up = (block.linear(role, x, 3 * OUT, us, dtype=BFP, fidelity="HiFi2", cores=56) for role, us in (("gate", 880), ("up", 880)))  # fmt: skip
    y = block.binary("act", "MUL", gate, up, 379.18, cores=CORES, lhs="SILU")
    block.linear("down", y, OUT, 1_995, dtype=BFP, fidelity="HiFi2", cores=56)
    return block


def eye() -> Block:
    block = Block("wormhole_b0", grid=GRID, gap_us=1.0)

    def normed(role: str, x: Tensor) -> Tensor:
        """In shards of a tile's width: 36 cores."""
        placed = block.to_shards(f"{role}_placed", x, block.across(ROWS, HIDDEN, 36), 9)
        config = norm_shards((6, 6), 1, block_h=ROWS // 32)
        return block.from_shards(f"{role}_flat", block.norm(role, placed, 40.7, cores=36, config=config, kind="LAYERNORM"), 8, DRAM)  # fmt: skip

    def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
        return block.linear(role, x, n, us, dtype=BFP, fidelity="HiFi2", cores=48, bias=True)

    x = block.tensor([1, 1, ROWS, HIDDEN])
    qkv = linear("qkv", normed("norm", x), 3 * HEADS * SIZE, 260)
    q, k, v = block.split_heads("heads", qkv, 70, heads=HEADS, kv=HEADS, size=SIZE, rows=ROWS, cores=24)
    y = block.attend("sdpa", q, k, v, 235, config=None, cores=CORES, causal=False, fidelity="HiFi2")
    y = linear("out", block.join_heads("joined", y, 30, cores=24), HIDDEN, 105)
    x = block.binary("sum", "ADD", x, y, 25, cores=CORES)
    y = linear("up", normed("feed_norm", x), WIDE, 330)
    y = linear("down", block.unary("gelu", "GELU", y, 95, cores=CORES, place=L1), HIDDEN, 300)
    block.binary("feed_sum", "ADD", x, y, 25, cores=CORES)
    return block


MOLMO2 = (
    laid(
        "molmo2-projector", SOURCE, "from patches to words: 4134.18 us of the device", projector,
        (gain("config", "a multicast config of its own for the matmuls of many rows", 722.4, "gate up down", CONFIG, "4134.18 -> 3411.74 us of the device"),),
        "rows, how the ops share the sum, formats; which of the matmuls; gaps", 4134.18,
    ),
    laid(
        "molmo2-eye", SOURCE, "a layer of the eye, its norms in shards by width: 2078 us of the eye's norms", eye,
        (
            gain("one-d", "inputs in shards by width and 1D configs for the matmuls", None, "qkv out up down", CONFIG, "397 -> 345 ms of the eye, traced, for a film of untold length; then its buffers clash"),
            dead("norm-blocks", "norms in shards by block, not by width", "norm feed_norm", r"block.?shard|BLOCK_SHARDED", "2078 -> 2052 us of all the eye's norms: noise"),
        ),
        "all times but the norms' (51 of them share 2078 us); heads padded to 96 and 4304 to 4320; formats; gaps",
    ),
)  # fmt: skip
