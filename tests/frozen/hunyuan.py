"""HunyuanImage-3.0 (it paints, with 64 experts) on a mesh of 32 Blackhole chips: one of 32 layers, one of two passes.

Hidden 4096, 32 heads of 128 with eight of keys and values, experts of 3072, about 4096 tokens. Heads are spread over
eight chips; experts over eight or over all 32: eight chips are laid out here. The ledger tells times of whole steps of
64 such passes: a 64th of each change. Times of ops are made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BLOCKS, COLLECTIVE, CORES, LOFI, RING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/demos/vision/generative/hunyuanimage_3_0"
STACK = f"{TT_METAL}/18af7c9b3531e5af360e111949edeb2dc1c02513/{FOLDER}/UNIFIED_STACK.md"
PERF = f"{TT_METAL}/1913cb1c1d145f0ebd6e2c43898a89a4cb73fd89/{FOLDER}/HANDOFF/PERF.md"
SWEEPS = f"{TT_METAL}/1913cb1c1d145f0ebd6e2c43898a89a4cb73fd89/{FOLDER}/HANDOFF/SWEEPS.md"
GRID, CORES_OF_ALL = (12, 10), 120
TOKENS, HIDDEN, EXPERT, HEADS, SIZE = 4096, 4096, 3072, 4, 128


@dataclass(frozen=True)
class How:
    """The layer at a step of its tuning; times in us."""

    experts: int = 2  # of 64 on a chip
    rows: int = TOKENS  # of the tokens that the experts of a chip work on
    links: int = 1
    cores: int = 64  # of the experts' matmuls
    gathered: tuple[float, float] | None = (4200, 3000)  # attention's gather and sum; None: all_reduce
    reduced: float = 3700
    experts_us: tuple[float, float] = (4600, 2900)
    sums: tuple[float, ...] = (3800, 3042)  # over each axis of the mesh


def layer(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=8, grid=GRID, gap_us=2.0)

        def linear(role: str, x: Tensor, n: int, us: float, cores: int = CORES_OF_ALL) -> Tensor:
            return block.linear(role, x, n, us, dtype="BFLOAT8_B", cores=cores)

        def summed(role: str, x: Tensor, us: float) -> Tensor:
            return block.collective(
                role, "AllReduceAsync", x, HIDDEN, us, ring=8, links=how.links, topology="Linear"
            )

        x = block.tensor([1, 1, TOKENS, HIDDEN])
        normed = block.norm("norm", x, 350, cores=CORES_OF_ALL)
        qkv = linear("qkv", normed, (HEADS + 2) * SIZE, 900)
        q, k, v = block.split_heads(
            "heads", qkv, 250, heads=HEADS, kv=1, size=SIZE, rows=TOKENS, cores=CORES_OF_ALL
        )
        q, k = (block.rotary(f"rotary_{name}", one, 120, decode=False, cores=CORES_OF_ALL) for name, one in (("q", q), ("k", k)))  # fmt: skip
        out = block.attend("attend", q, k, v, 1500, config=chunks(256, 256, GRID), cores=CORES_OF_ALL, causal=False)
        out = linear("out", block.join_heads("joined", out, 130, cores=CORES_OF_ALL), HIDDEN, 500)
        if how.gathered:
            many = block.op("attention_gathered", "AllGatherAsync", (out,), block.tensor([8, 1, TOKENS, HIDDEN]), how.gathered[0], cores=8, cluster_axis=0, dim=0, num_links=how.links, ring_size=8, topology="Topology::Linear", output_mem_config=out.placement)  # fmt: skip
            out = block.op("attention_sum", "Reduce", (many,), block.tensor(x.shape), how.gathered[1], cores=CORES_OF_ALL, fidelity="HiFi4", dim="ReduceOpDim::N", math_op="ReduceOpMath::SUM", output_mem_config=out.placement)  # fmt: skip
        else:
            out = summed("attention_reduced", out, how.reduced)
        x = block.binary("attention_added", "ADD", x, out, 150, cores=CORES_OF_ALL)
        normed = block.norm("norm_feed", x, 350, cores=CORES_OF_ALL)
        scores = linear("router", normed, 64, 250)
        values, where = block.tensor([1, 1, TOKENS, 8]), block.tensor([1, 1, TOKENS, 8], "UINT16")
        block.op("chosen", "TopK", (scores,), (values, where), 500, cores=64, k=8, dim=3, largest=True, sorted=True, output_mem_config=values.placement)  # fmt: skip
        fed = block.tensor([1, 1, how.rows, HIDDEN])
        wide = block.linear("experts_in", fed, 2 * how.experts * EXPERT, how.experts_us[0], dtype="BFLOAT4_B", fidelity="LoFi", cores=how.cores)  # fmt: skip
        half = (1, 1, how.rows, how.experts * EXPERT)
        one, two = (block.slice(f"experts_half_{at}", wide, (0, 0, 0, at * half[3]), (1, 1, how.rows, (at + 1) * half[3]), 100) for at in range(2))  # fmt: skip
        gated = block.binary("experts_gated", "MUL", one, two, 200, cores=CORES_OF_ALL, lhs="SILU")
        gated = block.binary(
            "experts_weighed", "MUL", gated, block.tensor([1, 1, how.rows, 1]), 500, cores=CORES_OF_ALL
        )
        mixed = block.linear("experts_out", gated, HIDDEN, how.experts_us[1], dtype="BFLOAT4_B", fidelity="LoFi", cores=how.cores)  # fmt: skip
        shared = block.binary("shared_gated", "MUL", linear("shared_gate", normed, 384, 125), linear("shared_up", normed, 384, 125), 60, cores=CORES_OF_ALL, lhs="SILU")  # fmt: skip
        shared = linear("shared_out", shared, HIDDEN, 150)
        mixed = block.binary(
            "shared_added", "ADD", block.view(mixed, shared.shape), shared, 150, cores=CORES_OF_ALL
        )
        for axis, us in enumerate(how.sums):
            mixed = summed(f"experts_sum_{axis}", mixed, us)
        block.binary("feed_added", "ADD", x, mixed, 150, cores=CORES_OF_ALL)
        return block

    return build


FIRST = How()
APART = How(experts=8, experts_us=(18000, 11500), sums=(6300,))
SPREAD = How(links=2, cores=CORES_OF_ALL, gathered=None, reduced=1600, experts_us=(2400, 1400), sums=(1300, 926))
TURNED = How(experts=8, rows=1024, links=2, cores=CORES_OF_ALL, gathered=None, reduced=1250, experts_us=(800, 450), sums=(709,))  # fmt: skip
MADE_UP = (
    "times of ops, but the sum of all; that eight chips stand for 32; order of the shared expert; chunks; gaps"
)
HUNYUAN = (
    laid(
        "hunyuan-apart", STACK, "eight of 64 experts on each of eight chips: 50.1 ms a pass of a layer",
        layer(APART),
        (
            gain("spread", "two experts on each of all 32 chips, the shared one split", 21906, "experts_*", r"expert.{0,20}parallel|more chips|all (the )?(chips|devices)|both axes|fewer experts|spread", "7770 -> 6368 ms a step"),
        ),
        MADE_UP, pass_us=50078,
    ),
    laid(
        "hunyuan-first", STACK, "two of 64 experts on each of 32 chips: 28.2 ms a pass of a layer",
        layer(FIRST),
        (
            gain("links", "two links instead of one", 4297, "attention_gathered experts_sum_*", COLLECTIVE, "6368 -> 6093 ms a step"),
            gain("grid", "the experts' matmuls on the whole grid", 5578, "experts_in experts_out", CORES, "6093 -> 5736 ms a step"),
            gain("reduce", "attention's gather and sum as one all_reduce", 3500, "attention_gathered attention_sum", r"all_?reduce|reduce.?scatter", "5736 -> 5512 ms a step"),
            dead("lofi", "LoFi by name", "experts_in experts_out", LOFI, "5736 -> 5760 ms a step: it was LoFi before"),
            dead("sparse", "only the experts that are chosen", "experts_in experts_out", r"sparse", "takes up to 47 times as long"),
        ),
        MADE_UP, pass_us=28172,
    ),
    laid(
        "hunyuan-spread", PERF, "all these taken: 14.2 ms a pass of a layer",
        layer(SPREAD),
        (
            gain("tokens", "experts on eight chips, and tokens split over the other four", 4422, "experts_* attention_reduced", r"token|sequence|rows|reduce.?scatter", "906 -> 623 ms a step"),
            dead("blocks", "blocks from a sweep for the projections", "qkv out shared_gate shared_up shared_out experts_in experts_out", rf"minimal_matmul|{BLOCKS}", "a wash: no faster render", SWEEPS),
        ),
        MADE_UP, pass_us=14156,
    ),
    laid(
        "hunyuan-tokens", PERF, "tokens split: 9.74 ms a pass of a layer",
        layer(TURNED),
        (
            dead("fused", "gathers inside the matmuls", "qkv out attention_reduced experts_sum_0", r"all_gather_(minimal_)?matmul|fus", "623 -> 850 ms a step"),
            dead("ring", "a ring, with matmul and reduce-scatter as one", "out attention_reduced experts_sum_0", rf"{RING}|matmul.{{0,30}}reduce.?scatter", "623 -> 996 ms a step"),
        ),
        MADE_UP, pass_us=9739,
    ),
)  # fmt: skip
