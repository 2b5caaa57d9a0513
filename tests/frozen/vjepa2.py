"""V-JEPA 2-AC (it foresees what a robot's hand does) on one Blackhole chip: a block that sees and one that foresees.

Eight frames of 256 x 256 are 1024 places. The one that sees: 40 blocks, hidden 1408, 22 heads of 64; the one that foresees: 24,
hidden 1024, 16 heads, 1032 places each of which sees no later frame. The page tells 120.7 ms for all, replayed from a trace, and
how its kinds of rotation and attention did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid

if TYPE_CHECKING:
    from tests.profiles import Tensor

SOURCE = "https://github.com/tsingletaryTT/tt-vjepa2/blob/1a53a9ffecfaea4121b8da597ec44c9214eda4e9/README.md"
GRID, CORES, SIZE = (11, 10), 110, 64


def _linear(block: Block, role: str, x: Tensor, n: int) -> Tensor:
    us = 10 + 2 * x.shape[-2] * x.shape[-1] * n / 55e6
    return block.linear(role, x, n, us, cores=CORES, fidelity="HiFi4", fp32=True, bias=True)


def _normed(block: Block, role: str, x: Tensor) -> Tensor:
    """In FLOAT32, as the stream of sums is."""
    return block.typecast(f"{role}_low", block.norm(role, x, 62, cores=32, kind="LAYERNORM"), "BFLOAT16", 24, cores=CORES)  # fmt: skip


def _added(block: Block, role: str, x: Tensor, y: Tensor) -> Tensor:
    return block.binary(f"{role}_sum", "ADD", x, block.typecast(f"{role}_high", y, "FLOAT32", 24, cores=CORES), 38, cores=CORES)  # fmt: skip


def _fed(block: Block, x: Tensor, wide: int) -> None:
    y = _linear(block, "up", _normed(block, "feed_norm", x), wide)
    y = block.unary("gelu", "GELU", y, 70, cores=CORES)
    _added(block, "feed", x, _linear(block, "down", y, x.shape[-1]))


def _axes(block: Block, name: str, x: Tensor) -> Tensor:
    """20 channels for time, 20 for height, 20 for width, four left as they are: each turned by itself."""
    _, heads, rows, _ = x.shape
    parts = []
    for axis in range(3):
        role, small = f"rope_{name}{axis}", [1, heads, rows, 10]
        part = block.slice(f"{role}_part", x, [0, 0, 0, 20 * axis], [1, heads, rows, 20 * (axis + 1)], 420)
        pairs = block.moved(f"{role}_pairs", "ReshapeView", part, 2_900, shape=[heads, rows, 10, 2], cores=CORES)
        turned = block.permute(f"{role}_turned", pairs, (0, 3, 1, 2), 1_500)
        one, two = (block.view(block.slice(f"{role}_half{n}", turned, [0, n, 0, 0], [heads, n + 1, rows, 10], 260), small) for n in range(2))  # fmt: skip
        both = block.concat(f"{role}_both", (block.unary(f"{role}_minus", "NEG", two, 60, cores=CORES), one), [1, heads, rows, 20], 3, 480)  # fmt: skip
        table = block.tensor([1, 1, rows, 20])
        cosine, sine = (block.binary(f"{role}_{which}", "MUL", given, table, 70, cores=CORES) for which, given in (("cos", part), ("sin", both)))  # fmt: skip
        parts.append(block.binary(f"{role}_sum", "ADD", cosine, sine, 75, cores=CORES))
    rest = block.slice(f"rope_{name}_rest", x, [0, 0, 0, 60], [1, heads, rows, SIZE], 260)
    return block.concat(f"rope_{name}_all", (*parts, rest), x.shape, 3, 720)


def seeing() -> Block:
    block, rows, hidden, heads = Block("blackhole", grid=GRID, gap_us=1.0), 1024, 1408, 22
    x = block.tensor([1, 1, rows, hidden], "FLOAT32")
    qkv = _linear(block, "qkv", _normed(block, "norm", x), 3 * hidden)
    q, k, v = block.split_heads("heads", qkv, 70, heads=heads, kv=heads, size=SIZE, rows=rows, cores=32)
    y = block.attend("sdpa", _axes(block, "q", q), _axes(block, "k", k), v, 260, config=None, cores=CORES, causal=False, fidelity="HiFi4")  # fmt: skip
    _fed(block, _added(block, "seen", x, _linear(block, "out", block.join_heads("joined", y, 40, cores=32), hidden)), 6144)  # fmt: skip
    return block


def foreseeing() -> Block:
    block, rows, hidden, heads = Block("blackhole", grid=GRID, gap_us=1.0), 1032, 1024, 16
    x = block.tensor([1, 1, rows, hidden], "FLOAT32")
    qkv = _linear(block, "qkv", _normed(block, "norm", x), 3 * hidden)
    q, k, v = block.split_heads("heads", qkv, 55, heads=heads, kv=heads, size=SIZE, rows=rows, cores=33)
    tables = [block.tensor([1, 1, rows, SIZE]) for _ in range(2)]
    q, k = (block.op(f"rope_{name}", "RotaryEmbeddingLlama", (one, *tables, block.tensor([1, 1, 32, 32])), block.tensor(one.shape), 34, cores=CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=False, output_mem_config=one.placement) for name, one in (("q", q), ("k", k)))  # fmt: skip
    scores = block.product("scores", q, block.turned("keys_turned", k, 30, cores=CORES), 150, cores=CORES)
    scores = block.binary("scale", "MUL", scores, block.tensor([1, 1, 1, 1]), 185, cores=CORES)
    mask = block.tensor([1, 1, rows, rows])
    scores = block.softmax(
        "softmax", block.binary("masked", "ADD", scores, mask, 190, cores=CORES), 230, cores=CORES
    )
    y = block.join_heads("joined", block.product("mixed", scores, v, 140, cores=CORES), 34, cores=33)
    _fed(block, _added(block, "seen", x, _linear(block, "out", y, hidden)), 4096)
    return block


VJEPA2 = (
    laid(
        "vjepa2-seeing", SOURCE, "a block that sees, with a rotation for each of three axes: about 24 times 120.7 ms for all", seeing,
        (gain("rope", "rotary_embedding_llama with tables for all axes", None, "rope_*", r"rotary_embedding", "all took about 24 times as long before; no exact figure"),),
        "all times, so that the rotations take most; gaps",
    ),
    laid(
        "vjepa2-foreseeing", SOURCE, "a block that foresees, its attention op by op", foreseeing,
        (dead("sdpa", "scaled_dot_product_attention with the mask", "scores scale masked softmax mixed keys_turned", r"scaled_dot_product_attention|\bSDPA", "wrong: 0.927 like the model, and 0.997 without the mask; op by op 0.9999; no time told"),),
        "all times; the places of actions and states; gaps",
    ),
)  # fmt: skip
