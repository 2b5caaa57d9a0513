"""What binds an op: each line with a pair, on a Wormhole of 64 cores at 1 GHz and 288 GB/s."""

from dataclasses import replace

import pytest

from tests.analyses.tables import performance_of
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from ttnn_mcp.analyses.roofline.parts_touched import WHY_EXPERTS, WHY_OTHER, WHY_PARTS
from ttnn_mcp.analyses.roofline.roofline import WHY_CORES, WHY_IMPOSSIBLE, WHY_TIME, roofline_of
from ttnn_mcp.run.chip import chip_of

LARGE, MIDDLE = 1024, 384  # squares; a copy of them in DRAM takes 14.6 and 2 us
SQUARE = [1, 1, LARGE, LARGE]


@pytest.fixture
def bound(tmp_path):
    """(what binds it, why its bounds are as they are) of one op."""

    def of(code, kernel_ns, *, side=LARGE, where=(DRAM, DRAM), inputs=1, without="", chip=None, **more):
        program = Program("wormhole_b0")
        x = program.tensor([1, 1, side, side], placement=where[0])
        program.op(f"{code}DeviceOperation", [x] * inputs, kernel_ns=kernel_ns, placement=where[1], **more)
        report = performance_of(tmp_path, program, without=without)
        found = roofline_of(report.ops, replace(chip_of(report, None), **(chip or {})))
        return found.bound[0], found.why[0]

    return of


@for_all(
    ("side", "kernel_ns", "where", "binds"),
    [
        (MIDDLE, 4_000, (DRAM, DRAM), "overhead"),
        (MIDDLE, 4_100, (DRAM, DRAM), "dram"),
        (LARGE, 10_000, (L1, L1), "overhead"),
        (LARGE, 10_100, (L1, L1), "l1"),
        (LARGE, 46_900, (DRAM, DRAM), "dram"),  # 31 % of its time
        (LARGE, 50_000, (DRAM, DRAM), "overhead"),  # 29 %
        (LARGE, 72_000, (DRAM, DRAM), "overhead"),
        (LARGE, 200_000, (L1, DRAM), "overhead"),
        (LARGE, 200_000, (DRAM, L1), "overhead"),
    ],
)
def test_launch_traffic_or_l1_bind_an_op_without_arithmetic(bound, side, kernel_ns, where, binds):
    assert bound("Unary", kernel_ns, side=side, where=where) == (binds, "")


@for_all(
    ("fidelity", "kernel_ns", "binds"),
    [("HiFi4", 297_000, "compute"), ("HiFi4", 364_000, "overhead"), ("LoFi", 100_000, "dram")],
)
def test_the_larger_of_arithmetic_and_traffic_is_suggested_from_a_tenth_of_the_time_on(
    bound, fidelity, kernel_ns, binds
):
    assert bound("Matmul", kernel_ns, inputs=2, fidelity=fidelity) == (binds, "")


@for_all(("kernel_ns", "why"), [(14_010, ""), (13_730, WHY_IMPOSSIBLE), (0, WHY_TIME)])
def test_five_per_cent_above_the_peak_cannot_be(bound, kernel_ns, why):
    assert bound("Unary", kernel_ns)[1] == why


@for_all(
    ("code", "inputs", "dram_ns", "kernel_ns"),
    [
        ("Unary", 1, 10_500, 10_000),  # five per cent above the peak
        ("Foo", 1, 10_500, 10_000),
        ("Unary", 1, 15_000, 50_000),  # 30 % of its time
        ("Matmul", 2, 10_000, 100_000),  # a tenth, beside arithmetic
        ("Matmul", 2, 8_192, 20_000),  # as long as its arithmetic
    ],
)
def test_at_each_line_itself_traffic_binds(bound, code, inputs, dram_ns, kernel_ns):
    peak = {"dram_peak_gb_s": (inputs + 1) * 2 * LARGE**2 / dram_ns}
    assert bound(code, kernel_ns, inputs=inputs, fidelity="LoFi", chip=peak)[0] == "dram"


@for_all(("side", "kernel_ns"), [(MIDDLE, 3_900), (MIDDLE, 9_000), (LARGE, 20_000), (LARGE, 100_000)])
def test_nothing_of_this_chip_binds_a_collective(bound, side, kernel_ns):
    assert bound("AllGather", kernel_ns, side=side)[0] == ""


def test_an_op_whose_bounds_are_not_known_is_bound_by_nothing(bound):
    unknown = {"dram_peak_gb_s": None, "dram_achievable_gb_s": None}
    assert bound("Unary", 9_000, chip=unknown)[0] == ""
    assert bound("Unary", 4_000, chip=unknown)[0] == "overhead"
    assert bound("Matmul", 40_000, inputs=2, where=(L1, L1))[0] == ""
    assert bound("Matmul", 40_000, inputs=2, fidelity="HiFi4", chip={"clock_ghz": None}) == ("", WHY_CORES)


@for_all("without", ["INPUT", "OUTPUT"])
def test_a_report_without_operands_does_not_say_where_they_lie(bound, without):
    assert bound("Unary", 40_000, where=(L1, L1), without=without)[0] == ""


@for_all(("code", "why"), [("Foo", WHY_OTHER), ("Gather", ""), ("Sort", ""), ("Softmax", "")])
def test_unknown_ops_are_told(bound, code, why):
    assert bound(code, 100_000)[1] == why


@for_all(
    ("code", "why"),
    [("Foo", WHY_OTHER), ("MoEFoo", WHY_EXPERTS), ("AllToAllDispatch", WHY_PARTS), ("Unary", WHY_IMPOSSIBLE)],
)
def test_an_op_that_was_faster_than_its_operands_touched_a_part_of_them(bound, code, why):
    """What is known to touch all of them cannot have been faster."""
    assert bound(code, 13_730) == ("", why)
    assert bound("Foo", 14_010) == ("dram", WHY_OTHER)
