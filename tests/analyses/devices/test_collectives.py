"""Collectives: bytes each device sends, over how many links, in how many directions."""

import numpy as np

from tests.analyses.roofline.arithmetic import table
from tests.analyses.tables import ops_of, performance_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import collective, unary
from ttnn_mcp.analyses.devices.collectives import collectives_of, payload_gb_s, today_gb_s
from ttnn_mcp.run.chip import chip_of

PART, WHOLE = [1, 1, 256, 512], [1, 1, 256, 2048]  # in BFLOAT16: 262,144 and 1,048,576 bytes


def exchanges(folder, kind, before, after, *, ring_size=4, mesh=8, buffer=None, **attributes):
    program = Program("blackhole")
    put(program, unary("RELU", program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 32]), 1_000))
    op = collective(kind, program.tensor(before), program.tensor(after), 100_000, ring_size=ring_size)
    op.attributes = {**op.attributes, **attributes}
    if buffer:
        op.outputs = (program.tensor(buffer), *op.outputs)
    put(program, op)
    return collectives_of(ops_of(folder, program), mesh)


@for_all(
    ("kind", "before", "after", "payload"),
    [
        ("AllGatherAsync", PART, WHOLE, 1_048_576 * 3 / 4),
        ("ReduceScatterMinimalAsync", WHOLE, PART, 1_048_576 * 3 / 4),
        ("AllReduceAsync", WHOLE, WHOLE, 2 * 1_048_576 * 3 / 4),
        ("AllToAllAsync", WHOLE, WHOLE, 1_048_576 * 3 / 4),
    ],
)
def test_each_device_sends_all_but_its_own_part(tmp_path, kind, before, after, payload):
    found = exchanges(tmp_path, kind, before, after)
    assert found.rows.tolist() == [1]
    assert found.payload_bytes.tolist() == [payload]
    assert (found.devices.tolist(), found.links.tolist(), found.directions.tolist()) == ([4], [2], [1])
    assert found.persistent.tolist() == [0]


def test_what_a_point_to_point_transfer_sends_is_not_modelled(tmp_path):
    assert np.isnan(exchanges(tmp_path, "PointToPoint", WHOLE, WHOLE).payload_bytes).all()


@for_all(
    ("attributes", "devices"),
    [
        ({"ring_size": 2}, 2),
        ({"ring_size": None, "num_devices": 4}, 4),
        ({"ring_size": None, "ring_devices": 3}, 3),
        ({"ring_size": None}, 4),
    ],
    ids=["ring_size", "num_devices", "ring_devices", "the shapes"],
)
def test_attributes_tell_how_many_take_part_and_else_the_shapes_do(tmp_path, attributes, devices):
    found = exchanges(tmp_path, "AllGatherAsync", PART, WHOLE, **attributes)
    assert found.devices.tolist() == [devices]
    assert found.payload_bytes.tolist() == [1_048_576 * (devices - 1) / devices]


@for_all(
    ("kind", "before", "after", "devices"),
    [
        ("AllGather", PART, WHOLE, 4),
        ("AllGather", [1, 1, 1, 512], [1, 1, 4, 512], 4),
        ("AllGather", PART, [1, 1, 256, 768], 8),
        ("AllGather", PART, PART, 8),
        ("ReduceScatter", WHOLE, PART, 4),
        ("AllToAllAsync", WHOLE, WHOLE, 8),
        ("AllReduceAsync", WHOLE, PART, 8),
    ],
)
def test_along_one_axis_of_a_mesh_as_many_take_part_as_there_are_parts(tmp_path, kind, before, after, devices):
    """A reduce-scatter on an axis of four chips of eight prints no number, and its buffer before its result."""
    told = exchanges(tmp_path, kind, before, after, ring_size=None, cluster_axis=1)
    assert told.devices.tolist() == [devices]
    buffered = exchanges(tmp_path, kind, before, after, ring_size=None, buffer=before, cluster_axis=1)
    assert buffered.devices.tolist() == [devices]


def test_a_report_without_operands_leaves_the_mesh(tmp_path):
    ops = table(tmp_path, ("AllGather", [PART], [WHOLE]), without="INPUT_")
    assert collectives_of(ops, 8).devices.tolist() == [8]


def test_what_experts_get_and_give_back_is_not_in_the_report(tmp_path):
    """Eight experts of a device return 32 rows each, of which a router that chose 8 of 256 filled a 32nd part."""
    for kind in ("AllToAllDispatch", "AllToAllCombine"):
        assert np.isnan(exchanges(tmp_path, kind, [8, 32, 1, 512], [8, 1, 1, 512]).payload_bytes).all()


@for_all(("topology", "directions"), [("Ring", 2), ("Linear", 1), ("Mesh", np.nan)])
def test_a_ring_talks_both_ways(tmp_path, topology, directions):
    found = exchanges(tmp_path, "AllGatherAsync", PART, WHOLE, topology=f"Topology::{topology}")
    np.testing.assert_array_equal(found.directions, [directions])


def test_rates_and_times_are_per_link_and_direction(tmp_path):
    ring = {"topology": "Topology::Ring", "num_links": 2, "using_persistent_buffers": True}
    found = exchanges(tmp_path, "AllGatherAsync", PART, WHOLE, **ring)
    assert found.persistent.tolist() == [1]
    assert found.rate_gb_s(np.array([65_536.0])).tolist() == [786_432 / 65_536 / 4]
    assert found.least_ns(3.0).tolist() == [786_432 / 4 / 3]
    line = exchanges(tmp_path, "AllGatherAsync", PART, WHOLE)
    assert line.least_ns(3.0).tolist() == [786_432 / 2 / 3]
    assert line.least_ns(3.0, both_directions=True).tolist() == [786_432 / 4 / 3]
    assert np.isnan(line.least_ns(None)).all()


def test_an_exchange_of_no_time_has_a_finite_rate(tmp_path):
    assert exchanges(tmp_path, "AllGatherAsync", PART, WHOLE).rate_gb_s(np.array([0.0])).tolist() == [786_432 / 2]


@for_all(
    ("arch", "specified", "today"), [("wormhole_b0", 12, 12), ("blackhole", 48, 24), ("grayskull", None, None)]
)
def test_blackholes_links_run_at_half_their_rate_so_far(tmp_path, arch, specified, today):
    program = Program(arch)
    put(program, unary("RELU", program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 32]), 1_000))
    chip = chip_of(performance_of(tmp_path, program), None)
    assert (payload_gb_s(chip), today_gb_s(chip)) == (specified, today)
