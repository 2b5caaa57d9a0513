"""What an op's own times per processor and core say: what is worth a word, and what is no measurement."""

from __future__ import annotations

import pytest

from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.tools.parts.op_inside import inside_of

KERNEL, FIRMWARE = "DEVICE KERNEL DURATION [ns]", "DEVICE FW DURATION [ns]"
LONGEST, MEAN = "DEVICE KERNEL DURATION PER CORE MAX [ns]", "DEVICE KERNEL DURATION PER CORE AVG [ns]"
SKEW = "DEVICE KERNEL FIRST TO LAST START [ns]"
DRAM, NOC = "DRAM BW UTIL (%)", "NOC UTIL (%)"
READER, COMPUTE, WRITER = (f"DEVICE {name} KERNEL DURATION [ns]" for name in ("NCRISC", "TRISC1", "BRISC"))
WAITED = "DEVICE COMPUTE CB WAIT FRONT [ns]"


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
