"""Laguna XS 2.1 on four Blackhole chips in a ring: the exchanges of a decode step of one user.

Hidden 2048, a router over 256 experts that every chip computes.
"""

from __future__ import annotations

from tests.frozen.build import Block, one_d
from tests.frozen.layer import TT_METAL, dead, laid

EVIDENCE = f"{TT_METAL}/f7cc0e460d60490b8073062e005a1f44d767fc80/models/autoports/poolside_laguna_xs_2_1/doc/optimized_multichip_decoder/ccl_family_evidence.md"  # fmt: skip
HIDDEN = 2048


def decode() -> Block:
    block = Block("blackhole", devices=4)
    low = {"dtype": "BFLOAT8_B", "fidelity": "LoFi"}
    x = block.tensor([1, 1, 32, HIDDEN])
    for name, k, us in (("attention", 1024, 20), ("fed", 2048, 25)):
        given = block.tensor([1, 1, 32, k])
        part = block.linear(
            name, given, HIDDEN, us, config=one_d((8, 4), 4, (1, 2), subblock=(1, 2)), cores=32, **low
        )
        part = block.collective(f"scatter_{name}", "ReduceScatterMinimalAsync", part, HIDDEN // 4, 30.9, cores=12)
        whole = block.collective(f"gather_{name}", "AllGatherAsync", part, HIDDEN, 12.9, cores=12)
        x = block.binary(f"sum_{name}", "ADD", x, whole, 2.5)
        x = block.norm(f"norm_{name}", x, 22, cores=1)
        block.linear(f"router_{name}", x, 256, 14, dtype="FLOAT32", fidelity="HiFi4", config=one_d((8, 1), 8, (1, 1)), cores=8, out="FLOAT32", fp32=True)  # fmt: skip
    return block


LAGUNA = (
    laid(
        "laguna-tp4-exchanges", EVIDENCE, "two sums over four chips of 32 rows by 2048, each 43.7 us: reduce-scatter and gather",
        decode,
        (
            dead("async", "all_reduce_async, its result in DRAM or in L1", "scatter_* gather_*", r"all_reduce_async|async", "43.74 -> 43.73 and 43.61 us"),
            dead("persistent", "buffers made before", "scatter_* gather_*", r"persistent|preallocated", "no faster than 43.7 us in a replayed trace"),
            dead("one-op", "reduce-scatter and gather called apart", "scatter_* gather_*", r"reduce_scatter.{0,60}all_gather|two (ops|calls)", "43.74 -> 43.81 us"),
        ),
        "all ops but the two exchanges",
    ),
)  # fmt: skip
