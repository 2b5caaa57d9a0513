"""AlphaFold 2's Evoformer, there and back, on one Blackhole chip (p300c, 110 cores): BindCraft 2 designs by its gradient.

288 tokens and two rows of the alignment: pairs are 288 x 288 x 128, rows 2 x 288 x 256; BFLOAT16 in DRAM, HiFi4 with sums in
FLOAT32. The way back is eltwise ops by TTNN and a few kernels of its own. The ledger tells kernel seconds of each part of 48
blocks and phase, a list of ops with shapes, and times of ops alone as they were and in another form, 288 to 864 tokens. What
a norm saves is a share of 14.1 ms each block, of eight of pairs and three of rows, of which alone each saves 0.28 ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import MINIMAL, MINIMAL_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.frozen.layer import Layer
    from tests.profiles import Tensor

HOME = "https://github.com/moritztng/tt-bio/blob"
PARTS = f"{HOME}/82938677abfa706b7602936dc5b8a4fa746ffd6f/perf/bcp_evo/census_blocks.txt"
OLD_OPS = f"{HOME}/cc02d7b3e58cf5af9e4aa7e3f0d8c92267d1e6c6/perf/bcw_callcut/out/time_old.tsv"
NORMS = f"{HOME}/e6b0b98120c663f7ea9f57761ef49a0292e25a4c/perf/bcp_device/out/block_ab_lnbw2.json"
ROW_NORMS = f"{HOME}/3501611257be0b27ad7924b67093239d12440df0/perf/bcp_device/out/lnbw_ab1.json"
GATE = f"{HOME}/cbab85e3a64b6990e183f481cd6f364e79c127b5/perf/bcp_evo/out/gate_bw_bench.json"
MOVED = f"{HOME}/6898ddc90d318aaefea79dc3d586f60fb486d5de/perf/bcp_evo/out/gated_bw_bench.json"
FAN_IN = f"{HOME}/6898ddc90d318aaefea79dc3d586f60fb486d5de/perf/bcp_evo/out/fanin_cast_bench.json"
LEAD = f"{HOME}/eea96e123e3456a318c2fc25f1ea039cd3928fef/perf/bcp_evo/out/lead_sum_bench.json"
PACKED_QKV = f"{HOME}/7033231ef92ef5f6e55dd29b95a7207ed46572dc/perf/bcp_evo/out/qkv_packed_bench.json"
TURNED = f"{HOME}/65e36837160d7daf0a1a7ffb0db5b1f9455b2e6d/perf/bcp_evo/out/pair_transpose_bench.json"
LINEARS = f"{HOME}/8335f90bac9c69ec7331aa46ab89d46abaab6eef/perf/bcp_evo/out/mm_pair_bench.json"
RELU_IN = f"{HOME}/8335f90bac9c69ec7331aa46ab89d46abaab6eef/perf/bcp_evo/out/relu_mm_bench.json"
RELU = f"{HOME}/6898ddc90d318aaefea79dc3d586f60fb486d5de/perf/bcw_callcut/out/relu_op.json"
PRODUCTS = f"{HOME}/23e5757bc5567dd59b17ceed8fbdb4c5f3e16a78/perf/bcw_callcut/out/dx_op.json"
OUTER = f"{HOME}/7033231ef92ef5f6e55dd29b95a7207ed46572dc/perf/bcw_callcut/out/opm_op.json"
GATED_IN = f"{HOME}/3b05019985345767fb4797623a322ea951ea71f0/perf/bcp_evo/out/block_ab_inproj_gated_wrap.json"
REFUSED = f"{HOME}/309dd69d50fc785bcbcdadca0058017a0823bd67/perf/bcx_bwbytes/DISPOSITION.md"
WRONG = f"{HOME}/9c4659a1b2216c90a82b42276443b184093450e5/perf/bcx_bwbytes/FUSED_SOFTMAX_BW.md"
GRID, CORES = (11, 10), 110
N, PAIR, ROWS, WIDE, HEADS = 288, 128, 2, 256, 4
F32 = "FLOAT32"
EXACT = {"fidelity": "HiFi4", "fp32": True, "cores": CORES}


def pairs(block: Block, channels: int = PAIR, dtype: str = "BFLOAT16", tokens: int = N) -> Tensor:
    return block.tensor([1, tokens, tokens, channels], dtype)


def back(block: Block, role: str, x: Tensor, n: int, us: float) -> Tensor:
    """The way back through a linear: its weight turned, then a matmul of all rows in two dimensions."""
    rows, k = 1, x.shape[-1]
    for size in x.shape[:-1]:
        rows *= size
    turned = block.turned(f"{role}_turn", block.tensor([1, 1, n, k]), 4, cores=max(1, n * k // 1024 // 2))
    return block.linear(role, block.view(x, [1, 1, rows, k]), n, us - 4, weight=turned, **EXACT)


def unnormed(block: Block, role: str, x: Tensor, us: float = 1848) -> Tensor:
    """The way back through a LayerNorm, as 19 ops: 9 of all elements, 4 sums of rows, 6 of a number each row."""
    before, row = block.tensor(x.shape), [*x.shape[:-1], 1]
    whole, summed, small = 0.0812 * us, 0.0568 * us, 0.007 * us

    def mean(name: str, y: Tensor) -> Tensor:
        y = block.op(f"{role}_{name}_sum", "Reduce", (y,), block.tensor(row), summed, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
        return block.unary(f"{role}_{name}_mean", "DIV_UNARY_SFPU", y, small, cores=CORES)

    def times(name: str, a: Tensor, b: Tensor, kind: str = "MUL") -> Tensor:
        return block.binary(f"{role}_{name}", kind, a, b, whole, cores=CORES)

    less = times("less", before, mean("first", before), "SUB")
    var = block.unary(
        f"{role}_eps", "ADD_UNARY_SFPU", mean("second", times("square", less, less)), small, cores=CORES
    )
    root = block.unary(f"{role}_rsqrt", "RSQRT", var, small, cores=CORES)
    normed = times("normed", less, root)
    grad = times("gamma", x, block.tensor([1, 1, 1, x.shape[-1]]))
    one = mean("third", grad)
    two = times("both", normed, mean("fourth", times("product", grad, normed)))
    return times("root", times("rest", times("center", grad, one, "SUB"), two, "SUB"), root)


def ungated(block: Block, role: str, x: Tensor, us: float = 915) -> tuple[Tensor, Tensor]:
    """The way back through o * sigmoid(g): gradients of both."""
    o, g = block.tensor(x.shape), block.tensor(x.shape)
    sigmoid = block.unary(f"{role}_sigmoid", "SIGMOID", g, 0.115 * us, cores=CORES)
    first = block.binary(f"{role}_times", "MUL", x, sigmoid, 0.164 * us, cores=CORES)
    y = block.binary(f"{role}_product", "MUL", x, o, 0.164 * us, cores=CORES)
    again = block.unary(f"{role}_again", "SIGMOID", g, 0.115 * us, cores=CORES)
    rest = block.unary(f"{role}_rest", "RSUB", again, 0.115 * us, cores=CORES)
    slope = block.binary(f"{role}_slope", "MUL", again, rest, 0.164 * us, cores=CORES)
    return first, block.binary(f"{role}_grad", "MUL", y, slope, 0.163 * us, cores=CORES)


def fan_in(block: Block, x: Tensor, add_us: float = 190, cast_us: float = 150) -> Tensor:
    """A gradient of two consumers: a kernel of its own widens and sums, then a cast."""
    y = block.op("fan_sum", "GenericOp", (block.tensor(x.shape, F32), x), block.tensor(x.shape, F32), add_us, cores=CORES)  # fmt: skip
    return block.typecast("fan_cast", y, "BFLOAT16", cast_us, cores=CORES)


def moved(block: Block, role: str, x: Tensor, us: float, *, back: bool = False) -> Tensor:
    """Channels first, or last again, by a kernel of its own."""
    shape = [1, *x.shape[2:], x.shape[1]] if back else [1, x.shape[-1], *x.shape[1:3]]
    return block.op(role, "GenericOp", (x,), block.tensor(shape), us, cores=CORES)


def multiplied_back() -> Block:
    """Triangle multiplication, outgoing edges."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x = block.typecast("cast", pairs(block, dtype=F32), "BFLOAT16", 150, cores=CORES)
    x, gate = ungated(block, "gate", x)
    back(block, "gate_back", gate, PAIR, 150)
    x = unnormed(block, "norm_out", back(block, "out_back", x, PAIR, 150))
    x = moved(block, "move", x, 260)
    made: list[Tensor] = []
    for name in "ab":
        other = block.turned(f"{name}_other", block.tensor([1, PAIR, N, N]), 200, cores=CORES)
        y = block.product(f"{name}_matmul", x, other, 220, cores=CORES)
        if name == "a":
            y = block.binary("mask", "MUL", y, block.tensor([1, 1, N, N]), 150, cores=CORES)
        y = moved(block, f"{name}_move", y, 260, back=True)
        made.extend(ungated(block, f"{name}_gate", y))
    y = block.concat("join", made, [1, N, N, 4 * PAIR], 3, 450)
    y = unnormed(block, "norm_in", back(block, "in_back", y, PAIR, 637))
    block.op("widened", "GenericOp", (pairs(block, dtype=F32), y), pairs(block, dtype=F32), 130, cores=CORES)
    fan_in(block, y, 190, 150)
    return block


def multiplied() -> Block:
    """Triangle multiplication forward, with kernels of its own that gate and move."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x = pairs(block)
    normed = block.norm("norm_in", x, 250, cores=CORES, kind="LAYERNORM")
    both = block.minimal("in", normed, 4 * PAIR, 404, fidelity="HiFi4", cores=CORES, bias=True)
    a, b = (block.op(f"gated_{name}", "GenericOp", (both,), block.tensor([1, PAIR, N, N]), 338, cores=CORES) for name in "ab")  # fmt: skip
    a = block.binary("mask", "MUL", a, block.tensor([1, 1, N, N]), 150, cores=CORES)
    y = moved(block, "move", block.product("product", a, b, 260, cores=CORES), 260, back=True)
    y = block.norm("norm_out", y, 250, cores=CORES, kind="LAYERNORM")
    y = block.linear("out", y, PAIR, 190, grid=GRID, bias=True, **EXACT)
    gate = block.linear("gate", normed, PAIR, 190, grid=GRID, bias=True, **EXACT)
    y = block.binary("gated", "MUL", y, gate, 150, cores=CORES, rhs="SIGMOID")
    block.op("sum", "GenericOp", (x, y), pairs(block), 150, cores=CORES)
    return block


def attended_back() -> Block:
    """Triangle attention around the starting node; scores never leave L1 in a kernel of its own."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x = block.typecast("cast", pairs(block, dtype=F32), "BFLOAT16", 150, cores=CORES)
    x, gate = ungated(block, "gate", back(block, "out_back", x, PAIR, 150))
    back(block, "gate_back", gate, PAIR, 150)
    y = block.turned("heads_turn", block.view(x, [N, 1, N, PAIR]), 220, cores=CORES)
    y = block.turned("heads", block.view(y, [N, HEADS, 32, N]), 220, cores=CORES)
    one, many = [N, HEADS, N, 32], [27, HEADS, N, N]
    grads = [block.tensor(one) for _ in range(3)]
    block.op("attention_back", "GenericOp", (y, *(block.tensor(one) for _ in range(3)), block.tensor([1, HEADS, N, N])), (*grads, block.tensor(many, F32)), 2634, cores=108)  # fmt: skip
    y = block.permute("lead_turn", block.tensor(many, F32), (1, 2, 0, 3), 270)
    y = block.op("lead_sum", "Reduce", (y,), block.tensor([HEADS, N, 1, N], F32), 290, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    y = block.permute("lead_back", y, (2, 0, 1, 3), 230)
    y = block.typecast("bias_cast", y, "BFLOAT16", 20, cores=CORES)
    y = block.unary("bias_scale", "MUL_UNARY_SFPU", y, 20, cores=CORES)
    y = block.unary("bias_scale_back", "MUL_UNARY_SFPU", y, 20, cores=CORES)
    y = block.permute("bias_turn", y, (0, 2, 3, 1), 120)
    bias = back(block, "bias_back", y, PAIR, 150)
    joined = [
        block.join_heads(f"join_{name}", grad, 200, cores=CORES) for name, grad in zip("qkv", grads, strict=True)
    ]
    y = back(block, "qkv_back", block.concat("join", joined, [N, 1, N, 3 * PAIR], 3, 340), PAIR, 377)
    both = block.op("widened", "GenericOp", (block.tensor(y.shape, F32), bias), block.tensor(y.shape, F32), 190, cores=CORES)  # fmt: skip
    unnormed(block, "norm", fan_in(block, block.view(both, [1, N, N, PAIR]), 190, 150))
    return block


def transition_back() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x = block.typecast("cast", pairs(block, dtype=F32), "BFLOAT16", 150, cores=CORES)
    x = back(block, "fc2_back", x, 4 * PAIR, 380)
    mask = block.unary("relu_gtz", "GTZ", block.tensor(x.shape), 410, cores=CORES)
    x = block.binary("relu_times", "MUL", x, mask, 590, cores=CORES)
    x = unnormed(block, "norm", block.view(back(block, "fc1_back", x, PAIR, 637), [1, N, N, PAIR]))
    fan_in(block, x, 170, 120)
    return block


def transition(tokens: int, fc1_us: float) -> Callable[[], Block]:
    """Forward: what a change saves is of the first linear alone, the rest by rows."""

    def build() -> Block:
        block, size = Block("blackhole", grid=GRID, gap_us=1.0), (tokens / N) ** 2
        x = pairs(block, tokens=tokens)
        y = block.norm("norm", x, 320 * size, cores=CORES, kind="LAYERNORM")
        y = block.linear("fc1", y, 4 * PAIR, fc1_us, grid=GRID, bias=True, act="RELU", **EXACT)
        y = block.linear("fc2", y, PAIR, 570 * size, grid=GRID, bias=True, **EXACT)
        block.op("sum", "GenericOp", (x, y), block.tensor(x.shape), 160 * size, cores=CORES)
        return block

    return build


def relu_apart() -> Block:
    """The first linear as the gradient recomputes it, ReLU after it, and the way back through ReLU."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    y = block.linear("fc1", pairs(block), 4 * PAIR, 1255, bias=True, **EXACT)
    y = block.unary("relu", "RELU", y, 428, cores=CORES)
    mask = block.unary("back_gtz", "GTZ", y, 420, cores=CORES)
    block.binary("back_times", "MUL", pairs(block, 4 * PAIR), mask, 595, cores=CORES)
    return block


SIZES = ("128x128", "128x384", "384x128", "128x512", "512x128", "128x1024", "1024x128")


def linears(times: Sequence[float], *, minimal: bool = False) -> Callable[[], Block]:
    """Products of pairs as they are, in four dimensions."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        for size, us in zip(SIZES, times, strict=True):
            k, n = (int(one) for one in size.split("x"))
            if minimal:
                block.minimal(f"of_{size}", pairs(block, k), n, us, fidelity="HiFi4", cores=CORES)
            else:
                block.linear(f"of_{size}", pairs(block, k), n, us, **EXACT)
        return block

    return build


def turns(tokens: tuple[int, int, int], us: float, wide_us: float) -> Callable[[], Block]:
    """The swap of a pair tensor's rows and columns: in BFLOAT16 by way of rows, twice, and a gradient's in FLOAT32."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        for number in range(2):
            x = block.tensor(tokens)
            y = block.moved(f"turn{number}_rows", "Untilize", x, 0.3 * us, layout=ROW_MAJOR, cores=CORES)
            y = block.permute(f"turn{number}", y, (1, 0, 2), 0.4 * us)
            block.moved(f"turn{number}_tiles", "Tilize", y, 0.3 * us, layout="TILE", cores=CORES)
        block.permute("wide", block.tensor(tokens, F32), (1, 0, 2), wide_us)
        return block

    return build


def outer() -> Block:
    """The outer product mean of two rows, one after the other: a and the weight, then b, then a sum."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    made: list[Tensor] = []
    for row in range(ROWS):
        a, b = (block.slice(f"row{row}_{name}", block.tensor([ROWS, N, 32]), (row, 0, 0), (row + 1, N, 32), 9) for name in "ab")  # fmt: skip
        y = block.linear(f"row{row}_weight", block.view(a, [1, 1, N, 32]), 32 * PAIR, 60, **EXACT)
        y = block.moved(f"row{row}_rows", "Untilize", y, 45, layout=ROW_MAJOR, cores=CORES)
        y = block.moved(
            f"row{row}_tiles", "Tilize", block.view(y, [1, N, 32, PAIR]), 75, layout="TILE", cores=CORES
        )
        y = block.turned(f"row{row}_turn", y, 120, cores=CORES)
        b = block.turned(f"row{row}_turn_b", block.view(b, [1, 1, N, 32]), 7, cores=9)
        y = block.product(f"row{row}_product", y, b, 130, cores=CORES)
        made.append(block.permute(f"row{row}_last", y, (0, 1, 3, 2), 270))
    y = block.binary("rows_sum", "ADD", made[0], made[1], 156, cores=CORES)
    block.binary("bias", "ADD", y, block.tensor([1, 1, 1, PAIR]), 110, cores=CORES)
    return block


def rows_back() -> Block:
    """Attention of the alignment's rows, with a bias of pairs; scores in FLOAT32."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    scores = [ROWS, 8, N, N]
    x = block.typecast("cast", block.tensor([1, ROWS, N, WIDE], F32), "BFLOAT16", 12, cores=CORES)
    x, gate = ungated(block, "gate", back(block, "out_back", x, WIDE, 20), 75)
    back(block, "gate_back", gate, WIDE, 20)
    y = block.turned("heads_turn", block.view(x, [ROWS, 1, N, WIDE]), 12, cores=CORES)
    y = block.turned("heads", block.view(y, [ROWS, 8, 32, N]), 12, cores=CORES)
    made = block.product("scores_back", y, block.tensor([ROWS, 8, 32, N]), 30, cores=CORES)
    wide = block.typecast("softmax_cast", made, F32, 20, cores=CORES)
    before, row = block.tensor(scores, F32), [ROWS, 8, N, 1]
    y = block.binary("softmax_product", "MUL", wide, before, 28, cores=CORES)
    sums = [block.op(f"softmax_{name}", "Reduce", (one,), block.tensor(row, F32), 22, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM") for name, one in (("inner", y), ("total", before))]  # fmt: skip
    inner = block.binary("softmax_over", "DIV", sums[0], sums[1], 6, cores=CORES)
    y = block.binary("softmax_less", "SUB", wide, inner, 28, cores=CORES)
    wide = block.binary("softmax_times", "MUL", before, y, 28, cores=CORES)
    narrow = block.typecast("softmax_narrow", wide, "BFLOAT16", 18, cores=CORES)
    grads = [
        block.product(f"{name}_back", narrow, block.tensor([ROWS, 8, N, 32]), 28, cores=CORES) for name in "qkv"
    ]
    joined = [
        block.join_heads(f"join_{name}", grad, 10, cores=CORES) for name, grad in zip("qkv", grads, strict=True)
    ]
    y = block.concat("join", joined, [ROWS, 1, N, 3 * WIDE], 3, 12)
    unnormed(block, "norm_rows", block.view(back(block, "qkv_back", y, WIDE, 25), [1, ROWS, N, WIDE]), 300)
    y = block.op("bias_sum", "Reduce", (wide,), block.tensor([1, 8, N, N], F32), 40, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    y = block.permute("bias_turn", block.typecast("bias_cast", y, "BFLOAT16", 12, cores=CORES), (0, 2, 3, 1), 130)
    y = block.view(back(block, "bias_back", y, PAIR, 150), [1, N, N, PAIR])
    fan_in(block, unnormed(block, "norm_pairs", y), 190, 150)
    return block


def gates(
    tokens: int, gated_us: float, gate_us: float, fan: tuple[float, float] | None = None
) -> Callable[[], Block]:
    """The gates of a triangle multiplication on the way back by TTNN's ops: two that move channels, one of the output."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        both = pairs(block, 4 * PAIR, tokens=tokens)
        elements = 0.0476 * gated_us
        for at, name in enumerate("ab"):
            x = block.permute(
                f"{name}_move", block.tensor([1, PAIR, tokens, tokens]), (0, 2, 3, 1), 0.66 * gated_us
            )
            value, g = (block.slice(f"{name}_{part}", both, (0, 0, 0, PAIR * (2 * at + n)), (1, tokens, tokens, PAIR * (2 * at + n + 1)), 0.035 * gated_us) for n, part in enumerate(("value", "gate")))  # fmt: skip
            sigmoid = block.unary(f"{name}_sigmoid", "SIGMOID", g, 0.0395 * gated_us, cores=CORES)
            block.binary(f"{name}_first", "MUL", x, sigmoid, elements, cores=CORES)
            y = block.binary(f"{name}_product", "MUL", x, value, elements, cores=CORES)
            rest = block.unary(f"{name}_rest", "RSUB", sigmoid, 0.04 * gated_us, cores=CORES)
            slope = block.binary(f"{name}_slope", "MUL", sigmoid, rest, elements, cores=CORES)
            block.binary(f"{name}_grad", "MUL", y, slope, elements, cores=CORES)
        first, _ = ungated(block, "out", pairs(block, tokens=tokens), gate_us)
        if fan:
            fan_in(block, first, *fan)
        return block

    return build


KERNELED = r"fus|one (op|kernel)|single (op|kernel)|generic_op|custom kernel|kernel of its own"
UNNORMED = rf"{KERNELED}|layer_?norm"
PRE_TURNED = r"transpose_b|pre.?transpos|transpos\w* (the )?weight|weight.{0,40}transpos"
LESS_EXACT = r"HiFi[23]|LoFi|fidelity|fp32_dest_acc"
ROUND_TRIP = r"ROW_MAJOR|row.major|untilize|to_layout|tilize"
ONE_PRODUCT = r"(one|single|same).{0,60}(matmul|contraction|product)|concat|join|contraction|batch"
NORM_NOTE = "554.7 -> 441.9 ms, back through eight blocks with eight norms of pairs and three of rows each (pairs 1.986 -> 0.315 ms, rows 0.358 -> 0.076 alone)"
MOREH = dead("moreh", "moreh_layer_norm_backward", "norm*", r"moreh_layer_norm|layer_norm_backward", "wrong on Blackhole by a factor of millions, in BFLOAT16", WRONG, faster=True)  # fmt: skip
SPLIT = "how the kernel time of the part is shared among its ops, by what ops took alone; core counts; gaps"
ALONE = "orders and shares of ops within what was timed; core counts; gaps; walls hold what the host adds"


def transition_at(tokens: int, was: float, fused: float, apart: float, passed: float | None = None) -> Layer:
    return laid(
        f"af2-transition-{tokens}", RELU_IN, f"the transition of pairs of {tokens} tokens, forward", transition(tokens, was),
        (
            gain("minimal", "minimal_matmul with ReLU in it for the first linear", was - fused, "fc1", MINIMAL, f"{was / 1e3:.3f} -> {fused / 1e3:.3f} ms"),
            dead("minimal-apart", "minimal_matmul for the first linear, and ReLU after it", "fc1", r"(?s)minimal_matmul(?!.*activation)", f"{was / 1e3:.3f} -> {apart / 1e3:.3f} ms"),
        ),
        f"{ALONE}; the second linear, norm and sum, by rows from 288 tokens",
        passed,
    )  # fmt: skip


ALPHAFOLD2 = (
    laid(
        "af2-multiplication-back", PARTS, "triangle multiplication of outgoing edges, back: 0.487 s of kernels in 48 blocks", multiplied_back,
        (
            gain("norms", "one kernel for the 19 ops of each of two norms", 3326, "norm_*", UNNORMED, NORM_NOTE, NORMS),
            gain("gate", "one kernel for the seven ops of the output's gate", 696, "gate_sigmoid gate_times gate_product gate_again gate_rest gate_slope gate_grad", KERNELED, "1.023 -> 0.327 ms", GATE),
            gain("moved-gates", "one kernel that moves channels back and goes through both gates' sides", None, "a_move a_gate_* b_move b_gate_*", KERNELED, "3.149 -> 0.472 ms for one by TTNN's permute, which this route has replaced", MOVED),
            gain("fan-in", "the sum of a gradient's two sides and its cast in one kernel", 188, "fan_*", KERNELED, "0.420 -> 0.232 ms", FAN_IN),
            dead("pre-turned", "the weight turned once, before", "in_back*", PRE_TURNED, "0.637 -> 0.638 ms, 512 channels to 128", PRODUCTS),
            dead("default", "no compute config: less exact by TTNN's choice", "in_back", LESS_EXACT, "0.637 -> 0.642 ms", PRODUCTS),
            MOREH,
        ),
        SPLIT,
        10_141,
    ),
    laid(
        "af2-multiplication", GATED_IN, "triangle multiplication forward, with kernels that gate and move", multiplied,
        (gain("gated-in", "a kernel that projects, gates and moves, for a matmul and two kernels", 337, "in gated_*", KERNELED, "108.8 -> 103.4 ms, eight blocks of two; an earlier form of the kernel took 131.4 ms"),),
        f"{ALONE}; all but the projection and its two moves (1.081 ms)",
    ),
    laid(
        "af2-attention-back", PARTS, "triangle attention around starting nodes, back: 0.444 s of kernels in 48 blocks", attended_back,
        (
            gain("lead-sum", "one kernel for permute, sum and permute of the bias's gradient", 673, "lead_*", rf"{KERNELED}|permute|fast_reduce", "0.807 -> 0.134 ms", LEAD),
            gain("packed", "gradients of q, k and v written packed, where heads were joined and then the three", 691, "join_? join", rf"{KERNELED}|concat|pack", "10.689 -> 9.999 ms of the attention back", PACKED_QKV),
            gain("gate", "one kernel for the seven ops of the gate", 696, "gate_sigmoid gate_times gate_product gate_again gate_rest gate_slope gate_grad", KERNELED, "1.023 -> 0.327 ms", GATE),
            gain("norm", "one kernel for the norm's 19 ops", 1663, "norm*", UNNORMED, NORM_NOTE, NORMS),
            gain("fan-in", "the sum of a gradient's two sides and its cast in one kernel", 188, "fan_*", KERNELED, "0.420 -> 0.232 ms", FAN_IN),
            dead("pre-turned", "the weight turned once, before", "qkv_back*", PRE_TURNED, "0.377 -> 0.370 ms, 384 channels to 128", PRODUCTS),
            dead("default", "no compute config: less exact by TTNN's choice", "qkv_back", LESS_EXACT, "0.377 -> 0.387 ms", PRODUCTS),
            MOREH,
        ),
        SPLIT,
        9250,
    ),
    laid(
        "af2-transition-back", PARTS, "the transition of pairs, back: 0.206 s of kernels in 48 blocks", transition_back,
        (
            gain("relu", "one multiply that takes the sign of its second input, for relu_bw", 418, "relu_*", rf"{KERNELED}|input_tensor_b_activations|rhs_activations|GTZ|gtz", "1.015 -> 0.598 ms; 319.8 -> 315.8 ms back through eight blocks", RELU),
            gain("norm", "one kernel for the norm's 19 ops", 1663, "norm*", UNNORMED, NORM_NOTE, NORMS),
            gain("fan-in", "the sum of a gradient's two sides and its cast in one kernel", 188, "fan_*", KERNELED, "0.420 -> 0.232 ms", FAN_IN),
            dead("pre-turned", "the weight turned once, before", "fc1_back*", PRE_TURNED, "0.637 -> 0.638 ms, 512 channels to 128", PRODUCTS),
            dead("default", "no compute config: less exact by TTNN's choice", "fc1_back", LESS_EXACT, "0.637 -> 0.642 ms", PRODUCTS),
            MOREH,
        ),
        SPLIT,
        4300,
    ),
    transition_at(256, 541.3, 347.4, 695.4),
    transition_at(288, 640.7, 427.0, 856.4, 1690),
    transition_at(512, 1976.7, 1262.3, 2663.8),
    laid(
        "af2-relu", RELU, "the transition's first linear with ReLU apart, and ReLU's way back", relu_apart,
        (
            dead("relu-in", "ReLU in ttnn.linear, which has no core grid", "fc1 relu", r"activation|relu", "1.6828 -> 1.6832 ms"),
            gain("relu-back", "one multiply that takes the sign of its second input, for relu_bw", 418, "back_*", rf"{KERNELED}|input_tensor_b_activations|rhs_activations|GTZ|gtz", "1.015 -> 0.598 ms"),
        ),
        f"{ALONE}; what ReLU takes of it, from the recompute's kernel time",
        2698,
    ),
    laid(
        "af2-linears", LINEARS, "products of pairs in four dimensions, as TTNN chose", linears((1229.4, 1130.3, 2479.8, 1270.5, 3110.4, 1673.1, 5662.1)),
        (
            gain("square", "minimal_matmul, 128 to 128", 1088, "of_128x128", MINIMAL, "1.229 -> 0.141 ms with the best blocks, 0.257 without"),
            gain("qkv", "minimal_matmul, 128 to 384", 828, "of_128x384", MINIMAL, "1.130 -> 0.302 ms with the best blocks, 0.383 without"),
            gain("qkv-back", "minimal_matmul, 384 to 128", 2178, "of_384x128", MINIMAL, "2.480 -> 0.302 ms with the best blocks, 0.395 without"),
            gain("wider", "minimal_matmul, 128 to 512", 866, "of_128x512", MINIMAL, "1.271 -> 0.404 ms with the best blocks, 0.487 without"),
            gain("narrower", "minimal_matmul, 512 to 128", 2744, "of_512x128", MINIMAL, "3.110 -> 0.367 ms with the best blocks, 0.375 without"),
            gain("widest", "minimal_matmul, 128 to 1024", 911, "of_128x1024", MINIMAL, "1.673 -> 0.762 ms with the best blocks, 0.926 without"),
            gain("narrowest", "minimal_matmul, 1024 to 128", 4976, "of_1024x128", MINIMAL, "5.662 -> 0.686 ms with the best blocks, 0.699 without"),
        ),
        f"that they follow each other; {ALONE}",
        16_556,
    ),
    laid(
        "af2-minimal-linears", LINEARS, "products of pairs by minimal_matmul without a config", linears((256.8, 383.0, 394.8, 486.7, 375.3, 925.7, 698.8), minimal=True),
        (
            gain("square", "blocks of 8, 4, 1 and subblocks of 4 x 1, 128 to 128", 115.5, "of_128x128", MINIMAL_BLOCKS, "0.257 -> 0.141 ms, the best of six"),
            gain("qkv", "blocks of 4, 4, 2 and subblocks of 2 x 2, 128 to 384", 81, "of_128x384", MINIMAL_BLOCKS, "0.383 -> 0.302 ms, the best of six"),
            gain("qkv-back", "blocks of 8, 4, 1 and subblocks of 4 x 1, 384 to 128", 93, "of_384x128", MINIMAL_BLOCKS, "0.395 -> 0.302 ms, the best of six"),
            gain("wider", "blocks of 4, 4, 4 and subblocks of 1 x 4, 128 to 512", 82.5, "of_128x512", MINIMAL_BLOCKS, "0.487 -> 0.404 ms, the best of six"),
            gain("widest", "blocks of 8, 4, 4 and subblocks of 1 x 4, 128 to 1024", 164.1, "of_128x1024", MINIMAL_BLOCKS, "0.926 -> 0.762 ms, the best of six"),
            dead("narrower", "other blocks, 512 to 128", "of_512x128", MINIMAL_BLOCKS, "0.375 -> 0.367 to 0.446 ms, twelve of them: the best within the spread"),
            dead("narrowest", "other blocks, 1024 to 128", "of_1024x128", MINIMAL_BLOCKS, "0.699 -> 0.686 to 0.865 ms, twelve of them: the best within the spread"),
        ),
        f"that they follow each other; {ALONE}",
        3521,
    ),
    laid(
        "af2-turns-288", TURNED, "the swap of pairs before and after ending nodes, and a gradient's", turns((N, N, PAIR), 647.7, 590.8),
        (
            gain("tiles", "a permute of tiles, not by way of rows", 229.7, "turn?*", ROUND_TRIP, "0.648 -> 0.533 ms, one of two"),
            gain("kernel", "a kernel of its own for three ops", 826.6, "turn?*", KERNELED, "0.648 -> 0.234 ms, one of two"),
            gain("wide-kernel", "a kernel of its own in FLOAT32", 264.3, "wide", KERNELED, "0.591 -> 0.326 ms"),
        ),
        ALONE,
        1886,
    ),
    laid(
        "af2-turns-512", TURNED, "the same swaps at 512 tokens", turns((512, 512, PAIR), 1973.9, 2168.0),
        (
            gain("tiles", "a permute of tiles, not by way of rows", 183, "turn?*", ROUND_TRIP, "1.974 -> 1.882 ms, one of two"),
            gain("kernel", "a kernel of its own for three ops", 2696.6, "turn?*", KERNELED, "1.974 -> 0.626 ms, one of two"),
            gain("wide-kernel", "a kernel of its own in FLOAT32", 1138.7, "wide", KERNELED, "2.168 -> 1.029 ms"),
        ),
        ALONE,
        6116,
    ),
    laid(
        "af2-turns-64", TURNED, "the same swaps of 64 x 96 x 64", turns((64, 96, 64), 69.0, 34.4),
        (
            gain("tiles", "a permute of tiles, not by way of rows", 64.8, "turn?*", ROUND_TRIP, "0.069 -> 0.037 ms, one of two"),
            dead("kernel", "a kernel of its own for three ops", "turn?*", KERNELED, "0.069 -> 0.087 ms"),
            dead("wide-kernel", "a kernel of its own in FLOAT32", "wide", KERNELED, "0.034 -> 0.095 ms"),
        ),
        ALONE,
        172,
    ),
    laid(
        "af2-outer-product", OUTER, "the outer product mean of two rows from projections on: 1.716 ms, ten calls in a row", outer,
        (gain("rows-in-one", "both rows along what one product contracts", 581, "row?_* rows_sum", ONE_PRODUCT, "1.716 -> 1.135 ms, and nearer to FLOAT64"),),
        ALONE,
        1716,
    ),
    laid(
        "af2-rows-back", PARTS, "attention of the alignment's rows, back: 0.156 s of kernels in 48 blocks", rows_back,
        (
            gain("norms", "one kernel for the 19 ops of each of two norms", 1944, "norm_*", UNNORMED, NORM_NOTE, ROW_NORMS),
            gain("gate", "one kernel for the seven ops of the gate", 34.8, "gate_sigmoid gate_times gate_product gate_again gate_rest gate_slope gate_grad", KERNELED, "0.093 -> 0.058 ms", GATE),
            dead("softmax", "moreh_softmax_backward for six ops", "softmax_product softmax_inner softmax_total softmax_over softmax_less softmax_times", r"softmax_backward|moreh_softmax", "refused: it takes no FLOAT32", REFUSED),
            MOREH,
        ),
        SPLIT,
        3246,
    ),
    laid(
        "af2-gates-288", MOVED, "the gates of a triangle multiplication back, by TTNN's ops", gates(N, 3149.3, 1010, (230, 180)),
        (
            gain("moved-gates", "a kernel for nine ops of each of two gates", 5355, "a_* b_*", KERNELED, "3.149 -> 0.472 ms each"),
            gain("gate", "a kernel for seven ops of the output's gate", 696, "out_*", KERNELED, "1.023 -> 0.327 ms", GATE),
            gain("fan-in", "the sum of a gradient's two sides and its cast in one kernel", 188, "fan_*", KERNELED, "0.420 -> 0.232 ms", FAN_IN),
        ),
        ALONE,
        7742,
    ),
    laid(
        "af2-gates-512", MOVED, "the same gates at 512 tokens", gates(512, 10_086, 3110, (690, 550)),
        (
            gain("moved-gates", "a kernel for nine ops of each of two gates", 17_470, "a_* b_*", KERNELED, "10.086 -> 1.351 ms each"),
            gain("gate", "a kernel for seven ops of the output's gate", 2237, "out_*", KERNELED, "3.148 -> 0.911 ms", GATE),
            gain("fan-in", "the sum of a gradient's two sides and its cast in one kernel", 567, "fan_*", KERNELED, "1.261 -> 0.695 ms", FAN_IN),
        ),
        ALONE,
        24_581,
    ),
    laid(
        "af2-gates-864", MOVED, "the same gates at 864 tokens", gates(864, 28_313.6, 9150),
        (
            gain("moved-gates", "a kernel for nine ops of each of two gates", 50_671, "a_* b_*", KERNELED, "28.314 -> 2.978 ms each"),
            gain("gate", "a kernel for seven ops of the output's gate", 6654, "out_*", KERNELED, "9.188 -> 2.534 ms", GATE),
        ),
        ALONE,
        65_815,
    ),
)  # fmt: skip
