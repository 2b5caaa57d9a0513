"""Janus-Pro 7B's vision tower on one Wormhole chip (N150): one of its 24 blocks, then what stands around them.

576 tokens of an image of 384 x 384 pixels, 1024 wide, 16 heads of 64, an MLP of 4096: 18 rows of tiles. The ledger tells
the kernel times of all ops in 32 states, each one change after the one before, and what was tried and thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, Block, chunks, norm_shards, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    CONFIG,
    CORES,
    HIFI2,
    IN_L1,
    INTERLEAVED_1D,
    LOFI,
    MINIMAL,
    SDPA_CHUNKS,
    SHARDED,
    TWO_D,
)
from tests.profiles import block_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/experimental/janus_pro/perf_reports"
FIRST = f"{TT_METAL}/32af1cb4d4b9eb46f574e95bf9b314e366cfaef0/{FOLDER}"
EARLY = f"{TT_METAL}/1a59ab12f28b152cfc9f2e273f625635a3804b80/{FOLDER}"
ALIGNED = f"{TT_METAL}/23a00922872c4d5b9273da6f7ac21900c6612970/{FOLDER}"
LATER = f"{TT_METAL}/e39e8245b4e6fd133c5c155633d17a5f8483d1eb/{FOLDER}"
ENDS = f"{LATER}/DEAD_ENDS.md"
TRIED = f"{LATER}/CANDIDATES-2026-08-20.md"
CFC_SHARDS = f"{TT_METAL}/3cff7544b5cb6a2c8fa90a4cadf2853db72c43a6/{FOLDER}/26-cfc-output-block-sharded.md"
HEADS_IN_L1 = f"{TT_METAL}/f0e7d89209ad7d2ca017d5a4507789546053f76c/{FOLDER}/27-qkv-heads-output-l1.md"
ATTENDED_IN_L1 = f"{TT_METAL}/49912181442a1fb0c37039a1c976fb97cfc621de/{FOLDER}/28-sdpa-output-l1.md"
ALL_IN_L1 = f"{TT_METAL}/be742e707dd44f3b984a2ff9cf02c33cc3f28c26/{FOLDER}/29-encoder-activations-in-l1.md"
GRID, SHARDS, ROWS, HIDDEN, WIDE, HEADS, SIZE = (8, 8), (8, 6), 576, 1024, 4096, 16, 64
HIGH, BROAD = ROWS // SHARDS[1], HIDDEN // SHARDS[0]
IN_BLOCKS = block_sharded(HIGH, BROAD, SHARDS)
BFP = "BFLOAT8_B"


def spread(block: int, columns: int, act: str | None = None) -> str:
    """A 2D config on 48 cores: three rows of tiles each."""
    return two_d(SHARDS, block, (3, columns), subblock=(1, 4), act=act)


def coarse(config: str) -> str:
    """The same with an approximate GELU."""
    return config.replace("UnaryOpType::GELU,param={}", "UnaryOpType::GELU,param={1}")


FC_1D = one_d(GRID, 8, (18, 2), subblock=(2, 2), act="GELU")
FC_2D = coarse(spread(4, 16, "GELU"))


@dataclass(frozen=True)
class How:
    """One block in one state; times in us of each op."""

    norm: float
    qkv: float
    heads: float
    sdpa: float
    joined: float
    out: float
    fc: float
    down: float
    sums: float
    biases: tuple[float, float, float, float] = (0, 0, 0, 0)  # adds after QKV, out, fc, down; 0: in the matmul
    gelu: float = 0  # 0: in the matmul
    fidelity: str = "HiFi2"
    weights: str = BFP
    chunk: tuple[int, int] = (192, 576)
    attention: tuple[str, bool] = ("HiFi4", True)  # fidelity, sums in FLOAT32
    qkv_out: str = BFP
    fc_out: str = BFP
    branch: str = BFP
    fc_config: str | None = None
    cast: float = 0  # of a norm's result
    entry: float = 0  # into block shards before a norm
    back: tuple[float, float] = (0, 0)  # out of them after each norm, to BFLOAT8_B
    configs: bool = False  # of QKV, out and down
    branch_shards: bool = False  # results of out and down, and so the sums
    qkv_shards: float = 0  # us to take QKV's result out of its shards
    unsharded: str = "L1"
    fc_shards: bool = False
    heads_in: str = "DRAM"
    attended_in: str = "DRAM"
    joined_in: str = "DRAM"


def normed(block: Block, how: How, number: int, x: Tensor) -> Tensor:
    """A norm, and how its result gets to the matmul behind it."""
    back = how.back[number - 1]
    sharded = bool(how.entry) or how.branch_shards
    if how.entry:
        x = block.to_shards(f"entry_{number}", x, IN_BLOCKS, how.entry)
    config = norm_shards(SHARDS, 4, block_h=3) if sharded else PLAIN_NORM
    x = block.norm(f"norm_{number}", x, how.norm, cores=48 if sharded else 18, config=config, kind="LAYERNORM")
    if how.cast:
        return block.typecast(f"cast_{number}", x, BFP, how.cast, cores=64)
    if back:
        return block.moved(f"back_{number}", "ShardedToInterleaved", x, back, place=DRAM, cores=48, dtype=BFP, num_slices=1, output_dtype=f"DataType::{BFP}", slice_index=0)  # fmt: skip
    return x


def encoder(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", grid=GRID, gap_us=1.2)
        near = {"L1": L1, "DRAM": DRAM}
        coarse_sums = how.fidelity == "LoFi"

        def linear(role: str, x: Tensor, n: int, us: float, config: str | None, *, out: str, place=DRAM, folded: bool, act: str | None = None, cores: int = 48) -> Tensor:  # fmt: skip
            return block.linear(
                role, x, n, us, dtype=how.weights, fidelity=how.fidelity, config=config, cores=cores, place=place, out=out,
                fp32=not coarse_sums, bias=folded, grid=None if config else GRID, act=act,
            )  # fmt: skip

        def biased(role: str, x: Tensor, us: float) -> Tensor:
            return block.binary(role, "ADD", x, block.tensor([1, 1, 1, x.shape[-1]]), us, cores=64) if us else x

        x = block.tensor([1, 1, ROWS, HIDDEN], place=IN_BLOCKS if how.branch_shards else DRAM)
        place = block_sharded(HIGH, 3 * BROAD, SHARDS) if how.qkv_shards else DRAM
        qkv = linear("qkv", normed(block, how, 1, x), 3 * HIDDEN, how.qkv, spread(4, 12) if how.configs else None, out=how.qkv_out, place=place, folded=not how.biases[0])  # fmt: skip
        qkv = biased("qkv_bias", qkv, how.biases[0])
        if how.qkv_shards:
            qkv = block.from_shards("unshard", qkv, how.qkv_shards, near[how.unsharded])
        q, k, v = block.split_heads("heads", qkv, how.heads, heads=HEADS, kv=HEADS, size=SIZE, rows=ROWS, place=near[how.heads_in], cores=18)  # fmt: skip
        fidelity, fp32 = how.attention
        made = block.attend("sdpa", q, k, v, how.sdpa, config=chunks(*how.chunk, GRID), cores=64, causal=False, fidelity=fidelity, fp32=fp32, place=near[how.attended_in])  # fmt: skip
        made = block.join_heads("joined", made, how.joined, place=near[how.joined_in], cores=18)
        place = IN_BLOCKS if how.branch_shards else DRAM
        made = linear("out", made, HIDDEN, how.out, spread(8, 4) if how.configs else None, out=how.branch, place=place, folded=not how.biases[1])  # fmt: skip
        made = biased("out_bias", made, how.biases[1])
        x = block.binary("sum_1", "ADD", x, made, how.sums, cores=64)
        fed = normed(block, how, 2, x)
        place = block_sharded(HIGH, 4 * BROAD, SHARDS) if how.fc_shards else L1 if how.fc_config else DRAM
        act = "GELU" if not how.gelu and not how.fc_config else None
        cores = 64 if how.fc_config and "1DProgram" in how.fc_config else 48
        fed = linear("fc", fed, WIDE, how.fc, how.fc_config, out=how.fc_out, place=place, folded=not how.biases[2], act=act, cores=cores)  # fmt: skip
        fed = biased("fc_bias", fed, how.biases[2])
        if how.gelu:
            fed = block.unary("gelu", "GELU", fed, how.gelu, cores=64, parameter="0")
        place = IN_BLOCKS if how.branch_shards else DRAM
        fed = linear("down", fed, HIDDEN, how.down, spread(16, 4) if how.configs else None, out=how.branch, place=place, folded=not how.biases[3])  # fmt: skip
        fed = biased("down_bias", fed, how.biases[3])
        block.binary("sum_2", "ADD", x, fed, how.sums, cores=64)
        return block

    return build


@dataclass(frozen=True)
class Around:
    """The patches' projection, and the aligner behind the last block; times in us."""

    patch: float
    fc: float
    hidden: float
    biases: float = 0  # each of the aligner's two
    gelu: float = 0
    fidelity: str = "HiFi2"
    weights: str = BFP
    sharded: bool = False  # what the last block leaves
    configs: bool = False
    fp32: bool = True


def around(how: Around) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", grid=GRID, gap_us=1.2)
        patches = block.tensor([1, 1, ROWS, 768])
        x = block.linear("patch", patches, HIDDEN, how.patch, cores=48, grid=GRID, fp32=True)
        x = block.binary("patch_bias", "ADD", x, block.tensor([1, 1, 1, HIDDEN]), 21, cores=64)
        x = block.binary("positions", "ADD", x, block.tensor(x.shape), 22, cores=64)
        if how.sharded:
            block.to_shards("entry", x, IN_BLOCKS, 7.6)
        x = block.tensor([1, 1, ROWS, HIDDEN], place=IN_BLOCKS if how.sharded else DRAM)
        x = block.norm("norm", x, 19.1 if how.sharded else 32.4, cores=48 if how.sharded else 18, config=norm_shards(SHARDS, 4, block_h=3) if how.sharded else PLAIN_NORM, kind="LAYERNORM")  # fmt: skip
        for role, us, config, act in (
            ("aligner_fc", how.fc, spread(4, 16, None if how.gelu else "GELU"), "GELU"),
            ("aligner_hidden", how.hidden, spread(4, 16), None),
        ):
            x = block.linear(role, x, WIDE, us, dtype=how.weights, fidelity=how.fidelity, config=config if how.configs else None, cores=48, fp32=how.fp32, bias=not how.biases, grid=None if how.configs else GRID)  # fmt: skip
            if how.biases:
                x = block.binary(f"{role}_bias", "ADD", x, block.tensor([1, 1, 1, WIDE]), how.biases, cores=64)
            if act and how.gelu:
                x = block.unary("aligner_gelu", "GELU", x, how.gelu, cores=64, parameter="0")
        return block

    return build


OPEN = "BFLOAT16"
WIDE_FORMATS = {"weights": OPEN, "qkv_out": OPEN, "fc_out": OPEN, "branch": OPEN}
S0 = How(32.26, 138.5, 63.57, 182.6, 20.35, 50.8, 179.2, 130.3, 22.4, (53.8, 20.5, 90.6, 20.5), 122.57, "HiFi4", chunk=(256, 256), **WIDE_FORMATS)  # fmt: skip
S1 = How(32.37, 128.7, 64.7, 181.63, 20.46, 46.9, 273.8, 125.1, 22.4, (53.8, 20.5, 0, 20.5), chunk=(256, 256), **WIDE_FORMATS)  # fmt: skip
S3 = How(32.45, 128.2, 63.71, 111.56, 20.89, 46.3, 234.7, 125.2, 22.4, (53.8, 20.5, 0, 20.5), chunk=(192, 192), fc_config=FC_1D, **WIDE_FORMATS)  # fmt: skip
S4 = How(32.44, 128.4, 63.6, 111.74, 20.92, 46.2, 138.4, 125.2, 22.4, (53.8, 20.5, 0, 20.5), chunk=(192, 192), fc_config=coarse(FC_1D), **WIDE_FORMATS)  # fmt: skip
S7 = How(32.44, 134.2, 63.06, 111.65, 20.63, 47.9, 138.3, 126.5, 22.36, chunk=(192, 192), fc_config=coarse(FC_1D), **WIDE_FORMATS)  # fmt: skip
S8 = How(32.55, 108.9, 62.97, 112.29, 20.68, 43.1, 134, 102.9, 22.34, chunk=(192, 192), fc_config=coarse(FC_1D), qkv_out=OPEN, fc_out=OPEN, branch=OPEN)  # fmt: skip
S12 = How(32.67, 82.9, 51.88, 102.6, 17.78, 31.8, 122.9, 87.1, 18.57, chunk=(192, 192), fc_config=coarse(FC_1D))  # fmt: skip
S14 = How(32.8, 81.3, 50.76, 95.15, 17.98, 31.4, 81.2, 86.6, 18.87, fc_config=coarse(FC_1D), cast=11.17)
S15 = replace(S14, norm=19.93, qkv=80.7, heads=51.01, sdpa=94.51, joined=17.63, fc=79.7, down=86.4, sums=18.63, cast=0, entry=8.01, back=(6.3, 6.3))  # fmt: skip
S16 = replace(S15, norm=20.18, qkv=80.5, heads=50.91, sdpa=95.1, joined=17.7, out=29.8, fc=79.6, down=74.9, sums=18.51, entry=7.4, back=(6.32, 6.32), configs=True)  # fmt: skip
S17 = replace(S16, norm=19.4, heads=51.31, sdpa=95.02, joined=18.14, out=21.6, fc=80.7, down=66.1, sums=3.2, entry=0, back=(6.39, 6.39), branch_shards=True)  # fmt: skip
S18 = replace(S17, norm=19.52, qkv=55.4, heads=50.87, sdpa=94.99, joined=17.9, out=21.7, fc=80.6, down=66.3, qkv_shards=13.7, unsharded="DRAM")  # fmt: skip
S20 = replace(S18, heads=48.22, sdpa=88.04, joined=17.95, qkv_shards=9.2, unsharded="L1", attention=("HiFi2", True))
S21 = replace(S20, norm=19.01, qkv=56.2, heads=48.2, sdpa=67.13, joined=17.78, fc=80.7, down=65.5, attention=("HiFi2", False))  # fmt: skip
S22 = replace(S21, norm=18.7, qkv=47.5, heads=48.11, sdpa=67.12, joined=17.73, out=18.3, fc=75.3, down=54.5, fidelity="LoFi")  # fmt: skip
S25 = replace(S22, norm=19.11, qkv=48.2, heads=48.53, sdpa=66.83, joined=17.82, fc=78.2, down=55.5, back=(0, 0), qkv_shards=9.57, fc_config=FC_2D)  # fmt: skip
S26 = replace(
    S25, norm=19.06, heads=48.49, sdpa=66.88, joined=18.28, fc=72.4, down=55, qkv_shards=9.68, fc_shards=True
)
S30 = replace(S26, norm=19.16, qkv=48.8, heads=35.53, sdpa=65.95, joined=13.22, out=18, down=54.9, sums=2.7, qkv_shards=9.57, heads_in="L1", attended_in="L1", joined_in="L1")  # fmt: skip

BIAS = r"\bbias"
APPROXIMATE = r"approx"
BY_BLOCKS = r"BLOCK_SHARDED|block.?shard"
SUMS_IN_32 = r"fp32_dest_acc_en|fp32 dest|sums? in 32|FLOAT32.{0,30}(sum|accum)|accumulat.{0,30}(fp32|FLOAT32)"
IN_PLACE = rf"{SHARDED}|in place|sharded_to_interleaved|to_memory_config"
SUBBLOCK = r"out_subblock|subblock"
BODY = "qkv out fc down"
MADE_UP = (
    "gaps; cores of the ops that move or add; the times of one add among its kind, and of the block's fc where the ledger "
    "tells its mean with the aligner's; subblocks, and fields of configs that it does not tell; no ops around the block"
)
ADDS = f"the time of one bias's add, which follows from the sums before and after; {MADE_UP}"

JANUS = (
    laid(
        "janus-first", f"{FIRST}/00-baseline-unoptimized.md", "a block as it first ran: HiFi4, all in BFLOAT16 and DRAM, biases and GELU as ops of their own; the tower 29.5 ms",
        encoder(S0),
        (
            gain("hifi2", "HiFi2 for QKV, out and down", 18.9, "qkv out down", HIFI2, "138.5 -> 128.7, 50.8 -> 46.9 and 130.3 -> 125.1 us", f"{EARLY}/01-hifi2-fused-gelu.md"),
            gain("gelu", "GELU in fc's matmul", None, "fc gelu", ACTIVATION_IN_MATMUL, "with the bias and HiFi2: 179.2 + 90.6 + 122.6 -> 273.8 us", f"{EARLY}/01-hifi2-fused-gelu.md"),
            gain("fc-bias", "fc's bias in its matmul", None, "fc fc_bias", BIAS, "with GELU and HiFi2: 179.2 + 90.6 + 122.6 -> 273.8 us", f"{EARLY}/01-hifi2-fused-gelu.md"),
            dead("fc-fidelity", "HiFi2 for fc alone", "fc", HIFI2, "178 and 177 us, before the campaign and by another test", ENDS),
            dead("grid", "8 x 8 cores for 6 x 8", BODY, r"core_grid", "the same 48 cores from either, before the campaign", ENDS),
            dead("qkv-1d", "a 1D config for QKV", "qkv", INTERLEAVED_1D, "33 % slower: 96 tiles of columns cannot spread past 48 cores", ENDS),
        ),
        ADDS,
    ),
    laid(
        "janus-hifi2", f"{EARLY}/01-hifi2-fused-gelu.md", "a block in HiFi2, GELU and fc's bias in its matmul; the tower 26.2 ms",
        encoder(S1),
        (
            gain("chunks", "attention in chunks of 192 instead of 256", 71.2, "sdpa", SDPA_CHUNKS, "181.63 -> 110.43 us: 576 rows are three chunks", f"{EARLY}/02-sdpa-chunk-192.md"),
            gain("fc-1d", "a 1D config on 64 cores for fc, its result in L1", 38.9, "fc", rf"{INTERLEAVED_1D}|{CORES}|{IN_L1}", "273.6 -> 234.7 us", f"{EARLY}/03-cfc-1d-reuse-l1.md"),
            dead("qkv-1d", "a 1D config for QKV", "qkv", INTERLEAVED_1D, "33 % slower", f"{EARLY}/03-cfc-1d-reuse-l1.md"),
        ),
        ADDS,
    ),
    laid(
        "janus-1d", f"{EARLY}/03-cfc-1d-reuse-l1.md", "a block with chunks of 192 and fc on 64 cores; the tower 23.5 ms",
        encoder(S3),
        (gain("gelu", "an approximate GELU", 96.3, "fc", APPROXIMATE, "234.7 -> 138.4 us; the tower's PCC 0.99453 -> 0.97697", f"{EARLY}/04-approx-gelu.md"),),
        ADDS,
    ),
    laid(
        "janus-approximate", f"{EARLY}/04-approx-gelu.md", "a block with an approximate GELU, three biases still ops of their own; the tower 21.2 ms",
        encoder(S4),
        (
            gain("qkv-bias", "QKV's bias in its matmul", 47.6, "qkv qkv_bias", BIAS, "all adds of the tower 3.567 -> 2.277 ms, QKV 128.4 -> 134.6 us, 24 times", f"{EARLY}/05-qkv-bias-fused.md"),
            gain("branch-biases", "the biases of out and down in their matmuls", 37.6, "out out_bias down down_bias", BIAS, "the tower 20.037 -> 19.135 ms, 24 times both", f"{EARLY}/06-post-reduce-biases-fused.md"),
            dead("exp", "approximate exponentials", "sdpa", r"exp_approx", "within noise, results equal bit for bit", ENDS),
        ),
        ADDS,
    ),
    laid(
        "janus-biased", f"{ALIGNED}/07-aligner-biases-hifi2.md", "a block with all biases in the matmuls, all in BFLOAT16; the tower 18.9 ms",
        encoder(S7),
        (
            gain("weights", "BFLOAT8_B weights", 57.9, BODY, BFP8, "134.2 -> 108.9, 47.9 -> 43.1, 139.9 -> 135.7 and 126.5 -> 102.9 us", f"{FIRST}/08-bfp8-projection-weights.md"),
            dead("sums-in-l1", "the sums in L1, interleaved", "sum_1 sum_2 norm_1 norm_2 qkv", IN_L1, "133.8 -> 1195.6 us for QKV: TTNN then takes a 1D config; 134 % in all", ENDS),
            dead("all-in-l1", "the sums and the results of matmuls in L1", f"sum_1 sum_2 norm_1 norm_2 {BODY}", IN_L1, "149 % slower", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-narrow-weights", f"{FIRST}/08-bfp8-projection-weights.md", "a block with BFLOAT8_B weights, results in BFLOAT16; the tower 17.6 ms",
        encoder(S8),
        (
            gain("qkv-out", "QKV's result in BFLOAT8_B, and so heads, attention and their join", 51.8, "qkv heads sdpa joined out", BFP8, "108.9 -> 83.4, 62.97 -> 50.93, 112.29 -> 103.59, 20.68 -> 17.95 and 43.1 -> 40.3 us", f"{FIRST}/09-bfp8-qkv-output.md"),
            gain("fc-out", "fc's result in BFLOAT8_B", 17.3, "fc down", BFP8, "135.6 -> 125.1 (a mean with the aligner's) and 102.9 -> 96.1 us", f"{FIRST}/10-bfp8-cfc-intermediate.md"),
            gain("branch-out", "the results of out and down in BFLOAT8_B", 23.3, "out down sum_1 sum_2", BFP8, "40.3 -> 31.8, 96.1 -> 87.3 and, twice, 21.68 -> 18.70 us, after the two others", f"{FIRST}/11-bfp8-branch-outputs.md"),
        ),
        MADE_UP,
    ),
    laid(
        "janus-narrow", f"{FIRST}/12-bfp8-aligner-weights.md", "a block with weights and results in BFLOAT8_B but for norms and sums; the tower 15.1 ms",
        encoder(S12),
        (
            gain("chunks", "one chunk of all 576 keys", 8, "sdpa", SDPA_CHUNKS, "102.60 -> 94.62 us", f"{FIRST}/13-asymmetric-sdpa-chunks.md"),
            gain("norms", "the norms' results cast to BFLOAT8_B", 21.2, "norm_1 norm_2 qkv fc", BFP8, "123.8 -> 84.1 us for fc and 83.2 -> 81.3 for QKV, two casts of 11.2 us: the tower 14.883 -> 14.375 ms", f"{FIRST}/14-bfp8-norm-outputs.md"),
            dead("sums", "the sums in BFLOAT8_B in all blocks", "sum_1 sum_2 norm_1 norm_2 qkv fc", BFP8, "8.7 % faster and refused: PCC 0.9765 for a bar of 0.99", ENDS),
            dead("bfp4", "BFLOAT4_B weights", BODY, BFP4, "refused: PCC 0.858 and 0.857 for a bar of 0.95, in HiFi2 and HiFi4", ENDS),
            dead("transposed", "transpose_mcast for QKV", "qkv", r"transpose_mcast", "82.9 -> 124.6 us", ENDS),
            dead("blocks", "in0_block_w 2 or 16 for QKV, TTNN's being 4", "qkv", BLOCK_W, "3.7 and 0.44 % slower", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-cast", f"{FIRST}/14-bfp8-norm-outputs.md", "a block with the norms' results cast to BFLOAT8_B; the tower 14.4 ms",
        encoder(S14),
        (
            gain("norm-shards", "the norms in block shards on 48 cores instead of 18, narrowed on the way out", 19.4, "norm_1 norm_2 cast_1 cast_2", rf"{SHARDED}|{CORES}", "32.73 + 11.16 -> 7.97 + 19.99 + 6.23 us, twice", f"{FIRST}/15-block-sharded-layernorm.md"),
            dead("shards-then-cast", "norms in block shards, their results cast in DRAM by an op of their own", "cast_1 cast_2 norm_1 norm_2", rf"(?s)({SHARDED}).*(typecast|cast)", "43.89 -> 45.35 us", f"{FIRST}/15-block-sharded-layernorm.md"),
            dead("few-cores", "block shards on 16, 12 or 8 cores", "norm_1 norm_2", r"\b(16|12|8) cores", "33.09 -> 39.70, 36.54 and 68.64 us alone", f"{FIRST}/15-block-sharded-layernorm.md"),
        ),
        MADE_UP,
    ),
    laid(
        "janus-norm-shards", f"{FIRST}/15-block-sharded-layernorm.md", "a block with its norms in block shards, matmuls as TTNN chose but for fc; the tower 13.8 ms",
        encoder(S15),
        (
            gain("down", "a 2D config with in0_block_w 16 for down", 11.5, "down", rf"{BLOCK_W}|{TWO_D}|{CONFIG}", "86.4 -> 74.9 us", f"{FIRST}/16-explicit-2d-configs.md"),
            gain("out", "a 2D config with in0_block_w 8 for out", 1.6, "out", rf"{BLOCK_W}|{TWO_D}|{CONFIG}", "31.4 -> 29.8 us", f"{FIRST}/16-explicit-2d-configs.md"),
            dead("qkv", "a 2D config with in0_block_w 4 for QKV", "qkv", rf"{BLOCK_W}|{TWO_D}|{CONFIG}", "80.7 -> 80.5 us: what TTNN chose", f"{FIRST}/16-explicit-2d-configs.md"),
            dead("subblock", "subblock_w 2 or 1 for the norms", "norm_1 norm_2", r"subblock_w", "0.8 % less (noise) and 1.4 % more"),
            dead("inplace", "the norms in place", "norm_1 norm_2", r"inplace|in.place", "1.4 % slower"),
            dead("reduction", "the norms' older reduction", "norm_1 norm_2", r"legacy_reduction", "1.0 % slower"),
            dead("rsqrt", "the norms' older square root", "norm_1 norm_2", r"legacy_rsqrt", "8.2 % slower"),
            dead("welford", "Welford's sums in the norms", "norm_1 norm_2", r"welford", "refused: it asks for a tensor that ttnn.layer_norm does not take"),
        ),
        MADE_UP,
    ),
    laid(
        "janus-2d", f"{FIRST}/16-explicit-2d-configs.md", "a block with configs for all matmuls, results interleaved; the tower 13.5 ms",
        encoder(S16),
        (gain("branch-shards", "the results of out and down in L1 block shards, and so the sums", 60.7, "out down sum_1 sum_2 entry_1 entry_2", rf"{BY_BLOCKS}|{SHARDED}", "29.8 -> 21.6, 74.9 -> 66.1, twice 18.51 -> 3.2 us, and no op before the norms: the tower 13.481 -> 12.025 ms", f"{FIRST}/17-wo-cproj-sharded.md"),),
        MADE_UP,
    ),
    laid(
        "janus-branch-shards", f"{FIRST}/17-wo-cproj-sharded.md", "a block with sums in block shards, QKV's and fc's results interleaved; the tower 12.0 ms",
        encoder(S17),
        (
            gain("qkv-shards", "QKV's result in L1 block shards, taken out of them before the heads", 12, "qkv", rf"{BY_BLOCKS}|{SHARDED}", "80.5 -> 55.4 us and an op more: the tower 12.025 -> 11.737 ms", f"{FIRST}/18-qkv-output-sharded.md"),
            dead("fc-out", "fc's result in DRAM", "fc down", r"DRAM_MEMORY_CONFIG|in DRAM|into DRAM|to DRAM", "84.0 -> 120.6 us", ENDS),
            dead("minimal", "minimal_matmul for fc", "fc", MINIMAL, "30 to 104 % slower with eight sets of blocks", ENDS),
            dead("qkv-in", "QKV's input in L1 block shards", "back_1 qkv norm_1", rf"{SHARDED}|in place", "14.1 % slower, the tower 2.1 %", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-qkv-shards", f"{FIRST}/18-qkv-output-sharded.md", "a block with QKV's result in block shards, attention in HiFi4; the tower 11.7 ms",
        encoder(S18),
        (
            gain("unshard", "QKV's result out of its shards into L1 instead of DRAM", 7, "unshard heads", IN_L1, "the tower 11.737 -> 11.570 ms, 24 times", f"{FIRST}/19-qkv-unshard-to-l1.md"),
            gain("attention", "HiFi2 for attention", 6.9, "sdpa", HIFI2, "94.97 -> 88.04 us", f"{FIRST}/20-sdpa-hifi2.md"),
            dead("heads", "heads straight from QKV's shards", "heads unshard", rf"{SHARDED}", "refused: the grid must divide 16 heads, at most 16 cores for 48", f"{FIRST}/19-qkv-unshard-to-l1.md"),
            dead("fc-width", "fc's result in width shards", "fc", r"WIDTH_SHARDED|width.?shard", "the tower 1.6 % slower", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-hifi2-attention", f"{FIRST}/20-sdpa-hifi2.md", "a block with attention in HiFi2, its sums in FLOAT32; the tower 11.4 ms",
        encoder(S20),
        (gain("sums", "sums in 16 bits for attention", 20.9, "sdpa", SUMS_IN_32, "88.04 -> 67.13 us", f"{FIRST}/21-sdpa-no-fp32-acc.md"),),
        MADE_UP,
    ),
    laid(
        "janus-sums", f"{FIRST}/21-sdpa-no-fp32-acc.md", "a block with attention's sums in 16 bits, matmuls in HiFi2; the tower 10.9 ms",
        encoder(S21),
        (
            gain("lofi", "LoFi for the matmuls", 28.3, BODY, LOFI, "56.2 -> 47.5, 21.7 -> 18.3, 84.0 -> 78.8 (a mean with the aligner's) and 65.5 -> 54.5 us", f"{FIRST}/22-lofi-body-matmuls.md"),
            dead("fc-2d", "a 2D config for fc", "fc", TWO_D, "the tower 10.897 -> 10.923 ms", ENDS),
            dead("fc-block", "in0_block_w 4 or 16 for fc", "fc", BLOCK_W, "2.5 and 12.3 % slower", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-lofi", f"{FIRST}/22-lofi-body-matmuls.md", "a block in LoFi, both norms' results out of their shards; the tower 10.2 ms",
        encoder(S22),
        (
            gain("qkv-in", "QKV takes the norm's shards as they are", 4.2, "back_1 qkv", IN_PLACE, "24 ops less and 47.5 -> 48.3 us: the tower 10.200 -> 10.099 ms", f"{FIRST}/23-ln1-shard-into-qkv.md"),
            gain("fc-in", "fc, in 2D, takes the norm's shards as they are", 3.2, "back_2 fc", IN_PLACE, "24 ops less and 2.7 us more for fc: the tower 10.099 -> 10.023 ms", f"{FIRST}/24-ln2-shard-into-cfc.md"),
            dead("approximate", "approximate mathematics for attention", "sdpa", r"math_approx", "the tower 10.192 ms: flat", ENDS),
            dead("subblock", "larger subblocks", BODY, SUBBLOCK, "the tower 10.207 ms: flat, equal bit for bit", ENDS),
            dead("deeper", "in0_block_w 8, 16 and 32 for QKV, out and down", "qkv out down", BLOCK_W, "the tower 1.1 % slower", ENDS),
            dead("shallower", "in0_block_w 2, 4 and 8 for QKV, out and down", "qkv out down", BLOCK_W, "the tower 3.0 % slower", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-in-place", f"{ALIGNED}/25-aligner-activation-fused.md", "a block whose matmuls take the norms' shards as they are; the tower 10.0 ms",
        encoder(S25),
        (
            gain("fc-out", "fc's result in L1 block shards", 5.9, "fc down", rf"{BY_BLOCKS}|{SHARDED}", "78.0 -> 72.4 and 55.0 -> 54.5 us: the tower 9.983 -> 9.841 ms", CFC_SHARDS),
            dead("heads", "slices, reshapes and permutes instead of the ops that split and join heads", "heads joined", r"reshape|permute|slice", "29.5 ms more for the tower, 3.9 times as slow", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-fc-shards", CFC_SHARDS, "a block with all matmuls' results in block shards, heads and attention in DRAM; the tower 9.84 ms",
        encoder(S26),
        (
            gain("heads", "queries, keys and values in L1", 13.5, "heads sdpa", IN_L1, "48.49 -> 36.07 and 66.88 -> 65.76 us: the tower 9.841 -> 9.499 ms", HEADS_IN_L1),
            gain("attended", "attention's result in L1", 4.1, "sdpa joined", IN_L1, "17.76 -> 13.52 us: the tower 9.499 -> 9.401 ms", ATTENDED_IN_L1),
            gain("joined", "the joined heads in L1", 0.7, "joined out", IN_L1, "18.8 -> 17.9 us for out, 0.7 in the summary", ALL_IN_L1),
            dead("norms", "the norms' results in BFLOAT8_B, cast by an op: the norm itself has no such argument", "norm_1 norm_2 qkv fc", BFP8, "the tower 0.355 ms slower: 79.2 -> 77.5 and 48.2 -> 47.6 us, and 48 casts", ENDS),
            dead("qkv-out", "QKV's result straight into DRAM, not sharded", "qkv unshard", r"interleaved|DRAM_MEMORY_CONFIG|into DRAM|in DRAM", "the tower 9.300 -> 11.507 ms", ENDS),
            dead("norm-hifi2", "HiFi2 for the norms", "norm_1 norm_2", HIFI2, "19.23 -> 18.61 us and thrown away: the tower's PCC 0.9709 -> 0.9624", TRIED),
            dead("norm-lofi", "LoFi for the norms", "norm_1 norm_2", LOFI, "refused: the tower's PCC 0.937 for a bar of 0.95", TRIED),
        ),
        MADE_UP,
    ),
    laid(
        "janus-last", f"{LATER}/30-aligner-bfp8-intermediate.md", "a block of the later half as it was in the end but for its sums; the tower 9.29 ms",
        encoder(S30),
        (gain("sums", "sums in BFLOAT8_B in a block of the later half", 3.9, "sum_1 sum_2 norm_1 norm_2 qkv fc", BFP8, "72.30 -> 70.80, 48.80 -> 47.70, twice 19.23 -> 18.82 and 3.06 -> 2.83 us, means with the first six blocks", TRIED),),
        MADE_UP,
    ),
    laid(
        "janus-around-first", f"{EARLY}/06-post-reduce-biases-fused.md", "the patches' projection and the aligner in HiFi4, the aligner's biases as ops of their own",
        around(Around(43.5, 177.2, 491.9, 88.5, 123.17, "HiFi4", OPEN)),
        (gain("biases", "the aligner's biases in its matmuls", 177, "aligner_fc aligner_fc_bias aligner_hidden aligner_hidden_bias", BIAS, "the adds 1.295 -> 1.118 ms; its matmuls, HiFi2 at the same time, as before: 491.9 -> 488.6 us", f"{ALIGNED}/07-aligner-biases-hifi2.md"),),
        f"which of the two biases took how much; {MADE_UP}",
    ),
    laid(
        "janus-around-biased", f"{FIRST}/11-bfp8-branch-outputs.md", "the patches' projection and the aligner in HiFi2 with BFLOAT16 weights",
        around(Around(45.2, 178, 495.5, gelu=124.52, weights=OPEN)),
        (gain("weights", "BFLOAT8_B weights for the aligner", 215, "aligner_fc aligner_hidden", BFP8, "495.5 -> 312.6 us for the second matmul; the tower 15.288 -> 15.073 ms", f"{FIRST}/12-bfp8-aligner-weights.md"),),
        f"the aligner's first matmul; {MADE_UP}",
    ),
    laid(
        "janus-around-narrow", f"{FIRST}/24-ln2-shard-into-cfc.md", "the patches' projection, and the aligner behind block shards, its GELU an op of its own",
        around(Around(44.2, 163.1, 313.9, gelu=123.71, sharded=True)),
        (
            gain("gelu", "2D configs for the aligner, GELU in the first", 40, "aligner_fc aligner_gelu aligner_hidden", ACTIVATION_IN_MATMUL, "123.7 us less for the op, 87 more for the matmuls: the tower 10.023 -> 9.983 ms", f"{ALIGNED}/25-aligner-activation-fused.md"),
            dead("activation", "activation= in ttnn.linear without a config", "aligner_fc aligner_gelu", r"activation=", "GELU stays an op of its own, 123 us", ENDS),
        ),
        f"the aligner's first matmul; {MADE_UP}",
    ),
    laid(
        "janus-around-last", ATTENDED_IN_L1, "the patches' projection, and the aligner with GELU in its first matmul",
        around(Around(43.7, 236.3, 329.4, sharded=True, configs=True)),
        (
            gain("patch-shards", "a 2D config for the patches' projection, its result in the first norm's block shards", None, "patch patch_bias positions entry", rf"{BY_BLOCKS}|{SHARDED}", "with its bias in the matmul: 43.7 -> 29.4 us, an add and a move less", ALL_IN_L1),
            gain("patch-bias", "the patches' bias in the matmul", None, "patch patch_bias", BIAS, "with its result in shards: 43.7 -> 29.4 us, an add and a move less", ALL_IN_L1),
            gain("between", "the aligner's first result in BFLOAT8_B", 18.3, "aligner_fc aligner_hidden", BFP8, "235.8 -> 230.9 and 328.3 -> 314.9 us", TRIED),
            gain("sums", "sums in 16 bits for the aligner", 40.3, "aligner_fc aligner_hidden", SUMS_IN_32, "235.8 -> 213.4 and 328.3 -> 310.4 us; within the bar, but thrown away for what it leaves of it", TRIED),
            dead("patch-l1", "the patches' result in L1, interleaved", "patch patch_bias positions entry", IN_L1, "the tower 9.401 -> 9.990 ms", ENDS),
            dead("patch-plain-shards", "the patches' result in block shards without a config", "patch entry", rf"{BY_BLOCKS}|{SHARDED}", "43.7 -> 128.3 us: TTNN took 12 cores; the tower 9.401 -> 9.452 ms", ENDS),
            dead("between-l1", "the aligner's first result in L1", "aligner_fc aligner_hidden", IN_L1, "330.7 -> 354.9 us", ENDS),
            dead("block", "in0_block_w 2, 8 or 16 for the aligner", "aligner_fc aligner_hidden", BLOCK_W, "1.7 % slower with 2; 8 and 16 refused with an input in shards of four tiles", ENDS),
            dead("unsharded", "the aligner's input out of its shards first", "aligner_fc norm", r"interleaved|sharded_to_interleaved|to_memory_config", "the tower 9.984 -> 9.975 ms, thrown away", ENDS),
        ),
        MADE_UP,
    ),
    laid(
        "janus-around-sums", TRIED, "the patches' projection, and the aligner with sums in 16 bits",
        around(Around(43.7, 213.4, 310.4, sharded=True, configs=True, fp32=False)),
        (dead("subblock", "subblocks of 8 tiles for the aligner", "aligner_fc aligner_hidden", SUBBLOCK, "213.4 -> 220.9 us, the tower as before", ENDS),),
        MADE_UP,
    ),
)  # fmt: skip
