"""Layer norms in little room, in older graphs and where nobody prints enough; the others are held to captures."""

from dataclasses import replace

from tests.analyses.from_graph.programs import KERNEL, modelled, sharded, tensor
from tests.for_all import for_all

LAYER = (
    f"LayerNormParams(LayerNormType::LAYERNORM, DistributedLayerNormStage::NOT_DISTRIBUTED, {KERNEL.format(1, 0)})"
)
ROOT = f"LayerNormParams(LayerNormType::RMSNORM, DistributedLayerNormStage::NOT_DISTRIBUTED, {KERNEL.format(0, 0)})"
CONFIG = (
    "LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=8-4,subblock_w=4,block_h=1,block_w=4)"
)


def norm(attributes, width, weights=0, **other):
    x = tensor(1, 1, 64, width)
    inputs = [x, *[tensor(1, width)] * weights]
    factory = "LayerNormMultiCoreProgramFactory"
    return modelled("LayerNormDeviceOperation", inputs, x, factory=factory, attributes=attributes, **other)


@for_all(
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


@for_all(
    ("attributes", "inputs", "measured"),
    [(ROOT, [ROW] * 4, 225_280), (LAYER, [WIDE] * 3, 565_248)],
)
def test_of_a_single_row_three_operands_hold_a_residual(attributes, inputs, measured):
    """A weight is as large as a row: two operands are weight and bias."""
    factory = "LayerNormMultiCoreProgramFactory"
    assert (
        modelled("LayerNormDeviceOperation", inputs, inputs[0], factory=factory, attributes=attributes) == measured
    )


@for_all(
    ("attributes", "inputs", "with_residual", "without"),
    [(ROOT, 2, 192_512, 192_512), (ROOT, 3, 258_048, 225_280), (LAYER, 3, 368_640, 335_872)],
)
def test_of_a_single_row_the_call_tells_whether_it_has_a_residual(attributes, inputs, with_residual, without):
    """As TTNN 0.81.1 allocates for a residual, a weight and no bias, and for a weight and a bias."""
    row, factory = tensor(1, 1, 1, 512), "LayerNormMultiCoreProgramFactory"
    sizes = [
        modelled("LayerNormDeviceOperation", [row] * inputs, row, factory=factory, attributes=attributes, **asked)
        for asked in ({"residual_input_tensor": "Tensor"}, {})
    ]
    assert sizes == [with_residual, without]


def test_of_several_rows_a_residual_is_seen_by_its_size():
    """As TTNN 0.81.1 allocates for a residual and a weight."""
    x, factory = tensor(1, 1, 64, 512), "LayerNormMultiCoreProgramFactory"
    sizes = [
        modelled(
            "LayerNormDeviceOperation", [x, x, tensor(1, 1, 1, 512)], x, factory=factory, attributes=attributes
        )
        for attributes in (ROOT, LAYER)
    ]
    assert sizes == [258_048, 368_640]


def test_a_residual_in_shards_is_read_where_it_lies():
    x = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    inputs = [x, x, tensor(1, 1, 128, 32, rows=True)]
    assert modelled("LayerNormDeviceOperation", inputs, x, attributes=LAYER, program_config=CONFIG) == 163_840


def test_shards_that_nobody_prints_are_not_guessed():
    x = sharded(1, 1, 32, 4096, layout="WIDTH", shard=(32, 128), cores=(8, 4))
    for told in ({"ranges": ()}, {"shape": ()}):
        part = replace(x, placement=replace(x.placement, shard=replace(x.placement.shard, **told)))
        assert modelled("LayerNormDeviceOperation", [part], part, attributes=ROOT, program_config=CONFIG) is None
