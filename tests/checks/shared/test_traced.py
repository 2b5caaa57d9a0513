"""What a trace saves by the gaps of a profile, and by a wall time: pairs at the lines."""

from dataclasses import replace

import numpy as np
import pytest

from tests.checks.mesh_programs import mesh
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from ttnn_mcp.checks.shared.traced import traced


@pytest.fixture
def case(tmp_path):
    """20 kernels of 10 us, and 19 gaps of 90."""
    program = Program("wormhole_b0")
    for width in range(1, 21):
        x = program.tensor([1, 1, 32, 32 * width])
        program.op("UnaryDeviceOperation", [x], kernel_ns=10_000, gap_ns=90_000)
    return case_of(tmp_path, program)


@pytest.fixture
def line(case):
    return case.timeline


@for_all(
    ("wall_us", "most_us", "by_wall", "is_expected"),
    [
        (None, 1_691, False, False),
        (1_911, 1_691, False, False),  # all of the gaps
        (1_909, 1_690, True, True),
        (222.3, 3.3, True, True),
        (222.2, 3.2, True, False),  # kernels fill 90 % of it
        (219, 0, True, False),
    ],
)
def test_the_wall_counts_where_it_leaves_less_than_the_gaps(case, wall_us, most_us, by_wall, is_expected):
    saving = traced(case, case.timeline, None if wall_us is None else wall_us * 1e3, ops=4)
    assert saving.most_ns == pytest.approx(most_us * 1e3, abs=2)
    assert (saving.by_wall, saving.expected is not None) == (by_wall, is_expected)
    if is_expected:
        assert saving.expected.high_ns.tolist() == [pytest.approx(saving.most_ns / 4)] * 4


def test_a_wall_that_leaves_a_trace_nothing_lets_expect_nothing(case, line):
    line = replace(line, gaps_ns=np.repeat(line.gaps_ns, 2))  # with 38 gaps kernels fill 84 % of the wall
    assert traced(case, line, 238_000.0).expected is None
    assert traced(case, line, 238_100.0).expected is not None


def test_a_trace_saves_no_more_than_a_pass_has_beyond_the_work_of_any_chip(tmp_path):
    """Chip 0 waits for the host, and chip 1 works meanwhile, then waits for it: its 500 us and the exchange stay."""
    program = mesh(devices=2)
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 256])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), [200_000, 500_000]))
    gather = collective("AllGatherAsync", x, y, [20_000, 119_000], ring_size=2)
    gather.gap_ns = [400_000, 1_000]
    put(program, gather)
    case = case_of(tmp_path, program, (Iteration(cold=True), Iteration()))
    assert case.timeline.device == 1
    savings = [traced(case, case.timeline, wall_ns) for wall_ns in (None, 619_900, 900_000)]
    assert [saving.most_ns for saving in savings] == [0, 0, 0]
    assert [saving.in_kernels_ns for saving in savings] == pytest.approx([99_000, 98_900, 99_000])


def test_of_a_pass_that_stood_still_nothing_is_expected(case, line):
    """Compiling, or Python between the ops: what a trace does there nobody measured."""
    gaps = line.gaps_ns.copy()
    gaps[3] = 1.6e6
    passes = [replace(line, gaps_ns=gaps, wall_ns=line.busy_ns + all_gaps) for all_gaps in (3.3e6, 3.1e6)]
    assert [traced(case, each, 1.5e6).expected is not None for each in passes] == [
        True,
        False,
    ]  # below half, and above
