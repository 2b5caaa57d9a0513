"""LTX-2.3 (it films, with sound) on a Wormhole Galaxy: a block's attention, with norms whose columns four chips share.

Video 4096 wide, sound 2048: a quarter on each chip of a ring, in 8 of 32 heads. Eight such rings share the rows: 1216 of
the first stage and 4864 of the second, 32 of the sound. The ledgers measured each norm with what follows it, replayed
from a trace: as ops of their own, and as one; and how the one shares its work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks, minimal
from tests.frozen.layer import TT_METAL, dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Told
    from tests.profiles import Tensor

TABLE = f"{TT_METAL}/03c120a68acf1efacc9b2fc0325462b8c24f1de9/models/tt_dit/tests/REBENCH_baseline_vs_fused.md"
KNOBS = f"{TT_METAL}/99349ceed1ff988cba1980997575581b90805790/models/tt_dit/tests/RMSNORM_FUSION_FINDINGS.md"
GRID, CORES, RING, HEADS, WORKERS = (8, 9), 72, 4, 8, 64


@dataclass(frozen=True)
class Stream:
    """Rows and columns of a chip; times in us: of ops of their own, and of one; of an input's norm, then of the others."""

    rows: int
    columns: int
    first: tuple[float, float]
    own: tuple[float, float]
    cross: tuple[float, float]
    other: tuple[float, float] | None

    @property
    def size(self) -> int:
        return self.columns // HEADS


FIRST = Stream(1216, 1024, (139.59, 75.00), (144.71, 91.52), (88.66, 66.96), (106.51, 69.03))
SECOND = Stream(4864, 1024, (432.91, 173.85), (453.47, 223.33), (246.58, 153.28), (289.29, 137.89))
SOUND = Stream(32, 512, (33.63, 27.82), (51.64, 32.68), (32.37, 25.61), None)


def normed(block: Block, role: str, x: Tensor, us: float, *, heads: int = 0, turned: bool = False, after: bool = False) -> Tensor:  # fmt: skip
    """Sums of squares, their exchange, the scaling; then a rotation of heads, or a scale and a shift, of its own."""
    rows, columns = x.shape[-2:]
    last, kernel = turned or after, block.kernel("HiFi4", fp32=True)
    parts = (0.18, 0.27, 0.27, 0.28) if last else (0.27, 0.33, 0.40, 0)
    cores = min(rows // 32, CORES)
    sums = block.op(f"{role}_sums", "FusedRMSNormPreAllGather", (x,), block.tensor([1, 1, rows, 32]), us * parts[0], cores=cores, fidelity="HiFi4", compute_kernel_config=kernel)  # fmt: skip
    sums = block.collective(
        f"{role}_gathered", "AllGatherAsync", sums, 32 * RING, us * parts[1], ring=RING, links=4
    )
    size = columns // max(heads, 1)
    shape = [1, heads, rows, size] if heads else x.shape
    y = block.op(f"{role}_scaled", "FusedRMSNormPostAllGather", (x, sums, block.tensor([1, 1, 1, columns])), block.tensor(shape), us * parts[2], cores=cores, fidelity="HiFi4", compute_kernel_config=kernel, eps="1e-06", num_heads=max(heads, 1))  # fmt: skip
    if turned:
        tables = [block.tensor(shape) for _ in range(2)]
        y = block.op(f"{role}_turned", "RotaryEmbeddingLlama", (y, *tables, block.tensor([1, 1, 32, 32])), block.tensor(shape), us * parts[3], cores=CORES, fidelity="HiFi4", is_decode_mode=False, output_mem_config=y.placement)  # fmt: skip
    if after:
        rows_of = [block.tensor([1, 1, 1, columns]) for _ in range(2)]
        y = block.op(f"{role}_moved", "Ternary", (rows_of[0], y, rows_of[1]), block.tensor(shape), us * parts[3], cores=CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
    return y


def as_one(block: Block, role: str, x: Tensor, us: float, *, heads: int = 0, turned: bool = False, after: bool = False) -> Tensor:  # fmt: skip
    """All of that in one op."""
    rows, columns = x.shape[-2:]
    shape = [1, heads, rows, columns // heads] if heads else x.shape
    more = (
        [block.tensor(shape) for _ in range(2)] if turned else [block.tensor([1, 1, 1, columns])] if after else []
    )
    return block.op(
        f"{role}_one", "WanFusedDistributedRmsnorm", (x, block.tensor([1, 1, 1, columns]), *more), block.tensor(shape), us,
        cores=min(rows // 32, WORKERS) + 4, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True),
        cluster_axis=0, num_heads_per_device=max(heads, 1), num_links=4, per_head_norm=False, ring_size=RING,
        topology="Topology::Ring",
    )  # fmt: skip


def linear(block: Block, role: str, x: Tensor, n: int) -> Tensor:
    """The columns gathered and multiplied in one op: at some 90 TFLOPS, no less than 45 us."""
    us = max(2 * x.shape[-2] * x.shape[-1] * RING * n / 90e6, 45)
    return block.op(
        role, "AllGatherMinimalMatmulAsync", (x, block.weight(x.shape[-1] * RING, n, "BFLOAT16")),
        block.tensor([*x.shape[:-1], n]), us, cores=64, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"),
        config=minimal((8, 8, 8), (2, 2), (8, 8)), num_links=4, ring_size=RING, topology="Topology::Ring",
    )  # fmt: skip


def attention(how: Stream, *, fused: bool = False) -> Callable[[], Block]:
    """Attention to itself, to the words, and of the film to the sound."""

    def build() -> Block:
        block = Block("wormhole_b0", devices=RING, grid=GRID, gap_us=1.0)
        norm, at = (as_one, 1) if fused else (normed, 0)
        rows, columns, share = how.rows, how.columns, how.rows / 1216
        x = block.tensor([1, 1, rows, columns])
        y = norm(block, "first", x, how.first[at], after=True)
        qkv = linear(block, "qkv", y, 3 * columns)
        parts = [block.slice(f"cut_{name}", qkv, (0, 0, 0, n * columns), (1, 1, rows, (n + 1) * columns), 12 * share + 3) for n, name in enumerate("qkv")]  # fmt: skip
        q, k = (norm(block, f"own_{name}", one, how.own[at], heads=HEADS, turned=True) for name, one in zip("qk", parts, strict=False))  # fmt: skip
        v = block.op("heads_v", "NlpCreateHeads", (parts[2],), block.tensor(q.shape), 12 * share + 3, cores=min(rows // 32, CORES), head_dim=how.size, num_kv_heads=0, num_q_heads=HEADS, output_mem_config=x.placement, transpose_k_heads=False)  # fmt: skip
        out = block.op("attend", "RingJointSDPA", (q, k, v), block.tensor(q.shape), 620 * share**2 + 60, cores=64, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), is_causal=False, logical_n=8 * rows, program_config=chunks(128, 512, (8, 8)), ring_size=8)  # fmt: skip
        joined = block.join_heads("joined", out, 14 * share + 3, cores=min(rows // 32, CORES))
        x = block.binary("added", "ADD", x, linear(block, "out", joined, columns), 14 * share + 3, cores=CORES)
        q = norm(block, "cross_q", linear(block, "query", x, columns), how.cross[at], heads=HEADS)
        words = [block.tensor([1, HEADS, 1024, how.size]) for _ in range(2)]
        out = block.attend("cross_attend", q, *words, 110 * share + 30, config=chunks(128, 512, (8, 8)), cores=64, causal=False)  # fmt: skip
        joined = block.join_heads("cross_joined", out, 14 * share + 3, cores=min(rows // 32, CORES))
        x = block.binary("cross_added", "ADD", x, linear(block, "cross_out", joined, columns), 14 * share + 3, cores=CORES)  # fmt: skip
        if how.other:
            q = linear(block, "sound_query", x, columns // 2)
            q = norm(block, "sound_q", q, how.other[at], heads=HEADS, turned=True)
            sounds = [block.tensor([1, HEADS, 256, how.size // 2]) for _ in range(2)]
            block.attend("sound_attend", q, *sounds, 35 * share + 20, config=chunks(128, 256, (8, 8)), cores=64, causal=False)  # fmt: skip
        return block

    return build


ONE = r"fused_distributed_rmsnorm|fus.{0,80}(norm|all.?gather|rotary)|(norm|all.?gather).{0,80}(one|single) (op|kernel|program)"
IN_ONE = "in one op, wan_fused_distributed_rmsnorm"
LATER = "; an earlier form of the one op took"
MADE_UP = "how a norm's time divides over its ops; all ops that are no norms, with their times; cores; names of norm ops; gaps; one ring of eight"


def fused(how: Stream, early: tuple[float, float, float, float]) -> tuple[Told, ...]:
    """`early`: times of the one op before its exchange was redone."""
    film = (how.first, how.own, how.cross, how.other)
    found = [
        gain("first", f"the norm before attention with its scale and shift {IN_ONE}", round(how.first[0] - how.first[1], 2), "first_*", ONE, f"{how.first[0]} -> {how.first[1]} us{LATER} {early[0]}"),
        gain("own", f"norms of queries and keys with their rotation {IN_ONE}", round(2 * (how.own[0] - how.own[1]), 2), "own_q_* own_k_*", ONE, f"{how.own[0]} -> {how.own[1]} us each{LATER} {early[1]}"),
        gain("cross", f"the norm of queries to the words {IN_ONE}", round(how.cross[0] - how.cross[1], 2), "cross_q_*", ONE, f"{how.cross[0]} -> {how.cross[1]} us{LATER} {early[2]}"),
    ]  # fmt: skip
    if film[3]:
        found.append(gain("sound", f"the norm of queries to the sound with its rotation {IN_ONE}", round(film[3][0] - film[3][1], 2), "sound_q_*", ONE, f"{film[3][0]} -> {film[3][1]} us{LATER} {early[3]}"))  # fmt: skip
    return tuple(found)


def spent(of: str) -> tuple[Told, ...]:
    """What was tried on the one op."""
    return (
        dead("cores", "all cores of the grid for the rows, not whole rows of it", "*_one", r"more cores|all (the |of the )?cores|core_grid|(full|whole) grid|\b72 cores", f"3 to 9 % slower{of}"),
        dead("rows", "two to four rows of tiles at a time, not one", "*_one", r"chunk|rows at a time|rows of tiles", f"one is the best or as good everywhere; about a tenth slower on large shapes in an earlier version{of}"),
        dead("one-way", "each worker sends one way around the ring, not both", "*_one", r"one.?way|direction|split|unidirectional", f"within the noise but for the one largest shape, and more fragile{of}"),
    )  # fmt: skip


LTX = (
    laid("ltx-first", TABLE, "the film's attention of the first stage, 1216 rows a chip", attention(FIRST), fused(FIRST, (110.23, 128.64, 100.83, 104.43)), MADE_UP),
    laid("ltx-second", TABLE, "the film's attention of the second stage, 4864 rows a chip", attention(SECOND), fused(SECOND, (203.93, 254.88, 184.81, 184.93)), MADE_UP),
    laid("ltx-sound", TABLE, "the sound's attention, 32 rows a chip", attention(SOUND), fused(SOUND, (24.68, 29.22, 22.46, 0)), MADE_UP),
    laid("ltx-second-fused", KNOBS, "the film's attention of the second stage with each norm in one op", attention(SECOND, fused=True), spent("; told of the op over all shapes of the models that use it"), MADE_UP),
)  # fmt: skip
