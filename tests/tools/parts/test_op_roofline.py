"""The roofline of one op: what was reached, where anything was."""

from __future__ import annotations

import pytest

from tests.analyses.tables import performance_of
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, height_sharded, performance_rows, write_rows
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.chip import chip_of
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.tools.parts.op_roofline import inside_of, roofline_said

KERNEL, FIRMWARE = "DEVICE KERNEL DURATION [ns]", "DEVICE FW DURATION [ns]"
LONGEST, MEAN = "DEVICE KERNEL DURATION PER CORE MAX [ns]", "DEVICE KERNEL DURATION PER CORE AVG [ns]"
SKEW = "DEVICE KERNEL FIRST TO LAST START [ns]"
DRAM, NOC = "DRAM BW UTIL (%)", "NOC UTIL (%)"
READER, COMPUTE, WRITER = (f"DEVICE {name} KERNEL DURATION [ns]" for name in ("NCRISC", "TRISC1", "BRISC"))
WAITED = "DEVICE COMPUTE CB WAIT FRONT [ns]"
IN_L1 = height_sharded(32, 64, (8, 4))


@for_all(
    ("placement", "kernel_ns", "rate"),
    [
        (None, 10_000, 2 * 2 * 1024 * 64 / 10_000),  # read once, written once, two bytes each
        (None, 0, None),
        (IN_L1, 10_000, None),
    ],
)
def test_a_rate_is_told_of_an_op_that_moved_something_in_some_time(tmp_path, placement, kernel_ns, rate):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 1024, 64], **({"placement": placement} if placement else {}))
    program.op("UnaryDeviceOperation", [x], kernel_ns=kernel_ns)
    performance = performance_of(tmp_path, program)
    said = roofline_said(roofline_of(performance.ops, chip_of(performance, None)), kernel_ns)
    assert said.achieved_dram_gb_s == rate
    if rate:  # what programs reach of the peak is most of it
        assert 1 <= said.dram_achievable_us / said.dram_us < 2


def test_what_is_not_known_of_an_op_is_left_out(tmp_path):
    program = Program("wormhole_b0")
    program.op("MatmulDeviceOperation", [program.tensor([1, 1, 64, 64])] * 2, fidelity="HiFi2")
    performance = performance_of(tmp_path, program, without="INPUT|OUTPUT")
    said = roofline_said(roofline_of(performance.ops, chip_of(performance, None)), 10_000)
    assert (said.flops, said.dram_bytes, said.compute_us, said.achieved_dram_gb_s) == (None,) * 4


def with_counters(tmp_path, op_code, **cells):
    """The roofline of one op with cells of hardware counters; `_` stands for a blank, `_pct` for (%)."""
    program = Program("wormhole_b0")
    size = [1, 1, 2048, 2048]
    operands = [program.tensor(size)] * (2 if "Matmul" in op_code else 1)
    kernel_ns = 400_000 if "Matmul" in op_code else 90_000
    program.op(op_code, operands, kernel_ns=kernel_ns, fidelity="HiFi4", cores=64)
    rows = performance_rows(program, [Iteration()])
    named = {name.replace("_pct", "_(%)").replace("_", " "): str(value) for name, value in cells.items()}
    rows[0].update(named)
    path = write_rows(tmp_path / "report.csv", rows, [*dict.fromkeys([*header_of(rows, "C7"), *named])])
    performance = Performance(read_performance_csv(path))
    return roofline_said(roofline_of(performance.ops, chip_of(performance, None)), kernel_ns, performance.ops)


@for_all(
    ("op_code", "column", "share", "verdict"),
    [
        ("UnaryDeviceOperation", "DRAM_BW_UTIL_pct", 0.51, "as this bound claims"),
        ("UnaryDeviceOperation", "DRAM_BW_UTIL_pct", 0.49, "less than half of what this bound claims"),
        ("UnaryDeviceOperation", "FPU_Util_Median_pct", 0.49, None),  # not what bounds it
        ("MatmulDeviceOperation", "FPU_Util_Median_pct", 0.51, "as this bound claims"),
        ("MatmulDeviceOperation", "FPU_Util_Median_pct", 0.49, "less than half of what this bound claims"),
        ("UnaryDeviceOperation", "MATH_Util_Median_pct", 1.01, "%, more than DRAM by this bound"),
        ("UnaryDeviceOperation", "MATH_Util_Median_pct", 0.99, "no more than DRAM by this bound"),
        ("MatmulDeviceOperation", "MATH_Util_Median_pct", 0.99, None),
    ],
)
def test_a_measured_use_speaks_for_or_against_the_bound(tmp_path, op_code, column, share, verdict):
    bound = with_counters(tmp_path, op_code)
    assert not bound.why
    why = with_counters(tmp_path, op_code, **{column: bound.efficiency * 100 * share}).why
    assert (why or "") == "" if verdict is None else verdict in why and f"({bound.efficiency:.0%})" in why


@for_all(
    ("first", "second", "told"),
    [(25, 3, "25%"), (3, 25, "25%"), (24.9, "", None), ("", 106, None), ("", 105, "105%")],
)
def test_counters_of_a_further_pass_tell_that_the_matrix_engine_waits(tmp_path, first, second, told):
    """Columns as tt-metal names them (perf_counter_analysis.py); made: no real report of several passes was at hand."""
    cells = {"SrcA_Valid_Wait_Median_pct": first, "SrcB_Valid_Wait_Median_pct": second}
    why = with_counters(tmp_path, "MatmulDeviceOperation", **cells).why
    assert why == (told and f"measured: math waits {told} of the time for operands")
    both = with_counters(tmp_path, "MatmulDeviceOperation", FPU_Util_Median_pct=106, **cells).why
    assert both == why  # more than a peak is no measurement


@pytest.fixture
def inside(tmp_path):
    """What is told of an op of 10 us whose row has nothing but these cells besides its name."""

    def told(cells):
        program = Program("wormhole_b0")
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 512, 512])], kernel_ns=10_000, cores=10)
        rows = performance_rows(program, [Iteration()])
        kept = ("OP CODE", "OP TYPE", "DEVICE ID", "CORE COUNT", KERNEL)
        row = {**{name: rows[0][name] for name in kept}, **{name: str(value) for name, value in cells.items()}}
        path = write_rows(
            tmp_path / "report.csv", [row], [*header_of(rows, "C7"), *(cells.keys() - rows[0].keys())]
        )
        said = inside_of(Performance(read_performance_csv(path)).ops)
        return said and said.spoken()

    return told


UNKNOWN = {"bound": "cannot_tell", "why": "the report has no times per processor"}


@for_all(
    ("cells", "said"),
    [
        ({DRAM: 104.0}, {**UNKNOWN, "measured_pct": {"dram": 104}}),  # of a peak that is good to some percent
        ({DRAM: 106.0, NOC: 30.04}, {**UNKNOWN, "measured_pct": {"noc": 30}}),
        ({DRAM: 80.0}, {**UNKNOWN, "measured_pct": {"dram": 80}}),
        ({LONGEST: 9_000, MEAN: 7_900}, {**UNKNOWN, "uneven_cores_us": 1.1}),
        ({LONGEST: 9_000, MEAN: 8_100}, None),  # less than a tenth of the kernel
        ({DRAM: 80.0, SKEW: 1_100}, {**UNKNOWN, "measured_pct": {"dram": 80}, "start_skew_us": 1.1}),
        ({DRAM: 80.0, SKEW: 900}, {**UNKNOWN, "measured_pct": {"dram": 80}}),
        ({}, None),
        ({FIRMWARE: 25_000}, None),  # nothing of the kernel's inside was measured
        ({KERNEL: 0, DRAM: 80.0}, None),
        ({KERNEL: 0, READER: 0, LONGEST: 9_000, MEAN: 1_000}, None),
    ],
)
def test_of_what_was_measured_only_what_can_be_and_matters_is_told(inside, cells, said):
    assert inside(cells) == said


@for_all(
    ("kernel_ns", "above_ns", "told_us"),
    [(2_000, 4_500, None), (2_000, 5_500, 5.5), (10_000, 9_000, None), (10_000, 11_000, 11)],
)
def test_firmware_is_told_where_it_is_longer_than_usual_and_than_the_kernel(inside, kernel_ns, above_ns, told_us):
    """Around a kernel it takes up to 4.8 us in real reports."""
    said = inside({KERNEL: kernel_ns, FIRMWARE: kernel_ns + above_ns, DRAM: 80.0})
    assert said.get("firmware_us") == told_us


def test_a_known_bound_is_told_even_where_nothing_else_is(inside):
    """All processors ran to the end; on each of ten cores compute waited 8 of 10 us for input."""
    cells = {READER: 10_000, COMPUTE: 10_000, WRITER: 10_000, SKEW: 0, WAITED: 80_000}
    assert inside(cells) == {"bound": "reader", "why": "a core's compute waited 8 us for input"}
    assert inside({**cells, WAITED: 0}) is None
