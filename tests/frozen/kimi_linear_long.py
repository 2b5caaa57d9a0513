"""Kimi Linear (48B)'s layer of delta attention on eight Blackhole chips, for 5120 tokens.

As for 640, with a convolution that TTNN cuts in two slices of DRAM. The log tells the blocks of a layer (the input's
matmul, the convolution, the two own ops, the output with its exchange) and the device's time after each change. Two late
layers share the tokens of a head among 80 groups of chunks, and one runs on two by four chips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, two_d
from tests.frozen.kimi_linear import CHIPS, CORES, FP32, GRID, HALF, HIDDEN, LOG, MINE, SIZE, WIDE, summed
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, IN_L1, RING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

PLAN = f"{TT_METAL}/745c7a9042990f57d1459755555bdc6f2e379279/models/experimental/kimi_delta_attention/SP_PERFORMANCE_OPTIMIZATION_PLAN.md"
ROWS, GROUPS = 5120, 80
NARROW_BITS = r"BFLOAT16|bfloat16|bf16|16.bit"
WHOLE = WIDE + SIZE + HALF + MINE


def taken(block: Block, whole: Tensor, *, own: bool) -> tuple[Tensor, ...]:
    """Q, K and V after the convolution, in TTNN's ops or in one of the engineers'."""
    qkv = block.slice("cut_qkv", whole, (0, 0, 0, 0), (1, 1, ROWS, WIDE), 86.093)
    flat = block.moved("rows", "Untilize", qkv, 95.591, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")
    if own:
        parts = [block.tensor([1, 1, ROWS, HALF]) for _ in range(3)]
        block.op("conv", "KdaConv", (flat, block.tensor([1, 1, 4, WIDE])), parts, 413.165, cores=CORES, fidelity="HiFi4")  # fmt: skip
        return tuple(parts)
    kept = block.tensor([1, 1, 3, WIDE], layout=ROW_MAJOR)
    y = block.concat("with_carry", (kept, flat), [1, 1, ROWS + 3, WIDE], 2, 96)
    halves: list[Tensor] = []
    for number in range(2):
        cut = block.slice(f"slice{number}", y, (0, 0, number * ROWS // 2, 0), (1, 1, (number + 1) * ROWS // 2 + 3, WIDE), 24)  # fmt: skip
        near = block.moved(
            f"slice{number}_near", "InterleavedToSharded", cut, 21, place=block.along(64, WIDE, 40), cores=40
        )
        made = block.op(f"conv{number}", "Conv2d", (near, block.tensor([1, 1, 4, WIDE])), block.tensor([1, 1, ROWS // 2, WIDE]), 52, cores=40, fidelity="HiFi4", groups=WIDE, compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
        halves.append(block.moved(f"slice{number}_far", "ShardedToInterleaved", made, 12.4, cores=40))
    y = block.concat("conv", halves, [1, 1, ROWS, WIDE], 2, 5)
    y = block.unary("silu", "SILU", y, 106, cores=CORES)
    return tuple(
        block.slice(f"split_{name}", y, (0, 0, 0, n * HALF), (1, 1, ROWS, (n + 1) * HALF), us)
        for n, (name, us) in enumerate(zip("qkv", (30.39, 30.067, 30.291), strict=True))
    )


def asked(block: Block, *, narrow: bool, own: bool) -> tuple[tuple[Tensor, ...], Tensor, Tensor, Tensor]:
    """What the own ops read: Q, K and V, the decay, beta; and the gate."""
    x = block.tensor([1, 1, ROWS, HIDDEN])
    whole = block.linear("in_all", x, WHOLE, 524.7, cores=CORES, fidelity="HiFi4", fp32=True)
    parts = taken(block, whole, own=own)
    decay = block.slice("cut_decay", whole, (0, 0, 0, WIDE), (1, 1, ROWS, WIDE + SIZE), 9)
    decay = block.linear("decay", decay, HALF, 31, cores=CORES, fidelity="HiFi4", fp32=True, bias=True)
    out = "BFLOAT16" if narrow else FP32
    decay = block.binary("scale", "MUL", decay, block.tensor([1, 1, 1, HALF], FP32), 68.1 if narrow else 160.6, cores=CORES, lhs="SOFTPLUS", out=out)  # fmt: skip
    gate = block.slice("cut_gate", whole, (0, 0, 0, WIDE + SIZE), (1, 1, ROWS, WHOLE - MINE), 31)
    beta = block.slice("cut_beta", whole, (0, 0, 0, WHOLE - MINE), (1, 1, ROWS, WHOLE), 6)
    beta = block.typecast(
        "beta_wide", block.unary("beta_sigmoid", "SIGMOID", beta, 6, cores=CORES), FP32, 5, cores=CORES
    )
    return parts, decay, block.turned("beta_turned", beta, 6, cores=CORES), gate


def own(
    block: Block, role: str, given: tuple[Tensor, ...], out: Tensor | list[Tensor], us: float, *, cores: int
) -> Tensor:
    name = {"prep": "ChunkGdnPrep", "summary": "ChunkGdnSummary", "prefix": "KdaAffinePrefix", "normed": "KdaGatedRms"}.get(role, "ChunkGdnScan")  # fmt: skip
    return block.op(role, name, given, out, us, cores=cores, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip


def prepared(block: Block, given: tuple[Tensor, ...], us: float, *, narrow: bool, near: bool) -> list[Tensor]:
    place, stored = (L1 if near else DRAM), "BFLOAT16" if narrow else FP32
    sizes = ((SIZE, stored), (SIZE, stored), (SIZE, FP32), (SIZE, FP32), (32, FP32), (32, FP32))
    made = [block.tensor([MINE, ROWS // 32, 32, size], dtype, place) for size, dtype in sizes]
    own(block, "prep", given, made, us, cores=CORES)
    return made


def layer(prep: float, scan: float, *, narrow: bool, near: bool, narrow_gate: bool) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
        parts, decay, beta, gate = asked(block, narrow=narrow_gate, own=False)
        made = prepared(block, (*parts, decay, beta), prep, narrow=narrow, near=near)
        state = block.tensor([MINE, SIZE, SIZE], FP32)
        y = own(block, "scan", (*made, state), [block.tensor([1, MINE, ROWS, SIZE], FP32), state], scan, cores=16)
        y = own(block, "normed", (y, gate), block.tensor([1, 1, ROWS, HALF], FP32), 86.339, cores=CORES)
        summed(block, y, 1039.5)
        return block

    return build


def grouped(prefix: float, scan: float, *, near: bool, sharded: bool) -> Callable[[], Block]:
    """Groups of chunks first, a prefix over the groups, then the chunks of each."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
        parts, decay, beta, gate = asked(block, narrow=True, own=True)
        made = prepared(block, (*parts, decay, beta), 306.0, narrow=True, near=True)
        place = block.along(SIZE, SIZE, GROUPS) if sharded else L1
        sums = [block.tensor([GROUPS, 1, SIZE, SIZE], FP32, place) for _ in range(2)]
        own(block, "summary", tuple(made), sums, 134.994, cores=GROUPS)
        entry = block.tensor([GROUPS, 1, SIZE, SIZE], FP32, L1 if near else DRAM)
        own(block, "prefix", tuple(sums), entry, prefix, cores=GROUPS)
        y = own(block, "scan", (*made, entry), block.tensor([1, MINE, ROWS, SIZE], FP32), scan, cores=GROUPS)
        y = own(block, "normed", (y, gate), block.tensor([1, 1, ROWS, HALF], FP32), 83.557, cores=107)
        summed(block, y, 1039.5)
        return block

    return build


def shared_rows() -> Block:
    """Two chips share the tokens, four the heads: the ops the plan tells, and the copy beside the exchange."""
    block, rows = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0), ROWS // 2
    wide = 2 * WIDE
    qkv = block.linear("in_all", block.tensor([1, 1, rows, HIDDEN]), 2 * WHOLE - SIZE, 420, cores=CORES, fidelity="HiFi4", fp32=True)  # fmt: skip
    cut = block.slice("cut_qkv", qkv, (0, 0, 0, 0), (1, 1, rows, wide), 86)
    y = block.op("conv", "KdaConv", (cut, block.tensor([1, 1, 4, wide])), block.tensor([1, 1, rows, wide]), 452, cores=CORES, fidelity="HiFi4")  # fmt: skip
    made = [block.tensor([2 * MINE, rows // 32, 32, SIZE], FP32, L1) for _ in range(6)]
    own(block, "prep", (y,), made, 310, cores=CORES)
    entry = block.tensor([GROUPS, 1, SIZE, SIZE], FP32, L1)
    own(block, "prefix", tuple(made), entry, 181, cores=GROUPS)
    y = own(block, "scan", (*made, entry), block.tensor([1, 2 * MINE, rows, SIZE], FP32), 130, cores=GROUPS)
    y = own(block, "normed", (y,), block.tensor([1, 1, rows, 2 * HALF], FP32), 90, cores=CORES)
    outs = (block.tensor([1, 1, rows, HIDDEN // 4], FP32), block.tensor([1, 1, rows, HIDDEN], FP32))
    made_up = block.op(
        "out", "MatmulReduceScatterAsync", (y, block.weight(2 * HALF, HIDDEN, "BFLOAT16")), outs, 879, cores=80,
        fidelity="HiFi4", cluster_axis=1, dim=3, compute_kernel_config=block.kernel("HiFi4", fp32=True), num_links=2,
        num_workers_per_link=1, output_dtype=f"DataType::{FP32}", program_config=two_d((8, 8), 4, (10, 9)),
        reduce_scatter_core_grid_offset="(x=0,y=8)", ring_size=4, topology="Topology::Linear",
    )  # fmt: skip
    block.moved("copied", "Clone", made_up, 37, cores=CORES)
    return block


MADE_UP = "the convolution's parts and the small ops, shared so that the blocks take what they took; the matmuls' blocks; core counts; gaps"
ALONE = "besides the matmul, the convolution and the own ops: all shares; the copy takes what it adds after the exchange, for most of its 830 us run beside it"
KIMI_LINEAR_LONG = (
    laid(
        "kimilinear-long", LOG, "5120 tokens: 3679.696 us of kernels, 3681.529 us of the device",
        layer(336.0, 687.4, narrow=False, near=False, narrow_gate=False),
        (
            gain("stored", "three tensors between the own ops in 16 bits", 102.58, "prep scan", NARROW_BITS, "1023.411 -> 920.831 us, 3681.529 -> 3584.949 us of the device"),
            dead("full-l1", "the convolution's rows all in L1", "conv0 conv1", r"L1.?full|without slic|no slic", "refused: 2,470,848 bytes on a core of 1,572,864"),
        ),
        MADE_UP, pass_us=3679.7,
    ),
    laid(
        "kimilinear-long-near", LOG, "with these in 16 bits: 3573.748 us of kernels",
        layer(320.0, 600.8, narrow=True, near=False, narrow_gate=False),
        (gain("l1", "what the first own op leaves for the second in L1", 111.13, "prep scan", IN_L1, "1023.411 -> 809.704 us with the 16 bits, which alone take 920.831"),),
        MADE_UP, pass_us=3573.7,
    ),
    laid(
        "kimilinear-long-decay", LOG, "with these in L1: 3474.029 us of the device",
        layer(306.0, 503.7, narrow=True, near=True, narrow_gate=False),
        (
            gain("narrow", "the decay in 16 bits", 92.53, "scale", rf"{NARROW_BITS}|dtype", "200.638 -> 108.106 us, 3474.029 -> 3385.003 us of the device"),
            dead("near-gate", "the decay in L1", "scale", IN_L1, "refused: no trace could be replayed"),
            dead("bfp8-out", "BFLOAT8_B weights of the output's matmul", "out", BFP8, "1069.975 -> 1071.173 us: the exchange bounds it"),
            dead("alias", "no copy of what the exchange leaves", "copied", r"clone|cop(y|ies)", "3474.029 -> 3446.590 us, and refused: the trace hangs when its buffer is freed", faster=True),
        ),
        MADE_UP, pass_us=3474.0,
    ),
    laid(
        "kimilinear-long-conv", LOG, "with the decay in 16 bits: 3385.003 us of the device",
        layer(306.0, 501.2, narrow=True, near=True, narrow_gate=True),
        (
            dead("slices-4", "four slices for the convolution", "slice* conv*", r"slices?\D{0,8}4\b|(four|4) slices", "3385.003 -> 3467.099 us"),
            dead("slices-8", "eight slices for the convolution", "slice* conv*", r"slices?\D{0,8}8\b|(eight|8) slices", "3385.003 -> 3712.531 us"),
            dead("reuse", "the convolution reuses its rows", "conv*", r"activation_reuse", "refused: a block of rows must be higher than the output is wide"),
            dead("reader", "two readers for the convolution", "conv*", r"split_reader|split reader", "606.272 -> 603.237 us, 3385.003 -> 3387.903 us of the device"),
            dead("buffers", "two buffers for the convolution's rows", "conv*", r"double.?buffer", "refused: no slice leaves L1 enough"),
            dead("silu", "SILU in the convolution", "conv* silu", r"conv\w*.{0,40}activation|activation.{0,40}conv|fus.{0,60}conv", "refused: PCC 0.884; the convolution does not apply it"),
            dead("crop", "one op that cuts Q, K and V and untilizes them", "cut_qkv rows", r"untilize_with_unpadding|UntilizeWithUnpadding", "refused: the trace hangs"),
            dead("split", "one split for the slices of Q, K and V", "split_*", r"ttnn\.split|one split|single split", "90.7 -> 87.567 us, 3385.003 -> 3381.006 us of the device: within its bar of 1 %"),
            dead("narrow-norm", "the norm leaves 16 bits", "normed out", NARROW_BITS, "refused: PCC -0.00005, the exchange's buffers keep 32 bits"),
        ),
        MADE_UP, pass_us=3385.0,
    ),
    laid(
        "kimilinear-groups", LOG, "80 groups: 3211.482 us of the device", grouped(150.211, 111.439, near=False, sharded=False),
        (gain("entry", "what the prefix leaves for the scan in L1", 10.82, "prefix scan", IN_L1, "150.211 -> 129.276 us of the prefix, 111.439 -> 121.559 us of the scan; 3211.482 -> 3195.611 us of the device"),),
        MADE_UP, pass_us=3211.5,
    ),
    laid(
        "kimilinear-groups-near", LOG, "80 groups, the prefix's in L1: 3200.471 us of the device",
        grouped(129.37, 119.907, near=True, sharded=False),
        (gain("shards", "the sums of the groups in shards on the cores that own them", 12.2, "summary prefix scan", r"shard", "129.370 -> 115.753 us of the prefix, 119.907 -> 121.325 us of the scan; 3200.471 -> 3183.263 us of the device"),),
        MADE_UP, pass_us=3200.5,
    ),
    laid(
        "kimilinear-rows", PLAN, "two by four chips: 2855 us of the device", shared_rows,
        (
            dead("ring", "a ring for the output's exchange", "out", RING, "refused: it deadlocks"),
            dead("grid", "the output's matmul on 10 x 8 cores", "out", r"(grid|cores)\D{0,60}10\D{1,6}8\b", "no gain"),
            dead("workers", "other counts of workers for the output's exchange", "out", r"workers", "no gain"),
        ),
        ALONE,
    ),
)  # fmt: skip
