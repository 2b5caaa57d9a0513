"""The roofline of one op: what was reached, where anything was."""

from __future__ import annotations

from tests.analyses.tables import performance_of
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, height_sharded, performance_rows, write_rows
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.chip import chip_of
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.tools.parts.op_roofline import roofline_said

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
