"""Few cores: which ops leave the grid idle, and over how many their output could be spread."""

import numpy as np

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import DRAM, Program, block_sharded, height_sharded, width_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from ttnn_mcp.analyses.op_kinds.few_cores import on_few_cores, parallel_units, spread_ns


def one(
    folder, shape=(1, 1, 128, 256), *, cores=16, kernel_ns=10_000, attributes=None, layout="TILE", placement=DRAM
):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 32, 32]), program.tensor(shape, layout=layout, placement=placement)
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), kernel_ns, cores=cores, attributes=attributes or {}))
    return ops_of(folder, program)


@for_all(("cores", "few"), [(31, True), (32, False)])
def test_under_half_of_the_grid_are_few(tmp_path, cores, few):
    assert on_few_cores(one(tmp_path, cores=cores), 64).tolist() == [few]


@for_all(("kernel_ns", "few"), [(5_000, True), (4_999, False)])
def test_an_op_of_less_than_five_microseconds_is_about_its_launch(tmp_path, kernel_ns, few):
    assert on_few_cores(one(tmp_path, kernel_ns=kernel_ns), 64).tolist() == [few]


@for_all("key", ["sub_core_grids", "sub_device_id"])
def test_a_part_of_the_grid_that_the_caller_gave_is_on_purpose(tmp_path, key):
    assert not on_few_cores(one(tmp_path, attributes={key: "{[(x=0,y=0) - (x=3,y=3)]}"}), 64).any()
    assert on_few_cores(one(tmp_path, attributes={key: None}), 64).all()


def test_an_op_on_no_core_ran_on_the_host_or_lost_its_count(tmp_path):
    assert not on_few_cores(one(tmp_path, cores=0), 64).any()


def test_a_collective_needs_few_workers(tmp_path):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 128])
    put(program, collective("AllGatherAsync", x, y, 100_000, ring_size=4, cores=2))
    assert not on_few_cores(ops_of(tmp_path, program), 64).any()


def test_without_a_known_grid_no_number_of_cores_is_few(tmp_path):
    assert not on_few_cores(one(tmp_path), None).any()


@for_all(
    ("layout", "placement", "units"),
    [
        ("TILE", DRAM, 4 * 8),
        ("TILE", block_sharded(64, 64, (4, 2)), 4 * 8),
        ("TILE", height_sharded(32, 256, (4, 1)), 4),
        ("TILE", width_sharded(128, 32, (8, 1)), 8),
        ("ROW_MAJOR", DRAM, 128),
        ("ROW_MAJOR", block_sharded(64, 64, (4, 2)), 128 * 8),
    ],
)
def test_an_output_is_cut_into_tiles_or_rows_as_it_lies(tmp_path, layout, placement, units):
    assert parallel_units(one(tmp_path, layout=layout, placement=placement)).tolist() == [units]


def test_an_op_without_an_output_has_no_pieces(tmp_path):
    program = Program("wormhole_b0")
    program.call("ttnn.made_up", (), (), (DeviceOp("MadeUpOfNoFamily", (), (), 1_000),))
    assert np.isnan(parallel_units(ops_of(tmp_path, program))).all()
    assert np.isnan(parallel_units(ops_of(tmp_path, program, without="OUTPUT_"))).all()


@for_all(
    ("cores", "grid", "spread"),
    [
        (16, 64, 10_000 * 16 / 32),  # 32 tiles
        (16, 24, 10_000 * 16 / 24),
        (40, 64, 10_000),  # more cores than tiles: as it is
    ],
)
def test_time_is_shared_by_as_many_cores_as_there_are_pieces(tmp_path, cores, grid, spread):
    assert spread_ns(one(tmp_path, cores=cores), grid).tolist() == [spread]
