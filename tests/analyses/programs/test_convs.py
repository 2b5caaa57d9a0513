"""The L1 model of Conv2d: buffer by buffer against sums done by hand, and against every conv that is known to have run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.checks.asking import real_case
from tests.checks.conv_programs import Conv as Made
from tests.checks.conv_programs import put_conv
from tests.checks.rows import case_of
from tests.for_all import for_all
from tests.profiles import Program, write_run
from tests.shared_reports import DEEPLAB, OFT, SEGFORMER
from ttnn_mcp.analyses.memory.l1_limit import l1_limit
from ttnn_mcp.analyses.op_kinds.convs import conv_of, convs_of
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.convs import divisors, larger_block
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.session.opening import read_run

B8, B16 = 1088, 2048  # bytes of a tile of BFLOAT8_B, BFLOAT16


@pytest.fixture
def read(tmp_path):
    def conv(**change):
        program = Program("wormhole_b0")
        put_conv(program, Made(**change))
        case = case_of(tmp_path, program)
        return convs_of(case.ops).at(0)

    return conv


def test_a_height_sharded_conv_with_several_blocks_holds_the_weights_of_all_window_rows(read):
    conv = read()  # 8 x 2 tiles per core, blocks of 2 x 6
    assert conv.buffers == {
        "OUT": 8 * 2 * B8,
        "WEIGHTS": 2 * 6 * B8 * 3,
        "ACT": 2 * 6 * B16,
        "ACT_TILIZED": 2 * 6 * B8,
        "SCRATCH": 64,
    }
    assert conv.total_bytes == 100_000 + sum(conv.buffers.values())


def test_with_a_single_block_one_row_of_weights_is_enough(read):
    assert read(block=(8, 6)).buffers["WEIGHTS"] == 2 * 6 * B8
    assert read(block=(8, 6), weights_double=True).buffers["WEIGHTS"] == 2 * 6 * B8 * 2


def test_the_whole_height_can_need_less_l1_than_a_part_of_it(read):
    several = read(per_core=(2, 16), block=(1, 24), allocated=0)
    whole = replace(several, block_h=2)
    assert whole.total_bytes < several.total_bytes


def test_a_block_sharded_conv_stages_rows_and_multicasts_tiles(read):
    conv = read(layout="BLOCK", channel_cores=8, act_double=True, weights_double=True)
    assert conv.buffers == {
        "OUT": 8 * 2 * B8,
        "WEIGHTS": 2 * 6 * B8 * 2,
        "ACT": 2 * 6 * B8 * 2,
        "ACT_TILIZED": 2 * 6 * B8,
        "ACT_ROW_MAJOR": 2 * 6 * B16 * 2,
        "SCRATCH": 64,
    }
    assert replace(conv, act_double=False).buffers["ACT_ROW_MAJOR"] == 2 * 6 * B16
    over = replace(conv, output_dtype="BFLOAT16")  # of one format: the rows lie over the activations
    assert "ACT_ROW_MAJOR" not in over.buffers
    assert over.older_bytes == 2 * 6 * B16 * 2
    assert (conv.inner_blocks, conv.cores) == (24, (8, 8, 8))


def test_a_width_sharded_conv_stages_rows_of_two_blocks(read):
    conv = read(layout="WIDTH", channel_cores=64, per_core=(8, 1), block=(2, 9))
    assert conv.buffers == {
        "OUT": 8 * 1 * B8,
        "WEIGHTS": 1 * 9 * B8,
        "ACT": 2 * 9 * B8,
        "ACT_TILIZED": 2 * 9 * B8,
        "ACT_ROW_MAJOR": 2 * 9 * B16,
        "SCRATCH": 64,
    }


def test_without_another_core_to_multicast_to_the_rows_lie_alone(read):
    conv = replace(read(layout="BLOCK", channel_cores=8), output_dtype="BFLOAT16")
    alone = replace(conv, cores=(8, 1, 1))
    assert ("ACT" in conv.buffers, "ACT_ROW_MAJOR" in conv.buffers) == (True, False)
    assert ("ACT" in alone.buffers, alone.buffers["ACT_ROW_MAJOR"]) == (False, 2 * 6 * B16)
    assert "ACT" in replace(conv, cores=(1, 8, 1)).buffers
    assert "ACT" in replace(conv, cores=(1, 1, 8)).buffers


def test_older_builds_hold_the_staging_of_a_block_sharded_conv_beside_its_activations(read):
    block = read(layout="BLOCK", channel_cores=8)
    assert block.older_bytes == 0  # the rows have a buffer of their own in both
    assert replace(block, output_dtype="BFLOAT16").older_bytes == 2 * 6 * B16
    assert replace(read(), output_dtype="BFLOAT16").older_bytes == 0
    assert replace(read(), untilize=True).older_bytes == (8 - 2) * 2 * B8  # sums of the whole output


def test_the_input_that_halo_writes_is_known_where_window_and_channels_are_printed(read):
    """256 rows of pixels, four to each of 64 cores: a core reads six rows of 66, one of them up to its third pixel."""
    window = ConvWindow(1, (256, 64), (3, 3), padding=(1, 1, 1, 1))
    conv = replace(read(), window=window, input_channels=64)
    assert conv.halo_bytes == (3 * 66 + 63 + 2 * 66 + 2 + 1) * 64 * 2
    images = replace(
        conv, per_core_h=4, cores=(3, 1, 1), window=ConvWindow(2, (3, 64), (3, 3), padding=(1, 1, 1, 1))
    )
    assert images.halo_bytes == (3 * 66 + 63 + 2 * 66 + 2 + 1) * 64 * 2  # the second core, over both images
    assert replace(images, layout="WIDTH_SHARDED").halo_bytes == (66 + 63 + 2 * 66 + 2 + 1) * 64 * 2  # all rows
    assert replace(conv, window=None).halo_bytes is None
    assert replace(conv, input_channels=0).halo_bytes is None


def test_indices_take_two_bytes_a_row_where_no_window_tells_their_runs(read):
    window = ConvWindow(1, (128, 128), (1, 1))  # one run a block
    conv = replace(read(), indices_in_l1=True, window=None)
    assert conv.buffers["INDICES"] == 8 * 32 * 2
    assert replace(conv, window=window).buffers["INDICES"] == 4 * 2 * 8  # two readers of four blocks
    assert replace(conv, window=window, block_h=1).buffers["INDICES"] == 8 * 8
    assert "INDICES" not in replace(conv, indices_in_l1=False, window=window).buffers
    rows = replace(
        conv, window=ConvWindow(1, (10, 33), (3, 3), padding=(1, 1, 1, 1)), per_core_h=4, cores=(3, 1, 1)
    )
    assert rows.buffers["INDICES"] == rows.window.index_bytes(3, 128, (32, 32)) == 48
    assert (
        replace(rows, layout="WIDTH_SHARDED").buffers["INDICES"] == rows.window.index_bytes(1, 128, (64, 0)) == 28
    )
    for tiles, size in ((4_096, 4_096 // 2 * 2 * 8), (4_097, 4_097 * 64)):  # no core has so many
        large = replace(conv, window=ConvWindow(1, (1, 32 * tiles), (1, 1)), per_core_h=tiles)
        assert large.buffers["INDICES"] == size


READ = {  # what TTNN 0.81.1 did on mock devices: chip, formats in and out, sums in FLOAT32, weights; then
    # blocks, tiles per core, channels, window, gaps; and whether two readers shared a block
    ("wormhole_b0", "BFLOAT16", "BFLOAT16", True, "BFLOAT16"): [
        ((2, 3), 2, 32, 3, 1, False), ((4, 3), 2, 32, 3, 1, True), ((4, 5), 6, 32, 5, 2, True),
        ((2, 3), 1, 16, 5, 1, False), ((5, 5), 4, 32, 5, 1, True), ((2, 12), 3, 128, 3, 1, False),
    ],
    ("wormhole_b0", "FLOAT32", "BFLOAT8_B", False, "BFLOAT16"): [((4, 3), 4, 32, 3, 1, False)],
    ("wormhole_b0", "FLOAT32", "BFLOAT16", True, "BFLOAT16"): [((5, 5), 1, 32, 5, 1, True)],
    ("wormhole_b0", "BFLOAT16", "BFLOAT8_B", False, "BFLOAT8_B"): [
        ((5, 2), 8, 16, 3, 1, False), ((3, 2), 8, 8, 5, 1, False), ((3, 10), 6, 64, 5, 1, False),
        ((4, 9), 1, 96, 3, 2, True),
    ],
    ("blackhole", "BFLOAT16", "BFLOAT8_B", True, "BFLOAT8_B"): [
        ((2, 15), 6, 96, 5, 1, False), ((5, 15), 8, 96, 5, 1, True), ((7, 10), 8, 64, 5, 1, True),
    ],
    ("blackhole", "BFLOAT16", "BFLOAT8_B", True, "BFLOAT16"): [
        ((2, 20), 8, 128, 5, 1, False), ((2, 6), 4, 64, 3, 1, True), ((4, 15), 8, 96, 5, 2, True),
    ],
}  # fmt: skip


def test_two_readers_share_a_block_where_ttnn_expects_it_to_be_faster(read):
    conv = read()
    for (arch, came, goes, fp32, weights), cases in READ.items():
        for (block_h, block_w), per_core_w, channels, side, gap, shared in cases:
            one = replace(
                conv, arch=arch, staging_dtype=came, output_dtype=goes, fp32_accumulation=fp32,
                weights_dtype=weights, block_h=block_h, block_w=block_w, per_core_w=per_core_w,
                input_channels=channels, window=ConvWindow(1, (96, 96), (side, side), dilation=(gap, gap)),
            )  # fmt: skip
            assert one.two_read == shared, one
            others = ({"arch": None}, {"window": None}, {"layout": "BLOCK_SHARDED"}, {"layout": "WIDTH_SHARDED"})
            assert [replace(one, **other).two_read for other in others] == [True, True, True, False]


def test_channels_are_read_filled_up_to_16_bytes(read):
    """Of 160 rows a read of 16 bytes takes 2.9 us, one of 32 bytes 3.9; two weight tiles outlast tilizing by 1.7."""
    conv = replace(
        read(), arch="wormhole_b0", staging_dtype="BFLOAT16", output_dtype="BFLOAT16", weights_dtype="BFLOAT8_B",
        block_h=5, block_w=1, per_core_w=2, window=ConvWindow(1, (96, 96), (1, 1)),
    )  # fmt: skip
    shared = [replace(conv, input_channels=channels).two_read for channels in (1, 8, 10, 16)]
    assert shared == [False, False, True, True]


def test_a_second_activation_buffer_needs_a_second_block(read):
    whole = replace(read(), block_h=8)
    assert read().doubling_helps
    assert not whole.doubling_helps  # HEIGHT reads the rows of the window one after the other
    assert replace(whole, layout="BLOCK_SHARDED", inner_blocks=2).doubling_helps
    assert not replace(whole, layout="BLOCK_SHARDED", inner_blocks=1).doubling_helps


@for_all("program", ["reuses_activation", "depthwise"])
def test_a_program_that_is_not_modelled_is_told_no_block(read, program):
    conv = read()
    assert larger_block(conv, 1_400_000) is not None
    assert larger_block(replace(conv, **{program: True}), 1_400_000) is None


def test_only_a_side_that_a_tensor_can_have_has_divisors():
    assert divisors(12) == [1, 2, 3, 4, 6, 12]
    assert len(divisors(1 << 20)) == 21
    assert divisors((1 << 20) + 1) == divisors(0) == divisors(-4) == []
    assert divisors(1) == [1]


def test_untilized_output_needs_a_buffer_for_partial_sums(read):
    conv = read(out="BFLOAT16")
    assert "PARTIALS" not in conv.buffers
    assert replace(conv, untilize=True).buffers["PARTIALS"] == 2 * 2 * B16  # of one block


def test_the_packer_sums_in_its_own_format_only_over_enough_blocks(read):
    conv = replace(read(out="BFLOAT8_B"), packer_l1=True, fp32_accumulation=True)
    assert conv.inner_blocks == 3
    assert conv.buffers["PARTIALS"] == 2 * 2 * 4096
    assert replace(conv, fp32_accumulation=False).buffers["PARTIALS"] == 2 * 2 * B16
    assert "PARTIALS" not in replace(conv, inner_blocks=2).buffers
    assert "PARTIALS" in replace(conv, inner_blocks=2, bias=True).buffers
    block, width = (
        replace(conv, inner_blocks=2, layout=f"{layout}_SHARDED", cores=(1, 2, 2)) for layout in ("BLOCK", "WIDTH")
    )
    assert ("PARTIALS" in block.buffers, "PARTIALS" in width.buffers) == (True, False)


def test_older_reports_print_elements_and_leave_out_what_was_allocated(read):
    conv, old = read(), read(legacy=True, allocated=None)
    assert (old.per_core_h, old.per_core_w) == (conv.per_core_h, conv.per_core_w)
    assert old.allocated_said is False
    assert old.allocated_bytes == (32 * 8 * 64 + 128) * 64 * 2 // 64  # the input's shard


@for_all("key", ["block_config", "parallelization_config", "sliding_window_config", "memory_config"])
def test_a_conv_whose_attributes_lack_something_is_not_guessed(key):
    said = {key: str(value) for key, value in Made().attributes().items() if key != "memory_config"}
    said["memory_config"] = (
        "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED;buffer_type=BufferType::L1)"
    )
    formats = {
        "input_dtype": "BFLOAT16",
        "weights_dtype": "BFLOAT8_B",
        "output_dtype": "BFLOAT16",
        "input_bytes": 1.0,
    }
    assert conv_of(parse_attributes(str(said)), **formats) is not None
    del said[key]
    assert conv_of(parse_attributes(str(said)), **formats) is None


def test_the_largest_block_that_fits_divides_the_height(read):
    conv = read(per_core=(12, 2), block=(1, 6))
    roomy = larger_block(conv, 1_400_000)
    assert (roomy.block_h, roomy.act_double) == (12, False)  # one block: nothing to read ahead
    tight = larger_block(conv, conv.total_bytes + 100_000)
    assert (tight.block_h, tight.act_double) == (3, True)
    assert larger_block(conv, conv.total_bytes) is None


def test_a_double_buffer_that_fits_is_preferred_to_a_larger_block_without(read):
    conv = read(layout="BLOCK", channel_cores=8, per_core=(8, 1), block=(1, 6), allocated=0)
    limit = replace(conv, block_h=4, act_double=True).total_bytes
    assert replace(conv, block_h=8).total_bytes > limit >= replace(conv, block_h=4).total_bytes
    assert (larger_block(conv, limit).block_h, larger_block(conv, limit).act_double) == (4, True)
    assert (larger_block(conv, limit - 1).block_h, larger_block(conv, limit - 1).act_double) == (2, True)
    single = replace(conv, block_h=4)  # 8 does not fit, doubled neither: nothing but the present block is left
    assert larger_block(single, limit - 1) is None


def test_width_sharded_convs_take_blocks_that_divide_their_whole_tiles_of_rows(read):
    window = ", input_hw=({0},{0}), stride_hw=(1,1), padding=((1,1),(1,1)), dilation_hw=(1,1)"
    shared = {"layout": "WIDTH", "channel_cores": 64, "per_core": (14, 1), "block": (1, 9)}
    odd = read(**shared, window=window.format(21))  # 441 rows: 13 whole tiles in 14
    assert larger_block(odd, 1_400_000) is None  # 14 by no override alone; 2 and 7 do not divide 13
    assert larger_block(read(**shared), 1_400_000) is None  # nobody says how many rows there are
    even = read(**{**shared, "per_core": (8, 1)}, window=window.format(16))  # 256 rows
    assert larger_block(even, 1_400_000).block_h == 8


async def test_the_limit_is_the_reports_own_where_there_is_one(tmp_path):
    program = Program("wormhole_b0", l1_small_bytes=80_000)
    put_conv(program)
    made = write_run(tmp_path, program)
    limit = l1_limit(await read_run("x", "x", made.performance, made.memory))
    assert (limit.limit_bytes, limit.small_bytes, limit.read) == (1_395_424, 80_000, True)
    assert limit.safe_bytes == 1_395_424 - 80_000  # more than 5 % was set aside
    alone = l1_limit(await read_run("x", "x", made.performance, None))
    assert (alone.limit_bytes, alone.read, alone.measured) == (1_393_312, False, True)  # of the newest build
    assert alone.safe_bytes == int(0.95 * 1_393_312)


@for_all("name", [DEEPLAB, SEGFORMER, OFT])
def test_every_conv_that_ran_fits_the_model(name):
    case = real_case(name)
    convs = convs_of(case.ops)
    limit = l1_limit(case.run)
    assert len(convs.rows) == convs.known > 0
    assert np.nanmax(convs.numbers(lambda conv: conv.total_bytes)) <= limit.limit_bytes


def test_deeplabs_remaining_small_blocks_can_grow_to_the_whole_height():
    case = real_case(DEEPLAB)
    convs = convs_of(case.ops)
    assert len(convs.where(lambda conv: conv.block_h == conv.per_core_h)) == 33
    conv = convs.at(case.ops.at_line(221))
    grown = larger_block(conv, l1_limit(case.run).safe_bytes)
    assert (conv.block_h, conv.per_core_h, grown.block_h, grown.total_bytes) == (4, 8, 8, 791_768)


def test_ofts_block_convs_go_from_one_tile_of_a_hundred_to_ten():
    case = real_case(OFT)
    conv = convs_of(case.ops).at(case.ops.at_line(376))
    assert sum(conv.buffers.values()) == 447_296
    grown = larger_block(conv, l1_limit(case.run).safe_bytes)
    assert (conv.block_h, conv.per_core_h, grown.block_h, grown.act_double) == (1, 100, 10, True)
