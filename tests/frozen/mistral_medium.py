"""Mistral Medium 3.5 (128B) on 32 Blackhole chips (a Galaxy, 8 x 4, without a ring): the attention of a prefill's layer.

Four chips share the heads (24 of queries and 2 of keys on each), eight share the rows; a ring attention reads the cache
of all rows, in BFLOAT8_B. The ledger tells the critical path of the kernels of one call, and the attention's own time before
and after its fidelity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks
from tests.frozen.layer import TT_METAL, gain, laid
from tests.frozen.names import HIFI2

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = f"{TT_METAL}/2c9d86f9941840533408d71b83f0cf809e44c028/models/demos/mistral_medium_d_p/README.md"
CHIPS, ACROSS, DOWN, GRID, CORES = 32, 4, 8, (12, 10), 110
HIDDEN, HEADS, KV, SIZE = 12288, 24, 2, 128
BFP = "BFLOAT8_B"


def attention(rows: int, known: int, sdpa: float, rest: float) -> Callable[[], Block]:
    """`rows` on each chip after `known` in the cache of all; `rest`: us of all but the ring attention."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=3.0)
        scale = rest / 1191.7  # the told rest of 640 rows
        x = block.tensor([1, 1, rows, HIDDEN])
        qkv = block.linear("qkv", x, (HEADS + 2 * KV) * SIZE, 402 * scale, dtype=BFP, cores=CORES, fp32=True)
        q, k, v = block.split_heads(
            "heads", qkv, 48 * scale, heads=HEADS, kv=KV, size=SIZE, rows=rows, cores=rows // 32
        )
        q = block.rotary("rotary_q", q, 44 * scale, decode=False, cores=CORES)
        k = block.rotary("rotary_k", k, 11 * scale, decode=False, cores=2 * rows // 32)
        mine = (known + DOWN * rows) // DOWN
        caches = [block.tensor([1, KV, mine, SIZE], BFP) for _ in range(2)]
        for name, cache, one in zip("kv", caches, (k, v), strict=True):
            narrow = block.typecast(f"narrow_{name}", one, BFP, 6 * scale, cores=CORES)
            block.op(f"cache_{name}", "UpdatePaddedKvCache", (cache, narrow), cache, 8 * scale, cores=KV * rows // 32, batch_idx=0, update_idx=known // DOWN)  # fmt: skip
        gathered = [block.tensor([1, KV, known + DOWN * rows, SIZE], BFP) for _ in range(2)]
        made = block.op(
            "sdpa", "RingJointSDPA", (q, *caches, *gathered), block.tensor(q.shape), sdpa, cores=CORES, fidelity="HiFi4",
            compute_kernel_config=block.kernel("HiFi4", fp32=True, packer=False), dim=2, is_causal=True,
            joint_strategy="rear", logical_n=known + DOWN * rows, num_links=2, output_mem_config=q.placement,
            program_config=chunks(128, 256, (11, 10)), ring_size=DOWN, scale="0.08838834764", topology="Topology::Linear",
        )  # fmt: skip
        flat = block.join_heads("joined", made, 36 * scale, cores=rows // 32)
        out = block.linear("out", flat, HIDDEN, 352 * scale, dtype=BFP, cores=CORES, fp32=True)
        block.collective("scatter", "ReduceScatterMinimalAsync", out, HIDDEN // ACROSS, 270.7 * scale, ring=ACROSS, links=2, cores=20, topology="Linear")  # fmt: skip
        return block

    return build


MADE_UP = "how the time besides the ring attention is shared; chunks; formats besides the caches and weights; the op code of the cache's update; gaps"
MISTRAL_MEDIUM = (
    laid(
        "mistralmedium-640", SOURCE, "640 rows on each chip, none before them: 1854.8 us after the change",
        attention(640, 0, 885.5, 1191.7),
        (gain("fidelity", "HiFi2 for the ring attention", 222.4, "sdpa", HIFI2, "885.5 -> 663.1 us, with packer_l1_acc set at once"),),
        MADE_UP, pass_us=2077.2,
    ),
    laid(
        "mistralmedium-640-deep", SOURCE, "640 rows on each chip after 20,480 in the cache: 4054.6 us after the change",
        attention(640, 20480, 4105.9, 1207.1),
        (gain("fidelity", "HiFi2 for the ring attention", 1258.4, "sdpa", HIFI2, "4105.9 -> 2847.5 us, with packer_l1_acc set at once"),),
        MADE_UP, pass_us=5313.0,
    ),
    laid(
        "mistralmedium-1024-deep", SOURCE, "1024 rows on each chip after 32,768 in the cache: 6182.9 us after the change",
        attention(1024, 32768, 6535.0, 1672.6),
        (gain("fidelity", "HiFi2 for the ring attention", 2024.7, "sdpa", HIFI2, "6535.0 -> 4510.3 us, with packer_l1_acc set at once"),),
        MADE_UP, pass_us=8207.6,
    ),
)  # fmt: skip
