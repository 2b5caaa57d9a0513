"""Gaze-LLE (where people in a picture look) on one Blackhole chip: DINOv2 ViT-B/14 and a decoder for each head, in one trace.

1024 patches and a token, padded to 1056; twelve blocks of 768 channels, 12 heads of 64, weights in BFLOAT8_B and LoFi; three
blocks of 256 channels, 8 heads of 32, for all N people at once. The log tells a call's time per change for N of 1, 3 and 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, FUSED_SUM, HIFI2, IN_L1, PACKER, SDPA_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Told
    from tests.profiles import Tensor

HOME = "https://github.com/changh95/tt-Gaze-LLE/blob"
LOG = f"{HOME}/41e8ea92332f8726b7b9c65a73f7a64ba1286d77/DEVICE_VALIDATION.md"
README = f"{HOME}/06e97e58547c7537f6e4995bf8094dab9a330cd6/README.md"
GRID, CORES, ROWS = (11, 10), 110, 1025
BACKBONE = {"norm": 22, "qkv": 60, "heads": 24, "sdpa": 225, "join": 14, "proj": 26, "add": 9, "fc1": 56, "fc2": 50}
DECODER = {"norm": 10, "qkv": 16, "heads": 12, "join": 9, "proj": 10, "add": 6, "fc1": 18, "fc2": 18}
SDPA = {1: 165, 3: 430, 10: 1550}  # of a decoder's block
MORE = {1: 1.0, 3: 2.2, 10: 9.0}  # a decoder's other ops, to those of one person


def through(block: Block, name: str, x: Tensor, heads: int, us: dict[str, float], dtype: str) -> Tensor:  # noqa: PLR0917  # fmt: skip
    """A block of a transformer: eleven ops."""
    batch, hidden = x.shape[0], x.shape[-1]
    of = {"dtype": dtype, "fidelity": "LoFi" if dtype == "BFLOAT8_B" else "HiFi2", "cores": CORES, "bias": True}
    rows = min(batch * 33, CORES)
    y = block.norm(f"{name}_norm", x, us["norm"], cores=rows, kind="LAYERNORM")
    y = block.linear(f"{name}_qkv", y, 3 * hidden, us["qkv"], grid=GRID, **of)
    q, k, v = block.split_heads(f"{name}_heads", y, us["heads"], heads=heads, kv=heads, size=hidden // heads, rows=ROWS, batch=batch, cores=rows)  # fmt: skip
    y = block.attend(f"{name}_sdpa", q, k, v, us["sdpa"], config=None, cores=CORES, causal=False)
    y = block.join_heads(f"{name}_join", y, us["join"], cores=rows)
    y = block.linear(f"{name}_proj", y, hidden, us["proj"], grid=GRID, **of)
    x = block.binary(f"{name}_add", "ADD", x, y, us["add"], cores=CORES)
    y = block.norm(f"{name}_norm_feed", x, us["norm"], cores=rows, kind="LAYERNORM")
    y = block.linear(f"{name}_fc1", y, 4 * hidden, us["fc1"], grid=GRID, act="GELU", **of)
    y = block.linear(f"{name}_fc2", y, hidden, us["fc2"], grid=GRID, **of)
    return block.binary(f"{name}_add_feed", "ADD", x, y, us["add"], cores=CORES)


def call(people: int) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        more = MORE[people]
        raw = block.tensor([1, 1, ROWS, 608], layout=ROW_MAJOR)
        x = block.moved("tiles", "TilizeWithValPadding", raw, 12, layout="TILE", cores=CORES, use_multicore=True)
        x = block.linear("patch", x, 768, 25, dtype="BFLOAT8_B", fidelity="LoFi", cores=CORES, grid=GRID)
        x = block.binary("patch_add", "ADD", x, block.tensor(x.shape), 12, cores=CORES)
        for number in range(12):
            x = through(block, f"vit{number}", x, 12, BACKBONE, "BFLOAT8_B")
        x = block.norm("norm_out", x, 22, cores=33, kind="LAYERNORM")
        x = block.linear("narrow", x, 256, 14, cores=CORES, grid=GRID)
        x = block.binary("narrow_gate", "MUL", x, block.tensor(x.shape), 8, cores=CORES)
        x = block.binary("narrow_add", "ADD", x, block.tensor(x.shape), 6, cores=CORES)
        shape = [people, 1, ROWS, 256]
        marks = block.op("marked", "BinaryNg", (block.tensor([people, 1, ROWS, 1]), block.tensor([1, 1, 1, 256])), block.tensor(shape), 8 * more, cores=CORES, fidelity="HiFi4", binary_op_type="BinaryOpType::MUL")  # fmt: skip
        x = block.binary("marked_add", "ADD", marks, x, 8 * more, cores=CORES)
        us = {role: one * more for role, one in DECODER.items()} | {"sdpa": SDPA[people]}
        for number in range(3):
            x = through(block, f"gaze{number}", x, 8, us, "BFLOAT16")
        y = block.linear("head_in", x, 128, 12 * more, cores=CORES, act="RELU", bias=True)
        y = block.linear("head_out", y, 1, 9 * more, cores=CORES, bias=True)
        block.unary("head_sigmoid", "SIGMOID", y, 5 * more, cores=CORES)
        y = block.linear("heat", x, 4, 10 * more, cores=CORES)
        y = block.binary("heat_add", "ADD", y, block.tensor([1, 1, 1, 4]), 5 * more, cores=CORES)
        block.unary("heat_sigmoid", "SIGMOID", y, 5 * more, cores=CORES)
        return block

    return build


SUMMED = "patch patch_add *_proj *_fc2 *_add *_add_feed narrow narrow_* head_* heat*"
VIT, GAZE = ("vit*_qkv vit*_proj vit*_fc1 vit*_fc2", "gaze*_qkv gaze*_proj gaze*_fc1 gaze*_fc2")
MADE_UP = "how the ops share the time, but for what the changes saved, and what of a call is the host's; core counts and grid; shapes in 4D; gaps"


def both(people: int, ms: tuple[float, float, float, float]) -> tuple[Told, ...]:
    """A call's ms before, with chunks of 64 and 256, with fused sums, and what chunks of 128 save more."""
    before, chunked, summed, more = ms
    return (
        gain("chunks", "SDPA with chunks of 128 and 128, and the exact exponential", round(1e3 * (before - chunked + more), 1), "*_sdpa", SDPA_CHUNKS, f"{before} -> {chunked} ms of a call with chunks of 64 and 256; {more} ms less with 128 and 128"),
        gain("sum", "sums, position and gate in the matmul before them, and the heads in two matmuls", round(1e3 * (chunked - summed), 1), SUMMED, FUSED_SUM, f"{chunked} -> {summed} ms of a call; the heads' part is not told apart"),
    )  # fmt: skip


def hifi2(ms: float) -> Told:
    return dead("hifi2", "HiFi2 for the matmuls in LoFi", VIT, HIFI2, f"{ms} ms more, and no better answers")


GAZE_LLE = (
    laid(
        "gaze-1", LOG, "a call for one person: 8.13 ms with upload and readback", call(1),
        (
            *both(1, (8.13, 6.51, 5.87, 0.22)),
            hifi2(0.07),
            dead("head-sigmoid", "the sigmoid in the heads' matmul", "head_* heat*", r"fused_activation|activation=|sigmoid", "0.01 ms: noise"),
            dead("l1", "what the blocks make in L1", "vit*_norm* vit*_qkv vit*_proj vit*_add* vit*_fc*", IN_L1, "it does not fit", README),
            dead("bfp8", "the decoder's weights in BFLOAT8_B", GAZE, BFP8, "no gain: its matmuls are too small", README),
            dead("packer", "packer_l1_acc for the matmuls", f"{VIT} {GAZE}", PACKER, "slower or the same", README),
            dead("grids", "smaller grids, one for each block", f"{VIT} {GAZE}", r"(fewer|less|smaller).{0,20}(cores|grid)", "slower or the same", README),
            dead("decoder-hifi2", "HiFi2 told to the decoder's matmuls", GAZE, HIFI2, "slower or the same", README),
        ),
        MADE_UP,
    ),
    laid(
        "gaze-3", LOG, "a call for three people: 9.42 ms with upload and readback", call(3),
        (
            *both(3, (9.42, 7.41, 6.64, 0.23)),
            hifi2(0.07),
            dead("head-sigmoid", "the sigmoid in the heads' matmul", "head_* heat*", r"fused_activation|activation=|sigmoid", "0.05 ms more than with ops of their own"),
        ),
        MADE_UP,
    ),
    laid(
        "gaze-10", LOG, "a call for ten people: 16.21 ms with upload and readback", call(10),
        (
            *both(10, (16.21, 11.29, 10.11, 0.31)),
            hifi2(0.04),
            dead("head-sigmoid", "the sigmoid in the heads' matmul", "head_* heat*", r"fused_activation|activation=|sigmoid", "0.15 ms more than with ops of their own"),
        ),
        MADE_UP,
    ),
)  # fmt: skip
