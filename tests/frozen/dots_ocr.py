"""dots.ocr on one Blackhole chip (P150), all in BFLOAT16: a block of its vision tower, a layer of its language model, the ends.

Hidden 1536; the tower: 256 patches, 12 heads of 128, an MLP of 4224; the language model (Qwen2): 128 tokens, 12 heads with two
of keys and values, an MLP of 8960, 151,936 words. Attention is written out: matmuls, a mask, a softmax. The ledger tells the
kernel times of a replayed trace by kind of op, before and after one change to each part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, IN_L1

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

WIDTH_SHARDS = r"WIDTH_SHARDED|width.{0,3}shard"  # not block shards
LOG = f"{TT_METAL}/0166200aa087fc04cc0c41f0c5f43e349ec34938/models/demos/rednote_hilab_dots.ocr/BRINGUP_LOG.md"
GRID, ALL_CORES = (13, 10), 130
HIDDEN, HEADS, SIZE = 1536, 12, 128


@dataclass(frozen=True)
class Attention:
    """Written-out attention; times in us, of all ops of a kind together."""

    rows: int
    kv: int
    matmuls: float
    reshapes: float
    slices: float
    binaries: float
    transposes: float
    rest: float  # a softmax, concats, negations, repeats
    near: bool = False  # reshaped heads in L1

    @property
    def place(self) -> Placement:
        return L1 if self.near else DRAM


def turned_by_halves(block: Block, name: str, x: Tensor, how: Attention) -> Tensor:
    """The rotation, op by op."""
    *lead, size = x.shape
    halves = [block.slice(f"half_{name}{at}", x, (0, 0, 0, at), (*lead, at + size // 2), how.slices / 7) for at in (0, size // 2)]  # fmt: skip
    negated = block.unary(f"negated_{name}", "NEG", halves[1], how.rest * 0.06, cores=ALL_CORES)
    swapped = block.concat(f"swapped_{name}", (negated, halves[0]), x.shape, 3, how.rest * 0.18)
    tables = [block.tensor([1, 1, x.shape[-2], size]) for _ in range(2)]
    parts = [block.binary(f"{word}_{name}", "MUL", one, table, how.binaries / 8, cores=ALL_CORES) for word, one, table in zip(("cos", "sin"), (x, swapped), tables, strict=True)]  # fmt: skip
    return block.binary(f"rotated_{name}", "ADD", *parts, how.binaries / 8, cores=ALL_CORES)


def attended(block: Block, x: Tensor, how: Attention) -> Tensor:
    rows, kv = how.rows, how.kv
    wide = (HEADS + 2 * kv) * SIZE
    flops = (HIDDEN * wide, HEADS * rows * SIZE, HEADS * rows * SIZE, HIDDEN * HIDDEN)
    qkv_us, scores_us, values_us, out_us = (how.matmuls * one / sum(flops) for one in flops)
    text = kv != HEADS
    qkv = block.linear("qkv", x, wide, qkv_us, fidelity="HiFi4", fp32=True, cores=96, bias=text)
    each = how.reshapes / (4 if text else 2)
    heads = {}
    if not text:
        qkv = block.moved("split", "ReshapeView", qkv, each, shape=[rows, 3, HEADS, SIZE], place=how.place, cores=ALL_CORES)  # fmt: skip
    for number, name in enumerate("qkv"):
        count = kv if name != "q" else HEADS
        if text:
            start = (0, HEADS, HEADS + kv)[number] * SIZE
            one = block.slice(f"part_{name}", qkv, (0, 0, 0, start), (1, 1, rows, start + count * SIZE), how.slices / 7)  # fmt: skip
            one = block.moved(f"split_{name}", "ReshapeView", one, each, shape=[1, rows, count, SIZE], place=how.place, cores=ALL_CORES)  # fmt: skip
        else:
            one = block.slice(
                f"part_{name}", qkv, (0, number, 0, 0), (rows, number + 1, HEADS, SIZE), how.slices / 7
            )
            one = block.view(one, [1, rows, HEADS, SIZE])
        heads[name] = block.turned(f"turn_{name}", one, how.transposes / 5, dims="CH", cores=ALL_CORES)
    q, k = (turned_by_halves(block, name, heads[name], how) for name in "qk")
    v = heads["v"]
    if text:
        k, v = (block.moved(f"repeat_{name}", "RepeatInterleave", one, how.rest * 0.1, shape=q.shape, cores=ALL_CORES) for name, one in (("k", k), ("v", v)))  # fmt: skip
    k = block.turned("turn_keys", k, how.transposes / 5, cores=ALL_CORES)
    scores = block.product("scores", q, k, scores_us, cores=96)
    scores = block.binary("scaled", "MUL", scores, block.tensor([1, 1, 1, 1]), how.binaries / 8, cores=ALL_CORES)
    scores = block.binary(
        "masked", "ADD", scores, block.tensor([1, 1, rows, rows]), how.binaries / 8, cores=ALL_CORES
    )
    scores = block.softmax("softmax", scores, how.rest * (0.32 if text else 0.52), cores=96)
    out = block.turned("turn_back", block.product("values", scores, v, values_us, cores=96), how.transposes / 5, dims="CH", cores=ALL_CORES)  # fmt: skip
    out = block.moved(
        "joined", "ReshapeView", out, each, shape=[1, 1, rows, HIDDEN], place=how.place, cores=ALL_CORES
    )
    return block.linear("out", out, HIDDEN, out_us, fidelity="HiFi4", fp32=True, cores=48)


@dataclass(frozen=True)
class Mlp:
    """Times in us."""

    rows: int
    wide: int
    both: float
    down: float
    half: float
    silu: float
    product: float
    near: bool = False


def fed(block: Block, x: Tensor, how: Mlp) -> Tensor:
    both = block.linear("gate_up", x, 2 * how.wide, how.both, fidelity="HiFi4", fp32=True, cores=ALL_CORES)
    place = L1 if how.near else DRAM
    gate, up = (block.slice(f"half_{name}", both, (0, 0, 0, at), (1, 1, how.rows, at + how.wide), how.half, place) for name, at in (("gate", 0), ("up", how.wide)))  # fmt: skip
    gate = block.unary("silu", "SILU", gate, how.silu, cores=ALL_CORES, place=place)
    hidden = block.binary("product", "MUL", gate, up, how.product, cores=ALL_CORES, place=place)
    return block.linear("down", hidden, HIDDEN, how.down, fidelity="HiFi4", fp32=True, cores=48)


def started() -> Block:
    return Block("blackhole", grid=GRID, gap_us=0.9)


def part(run: Callable[[Block, Tensor], Tensor], rows: int) -> Callable[[], Block]:
    def build() -> Block:
        block = started()
        run(block, block.tensor([1, 1, rows, HIDDEN]))
        return block

    return build


def layer(attention: Attention, mlp: Mlp, norm_us: float, add_us: float) -> Callable[[], Block]:
    """Norm, attention, sum, norm, MLP, sum; the sums in DRAM."""

    def build() -> Block:
        block = started()
        x = block.tensor([1, 1, mlp.rows, HIDDEN])
        made = attended(block, block.norm("norm_1", x, norm_us, cores=mlp.rows // 32), attention)
        x = block.binary("added_1", "ADD", x, made, add_us, cores=ALL_CORES, place=DRAM)
        made = fed(block, block.norm("norm_2", x, norm_us, cores=mlp.rows // 32), mlp)
        block.binary("added_2", "ADD", x, made, add_us, cores=ALL_CORES, place=DRAM)
        return block

    return build


def merger() -> Block:
    block = started()
    x = block.norm("norm", block.tensor([1, 1, 256, HIDDEN]), 43.2, cores=8, kind="LAYERNORM")
    x = block.moved("merged", "ReshapeView", x, 18.2, shape=[1, 1, 64, 4 * HIDDEN], cores=ALL_CORES)
    x = block.linear("fc", x, 4 * HIDDEN, 236, fidelity="HiFi4", fp32=True, cores=96, bias=True)
    x = block.unary("gelu", "GELU", x, 8.6, cores=ALL_CORES, parameter="0")
    block.linear("hidden", x, HIDDEN, 66, fidelity="HiFi4", fp32=True, cores=48, bias=True)
    return block


def ends() -> Block:
    """Embeddings, the tables of the rotation, the last norm, the head."""
    block = started()
    rows = 128
    ids = block.tensor([1, rows], "UINT32", layout=ROW_MAJOR)
    table = block.tensor([1, 1, 151936, HIDDEN], layout=ROW_MAJOR)
    x = block.op("embeddings", "Embeddings", (ids, table), block.tensor([1, 1, rows, HIDDEN]), 21.6, cores=4, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=True)  # fmt: skip
    angles = block.binary("angles", "MUL", block.tensor([1, 1, rows, 64], "FLOAT32"), block.tensor([1, 1, 1, 64], "FLOAT32"), 17.7, cores=8)  # fmt: skip
    angles = block.concat("both_halves", (angles, angles), [1, 1, rows, SIZE], 3, 2.8)
    for name in ("COS", "SIN"):
        block.unary(name.lower(), name, angles, 3.5, cores=16)
    x = block.norm("norm", x, 30.5, cores=4)
    block.linear("head", x, 151936, 1463.05, fidelity="HiFi4", fp32=True, cores=129)
    return block


PATCHES = Attention(256, HEADS, 156, 321, 90.7, 180, 80.6, 142)
PATCHES_NEAR = replace(PATCHES, reshapes=253, slices=24, binaries=130.7, transposes=52.7, near=True)
TOKENS = Attention(128, 2, 148.08, 202.8, 9, 29, 37.58, 19)
TOKENS_NEAR = replace(TOKENS, matmuls=92.9, reshapes=179.6, binaries=25.33, transposes=22.64, near=True)
VISION_MLP = Mlp(256, 4224, 146, 72.8, 15.41, 18.68, 25.52)
VISION_MLP_NEAR = replace(VISION_MLP, half=9.16, silu=10.03, product=8.04, near=True)
TEXT_MLP = Mlp(128, 8960, 237, 118.4, 15.75, 15.48, 19.84)
TEXT_MLP_NEAR = replace(TEXT_MLP, half=9.59, silu=10.81, product=7.68, near=True)

CHAIN = "half_* negated_* swapped_* cos_* sin_* rotated_* turn_* scores scaled masked values joined out"
GATED = "half_gate half_up silu product"
MADE_UP = "how the time of a kind of op is shared out among its ops, cores, gaps; HiFi4 with sums in 32 bits is told, program configs are TTNN's own"

DOTS_OCR = (
    laid(
        "dots-vision-attention", LOG, "attention of a block of the tower, all results in DRAM: 971 us in kernels",
        part(lambda block, x: attended(block, x, PATCHES), 256),
        (gain("l1", "the reshaped heads in L1, split and joined", 231.5, f"split part_* {CHAIN}", IN_L1, "970.84 -> 739.34 us of kernels: slices 90.7 -> 24.0, elementwise 180 -> 130.7, transposes 80.6 -> 52.7"),),
        f"matmuls, softmax, concats and what else is not told by kind; {MADE_UP}", 970.84,
    ),
    laid(
        "dots-vision-mlp", LOG, "MLP of a block of the tower, all results in DRAM: 294 us in kernels",
        part(lambda block, x: fed(block, x, VISION_MLP), 256),
        (gain("l1", "both halves, SILU and the product in L1", 40.55, GATED, IN_L1, "293.81 -> 253.26 us of kernels: slices 30.82 -> 18.32, SILU 18.68 -> 10.03, product 25.52 -> 8.04; matmuls as before"),),
        MADE_UP, 293.81,
    ),
    laid(
        "dots-vision-block", LOG, "a block of the tower with its parts tuned, both sums in DRAM: 1055 us in kernels",
        layer(PATCHES_NEAR, VISION_MLP_NEAR, 25.1, 6.3),
        (
            gain("sums-l1", "both sums in L1", 3.87, "added_*", IN_L1, "12.63 -> 8.76 us of both; 1055.5 -> 1050.2 of the block"),
            dead("norm-shards", "norms in width shards", "norm_*", WIDTH_SHARDS, "refused: 48 tiles do not divide by 32 or 64 cores, and on 6 to 8 cores the buffers do not fit L1; the norm has a core for each row of tiles"),
        ),
        f"the norms' time within the block; {MADE_UP}", 1055.5,
    ),
    laid(
        "dots-merger", LOG, "what merges four patches each, 256 to 64 rows: 372 us in kernels",
        merger,
        (dead("l1", "results in L1 throughout", "norm merged fc gelu hidden", IN_L1, "372 -> 368 us, thrown away: with a result in L1 the matmul's bias becomes an op of 6 us"),),
        MADE_UP, 372,
    ),
    laid(
        "dots-text-attention", LOG, "attention of a layer of the language model, all results in DRAM: 446 us in kernels",
        part(lambda block, x: attended(block, x, TOKENS), 128),
        (gain("l1", "the reshaped heads in L1, split and joined", 97.25, f"part_* split_* repeat_* {CHAIN}", IN_L1, "445.68 -> 348.43 us of kernels: matmuls 148.08 -> 92.90, transposes 37.58 -> 22.64, elementwise 29.00 -> 25.33"),),
        f"softmax, concats and what else is not told by kind; {MADE_UP}", 445.68,
    ),
    laid(
        "dots-text-mlp", LOG, "MLP of a layer of the language model, all results in DRAM: 425 us in kernels",
        part(lambda block, x: fed(block, x, TEXT_MLP), 128),
        (gain("l1", "both halves, SILU and the product in L1", 31.79, GATED, IN_L1, "424.71 -> 392.92 us of kernels: slices 31.49 -> 19.18, SILU 15.48 -> 10.81, product 19.84 -> 7.68"),),
        MADE_UP, 424.71,
    ),
    laid(
        "dots-text-layer", LOG, "a layer of the language model with its parts tuned, both sums in DRAM: 803 us in kernels",
        layer(TOKENS_NEAR, TEXT_MLP_NEAR, 25.6, 4.4),
        (
            gain("sums-l1", "both sums in L1", None, "added_*", IN_L1, "4.33, 4.55 and 4.41 us with DRAM, 4.08 and 2.79 with L1; 803.4 -> 799.5 of the layer"),
            dead("norm-shards", "norms in width shards", "norm_*", WIDTH_SHARDS, "refused: fewer cores than the rows of tiles, and the buffers do not fit L1"),
        ),
        f"the norms' time within the layer; {MADE_UP}", 803.4,
    ),
    laid(
        "dots-ends", LOG, "embeddings, tables of the rotation, last norm and head of the language model",
        ends,
        (
            gain("tables-l1", "the tables' angles, concat, cosines and sines in L1", 2.32, "angles both_halves cos sin", IN_L1, "27.686 -> 25.366 us of the four ops"),
            gain("head", "BFLOAT8_B for the head's weight", 512.48, "head", BFP8, "1463.05 -> 950.57 us"),
        ),
        f"that these parts follow one another; {MADE_UP}", 1542.8,
    ),
)  # fmt: skip
