"""Cosmos3's image-to-video transformer on 16 Blackhole chips (2 x 8 of a Galaxy): one of its 64 layers, for 189 frames of 720p.

Eight chips share the heads (eight of queries and one of keys on each), two the words, about 42,240. The document tells the ring
attention of a layer before and after; sizes are those of the language model it grew from.
"""

from __future__ import annotations

from tests.frozen.build import Block, chunks
from tests.frozen.layer import TT_METAL, gain, laid

SOURCE = f"{TT_METAL}/1d1deb77ecb8d5d4df3c552c0b12a2530c4dc69c/models/tt_dit/experimental/cosmos3_i2v/README.md"
CHIPS, GRID, CORES, WORDS, HIDDEN, HEADS, SIZE, WIDE = 16, (12, 10), 110, 21120, 5120, 8, 128, 3200
MINE = HIDDEN // 8


def layer() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=3.0)
    x = block.tensor([1, 1, WORDS, MINE])
    y = block.collective("gather", "AllGatherAsync", block.norm("norm", x, 190, cores=CORES), HIDDEN, 2300, ring=8, links=2, cores=12)  # fmt: skip
    qkv = block.linear("qkv", y, (HEADS + 2) * SIZE, 1480, cores=CORES)
    q, k, v = block.split_heads("heads", qkv, 260, heads=HEADS, kv=1, size=SIZE, rows=WORDS, cores=CORES)
    q, k = (block.rotary(f"rotary_{name}", one, us, decode=False, cores=CORES) for name, one, us in (("q", q, 330), ("k", k, 60)))  # fmt: skip
    gathered = [block.tensor([1, 1, 2 * WORDS, SIZE]) for _ in range(2)]
    y = block.op(
        "sdpa", "RingJointSDPA", (q, k, v, *gathered), block.tensor(q.shape), 32200, cores=CORES, fidelity="HiFi4", dim=2,
        compute_kernel_config=block.kernel("HiFi4", fp32=True, packer=False), is_causal=False, joint_strategy="rear",
        logical_n=2 * WORDS, num_links=2, output_mem_config=q.placement, program_config=chunks(256, 512, (11, 10)), ring_size=2,
        scale="0.08838834764", topology="Topology::Ring",
    )  # fmt: skip
    y = block.join_heads("joined", y, 190, cores=CORES)
    y = block.linear("out", y, HIDDEN, 1180, cores=CORES)
    y = block.collective("out_sums", "ReduceScatterMinimalAsync", y, MINE, 2600, ring=8, links=2, cores=20)
    x = block.binary("sum", "ADD", x, y, 150, cores=CORES)
    y = block.collective("feed_gather", "AllGatherAsync", block.norm("feed_norm", x, 190, cores=CORES), HIDDEN, 2300, ring=8, links=2, cores=12)  # fmt: skip
    gate = block.linear("gate", y, WIDE, 3700, cores=CORES, act="SILU")
    y = block.binary("gated", "MUL", gate, block.linear("up", y, WIDE, 3650, cores=CORES), 520, cores=CORES)
    y = block.linear("down", y, HIDDEN, 3800, cores=CORES)
    y = block.collective("down_sums", "ReduceScatterMinimalAsync", y, MINE, 2600, ring=8, links=2, cores=20)
    block.binary("feed_sum", "ADD", x, y, 150, cores=CORES)
    return block


COSMOS = (
    laid(
        "cosmos3", SOURCE, "a layer whose ring attention takes 32.2 ms", layer,
        (
            gain("fidelity", "HiFi2 and sums in 16 bits for the ring attention", 8400.0, "sdpa", r"HiFi2|fp32_dest_acc_en", "32.2 -> 23.8 ms: the op then streams"),
        ),
        "how many words the frames make; the layer's sizes; all times besides the ring attention's; formats; gaps",
    ),
)  # fmt: skip
