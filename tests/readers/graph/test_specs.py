"""Sizes of a printed tensor: worked out by hand from tiles of 32 by 32."""

from tests.for_all import for_all
from ttnn_mcp.readers.graph.specs import Spec, made_spec, read_spec
from ttnn_mcp.readers.printed.memory_config import Placement, ShardSpec
from ttnn_mcp.readers.printed.shapes import Shape

RANGES = (((0, 0), (7, 0)),)
SHARD = ShardSpec(RANGES, (33, 96))


def spec(placement=None, shape=(2, 3, 33, 65), dtype="BFLOAT16", *, tiled=True):
    return Spec(shape, dtype, tiled, placement)


def test_tiles_are_counted_from_the_inner_two_dimensions():
    one = spec()
    assert (one.batch, one.rows, one.columns, one.tiles, one.tile_bytes, one.page_bytes) == (
        6,
        2,
        3,
        36,
        2048,
        2048,
    )


@for_all(("width", "dtype", "row"), [(8, "BFLOAT16", 16), (9, "BFLOAT16", 32), (65, "FLOAT32", 272)])
def test_rows_begin_at_multiples_of_16_bytes(width, dtype, row):
    one = spec(shape=(1, width), dtype=dtype, tiled=False)
    assert (one.row_bytes, one.page_bytes) == (row, row)


@for_all(
    ("placement", "in_l1", "shard", "held", "width"),
    [
        (Placement("HEIGHT_SHARDED", "L1", SHARD), True, (2, 3), ("HEIGHT_SHARDED", 2, 3), 96),
        (
            Placement("HEIGHT_SHARDED", "L1", ShardSpec(RANGES, (2, 33, 96))),
            True,
            (2, 3),
            ("HEIGHT_SHARDED", 2, 3),
            96,
        ),
        (Placement("HEIGHT_SHARDED", "DRAM", SHARD), False, (2, 3), None, None),
        (Placement("INTERLEAVED", "L1", SHARD), False, None, None, None),
        (Placement("WIDTH_SHARDED", "L1", ShardSpec(RANGES, (96,))), True, None, None, 96),
        (Placement("WIDTH_SHARDED", "L1", ShardSpec(RANGES)), True, None, None, None),
        (Placement("WIDTH_SHARDED", "L1"), True, None, None, None),
        (None, False, None, None, None),
    ],
)
def test_a_shard_is_held_where_cores_hold_it(placement, in_l1, shard, held, width):
    one = spec(placement)
    assert (one.sharded_in_l1, one.shard, one.held, one.held_width) == (in_l1, shard, held, width)
    assert one.ranges == (placement.shard.ranges if placement and placement.shard else ())


def test_what_cannot_be_read_does_not_lie_in_l1():
    places = [
        Placement("INTERLEAVED", "L1"),
        Placement("HEIGHT_SHARDED", "L1"),
        Placement("INTERLEAVED", "DRAM"),
        None,
    ]
    assert [spec(place).in_l1 for place in places] == [True, True, False, False]


def test_what_is_printed_is_read_or_refused():
    place = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1)"
    one = read_spec("Shape([64])", "DataType::BFLOAT8_B", "Layout::ROW_MAJOR", place)
    assert one == Spec((1, 64), "BFLOAT8_B", False, Placement("INTERLEAVED", "L1"))
    assert read_spec("what", "DataType::BFLOAT16", "Layout::TILE", place) is None
    assert read_spec("Shape([64])", "DataType::INVALID", "Layout::TILE", place) is None
    assert read_spec("Shape([64])", "DataType.UINT32", "Layout.TILE", "what") == Spec((1, 64), "UINT32", True, None)


def test_a_tensor_has_elements_and_no_more_than_a_chip_could_hold():
    """At most 2^40: the largest card has 64 GB."""
    sides = ((1 << 20, 1 << 20), (1 << 20, (1 << 20) + 1), (0, 32))
    assert [made_spec(Shape(one), "BFLOAT16", "TILE", None) is not None for one in sides] == [True, False, False]


def test_a_scalar_and_a_vector_have_two_dimensions():
    shapes = ((), (5,), (4, 5), (2, 4, 5))
    assert [made_spec(Shape(one), "BFLOAT16", "TILE", None).shape for one in shapes] == [
        (1, 1),
        (1, 5),
        (4, 5),
        (2, 4, 5),
    ]
