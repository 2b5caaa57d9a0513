"""Kev 9B (a decider over Qwen3.5 9B) on one Blackhole chip: prefill of its layers of gated delta attention, and of attention.

Hidden 4096, a feed-forward of 12288; three of four layers have 16 heads of keys and 32 of values of 128 with a state,
the fourth 16 gated heads of 256. Five lengths from 128 to 2048 tokens, replayed from a trace. The log tells kernel
times of kinds of ops over four layers, and each projection's time in a sweep: what TTNN chose, and the fastest of
2D configs and minimal_matmul that keeps its numbers. Of a feed-forward in BFLOAT8_B a second sweep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import A_2D, CONFIG, HIFI2, MINIMAL, TWO_D

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Told
    from tests.profiles import Placement, Tensor

HOME = "https://github.com/housTT/tt-metal/blob/0591d95619614b98bffcdc268ca18e50eda83585/models/autoports/jaredpalmer_kev_9b/doc"
LOG, README, FORMATS = (
    f"{HOME}/optimized/work_log.md",
    f"{HOME}/optimized/README.md",
    f"{HOME}/datatype_sweep/README.md",
)
GRID, CORES = (11, 10), 110
HIDDEN, WIDE, SIZE, HEADS, KEYS = 4096, 12288, 128, 32, 16
QKV, VALUES = 2 * KEYS * SIZE + HEADS * SIZE, HEADS * SIZE
PROJECTED = QKV + VALUES + 2 * HEADS
FP32, BFP8, BFP4 = "FLOAT32", "BFLOAT8_B", "BFLOAT4_B"

# Of each length, in ms: gate or up, down, the delta layer's projection in, queries with their gate, the output's.
DEFAULT = {
    128: (0.230, 0.340, 0.229, 0.179, 0.152), 256: (0.400, 0.552, 0.405, 0.314, 0.220),
    512: (0.744, 5.4, 0.750, 0.569, 2.404), 1024: (1.431, 2.670, 1.451, 1.789, 0.944),
    2048: (6.751, 4.563, 4.919, 3.089, 1.636),
}  # fmt: skip
FEED8 = {128: (0.232, 0.339), 256: (0.405, 0.551), 512: (0.752, 1.365), 1024: (1.479, 2.700), 2048: (6.867, 4.556)}


def part(us: float, tokens: int, least: float = 3) -> float:
    """What takes `us` at 2048 tokens."""
    return max(us * tokens / 2048, least)


def linear(block: Block, role: str, x: Tensor, n: int, ms: float, *, dtype: str = BFP8, act: str | None = None, place: Placement = DRAM) -> Tensor:  # fmt: skip
    return block.linear(role, x, n, 1e3 * ms, dtype=dtype, fidelity="LoFi", fp32=True, cores=CORES, act=act, place=place)  # fmt: skip


def fed(block: Block, x: Tensor, gate_ms: float, down_ms: float, *, dtype: str, place: Placement = DRAM) -> None:
    tokens = x.shape[-2]
    normed = block.norm("norm_feed", x, part(330, tokens, 12), cores=min(tokens // 32, CORES))
    gate = linear(block, "gate", normed, WIDE, gate_ms, dtype=dtype, act="SILU")
    up = linear(block, "up", normed, WIDE, gate_ms, dtype=dtype)
    hidden = block.binary("gated", "MUL", gate, up, part(380, tokens), cores=CORES)
    down = linear(block, "down", hidden, HIDDEN, down_ms, place=place)
    block.binary("added_feed", "ADD", x, down, part(125, tokens), cores=CORES)


def flat(block: Block, role: str, x: Tensor, us: float, *, rows: bool) -> Tensor:
    name = "UntilizeWithUnpadding" if rows else "TilizeWithValPadding"
    return block.moved(
        role, name, x, us, layout=ROW_MAJOR if rows else "TILE", cores=CORES, fidelity="HiFi4", use_multicore=True
    )


def convolved(block: Block, qkv: Tensor) -> Tensor:
    """Four taps, each over rows that are cut out of the input with what came before it."""
    tokens, each = qkv.shape[-2], part(165, qkv.shape[-2], 14)
    y = block.concat("with_carry", (block.tensor([1, 1, 3, QKV]), qkv), [1, 1, tokens + 3, QKV], 2, each)
    parts: list[Tensor] = []
    for tap in range(3):
        rows = flat(block, f"tap{tap}_rows", y, each, rows=True)
        cut = block.slice(f"tap{tap}_cut", rows, (0, 0, tap, 0), (1, 1, tap + tokens, QKV), each)
        parts.append(flat(block, f"tap{tap}_tiles", cut, each, rows=False))
    y = block.binary("tap0_times", "MUL", parts[0], block.tensor([1, 1, 1, QKV]), each, cores=CORES)
    for tap, one in enumerate((*parts[1:], qkv), 1):
        y = block.op(f"tap{tap}_sum", "Ternary", (y, one, block.tensor([1, 1, 1, QKV])), block.tensor(y.shape), part(245, tokens), cores=CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
    return block.unary("silu", "SILU", y, each, cores=CORES)


def delta(tokens: int) -> Callable[[], Block]:
    """A layer with a state: 30 fp32 ops stand for some 70 around its own one."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        gate_ms, down_ms, in_ms, _, _ = DEFAULT[tokens]
        x = block.tensor([1, 1, tokens, HIDDEN])
        normed = block.norm("norm", x, part(330, tokens, 12), cores=min(tokens // 32, CORES))
        whole = linear(block, "in", normed, PROJECTED, in_ms)
        qkv = block.slice("cut_qkv", whole, (0, 0, 0, 0), (1, 1, tokens, QKV), part(165, tokens))
        z = block.slice("cut_z", whole, (0, 0, 0, QKV), (1, 1, tokens, QKV + VALUES), part(80, tokens))
        rest = block.slice("cut_rest", whole, (0, 0, 0, QKV + VALUES), (1, 1, tokens, PROJECTED), part(12, tokens))
        y = convolved(block, qkv)
        chunk, count = [HEADS, tokens // SIZE, SIZE, SIZE], HEADS * tokens // SIZE
        heads: list[Tensor] = []
        for name, start, own in (("q", 0, KEYS), ("k", KEYS, KEYS), ("v", 2 * KEYS, HEADS)):
            cut = block.slice(f"cut_{name}", y, (0, 0, 0, start * SIZE), (1, 1, tokens, (start + own) * SIZE), part(45 * own / KEYS, tokens))  # fmt: skip
            one = block.moved(f"heads_{name}", "ReshapeView", cut, part(1600 if own == KEYS else 2000, tokens, 20), shape=[1, tokens, own, SIZE], cores=CORES)  # fmt: skip
            if name != "v":
                one = block.norm(f"pre_norm_{name}", one, part(290, tokens, 12), cores=CORES)
                one = block.moved(f"pre_repeated_{name}", "Repeat", one, part(120, tokens), shape=[1, tokens, HEADS, SIZE], cores=CORES, repetition_vector="Shape([1, 1, 2, 1])")  # fmt: skip
            one = block.turned(f"pre_turned_{name}", one, part(380, tokens, 30), dims="CH", cores=CORES)
            heads.append(block.view(block.typecast(f"pre_wide_{name}", one, FP32, part(130, tokens), cores=CORES), chunk))  # fmt: skip
        beta = block.unary("beta", "SIGMOID", rest, part(8, tokens), cores=min(tokens // 16, CORES))
        square = heads[0]
        for turn in range(4):
            square = block.view(block.product(f"pre_product_{turn}", block.view(square, [1, count, SIZE, SIZE]), block.view(heads[1], [1, count, SIZE, SIZE]), part(240, tokens, 0) + 35, cores=CORES), chunk)  # fmt: skip
        for turn in range(30):
            square = block.binary(f"pre_fp32_{turn}", "MUL" if turn % 2 else "SUB", square, heads[turn % 3], part(240, tokens, 0) + 10, cores=CORES)  # fmt: skip
        state = block.tensor([HEADS, SIZE, SIZE], FP32)
        out = block.op("delta", "GatedDeltaAttnSeq", (*heads, square, beta, state), (block.tensor([1, HEADS, tokens, SIZE], FP32), state), part(970, tokens, 60), cores=HEADS, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
        out = block.turned("pre_turned_out", out, part(380, tokens, 30), dims="CH", cores=CORES)
        gate = block.moved("heads_z", "ReshapeView", z, part(2000, tokens, 20), shape=[1, tokens, HEADS, SIZE], cores=CORES)  # fmt: skip
        out = block.norm("norm_heads", out, part(330, tokens, 12), cores=CORES)
        out = block.binary("gated_heads", "MUL", out, gate, part(205, tokens), cores=CORES, rhs="SILU", out=FP32)
        out = block.moved("heads_out", "ReshapeView", out, part(2200, tokens, 20), shape=[1, 1, tokens, VALUES], cores=CORES)  # fmt: skip
        out = linear(block, "out", out, HIDDEN, max(1.63 * tokens / 2048, 0.11))
        x = block.binary("added", "ADD", x, out, part(125, tokens), cores=CORES)
        fed(block, x, gate_ms, down_ms, dtype=BFP4, place=L1 if tokens == 512 else DRAM)
        return block

    return build


def attention(tokens: int) -> Callable[[], Block]:
    """The attention of a fourth layer, without its feed-forward, which is that of the others."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        x = block.tensor([1, 1, tokens, HIDDEN])
        normed = block.norm("norm", x, part(330, tokens, 12), cores=min(tokens // 32, CORES))
        both = linear(block, "q_gate", normed, 8192, DEFAULT[tokens][3])
        k, v = (linear(block, name, normed, 1024, max(0.4 * tokens / 2048, 0.05)) for name in "kv")
        q = block.slice("cut_q", both, (0, 0, 0, 0), (1, 1, tokens, HIDDEN), part(80, tokens))
        gate = block.slice("cut_gate", both, (0, 0, 0, HIDDEN), (1, 1, tokens, 2 * HIDDEN), part(80, tokens))
        heads: dict[str, Tensor] = {}
        for name, one, count in (("q", q, 16), ("k", k, 4), ("v", v, 4)):
            own = block.moved(f"heads_{name}", "ReshapeView", one, part(1500 if count > 4 else 700, tokens, 20), shape=[1, tokens, count, 256], cores=CORES)  # fmt: skip
            if name != "v":
                own = block.norm(f"norm_{name}", own, part(290, tokens, 12), cores=CORES)
            own = block.turned(f"turned_{name}", own, part(190, tokens, 8), dims="CH", cores=CORES)
            if name != "v":
                own = block.rotary(f"rotary_{name}", own, part(110 if count > 4 else 35, tokens, 6), decode=False, cores=CORES)  # fmt: skip
            heads[name] = own
        out = block.attend("attend", heads["q"], heads["k"], heads["v"], part(1200, tokens, 500 if tokens == 128 else 1090), config=None, cores=CORES, fp32=True)  # fmt: skip
        out = block.join_heads("joined", out, part(90, tokens), cores=CORES)
        out = block.binary("gated", "MUL", out, gate, part(125, tokens), cores=CORES, rhs="SIGMOID")
        out = linear(block, "out", out, HIDDEN, DEFAULT[tokens][4], place=L1 if tokens == 512 else DRAM)
        block.binary("added", "ADD", x, out, part(125, tokens), cores=CORES)
        return block

    return build


def feed8(tokens: int) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        fed(block, block.tensor([1, 1, tokens, HIDDEN]), *FEED8[tokens], dtype=BFP8)
        return block

    return build


EITHER = rf"{MINIMAL}|{TWO_D}|{CONFIG}"
OWN_OP = r"chunk_gated_delta_rule|fus|one (op|kernel)|custom|own kernel"
FP32_SUMS = r"fp32_dest_acc_en|(without|no|16.bit).{0,30}fp32|fp32.{0,20}accumul"
SPILLED = r"DRAM_MEMORY_CONFIG|(in|to|into) DRAM|DRAM.{0,12}interleaved"
ALONE = "in a sweep of the matmul alone"
MADE_UP = "kinds of the small ops around the layer's own one, of which there are more, and how kinds of ops share their sums; core counts; gaps"
FED_MADE_UP = "times of the norm and of elementwise ops; core counts; gaps"


def tuned(tokens: int, role: str, kind: str, ms: tuple[float, float], more: str = "", *, times: int = 1) -> Told:
    """A projection's gain by the fastest of the sweep."""
    what, roles = {
        "gate": ("gate and up", "gate up"), "down": ("down", "down"), "in": ("the projection in", "in"),
        "q_gate": ("queries and their gate", "q_gate"), "out": ("the output's projection", "out"),
    }[role]  # fmt: skip
    by, names = ("minimal_matmul", MINIMAL) if kind == "minimal" else (f"a 2D config ({kind})", A_2D)
    return gain(f"{role}-{tokens}", f"{by} for {what}", round(1e3 * times * (ms[0] - ms[1]), 1), roles, names, f"{ms[0]:.3f} -> {ms[1]:.3f} ms {'each ' if times > 1 else ''}{ALONE}{more}")  # fmt: skip


SILU_APART = "; gate's SILU then is an op of its own, whose time is not taken off"
ELEVEN, EIGHT = "11 x 10 cores, in0_block_w 16", "11 x 8 cores, in0_block_w 16"
KEV = (
    laid(
        "kev-delta-2048", LOG, "a layer with a state, 2048 tokens: four layers take 188.2 ms of kernels", delta(2048),
        (
            tuned(2048, "gate", "minimal", (6.751, 1.013), SILU_APART, times=2),
            tuned(2048, "down", ELEVEN, (4.563, 0.799), "; an older 2D config 1.560"),
            tuned(2048, "in", "minimal", (4.919, 0.999)),
            gain("fused", "the ops around the layer's own one and it in one, on queries and keys that are normed before", 8_300, "pre_* delta", OWN_OP, "12.3 -> 4.0 ms of a call with the same values to 0.998; without the norm 189 -> 163 ms of four layers, and wrong values", README),
            dead("gate-2d", "the older 2D config, in0_block_w 4, for gate and up", "gate up", TWO_D, "refused: more than L1 holds"),
            dead("in-2d", "the older 2D config, in0_block_w 4, for the projection in", "in", TWO_D, "refused: more than L1 holds"),
            dead("sums", "no fp32 sums", "gate up down in", FP32_SUMS, "1.3 to 3.7 times faster over all lengths, and not taken: PCC 0.9963 to 0.9998", faster=True),
        ),
        MADE_UP,
    ),
    laid(
        "kev-delta-1024", LOG, "a layer with a state, 1024 tokens: four layers take 80.2 ms of kernels", delta(1024),
        (
            tuned(1024, "gate", "minimal", (1.431, 0.510), SILU_APART, times=2),
            tuned(1024, "down", EIGHT, (2.670, 0.465), "; an older 2D config 0.914"),
            tuned(1024, "in", "minimal", (1.451, 0.534), "; an older 2D config 0.938"),
        ),
        MADE_UP,
    ),
    laid(
        "kev-delta-512", LOG, "a layer with a state, 512 tokens: four layers take 58.1 ms of kernels", delta(512),
        (
            gain("spilled", "down writes to DRAM, not to L1", 4_000, "down", SPILLED, "5.4 ms in the profile, 7.090 in the sweep, and 1.402 to DRAM"),
            gain("down", f"a 2D config ({EIGHT}) for down, to DRAM", 5_106, "down", A_2D, f"5.4 ms in the profile and 0.294 {ALONE}; an older 2D config 0.483"),
            tuned(512, "gate", "11 x 10 cores, in0_block_w 16, 35 tiles of columns a core", (0.744, 0.309), SILU_APART, times=2),
            tuned(512, "in", "minimal", (0.750, 0.357), "; an older 2D config 0.502"),
        ),
        MADE_UP,
    ),
    laid(
        "kev-delta-256", LOG, "a layer with a state, 256 tokens: four layers take 20.2 ms of kernels", delta(256),
        (
            tuned(256, "gate", "11 x 10 cores, in0_block_w 16, 35 tiles of columns a core", (0.400, 0.243), SILU_APART, times=2),
            tuned(256, "down", ELEVEN, (0.552, 0.280), "; an older 2D config 0.311"),
            tuned(256, "in", "11 x 8 cores, in0_block_w 8", (0.405, 0.280), "; an older 2D config 0.301"),
            gain("fused", "the ops around the layer's own one and it in one, on queries and keys that are normed before", None, "pre_* delta", OWN_OP, "3.8 -> 1.1 ms of a call from the host, so no figure for the device", README),
        ),
        MADE_UP,
    ),
    laid(
        "kev-delta-128", LOG, "a layer with a state, 128 tokens: four layers take 13.5 ms", delta(128),
        (
            tuned(128, "down", ELEVEN, (0.340, 0.270), "; an older 2D config 0.310"),
            dead("gate", "2D configs and minimal_matmul for gate and up", "gate up", EITHER, f"slower than 0.230 ms {ALONE}"),
            dead("in", "2D configs and minimal_matmul for the projection in", "in", EITHER, f"slower than 0.229 ms {ALONE}"),
            dead("fused", "the ops around the layer's own one and it in one", "pre_* delta", OWN_OP, "13.5 -> 10.0 ms of four layers, and refused: it skipped a norm, so wrong values", faster=True),
        ),
        MADE_UP,
    ),
    laid(
        "kev-attention-2048", LOG, "the attention of a fourth layer, 2048 tokens", attention(2048),
        (
            tuned(2048, "q_gate", "minimal", (3.089, 0.662), "; an older 2D config 1.113"),
            tuned(2048, "out", ELEVEN, (1.636, 0.324), "; an older 2D config 0.579"),
        ),
        MADE_UP,
    ),
    laid(
        "kev-attention-1024", LOG, "the attention of a fourth layer, 1024 tokens", attention(1024),
        (
            tuned(1024, "q_gate", "minimal", (1.789, 0.341), "; an older 2D config 0.648"),
            tuned(1024, "out", ELEVEN, (0.944, 0.201), "; an older 2D config 0.350"),
        ),
        MADE_UP,
    ),
    laid(
        "kev-attention-512", LOG, "the attention of a fourth layer, 512 tokens", attention(512),
        (
            tuned(512, "q_gate", ELEVEN, (0.569, 0.227), "; an older 2D config 0.355"),
            gain("spilled", "the output's projection writes to DRAM, not to L1", 1_909, "out", SPILLED, f"2.404 -> 0.495 ms {ALONE}"),
            tuned(512, "out", f"{EIGHT}, to DRAM", (2.404, 0.135), "; an older 2D config 0.200"),
        ),
        MADE_UP,
    ),
    laid(
        "kev-attention-256", LOG, "the attention of a fourth layer, 256 tokens", attention(256),
        (
            tuned(256, "q_gate", ELEVEN, (0.314, 0.204), "; an older 2D config 0.219"),
            tuned(256, "out", EIGHT, (0.220, 0.129), "; an older 2D config 0.140"),
        ),
        MADE_UP,
    ),
    laid(
        "kev-attention-128", LOG, "the attention of a fourth layer, 128 tokens", attention(128),
        (
            tuned(128, "out", ELEVEN, (0.152, 0.120), "; an older 2D config 0.132"),
            dead("q-gate", "2D configs and minimal_matmul for queries and their gate", "q_gate", EITHER, f"slower than 0.179 ms {ALONE}"),
        ),
        MADE_UP,
    ),
    laid(
        "kev-feed8-2048", LOG, "a feed-forward all in BFLOAT8_B, 2048 tokens", feed8(2048),
        (
            tuned(2048, "gate", "minimal", (6.867, 1.041), SILU_APART, times=2),
            tuned(2048, "down", ELEVEN, (4.556, 0.795)),
            dead("hifi2", "HiFi2 for all projections", "gate up down", HIFI2, "0.579 -> 0.598 s of a prompt, and no more accurate", FORMATS),
            dead("bf16", "BFLOAT16 weights and HiFi2", "gate up down", r"BFLOAT16|bfloat16|bf16", "1519.8 -> 1563.7 ms of 32 layers", FORMATS),
        ),
        FED_MADE_UP,
    ),
    laid(
        "kev-feed8-1024", LOG, "a feed-forward all in BFLOAT8_B, 1024 tokens", feed8(1024),
        (tuned(1024, "gate", "minimal", (1.479, 0.529), SILU_APART, times=2), tuned(1024, "down", ELEVEN, (2.700, 0.471))),
        FED_MADE_UP,
    ),
    laid(
        "kev-feed8-512", LOG, "a feed-forward all in BFLOAT8_B, 512 tokens", feed8(512),
        (
            tuned(512, "gate", "minimal", (0.752, 0.365), SILU_APART, times=2),
            tuned(512, "down", ELEVEN, (1.365, 0.288)),
            dead("wide-blocks", "the 2D config of BFLOAT4_B weights, in0_block_w 16 and 35 tiles of columns a core, for gate and up", "gate up", r"in0_block_w\D{0,6}16\b|per_core_N\D{0,6}35\b", "refused: more than L1 holds"),
        ),
        FED_MADE_UP,
    ),
    laid(
        "kev-feed8-256", LOG, "a feed-forward all in BFLOAT8_B, 256 tokens", feed8(256),
        (
            tuned(256, "gate", "11 x 8 cores, in0_block_w 8, 35 tiles of columns a core", (0.405, 0.284), SILU_APART, times=2),
            tuned(256, "down", EIGHT, (0.551, 0.285)),
            dead("wide-blocks", "the 2D config of BFLOAT4_B weights, in0_block_w 16 and 35 tiles of columns a core, for gate and up", "gate up", r"in0_block_w\D{0,6}16\b", "refused: more than L1 holds"),
        ),
        FED_MADE_UP,
    ),
    laid(
        "kev-feed8-128", LOG, "a feed-forward all in BFLOAT8_B, 128 tokens", feed8(128),
        (
            tuned(128, "down", ELEVEN, (0.339, 0.267)),
            dead("gate", "2D configs and minimal_matmul for gate and up", "gate up", EITHER, f"none beats 0.232 ms by 3 % {ALONE}"),
        ),
        FED_MADE_UP,
    ),
)  # fmt: skip
