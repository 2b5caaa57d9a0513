"""Stable Diffusion 3.5 Large (a transformer of diffusion) on four Blackhole chips: one of its 38 blocks, one step.

Hidden 2432, 38 heads of 64, padded to 40, ten on each chip; two pictures of 4096 tokens and 333 tokens of text, all in
BFLOAT16. The ledger tells times of 20 steps of the whole model: a 760th of each change here. Times of ops are made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks, minimal
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import RING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

NOTES = f"{TT_METAL}/ada239521cb58ac5e7169899b307f1f3867be925/models/tt_dit/models/StableDiffusion3_nadim_optim.md"
HIDDEN, LOCAL, HEADS, SIZE, PICTURES, TOKENS, TEXT = 2432, 608, 10, 64, 2, 4096, 352
GRID = (11, 10)


@dataclass(frozen=True)
class How:
    """The block at a step of its tuning; times in us."""

    topology: str = "Ring"
    gather: float = 620
    scatter: float = 700
    fused: bool = False  # the last matmul, its reduce-scatter, the gate and the sum as one op


def block_of(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=4, grid=GRID, gap_us=2.0)

        def whole(role: str, x: Tensor, share: float = 1.0) -> Tensor:
            return block.collective(
                role, "AllGatherAsync", x, 4 * x.shape[-1], how.gather * share, topology=how.topology
            )

        def projected(role: str, x: Tensor, n: int, us: float, act: str | None = None) -> Tensor:
            return block.minimal(role, x, n, us, config=minimal((8, 4, 8), (2, 2), GRID), cores=110, act=act)

        def shifted(role: str, x: Tensor, us: float) -> Tensor:
            scale, shift = (block.tensor([1, x.shape[1], 1, LOCAL]) for _ in range(2))
            scaled = block.binary(f"{role}_scale", "MUL", x, scale, us, cores=110)
            return block.binary(f"{role}_shift", "ADD", scaled, shift, us, cores=110)

        def stream(name: str, rows: int, part: float) -> tuple[Tensor, Tensor]:
            x = block.tensor([1, PICTURES, rows, LOCAL])
            normed = block.norm(f"{name}_norm_in", x, 90 * part, cores=110, kind="LAYERNORM")
            given = whole(f"{name}_gather_in", shifted(f"{name}_in", normed, 45 * part), part)
            return x, projected(f"{name}_qkv", given, 3 * HEADS * SIZE, 620 * part)

        small = TEXT / TOKENS
        x, qkv = stream("picture", TOKENS, 1.0)
        text, text_qkv = stream("text", TEXT, small * 2)
        q, k, v = block.split_heads("picture_heads", qkv, 190, heads=HEADS, kv=HEADS, size=SIZE, rows=TOKENS, batch=PICTURES, cores=110)  # fmt: skip
        more = block.split_heads("text_heads", text_qkv, 25, heads=HEADS, kv=HEADS, size=SIZE, rows=TEXT, batch=PICTURES, cores=22)  # fmt: skip
        q, k = (block.norm(f"norm_{name}", one, 80, cores=110) for name, one in (("q", q), ("k", k)))
        attended = block.op(
            "attention", "JointSDPA", (q, k, v, *more), (block.tensor(q.shape), block.tensor(more[0].shape)), 1750, cores=110, fidelity="HiFi2",
            compute_kernel_config=block.kernel("HiFi2"), is_causal=False, joint_strategy="rear", output_mem_config=q.placement,
            program_config=chunks(256, 512, GRID), scale="0.125",
        )  # fmt: skip
        joined = block.join_heads("joined", attended, 110, cores=110)
        out = projected("out", whole("gather_out", block.view(joined, [1, PICTURES, TOKENS, 640])), LOCAL, 215)
        gate = block.tensor([1, PICTURES, 1, LOCAL])
        x = block.binary("sum_attention", "ADD", x, block.binary("gate_attention", "MUL", out, gate, 50, cores=110), 50, cores=110)  # fmt: skip
        normed = block.norm("norm_feed", x, 90, cores=110, kind="LAYERNORM")
        given = whole("gather_feed", shifted("feed", normed, 45))
        wide = projected("first", given, HIDDEN, 790, "GELU")
        if how.fused:
            block.op("second", "MinimalMatmulStridedReduceScatterAsync", (wide, block.weight(HIDDEN, HIDDEN, "BFLOAT16"), x, gate), block.tensor(x.shape), 1020, cores=110, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), config=minimal((8, 4, 8), (2, 2), (11, 8)), num_links=2, topology=f"Topology::{how.topology}", output_mem_config=x.placement)  # fmt: skip
        else:
            made = projected("second", wide, HIDDEN, 790)
            part = block.collective("scatter_feed", "ReduceScatterMinimalAsync", made, LOCAL, how.scatter, topology=how.topology)  # fmt: skip
            scaled = block.binary("gate_feed", "MUL", part, gate, 50, cores=110)
            block.binary("sum_feed", "ADD", x, scaled, 50, cores=110)
        rest = whole("text_gather_feed", shifted("text_feed", block.norm("text_norm_feed", text, 20, cores=44, kind="LAYERNORM"), 10), small * 2)  # fmt: skip
        last = projected("text_second", projected("text_first", rest, HIDDEN, 130, "GELU"), HIDDEN, 130)
        block.collective("text_scatter_feed", "ReduceScatterMinimalAsync", last, LOCAL, how.scatter * small * 2, topology=how.topology)  # fmt: skip
        return block

    return build


COLLECTIVES = "*gather_* *scatter_*"
MADE_UP = "all times but their sum, and what the changed ops must have taken at least; configs; gaps"

SD35 = (
    laid(
        "sd35-line", NOTES, "20 steps with collectives along a line: 8.38 s",
        block_of(How(topology="Linear", gather=1020, scatter=1200)),
        (gain("ring", "a ring", 1553, COLLECTIVES, RING, "8.38 -> 7.2 s; a 760th of it"),),
        MADE_UP,
    ),
    laid(
        "sd35-ring", NOTES, "20 steps with collectives on a ring: 7.2 s",
        block_of(How()),
        (
            gain("scatter", "the last matmul, its reduce-scatter, the gate and the sum as one op", 566, "second scatter_feed gate_feed sum_feed", r"matmul.{0,60}reduce.scatter|reduce.scatter.{0,60}(fus|matmul)|fus.{0,60}reduce.scatter|addcmul", "7.2 -> 6.77 s; a 760th of it"),
        ),
        MADE_UP,
    ),
    laid(
        "sd35-fused", NOTES, "20 steps with the last matmul and its reduce-scatter as one op: 6.77 s",
        block_of(How(fused=True)),
        (dead("gather", "an all-gather in the output projection", "gather_out out", r"all_gather.{0,40}matmul|gather.{0,60}(fus|matmul)", "refused: no core assignment for one row of chips"),),
        MADE_UP,
    ),
)  # fmt: skip
