"""Stable Diffusion XL (it draws) on one Blackhole chip (p150a): blocks of its UNet at 1024 x 1024 pixels.

Convolutions of 3 x 3 in blocks of ten columns, which share the channels, and eight rows or more, which share the
places; and layers of both kinds of its transformers. The group norms are an op of the worklog's author, so that no
lever is about them. Reports of this UNet on Wormhole, in other states, stand among the cases the checks were made with.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, chunks, norm_shards, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import CORES, DRAM_SHARDED, LOFI, SDPA_CHUNKS, SHARDED, unbanked
from tests.profiles.conv import Window, conv2d, halo
from tests.profiles.model import block_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

LOG = f"{TT_METAL}/18d20df8ea28a36bc0b6ba9d6ee1e60896b8834b/models/demos/stable_diffusion_xl_base/fullgrid_worklog/WORKLOG.md"
GRID, CORES_OF_ALL, COLUMNS = (11, 10), 110, 10
TEXT = 96  # rows of the prompt


@dataclass(frozen=True)
class Conv:
    """A convolution of 3 x 3 of a square picture; `rows` of cores, `height` of its blocks of activations in tiles."""

    side: int
    channels: tuple[int, int]
    us: float
    height: int
    rows: int = 8
    stride: int = 1

    def shard(self, side: int, channels: int, more: int = 0) -> Placement:
        high = 32 * ceil(side * side / 32 / self.rows)
        return block_sharded(high + more, channels // COLUMNS, (COLUMNS, self.rows))


def convolved(block: Block, role: str, x: Tensor, how: Conv) -> Tensor:
    """Its halo and itself."""
    inside, out = how.channels
    window = Window((how.side, how.side), (3, 3), stride=how.stride, padding=1)
    edge = 2 * (how.side + 2) + 2  # rows that a core needs of its neighbours
    wide = how.shard(how.side, inside, edge)
    spread = block.tensor([1, 1, how.side**2 + edge * how.rows, inside], place=wide, layout=ROW_MAJOR)
    made = halo(x, spread, window, round(how.side**2 * 1.5 + 4_000))
    made.attributes = {
        **made.attributes, "config": _shared(window.text(wide), how.rows), "config_tensors_in_dram": True,
        "in_nsticks_per_core": how.side**2 // how.rows,
        "parallel_config": str(made.attributes["parallel_config"]).replace("HEIGHT_SHARDED", "BLOCK_SHARDED"),
    }  # fmt: skip
    block.put(f"{role}_halo", made)
    side = window.output_hw[0]
    where = how.shard(side, out)
    weight, bias = block.tensor([1, 1, 9 * inside, out]), block.tensor([1, 1, 32, out])
    result = block.tensor([1, 1, side * side, out], place=where)
    made = conv2d(
        spread, weight, bias, result, window=window, kernel_ns=round(how.us * 1e3), in_channels=inside,
        act_block_h=how.height, fidelity="HiFi2", act_double_buffer=True, weights_double_buffer=True,
    )  # fmt: skip
    per_core = (ceil(side * side / 32 / how.rows), out // COLUMNS // 32)
    made.attributes = {
        **made.attributes,
        "block_config": (
            f"Conv2dBlockConfig(act_block_h_ntiles={how.height},act_block_w_ntiles={3 * (inside // COLUMNS // 32)},"
            f"out_subblock_h_ntiles=1,out_subblock_w_ntiles={per_core[1]})"
        ),
        "compute_kernel_config": block.kernel("HiFi2"),
        "config_tensors_in_dram": True,
        "parallelization_config": (
            f"Conv2dParallelizationConfig(grid_size=(x={COLUMNS},y={how.rows}),num_cores_nhw={how.rows},"
            f"num_cores_c_in={COLUMNS},num_cores_c_out={COLUMNS},per_core_out_matrix_height_ntile={per_core[0]},"
            f"per_core_out_matrix_width_ntile={per_core[1]})"
        ),
        "sliding_window_config": _shared(window.text(where), how.rows),
    }  # fmt: skip
    return block.put(role, made)


def _shared(text: str, rows: int) -> str:
    """The window's text, with the cores split between places and channels."""
    before, after = text.split("num_cores_nhw=")
    return f"{before}num_cores_nhw={rows}, num_cores_c={COLUMNS}, {after.split(', ', 2)[2]}"


def residual(
    first: Conv, second: Conv, norms: tuple[float, float], swish: tuple[float, float]
) -> Callable[[], Block]:
    """A block of two convolutions, each after a norm; times of norms and of their SILU in us."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        places, (inside, out) = first.side**2, first.channels
        given = block.tensor([1, 1, places, inside])

        def normed(role: str, x: Tensor, us: float) -> Tensor:
            weights = [block.tensor([1, 1, 1, x.shape[-1]], layout=ROW_MAJOR) for _ in range(2)]
            return block.op(role, "GenericOp", (x, *weights), block.tensor(x.shape, place=x.placement or DRAM), us, cores=COLUMNS * first.rows, fidelity="HiFi4")  # fmt: skip

        x = block.to_shards("placed", given, first.shard(first.side, inside), 27)
        x = block.unary("swish_first", "SILU", normed("norm_first", x, norms[0]), swish[0], cores=CORES_OF_ALL)
        x = convolved(block, "conv_first", x, first)
        x = block.binary("step_added", "ADD", x, block.tensor([1, 1, 1, out]), 9, cores=COLUMNS * first.rows)
        x = block.unary("swish_second", "SILU", normed("norm_second", x, norms[1]), swish[1], cores=CORES_OF_ALL)
        x = convolved(block, "conv_second", x, second)
        if inside != out:
            given = block.linear("short_cut", given, out, 22 * places * inside * out / 2**32 + 8, dtype="BFLOAT8_B", cores=80, bias=True)  # fmt: skip
        added = block.binary("added", "ADD", x, given, 14, cores=COLUMNS * first.rows)
        block.from_shards("back", added, 35)
        return block

    return build


def scaled(how: Conv, *, up: bool) -> Callable[[], Block]:
    """A convolution after the picture was made larger, or one that makes it smaller."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        channels = how.channels[0]
        if up:
            half = how.side // 2
            x = block.to_shards(
                "placed", block.tensor([1, 1, half * half, channels]), how.shard(half, channels), 20
            )
            x = block.moved("rows", "Untilize", x, 14, layout=ROW_MAJOR, cores=80)
            x = block.op("larger", "UpSample", (x,), block.tensor([1, 1, how.side**2, channels], place=how.shard(how.side, channels), layout=ROW_MAJOR), 40, cores=80, mode="nearest", scale_factor_h=2, scale_factor_w=2)  # fmt: skip
        else:
            x = block.to_shards("placed", block.tensor([1, 1, how.side**2, channels]), how.shard(how.side, channels), 27)  # fmt: skip
        block.from_shards("back", convolved(block, "conv", x, how), 35)
        return block

    return build


@dataclass(frozen=True)
class Former:
    """A layer of a transformer; times in us."""

    rows: int
    hidden: int
    us: dict[str, float]
    norm: float
    shards: bool
    k_chunk: int


def former(how: Former) -> Callable[[], Block]:
    def build() -> Block:
        block, us = Block("blackhole", grid=GRID, gap_us=1.0), how.us
        rows, hidden, heads = how.rows, how.hidden, how.hidden // 64
        high, columns = rows // 8, hidden // COLUMNS
        spread = block_sharded(high, columns, (COLUMNS, 8)) if how.shards else L1

        def linear(role: str, x: Tensor, n: int, *, place: Placement = L1, act: str | None = None) -> Tensor:
            k_block = columns // 32
            per_n = ceil(n / 32 / COLUMNS)
            wide = next(one for one in (8, 6, 4, 3, 2, 1) if per_n % one == 0)
            config = two_d((COLUMNS, 8), k_block, (high // 32, per_n), subblock=(1, wide), act=act)
            return block.linear(role, x, n, us[role], dtype="BFLOAT8_B", config=config, cores=80, place=place, bias=True)  # fmt: skip

        def normed(role: str, x: Tensor) -> Tensor:
            if how.shards:
                return block.norm(role, x, how.norm, cores=80, config=norm_shards((COLUMNS, 8), columns // 32, block_h=high // 32), kind="LAYERNORM")  # fmt: skip
            return block.norm(role, x, how.norm, cores=CORES_OF_ALL, kind="LAYERNORM", place=L1)

        def attended(role: str, qkv: tuple[Tensor, Tensor, Tensor], us: float, k_chunk: int) -> Tensor:
            return block.attend(role, *qkv, us, config=chunks(128, k_chunk, GRID), cores=CORES_OF_ALL, causal=False, fidelity="LoFi")  # fmt: skip

        def joined(role: str, x: Tensor) -> Tensor:
            return block.join_heads(role, x, us["joined"], place=L1, cores=min(32, rows // 32))

        def added(role: str, x: Tensor, y: Tensor) -> Tensor:
            return block.binary(role, "ADD", x, y, us["added"], cores=80 if how.shards else CORES_OF_ALL)

        x = block.tensor([1, 1, rows, hidden], place=spread)
        if "entry" in us:
            x = linear("entry", x, hidden, place=spread)
        qkv = linear("qkv", normed("norm", x), 3 * hidden)
        q, k, v = block.split_heads("heads", qkv, us["heads"], heads=heads, kv=heads, size=64, rows=rows, place=L1, cores=32 if rows == 1024 else CORES_OF_ALL)  # fmt: skip
        out = joined("joined", attended("attend", (q, k, v), us["attend"], how.k_chunk))
        x = added("attention_added", x, linear("out", out, hidden, place=spread))
        q = linear("cross_q", normed("norm_cross", x), hidden)
        q = block.op("cross_heads", "NlpCreateHeads", (q,), block.tensor([1, heads, rows, 64], place=L1), us["heads"] / 3, cores=min(CORES_OF_ALL, rows // 32), head_dim=64, num_kv_heads=0, num_q_heads=heads, output_mem_config=L1, transpose_k_heads=False)  # fmt: skip
        kv = block.linear("cross_kv", block.tensor([1, 1, TEXT, 2048]), 2 * hidden, 20, dtype="BFLOAT8_B", cores=80, place=L1)  # fmt: skip
        keys = [block.tensor([1, heads, TEXT, 64], place=L1) for _ in range(2)]
        block.op("cross_kv_heads", "NlpCreateHeads", (kv,), keys, 12.4, cores=3, head_dim=64, num_kv_heads=heads, num_q_heads=0, output_mem_config=L1, transpose_k_heads=False)  # fmt: skip
        out = joined("cross_joined", attended("cross_attend", (q, keys[0], keys[1]), us["cross_attend"], 96))
        x = added("cross_added", x, linear("cross_out", out, hidden, place=spread))
        fed = normed("norm_feed", x)
        wide = linear("up", fed, 4 * hidden)
        wide = block.binary("gated", "MUL", wide, linear("up_gelu", fed, 4 * hidden, act="GELU"), us["gated"], cores=CORES_OF_ALL)  # fmt: skip
        added("feed_added", x, linear("down", wide, hidden, place=spread))
        return block

    return build


DEEP = Former(1024, 1280, {"qkv": 63.8, "heads": 38.7, "attend": 76.7, "joined": 13.6, "out": 21.7, "added": 0.9, "cross_q": 20.9, "cross_attend": 21.0, "cross_out": 21.7, "up": 74.0, "up_gelu": 78.8, "gated": 9, "down": 72}, 13.3, shards=True, k_chunk=1024)  # fmt: skip
LARGE = Former(4096, 640, {"entry": 36.4, "qkv": 78, "heads": 40.1, "attend": 198, "joined": 20, "out": 36, "added": 7.5, "cross_q": 36, "cross_attend": 28.6, "cross_out": 36, "up": 84, "up_gelu": 86, "gated": 20, "down": 60}, 42.8, shards=False, k_chunk=512)  # fmt: skip

ACT_BLOCK = r"act_block_h"
TWO_SIX = r"act_block_h\D{0,25}\b(26|832)\b"
ONE_THREE = r"act_block_h\D{0,25}\b(13|416)\b"
TURNED = rf"transpose_shards|COL_MAJOR|column.major|{CORES}"
MORE = r"11 ?x ?10|x=11,y=10|\b110 cores|more cores|all (the |of the )?cores|core_grid"
FEWER = r"fewer (cores|rows)|\b(40|20) cores"
NEAR_INPUT = r"(in0|input|activation).{0,40}interleaved|L1_MEMORY_CONFIG|L1 interleaved"
NEAR_WEIGHTS = r"weights?.{0,60}\b(in|into|to) L1|L1.{0,40}weights?"
CONV_MADE_UP = "the ops around the convolutions and their times; formats of the convolutions' weights; act_block_h where only its change is told; gaps"
FORMER_MADE_UP = "the ops around the matmuls and attention where their time is not told; gaps"

SDXL = (
    laid(
        "sdxl-16384-640", LOG, "a block of 128 x 128 places, 640 to 320 channels, on 10 x 10 cores", residual(Conv(128, (640, 320), 485, 4, 10), Conv(128, (320, 320), 215, 26, 10), (60, 36), (80, 47.6)),
        (gain("blocks", "act_block_h of 26 tiles", 115, "conv_first", ACT_BLOCK, "485 -> 370 us"),),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-16384-960", LOG, "a block of 128 x 128 places, 960 to 320 channels, on 10 x 10 cores", residual(Conv(128, (960, 320), 670, 4, 10), Conv(128, (320, 320), 215, 26, 10), (90, 36), (115, 47.6)),
        (
            gain("blocks", "act_block_h of 13 tiles", 75, "conv_first", ACT_BLOCK, "670 -> 595 us"),
            dead("larger", "act_block_h of 26 tiles", "conv_first", TWO_SIX, "refused: its buffers clash with L1"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-4096-1280", LOG, "a block of 64 x 64 places, 1280 to 640 channels, on 10 x 8 cores", residual(Conv(64, (1280, 640), 360, 8), Conv(64, (640, 640), 201, 16), (58, 30), (50, 28)),
        (
            gain("first", "ten rows of cores, act_block_h of 13 tiles", 56, "conv_first", rf"{CORES}|{ACT_BLOCK}", "360 -> 304 us"),
            gain("second", "ten rows of cores, act_block_h of 13 tiles", 23, "conv_second", rf"{CORES}|{ACT_BLOCK}", "201 -> 178 us"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-4096-960", LOG, "a block of 64 x 64 places, 960 to 640 channels, on 10 x 8 cores", residual(Conv(64, (960, 640), 283, 8), Conv(64, (640, 640), 201, 16), (44, 30), (40, 28)),
        (gain("first", "ten rows of cores, act_block_h of 13 tiles", 41, "conv_first", rf"{CORES}|{ACT_BLOCK}", "283 -> 242 us"),),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-4096-1920", LOG, "a block of 64 x 64 places, 1920 to 640 channels, its first convolution on 10 x 8 cores", residual(Conv(64, (1920, 640), 524, 8), Conv(64, (640, 640), 178, 16), (85, 30), (72, 28)),
        (
            gain("turned", "shards turned: eleven columns share the places", 126, "conv_first", TURNED, "524 -> 398 us"),
            dead("rows", "ten rows of cores with act_block_h of 13 tiles", "conv_first", ONE_THREE, "refused: 1.63 MB of buffers"),
            dead("width", "act_block_w_div of 2 to make room", "conv_first", r"act_block_w_div", "the buffers of a block-sharded convolution stay as they are"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-1024-1280", LOG, "a block of 32 x 32 places, 1280 channels, on 10 x 8 cores", residual(Conv(32, (1280, 1280), 165, 4), Conv(32, (1280, 1280), 165, 4), (28, 28), (15, 15)),
        (
            gain("turned", "shards turned: eleven columns share the places", 14, "conv_first conv_second", TURNED, "165 -> 158 us each"),
            dead("fewer", "four rows of cores", "conv_first conv_second", FEWER, "165 -> 317 us each; two rows are refused"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-up-640", LOG, "a picture made larger to 128 x 128 places, 640 channels, on 10 x 8 cores", scaled(Conv(128, (640, 640), 825, 8), up=True),
        (
            gain("cores", "ten rows of cores, act_block_h of 13 tiles", 124, "conv", rf"{CORES}|{ACT_BLOCK}", "825 -> 701 us"),
            dead("eleven", "eleven rows of cores, 47 tiles each, which no block divides", "conv", r"\b110 cores|all (the |of the )?cores", "825 -> 1838 us"),
            dead("larger", "act_block_h of 26 tiles", "conv", TWO_SIX, "refused: its buffers clash with L1 by 135 KB"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-up-1280", LOG, "a picture made larger to 64 x 64 places, 1280 channels, on 10 x 8 cores", scaled(Conv(64, (1280, 1280), 633, 8), up=True),
        (
            gain("turned", "shards turned: eleven columns share the places", 163, "conv", TURNED, "633 -> 470 us"),
            dead("blocks", "ten rows of cores with act_block_h of 13 tiles", "conv", ONE_THREE, "refused: its buffers clash with L1 by 56 KB"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-down-320", LOG, "a picture made smaller from 128 x 128 places, 320 channels, on 10 x 8 cores", scaled(Conv(128, (320, 320), 72, 16, stride=2), up=False),
        (dead("cores", "ten rows of cores", "conv", CORES, "72 -> 94 us"),),
        CONV_MADE_UP,
    ),
    laid(
        "sdxl-former-1024", LOG, "a layer of a transformer, 1024 rows of 1280, in shards on 10 x 8 cores: some 680 us", former(DEEP),
        (
            gain("lofi", "LoFi for both first matmuls of the feed-forward", 63.6, "up up_gelu", LOFI, "74.0 -> 42.2 us each, measured alone; not taken, as fidelity was to stay"),
            dead("cores", "11 x 10 cores, the last rows ragged", "up up_gelu", MORE, "74.0 -> 77.4 us"),
            dead("interleaved", "its input interleaved in L1", "up up_gelu", NEAR_INPUT, "74.0 -> 82 us"),
            dead("weights", "its weights in L1", "up up_gelu", NEAR_WEIGHTS, "74.0 -> 74.0 us interleaved; in shards the device hung"),
            dead("block", "in0_block_w of 2", "up up_gelu", r"in0_block_w\D{0,4}2\b", "74.0 -> 76.8 us"),
            dead("subblock", "subblocks of 2 x 4", "up up_gelu", r"out_subblock_h\D{0,4}2\b|2 ?x ?4", "74.0 -> 83.6 us, its result interleaved"),
            dead("banks", "weights over the banks", "up up_gelu", DRAM_SHARDED, "74.0 -> 92.1 us on 8 x 8 cores, where alone the result is right; no faster there than interleaved"),
            dead("queries", "64 queries at a time, or 256", "attend", SDPA_CHUNKS, "76.7 -> 114.5 us; 256 are refused"),
            dead("heads", "heads made in shards", "heads", SHARDED, "refused: attention wants them interleaved"),
        ),
        FORMER_MADE_UP,
    ),
    laid(
        "sdxl-former-4096", LOG, "a layer of a transformer, 4096 rows of 640, interleaved", former(LARGE),
        (
            gain("shards", "residual and norms in shards on 10 x 8 cores", 50.7, "norm norm_cross norm_feed attention_added cross_added feed_added entry out cross_out", unbanked(SHARDED), "42.8 -> 25.9 us for each of three norms"),
            dead("subblock", "subblocks of 4 x 2 instead of 2 x 1", "entry", r"subblock", "36.4 -> 36.1 us"),
            dead("chunks", "64 or 256 queries, or 1024 keys, at a time", "attend", SDPA_CHUNKS, "198 -> 337, 216 and 204 us"),
        ),
        FORMER_MADE_UP,
    ),
)  # fmt: skip
