"""LTX-2.5's decoder of films, of attention to a neighbourhood, on a Blackhole Galaxy: blocks of three stages, and its last.

145 frames of 1088 x 1920. Eight chips of a ring share the width, four the heads of 64. A place attends to a box of 3 x 7 x 7,
3 x 5 x 5 or, in the last stage, 11 x 11 x 11 places around it. The plan tells times of stages, from which a block's follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block, chunks
from tests.frozen.layer import TT_METAL, dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

LAYERS = f"{TT_METAL}/{{}}/models/tt_dit/layers"
PLAN = f"{LAYERS.format('0013d5f7d25ee091332218a3780dbb9d16ac53e0')}/PLAN_retire_block_permute.md"
STRIDES = f"{LAYERS.format('13f1d11f073d2ecf245f7630230a061808678a78')}/NEIGHBORHOOD_STRIDE1_FINDINGS.md"
MAP = f"{LAYERS.format('199f107e5e7ca9e69e25dce6d646613da1661f9c')}/NEIGHBORHOOD_ATTENTION.md"
GRID, CORES, RING, SIZE = (12, 10), 120, 8, 64


@dataclass(frozen=True)
class Stage:
    places: int  # on a chip
    dim: int
    heads: int  # on a chip
    ms: float
    share: float  # of what attends, and brings it what it needs


SECOND = Stage(21 * 68 * 15, 1024, 4, 48.0, 0.62)
THIRD = Stage(41 * 68 * 15, 512, 2, 51.25, 0.62)
FOURTH = Stage(81 * 136 * 30, 512, 2, 373.0, 0.66)


def strided(how: Stage) -> Callable[[], Block]:
    """Keys and values of the whole width are gathered on each chip and laid out as rows."""

    def build() -> Block:
        block = Block("blackhole", devices=RING, grid=GRID, gap_us=2.0)
        n, heads, dim = how.places, how.heads, how.dim
        near, far = 1e3 * how.ms * how.share / 784, 1e3 * how.ms * (1 - how.share) / 100
        x = block.tensor([1, 1, n, dim])
        qkv = block.linear(
            "qkv", block.norm("norm", x, 6 * far, cores=CORES), 3 * heads * SIZE, 12 * far, cores=CORES
        )
        parts = block.split_heads("heads", qkv, 7 * far, heads=heads, kv=heads, size=SIZE, rows=n, cores=CORES)
        q, k = (block.rotary(f"rotary_{name}", block.norm(f"norm_{name}", one, 3 * far, cores=CORES), 5 * far, decode=False, cores=CORES) for name, one in zip("qk", parts, strict=False))  # fmt: skip
        wide: list[Tensor] = []
        for name, one in (("k", k), ("v", parts[2])):
            whole = block.op(f"gather_{name}", "AllGatherAsync", (one,), block.tensor([1, heads, RING * n, SIZE]), 45 * near, cores=8, cluster_axis=1, dim=2, num_links=2, ring_size=RING, topology="Topology::Ring")  # fmt: skip
            wide.append(block.moved(f"rows_{name}", "UntilizeWithUnpadding", whole, 101.5 * near, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4", use_multicore=True))  # fmt: skip
        out = block.attend("attend", q, wide[0], wide[1], 410 * near, config=chunks(128, 256, GRID), cores=CORES, causal=False)  # fmt: skip
        out = block.permute("unflatten", out, (0, 2, 1, 3), 81 * near)
        out = block.collective(
            "heads_gather", "AllGatherAsync", block.view(out, [1, 1, n, heads * SIZE]), dim, 8 * far
        )
        x = block.binary(
            "added", "ADD", x, block.linear("out", out, dim, 9 * far, cores=CORES), 3 * far, cores=CORES
        )
        y = block.norm("norm_feed", x, 6 * far, cores=CORES)
        gate = block.linear("gate", y, 2 * dim, 11 * far, cores=CORES, act="SILU")
        y = block.binary("gated", "MUL", gate, block.linear("up", y, 2 * dim, 9 * far, cores=CORES), 4 * far, cores=CORES)  # fmt: skip
        block.binary(
            "added_feed", "ADD", x, block.linear("down", y, dim, 9 * far, cores=CORES), 3 * far, cores=CORES
        )
        return block

    return build


def bricked(op_ms: float, *, apart: bool) -> Callable[[], Block]:
    """The last stage's attention for a band of 84 frames, one head a chip; `apart`: heads first, and bricks made of tiles."""

    def build() -> Block:
        block = Block("blackhole", devices=RING, grid=GRID, gap_us=2.0)
        t, h, w = 84, 272, 60
        n, layout = t * h * w, "TILE" if apart else ROW_MAJOR
        made: list[Tensor] = []
        for name in "qkv":
            one = block.tensor([1, n, 1, SIZE] if apart else [1, 1, n, SIZE], layout=layout)
            if apart:
                one = block.turned(f"turned_{name}", one, 6_150, dims="CH", cores=CORES)
            six = block.view(one, [t // 2, 2, h // 8, 8, w // 2, 2 * SIZE])
            six = block.permute(f"bricks_{name}", six, (0, 2, 4, 1, 3, 5), 24_670 if apart else 8_000)
            one = block.view(six, [1, 1, n, SIZE])
            if not apart:
                if name != "q":
                    one = block.op(f"halo_{name}", "NeighborPadAsync", (one,), block.tensor([1, 1, n * 72 // 60, SIZE], layout=ROW_MAJOR), 22_000, cores=8, cluster_axis=1, dim=2, num_links=2, ring_size=RING, topology="Topology::Linear")  # fmt: skip
                one = block.moved(
                    f"tiles_{name}", "Tilize", one, 9_000, layout="TILE", cores=CORES, fidelity="HiFi4"
                )
            made.append(one)
        out = block.op("attend", "NeighborhoodSDPA", made, block.tensor(made[0].shape), 1e3 * op_ms, cores=CORES, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), context_window="(11, 11, 11)", head_count=1, stride="(1, 1, 1)", tiles_per_kv_chunk=7)  # fmt: skip
        six = block.view(out, [t // 2, h // 8, w // 2, 2, 8, 2 * SIZE])
        out = block.permute("bricks_out", six, (0, 3, 1, 4, 2, 5), 24_670 if apart else 8_000)
        if apart:
            block.turned("turned_out", block.view(out, [1, 1, n, SIZE]), 6_150, dims="CH", cores=CORES)
        return block

    return build


NEAR = "gather_k gather_v rows_k rows_v attend unflatten"
OWN = r"neighborhood_scaled_dot_product_attention|neighbou?r_pad|\bhalo|brick"
AXES = r"(swap|other|exchange).{0,30}ax[ei]s|cluster_axis|mesh axis|(four|4) chips.{0,30}width|ring of (four|4)"
IN_BRICKS = "the op of its own for neighbourhoods, on bricks of 32 places, with the neighbours' edge and not the whole width"
AXES_NOTE = "13.81 -> 15.99 s of a decode, and 2.29 -> 4.24 s of these stages with what hands them on"
STRIDE_OF = "queries in groups that share a box"
MADE_UP = "how a block's time divides but for the parts of attention, whose share of a block is made up too; sizes of the feed-forward; core counts; gaps; one ring of eight; that stages with what follows them are blocks only"
LAST_MADE_UP = "all times but the op's or those told; the order of axes in a permute; core counts; gaps"
DIFFVAE = (
    laid(
        "diffvae-second", PLAN, "one of six blocks of the second stage: 288 ms in all", strided(SECOND),
        (
            gain("bricked", IN_BRICKS, 12_500, NEAR, OWN, "288 -> 213 ms of six blocks; 27.9 -> 11.1 ms of a block alone at 6 frames"),
            dead("axes", "the width over four chips and heads over eight", "gather_k gather_v attend", AXES, AXES_NOTE),
        ),
        MADE_UP,
    ),
    laid(
        "diffvae-third", PLAN, "one of four blocks of the third stage: 205 ms in all", strided(THIRD),
        (
            gain("bricked", IN_BRICKS, 14_000, NEAR, OWN, "205 -> 149 ms of four blocks; 27.1 -> 10.3 ms of a block alone at 11 frames"),
            dead("axes", "the width over four chips and heads over eight", "gather_k gather_v attend", AXES, AXES_NOTE),
        ),
        MADE_UP,
    ),
    laid(
        "diffvae-fourth", PLAN, "one of two blocks of the fourth stage: 746 ms in all", strided(FOURTH),
        (
            gain("bricked", IN_BRICKS, 161_500, NEAR, OWN, "746 -> 423 ms of two blocks; 202.8 -> 47.7 ms of a block alone at 21 frames"),
            dead("axes", "the width over four chips and heads over eight", "gather_k gather_v attend", AXES, AXES_NOTE),
            dead("stride", STRIDE_OF, "attend", r"\bstride", "refused with the width over four chips: a stride of 8 is more than the window of 5; no such group fits as it is"),
        ),
        MADE_UP,
    ),
    laid(
        "diffvae-last", PLAN, "attention of a block of the last stage, a band of frames: 370 ms of it in the op itself", bricked(370, apart=False),
        (
            dead("lofi", "LoFi and the approximate exponential for attention", "attend", r"LoFi|math_approx|exp_approx|approximate", "12.56 -> 12.58 s of a decode, and the check of pixels fails"),
            dead("chunk", "more than one brick of queries at a time", "attend", r"chunk", "34.0 -> 34.9 and 36.4 s of a decode, in an earlier state of the op", STRIDES),
            dead("stride", STRIDE_OF, "attend", r"\bstride", "34.0 -> 9.2 s of a decode in an earlier state of the op, and not the same film", STRIDES, faster=True),
        ),
        LAST_MADE_UP,
    ),
    laid(
        "diffvae-bricks", MAP, "attention of a block of the last stage, heads before places, bricks made of tiles", bricked(330, apart=True),
        (
            gain("rows", "bricks made of rows, not tiles", 92_200, "bricks_*", r"ROW_MAJOR|row.major|untilize", "7.35 -> 0.48 ms for 52 MB; four tensors of 175 MB here, by their bytes"),
            gain("heads", "the op reads places with their heads as they come: no transposition", 24_600, "turned_*", r"site.major|(without|no|drop|avoid|remove|skip|fold).{0,40}(transpos|permut)|transpos.{0,60}(away|unneeded|redundant)", "24.6 ms of a block at this stage's size"),
        ),
        LAST_MADE_UP,
    ),
)  # fmt: skip
