"""Granite 4.0-H, tiny (7B) and small (32B), on four and eight Wormhole chips: a layer with a state in decode, for one user.

Tiny: 1536 channels, 48 heads of 64 with a state of 128 each, 64 experts of 512, and a shared one. Small: 4096 channels,
128 heads, 72 experts of 768. The chips share the columns of the layer's projections and the experts, of which each
computes all of its own; the rest is on every chip. A thesis tells tokens a second of a traced run with and without two
ops that its author wrote; 36 of 40 layers have a state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

EVALUATION = "https://github.com/quandvucl/granite-4-ttnn/blob/7b1d7a36e376a6382f654cf92d888e8c790e7a46/sections/evaluation.tex"
GRID, CORES, SIZE, STATE, TAPS = (8, 8), 64, 64, 128, 4


@dataclass(frozen=True)
class Model:
    """Of one chip; times in us: of the projections, exchanges, experts, elementwise ops on the state and on the window."""

    chips: int
    hidden: int
    heads: int
    experts: int
    wide: int
    shared: int
    chosen: int
    dtype: str
    us: dict[str, float]


TINY = Model(4, 1536, 48, 16, 512, 512, 6, "BFLOAT16", {
    "in": 85, "out": 60, "exchange": 125, "gate_up": 560, "down": 290, "shared": 60, "state": 14, "window": 4.2,
    "rows": 42, "other": 8,
})  # fmt: skip
SMALL = Model(8, 4096, 128, 9, 768, 1536, 10, "BFLOAT8_B", {
    "in": 210, "out": 150, "exchange": 180, "gate_up": 860, "down": 520, "shared": 260, "state": 34, "window": 9,
    "rows": 100, "other": 14,
})  # fmt: skip


def exchanged(block: Block, model: Model, role: str, x: Tensor, shape: list[int], *, dim: int = 3) -> Tensor:
    return block.op(role, "AllGatherAsync", (x,), block.tensor(shape), model.us["exchange"], cores=4, chunks_per_sync=1, cluster_axis=1, dim=dim, num_buffers_per_channel=2, num_links=1, num_workers_per_link=1, ring_size=model.chips, topology="Topology::Linear")  # fmt: skip


def convolved(block: Block, model: Model, x: Tensor) -> Tensor:
    """The window moves on by copies; products, sums, bias and SILU are ops of their own."""
    us = model.us["window"]
    held = [block.tensor(x.shape) for _ in range(TAPS)]
    for tap in range(TAPS):
        source = x if tap == TAPS - 1 else held[tap + 1]
        block.op(f"window_{tap}_kept", "Copy", (source, held[tap]), held[tap], us, cores=CORES)
    terms = [block.binary(f"window_{tap}_times", "MUL", block.tensor(x.shape), held[tap], us, cores=CORES) for tap in range(TAPS)]  # fmt: skip
    y = terms[0]
    for tap, term in enumerate((*terms[1:], block.tensor(x.shape)), 1):
        y = block.binary(f"window_{tap}_sum", "ADD", y, term, us, cores=CORES)
    return block.unary("window_silu", "SILU", y, us, cores=CORES)


def updated(block: Block, model: Model, added: Tensor, kept: Tensor, chosen: Tensor) -> Tensor:
    """The state's new value, and what is read of it."""
    us, state = model.us["state"], block.tensor(added.shape)
    new = block.op("state_new", "Ternary", (added, kept, state), block.tensor(state.shape), us * 1.3, cores=CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip
    block.op("state_kept", "Copy", (new, state), state, us, cores=CORES)
    read = block.binary("state_read", "MUL", state, chosen, us, cores=CORES)
    return block.op("state_sum", "Reduce", (read,), block.tensor([1, model.heads, SIZE]), us * 1.2, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip


def mixed(block: Block, model: Model, x: Tensor) -> Tensor:
    """The experts of this chip, all of them, and the shared one."""
    us, hidden, wide, count, small = model.us, model.hidden, model.wide, model.experts, model.us["other"]
    total = count * model.chips
    logits = block.linear("router", x, total, small * 2, cores=2, fidelity="HiFi4")
    best = (block.tensor([1, 1, 1, 32]), block.tensor([1, 1, 1, 32], "UINT16"))
    block.op(
        "topk",
        "TopK",
        (logits,),
        best,
        22,
        cores=1,
        fidelity="HiFi4",
        dim=3,
        k=model.chosen,
        largest=True,
        sorted=True,
    )
    scores = block.softmax("scores", best[0], small, cores=1)
    spread = block.op("spread", "Scatter", (logits, best[1], scores), block.tensor([1, 1, 1, total]), 15, cores=1, dim=3)  # fmt: skip
    own = block.slice("own", spread, (0, 0, 0, 0), (1, 1, 1, count), small)
    own = block.moved("own_shaped", "ReshapeView", own, small * 2, shape=[1, count, 1, 1], cores=count)
    rows = block.moved("repeated", "Repeat", x, us["rows"], shape=[1, count, 1, hidden], cores=CORES, repetition_vector=f"Shape([1, {count}, 1, 1])")  # fmt: skip
    made = block.product("gate_up", rows, block.tensor([1, count, hidden, 2 * wide], model.dtype), us["gate_up"], cores=CORES, fidelity="HiFi2")  # fmt: skip
    gate, up = (block.slice(f"cut_{name}", made, (0, 0, 0, n * wide), (1, count, 1, (n + 1) * wide), small) for n, name in enumerate(("gate", "up")))  # fmt: skip
    hot = block.binary(
        "gated", "MUL", block.unary("silu", "SILU", gate, small, cores=CORES), up, small, cores=CORES
    )
    back = block.product("down", hot, block.tensor([1, count, wide, hidden], model.dtype), us["down"], cores=CORES, fidelity="HiFi2")  # fmt: skip
    back = block.binary("scored", "MUL", back, own, us["rows"] * 0.7, cores=CORES)
    part = block.op("local_sum", "Reduce", (back,), block.tensor([1, 1, 1, hidden]), us["rows"] * 0.9, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::C", math_op="ReduceOpMath::SUM")  # fmt: skip
    parts = exchanged(block, model, "experts_gather", part, [1, model.chips, 1, hidden], dim=1)
    routed = block.op("experts_sum", "Reduce", (parts,), block.tensor([1, 1, 1, hidden]), small * 2, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::C", math_op="ReduceOpMath::SUM")  # fmt: skip
    both = block.linear("shared_in", x, 2 * model.shared, us["shared"] * 0.65, cores=32)
    halves = [block.slice(f"shared_cut_{n}", both, (0, 0, 0, n * model.shared), (1, 1, 1, (n + 1) * model.shared), small) for n in range(2)]  # fmt: skip
    hot = block.binary("shared_gated", "MUL", block.unary("shared_silu", "SILU", halves[0], small, cores=16), halves[1], small, cores=16)  # fmt: skip
    shared = block.linear("shared_down", hot, hidden, us["shared"] * 0.35, cores=48)
    return block.binary("both", "ADD", routed, shared, small, cores=CORES)


def recurrent(block: Block, model: Model, y: Tensor, step: Tensor, *, own: bool) -> Tensor:
    """What the heads read of their states, which the new token moves on."""
    us, heads, small = model.us, model.heads, model.us["other"]
    inner, most = heads * SIZE, min(heads, CORES)
    heads_in = block.slice("cut_x", y, (0, 0, 0, 0), (1, 1, inner, 1), small)
    heads_in = block.moved("x_shaped", "ReshapeView", heads_in, us["rows"], shape=[1, heads, SIZE], cores=CORES)
    shared: list[Tensor] = []
    for n, name in enumerate(("b", "c")):
        one = block.slice(f"cut_{name}", y, (0, 0, inner + n * STATE, 0), (1, 1, inner + (n + 1) * STATE, 1), small)
        one = block.moved(f"{name}_shaped", "ReshapeView", one, small * 2, shape=[1, 1, STATE], cores=4)
        shared.append(block.moved(f"{name}_repeated", "Repeat", one, small * 2, shape=[1, heads, STATE], cores=CORES, repetition_vector=f"Shape([1, {heads}, 1])"))  # fmt: skip
    step = block.moved("step_shaped", "ReshapeView", step, small * 2, shape=[1, heads, 1], cores=most)
    step = block.binary("step_bias", "ADD", block.tensor([1, heads, SIZE]), step, small, cores=most)
    step = block.unary("step_soft", "SOFTPLUS", step, small, cores=most, parameter="1, 20")
    step = block.unary("step_clip", "CLAMP_TSS", step, small, cores=most, parameter="0, 1e38")
    spread = block.moved("step_spread", "ReshapeView", step, small * 2, shape=[1, heads, SIZE, 1], cores=CORES)
    kept = block.binary(
        "decay_times", "MUL", block.tensor([1, heads, SIZE, STATE]), spread, us["state"], cores=CORES
    )
    kept = block.unary("decay", "EXP", kept, us["state"] * 0.9, cores=CORES)
    moved = block.binary("x_times", "MUL", heads_in, step, small, cores=CORES)
    moved = block.moved("x_spread", "ReshapeView", moved, us["rows"], shape=[1, heads, SIZE, 1], cores=CORES)
    added = block.op("x_b", "BinaryNg", (moved, shared[0]), block.tensor([1, heads, SIZE, STATE]), us["state"], cores=CORES, fidelity="HiFi4", binary_op_type="BinaryOpType::MUL")  # fmt: skip
    if own:
        held = block.tensor(added.shape)
        outs = (block.tensor(added.shape), block.tensor([1, heads, SIZE, 1]))
        block.op("state", "GenericOp", (added, kept, held, shared[1]), outs, us["state"] * 2.0, cores=CORES, fidelity="HiFi4")  # fmt: skip
        block.op("state_kept", "Copy", (outs[0], held), held, us["state"], cores=CORES)
        out = block.moved("state_shaped", "ReshapeView", outs[1], small, shape=[1, heads, SIZE], cores=CORES)
    else:
        out = updated(block, model, added, kept, shared[1])
    return block.op("passed", "Ternary", (out, block.tensor(out.shape), heads_in), block.tensor(out.shape), small, cores=CORES, fidelity="HiFi4", ternary_op_type="TernaryOpType::ADDCMUL")  # fmt: skip


def layer(model: Model, *, conv: bool = False, state: bool = False) -> Callable[[], Block]:
    """`conv`: the own op for the window; `state`: the own op for the state."""

    def build() -> Block:
        block = Block("wormhole_b0", devices=model.chips, grid=GRID, gap_us=1.0)
        us, hidden, heads, small = model.us, model.hidden, model.heads, model.us["other"]
        inner, window = heads * SIZE, heads * SIZE + 2 * STATE
        projected = 2 * inner + 2 * STATE + heads
        x = block.tensor([1, 1, 1, hidden])
        normed = block.norm("norm", x, 14 if hidden < 2000 else 33, cores=1)
        part = block.linear("in", normed, 32 * -(-projected // model.chips // 32), us["in"], cores=56)
        whole = exchanged(block, model, "in_gather", part, [1, 1, 1, projected])
        gate = block.slice("cut_gate", whole, (0, 0, 0, 0), (1, 1, 1, inner), small)
        turned = block.slice("cut_window", whole, (0, 0, 0, inner), (1, 1, 1, inner + window), small)
        step = block.slice("cut_step", whole, (0, 0, 0, inner + window), (1, 1, 1, projected), small)
        turned = block.moved(
            "window_shaped", "ReshapeView", turned, us["rows"], shape=[1, 1, window, 1], cores=CORES
        )
        if conv:
            kept = block.tensor([1, TAPS, window, 1])
            outs = (block.tensor(kept.shape), block.tensor([1, 1, window, 1]))
            block.op("window", "GenericOp", (turned, kept, block.tensor(kept.shape)), outs, 7 * us["window"] - (3.5 if hidden < 2000 else 19), cores=CORES, fidelity="HiFi4")  # fmt: skip
            block.op("window_kept", "Copy", (outs[0], kept), kept, 2 * us["window"], cores=CORES)
            y = outs[1]
        else:
            y = convolved(block, model, turned)
        out = recurrent(block, model, y, step, own=state)
        out = block.moved("joined", "ReshapeView", out, us["rows"], shape=[1, 1, 1, inner], cores=CORES)
        out = block.binary("out_gated", "MUL", out, block.unary("gate_silu", "SILU", gate, small, cores=CORES), small, cores=CORES)  # fmt: skip
        out = block.norm("norm_out", out, 22 if hidden < 2000 else 58, cores=1)
        out = block.linear("out", out, hidden // model.chips, us["out"], cores=16)
        out = exchanged(block, model, "out_gather", out, [1, 1, 1, hidden])
        x = block.binary("added", "ADD", x, block.unary("out_scaled", "MUL_UNARY_SFPU", out, small, cores=CORES, parameter="0.22"), small, cores=CORES)  # fmt: skip
        out = mixed(block, model, block.norm("norm_feed", x, 14 if hidden < 2000 else 33, cores=1))
        out = block.unary("feed_scaled", "MUL_UNARY_SFPU", out, small, cores=CORES, parameter="0.22")
        block.binary("added_feed", "ADD", x, out, small, cores=CORES)
        return block

    return build


CONV = r"conv|fus|one (op|kernel)|custom|own kernel"
SCAN = r"fus|one (op|kernel)|custom|own kernel"
CONV_OP = "an own op for the moving window, its products and sums, bias and SILU"
STATE_OP = "an own op for the state's new value and what is read of it"
WINDOW = "window_?_* window_silu"
MADE_UP = "times of all ops, so that a layer takes about its share of a token; their core counts; routing; gaps"
GRANITE = (
    laid(
        "granite-tiny", EVALUATION, "tiny on four chips: 10.52 tokens a second", layer(TINY),
        (
            gain("conv", CONV_OP, 19.9, WINDOW, CONV, "10.52 -> 10.60 tokens a second over 36 layers"),
            gain("state", STATE_OP, 10.0, "state_*", SCAN, "10.52 -> 10.56 tokens a second over 36 layers"),
        ),
        MADE_UP,
    ),
    laid(
        "granite-tiny-conv", EVALUATION, "tiny with the window's own op: 10.60 tokens a second", layer(TINY, conv=True),
        (gain("state", STATE_OP, 17.2, "state_*", SCAN, "10.60 -> 10.67 tokens a second over 36 layers"),),
        MADE_UP,
    ),
    laid(
        "granite-tiny-state", EVALUATION, "tiny with the state's own op: 10.56 tokens a second", layer(TINY, state=True),
        (gain("conv", CONV_OP, 27.1, WINDOW, CONV, "10.56 -> 10.67 tokens a second over 36 layers"),),
        MADE_UP,
    ),
    laid(
        "granite-small", EVALUATION, "small on eight chips: 5.75 tokens a second", layer(SMALL),
        (
            gain("conv", CONV_OP, 58.1, WINDOW, CONV, "5.75 -> 5.82 tokens a second over 36 layers"),
            dead("state", STATE_OP, "state_*", SCAN, "5.75 -> 5.75 tokens a second"),
        ),
        MADE_UP,
    ),
    laid(
        "granite-small-conv", EVALUATION, "small with the window's own op: 5.82 tokens a second", layer(SMALL, conv=True),
        (gain("state", STATE_OP, 32.6, "state_*", SCAN, "5.82 -> 5.86 tokens a second over 36 layers"),),
        MADE_UP,
    ),
    laid(
        "granite-small-state", EVALUATION, "small with the state's own op: 5.75 tokens a second", layer(SMALL, state=True),
        (gain("conv", CONV_OP, 90.7, WINDOW, CONV, "5.75 -> 5.86 tokens a second over 36 layers"),),
        MADE_UP,
    ),
)  # fmt: skip
