"""How TTNN spreads a conv: cores along rows and channels, and the block that follows."""

from dataclasses import replace

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.conv_spread import (
    Channels,
    Spread,
    block_height,
    block_width,
    evenly,
    spread_anew,
    spread_of,
    width_rules,
)
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.convs import BLOCK, HEIGHT, WIDTH, Conv

WINDOW = ConvWindow(1, (56, 56), (3, 3), padding=(1, 1, 1, 1))  # 3136 rows of output: 98 tiles
CONV = Conv(
    layout=HEIGHT, block_h=2, block_w=6, per_core_h=2, per_core_w=2, kernel_h=3, inner_blocks=3, cores=(49, 1, 1),
    staging_dtype="BFLOAT16", weights_dtype="BFLOAT8_B", output_dtype="BFLOAT8_B", act_double=False,
    weights_double=False, bias=False, untilize=False, fp32_accumulation=False, packer_l1=False,
    allocated_bytes=100_000, allocated_said=True, window=WINDOW, input_channels=64,
)  # fmt: skip


def spread(layout, *, channels=(64, 96), grid=(8, 8), window=WINDOW, **how):
    return spread_of(layout, window, Channels(*channels), grid, **how)


def test_height_deals_out_rows_alone():
    assert spread(HEIGHT) == Spread((49, 1, 1), 2, 3, 2, 64)
    assert spread(HEIGHT, channels=(3, 96)).channels == 8  # 16 bytes of BFLOAT16


def test_width_deals_out_channels_alone():
    assert spread(WIDTH, channels=(2048, 1024)) == Spread((1, 64, 32), 98, 1, 98, 2048)
    uneven = spread(WIDTH, channels=(70, 96), window=ConvWindow(1, (20, 20), (1, 1)))
    assert uneven == Spread((1, 3, 3), 13, 1, 12, 96)  # 400 rows are 12 whole tiles; 70 channels three


def test_block_deals_out_both_and_may_be_turned():
    wide = spread(BLOCK, channels=(512, 512), grid=(8, 7))
    turned = spread(BLOCK, channels=(512, 512), grid=(8, 7), transposed=True)
    assert (wide.cores, wide.per_core_h, wide.per_core_w) == ((7, 8, 8), 14, 2)
    assert (turned.cores, turned.per_core_h, turned.per_core_w) == ((8, 7, 6), 13, 3)


def test_blocks_of_several_tiles_are_dealt_out_whole():
    assert spread(HEIGHT, tiles=4).cores == (25, 1, 1)
    assert [spread(BLOCK, tiles=tiles).cores[0] for tiles in (1, 4)] == [8, 7]
    assert spread(HEIGHT, tiles=0).cores == (49, 1, 1)


def test_more_cores_than_that_would_be_padding_alone():
    """98 tiles on 64 cores are two each: 15 cores would have nothing."""
    assert [evenly(98, most) for most in (64, 50, 49, 48)] == [49, 49, 49, 33]
    assert evenly(98, 64, 4) == 25
    assert evenly(1, 64) == 1


@for_all(
    ("whole", "tiles", "height"), [(12, 0, 13), (12, -1, 13), (12, 5, 4), (12, 6, 6), (0, 5, 5), (12, 100, 12)]
)
def test_a_block_is_the_next_divisor_of_a_cores_whole_tiles(whole, tiles, height):
    assert block_height(whole, 13, tiles) == height


def test_a_block_of_inner_tiles_is_a_row_of_the_window():
    def width(layout, **how):
        return block_width(Spread((8, 2, 2), 8, 2, 8, 128), layout, WINDOW, **how)

    assert width(HEIGHT) == 6  # 64 channels by 3 columns
    assert width(BLOCK) == 6
    assert width(WIDTH) == 18
    assert width(WIDTH, divisor=3) == 6


def test_a_width_sharded_block_divides_height_depth_and_cores():
    over_cores = Spread((1, 4, 4), 6, 1, 6, 128)  # 36 tiles deep

    def kept(height, width):
        return [*width_rules(over_cores, WINDOW, (height, width)).values()]

    assert kept(3, 9) == [True, True, True]
    assert kept(4, 9) == [False, True, True]
    assert kept(3, 12) == [True, True, False]
    assert kept(3, 7) == [True, False, True]  # what does not divide is dealt out to nobody
    assert kept(3, 0) == [True, False, True]


def test_rows_dealt_out_again_change_what_halo_leaves():
    """Blocks of four: 25 cores of four tiles, whose 128 pixels are 2 rows and 16 pixels of the image's 56."""
    anew = spread_anew(CONV, WINDOW, Channels(64, 64), (8, 8), 4)
    assert (anew.block_h, anew.per_core_h, anew.cores) == (4, 4, (25, 1, 1))
    assert anew.allocated_bytes == 100_000 + anew.halo_bytes - CONV.halo_bytes
    assert anew.halo_bytes > CONV.halo_bytes
    whole = spread_anew(CONV, WINDOW, Channels(64, 64), (8, 8), 0)
    assert (whole.block_h, whole.per_core_h) == (2, 2)


def test_where_halos_part_is_not_known_the_allocation_stays():
    anew = spread_anew(replace(CONV, input_channels=0), WINDOW, Channels(64, 64), (8, 8), 4)
    assert anew.allocated_bytes == 100_000


def test_columns_of_transposed_shards_are_rows_of_cores():
    conv = replace(CONV, layout=BLOCK, cores=(7, 8, 8))
    assert spread_anew(conv, WINDOW, Channels(64, 64), (8, 7), 1).cores[0] == 7
    assert spread_anew(replace(conv, transposed=True), WINDOW, Channels(64, 64), (8, 7), 1).cores[0] == 8
