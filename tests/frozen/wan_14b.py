"""Wan 2.1 14B (it films) as a compiler wrote it, on four Blackhole chips: how a block turns and attends, and the patches before.

Hidden 5120, 10 of 40 heads of 128 on each chip, 32,760 places of a film of 480 lines. The audit tells times of the ops that it
looked at, and a forward pass with one of 40 blocks before and after each change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import PACKED

if TYPE_CHECKING:
    from tests.profiles import Tensor

HOME = "https://github.com/tenstorrent/tt-xla/blob/8cacdbd74c2b8698a8f7ba235dfc4c5754363037"
SOURCE = f"{HOME}/tests/torch/models/wan14b/PERF_AUDIT_2026_05_13.md"
GRID, CORES, CHIPS = (11, 10), 110, 4
TIMES, HIGH, WIDE = 21, 30, 52
PLACES, HIDDEN, HEADS, SIZE = TIMES * HIGH * WIDE, 5120, 10, 128


def patches() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=2.0)
    film = block.tensor([1, TIMES, 60, 104, 32], layout=ROW_MAJOR)
    weight, bias = block.tensor([128, HIDDEN]), block.tensor([32, HIDDEN])
    made = block.op(
        "conv", "Conv3d", (film, weight, bias), block.tensor([1, TIMES, HIGH, WIDE, HIDDEN], layout=ROW_MAJOR), 90_881, cores=CORES,
        fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), dtype="DataType::BFLOAT16", groups=1,
        kernel_size="{1, 2, 2}", output_channels=HIDDEN, output_mem_config=film.placement, padding="{0, 0, 0}", stride="{1, 2, 2}",
    )  # fmt: skip
    first = block.permute("patch_channels", made, (0, 4, 1, 2, 3), 14_200)
    flat = block.moved("patch_shape", "ReshapeView", first, 15_000, shape=[1, HIDDEN, PLACES], cores=CORES)
    tiles = block.moved("patch_tiles", "TilizeWithValPadding", flat, 4_100, layout="TILE", cores=CORES, fidelity="HiFi4")  # fmt: skip
    block.permute("patch_turned", tiles, (0, 2, 1), 4_400)
    return block


def _strided(block: Block, role: str, x: Tensor) -> Tensor:
    """One half of the channels written to every other place: rows of a table picked, then a choice."""
    half = block.tensor([1, PLACES, HEADS, SIZE // 2])
    first = block.permute(f"{role}_channels", half, (3, 0, 1, 2), 6_200)
    flat = block.moved(f"{role}_flat", "ReshapeView", first, 15_400, shape=[1, 1, SIZE // 2, PLACES * HEADS], layout=ROW_MAJOR, cores=CORES)  # fmt: skip
    index = block.tensor([1, 1, 1, SIZE], "UINT32", layout=ROW_MAJOR)
    rows = block.op(f"{role}_picked", "Embeddings", (index, flat), block.tensor([1, 1, SIZE, PLACES * HEADS], layout=ROW_MAJOR), 700, cores=CORES, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=half.placement, pad_token=None, tilized=False)  # fmt: skip
    tiles = block.moved(f"{role}_tiles", "Tilize", rows, 12_000, layout="TILE", cores=CORES, fidelity="HiFi4")
    tall = block.moved(f"{role}_tall", "ReshapeView", tiles, 11_100, shape=[SIZE, 1, PLACES, HEADS], cores=CORES)
    back = block.permute(f"{role}_back", tall, (1, 2, 3, 0), 26_000)
    chosen = block.tensor([1, PLACES, HEADS, SIZE])
    return block.op(f"{role}_chosen", "Ternary", (chosen, back, x), chosen, 6_900, cores=CORES, fidelity="HiFi4", memory_config=chosen.placement, ternary_op_type="TernaryOpType::WHERE", ternary_variant="TernaryVariant::TTT")  # fmt: skip


def _halves(block: Block, role: str, x: Tensor) -> Tensor:
    """The same with the second half negated before the first."""
    half, low = [1, PLACES, HEADS, SIZE // 2], [0, 0, 0, 0]
    pairs = block.permute(f"{role}_pairs", block.view(x, [1, PLACES * HEADS, SIZE // 2, 2]), (0, 1, 3, 2), 14_000)
    x = block.view(pairs, x.shape)
    one = block.slice(f"{role}_one", x, low, half, 7_000)
    two = block.slice(f"{role}_two", x, [0, 0, 0, SIZE // 2], [1, PLACES, HEADS, SIZE], 7_000)
    whole = block.concat(f"{role}_both", (block.unary(f"{role}_minus", "NEG", two, 4_500, cores=CORES), one), x.shape, 3, 8_500)  # fmt: skip
    table = block.tensor([1, PLACES, 1, SIZE])
    products = [block.binary(f"{role}_{name}", "MUL", given, table, 7_000, cores=CORES) for name, given in (("cos", x), ("sin", whole))]  # fmt: skip
    return block.binary(f"{role}_sum", "ADD", *products, 6_500, cores=CORES)


def attention(*, strided: bool) -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=2.0)
    x, given = block.tensor([1, 1, PLACES, HIDDEN]), {}
    for name in "qkv":
        made = block.linear(name, x, HEADS * SIZE, 4_400, cores=CORES, fidelity="HiFi4", bias=True)
        if name != "v":
            made = block.norm(f"norm_{name}", made, 2_200, cores=CORES)
            made = block.binary(f"scale_{name}", "MUL", made, block.tensor([1, 1, 1, 1]), 4_200, cores=CORES)
        made = block.view(made, [1, PLACES, HEADS, SIZE])
        if name != "v":
            made = _strided(block, f"rope_{name}_even", made) if strided else _halves(block, f"rope_{name}", made)
            made = _strided(block, f"rope_{name}_odd", made) if strided else made
        wide = block.permute(f"turn_{name}", block.typecast(f"cast_{name}", made, "FLOAT32", 2_100, cores=CORES), (0, 2, 1, 3), 4_400)  # fmt: skip
        given[name] = block.typecast(f"back_{name}", wide, "BFLOAT16", 1_000, cores=CORES)
    y = block.attend("sdpa", given["q"], given["k"], given["v"], 125_000, config=None, cores=CORES, causal=False, fidelity="HiFi4")  # fmt: skip
    block.linear("out", block.join_heads("joined", y, 500, cores=CORES), HIDDEN, 4_400, cores=CORES, fidelity="HiFi4", bias=True)  # fmt: skip
    return block


MADE_UP = "times of norms, products, casts and of the attention (twelve take 856 ms, of two kinds); the rest of the block and its exchanges are left out; layouts of what the audit does not print; gaps"
WAN_14B = (
    laid(
        "wan14b-patches", SOURCE, "the patches of a forward pass of 1255 ms", patches,
        (gain("last", "rows taken from the convolution as it leaves them, channels last", 34_000, "patch_*", r"channels.last|NDHWC|permute|inverse|cancel", "1255 -> 1221 ms: two permutes and a reshape gone, one reshape left"),),
        "layouts, paddings; gaps",
    ),
    laid(
        "wan14b-strided", SOURCE, "an attention that writes every other channel, of a forward pass of 1221 ms", lambda: attention(strided=True),
        (
            gain("halves", "a rotation by halves, the second negated before the first", 190_000, "rope_*", r"rotary_embedding|rotate.?half|half.?rotat|halves", "1221 -> 1031 ms; no fused op"),
            dead("packed", "queries, keys and values from one matmul", "q k v", PACKED, "1221 -> 1313 ms: the wider matmul takes a slow way"),
            dead("stack", "both halves stacked in place of the writes", "rope_*", r"\bstack", "1221 -> 1785 ms"),
        ),
        MADE_UP,
    ),
    laid(
        "wan14b-halves", SOURCE, "the same attention turned by halves, of a forward pass of 1031 ms", lambda: attention(strided=False),
        (gain("scale", "the scale as the attention's own", 8_000, "scale_q scale_k", r"\bscale\s*=|scale.{0,80}(attention|sdpa)|(attention|sdpa).{0,80}scale", "1031 -> 1019 ms with both attentions: of their four products three are as long, and two of those here"),),
        MADE_UP,
    ),
)  # fmt: skip
