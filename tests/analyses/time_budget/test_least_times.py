"""The least times: by hand on made ops, and never above what real chips measured."""

import asyncio

import numpy as np
import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import L1, Iteration, Program, write_performance_report
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.window_facts import WindowFacts, facts_of


def facts(folder, program_or_path) -> WindowFacts:
    path = (
        write_performance_report(folder, program_or_path, (Iteration(cold=True), Iteration()))
        if isinstance(program_or_path, Program)
        else program_or_path
    )
    run = asyncio.run(session(folder).run(str(path)))
    return facts_of(run, run.scope("last", None, None))


@for_all("name", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
def test_no_real_op_was_faster_than_its_bounds(tmp_path, name):
    seen = facts(tmp_path, shared(name))
    assert (seen.least_times.on_its_cores_ns <= 1.05 * seen.kernel_ns).all()


@for_all("name", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
def test_every_real_op_that_shows_its_own_operands_has_a_bound(tmp_path, name):
    seen = facts(tmp_path, shared(name))
    without = {seen.names[row] for row in np.flatnonzero(~seen.least_times.bounded).tolist()}
    assert {text for text in without if "Binary" not in text} == set()


@for_all("name", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
def test_every_step_adds(tmp_path, name):
    least = facts(tmp_path, shared(name)).least_times
    assert (least.needed_ns <= least.padded_ns).all()
    assert (least.padded_ns <= least.as_it_is_ns).all()
    assert (least.as_it_is_ns <= least.as_moved_ns).all()
    assert (least.as_moved_ns <= least.on_its_cores_ns).all()
    assert (least.cheaper_ns <= least.as_it_is_ns).all()


@for_all(("arch", "cores", "bytes_per_ns"), [("wormhole_b0", 64, 64 * 1.0), ("blackhole", 110, 128 * 1.35)])
def test_an_op_wholly_in_l1_waits_for_its_packers(tmp_path, arch, cores, bytes_per_ns):
    program = Program(arch)
    program.op(
        "UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024], placement=L1)], kernel_ns=50_000, cores=cores
    )
    size = 2048 * 1024 * 2
    assert facts(tmp_path, program).least_times.as_it_is_ns == pytest.approx([size / (bytes_per_ns * cores)])


def test_one_core_reads_no_faster_than_its_networks(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024])], kernel_ns=100_000, cores=1)
    size = 2048 * 1024 * 2
    assert facts(tmp_path, program).least_times.on_its_cores_ns == pytest.approx([size / 64])
    assert facts(tmp_path, program).least_times.as_it_is_ns == pytest.approx([2 * size / 288])


def test_on_no_cores_means_on_cores_that_are_not_known(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024])], kernel_ns=100_000, cores=0)
    least = facts(tmp_path, program).least_times
    assert least.on_its_cores_ns.tolist() == least.as_it_is_ns.tolist() != [0]


def test_an_op_never_seen_is_bound_by_its_operands_and_said_to_be_incomplete(tmp_path):
    program = Program("wormhole_b0")
    program.op("BrandNewDeviceOperation", [program.tensor([1, 1, 2048, 1024])], kernel_ns=100_000)
    seen = facts(tmp_path, program)
    assert seen.least_times.as_it_is_ns == pytest.approx([2 * 2048 * 1024 * 2 / 288])
    assert not seen.least_times.complete.any()


def test_narrower_formats_leave_integers_and_row_major_alone(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024], "UINT32")], kernel_ns=100_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024], layout="ROW_MAJOR")], kernel_ns=100_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024])], kernel_ns=100_000)
    least = facts(tmp_path, program).least_times
    assert least.cheaper_ns[:2] == pytest.approx(least.as_it_is_ns[:2])
    assert least.cheaper_ns[2] == pytest.approx(least.as_it_is_ns[2] * 1088 / 2048)


def test_an_op_that_was_faster_than_its_packers_shows_what_cannot_be(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024], placement=L1)], kernel_ns=900, cores=64)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024], placement=L1)], kernel_ns=500, cores=64)
    program.op(
        "UnaryDeviceOperation", [program.tensor([1, 1, 32, 67_200], placement=L1)], kernel_ns=1_000, cores=64
    )
    least = facts(tmp_path, program).least_times  # packing takes 1,024 ns of the first, 512 of the second
    assert (
        least.bounded.tolist() == least.complete.tolist() == [False, True, True]
    )  # 5 % below packing may be noise
    assert least.as_it_is_ns[0] == least.on_its_cores_ns[0] == 0


def multiplication(program, kernel_ns=900_000, **how):
    """2048 x 2048 x 2048: 65.5 us of arithmetic per pass on 64 cores, 87 us of bytes."""
    x, weights = program.tensor([1, 1, 2048, 2048]), program.weight([1, 1, 2048, 2048])
    how = {"fidelity": "HiFi4", "cores": 64, **how}
    program.op("MatmulDeviceOperation", [x, weights], shape=[1, 1, 2048, 2048], kernel_ns=kernel_ns, **how)


PASS_NS = 2 * 2048**3 / (4096 * 64)
WEIGHT_BYTES = 2048 * 2048 * 2


def test_the_cheaper_program_computes_in_one_pass(tmp_path):
    program = Program("wormhole_b0")
    multiplication(program)
    least = facts(tmp_path, program).least_times
    assert least.cheaper_ns == pytest.approx([PASS_NS])
    assert least.needed_ns == pytest.approx(2 * PASS_NS)
    assert least.as_it_is_ns == pytest.approx(4 * PASS_NS)
    assert least.weight_bytes.tolist() == [WEIGHT_BYTES]


def test_an_op_that_was_faster_than_its_arithmetic_has_no_bound(tmp_path):
    """Its bytes would fit its time."""
    program = Program("wormhole_b0")
    multiplication(program, kernel_ns=150_000)
    least = facts(tmp_path, program).least_times
    assert (least.bounded.tolist(), least.complete.tolist()) == ([False], [False])
    assert least.weight_bytes.tolist() == least.as_it_is_ns.tolist() == least.arithmetic_ns.tolist() == [0]


def test_a_row_that_shows_another_ops_operands_has_no_bound(tmp_path):
    """The second add stands between ops on 1024 elements and shows 1048576, as the first truly has."""
    program = Program("wormhole_b0")
    large, small = (program.tensor([1, 1, side, side]) for side in (1024, 32))
    for x, shown in ((large, large), (small, large)):
        program.op("UnaryDeviceOperation", [x], kernel_ns=50_000)
        program.op("BinaryNgDeviceOperation", [shown, shown], kernel_ns=50_000)
    program.op("UnaryDeviceOperation", [small], kernel_ns=50_000)
    assert facts(tmp_path, program).least_times.bounded.tolist() == [True, True, True, False, True]


def test_an_op_that_shows_no_operands_has_no_bound(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=50_000)
    program.call("ttnn.made_up", (), (), (DeviceOp("UnaryDeviceOperation", (), (), 50_000),))
    least = facts(tmp_path, program).least_times
    assert least.bounded.tolist() == least.complete.tolist() == [True, False]


def test_a_second_operand_of_an_add_is_no_weight(tmp_path):
    program = Program("wormhole_b0")
    program.op("BinaryNgDeviceOperation", [program.tensor([1, 1, 1024, 1024]) for _ in "ab"], kernel_ns=90_000)
    assert facts(tmp_path, program).least_times.weight_bytes.tolist() == [0]


@for_all(("told", "whole"), [(True, True), (False, False)])
def test_a_collective_is_bound_by_its_links_where_the_report_tells_them(tmp_path, told, whole):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 1024, 1024]), program.tensor([1, 1, 1024, 4096])
    op = collective("AllGatherAsync", x, y, 9_000_000, ring_size=4)
    if not told:
        op.attributes = {key: value for key, value in op.attributes.items() if key != "num_links"}
    program.call("ttnn.all_gather", op.inputs, op.outputs, (op,))
    least = facts(tmp_path, program).least_times
    assert least.complete.tolist() == [whole]
    if told:
        assert least.as_it_is_ns == pytest.approx([0.75 * 1024 * 4096 * 2 / (2 * 2 * 12)])  # three of four parts
