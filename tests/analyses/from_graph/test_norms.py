"""Layer norms against what dry captures of TTNN 0.81.1 showed on a mock Wormhole."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import KERNEL, modelled, sharded, tensor

LAYER = (
    f"LayerNormParams(LayerNormType::LAYERNORM, DistributedLayerNormStage::NOT_DISTRIBUTED, {KERNEL.format(1, 0)})"
)
ROOT = f"LayerNormParams(LayerNormType::RMSNORM, DistributedLayerNormStage::NOT_DISTRIBUTED, {KERNEL.format(0, 0)})"
CONFIG = (
    "LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=8-4,subblock_w=4,block_h=1,block_w=4)"
)


def norm(attributes, width, weights=0, *, residual=False, dtype="bf", **other):
    x = tensor(1, 1, 64, width, dtype=dtype)
    inputs = [x, *([x] if residual else []), *[tensor(1, width)] * weights]
    factory = "LayerNormMultiCoreProgramFactory"
    return modelled("LayerNormDeviceOperation", inputs, x, factory=factory, attributes=attributes, **other)


@pytest.mark.parametrize(
    ("attributes", "width", "weights", "measured"),
    [
        (LAYER, 64, 0, 114_688),
        (LAYER, 96, 2, 163_840),  # three tiles are filled up to four
        (LAYER, 1024, 0, 401_408),
        (LAYER, 1024, 1, 499_712),
        (LAYER, 1024, 2, 565_248),
        (LAYER, 2048, 2, 1_024_000),
        (ROOT, 64, 0, 94_208),
        (ROOT, 1024, 0, 192_512),
        (ROOT, 1024, 1, 290_816),
        (ROOT, 4096, 1, 880_640),
        (ROOT, 8192, 0, 1_110_016),
    ],
)
def test_a_norm_keeps_its_row(attributes, width, weights, measured):
    assert norm(attributes, width, weights) == measured


@pytest.mark.parametrize(
    ("attributes", "width", "weights", "dtype", "measured"),
    [
        (LAYER, 4096, 0, "bf", 651_264),
        (LAYER, 8192, 2, "bf", 512_000),
        (LAYER, 4096, 0, "f32", 438_272),
        (ROOT, 16_384, 0, "bf", 751_616),
        (ROOT, 8192, 1, "bf", 555_008),
        (ROOT, 8192, 1, "b8", 485_888),
    ],
)
def test_a_row_that_does_not_fit_is_read_in_parts(attributes, width, weights, dtype, measured):
    assert norm(attributes, width, weights, dtype=dtype) == measured


@pytest.mark.parametrize(
    ("attributes", "width", "weights", "room", "measured"),
    [
        (LAYER, 1536, 0, 606_880, 565_248),
        (LAYER, 1536, 0, 590_496, 528_384),  # 95 % of the room, filled by parts of a row
        (LAYER, 1536, 0, 164_512, 118_784),
        (LAYER, 4096, 2, 443_040, 397_312),
        (ROOT, 4096, 0, 574_112, 505_856),
    ],
)
def test_whether_it_fits_depends_on_what_lies_in_l1(attributes, width, weights, room, measured):
    assert norm(attributes, width, weights, room=room) == measured


def test_before_factories_were_printed_every_long_row_was_read_in_parts_of_one_size():
    x = tensor(1, 1, 64, 8192)
    old = [
        modelled("LayerNormDeviceOperation", [x], x, attributes=ROOT, room=room) for room in (1_110_016, 1_110_015)
    ]
    assert old == [1_110_016, 751_616]


@pytest.mark.parametrize(("width", "measured"), [(64, 196_608), (1024, 598_016), (4096, 544_768)])
def test_a_residual_is_read_beside_the_input(width, measured):
    assert norm(LAYER, width, 1, residual=True) == measured


def test_other_data_types_take_their_tiles():
    assert norm(ROOT, 1024, 1, dtype="b8") == 244_736
    assert norm(LAYER, 1024, dtype="f32") == 483_328
    assert norm(ROOT.replace("fp32_dest_acc_en=0", "fp32_dest_acc_en=1"), 1024) == 262_144


def test_a_sharded_norm_follows_its_config():
    x = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    gamma = tensor(1, 1, 128, 32, rows=True)
    found = modelled("LayerNormDeviceOperation", [x, gamma], x, attributes=ROOT, program_config=CONFIG)
    assert found == 61_440


def test_other_norms_are_not_modelled():
    x = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    welford = CONFIG.replace(")", ",use_welford=1)")
    assert modelled("LayerNormDeviceOperation", [x], x, attributes=ROOT, program_config=welford) is None
    plain = tensor(1, 1, 64, 1024)
    assert modelled("LayerNormDeviceOperation", [plain], plain, factory="LayerNormOther", attributes=ROOT) is None
    stage = ROOT.replace("NOT_DISTRIBUTED", "PRE_ALL_GATHER")
    assert modelled("LayerNormDeviceOperation", [x], x, attributes=stage) is None


ROW, WIDE = tensor(1, 1, 1, 64), tensor(1, 1, 1, 1024)


@pytest.mark.parametrize(
    ("attributes", "inputs", "measured"),
    [(ROOT, [ROW] * 4, 225_280), (LAYER, [WIDE] * 3, 565_248)],
)
def test_of_a_single_row_three_operands_hold_a_residual(attributes, inputs, measured):
    """A weight is as large as a row: two operands are weight and bias."""
    factory = "LayerNormMultiCoreProgramFactory"
    assert (
        modelled("LayerNormDeviceOperation", inputs, inputs[0], factory=factory, attributes=attributes) == measured
    )


def test_a_residual_in_shards_is_read_where_it_lies():
    x = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    inputs = [x, x, tensor(1, 1, 128, 32, rows=True)]
    assert modelled("LayerNormDeviceOperation", inputs, x, attributes=LAYER, program_config=CONFIG) == 163_840


def test_shards_that_nobody_prints_are_not_guessed():
    x = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    for told in ({"ranges": ()}, {"shape": ()}):
        part = replace(x, placement=replace(x.placement, shard=replace(x.placement.shard, **told)))
        assert modelled("LayerNormDeviceOperation", [part], part, attributes=ROOT, program_config=CONFIG) is None
