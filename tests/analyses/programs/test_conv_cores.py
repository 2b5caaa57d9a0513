"""Conv cores: tiles of the busiest core, and L1 in another layout, by hand."""

from dataclasses import replace

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.conv_cores import (
    Size,
    fits_in,
    grid_of,
    in_layout,
    least_tiles,
    tiles_of_busiest_core,
)
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv

CONV = Conv(
    layout=HEIGHT, block_h=2, block_w=6, per_core_h=8, per_core_w=2, kernel_h=3, inner_blocks=3, cores=(64, 1, 1),
    staging_dtype="BFLOAT16", weights_dtype="BFLOAT8_B", output_dtype="BFLOAT8_B", act_double=False,
    weights_double=True, bias=False, untilize=False, fp32_accumulation=False, packer_l1=False,
    allocated_bytes=100_000, allocated_said=True,
)  # fmt: skip
SIZE = Size(rows=500, columns=16, inner=18, input_bytes=1_000_000)


@for_all(
    ("cores", "arch", "grid"),
    [
        (64, "wormhole_b0", (8, 8)),
        (110, "blackhole", (11, 10)),
        (72, "wormhole_b0", (8, 9)),
        (72, None, (9, 8)),
        (96, None, (12, 8)),
        (7, None, (7, 1)),
    ],
)
def test_a_number_of_cores_is_a_cards_grid_or_the_squarest(cores, arch, grid):
    assert grid_of(cores, arch) == grid


def test_tiles_of_the_busiest_core():
    assert tiles_of_busiest_core(CONV) == 8 * 2
    assert least_tiles(CONV, SIZE, (8, 8)) == 8 * 2  # 500 rows on 64 cores
    assert least_tiles(CONV, SIZE, (11, 10)) == 5 * 2  # on 110
    assert least_tiles(replace(CONV, layout=BLOCK), SIZE, (11, 10)) == 46 * 2  # 500 / 11 by 16 / 10; 50 x 2 turned
    assert least_tiles(replace(CONV, layout=BLOCK), SIZE, (4, 16)) == 125 * 1  # 500 / 4 by 16 / 16; 32 x 4 turned
    assert least_tiles(replace(CONV, layout=WIDTH), SIZE, (2, 4)) == 8 * 2


def test_a_conv_dealt_out_in_rows():
    other = in_layout(CONV, HEIGHT, SIZE, (8, 8))
    assert (other.per_core_h, other.per_core_w, other.block_h, other.block_w) == (8, 16, 1, 6)
    assert (other.cores, other.inner_blocks, other.allocated_bytes) == ((64, 1, 1), 3, 15_625)
    assert not other.weights_double
    assert not other.allocated_said


def test_a_conv_dealt_out_in_rows_and_channels():
    other = in_layout(CONV, BLOCK, SIZE, (8, 4))
    assert (other.per_core_h, other.per_core_w, other.block_h, other.block_w) == (125, 2, 1, 1)
    assert (other.cores, other.inner_blocks, other.allocated_bytes) == ((4, 8, 8), 24, 31_250)
    assert other.weights_double
    assert not in_layout(replace(CONV, weights_double=False), BLOCK, SIZE, (8, 4)).weights_double


def test_a_conv_dealt_out_in_channels():
    other = in_layout(CONV, WIDTH, SIZE, (8, 2))
    assert (other.per_core_h, other.per_core_w, other.block_h, other.block_w) == (500, 1, 500, 2)
    assert (other.cores, other.inner_blocks, other.allocated_bytes) == ((1, 16, 16), 16, 62_500)


PRINTED = replace(CONV, window=ConvWindow(1, (64, 64), (3, 3), padding=(1, 1, 1, 1)), input_channels=64)
PRODUCT = Size(rows=128, columns=3, inner=18, input_bytes=1_000_000)


def test_a_printed_window_is_dealt_out_as_ttnn_does_it():
    """4096 pixels are 128 tiles, two on each of 64 cores, in blocks of three pixels of 64 channels: 6 tiles."""
    other = in_layout(PRINTED, HEIGHT, PRODUCT, (8, 8))
    assert (other.cores, other.per_core_h, other.per_core_w) == ((64, 1, 1), 2, 3)
    assert (other.block_h, other.block_w, other.inner_blocks) == (1, 6, 3)
    assert other.allocated_bytes == other.halo_bytes == 3 * 66 * 64 * 2  # one row of pixels reads three, padded
    assert not other.weights_double
    assert in_layout(replace(PRINTED, weights_double=True), BLOCK, PRODUCT, (8, 8)).weights_double
    assert not in_layout(replace(PRINTED, weights_double=False), BLOCK, PRODUCT, (8, 8)).weights_double


def test_channels_of_output_are_dealt_out_in_whole_tiles():
    """Ten tiles of output channels on five columns of cores."""
    other = in_layout(PRINTED, BLOCK, replace(PRODUCT, columns=10), (5, 8))
    assert (other.cores, other.per_core_h, other.per_core_w) == ((8, 4, 5), 16, 2)
    assert other.inner_blocks == 3 * 4


@for_all("lost", [{"window": None}, {"input_channels": 0}])
def test_a_window_that_is_not_printed_is_dealt_out_by_tiles(lost):
    other = in_layout(replace(PRINTED, **lost), HEIGHT, PRODUCT, (8, 8))
    assert (other.per_core_h, other.allocated_bytes) == (2, 15_625)


def test_any_legal_block_height_may_make_it_fit():
    # BLOCK on 8 x 4: output, two blocks of weights, the block, the same tilized and row major, the input
    smallest = 125 * 2 * 1088 + 2 * 1 * 1088 * 2 + 1088 + 1088 + 2048 + 31_250 + 64  # and the reader's scratch
    assert fits_in(CONV, BLOCK, SIZE, (8, 4), smallest)
    assert not fits_in(CONV, BLOCK, SIZE, (8, 4), smallest - 1)
