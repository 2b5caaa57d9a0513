"""Layouts in numbers: round trips, who demands rows, avoidable padding, bytes of a row."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.checks.programs import relu, to_rows, to_tiles
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import Program, height_sharded
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.op_kinds.layouts import feeds_row_readers, on_demand, reads_unmade
from ttnn_mcp.analyses.op_kinds.round_trips import ends_as_it_began, layout_round_trips
from ttnn_mcp.analyses.op_kinds.tile_padding import wasted_bytes
from ttnn_mcp.checks.shared.reshapes import row_bytes

ROWS = "ROW_MAJOR"
TILE_BYTES = 2048


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def test_a_round_trip_knows_its_ops_and_whether_the_copy_has_other_readers(tmp_path, program):
    x = to_rows(program, relu(program, program.tensor([1, 1, 64, 64])))
    to_tiles(program, x)
    relu(program, x, "FLOAT32")
    case = case_of(tmp_path, program)
    trips = layout_round_trips(case.ops, case.flow)
    assert (trips.out.tolist(), trips.back.tolist(), trips.sole.tolist()) == ([1], [2], [False])
    assert ends_as_it_began(case.ops, trips).tolist() == [True]


def test_no_ops_no_round_trips(tmp_path, program):
    relu(program, program.tensor([1, 1, 64, 64]))
    case = case_of(tmp_path, program)
    trips = layout_round_trips(case.ops, case.flow)
    assert len(trips.out) == len(ends_as_it_began(case.ops, trips)) == 0


def test_movers_hand_the_demand_for_rows_back_to_the_untilize(tmp_path, program):
    rows = to_rows(program, relu(program, program.tensor([1, 1, 64, 64])))
    where = height_sharded(32, 64, 2)
    sharded = put(
        program,
        DeviceOp("InterleavedToSharded", (rows,), (program.tensor([1, 1, 64, 64], layout=ROWS, placement=where),)),
    )
    put(program, DeviceOp("HaloDeviceOperation", (sharded,), (program.tensor([1, 1, 99, 64], layout=ROWS),)))
    case = case_of(tmp_path, program)
    assert feeds_row_readers(case.ops, case.flow).tolist() == [False, True, True, False]


def carried(program, x, movers, last="HaloDeviceOperation"):
    """An untilize, movers, and an op that reads rows."""
    rows = to_rows(program, x)
    for _ in range(movers):
        rows = put(program, DeviceOp("MoveDeviceOperation", (rows,), (program.tensor(rows.shape, layout=ROWS),)))
    put(program, DeviceOp(last, (rows,), (program.tensor([1, 1, 99, 64], layout=ROWS),)))


@for_all(("movers", "feeds"), [(0, True), (3, True), (4, False)])
def test_up_to_three_movers_hand_it_back(tmp_path, program, movers, feeds):
    carried(program, program.tensor([1, 1, 64, 64]), movers)
    case = case_of(tmp_path, program)
    assert feeds_row_readers(case.ops, case.flow)[0] == feeds
    assert on_demand(case.ops, case.flow).tolist() == [feeds, *[False] * (movers + 1)]


def test_movers_alone_demand_nothing(tmp_path, program):
    carried(program, program.tensor([1, 1, 64, 64]), 1, last="UnaryDeviceOperation")
    case = case_of(tmp_path, program)
    assert not feeds_row_readers(case.ops, case.flow).any()
    assert not on_demand(case.ops, case.flow).any()


def test_what_feeds_a_reader_of_rows_is_no_conversion_unless_it_untilizes(tmp_path, program):
    rows = relu(program, program.tensor([1, 1, 64, 64], layout=ROWS))
    put(program, DeviceOp("HaloDeviceOperation", (rows,), (program.tensor([1, 1, 99, 64], layout=ROWS),)))
    case = case_of(tmp_path, program)
    assert feeds_row_readers(case.ops, case.flow).tolist() == [True, False]
    assert not on_demand(case.ops, case.flow).any()


@for_all(
    ("writer", "reader", "demanded"),
    [
        ("Pool2D", "Tilize", True),
        ("Unary", "Tilize", False),
        ("Pool2D", "Unary", False),
    ],
)
def test_a_tilize_behind_an_op_that_writes_rows_is_demanded(tmp_path, program, writer, reader, demanded):
    x, rows, y = (
        program.tensor([1, 1, 99, 64]),
        program.tensor([1, 1, 64, 64], layout=ROWS),
        program.tensor([1, 1, 64, 64]),
    )
    put(program, DeviceOp(f"{writer}DeviceOperation", (x,), (rows,)))
    put(program, DeviceOp(f"{reader}DeviceOperation", (rows,), (y,)))
    case = case_of(tmp_path, program)
    assert on_demand(case.ops, case.flow).tolist() == [False, demanded]


def test_a_tilize_of_what_nobody_made_is_not_demanded_by_the_last_op(tmp_path, program):
    y = to_tiles(program, program.tensor([1, 1, 64, 64], layout=ROWS))
    put(program, DeviceOp("Pool2D", (y,), (program.tensor([1, 1, 16, 64], layout=ROWS),)))
    case = case_of(tmp_path, program)
    assert not on_demand(case.ops, case.flow).any()


def test_without_the_columns_of_inputs_nothing_is_known_of_demand(tmp_path, program):
    carried(program, program.tensor([1, 1, 64, 64]), 0)
    ops = ops_of(tmp_path, program, without="INPUT_")
    assert not on_demand(ops, Flow(ops)).any()
    assert not reads_unmade(ops, Flow(ops)).any()


def test_an_op_without_an_input_reads_nothing(tmp_path, program):
    put(program, DeviceOp("FullDeviceOperation", (), (program.tensor([1, 1, 64, 64]),)))
    case = case_of(tmp_path, program)
    assert reads_unmade(case.ops, case.flow).tolist() == [False]


@for_all(("generation", "demands"), [("C5", False), ("C3", True)])
def test_a_sliced_conv_demanded_rows_until_july_2025(tmp_path, program, generation, demands):
    rows = to_rows(program, relu(program, program.tensor([1, 1, 64, 64])))
    put(program, DeviceOp("PaddedSliceDeviceOperation", (rows,), (program.tensor([1, 1, 32, 64], layout=ROWS),)))
    case = case_of(tmp_path, program, generation=generation)
    assert feeds_row_readers(case.ops, case.flow)[1] == demands


def test_what_the_window_did_not_make_comes_from_outside(tmp_path, program):
    relu(program, relu(program, program.tensor([1, 1, 64, 64]), "FLOAT32"))
    case = case_of(tmp_path, program)
    assert reads_unmade(case.ops, case.flow).tolist() == [True, False]


@for_all(
    ("shape", "layout", "tiles"),
    [
        ([1, 1, 1, 64], "TILE", 0),
        ([1, 4, 1, 64], "TILE", 6),  # 4 rows of 2 tiles, 1 would do
        ([1, 1, 320, 3], "TILE", 9),  # 960 elements are one tile; 10 are there
        ([1, 1, 33, 64], "TILE", 0),  # a second row of tiles is the least
        ([1, 1, 320, 3], ROWS, 0),
    ],
)
def test_waste_is_what_another_shape_would_not_need(tmp_path, program, shape, layout, tiles):
    x, y = program.tensor(shape, layout=layout), program.tensor(shape, layout=layout)
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,)))
    case = case_of(tmp_path, program)
    assert wasted_bytes(case.ops.inputs[0])[0] == pytest.approx(tiles * TILE_BYTES)


def test_only_interleaved_rows_are_pages(tmp_path, program):
    rows = program.tensor([1, 1, 64, 7], layout=ROWS)
    tiles = program.tensor([1, 1, 64, 7])
    shards = program.tensor([1, 1, 64, 7], layout=ROWS, placement=height_sharded(32, 7, 2))
    for x in (rows, tiles, shards):
        put(program, DeviceOp("UnaryDeviceOperation", (x,), (program.tensor([1, 1, 64, 7]),)))
    case = case_of(tmp_path, program)
    assert row_bytes(case.ops.inputs[0]).tolist() == [14, np.inf, np.inf]
