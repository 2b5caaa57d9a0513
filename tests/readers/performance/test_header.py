"""The header line: its generation, which fields are read, and what a file is that is no report."""

import csv
import os

import pytest

from tests.for_all import for_all
from tests.profiles import CSV_GENERATIONS
from tests.profiles.csv_header import header
from ttnn_mcp.errors import ReportBroken, ReportForeign, ReportMissing
from ttnn_mcp.readers.performance.header import does_not_read, generation_of, header_of, is_streamed, line_in

REQUIRED = ["OP CODE", "DEVICE KERNEL DURATION [ns]"]


@pytest.fixture
def read(tmp_path):
    """The header of a file with this first line."""

    def of(names, *, ending=b"\n"):
        line = names if isinstance(names, bytes) else ",".join(names).encode()
        (tmp_path / "ops_perf_results.csv").write_bytes(line + ending)
        return header_of(tmp_path / "ops_perf_results.csv")

    return of


@for_all(
    ("column", "generation"),
    [
        ("SUB DEVICE ID", "C7"),
        ("PROGRAM HASH", "C6"),
        ("DEVICE ARCH", "C5"),
        ("INPUT_0_W_PAD[LOGICAL]", "C4"),
        ("PM FPU UTIL (%)", "C3"),
        ("METAL TRACE ID", "C2"),
        ("OP TYPE", "C1"),
    ],
)
def test_the_newest_column_tells_the_generation(column, generation):
    assert generation_of((*REQUIRED, column)) == generation
    older = [name for name in header(generation) if name != column]
    assert generation_of((*older, column)) == generation


@for_all("generation", CSV_GENERATIONS)
def test_every_column_that_is_known_is_read_once(read, generation):
    names = header(generation)
    told = read(names)
    assert told.names == tuple(names)
    assert told.odd == ()
    assert told.headers["op_code"] == "OP CODE"
    assert not [name for name in told.headers if name.startswith(("INPUT", "OUTPUT"))]
    assert sorted(told.read.values()) == sorted({*told.read.values()})
    assert {names[place] for place, name in told.read.items() if name.startswith("INPUT")} == {
        name for name in names if name.startswith("INPUT")
    }


def test_blanks_and_a_byte_order_mark_are_no_part_of_a_name(read):
    assert read(b"\xef\xbb\xbf OP CODE , DEVICE KERNEL DURATION [ns]\r").names == tuple(REQUIRED)


def test_a_column_that_stands_twice_is_read_once_and_told(read):
    told = read([*REQUIRED, "OP TYPE", "OP TYPE", "INPUT_0_W", "INPUT_0_W", "other", "other"])
    assert told.odd == ("column OP TYPE stands 2 times: the first is read", "column INPUT_0_W stands 2 times: the first is read")  # fmt: skip
    assert {name: place for place, name in told.read.items()}["INPUT_0_W"] == 4


def test_two_names_of_a_column_are_told(read):
    told = read([*REQUIRED, "TRACE ID", "METAL TRACE ID"])
    assert told.odd == ("METAL TRACE ID and TRACE ID are the same column: the first is read",)
    assert told.read[3] == "trace_id"


def test_thirty_two_operands_of_a_kind_are_read(read):
    told = read([*REQUIRED, "INPUT_31_W", "INPUT_32_W", "INPUT_32_X", "OUTPUT_40_W"])
    assert told.odd == ("2 operands beyond 32 inputs or outputs are left out",)
    assert [name for name in told.read.values() if "PUT_" in name] == ["INPUT_31_W"]


def test_two_thousand_columns_are_read(read):
    assert len(read([*REQUIRED, *["x"] * 1998]).names) == 2000
    with pytest.raises(ReportBroken, match="has 2001 columns: no report has so many"):
        read([*REQUIRED, *["x"] * 1999])


@pytest.mark.slow
def test_a_line_of_a_quarter_of_a_megabyte_is_no_header(read):
    start = ",".join((*REQUIRED, *["x" * 10_000] * 26)).encode() + b","
    assert len(read(start + b"x" * (2**18 - 1 - len(start))).names) == 29
    with pytest.raises(ReportBroken, match="begins with a line of 262144 characters and more"):
        read(start + b"x" * (2**18 - len(start)))


def test_two_gigabytes_are_read(tmp_path):
    path = tmp_path / "ops_perf_results.csv"
    path.write_bytes(",".join(REQUIRED).encode() + b"\n" + b"x" * 2**18)
    os.truncate(path, 2**31)  # a hole takes no room
    assert header_of(path).names == tuple(REQUIRED)
    os.truncate(path, 2**31 + 1)
    with pytest.raises(ReportBroken, match=r"has 2\.1 GB, and at most 2\.1 GB are read"):
        header_of(path)


@for_all(
    ("line", "said"),
    [
        (b"", "is empty"),
        (b"  \n \r", "is empty"),
        (b"OP CODE,\0", "is binary, not a CSV"),
        (b"OP CODE\rOP TYPE", "ends its lines with carriage returns only"),
        (b" , ,\nOP CODE", "begins with a blank line"),
    ],
)
def test_a_broken_first_line_is_told(read, line, said):
    with pytest.raises((ReportBroken, ReportForeign), match=said):
        read(line)


def test_a_cell_that_is_too_long_for_a_table_is_told(read):
    before = csv.field_size_limit(2**17)  # what Python starts with
    try:
        with pytest.raises(ReportBroken, match="does not read as a CSV at line 1"):
            read(b"OP CODE," + b"x" * 200_000)
    finally:
        csv.field_size_limit(before)


@for_all(
    ("names", "said"),
    [
        (["ARCH: wormhole_b0", " CHIP_FREQ[MHz]: 1000"], "is the raw device log"),
        (["ID", "Op-to-Op Gap", "Device Time"], "is tt-perf-report's output"),
        (["Op Code Joined", "Device Time Sum [us]"], "is tt-perf-report's output"),
        (["Device Time", "x"], "is no TTNN performance report: its columns are Device Time, x, "),
        (["OP CODE", "OP TYPE"], r"has no DEVICE KERNEL DURATION \[ns\] column: device times were not collected"),
        (["DEVICE KERNEL DURATION [ns]"], "is a device-only report, without op names"),
        (["GLOBAL CALL COUNT"], "is a device-only report, without op names"),
        (["OP CODE", "DEVICE KERNEL DURATION [us]"], r"has no DEVICE KERNEL DURATION \[ns\] column, but one named"),
        (["OP_CODE", "DEVICE KERNEL DURATION [ns]"], "has no OP CODE column, but one named 'OP_CODE'"),
        (["OP CODE;OP TYPE;DEVICE"], "is not separated by commas"),
        (["a", "b", "c", "d", "e"], r"its columns are a, b, c, d, \.\.\."),
    ],
)
def test_another_table_is_named(read, names, said):
    with pytest.raises(ReportForeign, match=said):
        read(names)


def test_a_table_with_names_of_ops_is_no_streamed_one():
    times = ("GLOBAL CALL COUNT", "EXECUTION", "DEVICE KERNEL DURATION [ns]")
    assert [is_streamed(names) for names in (times, (*times, "OP CODE"), times[1:])] == [True, False, False]


def test_a_compiler_is_known_by_its_columns(read):
    assert [read([*REQUIRED, *more]).compiler for more in ([], ["LOC"], ["CONST_EVAL_OP"])] == [False, True, True]


def test_a_long_path_shows_its_end(tmp_path):
    with pytest.raises(ReportMissing, match=r"^No file \.\.\..*/runs/today\.csv\."):
        header_of(tmp_path / ("x" * 250) / "runs" / "today.csv")


def test_what_is_no_file_is_missing(tmp_path):
    for path, said in (
        (tmp_path / "no.csv", "No file"),
        (os.devnull, "not a regular file"),
        (tmp_path, "not a regular file"),
        (tmp_path / "a\0b", "No file"),
    ):
        with pytest.raises(ReportMissing, match=said):
            header_of(type(tmp_path)(path))


def test_a_parser_s_line_is_told_where_it_names_one(tmp_path):
    assert (line_in(ValueError("at line 12, see")), line_in(ValueError("somewhere"))) == (12, None)
    assert "does not read as a CSV at line 12:" in does_not_read(tmp_path, 12)
    assert "does not read as a CSV:" in does_not_read(tmp_path)
