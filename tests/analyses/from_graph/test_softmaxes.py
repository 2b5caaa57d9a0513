"""Softmax against what dry captures of TTNN 0.81.1 showed on a mock Wormhole."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import KERNEL, modelled, sharded, tensor

PRINTED = f"SoftmaxParams(SoftmaxOperationType::Softmax, 3, std::nullopt, 0, {KERNEL.format(1, 0)}, 0, 1, 0)"
OWN = PRINTED[:-2] + "1)"  # the caller gave a compute kernel config
BF16 = OWN.replace("fp32_dest_acc_en=1", "fp32_dest_acc_en=0")
OPTIMIZED, HIGH = "SoftmaxProgramFactoryAttentionOptimized", "SoftmaxProgramFactoryGeneralH"


def softmax(width, *masks, attributes=PRINTED, dtype="bf", height=64, factory=OPTIMIZED, **other):
    x = tensor(1, 1, height, width, dtype=dtype)
    inputs = [x, *masks]
    return modelled("SoftmaxDeviceOperation", inputs, x, factory=factory, attributes=attributes, **other)


@pytest.mark.parametrize(
    ("width", "dtype", "measured"),
    [
        (64, "bf", 30_720),
        (96, "bf", 38_912),
        (384, "bf", 79_872),
        (1024, "bf", 161_792),
        (8192, "bf", 1_079_296),
        (512, "b8", 73_216),
        (224, "b8", 48_128),  # seven tiles are filled up to eight
        (1024, "f32", 313_344),
        (
            320,
            "bf",
            79_872,
        ),  # ten tiles are filled up to twelve, five times two being more often than three times four
        (480, "bf", 96_256),
        (77, "bf", 51_200),  # the last tile is masked
        (200, "b8", 64_512),
    ],
)
def test_a_softmax_keeps_its_row(width, dtype, measured):
    assert softmax(width, dtype=dtype) == measured


def test_a_config_of_the_caller_decides_about_sums():
    assert softmax(1024, attributes=OWN) == 229_376


@pytest.mark.parametrize(
    ("width", "dtype", "measured"),
    [
        (32, "bf", 18_432),
        (160, "bf", 75_776),
        (192, "bf", 59_392),
        (320, "bf", 108_544),
        (384, "bf", 83_968),
        (512, "bf", 108_544),
        (640, "bf", 141_312),
        (768, "bf", 141_312),
        (960, "bf", 174_080),
        (1152, "bf", 206_848),
        (1344, "bf", 239_616),
        (320, "b8", 77_824),
        (128, "f32", 69_632),
        (1024, "f32", 274_432),
    ],
)
def test_sums_in_bfloat16_take_eight_tiles_at_a_time(width, dtype, measured):
    assert softmax(width, attributes=BF16, dtype=dtype) == measured


@pytest.mark.parametrize(("width", "dtype", "measured"), [(16_384, "bf", 532_480), (8192, "f32", 1_046_528)])
def test_a_row_that_does_not_fit_is_read_in_parts(width, dtype, measured):
    assert measured <= softmax(width, dtype=dtype) <= 1.05 * measured


@pytest.mark.parametrize(("width", "mask", "measured"), [(16_384, 32, 862_208), (16_400, 0, 532_480)])
def test_what_is_masked_is_kept_in_parts_too(width, mask, measured):
    masks = [tensor(1, 1, mask, width)] if mask else []
    assert measured <= softmax(width, *masks) <= 1.05 * measured


def test_what_no_graph_told_before_factories_is_taken_at_the_most():
    """Whether the caller asked for sums in FLOAT32, and whether scores are lessened by their maximum."""
    old = {softmax(512, factory="", attributes=printed) for printed in (PRINTED, OWN)}
    assert old == {softmax(512, attributes=OWN) + 16 * 4096 + 2048}
    silent = PRINTED.replace("acc_en=1", "acc_en=0")
    assert softmax(1024, attributes=silent) == softmax(1024, attributes=BF16) + 2 * 2048


@pytest.mark.parametrize(("width", "measured"), [(512, 153_600), (2048, 448_512)])
def test_a_mask_is_added_to_a_scaled_copy(width, measured):
    unstable = PRINTED.replace("0, 1, 0)", "0, 0, 0)")
    assert measured <= softmax(width, tensor(1, 1, 32, width), attributes=unstable) <= measured + 4096
    stable = softmax(width, tensor(1, 1, 32, width))
    assert stable == softmax(width, tensor(1, 1, 32, width), attributes=unstable) + 64 * width + 2048


@pytest.mark.parametrize(
    ("height", "factory", "measured"), [(64, "Small", 43_008), (1024, "Small", 411_648), (4096, "Large", 38_912)]
)
def test_along_the_height_a_column_is_kept_while_it_is_small(height, factory, measured):
    assert softmax(64, height=height, factory=HIGH + factory) == measured


def test_the_last_tile_of_a_ragged_row_has_a_mask():
    assert softmax(4, height=32) == softmax(32, height=32) + 4096


def test_sharded_rows_take_a_few_tiles():
    x = sharded(1, 8, 256, 256, layout="HEIGHT", shard=(32, 256), cores=(8, 8))
    config, name = "SoftmaxShardedMultiCoreProgramConfig(block_h=1,block_w=8)", "SoftmaxDeviceOperation"
    narrow = PRINTED.replace("acc_en=1", "acc_en=0")
    own = "SoftmaxShardedProgramFactoryAttentionOptimized"
    assert modelled(name, [x], x, attributes=narrow, program_config=config, factory=own) == 40_960
    assert modelled(name, [x], x, attributes=PRINTED, factory=OPTIMIZED) == 63_488  # not in place: as interleaved
    unshaped = replace(x, placement=replace(x.placement, shard=None))
    assert modelled(name, [unshaped], x, attributes=narrow, program_config=config, factory=own) is None
    assert softmax(64, factory="SoftmaxProgramFactoryGeneralWSmall") is None


@pytest.mark.parametrize(("dtype", "measured"), [("bf", 30_720), ("b8", 25_920)])
def test_along_channels_it_goes_tile_by_tile(dtype, measured):
    assert softmax(64, factory="SoftmaxProgramFactoryGeneralCLarge", dtype=dtype) == measured
