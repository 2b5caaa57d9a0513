"""BGE-M3 (embeddings) on one Blackhole chip: a layer of its 24, texts of 512 tokens, replayed from a trace.

1024 channels, 16 heads of 64, a feed-forward of 4096, norms after the sums. Eight texts at a time, then sixteen. The log
tells the whole pass after each change, so a layer saves a 24th, and device times of kinds of ops between them. A later
file tells them at the end. Two changes for eight texts (Q, K and V in BFLOAT16; keys by 256) are left out: their
figures were in use before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, ROW_MAJOR, Block, chunks, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    A_2D,
    BFP8,
    HIFI2,
    IN_L1,
    INTERLEAVED_1D,
    LOFI,
    SDPA_CHUNKS,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Told
    from tests.profiles import Placement, Tensor

HOME = "models/demos/wormhole/bge_m3"
LOG = f"{TT_METAL}/fe9f0eee7ba4797e733c09ef22bd946442ce9897/{HOME}/tests/perf/B8_OPTIMIZATION_PROGRESS.md"
END = f"{TT_METAL}/11a48cbd15e15ba25aa5d03c2f9abe58aa3bce78/{HOME}/docs/baseline.md"
GRID, CORES = (11, 10), 110
HIDDEN, WIDE, HEADS, SIZE, WORDS, LAYERS = 1024, 4096, 16, 64, 512, 24
BF16, BF8 = "BFLOAT16", "BFLOAT8_B"


@dataclass(frozen=True)
class Stage:
    """What is set, and microseconds: Q, K and V, the output's, up, down; attention; heads cut, joined; two norms; a sum."""

    texts: int
    us: tuple[float, ...]
    plain: bool = False
    cast_us: float = 0
    qkv: str = BF16
    stream: str = BF8
    own_heads: bool = True
    keys: int | None = 512
    up: str | None = None
    down: str | None = None
    out: str | None = None
    up_place: Placement = DRAM
    down_place: Placement = DRAM
    out_place: Placement = DRAM
    norm_fp32: bool = True


def normed(  # noqa: PLR0917
    block: Block, stage: Stage, role: str, x: Tensor, us: float, residual: Tensor | None = None
) -> Tensor:
    """A norm that may take the sum in."""
    gamma, beta = (block.tensor([1, 1, HIDDEN // 32, 32], layout=ROW_MAJOR) for _ in range(2))
    given = (x, *([residual] if residual else []), gamma, beta)
    fp32 = stage.plain or stage.norm_fp32
    return block.op(
        role, "LayerNorm", given, block.tensor(x.shape, stage.stream), us, cores=CORES, fidelity="HiFi4",
        compute_kernel_config=block.kernel("HiFi4", fp32=fp32), distributed_norm_stage="DistributedLayerNormStage::NOT_DISTRIBUTED",
        dtype=None, eps="1e-05", fused_activation=None, norm_type="LayerNormType::LAYERNORM", output_mem_config=DRAM,
        program_config=PLAIN_NORM,
    )  # fmt: skip


def layer(stage: Stage) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        texts, rows, fidelity = stage.texts, stage.texts * WORDS, "HiFi4" if stage.plain else "HiFi2"
        qkv_us, out_us, up_us, down_us, attend_us, cut_us, join_us, one_us, two_us, sum_us = stage.us

        def linear(role: str, x: Tensor, n: int, us: float, *, dtype: str = BF8, out: str = BF8, act: str | None = None, config: str | None = None, place: Placement = DRAM) -> Tensor:  # fmt: skip
            low = "LoFi" if role in {"up", "down"} and not stage.plain else fidelity
            return block.linear(role, x, n, us, dtype=dtype, fidelity=low, fp32=stage.plain, config=config, cores=CORES, place=place, out=out, bias=True, act=None if config else act)  # fmt: skip

        x = block.tensor([1, 1, rows, HIDDEN], stage.stream)
        whole = linear("qkv", x, 3 * HIDDEN, qkv_us, dtype=stage.qkv, out=stage.qkv)
        whole = block.view(whole, [texts, 1, WORDS, 3 * HIDDEN])
        if stage.own_heads:
            parts = tuple(block.tensor([texts, HEADS, WORDS, SIZE], stage.qkv) for _ in range(3))
            block.op("heads", "GenericOp", (whole,), parts, cut_us, cores=CORES)
        else:
            parts = block.split_heads("heads", whole, cut_us, heads=HEADS, kv=HEADS, size=SIZE, rows=WORDS, batch=texts, cores=CORES)  # fmt: skip
        if stage.cast_us:
            parts = tuple(block.typecast(f"cast_{name}", one, BF16, stage.cast_us, cores=CORES) for name, one in zip("qkv", parts, strict=True))  # fmt: skip
        config = chunks(256, stage.keys, GRID, 8) if stage.keys else None
        y = block.attend("attend", *parts, attend_us, config=config, cores=CORES, causal=False, fidelity=fidelity, fp32=stage.plain)  # fmt: skip
        if stage.own_heads:
            y = block.op("joined", "GenericOp", (y,), block.tensor([texts, 1, WORDS, HIDDEN], y.dtype), join_us, cores=CORES)  # fmt: skip
        else:
            y = block.join_heads("joined", y, join_us, cores=CORES)
        y = linear("out", block.view(y, [1, 1, rows, HIDDEN]), HIDDEN, out_us, dtype=stage.qkv, config=stage.out, place=stage.out_place)  # fmt: skip
        x = normed(block, stage, "norm", y, one_us, residual=x)
        y = linear("up", x, WIDE, up_us, act="GELU", config=stage.up, place=stage.up_place)
        y = linear("down", y, HIDDEN, down_us, config=stage.down, place=stage.down_place)
        y = block.binary("sum", "ADD", x, y, sum_us, cores=CORES)
        normed(block, stage, "norm_feed", y, two_us)
        return block

    return build


UP8 = two_d(GRID, 8, (13, 12), subblock=(1, 4), act="GELU")
UP16 = two_d(GRID, 4, (26, 12), subblock=(2, 4), act="GELU")
DOWN16, OUT16 = two_d(GRID, 8, (26, 3), subblock=(2, 1)), two_d(GRID, 4, (26, 3), subblock=(2, 3))
EIGHT_PLAIN = Stage(8, (280, 90, 583, 246, 365.9, 103.9, 52.3, 82.5, 74.5, 27), plain=True, cast_us=37.6, qkv=BF8, own_heads=False, keys=None)  # fmt: skip
EIGHT_LOW = Stage(8, (155, 85, 404, 127, 364.6, 103.5, 52.4, 76.9, 68.9, 27), cast_us=37.7, qkv=BF8, own_heads=False, keys=None, norm_fp32=False)  # fmt: skip
EIGHT_UP = Stage(8, (170, 85, 126, 130, 306.2, 103.6, 52.5, 76.8, 68.8, 27), qkv=BF8, cast_us=37.7, own_heads=False, up=UP8, norm_fp32=False)  # fmt: skip
EIGHT_BF16 = Stage(8, (178, 88, 128, 132, 306, 128, 66, 76.8, 68.8, 27), own_heads=False, up=UP8, norm_fp32=False)
EIGHT_HEADS = Stage(8, (178, 88, 128, 132, 306, 106, 60.5, 76.8, 68.8, 27), up=UP8, norm_fp32=False)
EIGHT_END = Stage(8, (175, 60, 92, 71, 304.9, 92, 50, 46.9, 46.9, 29.3), keys=256, up=UP8, up_place=L1, down_place=L1, out_place=L1, norm_fp32=False)  # fmt: skip
SIXTEEN_PLAIN = Stage(16, (580, 180, 1190, 500, 732, 208, 105, 115, 105, 85), plain=True, cast_us=75, qkv=BF8, own_heads=False, keys=None)  # fmt: skip
SIXTEEN_LOW = Stage(16, (310, 102, 810, 339, 728, 205, 120, 107, 80, 85), stream=BF16)
SIXTEEN_UP = Stage(16, (310, 102, 278, 339, 728, 205, 120, 107, 80, 85), up=UP16, stream=BF16)
SIXTEEN_KEYS = Stage(16, (310, 102, 278, 339, 583, 205, 120, 107, 80, 85), up=UP16, keys=256, stream=BF16)
SIXTEEN_DOWN = Stage(16, (310, 90, 278, 220, 583, 205, 120, 107, 80, 85), up=UP16, keys=256, stream=BF16, down=DOWN16, out=OUT16)  # fmt: skip
SIXTEEN_END = Stage(16, (230, 90, 280, 220, 344, 128, 75, 107, 80, 85), up=UP16, keys=256, stream=BF16, down=DOWN16, out=OUT16, qkv=BF8)  # fmt: skip

FIDELITY = rf"{LOFI}|{HIFI2}|fp32_dest_acc_en|(without|no).{{0,12}}fp32"
OWN_HEADS = r"own (op|kernel)|custom|generic_op|fused? .{0,30}heads|head.?group"
SMALLER_GRID = r"8 ?[x×] ?8|64 cores|compute_with_storage_grid_size"  # noqa: RUF001
CAST_BACK = r"(?s)bfloat8_b.*typecast|typecast.*bfloat8_b"
MADE_UP = "which matmuls are LoFi and which HiFi2; how the matmuls share their time; TTNN's own configs; formats of the stream; core counts; gaps"


def part(before: float, after: float) -> float:
    """A layer's share of what a pass saved, from milliseconds."""
    return round((before - after) * 1e3 / LAYERS, 1)


def wall(  # noqa: PLR0917
    id: str, what: str, ms: tuple[float, float], roles: str, names: str, more: str = ""  # noqa: A002
) -> Told:  # fmt: skip
    return gain(id, what, part(*ms), roles, names, f"{ms[0]:.2f} -> {ms[1]:.2f} ms for a pass of 24 layers{more}")


BGE_M3_EIGHT = (
    laid(
        "bge-eight", LOG, "eight texts: 48.98 ms, 48.59 of them on the device", layer(EIGHT_PLAIN),
        (wall("fidelity", "LoFi or HiFi2 without fp32 sums in matmuls, attention and norms", (48.98, 38.35), "qkv out up down attend norm*", FIDELITY),),
        f"{MADE_UP}; attention's chunks before", pass_us=2024.6,
    ),
    laid(
        "bge-eight-low", LOG, "eight texts at low fidelity: 38.35 ms, 38.0 of them on the device", layer(EIGHT_LOW),
        (
            gain("chunks", "attention's queries by 256 and keys by 512, eight cores a head at most", 58.4, "attend", SDPA_CHUNKS, "364.6 -> 306.2 us a call; 38.35 -> 36.86 ms of a pass"),
            gain("up", "a 2D config for up: 11 x 10 cores, in0_block_w 8, subblocks of 1 x 4", 260.0, "up", A_2D, "18.51 -> 12.27 ms of all matmuls of 24 layers; 400 -> 101.9 us alone; 36.86 -> 30.59 ms of a pass"),
        ),
        f"{MADE_UP}; attention's chunks before", pass_us=1583,
    ),
    laid(
        "bge-eight-up", LOG, "eight texts, up set by hand: 30.59 ms, 30.35 of them on the device", layer(EIGHT_UP),
        (dead("2d", "2D configs for Q, K and V, the output's projection and down", "qkv out down", A_2D, "0.5 to 0.8 of the speed of what TTNN chose, alone"),),
        MADE_UP, pass_us=1264.6,
    ),
    laid(
        "bge-eight-bf16", LOG, "eight texts, Q, K and V in BFLOAT16: 29.60 ms", layer(EIGHT_BF16),
        (wall("heads", "own ops that cut heads, four at a time, and join sixteen", (29.60, 28.94), "heads joined", OWN_HEADS),),
        MADE_UP,
    ),
    laid(
        "bge-eight-heads", LOG, "eight texts, own ops for heads: 28.94 ms", layer(EIGHT_HEADS),
        (
            wall("up-l1", "up writes to L1", (28.94, 26.40), "up down", IN_L1),
            wall("down-l1", "down writes to L1", (26.40, 25.98), "down sum norm_feed", IN_L1, ", with up's in L1"),
            wall("out-l1", "the output's projection writes to L1", (25.98, 24.56), "out norm", IN_L1, ", with up's and down's in L1"),
        ),
        MADE_UP,
    ),
    laid(
        "bge-eight-end", END, "eight texts in the end: 24.30 ms; later 23.57 ms of kernels", layer(EIGHT_END),
        (
            dead("2d", "2D configs for Q, K and V and the output's projection", "qkv out", A_2D, "what TTNN chose stays the fastest over four grids", LOG),
            dead("down-2d", "a 2D config for down", "down", A_2D, "1.017 times as fast alone: not taken", LOG),
            dead("heads-l1", "heads are cut into L1", "heads", IN_L1, "refused: it collides with the buffers of attention", LOG),
            dead("norm", "sharded norms", "norm*", SHARDED, "refused: shards of 512 rows collide with what is in L1", LOG),
            dead("grid", "8 x 8 cores for attention", "attend", SMALLER_GRID, "24.30 -> 24.89 ms", LOG),
            dead("bf8", "Q, K and V and the scores in BFLOAT8_B", "qkv heads attend joined", BFP8, "24.30 -> 18.65 ms, and not taken: PCC 0.9249", LOG, faster=True),
        ),
        f"{MADE_UP}; times of single ops of a kind", pass_us=982,
    ),
)  # fmt: skip
BGE_M3 = (
    laid(
        "bge-sixteen", LOG, "sixteen texts: 94.76 ms", layer(SIXTEEN_PLAIN),
        (gain("fidelity", "LoFi or HiFi2 without fp32 sums in matmuls, attention and norms", None, "qkv out up down attend norm*", FIDELITY, "94.76 -> 70.65 ms for a pass, with larger chunks, own ops for heads and BFLOAT16 for Q, K and V: no figure for it alone"),),
        f"{MADE_UP}; all times: about twice those of eight texts",
    ),
    laid(
        "bge-sixteen-low", LOG, "sixteen texts at low fidelity: 70.65 ms", layer(SIXTEEN_LOW),
        (
            gain("up", "a 2D config for up: 11 x 10 cores, in0_block_w 4, subblocks of 2 x 4", 532.3, "up", A_2D, "810 -> 277.7 us; 70.65 -> 57.80 ms for a pass"),
            dead("up-1d", "a 1D config for up, weights sent to all", "up", INTERLEAVED_1D, "refused: 128 tiles of columns a core need 2.6 MB of L1"),
        ),
        MADE_UP,
    ),
    laid(
        "bge-sixteen-up", LOG, "sixteen texts, up set by hand: 57.80 ms", layer(SIXTEEN_UP),
        (wall("keys", "attention's keys by 256", (57.80, 54.33), "attend", SDPA_CHUNKS),),
        MADE_UP,
    ),
    laid(
        "bge-sixteen-keys", LOG, "sixteen texts, keys by 256: 54.33 ms", layer(SIXTEEN_KEYS),
        (wall("down", "2D configs for down (in0_block_w 8, subblocks of 2 x 1) and the output's projection", (54.33, 50.84), "down out", A_2D, "; alone 1.54 and 1.13 times as fast"),),
        MADE_UP,
    ),
    laid(
        "bge-sixteen-down", LOG, "sixteen texts, three matmuls set by hand: 50.86 ms", layer(SIXTEEN_DOWN),
        (
            wall("bf8", "Q, K and V and the scores in BFLOAT8_B, so their weights too", (50.86, 38.57), "qkv heads attend joined out", BFP8, ": attention 14 -> 8 ms, heads 7.8 -> 4 ms, Q, K and V 310 -> 230 us"),
            dead("bf8-alone", "Q, K and V in BFLOAT8_B, and cast back for attention", "qkv heads attend", CAST_BACK, "no gain: the casts eat it"),
            dead("l1", "projections write to L1", "out up down sum", IN_L1, "refused: 16 to 32 MB collide with the matmuls' buffers"),
            dead("norm", "sharded norms", "norm*", SHARDED, "refused: more than 64 cores hold"),
            dead("norm-fp32", "no fp32 sums in norms", "norm*", r"fp32_dest_acc_en|(without|no).{0,12}fp32", "0.5 ms less for a pass, and not taken: PCC 0.9359", faster=True),
            dead("qkv-2d", "a 2D config for Q, K and V", "qkv", A_2D, "50.88 -> 51.22 ms with in0_block_w 4; 8 is more than L1 holds"),
            dead("exp", "attention's approximate exponent", "attend", r"exp_approx", "50.86 -> 50.92 ms"),
            dead("groups", "other numbers of heads at a time in the own ops", "heads joined", r"head.?group|heads (at a time|per)", "no change"),
            dead("grid", "8 x 8 cores for attention", "attend", SMALLER_GRID, "not taken: 256 pairs of text and head want all cores"),
        ),
        MADE_UP,
    ),
    laid(
        "bge-sixteen-end", END, "sixteen texts in the end: 38.57 ms; later 38.83 ms of kernels", layer(SIXTEEN_END),
        (
            dead("qkv-2d", "a 2D config for Q, K and V", "qkv", A_2D, "38.58 ms or more; in0_block_w 8 is more than L1 holds", LOG),
            dead("norm-bf8", "norms that write BFLOAT8_B", "norm*", BFP8, "refused: a norm writes what it reads, and a cast more costs more", LOG),
        ),
        f"{MADE_UP}; one cast a layer is left out; times of sums and casts, which the profile tells shorter", pass_us=1618,
    ),
)  # fmt: skip
