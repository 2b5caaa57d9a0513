"""Conv attributes: what is printed is taken as it stands, and a conv that lacks a part is not guessed."""

from tests.checks.conv_programs import Conv as Made
from tests.for_all import for_all
from ttnn_mcp.analyses.op_kinds.convs import conv_of
from ttnn_mcp.readers.printed.attributes import parse_attributes

BLOCK = "Conv2dBlockConfig(act_block_h_ntiles={},act_block_w_ntiles={})"
SIZES = "per_core_out_matrix_height_ntile={},per_core_out_matrix_width_ntile={}"
SPREAD = "Conv2dParallelizationConfig(num_cores_nhw={},num_cores_c_in=1,num_cores_c_out=1,{})"
PLACED = "MemoryConfig(memory_layout=TensorMemoryLayout::{}_SHARDED;buffer_type=BufferType::L1{})"
SHARD = ";shard_spec=ShardSpec(grid={{[(x=0;y=0) - (x=7;y=7)]}};shape={{256; 64}};orientation=ShardOrientation::{})"
SAID = {
    **{key: str(value) for key, value in Made().attributes().items()},
    "block_config": BLOCK.format(2, 6),
    "parallelization_config": SPREAD.format(64, SIZES.format(8, 2)),
    "memory_config": PLACED.format("HEIGHT", ""),
    "dtype": "DataType::BFLOAT16",
}
PARTS = ("block_config", "parallelization_config", "sliding_window_config", "memory_config")


def read(*, weights="BFLOAT8_B", without=(), **changes):
    said = {key: value for key, value in {**SAID, **changes}.items() if key not in without}
    return conv_of(
        parse_attributes(str(said)),
        input_dtype="BFLOAT16",
        weights_dtype=weights,
        output_dtype="BFLOAT8_B",
        input_bytes=64_000.0,
    )


def test_blocks_and_sizes_are_read():
    conv = read()
    assert (conv.block_h, conv.block_w, conv.per_core_h, conv.per_core_w) == (2, 6, 8, 2)
    assert (conv.cores, conv.kernel_h, conv.inner_blocks) == ((64, 1, 1), 3, 3)
    assert (conv.input_channels, conv.depthwise, conv.transposed) == (0, False, False)


@for_all(
    "lost",
    [
        {"block_config": "Conv2dBlockConfig(act_block_h_ntiles=2)"},
        {"block_config": "Conv2dBlockConfig(act_block_w_ntiles=6)"},
        {"block_config": BLOCK.format(0, 6)},
        {"parallelization_config": SPREAD.format(64, "per_core_out_matrix_height_ntile=8")},
        {"parallelization_config": SPREAD.format(64, "per_core_out_matrix_width_ntile=2")},
        {"sliding_window_config": "SlidingWindowConfig(batch_size=1)"},
        {"sliding_window_config": "SlidingWindowConfig(batch_size=1, window_hw=())"},
        {"dtype": "DataType::FLOAT6"},
        {"weights": "UNKNOWN"},
        *({"without": (key,)} for key in PARTS),
    ],
)
def test_a_part_that_is_not_printed_is_not_guessed(lost):
    assert read(**lost) is None


def test_a_size_beyond_any_tensor_is_none():
    most = 1 << 20
    assert read(block_config=BLOCK.format(most, 6)).block_h == most
    assert read(block_config=BLOCK.format(most + 1, 6)) is None
    assert read(parallelization_config=SPREAD.format(most + 1, SIZES.format(8, 2))) is None
    assert read(parallelization_config=SPREAD.format(-1, SIZES.format(8, 2))) is None


def test_without_a_format_of_its_own_the_output_column_tells():
    assert read().output_dtype == "BFLOAT16"
    assert read(without=("dtype",)).output_dtype == "BFLOAT8_B"


def test_elements_are_rounded_up_to_tiles_where_no_tiles_are_printed():
    elements = "per_core_out_matrix_height=250,per_core_out_matrix_width=64"
    old = read(parallelization_config=SPREAD.format(64, elements))
    assert (old.per_core_h, old.per_core_w) == (8, 2)
    both = read(parallelization_config=SPREAD.format(64, f"{SIZES.format(8, 2)},{elements.replace('250', '999')}"))
    assert both.per_core_h == 8


@for_all(
    ("layout", "full", "blocks"),
    [("HEIGHT", False, 3), ("HEIGHT", True, 1), ("BLOCK", False, 12), ("BLOCK", True, 4), ("WIDTH", False, 4)],
)
def test_inner_blocks_are_rows_of_the_window_times_cores_along_channels(layout, full, blocks):
    spread = f"Conv2dParallelizationConfig(num_cores_nhw=8,num_cores_c=4,{SIZES.format(8, 2)})"
    conv = read(
        memory_config=PLACED.format(layout, ""), parallelization_config=spread, full_inner_dim=str(full).lower()
    )
    assert conv.cores == (8, 4, 4)
    assert conv.inner_blocks == blocks


@for_all(("shape", "channels"), [("{1; 64; 64; 32}", 32), ("{}", 0), ("x", 0)])
def test_channels_are_those_of_the_printed_shape(shape, channels):
    assert read(input_tensor_shape=shape).input_channels == channels


@for_all(
    ("groups", "channels", "outputs", "depthwise"),
    [(64, 64, 64, True), (1, 1, 1, False), (2, 64, 64, False), (64, 64, 128, False)],
)
def test_as_many_groups_as_channels_are_depthwise(groups, channels, outputs, depthwise):
    said = {"groups": str(groups), "output_channels": str(outputs)}
    assert read(input_tensor_shape=f"{{1; 64; 64; {channels}}}", **said).depthwise == depthwise


@for_all(("orientation", "transposed"), [("COL_MAJOR", True), ("ROW_MAJOR", False)])
def test_shards_in_columns_are_transposed(orientation, transposed):
    assert read(memory_config=PLACED.format("BLOCK", SHARD.format(orientation))).transposed == transposed


def test_what_was_allocated_is_the_inputs_shard_where_nothing_is_said():
    assert (read().allocated_bytes, read().allocated_said) == (100_000, True)
    old = read(without=("pre_op_l1_allocation_size_bytes",))
    assert (old.allocated_bytes, old.allocated_said) == (1_000, False)
