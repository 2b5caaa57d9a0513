"""EVO50's input stage on Wormhole: two convolutions over an image of 384 x 1664, NCHW in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.profiles import height_sharded
from tests.profiles.conv import Window, conv2d, halo, move

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

NOTES = f"{TT_METAL}/47d0cdb242462eb28d491245e385184b600d71f8/docs/evo50_input_preproc_optimization_for_ttnn_ir.md"
ROWS = 192 * 832
GRID = (8, 8)
CHANNELS_LAST = r"channels_last|NHWC|channels.last"


def _shards(rows: int, columns: int) -> object:
    return height_sharded(rows // 64, columns, GRID)


def _halo(block: Block, role: str, x: Tensor, window: Window, columns: int, us: float) -> Tensor:  # noqa: PLR0917
    rows = x.shape[-2] + 64 * (window.kernel[0] + 1) * 8
    out = block.tensor([1, 1, rows, columns], place=height_sharded(rows // 64, columns, GRID), layout=ROW_MAJOR)
    return block.put(role, halo(x, out, window, round(us * 1e3)))


def _move(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.put(role, move(x, block.tensor(x.shape, x.dtype, x.placement or DRAM, x.layout), round(us * 1e3)))


def _conv(
    block: Block, role: str, x: Tensor, window: Window, us: float, *, rows: int, inner: int, height: int, groups: int = 1
) -> Tensor:  # fmt: skip
    k = inner * window.kernel[0] * window.kernel[1]
    weight, bias = block.tensor([1, 1, k, 16]), block.tensor([1, 1, 32, 16])
    out = block.tensor([1, 1, rows, 16], place=height_sharded(rows // 64, 32, GRID))
    made = conv2d(
        x, weight, bias, out, window=window, kernel_ns=round(us * 1e3), in_channels=inner, act_block_h=height,
        fidelity="HiFi2", activation="RELU",
    )  # fmt: skip
    made.attributes = {
        **made.attributes, "groups": groups, "config_tensors_in_dram": True,
        "compute_kernel_config": block.kernel("HiFi2", fp32=True, packer=False),
    }  # fmt: skip
    return block.put(role, made)


def _tail(block: Block, x: Tensor, times: tuple[float, float, float, float, float, float]) -> None:
    """The grouped conv to the output; no move where `times[1]` is 0."""
    window = Window((192, 832), (3, 3), 1, 1)
    wide = _halo(block, "halo2", x, window, 32, times[0])
    if times[1]:
        wide = _move(block, "move2", wide, times[1])
    y = _conv(block, "conv2", wide, window, times[2], rows=ROWS, inner=16, height=2, groups=2)
    y = block.view(y, [1, 192, 832, 16])
    turned = block.moved("out_turned", "Transpose", y, times[3], shape=[1, 192, 16, 832], fidelity="HiFi4", dim="TransposeOpDim::WH", pad_value=0)  # fmt: skip
    turned = block.moved("out_channels", "Transpose", turned, times[4], shape=[1, 16, 192, 832], place=L1, fidelity="HiFi4", dim="TransposeOpDim::HC", pad_value=0)  # fmt: skip
    flat = block.moved("out_copied", "Copy", turned, times[5], place=DRAM, backwards=False, output_dtype="DataType::BFLOAT16")  # fmt: skip
    block.moved("out_rows", "Untilize", flat, 59, layout=ROW_MAJOR, cores=48, fidelity="HiFi4", use_multicore=True, use_pack_untilize=True)  # fmt: skip


def compiled() -> Block:
    """As the compiler wrote it: 2609 us, 21 ops."""
    block = Block("wormhole_b0")
    image = block.tensor([1, 3, 384, 1664], layout=ROW_MAJOR)
    tiles = block.moved("stem_tilize", "Tilize", image, 171.01, layout="TILE", cores=39, fidelity="HiFi4", use_multicore=True, use_low_perf=False)  # fmt: skip
    last = block.permute("stem_permute", tiles, (0, 2, 3, 1), 905.853, L1)
    last = block.view(last, [1, 1, 638_976, 3])
    spilled = block.moved("stem_copy", "Copy", last, 306.925, place=DRAM, backwards=False, output_dtype="DataType::BFLOAT16")  # fmt: skip
    window = Window((384, 836), (7, 7), 2, 2)
    parts = []
    for part, (sliced, halo_us, move_us, conv_us, written) in enumerate(((142.933, 11.924, 7.339, 130.113, 44.794), (143.875, 11.732, 7.381, 130.183, 43.28))):  # fmt: skip
        piece = block.moved(f"stem_slice{part}", "PaddedSlice", spilled, sliced, shape=[1, 1, 384 * 836, 16], place=height_sharded(5016, 16, GRID), layout=ROW_MAJOR, fidelity="HiFi4", padded_slice_start=f"Shape([0, 0, {830 * part}, 0])", padded_slice_end=f"Shape([1, 384, {830 * part + 836}, 3])", step="Shape([1, 1, 1, 1])")  # fmt: skip
        wide = _move(
            block, f"stem_move{part}", _halo(block, f"stem_halo{part}", piece, window, 16, halo_us), move_us
        )
        y = _conv(block, f"stem_conv{part}", wide, window, conv_us, rows=ROWS // 2, inner=3, height=32)
        parts.append(block.moved(f"stem_write{part}", "SliceWrite", y, written, shape=[1, 1, ROWS, 16], place=DRAM, slice_start=f"Shape([0, 0, {416 * part}, 0])", slice_end=f"Shape([1, 192, {416 * (part + 1)}, 16])", step="Shape([1, 1, 1, 1])"))  # fmt: skip
    placed = block.to_shards("stem_placed", parts[1], height_sharded(2496, 32, GRID), 51.905)
    _tail(block, placed, (24.936, 11.541, 228.963, 8.184, 126.808, 39.463))
    return block


def unshuffled(height: int, conv_us: float) -> Callable[[], Block]:
    """After space-to-depth: 1262 us, 14 ops."""

    def build() -> Block:
        block = Block("wormhole_b0")
        image = block.tensor([1, 3, 384, 1664], layout=ROW_MAJOR)
        packed = block.op("unshuffle", "PixelUnshuffle", (image,), block.tensor([1, 12, 192, 832], place=L1, layout=ROW_MAJOR), 119.499, downscale_factor=2, output_mem_config=L1)  # fmt: skip
        tiles = block.moved("tilize", "Tilize", packed, 50.552, layout="TILE", cores=36, fidelity="HiFi4", use_multicore=True)  # fmt: skip
        last = block.view(block.permute("permute", tiles, (0, 2, 3, 1), 229.259), [1, 1, ROWS, 12])
        placed = block.to_shards("placed", last, height_sharded(2496, 32, GRID), 35.356)
        placed = _move(block, "move_in", placed, 7.526)
        window = Window((192, 832), (4, 4), 1, 1)
        wide = _move(block, "move1", _halo(block, "halo1", placed, window, 32, 34.406), 11.822)
        y = _conv(block, "conv1", wide, window, conv_us, rows=ROWS, inner=12, height=height)
        _tail(block, y, (24.472, 0, 229.435, 6.718, 125.089, 39.344))
        return block

    return build


BLOCKS = r"act_block_h"
GROUPED = gain("grouped-blocks", "act_block_h_override 832 and double-buffered activations for the grouped conv", 105.9, "conv2", BLOCKS, "229.2 -> 123.3 us, device time")  # fmt: skip
LAST = gain("channels-last", "pixel_unshuffle writes the conv's shards itself: rows of channels, 16 wide", 323.5, "unshuffle tilize permute placed move_in halo1", rf"{CHANNELS_LAST}|row.?major|without (the )?permute|permute", "50.6 + 229.3 + 35.4 + 7.5 us gone, halo 34.4 -> 15.9 us, unshuffle 17.8 us longer")  # fmt: skip

EVO50 = (
    laid(
        "evo50-compiled", NOTES, "the stage as compiled: a 7x7 conv of stride 2 in two slices through DRAM, 2609 us, 21 ops",
        compiled,
        (
            gain("unshuffle", "pixel_unshuffle and a 4x4 conv of stride 1 on regrouped weights", 1_330.9, "stem_*", r"pixel_unshuffle|space.to.depth|unshuffle|fold", "stem 2109.2 -> 778.3 us, device time"),
            gain("halo", "reallocate_halo_output=False for the grouped conv", 11.5, "move2", r"reallocate_halo_output|\bmove", "the move is gone, device time"),
        ),
        "halo sizes, paddings of the windows",
        2608.8,
    ),
    laid(
        "evo50-unshuffled", NOTES, "the stage after space-to-depth, blocks of 64 rows: 1262 us, 14 ops",
        unshuffled(2, 289.919),
        (
            LAST,
            gain("blocks", "act_block_h_override 192 for the first conv", 89, "conv1", BLOCKS, "291 -> 202 us, device time"),
            GROUPED,
            gain("halo", "reallocate_halo_output=False for the first conv", 11.8, "move1", r"reallocate_halo_output|\bmove", "the move of 12 to 13 us is gone"),
            dead("weights-buffer", "double-buffered weights for the first conv", "conv1", r"enable_weights_double_buffer|weights?.{0,20}double|double.{0,20}weights?", "291 -> 290 us"),
            dead("reuse", "enable_activation_reuse for the first conv", "conv1", r"activation_reuse", "refused: fails to build"),
        ),
        "halo sizes, paddings of the windows",
        1262.2,
    ),
    laid(
        "evo50-unshuffled-blocks", NOTES, "the same with blocks of 192 rows in the first conv: 1174 us",
        unshuffled(6, 202),
        (
            dead("act-buffer", "double-buffered activations for the first conv", "conv1", r"enable_act_double_buffer|act\w*.{0,20}double|double.{0,20}act", "202 -> 202 us"),
            dead("split-reader", "force_split_reader for the first conv", "conv1", r"split.?reader", "202 -> 202 us"),
            dead("larger-blocks", "act_block_h_override 416, 832 or 1248 for the first conv", "conv1", BLOCKS, "202 -> 224, 203 and 199 us"),
        ),
        "halo sizes, paddings of the windows",
    ),
)  # fmt: skip
