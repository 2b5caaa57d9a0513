"""Conv3d against dry captures of TTNN 0.81.1 on mock devices, Wormhole."""

from dataclasses import replace

from tests.analyses.from_graph.programs import KERNEL, WORMHOLE, modelled, tensor
from tests.for_all import for_all

CONFIG = (
    "Conv3dConfig(weights_dtype=DataType::BFLOAT16,T_out_block={},W_out_block={},H_out_block={},C_out_block={},"
    "C_in_block={},dilation={{1, 1, 1}},alignment=32,compute_with_storage_grid_size=8-8,enable_fp32_operand_split=0)"
)
PRINTED = "Conv3dParams(<Conv3dConfig>, MC, {}, DataType::BFLOAT16, {}, {}, {}, array(1, 1, 1), {}, {}, {}, 0, 0)"
CASES = [  # channels in and out, window, step, blocks (T, W, H, C_out, C_in), FLOAT32, bias, measured
    (32, 64, 3, 1, (1, 1, 1, 32, 32), 0, 0, 118_144),  # one point
    (64, 64, 3, 1, (1, 2, 2, 64, 64), 0, 0, 359_936),
    (256, 512, 3, 1, (1, 8, 2, 128, 128), 0, 1, 1_251_328),  # parts of the channels, no room for the input
    (128, 128, 3, 1, (2, 8, 2, 128, 128), 1, 1, 1_351_680),
    (64, 64, 2, 2, (2, 4, 4, 64, 64), 0, 0, 172_032),
    (64, 64, 1, 1, (1, 8, 4, 64, 64), 0, 0, 24_576),  # no neighbours to read
    (32, 96, 3, 1, (1, 16, 8, 96, 32), 0, 0, 415_488),  # two rows of tiles at a time
    (32, 64, 3, 1, (1, 16, 14, 64, 32), 0, 0, 333_824),  # seven: nothing divides them but one
    (32, 32, 3, 1, (1, 16, 16, 32, 32), 1, 1, 428_800),  # four registers in FLOAT32
    (64, 32, 3, 1, (1, 8, 9, 32, 32), 0, 0, 373_376),  # 72 points are no whole tiles
    (64, 32, 3, 1, (2, 11, 11, 32, 32), 1, 0, 514_304),  # FLOAT32 between parts of the channels
    (96, 128, 3, 1, (1, 8, 8, 128, 96), 0, 0, 1_251_584),
    (112, 64, 3, 1, (1, 16, 8, 64, 112), 0, 0, 1_126_528),  # four rows had no room: two
    (80, 32, 3, 1, (1, 16, 16, 32, 80), 0, 0, 1_023_872),
    (128, 128, 3, 1, (1, 8, 8, 128, 128), 0, 0, 1_359_872),
    (64, 256, 3, 1, (1, 6, 16, 256, 64), 0, 0, 1_259_520),
    (64, 256, 3, 1, (1, 24, 4, 256, 64), 0, 0, 1_204_224),  # no room to read ahead
    (16, 48, 3, 1, (1, 8, 4, 64, 16), 0, 0, 128_640),
    (128, 32, 3, 1, (2, 20, 20, 32, 128), 0, 0, 1_261_568),  # 484 kB are read ahead
    (32, 32, 3, 2, (4, 15, 15, 32, 32), 0, 0, 339_968),  # 541 kB are not
    (32, 32, 3, 1, (1, 20, 16, 32, 32), 0, 0, 504_064),  # of ten rows five at a time
    (32, 32, 3, 1, (1, 20, 8, 32, 32), 1, 0, 228_608),  # of five one, in FLOAT32
    (96, 96, 3, 2, (1, 16, 2, 96, 96), 0, 0, 1_031_808),  # rows of 33 points are gathered bank by bank
    (64, 64, 3, 3, (1, 8, 4, 64, 64), 0, 0, 671_744),  # rows of 24 are: two for each of 12 banks
    (64, 64, 3, 3, (1, 4, 8, 64, 64), 0, 0, 561_152),  # of 12 are not
    (64, 64, 3, 2, (1, 8, 4, 64, 64), 0, 0, 509_312),  # of 17 neither
    (32, 64, 3, 3, (4, 8, 8, 64, 32), 0, 0, 964_096),  # as many rows as have room, not all
    (32, 64, 3, 3, (4, 8, 9, 64, 32), 0, 0, 903_168),  # nine have room, and there are 12 banks: none
    (32, 32, 3, 2, (2, 12, 31, 32, 32), 0, 0, 1_210_560),  # five have
    (32, 32, 3, 2, (2, 13, 28, 32, 32), 0, 0, 807_872),  # eleven have
    (32, 32, 3, 2, (2, 12, 30, 32, 32), 0, 0, 827_392),  # fifteen are gathered
    (96, 96, 3, 3, (1, 16, 2, 96, 96), 0, 0, 1_173_504),
    (64, 32, 3, 1, (4, 30, 18, 32, 64), 0, 0, 1_052_672),
    (64, 32, 3, 1, (4, 30, 17, 32, 64), 0, 0, 1_036_288),
    (64, 32, 3, 1, (4, 30, 16, 32, 64), 0, 0, 1_130_496),
]


def asked(case, *, padding="zeros", groups=1, dilation=1, machine=WORMHOLE, config=CONFIG, x=None):
    inputs, outputs, window, step, blocks, fp32, bias, _ = case
    of_three = [f"array({size}, {size}, {size})" for size in (window, step, dilation)]
    kernel = KERNEL.format(fp32, 0)
    attributes = PRINTED.format(kernel, outputs, *of_three[:2], of_three[2], padding, groups)
    x, weights = x or tensor(1, 4, 64, 64, inputs, rows=True), tensor(window**3 * inputs, outputs)
    operands = [x, weights, *([tensor(1, outputs)] if bias else [])]
    out = tensor(1, 4, 64, 64, outputs, rows=True)
    config = config.format(*blocks) if config else ""
    return modelled("Conv3dDeviceOperation", operands, out, attributes=attributes, machine=machine, config=config)


@for_all("case", CASES, ids=str)
def test_the_buffers_are_ttnn_s(case):
    assert asked(case) == case[-1]


def test_all_channels_are_a_block_where_none_is_set():
    assert asked((64, 64, 3, 1, (1, 2, 2, 0, 0), 0, 0, 0)) == 359_936


def test_a_window_with_gaps_does_not_read_ahead():
    assert asked(CASES[1], dilation=2) == 359_936 - 6_144


def test_what_was_not_measured_is_not_guessed():
    assert asked(CASES[0], padding="replicate") == CASES[0][-1]
    assert asked(CASES[0], padding="reflect") is None
    assert asked(CASES[0], groups=2) is None
    assert asked(CASES[0], machine=replace(WORMHOLE, arch="blackhole")) is None
    assert asked(CASES[0], config="") is None
    assert asked(CASES[0], config=CONFIG.replace("split=0", "split=1")) is None
    assert asked(CASES[0], config=CONFIG.replace("C_in_block", "C_in")) is None
    short = modelled("Conv3dDeviceOperation", [tensor(1, 4, 4, 4, 32, rows=True)], tensor(1, 4, 4, 4, 32),
                     attributes="array(3, 3, 3), zeros, 1, ", config=CONFIG.format(1, 1, 1, 32, 32))  # fmt: skip
    assert short is None


@for_all(("place", "channels", "measured"), [("L1", 64, 561_152), ("DRAM", 128, 567_296)])
def test_rows_of_l1_or_of_parts_of_the_channels_are_not_gathered(place, channels, measured):
    case = (64, 64, 3, 3, (1, 8, 4, 64, 64), 0, 0, 0)
    assert asked(case, x=tensor(1, 4, 64, 64, channels, rows=True, place=place)) == measured
