"""What is known of a window as a whole."""

import numpy as np

from tests.checks.rows import COLD_THEN_WARM, case_of, put
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.ops import collective
from tests.programs import LAYERS, layered
from ttnn_mcp.analyses.layers.layering import AFTER, BEFORE


def test_the_heaviest_ops_come_before_their_repeats(tmp_path):
    program = Program("wormhole_b0")
    for width, kernel_ns in ((64, 9_000), (64, 8_000), (96, 7_000), (128, 6_000)):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, width])], kernel_ns=kernel_ns)
    case = case_of(tmp_path, program, [Iteration()])
    assert [case.heaviest(np.arange(4), most) for most in (1, 2, 3)] == [[0], [0, 2], [0, 2, 3]]


@for_all("build", [layered, lambda: Program("wormhole_b0")])
def test_layers_are_those_of_the_critical_device(tmp_path, build):
    program = build()
    program.devices = 2
    if not program.device_ops:
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 64])])
    layering = case_of(tmp_path, program).layering_here
    expected = [BEFORE, *(n for n in range(1, LAYERS + 1) for _ in range(4)), AFTER]
    assert (layering and layering.layer.tolist()) == (expected if build is layered else None)


def test_gaps_of_a_warm_window_are_no_more_than_its_wall_leaves(tmp_path):
    program = Program("wormhole_b0")
    for width in (64, 96, 128):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, width])], kernel_ns=10_000, gap_ns=5_000)
    case = case_of(tmp_path, program)
    assert case.whole_ns == 40_000
    short, long = case.of_wall(34_000.0), case.of_wall(99_000.0)
    assert (short.whole_ns, short.idle_ns.tolist()) == (34_000, [0, 2_000, 2_000])
    assert long.whole_ns == 40_000
    cold = case_of(tmp_path / "cold", program, [Iteration(cold=True)])
    assert cold.of_wall(34_000.0).whole_ns == 30_000


def test_the_window_with_its_wall_is_kept_for_the_next_page(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 64])], kernel_ns=10_000)
    case = case_of(tmp_path, program)
    first = case.of_wall(20_000.0)
    assert case.of_wall(20_000.0) is first
    assert case.of_wall(None) is case
    assert case.of_wall(30_000.0).wall_ns == 30_000
    assert first.ops is case.ops


def test_a_trace_waits_for_no_host(tmp_path):
    """Chip 0 waits in a gather for chip 1, before which the host was late."""
    program = Program("blackhole", devices=2)
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 128])
    program.op("UnaryDeviceOperation", [x], kernel_ns=100_000)
    gather = collective("AllGatherAsync", x, y, [400_000, 20_000], ring_size=2)
    gather.gap_ns = [1_000, 381_000]
    put(program, gather)
    traced = (Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2)))
    waits = [case_of(tmp_path, program, passes).waits.by_device[0] for passes in (COLD_THEN_WARM, traced)]
    assert [each[-1] > 0 for each in waits] == [True, False]
