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


@for_all(
    ("op_code", "column", "share", "verdict"),
    [
        ("UnaryDeviceOperation", "DRAM BW UTIL (%)", 0.51, "as this bound claims"),
        ("UnaryDeviceOperation", "DRAM BW UTIL (%)", 0.49, "less than half of what this bound claims"),
        ("UnaryDeviceOperation", "FPU Util Median (%)", 0.49, None),  # not what bounds it
        ("MatmulDeviceOperation", "FPU Util Median (%)", 0.51, "as this bound claims"),
        ("MatmulDeviceOperation", "FPU Util Median (%)", 0.49, "less than half of what this bound claims"),
    ],
)
def test_a_measured_use_speaks_for_or_against_the_bound(tmp_path, op_code, column, share, verdict):
    program = Program("wormhole_b0")
    size = [1, 1, 2048, 2048]
    operands = [program.tensor(size)] * (2 if "Matmul" in op_code else 1)
    kernel_ns = 400_000 if "Matmul" in op_code else 90_000
    program.op(op_code, operands, kernel_ns=kernel_ns, fidelity="HiFi4", cores=64)
    rows = performance_rows(program, [Iteration()])

    def said(busy):
        rows[0][column] = str(busy)
        path = write_rows(tmp_path / "report.csv", rows, [*dict.fromkeys([*header_of(rows, "C7"), column])])
        performance = Performance(read_performance_csv(path))
        return roofline_said(roofline_of(performance.ops, chip_of(performance, None)), kernel_ns, performance.ops)

    bound = said("")
    assert not bound.why
    why = said(bound.efficiency * 100 * share).why
    assert (why or "") == "" if verdict is None else verdict in why and f"({bound.efficiency:.0%})" in why
