"""Kimi Linear (48B)'s layer of delta attention on eight Blackhole chips that share its heads, for 640 tokens.

2304 channels, 32 heads of 128 (four on each chip), a short convolution over 1536 channels, and two ops of the engineers'
own: one prepares chunks of 32 tokens, one scans them. The log tells the kernels of a layer before and after each change,
and the times of the ops it touched; one chip alone ran it first, with all 32 heads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import ACTIVATION_IN_BINARY, BFP8, HIFI2, IN_L1, LOFI, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

LOG = f"{TT_METAL}/e7aea8a1b7c85dbdf360bb420f87c281b8b4155f/models/experimental/kimi_delta_attention/docs/bringup_log.md"
GRID, CORES, CHIPS, ROWS = (11, 10), 110, 8, 640
HIDDEN, SIZE, HEADS, MINE = 2304, 128, 32, 4
WIDE, HALF = 3 * MINE * SIZE, MINE * SIZE
FP32 = "FLOAT32"
(
    SHIFTED, NATIVE, HEAD_MAJOR, ONE_PROJECTION, BIASED, MIXED, WIDE_SCALE, ROWS_ONCE, ROWS_KEPT, COMPOSED, CUT_ONCE,
    GATED, NORMED, SOFT, NARROW, NEAR, NARROW_GATE,
) = range(17)  # fmt: skip


def projected(block: Block, x: Tensor, stage: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The rows of Q, K and V, of the decay, of the gate and of beta."""
    rows = x.shape[-2]
    if stage < ONE_PROJECTION:
        qkv = block.linear("in_qkv", x, WIDE, 88, cores=CORES, fidelity="HiFi4", fp32=True)
        aux = block.linear("in_rest", x, 2 * SIZE + MINE, 44.3, cores=CORES, fidelity="HiFi4", fp32=True)
        starts, first = (0, SIZE, 2 * SIZE), SIZE
    else:
        gate = HALF if stage >= COMPOSED else SIZE
        whole = block.linear(
            "in_all", x, WIDE + SIZE + gate + MINE, 87.713 if stage >= COMPOSED else 81.004, cores=CORES, fidelity="HiFi4",
            fp32=True,
        )  # fmt: skip
        qkv = block.slice("cut_qkv", whole, (0, 0, 0, 0), (1, 1, rows, WIDE), 6.0)
        starts, first = (WIDE, WIDE + SIZE, WIDE + SIZE + gate), gate
        aux = whole
        if stage < CUT_ONCE:
            aux = block.slice("cut_rest", whole, (0, 0, 0, WIDE), (1, 1, rows, whole.shape[-1]), 6.43)
            starts = (0, SIZE, SIZE + gate)
    decay = block.slice("cut_decay", aux, (0, 0, 0, starts[0]), (1, 1, rows, starts[0] + SIZE), 1.2)
    gate_rows = block.slice("cut_gate", aux, (0, 0, 0, starts[1]), (1, 1, rows, starts[1] + first), 3.0 if first > SIZE else 1.2)  # fmt: skip
    beta = block.slice("cut_beta", aux, (0, 0, 0, starts[2]), (1, 1, rows, starts[2] + MINE), 1.2)
    return qkv, decay, gate_rows, beta


def moves(block: Block, role: str, x: Tensor, us: float, *, rows: bool) -> Tensor:
    name = "UntilizeWithUnpadding" if rows else "TilizeWithValPadding"
    return block.moved(role, name, x, us, layout=ROW_MAJOR if rows else "TILE", cores=CORES, fidelity="HiFi4", use_multicore=True)  # fmt: skip


def convolved(block: Block, qkv: Tensor, stage: int) -> Tensor:
    """The short convolution over the rows and the three before them."""
    rows = qkv.shape[-2]
    kept = block.tensor([1, 1, 3, WIDE], layout=ROW_MAJOR if stage >= ROWS_KEPT else "TILE")
    if stage == SHIFTED:
        y = block.concat("with_carry", (kept, qkv), [1, 1, rows + 3, WIDE], 2, 14)
        parts: list[Tensor] = []
        for tap in range(4):
            flat = moves(block, f"tap{tap}_rows", y, 49, rows=True)
            cut = block.slice(f"tap{tap}_cut", flat, (0, 0, tap, 0), (1, 1, tap + rows, WIDE), 26)
            parts.append(moves(block, f"tap{tap}_tiles", cut, 36, rows=False))
        for tap, part in enumerate(parts):
            y = block.op(f"tap{tap}_sum", "Ternary", (part, part, part), block.tensor(part.shape), 13.5, cores=CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
    else:
        if stage < ROWS_ONCE:
            flat, kept = (
                moves(block, "again0_rows", qkv, 39.34, rows=True),
                moves(block, "again1_rows", kept, 2.67, rows=True),
            )
            y = block.concat("with_carry", (kept, flat), [1, 1, rows + 3, WIDE], 2, 12)
            y = moves(block, "again0_tiles", y, 28.28, rows=False)
            y = moves(block, "again2_rows", y, 39.34, rows=True)
            y = moves(block, "again1_tiles", y, 28.28, rows=False)
            y = block.moved("rows", "Untilize", y, 39.04, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")
        else:
            flat = block.moved("rows", "Untilize", qkv, 39.04, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")
            if stage < ROWS_KEPT:
                kept = moves(block, "carry_rows", kept, 2.67, rows=True)
            y = block.concat("with_carry", (kept, flat), [1, 1, rows + 3, WIDE], 2, 12)
        taps = block.tensor([1, 1, 4, WIDE])
        y = block.op("conv", "Conv2d", (y, taps), block.tensor(qkv.shape), 26.081, cores=CORES, fidelity="HiFi4", groups=WIDE, compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
        y = block.moved("conv_out", "ShardedToInterleaved", y, 33.0, cores=CORES)
        if ROWS_ONCE <= stage < ROWS_KEPT:
            moves(block, "carry_tiles", kept, 4.24, rows=False)
    return block.unary("silu", "SILU", block.view(y, qkv.shape), 12.9, cores=CORES)


def decayed(block: Block, x: Tensor, stage: int) -> Tensor:
    y = block.linear("decay", x, HALF, 10.0, cores=80, fidelity="HiFi4", fp32=True, bias=stage >= BIASED)
    if stage < BIASED:
        y = block.binary("decay_bias", "ADD", y, block.tensor([1, 1, 1, HALF]), 6.1, cores=CORES)
    if stage < SOFT:
        y = block.unary("softplus", "SOFTPLUS", y, 5.3, cores=CORES, parameter="1, 20")
    scale, lhs = block.tensor([1, 1, 1, HALF], FP32), "SOFTPLUS" if stage >= SOFT else None
    if stage < WIDE_SCALE:
        y = block.binary("scale", "MUL", y, scale, 7.0, cores=CORES)
        return block.typecast("wide_decay", y, FP32, 5.28, cores=CORES)
    narrow = stage >= NARROW_GATE
    out = "BFLOAT16" if narrow else FP32
    return block.binary("scale", "MUL", y, scale, 9.4 if narrow else 21.976 if lhs else 20.94, cores=CORES, lhs=lhs, out=out)  # fmt: skip


def gate_of(block: Block, x: Tensor, stage: int) -> Tensor:
    """The output's gate, head by head."""
    rows = x.shape[-2]
    if stage >= COMPOSED:
        return x
    if stage >= HEAD_MAJOR:
        return block.product("gate", x, block.tensor([1, MINE, SIZE, SIZE]), 20.45, cores=80)
    y = block.linear("gate", x, HALF, 10.2, cores=80, fidelity="HiFi4", fp32=True)
    y = block.moved("gate_shape", "ReshapeView", y, 84.7, shape=[1, rows, MINE, SIZE], cores=CORES)
    return block.turned("gate_turned", y, 22, dims="CH", cores=CORES)


def scanned(block: Block, parts: tuple[Tensor, ...], decay: Tensor, beta: Tensor, stage: int) -> Tensor:
    rows = parts[0].shape[-2]
    stored = "BFLOAT16" if stage >= NARROW else FP32
    place = L1 if stage >= NEAR else DRAM
    prep, scan = (84.4, 98.7) if stage < NARROW else (79.0, 88.6) if stage < NEAR else (71.5, 73.4)
    made = [block.tensor([MINE, rows // 32, 32, SIZE], stored, place) for _ in range(3)]
    made += [block.tensor([MINE, rows // 32, 32, width], FP32, place) for width in (SIZE, 32, 32)]
    block.op("prep", "ChunkGdnPrep", (*parts, decay, beta), made, prep, cores=80, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
    state = block.tensor([MINE, SIZE, SIZE], FP32)
    outs = (block.tensor([1, MINE, rows, SIZE], FP32), state)
    return block.op("scan", "ChunkGdnScan", (*made, state), outs, scan, cores=16, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip


def ended(block: Block, y: Tensor, gate: Tensor, stage: int) -> None:
    rows = y.shape[-2]
    if stage >= NORMED:
        out = block.op("normed", "KdaGatedRms", (y, gate), block.tensor([1, 1, rows, HALF], FP32), 19.213, cores=80, fidelity="HiFi4")  # fmt: skip
    else:
        y = block.norm("normed", y, 12.015, cores=80)
        gate = block.view(gate, y.shape)
        if stage < GATED:
            gate = block.unary("sigmoid", "SIGMOID", gate, 4.67, cores=CORES)
        if stage < MIXED:
            gate = block.typecast("wide_gate", gate, FP32, 5.0, cores=CORES)
        us = 10.3 if stage < MIXED else 8.34 if stage < GATED else 9.17
        y = block.binary("gated", "MUL", y, gate, us, cores=CORES, rhs="SIGMOID" if stage >= GATED else None)
        out = block.join_heads("joined", y, 10.269, cores=80)
    summed(block, out, 148.8)


def summed(block: Block, x: Tensor, us: float) -> Tensor:
    """The output's matmul and the exchange of its sums in one op; a copy of what it keeps."""
    rows, weight = x.shape[-2], block.weight(HALF, HIDDEN, "BFLOAT16")
    outs = (block.tensor([1, 1, rows, HIDDEN // CHIPS], FP32), block.tensor([1, 1, rows, HIDDEN], FP32))
    made = block.op(
        "out", "MatmulReduceScatterAsync", (x, weight), outs, us, cores=80, fidelity="HiFi4", cluster_axis=1, dim=3,
        compute_kernel_config=block.kernel("HiFi4", fp32=True), num_links=2, num_workers_per_link=1, output_dtype=f"DataType::{FP32}",
        program_config=two_d((8, 8), 4, (-(-rows // 256), 9)), reduce_scatter_core_grid_offset="(x=0,y=8)", ring_size=CHIPS,
        topology="Topology::Ring",
    )  # fmt: skip
    return block.moved("copied", "Clone", made, 3.8 * rows / 640, cores=CORES)


def layer(stage: int) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
        x = block.tensor([1, 1, ROWS, HIDDEN])
        qkv, decay, gate, beta = projected(block, x, stage)
        y = convolved(block, qkv, stage)
        parts = tuple(
            block.slice(f"split_{name}", y, (0, 0, 0, n * HALF), (1, 1, ROWS, (n + 1) * HALF), 6.35)
            for n, name in enumerate("qkv")
        )
        decay = decayed(block, decay, stage)
        gate = gate_of(block, gate, stage)
        beta = block.typecast(
            "beta_wide", block.unary("beta_sigmoid", "SIGMOID", beta, 2.5, cores=20), FP32, 2.0, cores=20
        )
        beta = block.turned("beta_turned", beta, 2.2, cores=20)
        y = scanned(block, parts, decay, beta, stage)
        block.slice("kept", qkv, (0, 0, ROWS - 3, 0), (1, 1, ROWS, WIDE), 3.06)
        ended(block, y, gate, stage)
        return block

    return build


def chunks_alone(fidelity: str, prep: float, scan: float, cores: int, *, moved: bool) -> Callable[[], Block]:
    """The two ops and what stands around them on one chip, with all heads."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        flat = [block.tensor([1, ROWS, HEADS, SIZE]) for _ in range(3)]
        decay = block.tensor([1, ROWS, HEADS, SIZE], FP32)
        if moved:
            flat = [block.turned(f"turned_{name}", one, us, dims="CH", cores=CORES) for name, one, us in zip("qkv", flat, (110.5, 110.5, 109.076), strict=True)]  # fmt: skip
            flat[0] = block.unary("scaled_q", "MUL_UNARY_SFPU", flat[0], 30.192, cores=CORES, parameter="0.0884")
            decay = block.turned("turned_decay", decay, 134.0, dims="CH", cores=CORES)
        beta = block.turned("turned_beta", block.tensor([1, 1, ROWS, HEADS], FP32), 2.16, cores=20)
        shaped = block.moved("shaped", "ReshapeView", decay, 25.5, shape=[HEADS, ROWS // 32, 32, SIZE], cores=CORES)
        kernel = block.kernel(fidelity, fp32=True)
        made = [block.tensor([HEADS, ROWS // 32, 32, SIZE], FP32) for _ in range(5)]
        block.op("prep", "ChunkGdnPrep", (*flat, shaped, beta), made, prep, cores=CORES, fidelity=fidelity, compute_kernel_config=kernel)  # fmt: skip
        y = block.op("scan", "ChunkGdnScan", made, block.tensor([1, HEADS, ROWS, SIZE], FP32), scan, cores=cores, fidelity=fidelity, compute_kernel_config=kernel)  # fmt: skip
        if moved:
            y = block.moved("out_rows", "Untilize", y, 56.953, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")
            block.permute("out_turned", y, (0, 2, 1, 3), 79.266)
        return block

    return build


def one_chip() -> Block:
    """The whole layer on one chip, its decay turned to heads and back."""
    block, wide = Block("blackhole", grid=GRID, gap_us=1.0), HEADS * SIZE
    x = block.tensor([1, 1, ROWS, HIDDEN])
    qkv = block.linear("in_qkv", x, 3 * wide, 365, cores=CORES, fidelity="HiFi4", fp32=True)
    aux = block.linear("in_rest", x, 2 * SIZE + HEADS, 44, cores=90, fidelity="HiFi4", fp32=True)
    y = block.concat("with_carry", (block.tensor([1, 1, 3, 3 * wide]), qkv), [1, 1, ROWS + 3, 3 * wide], 2, 210)
    parts: list[Tensor] = []
    for tap in range(3):
        flat = moves(block, f"tap{tap}_rows", y, 147.6, rows=True)
        cut = block.slice(f"tap{tap}_cut", flat, (0, 0, tap, 0), (1, 1, tap + ROWS, 3 * wide), 101)
        parts.append(moves(block, f"tap{tap}_tiles", cut, 141.8, rows=False))
    for tap, part in enumerate((*parts, qkv)):
        y = block.op(f"tap{tap}_sum", "Ternary", (part, part, part), block.tensor(part.shape), 109.1, cores=CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
    y = block.unary("silu", "SILU", block.view(y, qkv.shape), 105, cores=CORES)
    heads = [block.slice(f"split_{name}", y, (0, 0, 0, n * wide), (1, 1, ROWS, (n + 1) * wide), 50) for n, name in enumerate("qkv")]  # fmt: skip
    low = [block.slice(f"cut_{name}", aux, (0, 0, 0, n * SIZE), (1, 1, ROWS, (n + 1) * SIZE), 3.5) for n, name in enumerate(("decay", "gate"))]  # fmt: skip
    decay = block.linear("decay", low[0], wide, 60, cores=CORES, fidelity="HiFi4", fp32=True)
    decay = block.moved("decay_heads", "ReshapeView", decay, 604.0, shape=[1, ROWS, HEADS, SIZE], cores=CORES)
    for role, us in (("decay_bias", 40), ("softplus", 36), ("scale", 40)):
        decay = block.unary(role, "SOFTPLUS", decay, us, cores=CORES) if role == "softplus" else block.binary(role, "ADD" if role == "decay_bias" else "MUL", decay, block.tensor([1, 1, HEADS, SIZE]), us, cores=CORES)  # fmt: skip
    decay = block.typecast("wide_decay", decay, FP32, 46, cores=CORES)
    decay = block.moved("decay_flat", "ReshapeView", decay, 604.0, shape=[1, 1, ROWS, wide], cores=CORES)
    gate = block.linear("gate", low[1], wide, 60, cores=CORES, fidelity="HiFi4", fp32=True)
    gate = block.moved("gate_heads", "ReshapeView", gate, 602.0, shape=[1, ROWS, HEADS, SIZE], cores=CORES)
    gate = block.turned("gate_turned", gate, 140, dims="CH", cores=CORES)
    beta = block.unary("beta", "SIGMOID", block.slice("cut_beta", aux, (0, 0, 0, 2 * SIZE), (1, 1, ROWS, 2 * SIZE + HEADS), 1.6), 2.5, cores=20)  # fmt: skip
    kernel = block.kernel("HiFi4", fp32=True)
    made = [block.tensor([HEADS, ROWS // 32, 32, SIZE], FP32) for _ in range(5)]
    block.op("prep", "ChunkGdnPrep", (*heads, decay, beta), made, 318.918, cores=CORES, fidelity="HiFi4", compute_kernel_config=kernel)  # fmt: skip
    out = block.op("scan", "ChunkGdnScan", made, block.tensor([1, HEADS, ROWS, SIZE], FP32), 181.603, cores=HEADS, fidelity="HiFi4", compute_kernel_config=kernel)  # fmt: skip
    out = block.norm("normed", out, 90, cores=CORES)
    gate = block.typecast(
        "wide_gate", block.unary("sigmoid", "SIGMOID", gate, 37, cores=CORES), FP32, 46, cores=CORES
    )
    out = block.join_heads("joined", block.binary("gated", "MUL", out, gate, 90, cores=CORES), 85, cores=CORES)
    block.linear("out", out, HIDDEN, 163, cores=CORES, fidelity="HiFi4", fp32=True)
    return block


MADE_UP = "times of ops that no step touched, shared so that a stage takes what it took; core counts besides those of the two own ops; the matmuls' blocks; gaps"
CHUNK_MADE_UP = "how the transposes share their time; gaps"
KIMI_LINEAR = (
    laid(
        "kimilinear-chunks", LOG, "the two own ops and the moves around them, one chip with 32 heads",
        chunks_alone("HiFi4", 351.69, 285.298, 64, moved=True),
        (
            gain("flat-v", "V as the projection leaves it, without a transpose", 109.076, "turned_v", r"transpose|permute", "1295.170 -> 1186.095 us"),
            gain("flat-qk", "Q and K as the projection leaves them, their scale in the own op", 251.192, "turned_q turned_k scaled_q", r"transpose|permute|scale", "1186.095 -> 922.861 us; 12 us of it are the own op's"),
            gain("head-major", "the output as the scan leaves it, head by head", 136.219, "out_rows out_turned", r"untilize|permute|transpose|layout", "56.8 and 79.5 us of the two moves went away"),
            gain("flat-gate", "the decay as the projection leaves it, without a transpose", 134.0, "turned_decay", r"transpose|permute", "825.989 -> 688.842 us; 3 us of it are the own op's"),
        ),
        CHUNK_MADE_UP, pass_us=1295.17,
    ),
    laid(
        "kimilinear-chunks-flat", LOG, "the two own ops without moves, one chip with 32 heads",
        chunks_alone("HiFi4", 335.117, 285.05, 64, moved=False),
        (
            dead("hifi2", "HiFi2", "prep scan", HIFI2, "647.907 -> 663.605 us, and less accurate"),
            dead("lofi", "LoFi", "prep scan", LOFI, "refused: PCC 0.99856 for a bar of 0.999"),
        ),
        CHUNK_MADE_UP, pass_us=647.9,
    ),
    laid(
        "kimilinear-one-chip", LOG, "the layer on one chip with all heads", one_chip,
        (gain("flat-decay", "the decay stays flat, its constants spread at load", 1_208.0, "decay_heads decay_flat", r"reshape|view", "5870.51 -> 4641.33 us; a reshape of tiles took about 604 us"),),
        MADE_UP, pass_us=5870.5,
    ),
    laid(
        "kimilinear-fir", LOG, "eight chips: 1213 to 1216 us of kernels", layer(SHIFTED),
        (
            gain("conv1d", "a depthwise conv1d for the four shifted windows", 274.0, "tap* with_carry", r"conv1d|depthwise|Conv2d", "1213 to 1216 -> 940 to 942 us of kernels; the convolution itself took 26.081 us"),
            dead("grid-9x8", "the output's matmul on 9 x 8 cores", "out", r"(grid|cores)\D{0,60}9\D{1,6}8\b", "176.1 -> 191.2 us"),
            dead("grid-8x7", "the output's matmul on 8 x 7 or 8 x 6 cores", "out", r"(grid|cores)\D{0,60}8\D{1,6}[67]\b", "166.069 -> 172.950 us, and 192.3"),
        ),
        MADE_UP, pass_us=1214.5,
    ),
    laid(
        "kimilinear-gate", LOG, "with the conv1d: 940 to 942 us of kernels", layer(NATIVE),
        (gain("head-major-gate", "the gate's matmul head by head, without the reshape and transpose after it", 96.4, "gate gate_shape gate_turned", r"reshape|transpose|head", "940 to 942 -> 844 to 845 us of kernels: the matmul took 13 us more"),),
        MADE_UP, pass_us=941,
    ),
    laid(
        "kimilinear-two-projections", LOG, "with the gate head by head: 844 to 845 us of kernels", layer(HEAD_MAJOR),
        (gain("packed", "one matmul for both projections of the input", 38.2, "in_qkv in_rest", PACKED, "844 to 845 -> 806 to 807 us of kernels: 51.3 us of matmuls less, 12.6 us of slices more"),),
        MADE_UP, pass_us=844.5,
    ),
    laid(
        "kimilinear-bias", LOG, "with one projection: 806 to 807 us of kernels", layer(ONE_PROJECTION),
        (
            gain("bias", "the decay's bias in its matmul", 6.1, "decay decay_bias", r"bias", "806 to 807 -> 799 to 802 us of kernels, 874.33 -> 854.69 us of the device; SOFTPLUS stayed an op"),
            dead("subblock", "subblocks of 1 x 3 tiles for the output's matmul", "out", r"out_subblock_w\D{0,6}3\b|subblock\D{0,12}1\D{1,4}3\b", "146.778 -> 147.706 us"),
        ),
        MADE_UP, pass_us=806.5,
    ),
    laid(
        "kimilinear-gate-cast", LOG, "with the bias: 800.34 us of kernels", layer(BIASED),
        (gain("cast", "the multiply reads the gate in 16 bits", 6.95, "wide_gate gated", r"typecast|dtype", "800.34 -> 793.39 us of kernels"),),
        MADE_UP, pass_us=800.34,
    ),
    laid(
        "kimilinear-decay-cast", LOG, "without the gate's cast: 793.39 us of kernels", layer(MIXED),
        (gain("cast", "the scale writes 32 bits itself", 7.64, "scale wide_decay", r"typecast|dtype", "848.02 -> 840.38 us of the device; the multiply itself got slower, 793.39 -> 802.05 us of kernels"),),
        MADE_UP, pass_us=793.39,
    ),
    laid(
        "kimilinear-layouts", LOG, "without casts: 802.05 us of kernels", layer(WIDE_SCALE),
        (gain("rows", "rows are untilized once and stay so up to the convolution", 131.0, "again*", r"row.?major|untilize|tilize|to_layout", "802.05 -> 670.51 us of kernels: 81.35 -> 2.67 us and 56.56 -> 4.24 us"),),
        MADE_UP, pass_us=802.05,
    ),
    laid(
        "kimilinear-carry", LOG, "with rows once: 670.51 us of kernels", layer(ROWS_ONCE),
        (gain("carry", "the three rows that are kept stay row-major", 6.91, "carry_*", r"row.?major|untilize|tilize|to_layout", "670.51 -> 662.95 us of kernels: two ops went away"),),
        MADE_UP, pass_us=670.51,
    ),
    laid(
        "kimilinear-compose", LOG, "with the carry in rows: 662.95 us of kernels", layer(ROWS_KEPT),
        (gain("compose", "the gate's two matmuls in one, as columns of the input's", 5.16, "in_all gate", PACKED, "662.921 -> 657.757 us of kernels: 81.004 -> 87.713 us, 20.45 us went away, slices took 6.66 us more"),),
        MADE_UP, pass_us=662.95,
    ),
    laid(
        "kimilinear-slices", LOG, "with the gate in one: 657.757 us of kernels", layer(COMPOSED),
        (
            gain("direct", "three slices of the projection itself, without the one around them", 6.43, "cut_rest", r"slice", "657.757 -> 650.942 us of kernels: slices 36.944 -> 30.514 us"),
            dead("partials", "the output's sums in 16 bits", "out", r"BFLOAT16|bfloat16|bf16|16.bit", "refused: PCC 0.005"),
            dead("workers", "two workers on each link", "out", r"workers", "151.333 -> 166.374 us, on 8 x 6 cores"),
        ),
        MADE_UP, pass_us=657.757,
    ),
    laid(
        "kimilinear-sigmoid", LOG, "with direct slices: 650.942 us of kernels", layer(CUT_ONCE),
        (
            gain("sigmoid", "the gate's sigmoid in the multiply", 3.96, "sigmoid gated", ACTIVATION_IN_BINARY, "650.942 -> 646.984 us of kernels: 25.447 -> 20.773 and 29.277 -> 30.110 us"),
            dead("silu", "SILU in the convolution", "conv silu", r"conv\w*.{0,40}activation|activation.{0,40}conv|fus.{0,60}conv", "refused: PCC 0.884; the convolution does not apply it"),
        ),
        MADE_UP, pass_us=650.942,
    ),
    laid(
        "kimilinear-norm", LOG, "with the sigmoid in the multiply: 646.984 us of kernels", layer(GATED),
        (gain("epilogue", "an own op for the norm, the gate and the heads' join", 7.57, "normed gated joined", r"fus|own kernel|custom|one (op|kernel|program)", "646.984 -> 639.418 us of kernels, 679.336 -> 667.330 us of the device: 19.213 us for 12.015, 10.269 and about 9.2"),),
        MADE_UP, pass_us=646.984,
    ),
    laid(
        "kimilinear-softplus", LOG, "with the own end: 639.418 us of kernels", layer(NORMED),
        (gain("softplus", "SOFTPLUS in the scale's multiply", 4.26, "softplus scale", ACTIVATION_IN_BINARY, "639.418 -> 633.656 us of kernels: 20.702 -> 15.403 and 20.940 -> 21.976 us"),),
        MADE_UP, pass_us=639.418,
    ),
    laid(
        "kimilinear-stored", LOG, "with SOFTPLUS in the multiply: 637.981 us of kernels", layer(SOFT),
        (
            gain("stored", "three tensors between the own ops in 16 bits", 15.47, "prep scan", r"BFLOAT16|bfloat16|bf16|16.bit", "183.096 -> 167.623 us, 637.981 -> 621.755 us of kernels; the state keeps 32 bits"),
            dead("beta", "beta's sigmoid and cast in one multiply by one", "beta_sigmoid beta_wide", r"fus.{0,80}(sigmoid|cast)|(sigmoid|cast).{0,80}fus|activations=", "658.960 -> 690.497 us of the device, the kernels alike"),
        ),
        MADE_UP, pass_us=637.981,
    ),
    laid(
        "kimilinear-near", LOG, "with three tensors in 16 bits: 621.755 us of kernels", layer(NARROW),
        (gain("l1", "what the first own op leaves for the second in L1", 22.68, "prep scan", IN_L1, "167.623 -> 144.945 us, 643.623 -> 622.564 us of the device"),),
        MADE_UP, pass_us=621.755,
    ),
    laid(
        "kimilinear-decay-stored", LOG, "with these in L1: 622.564 us of the device", layer(NEAR),
        (
            gain("narrow", "the decay in 16 bits", 12.58, "scale", r"BFLOAT16|bfloat16|bf16|16.bit|dtype", "33.106 -> 20.528 us, 622.564 -> 619.594 us of the device"),
            dead("near-gate", "the decay in L1", "scale", IN_L1, "33.106 -> 32.881 us; refused, for it does not fit at 5120 tokens"),
            dead("bfp8-in", "BFLOAT8_B weights of the input's matmul", "in_all", BFP8, "refused for the state's accuracy, without a time"),
            dead("bfp8-out", "BFLOAT8_B weights of the output's matmul", "out", BFP8, "152.946 -> 151.162 us and 0.27 % of the device; refused, for it costs time at 5120 tokens"),
            dead("alias", "no copy of what the exchange leaves", "copied", r"clone|cop(y|ies)", "622.564 -> 616.505 us, and refused: the trace hangs when its buffer is freed", faster=True),
        ),
        MADE_UP,
    ),
)  # fmt: skip
