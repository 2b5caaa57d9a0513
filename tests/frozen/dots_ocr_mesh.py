"""dots.ocr's vision tower on four Blackhole chips (p300c in a line): 896 patches in FLOAT32, then a document of 11,264.

Hidden 1536, 12 heads of 128 in windows, an MLP of 4224, 42 blocks; then what merges four patches each. In FLOAT32 each chip
does all; the document runs in BFLOAT16 with three heads and a quarter of the MLP on each chip. The ledger tells kernel times of
a replayed trace by kind of op and of many single ops, and of each change what it was measured against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, ROW_MAJOR, Block, chunks, norm_shards, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    BFP8,
    BLOCK_W,
    COLLECTIVE,
    CONFIG,
    CORES,
    HIFI2,
    IN_L1,
    INTERLEAVED_1D,
    SDPA_CHUNKS,
    SHARDED,
    TWO_D,
)
from tests.profiles import block_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

FOLDER = "models/demos/rednote_hilab_dots.ocr"
FIRST = f"{TT_METAL}/0086f693894a2264fdaea26c3ec6fa699ec63d38/{FOLDER}/BRINGUP_LOG.md"
LATER = f"{TT_METAL}/b15b0bedb9c2f2f6b7bce301995e221cced80663/{FOLDER}/BRINGUP_LOG.md"
NOTES = f"{TT_METAL}/b15b0bedb9c2f2f6b7bce301995e221cced80663/{FOLDER}/PERF_NOTES.md"
GRID, ALL_CORES, CHIPS = (11, 10), 110, 4
HIDDEN, HEADS, SIZE, WIDE, PATCH = 1536, 12, 128, 4224, 588
ROWS, DOCUMENT = 896, 11264
F32, BFP = "FLOAT32", "BFLOAT8_B"
SHARDS = (8, 7)


def started() -> Block:
    return Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.1)


def normed(block: Block, role: str, x: Tensor, us: float, place: Placement = DRAM) -> Tensor:
    return block.norm(role, x, us, cores=min(ALL_CORES, x.shape[-2] // 32), place=place)


def windowed(
    block: Block, q: Tensor, k: Tensor, v: Tensor, us: float, *, config: str | None, fidelity: str
) -> Tensor:
    ends = block.tensor([1, 32], "UINT32", layout=ROW_MAJOR)
    return block.op(
        "sdpa", "WindowedScaledDotProductAttention", (q, k, v, ends), block.tensor(q.shape), us, cores=ALL_CORES,
        fidelity=fidelity, compute_kernel_config=block.kernel(fidelity, fp32=True), output_mem_config=DRAM,
        program_config=config, scale="0.08838834764",
    )  # fmt: skip


@dataclass(frozen=True)
class Whole:
    """A block in FLOAT32 on each chip; times in us, those of a kind of op together where there are several."""

    qkv: float = 199
    binaries: float = 140
    concats: float = 21.3
    negations: float = 10.3
    slices: float = 61.4
    typecasts: float = 73.1
    near: bool = True  # the rotation in L1
    norm: float = 45
    norm_near: bool = False
    gate: float = 172
    up: float = 174
    silu: float = 0  # 0: in the product
    product: float = 105.7
    down: float = 134


def whole_attention(block: Block, x: Tensor, how: Whole) -> Tensor:
    qkv = block.linear(
        "qkv", x, 3 * HIDDEN, how.qkv, dtype=F32, out=F32, fidelity="HiFi4", fp32=True, cores=ALL_CORES
    )
    q, k, v = block.split_heads("heads", qkv, 60, heads=HEADS, kv=HEADS, size=SIZE, rows=ROWS, cores=28)
    tables = [block.tensor([1, 1, ROWS, SIZE], F32) for _ in range(2)]
    place = L1 if how.near else DRAM
    turned = []
    for name, one in (("q", q), ("k", k)):
        halves = [block.slice(f"half_{name}{at}", one, (0, 0, 0, at), (1, HEADS, ROWS, at + 64), how.slices / 4, place) for at in (0, 64)]  # fmt: skip
        minus = block.unary(f"negated_{name}", "NEG", halves[1], how.negations / 2, cores=ALL_CORES, place=place)
        swapped = block.concat(f"swapped_{name}", (minus, halves[0]), one.shape, 3, how.concats / 2)
        parts = [block.binary(f"{word}_{name}", "MUL", a, table, how.binaries / 6, cores=ALL_CORES, place=place) for word, a, table in zip(("cos", "sin"), (one, swapped), tables, strict=True)]  # fmt: skip
        turned.append(
            block.binary(f"rotated_{name}", "ADD", *parts, how.binaries / 6, cores=ALL_CORES, place=place)
        )
    q, k, v = (block.moved(f"narrow_{name}", "Typecast", one, how.typecasts / 4, place=DRAM, dtype="BFLOAT16", cores=ALL_CORES, fidelity="HiFi4", input_dtype=f"DataType::{F32}", output_dtype="DataType::BFLOAT16") for name, one in zip("qkv", (*turned, v), strict=True))  # fmt: skip
    out = windowed(block, q, k, v, 440, config=None, fidelity="HiFi4")
    out = block.join_heads("joined", out, 49, cores=28)
    out = block.typecast("widened", out, F32, how.typecasts / 4, cores=ALL_CORES)
    return block.linear("out", out, HIDDEN, 97, dtype=F32, out=F32, fidelity="HiFi4", fp32=True, cores=100)


def whole_mlp(block: Block, x: Tensor, how: Whole) -> Tensor:
    gate, up = (block.linear(role, x, WIDE, us, dtype=F32, out=F32, fidelity="HiFi4", fp32=True, cores=ALL_CORES) for role, us in (("gate", how.gate), ("up", how.up)))  # fmt: skip
    if how.silu:
        gate = block.unary("silu", "SILU", gate, how.silu, cores=ALL_CORES)
    hidden = block.binary(
        "product", "MUL", gate, up, how.product, cores=ALL_CORES, lhs=None if how.silu else "SILU"
    )
    return block.linear(
        "down", hidden, HIDDEN, how.down, dtype=F32, out=F32, fidelity="HiFi4", fp32=True, cores=100
    )


def whole(how: Whole, *, attention: bool = True, mlp: bool = True) -> Callable[[], Block]:
    """A block, or only its attention or its MLP."""

    def build() -> Block:
        block = started()
        both = attention and mlp
        x = block.tensor([1, 1, ROWS, HIDDEN], F32)
        place = L1 if how.norm_near else DRAM
        if attention:
            made = whole_attention(block, normed(block, "norm_1", x, how.norm, place) if both else x, how)
            x = block.binary("added_1", "ADD", x, made, 50.5, cores=ALL_CORES) if both else x
        if mlp:
            made = whole_mlp(block, normed(block, "norm_2", x, how.norm, place) if both else x, how)
            if both:
                block.binary("added_2", "ADD", x, made, 50.5, cores=ALL_CORES)
        return block

    return build


def patches(shards: bool, matmul: float, norm: float, *, block_w: int = 1, back: float = 0) -> Callable[[], Block]:
    """The projection of 896 patches and its norm; in block shards or not."""

    def build() -> Block:
        block = started()
        x = block.tensor([1, 1, ROWS, PATCH], F32)
        place = block_sharded(128, 192, SHARDS) if shards else L1 if matmul < 59 else DRAM
        config = two_d(SHARDS, block_w, (4, 6), subblock=(1, 3)) if shards else None
        x = block.linear("projection", x, HIDDEN, matmul, dtype=F32, out=F32, fidelity="HiFi4", fp32=True, config=config, cores=56 if shards else 100, place=place, bias=True, grid=(10, 10) if place == L1 else None)  # fmt: skip
        if shards:
            x = block.norm("norm", x, norm, cores=56, config=norm_shards(SHARDS, 6, block_h=4))
            block.from_shards("back", x, back)
        else:
            block.norm("norm", x, norm, cores=28, config=PLAIN_NORM, place=DRAM)
        return block

    return build


def merger(rows: int, *, up: tuple[float, str, str | None], down: tuple[float, float, str | None], weights: str = F32, rest: tuple[float, ...] = (60, 40, 30, 50, 60)) -> Callable[[], Block]:  # fmt: skip
    """Norm, four patches to a row by way of rows, two matmuls. `up`: us, fidelity, config; `down`: us, us of a copy, config."""

    def build() -> Block:
        block = started()
        wide = rows < 1000
        dtype = F32 if wide else "BFLOAT16"
        norm, untiled, shaped, tiled, gelu = rest
        x = block.norm("norm", block.tensor([1, 1, rows, HIDDEN], dtype), norm, cores=min(ALL_CORES, rows // 32), kind="LAYERNORM")  # fmt: skip
        x = block.moved("rows", "Untilize", x, untiled, layout=ROW_MAJOR, cores=min(ALL_CORES, rows // 32), fidelity="HiFi4")  # fmt: skip
        x = block.moved("merged", "ReshapeView", x, shaped, shape=[1, 1, rows // 4, 4 * HIDDEN], cores=ALL_CORES)
        x = block.moved("tiles", "Tilize", x, tiled, layout="TILE", cores=min(ALL_CORES, rows // 128), fidelity="HiFi4")  # fmt: skip
        x = block.linear("up", x, 4 * HIDDEN, up[0], dtype=weights, out=dtype, fidelity=up[1], fp32=True, config=up[2], cores=96 if wide else ALL_CORES, bias=True)  # fmt: skip
        x = block.unary("gelu", "GELU", x, gelu, cores=ALL_CORES, parameter="0")
        near = bool(down[1])
        x = block.linear("down", x, HIDDEN, down[0], dtype=weights, out=dtype, fidelity=up[1], fp32=True, config=down[2], cores=48 if wide else 100, bias=True, place=L1 if near else DRAM, grid=(10, 10) if near else None)  # fmt: skip
        if near:
            block.moved("down_back", "Copy", x, down[1], place=DRAM, cores=ALL_CORES)
        return block

    return build


@dataclass(frozen=True)
class Split:
    """A block of the document, a quarter on each chip; times in us."""

    norm: float = 167.5
    qkv: float = 380
    out: float = 261
    heads: float = 110
    rotary: float = 85
    sdpa: float = 2567
    joined: float = 65
    scatter: float = 611
    gather: float = 667
    links: int = 2
    added: float = 220
    gate: float = 362
    down: float = 237
    product: float = 188
    weights: str = BFP
    fidelity: str = "HiFi2"
    partial: str = "BFLOAT16"  # format of what is summed over the chips
    config: bool = True  # of gate and up


def summed(block: Block, number: int, x: Tensor, how: Split) -> Tensor:
    x = block.collective(f"scatter_{number}", "ReduceScatter", x, HIDDEN // CHIPS, how.scatter, links=how.links, cores=34, topology="Linear")  # fmt: skip
    return block.collective(f"gather_{number}", "AllGather", x, HIDDEN, how.gather, links=how.links, cores=18, topology="Linear")  # fmt: skip


def split_attention(block: Block, x: Tensor, how: Split) -> Tensor:
    kinds = {"dtype": how.weights, "fidelity": how.fidelity, "fp32": True}
    mine = HEADS // CHIPS
    qkv = block.linear("qkv", x, 3 * mine * SIZE, how.qkv, cores=88, **kinds)
    q, k, v = block.split_heads("heads", qkv, how.heads, heads=mine, kv=mine, size=SIZE, rows=DOCUMENT, cores=ALL_CORES)  # fmt: skip
    tables = [block.tensor([1, 1, DOCUMENT, SIZE]) for _ in range(2)]
    turn = block.tensor([1, 1, 32, 32])
    q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape), how.rotary, cores=ALL_CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=False, output_mem_config=DRAM) for name, one in (("q", q), ("k", k)))  # fmt: skip
    out = windowed(block, q, k, v, how.sdpa, config=chunks(256, 256, GRID), fidelity="HiFi2")
    out = block.join_heads("joined", out, how.joined, cores=ALL_CORES)
    return summed(block, 1, block.linear("out", out, HIDDEN, how.out, cores=100, out=how.partial, **kinds), how)


def split_mlp(block: Block, x: Tensor, how: Split) -> Tensor:
    kinds = {"dtype": how.weights, "fidelity": how.fidelity, "fp32": True}
    config = one_d((11, 8), 4, (4, 33), subblock=(1, 3), in0=False) if how.config else None
    gate, up = (block.linear(role, x, WIDE // CHIPS, how.gate, cores=88, config=config, **kinds) for role in ("gate", "up"))  # fmt: skip
    hidden = block.binary("product", "MUL", gate, up, how.product, cores=ALL_CORES, lhs="SILU")
    return summed(
        block, 2, block.linear("down", hidden, HIDDEN, how.down, cores=100, out=how.partial, **kinds), how
    )


def split(how: Split, *, attention: bool = True, mlp: bool = True) -> Callable[[], Block]:
    def build() -> Block:
        block = started()
        both = attention and mlp
        x = block.tensor([1, 1, DOCUMENT, HIDDEN])
        if attention:
            made = split_attention(block, normed(block, "norm_1", x, how.norm) if both else x, how)
            x = block.binary("added_1", "ADD", x, made, how.added, cores=ALL_CORES) if both else x
        if mlp:
            made = split_mlp(block, normed(block, "norm_2", x, how.norm) if both else x, how)
            if both:
                block.binary("added_2", "ADD", x, made, how.added, cores=ALL_CORES)
        return block

    return build


def replicated(sdpa: float, config: str | None, fidelity: str) -> Callable[[], Block]:
    """A block of the document done whole on each chip."""

    def build() -> Block:
        block = started()
        kinds = {"fidelity": "HiFi4", "fp32": True}
        x = block.tensor([1, 1, DOCUMENT, HIDDEN])
        qkv = block.linear("qkv", normed(block, "norm_1", x, 170), 3 * HIDDEN, 1330, cores=ALL_CORES, **kinds)
        q, k, v = block.split_heads("heads", qkv, 400, heads=HEADS, kv=HEADS, size=SIZE, rows=DOCUMENT, cores=ALL_CORES)  # fmt: skip
        tables, turn = [block.tensor([1, 1, DOCUMENT, SIZE]) for _ in range(2)], block.tensor([1, 1, 32, 32])
        q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape), 300, cores=ALL_CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=False, output_mem_config=DRAM) for name, one in (("q", q), ("k", k)))  # fmt: skip
        made = block.join_heads("joined", windowed(block, q, k, v, sdpa, config=config, fidelity=fidelity), 250, cores=ALL_CORES)  # fmt: skip
        x = block.binary("added_1", "ADD", x, block.linear("out", made, HIDDEN, 470, cores=100, **kinds), 220, cores=ALL_CORES)  # fmt: skip
        made = normed(block, "norm_2", x, 170)
        gate, up = (block.linear(role, made, WIDE, 1580, cores=ALL_CORES, **kinds) for role in ("gate", "up"))
        made = block.binary("product", "MUL", gate, up, 740, cores=ALL_CORES, lhs="SILU")
        block.binary("added_2", "ADD", x, block.linear("down", made, HIDDEN, 1610, cores=100, **kinds), 220, cores=ALL_CORES)  # fmt: skip
        return block

    return build


def boundary() -> Block:
    """The projection of the document's patches and its norm."""
    block = started()
    x = block.linear("projection", block.tensor([1, 1, DOCUMENT, PATCH]), HIDDEN, 372.7, cores=100, place=L1, bias=True, grid=(10, 10))  # fmt: skip
    block.norm("norm", x, 146.5, cores=ALL_CORES, place=DRAM)
    return block


def halved(config: str) -> str:
    """Half of a core's columns at a time."""
    return config.replace("out_block_w=18", "out_block_w=9")


UP = halved(two_d(GRID, 16, (9, 18), subblock=(1, 3)))
DOWN = two_d(GRID, 16, (9, 5), subblock=(3, 1))
CHAIN = "half_* negated_* swapped_* cos_* sin_* rotated_*"
PROJECTIONS = "qkv out"
MLP = "gate up down"
TO_DRAM = r"DRAM_MEMORY_CONFIG|in DRAM|into DRAM|to DRAM"
WITH_GRID = r"core_grid"
WITHOUT_GRID = rf"(?s)^(?!.*core_grid).*(?:{IN_L1})"
SUMS_IN_32 = r"fp32_dest_acc_en|16.bit sums|sums in 16"
FOUR_LINKS = r"num_links\W{0,4}4\b|\b(4|four) links"
TRACE = "of kernels on a chip"
MADE_UP = "how the time of a kind of op is shared out among its ops, cores where not told, gaps, the name of the op of attention in windows"
ALONE = "measured without the rest of the block"

DOTS_OCR_MESH = (
    laid(
        "dots4-patches", FIRST, "the projection of 896 patches in FLOAT32 and its norm: 103 us in kernels",
        patches(False, 59.5, 44.4),
        (
            gain("l1-grid", "the projection's result in L1, with core_grid 10x10", 12.8, "projection norm", WITH_GRID, f"103.3 -> 90.5 us {TRACE}: 59.5 -> 53.7 and 44.4 -> 36.8"),
            dead("l1", "the projection's result in L1 without core_grid", "projection norm", WITHOUT_GRID, "slower: 24 cores, and the bias as an op of 149 us"),
        ),
        MADE_UP, 103.3,
    ),
    laid(
        "dots4-patches-l1", LATER, "the projection of 896 patches in L1 and its norm on 28 cores: 90 us in kernels",
        patches(False, 53.5, 36.8),
        (gain("shards", "the projection's result and its norm in block shards on 56 cores", None, "projection norm", SHARDED, "with in0_block_w 19 and the way out of the shards: 53.5 -> 44.8, 36.8 -> 12.3 and 10.2 us"),),
        MADE_UP, 90.3,
    ),
    laid(
        "dots4-patches-shards", LATER, "the projection of 896 patches and its norm in block shards, in0_block_w 1",
        patches(True, 48.7, 12.3, back=19.3),
        (
            gain("block", "in0_block_w 19, which is all of K", 3.9, "projection", BLOCK_W, "8 % less than with 1, and 44.8 us then"),
            gain("back-l1", "out of the shards into L1 instead of DRAM", 9.1, "back", IN_L1, "85.8 -> 76.7 us an iteration, with in0_block_w 19"),
            dead("interleaved", "no shards, all 110 cores", "projection norm", r"interleaved|110 cores|all (the |of the )?cores|core_grid|11 ?x ?10", "44.8 -> 53.5 and 12.3 -> 36.8 us"),
        ),
        f"the time with in0_block_w 1, which follows from the share, and of the way out into DRAM, from the difference; {MADE_UP}",
    ),
    laid(
        "dots4-attention", FIRST, "attention of a block in FLOAT32, the rotation op by op in DRAM: 1360 us in kernels",
        whole(Whole(199, 255.7, 57.3, 29.5, 78.6, 89.9, near=False), mlp=False),
        (
            gain("l1", "the rotation in L1", 188.1, CHAIN, IN_L1, f"1360.2 -> 1172.1 us {TRACE}: elementwise 255.7 -> 140.0, concats 57.3 -> 21.3, slices 78.6 -> 61.4"),
            dead("typecast-l1", "the typecasts' results in L1", "narrow_*", IN_L1, "refused: attention in windows takes its operands from DRAM only"),
        ),
        f"ops that split and join heads; {MADE_UP}", 1360.2,
    ),
    laid(
        "dots4-mlp", FIRST, "MLP of a block in FLOAT32, SILU an op of its own: 684 us in kernels",
        whole(Whole(gate=178.2, up=174.7, silu=98.8, product=98.3, down=133.7), attention=False),
        (gain("silu", "SILU in the product", 91.4, "silu product", ACTIVATION_IN_BINARY, f"98.8 + 98.3 -> 105.7 us; 684.5 -> 592.3 {TRACE}"),),
        MADE_UP, 684.5,
    ),
    laid(
        "dots4-block-near", FIRST, "a block in FLOAT32 with its norms' results in L1: 9632 us in kernels",
        whole(Whole(qkv=2963, gate=2650, up=2637, norm=33, norm_near=True)),
        (gain("norms", "the norms' results in DRAM", 7688.8, "norm_1 norm_2 qkv gate up", TO_DRAM, f"9632.5 -> 1943.7 us {TRACE}: QKV 2963 -> 199, the MLP's 2650 -> 172 and 2637 -> 174, norms 66 -> 90"),),
        MADE_UP, 9632.5,
    ),
    laid(
        "dots4-block", LATER, "a block in FLOAT32 with its norms' results in DRAM: 1944 us in kernels",
        whole(Whole()),
        (
            dead("norms-l1", "the norms' results in L1", "norm_1 norm_2 qkv gate up", IN_L1, "1943.7 -> 9632.5 us, though a norm alone took 51.2 -> 38.4", FIRST),
            dead("norms-shards", "the norms in block shards on 56 cores", "norm_1 norm_2", rf"{SHARDED}|{CORES}", "45.2 -> 45.9 us each: 11.4 us, and 15.9 + 18.5 to get there and back"),
            dead("norms-width", "the norms in width shards on 48 cores", "norm_1 norm_2", r"width.?shard|WIDTH_SHARDED|48 cores", "51.2 -> 69.4 us a replay of one norm", FIRST),
        ),
        MADE_UP, 1943.7,
    ),
    laid(
        "dots4-merger", FIRST, "what merges four patches each, 896 to 224 rows in FLOAT32: 921 us in kernels",
        merger(ROWS, up=(431.9, "HiFi4", None), down=(249.6, 0, None)),
        (
            gain("down", "core_grid 10x10 for the second matmul, its result in L1", 102.6, "down", rf"{WITH_GRID}|{CORES}", "249.6 us on 48 cores -> 141.7 on 70, and a copy of 5.3 back to DRAM; 921.1 -> 815.4 of all"),
            dead("up", "core_grid 10x10 for the first matmul, its result in L1", "up", rf"{WITH_GRID}|{CORES}|{IN_L1}", "431.9 -> 448.8 us"),
        ),
        f"ops that are no matmul; {MADE_UP}", 921.1,
    ),
    laid(
        "dots4-document-whole", NOTES, "a block of the document whole on each chip, attention as TTNN chose: the tower 3073 ms",
        replicated(62600, None, "HiFi4"),
        (
            gain("chunks", "chunks of 256 for attention, on all cores", None, "sdpa", SDPA_CHUNKS, f"with HiFi2: 62.7 -> 10.3 ms {ALONE}; the tower 3073 -> 889 ms"),
            gain("hifi2", "HiFi2 for attention", None, "sdpa", HIFI2, f"with chunks of 256: 62.7 -> 10.3 ms {ALONE}"),
        ),
        f"ops but attention, by the kernels' sum after the change; {MADE_UP}",
    ),
    laid(
        "dots4-document-chunks", NOTES, "a block of the document whole on each chip, attention in chunks of 256: the tower 889 ms",
        replicated(10300, chunks(256, 256, GRID), "HiFi2"),
        (gain("sums", "sums in 16 bits for attention", 600, "sdpa", SUMS_IN_32, f"10.3 -> 9.7 ms {ALONE}; thrown away, since 11,000 products are summed"),),
        f"ops but attention, by the kernels' sum; {MADE_UP}",
    ),
    laid(
        "dots4-document-attention", LATER, "attention of the document, three heads on a chip, one link: 6.69 ms a call",
        split(Split(qkv=450, out=320, scatter=1203, gather=1260, links=1, weights="BFLOAT16", fidelity="HiFi4"), mlp=False),
        (
            gain("links", "two links", 1185, "scatter_1 gather_1", COLLECTIVE, f"1203 -> 635 and 1260 -> 643 us {TRACE}; 6.69 -> 5.38 ms a call"),
            gain("bfp8", "BFLOAT8_B for the projections' weights", None, PROJECTIONS, BFP8, "with HiFi2: 770 -> 642 us, 5.38 -> 5.18 ms a call"),
            gain("hifi2", "HiFi2 for the projections", None, PROJECTIONS, HIFI2, "with BFLOAT8_B: 770 -> 642 us, 5.38 -> 5.18 ms a call"),
            dead("links-4", "four links", "scatter_1 gather_1", FOUR_LINKS, "refused: two channels lead to the next chip"),
            dead("chunks-128", "chunks of 128 queries", "sdpa", r"q_chunk\w*\W{0,4}128|128 queries", "6.69 -> 7.95 ms a call"),
            dead("chunks-512", "chunks of 512 queries", "sdpa", r"q_chunk\w*\W{0,4}512|512 queries", "6.69 -> 6.66 ms a call: a tie"),
            dead("keys-512", "chunks of 512 keys", "sdpa", r"k_chunk\w*\W{0,4}512|512 keys", "refused: buffers of 2.15 MB on a core, and there are 1.5"),
        ),
        f"how 770 us are shared out over the projections, ops that split, turn and join heads; {MADE_UP}",
    ),
    laid(
        "dots4-document-mlp", LATER, "MLP of the document, a quarter on a chip, one link: 4.00 ms in kernels",
        split(Split(gate=500, down=371, scatter=1201, gather=1241, links=1, weights="BFLOAT16", fidelity="HiFi4", config=False), attention=False),
        (
            gain("links", "two links", 1139, "scatter_2 gather_2", COLLECTIVE, f"1201 -> 655 and 1241 -> 648 us {TRACE}"),
            gain("bfp8", "BFLOAT8_B for the weights", None, MLP, BFP8, "with HiFi2: 1371 -> 1075 us of three matmuls"),
            gain("hifi2", "HiFi2", None, MLP, HIFI2, "with BFLOAT8_B: 1371 -> 1075 us of three matmuls"),
        ),
        f"how 1371 us are shared out over three matmuls; {MADE_UP}", 4000,
    ),
    laid(
        "dots4-document-mlp-narrow", LATER, "MLP of the document with two links, BFLOAT8_B and HiFi2, matmuls as TTNN chose",
        split(Split(gate=419, scatter=655, gather=648, config=False), attention=False),
        (
            gain("config", "a 1D config with in0_block_w 4 for gate and up, each core its own rows", 114, "gate up", rf"{INTERLEAVED_1D}|{CONFIG}|{BLOCK_W}|mcast_in0", "1075 -> 961 us of three matmuls"),
            dead("down-config", "a config for down", "down", rf"{CONFIG}|{BLOCK_W}", "each one refused: buffers too large for L1"),
        ),
        f"how 1075 us are shared out over three matmuls; {MADE_UP}",
    ),
    laid(
        "dots4-document-mlp-last", LATER, "MLP of the document with a config for gate and up: 2.46 ms in kernels",
        split(Split(scatter=655, gather=648), attention=False),
        (
            gain("down-sums", "sums in 16 bits for down", None, "down", SUMS_IN_32, "12 % less, thrown away for the recipe's sake; down's own time is not told"),
            dead("sums", "sums in 16 bits for gate and up", "gate up", SUMS_IN_32, "362 -> 369 us for one of them"),
            dead("block", "in0_block_w 8 and more for gate and up", "gate up", r"in0_block_w\D{0,4}(8|1\d|2\d|4\d)\b", "refused: buffers too large for L1"),
        ),
        f"down's time; {MADE_UP}", 2460,
    ),
    laid(
        "dots4-document-block", LATER, "a block of the document, a quarter on a chip, sums over the chips in BFLOAT16: 8.03 ms in kernels",
        split(Split()),
        (
            gain("out-bfp8", "what attention's projection hands to the sum over the chips in BFLOAT8_B", 376, "out scatter_1 gather_1 added_1", BFP8, f"8033 -> 7657 us {TRACE}"),
            gain("down-bfp8", "what the MLP hands to the sum over the chips in BFLOAT8_B", 520, "down scatter_2 gather_2 added_2", BFP8, f"7657 -> 7137 us {TRACE}, after attention's"),
        ),
        MADE_UP, 8033,
    ),
    laid(
        "dots4-document-block-narrow", LATER, "a block of the document, sums over the chips in BFLOAT8_B: 7.14 ms in kernels",
        split(Split(qkv=370, out=220, gate=350, down=205, scatter=540, gather=371, added=193.5, partial=BFP)),
        (dead("async", "the exchanges that run on their own semaphores (async)", "scatter_* gather_*", r"\b(all_gather|reduce_scatter(_minimal)?)_async|semaphore", "1.050 -> 1.259 ms of a pair"),),
        MADE_UP, 7137,
    ),
    laid(
        "dots4-document-merger", LATER, "what merges four patches each, 11,264 to 2816 rows in BFLOAT16: 3.54 ms in kernels",
        merger(DOCUMENT, up=(1873, "HiFi4", None), down=(509, 34, None), weights="BFLOAT16", rest=(240, 180, 198, 180, 337)),
        (
            gain("bfp8", "BFLOAT8_B for the weights", None, "up down", BFP8, "with HiFi2: 2416 -> 1825 us of both matmuls"),
            gain("hifi2", "HiFi2", None, "up down", HIFI2, "with BFLOAT8_B: 2416 -> 1825 us of both matmuls"),
        ),
        f"how 2416 us are shared out over both matmuls; {MADE_UP}", 3541,
    ),
    laid(
        "dots4-document-merger-narrow", LATER, "what merges four patches each with BFLOAT8_B and HiFi2, matmuls as TTNN chose",
        merger(DOCUMENT, up=(1513, "HiFi2", None), down=(509, 34, None), weights=BFP, rest=(240, 180, 198, 180, 337)),
        (
            gain("up", "a 2D config with in0_block_w 16 for the first matmul", 561, "up", rf"{TWO_D}|{CONFIG}|{BLOCK_W}", f"1513 -> 952 us {ALONE}"),
            gain("down", "a 2D config with in0_block_w 16 on all cores for the second matmul, its result straight in DRAM", 269, "down down_back", rf"{TWO_D}|{CONFIG}|{BLOCK_W}", "509 + 34 -> 274 us"),
        ),
        f"1513 us are of the matmul alone, and more than the sum of both leaves for it; {MADE_UP}",
    ),
    laid(
        "dots4-document-merger-last", LATER, "what merges four patches each, with configs: 2.36 ms in kernels",
        merger(DOCUMENT, up=(952, "HiFi2", UP), down=(274, 0, DOWN), weights=BFP, rest=(240, 180, 198, 180, 337)),
        (
            dead("block", "in0_block_w 4, 6 or 12 for the first matmul", "up", r"in0_block_w\D{0,4}(4|6|12)\b", "1.26, 1.14 and 1.13 ms an iteration; with 16 it was the fastest"),
            dead("block-24", "in0_block_w 24 and more for the first matmul", "up", r"in0_block_w\D{0,4}(24|32|48|96|192)\b", "refused: buffers too large for L1"),
            dead("out-block", "all columns of a core at once in the first matmul", "up", r"out_block_w\D{0,4}18\b", "refused from in0_block_w 6 on: buffers too large for L1"),
        ),
        MADE_UP, 2362,
    ),
    laid(
        "dots4-document-patches", LATER, "the projection of the document's patches and its norm: 519 us in kernels",
        boundary,
        (
            dead("shards", "the projection's result in block shards", "projection norm", SHARDED, "refused: buffers of 3,150,336 bytes, and L1 has 1,572,864"),
            dead("hifi2", "BFLOAT8_B with HiFi2 and sums in 32 bits", "projection", r"HiFi2|compute_kernel_config|fp32_dest_acc", "refused beside a result in L1; with one in DRAM 372.7 -> 468.1 us and the norm 145 -> 178"),
            dead("bfp8", "BFLOAT8_B for the weight", "projection", BFP8, "372.7 us as before; the tower 303.89 -> 304.06 ms"),
        ),
        MADE_UP, 519,
    ),
)  # fmt: skip
