"""Depth Anything 3 (metric) on one Blackhole chip: a block of its DINOv2-L, the head on the host.

1370 rows padded to 1376, 1024 channels, 16 heads of 64, masked; BFLOAT16, HiFi4 with sums in FLOAT32. The table tells pictures
in a second per change; the other notes, that 24 blocks take 75 ms at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import CONFIG, CORES, HIFI2, LOFI

if TYPE_CHECKING:
    from collections.abc import Callable

HOME = "https://github.com/changh95/tt-Depth-Anything-3/blob/b8a87ad7524f296e08819d5e5608c151b668a456"
TABLE, TODO = f"{HOME}/results.tsv", f"{HOME}/TODO.md"
GRID, ALL, ROWS, HIDDEN, HEADS = (13, 10), 130, 1376, 1024, 16


def encoder(fc1: float, fc2: float, cores: int) -> Callable[[], Block]:
    """One block; the feed-forward on `cores`."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        of = {"fidelity": "HiFi4", "fp32": True, "bias": True}
        x = block.tensor([1, 1, ROWS, HIDDEN])
        y = block.norm("norm", x, 36, cores=43, kind="LAYERNORM")
        y = block.linear("qkv", y, 3 * HIDDEN, 420, cores=ALL, **of)
        q, k, v = block.split_heads("heads", y, 70, heads=HEADS, kv=HEADS, size=64, rows=ROWS, cores=43)
        k = block.view(k, [1, HEADS, 64, ROWS])
        y = block.product("scores", q, k, 480, cores=ALL)
        y = block.op("softmax", "Softmax", (y, block.tensor([1, 1, 1, ROWS])), block.tensor(y.shape), 520, cores=ALL, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), dim=3, is_causal_mask=False, numeric_stable=False, program_config="SoftmaxDefaultProgramConfig()", scale=0.125)  # fmt: skip
        y = block.join_heads("join", block.product("context", y, v, 460, cores=ALL), 50, cores=43)
        y = block.linear("proj", y, HIDDEN, 170, cores=ALL, **of)
        y = block.binary("proj_scale", "MUL", y, block.tensor([1, 1, 1, HIDDEN]), 24, cores=ALL)
        x = block.binary("add", "ADD", x, y, 28, cores=ALL)
        y = block.norm("norm_feed", x, 36, cores=43, kind="LAYERNORM")
        grid = (12, 8) if cores == 96 else None
        y = block.linear("fc1", y, 4 * HIDDEN, fc1, cores=cores, grid=grid, act="GELU", **of)
        y = block.linear("fc2", y, HIDDEN, fc2, cores=cores, grid=grid, **of)
        y = block.binary("fc2_scale", "MUL", y, block.tensor([1, 1, 1, HIDDEN]), 24, cores=ALL)
        block.binary("add_feed", "ADD", x, y, 28, cores=ALL)
        return block

    return build


MANY = "pictures in a second"
DEPTH_ANYTHING_3 = (
    laid(
        "da3-block", TABLE, "a block without a grid told for the feed-forward: 3.01 pictures in a second, host and all", encoder(2450, 2180, 43),
        (
            gain("grid", "a core_grid of 8 x 12 for the feed-forward's matmuls", 3879, "fc1 fc2", CORES, "3.008 -> 4.179 pictures in a second: 93 ms, a 24th of it; runs differ by a tenth"),
            dead("hifi2", "HiFi2 for the feed-forward's matmuls", "fc1 fc2", HIFI2, f"2.51 -> 2.18 {MANY}"),
        ),
        "how a block's ops share its time; that it takes 7.0 ms, from the change and what is left; core counts; gaps",
    ),
    laid(
        "da3-block-grid", TODO, "a block with that grid: 75 ms for 24, a fifth of it the host's", encoder(380, 350, 96),
        (
            dead("qkv-grid", "the same grid for the first matmul", "qkv", rf"{CORES}|{CONFIG}", f"4.19 -> 4.08 {MANY}, and too far from the reference", TABLE),
            dead("bmm-lofi", "no HiFi4 for both products of attention", "scores context", rf"{LOFI}|{HIFI2}", f"4.18 -> 3.98 {MANY}", TABLE),
            dead("fp32", "sums in BFLOAT16", "qkv proj fc1 fc2", r"fp32_dest_acc_en", f"3.81 -> 3.68 {MANY}, and too far from the reference", TABLE),
        ),
        "how a block's ops share its time; core counts; gaps",
        pass_us=3080,
    ),
)  # fmt: skip
