"""ESMC (it embeds proteins) on one Blackhole chip (P150), three sizes of it: one layer, called op by op without a trace.

BFLOAT16 in DRAM, HiFi4 with sums in FLOAT32, no configs. The host is slower than the chip with the two small ones. The scouts
tell whole forward passes before and after; a layer takes its share of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Layer
    from tests.profiles import Tensor

HOME = "https://github.com/moritztng/tt-bio/blob"
TURNED = f"{HOME}/9d955e1b4345e7d615ae9758975273404b9aab91/docs/esmc-attention-kernel-scout.md"
GATED = f"{HOME}/aac45329bf0f07a114b2cfbb70a2c101c8b683a8/docs/esmc-swiglu-fusion-scout.md"
GRID, CORES, SIZE = (11, 10), 110, 64


@dataclass(frozen=True)
class Net:
    name: str
    layers: int
    hidden: int
    wide: int

    @property
    def heads(self) -> int:
        return self.hidden // SIZE


SMALL, MIDDLE, LARGE = Net("300m", 30, 960, 2560), Net("600m", 36, 1152, 3072), Net("6b", 80, 2560, 6912)


def _simple(*shapes: Tensor) -> float:
    return 2.5 + sum(2 * prod(one.padded) for one in shapes) / 250e3


def _turned(block: Block, name: str, x: Tensor, table: Tensor) -> Tensor:
    """Seven ops: two halves, one negated, put together, two products, a sum."""
    half = [*x.shape[:-1], SIZE // 2]
    one, two = (block.slice(f"rope_{name}_half{n}", x, [0, 0, 0, 32 * n], [*half[:-1], 32 * (n + 1)], _simple(x)) for n in range(2))  # fmt: skip
    whole = block.concat(f"rope_{name}_both", (block.unary(f"rope_{name}_minus", "NEG", two, _simple(two, two), cores=CORES), one), x.shape, 3, _simple(x, x))  # fmt: skip
    products = [block.binary(f"rope_{name}_{which}", "MUL", given, table, _simple(x, x), cores=CORES) for which, given in (("cos", x), ("sin", whole))]  # fmt: skip
    return block.binary(f"rope_{name}_sum", "ADD", *products, _simple(x, x, x), cores=CORES)


def layer(net: Net, words: int, layer_us: float, *, fused: bool) -> Callable[[], Block]:
    """`layer_us`: wall time; what the kernels do not take, the host takes between them."""

    def made(gap_us: float) -> Block:
        block = Block("blackhole", grid=GRID, gap_us=gap_us)
        hidden, rows = net.hidden, 32 * -(-words // 32)

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            us = 4 + max(2 * x.shape[-1] * n / 260e3, 2 * rows * x.shape[-1] * n / 110e6)
            return block.linear(role, x, n, us, cores=CORES, fidelity="HiFi4", fp32=True)

        def norm(role: str, x: Tensor) -> Tensor:
            return block.norm(role, x, 9 + 1.5 * _simple(x, x), cores=min(CORES, rows // 32), kind="LAYERNORM")

        x = block.tensor([1, 1, rows, hidden])
        qkv = linear("qkv", norm("norm", x), 3 * hidden)
        q, k, v = (block.slice(f"part{n}", qkv, [0, 0, 0, n * hidden], [1, 1, rows, (n + 1) * hidden], _simple(x, x)) for n in range(3))  # fmt: skip
        whole = block.concat("packed", (norm("q_norm", q), norm("k_norm", k), v), qkv.shape, 3, _simple(qkv, qkv))
        q, k, v = block.split_heads("heads", whole, 3 + _simple(qkv, qkv), heads=net.heads, kv=net.heads, size=SIZE, rows=rows, cores=min(CORES, rows // 32))  # fmt: skip
        table = block.tensor([1, 1, rows, SIZE])
        if fused:
            q, k = (block.op(f"rope_{name}", "RotaryEmbedding", (one, table, table), block.tensor(one.shape), 4 + _simple(one, one), cores=CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), output_mem_config=one.placement, seq_len=rows, token_idx=None) for name, one in (("q", q), ("k", k)))  # fmt: skip
        else:
            q, k = (_turned(block, name, one, table) for name, one in (("q", q), ("k", k)))
        us = 10 + 4 * rows * rows * hidden / 45e6
        y = block.attend("sdpa", q, k, v, us, config=None, cores=CORES, causal=False, fidelity="HiFi4", fp32=True)
        y = linear("out", block.join_heads("joined", y, 3 + _simple(x, x), cores=min(CORES, rows // 32)), hidden)
        x = block.binary("sum", "ADD", x, y, _simple(x, x, x), cores=CORES)
        wide = linear("up", norm("feed_norm", x), 2 * net.wide)
        gate, up = (block.slice(f"up_part{n}", wide, [0, 0, 0, n * net.wide], [1, 1, rows, (n + 1) * net.wide], _simple(wide)) for n in range(2))  # fmt: skip
        act = block.binary("act", "MUL", gate, up, _simple(gate, gate, up), cores=CORES, lhs="SILU")
        block.binary("feed_sum", "ADD", x, linear("down", act, hidden), _simple(x, x, x), cores=CORES)
        return block

    def build() -> Block:
        ops = made(1.0).program.device_ops
        return made(max(1.0, (layer_us - sum(op.kernel_ns for op in ops) / 1e3) / len(ops)))

    return build


MADE_UP = "all kernels' times, from their bytes and multiplications; gaps are the rest of the wall time"
ROTARY = r"rotary_embedding"


def turned(net: Net, words: int, before: float, after: float) -> Layer:
    told = f"{before} -> {after} ms of {net.layers} layers, wall time without a trace: dispatches, mostly"
    return laid(
        f"esmc-{net.name}-{words}", TURNED, f"{words} residues with rotations of seven ops: {before} ms", layer(net, words, 1e3 * before / net.layers, fused=False),
        (gain("rope", "one fused op for each rotation", None, "rope_*", ROTARY, told),), MADE_UP,
    )  # fmt: skip


def gated(net: Net, words: int, before: float, after: float) -> Layer:
    return laid(
        f"esmc-{net.name}-{words}-fused", GATED, f"{words} residues, rotations fused: {before} ms", layer(net, words, 1e3 * before / net.layers, fused=True),
        (dead("swiglu", "the gate in the matmul before it (minimal_matmul with fuse_swiglu)", "up up_part* act", r"swiglu|minimal_matmul", f"{before} -> {after} ms: noise"),),
        MADE_UP,
    )  # fmt: skip


ESMC = (
    turned(SMALL, 96, 25.8, 15.5),
    turned(SMALL, 416, 28.1, 16.9),
    turned(MIDDLE, 96, 30.6, 18.4),
    turned(MIDDLE, 416, 34.0, 23.3),
    turned(LARGE, 96, 149.0, 127.9),
    turned(LARGE, 416, 290.6, 257.1),
    gated(SMALL, 76, 15.17, 15.30),
    gated(SMALL, 2048, 59.70, 59.87),
    gated(MIDDLE, 76, 20.35, 20.38),
    gated(LARGE, 76, 130.35, 130.00),
)
