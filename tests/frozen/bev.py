"""A camera model that sees from above (a CNN) on one Wormhole chip (n150), as a compiler lays it out.

Its conversion of colours, which is a convolution of three channels, and two of its 3x3 convolutions: HiFi3, sums in
FLOAT32. The ledger is the comments of the tests that measured them one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, CORES, PACKER
from tests.profiles.conv import Window, conv2d, halo
from tests.profiles.model import block_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

PACKING = f"{TT_METAL}/21fcac77a33c985a5f21fa9af6d4488541483e3d/docs/method2_approach2_perf_comparison.md"
COMPILED = f"{TT_METAL}/c7a2df9a39cafe4cfeecef90b3c4454f20ba7557/docs/method2_forge_vs_ours_comparison.md"
TESTS = f"{TT_METAL}/d65a680a966d25b70c918e51b2f4b189b05742c4/tests/ttnn/unit_tests/operations/conv"
SMALL_AT = f"{TESTS}/test_block_A_critical_conv2d.py"
LARGE_AT = f"{TESTS}/test_block_C_critical_conv2d.py"
CLAMPED_AT = f"{TESTS}/test_block_C_conv2d_pos305.py"
CLAMPED_SWEEP = f"{TESTS}/test_block_C_conv2d_pos305_sweep.py"
WHOLE = "https://github.com/tenstorrent/tt-forge-onnx/blob/f0b5116b80d07e88553e08e5c966f514d4d1ad0b/docs/block_a_perf_analysis.md"
PACK = 32  # rows that the packed form puts into the channels


def colours(hw: tuple[int, int], us: dict[str, float]) -> Callable[[], Block]:
    """Three channels, last in each row of a tile."""

    def build() -> Block:
        block = Block("wormhole_b0", grid=(8, 8), gap_us=2.0)
        h, w = hw
        x = block.tensor([1, 3, h, w], layout=ROW_MAJOR)
        x = block.moved("tilize", "Tilize", x, us["tilize"], layout="TILE", cores=64, fidelity="HiFi4")
        last = block.permute("channels_last", x, (0, 2, 3, 1), us["last"])
        made = block.linear("product", block.view(last, [1, 1, h * w, 3]), 3, us["product"], fidelity="HiFi4", cores=64, fp32=True, packer=False, bias=True)  # fmt: skip
        first = block.permute("channels_first", block.view(made, [1, h, w, 3]), (0, 3, 1, 2), us["first"])
        block.moved("copy", "Copy", first, us["copy"], cores=64)
        return block

    return build


def packed(hw: tuple[int, int], us: dict[str, float]) -> Callable[[], Block]:
    """32 rows in the channels: 96 of them; the result's shape changes while it lies in shards."""

    def build() -> Block:
        block = Block("wormhole_b0", grid=(8, 8), gap_us=2.0)
        h, w = hw[0] // PACK, hw[1]
        wide = 3 * PACK
        x = block.tensor([1, wide, h, w], layout=ROW_MAJOR)
        last = block.permute("channels_last", x, (0, 2, 3, 1), us["permute"] / 2)
        rows = block.view(last, [1, 1, h * w, wide])
        tiles = block.moved("tilize", "Tilize", rows, us["tilize"], layout="TILE", cores=64, fidelity="HiFi4")
        per_m = h * w // 32 // 64
        place = block.along(32 * per_m, wide, 64)
        made = block.linear("product", tiles, wide, us["product"], fidelity="HiFi4", config=one_d((8, 8), 3, (per_m, 3), in0=False), cores=64, place=place, fp32=True, packer=False, bias=True)  # fmt: skip
        shaped = block.moved("shaped", "ReshapeView", made, us["shaped"], shape=[1, h, w, wide], cores=64)
        flat = block.from_shards("flat", shaped, us["flat"])
        out = block.moved(
            "untilize", "Untilize", flat, us["untilize"], layout=ROW_MAJOR, cores=64, fidelity="HiFi4"
        )
        block.permute("channels_first", out, (0, 3, 1, 2), us["permute"] / 2)
        return block

    return build


@dataclass(frozen=True)
class Conv:
    """A 3x3 convolution whose result is as its input; `us` of one, `height` of its blocks of activations in tiles."""

    hw: tuple[int, int]
    channels: int
    us: float
    halo_us: float
    grid: tuple[int, int] | None  # columns and rows of shards; None: 18 cores along the rows
    shard: tuple[int, int]
    height: int
    weights: str = "BFLOAT16"
    out: str = "BFLOAT16"
    act_twice: bool = False
    weights_twice: bool = False


def _place(block: Block, how: Conv, more: int = 0) -> Placement:
    rows, columns = how.shard
    if how.grid:
        return block_sharded(rows + more, columns, how.grid)
    return block.along(rows + more, columns, 18)


def _convolved(block: Block, how: Conv) -> None:
    window = Window(how.hw, (3, 3), padding=1)
    height, width = how.hw
    columns, rows = how.grid or (1, 18)
    where = _place(block, how)
    x = block.tensor([1, 1, height * width, how.channels], place=where)
    edge = 2 * (width + 2) + 2  # rows that a core needs of its neighbours
    wide = _place(block, how, edge)
    spread = block.tensor([1, 1, (how.shard[0] + edge) * rows, how.channels], place=wide, layout=ROW_MAJOR)
    scheme = "BLOCK" if how.grid else "HEIGHT"
    haloed = halo(x, spread, window, round(how.halo_us * 1e3))
    haloed.attributes = {
        **haloed.attributes, "config": _shared(window.text(wide), rows, columns), "config_tensors_in_dram": True,
        "in_nsticks_per_core": how.shard[0], "is_out_tiled": False,
        "parallel_config": str(haloed.attributes["parallel_config"]).replace("HEIGHT_SHARDED", f"{scheme}_SHARDED"),
    }  # fmt: skip
    block.put("halo_0", haloed)
    weight: Tensor = block.tensor([1, 1, 9 * how.channels, how.channels], how.weights)
    bias = block.tensor([1, 1, 32, how.channels], how.weights)
    out = block.tensor(x.shape, how.out, where)
    made = conv2d(
        spread, weight, bias, out, window=window, kernel_ns=round(how.us * 1e3), in_channels=how.channels,
        act_block_h=how.height, fidelity="HiFi3", activation="RELU6", act_double_buffer=how.act_twice,
        weights_double_buffer=how.weights_twice,
    )  # fmt: skip
    per_core = (ceil(how.shard[0] / 32), ceil(how.shard[1] / 32))
    made.attributes = {
        **made.attributes,
        "block_config": (
            f"Conv2dBlockConfig(act_block_h_ntiles={how.height},act_block_w_ntiles={3 * per_core[1]},"
            f"out_subblock_h_ntiles=1,out_subblock_w_ntiles={min(4, per_core[1])})"
        ),
        "compute_kernel_config": block.kernel("HiFi3", fp32=True, packer=False),
        "config_tensors_in_dram": True,
        "parallelization_config": (
            f"Conv2dParallelizationConfig(grid_size=(x={columns if how.grid else 8},y={rows if how.grid else 3}),"
            f"num_cores_nhw={rows},num_cores_c_in={columns},num_cores_c_out={columns},"
            f"per_core_out_matrix_height_ntile={per_core[0]},per_core_out_matrix_width_ntile={per_core[1]})"
        ),
        "sliding_window_config": _shared(window.text(where), rows, columns),
    }
    block.put("conv_0", made)


def _shared(text: str, rows: int, columns: int) -> str:
    """The window's text, with the cores split between rows and channels."""
    before, after = text.split("num_cores_nhw=")
    return f"{before}num_cores_nhw={rows}, num_cores_c={columns}, {after.split(', ', 2)[2]}"


def conv(how: Conv) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", grid=(8, 8), gap_us=2.0)
        _convolved(block, how)
        return block

    return build


SMALL = {"hw": (24, 24), "channels": 384, "halo_us": 6}
SMALL_ROWS = {**SMALL, "grid": None, "shard": (32, 384), "height": 1}
SMALL_BLOCKS = {**SMALL, "grid": (6, 6), "shard": (96, 64), "height": 3}
LARGE = {"hw": (160, 288), "channels": 192, "halo_us": 60}
LARGE_BLOCKS = {**LARGE, "grid": (6, 8), "shard": (5760, 32)}
CAMERAS = "; of one of four cameras, since a chain of equal ops is taken for passes"
PACKED_CHANNELS = (
    r"\bpack(ed|ing|s)?\b|fold|channels.{0,80}\b32\b|last dim|pad(ded|ding|s)?\b.{0,80}(tile|32)|tile.{0,80}\bpad"
)
ON_ROWS = r"reshape|view\b|ROW_MAJOR|row.major"
DOUBLE = r"double.buffer"
BLOCK_SHARDS = r"BLOCK_SHARDED|block.shard"
ACT_BLOCK = r"act_block_h"
CONV_MADE_UP = "the halo and its time; gaps; subblocks"

BEV = (
    laid(
        "bev-colours-a", PACKING, "colours of a picture of 1536 x 1536, three channels last: 14.7 ms",
        colours((1536, 1536), {"tilize": 320, "last": 6900, "product": 6429, "first": 935, "copy": 113}),
        (gain("packed", "32 rows in the channels: a matmul of 96 by 96", 12904, "channels_* product", PACKED_CHANNELS, "14,697 -> 1,793 us"),),
        "which of the permutes took how much of their 7,835 us; the matmul's config; gaps", 14697,
    ),
    laid(
        "bev-colours-c", PACKING, "colours of a picture of 1280 x 2304, three channels last: 16.8 ms",
        colours((1280, 2304), {"tilize": 194, "last": 7500, "product": 7921, "first": 1013, "copy": 135}),
        (gain("packed", "32 rows in the channels: a matmul of 96 by 96", 14814, "channels_* product", PACKED_CHANNELS, "16,764 -> 1,950 us"),),
        "which of the permutes took how much of their 8,513 us; the matmul's config; gaps", 16764,
    ),
    laid(
        "bev-packed-a", COMPILED, "colours of a picture of 1536 x 1536, 96 channels, the result in shards: 2.67 ms",
        packed((1536, 1536), {"permute": 1253, "tilize": 190, "product": 234, "shaped": 720, "flat": 100, "untilize": 169}),
        (gain("rows", "the matmul's result in DRAM and its shape changed in row major, which is a view", 875, "product shaped flat untilize channels_*", ON_ROWS, "2,666 -> 1,791 us"),),
        "how the permutes split; in0_block_w; gaps", 2666,
    ),
    laid(
        "bev-packed-c", COMPILED, "colours of a picture of 1280 x 2304, 96 channels, the result in shards: 3.20 ms",
        packed((1280, 2304), {"permute": 1309, "tilize": 218, "product": 292, "shaped": 1053, "flat": 123, "untilize": 206}),
        (gain("rows", "the matmul's result in DRAM and its shape changed in row major, which is a view", 1267, "product shaped flat untilize channels_*", ON_ROWS, "3,201 -> 1,934 us"),),
        "how the permutes split; in0_block_w; gaps", 3201,
    ),
    laid(
        "bev-small-rows", SMALL_AT, "384 channels, 24 x 24, on 18 cores along the rows: 253 us each",
        conv(Conv(us=253, **SMALL_ROWS)),
        (
            gain("blocks", "blocks on 36 cores", 160, "conv_*", BLOCK_SHARDS, f"253 -> 93 us{CAMERAS}"),
            gain("narrow", "BFLOAT8_B weights, buffered twice", 107, "conv_*", rf"{BFP8}|{DOUBLE}", f"253 -> 146 us{CAMERAS}"),
            dead("reuse", "activations used again", "conv_*", r"activation_reuse", "refused: needs more than a tile of activations"),
            dead("height", "another act_block_h, fewer cores", "conv_*", ACT_BLOCK, "nothing: the weights are read once as it is"),
            dead("columns", "shards along the channels", "conv_*", r"WIDTH_SHARDED|width.shard", "253 -> 391 us"),
            dead("reader", "split readers", "conv_*", r"split_reader", "nothing"),
            dead("inner", "the whole inner dimension at once, a split of its width", "conv_*", r"full_inner_dim|act_block_w_div", "nothing"),
            dead("tables", "the tables of the window in L1", "halo_* conv_*", r"config_tensors_in_dram", "the whole block 326 -> 326 ms", WHOLE),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "bev-small-blocks", SMALL_AT, "384 channels, 24 x 24, in blocks on 36 cores: 93 us each",
        conv(Conv(us=93, **SMALL_BLOCKS)),
        (
            gain("twice", "activations and weights buffered twice", 31, "conv_*", r"act_double_buffer|activation.{0,40}double.buffer", f"93 -> 62 us{CAMERAS}"),
            dead("weights-twice", "weights buffered twice", "conv_*", r"weights_double_buffer", "nothing"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "bev-small-twice", SMALL_AT, "the same, buffered twice: 62 us each",
        conv(Conv(us=62, act_twice=True, weights_twice=True, **SMALL_BLOCKS)),
        (gain("narrow", "BFLOAT8_B weights", 4, "conv_*", BFP8, f"62 -> 58 us{CAMERAS}"),),
        CONV_MADE_UP,
    ),
    laid(
        "bev-small-tuned", SMALL_AT, "the same, BFLOAT8_B weights: 58 us each",
        conv(Conv(us=58, act_twice=True, weights_twice=True, weights="BFLOAT8_B", **SMALL_BLOCKS)),
        (dead("bfp4", "BFLOAT4_B weights", "conv_*", BFP4, "nothing: the read of weights waits for latency"),),
        CONV_MADE_UP,
    ),
    laid(
        "bev-large-first", LARGE_AT, "192 channels, 160 x 288, blocks of two tiles of activations: 2,962 us",
        conv(Conv(us=2962, height=2, **LARGE_BLOCKS)),
        (
            gain("blocks", "act_block_h 384, activations and weights buffered twice", 1722, "conv_*", rf"{ACT_BLOCK}|{DOUBLE}", "2,962 -> 1,240 us"),
            dead("narrow", "BFLOAT8_B weights alone", "conv_*", BFP8, "nothing"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "bev-large-twice", LARGE_AT, "the same with act_block_h 384, buffered twice: 1,240 us",
        conv(Conv(us=1240, height=12, act_twice=True, weights_twice=True, **LARGE_BLOCKS)),
        (
            gain("narrow", "BFLOAT8_B weights and result, which leave room for act_block_h 576", 352, "conv_*", rf"{BFP8}|{ACT_BLOCK}", "1,240 -> 888 us"),
            dead("packer", "packer_l1_acc", "conv_*", PACKER, "refused: does not fit in L1"),
            dead("inner", "the whole inner dimension at once", "conv_*", r"full_inner_dim", "refused: does not fit in L1"),
            dead("height", "act_block_h 480 and more in BFLOAT16", "conv_*", rf"(?s)^(?!.*(?:{BFP8})).*{ACT_BLOCK}", "refused: does not fit in L1"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "bev-large-clamped", CLAMPED_AT, "the same as compiled: 42 cores, whose 206 rows of tiles divide by two only: 2,394 us",
        conv(Conv(us=2394.3, height=2, grid=(6, 7), shard=(6592, 32), act_twice=True, weights_twice=True, weights="BFLOAT8_B", **LARGE)),
        (
            gain("cores", "48 cores, whose 180 rows of tiles divide by twelve", 1160, "conv_*", rf"{CORES}|{ACT_BLOCK}", "2,394 -> 1,234 us", CLAMPED_SWEEP),
            dead("fewer", "36 or 30 cores", "conv_*", r"\b(36|30) cores|fewer cores", "refused: does not fit in L1", CLAMPED_SWEEP),
            dead("rows", "shards along the rows", "conv_*", r"HEIGHT_SHARDED|height.shard", "refused: does not fit in L1", CLAMPED_SWEEP),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "bev-large-cores", CLAMPED_SWEEP, "the same on 48 cores, BFLOAT8_B weights: 1,234 us",
        conv(Conv(us=1234, height=12, act_twice=True, weights_twice=True, weights="BFLOAT8_B", **LARGE_BLOCKS)),
        (
            dead("height", "act_block_h 576 or 640 and a BFLOAT16 result", "conv_*", rf"(?s)^(?!.*(?:{BFP8})).*{ACT_BLOCK}", "refused: does not fit in L1"),
            dead("tables", "the tables of the window in L1", "halo_* conv_*", r"config_tensors_in_dram", "refused: does not fit in L1"),
        ),
        CONV_MADE_UP,
    ),
    laid(
        "bev-large-narrow", LARGE_AT, "the same, BFLOAT8_B weights and result, act_block_h 576: 888 us",
        conv(Conv(us=888, height=18, act_twice=True, weights_twice=True, weights="BFLOAT8_B", out="BFLOAT8_B", **LARGE_BLOCKS)),
        (
            dead("height", "act_block_h 640 and more", "conv_*", ACT_BLOCK, "slower"),
            dead("once", "activations buffered once", "conv_*", r"act_double_buffer\W{0,4}False", "slower"),
        ),
        CONV_MADE_UP,
    ),
)  # fmt: skip
