"""The performance CSV: every generation and odd style reads the same; everything else is named and refused."""

import csv
import hashlib
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cells_of_frames import cells
from tests.for_all import for_all
from tests.profiles import CSV_GENERATIONS, CsvStyle, Iteration, write_performance_report
from tests.profiles import foreign as made_foreign
from tests.programs import block
from ttnn_mcp.errors import ReportBroken, ReportError, ReportForeign, ReportMissing
from ttnn_mcp.readers.performance import csv_file, parsed_rows
from ttnn_mcp.readers.performance.csv_file import count_device_ops, read_performance_csv
from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.run.performance import Performance

REAL = ("C1", "C2", "C3", "C4", "C5", "C6", "C7")


def ops_of(path: Path):
    ops = Performance(read_performance_csv(path)).ops
    return [
        (
            int(ops.lines[row]),
            ops.texts("op_code")[row],
            float(ops.numbers("kernel_ns")[row]),
            ops.inputs[0].placement[row],
        )
        for row in range(len(ops))
    ]


def written(folder, generation="C7", style=None, iterations=None):
    return write_performance_report(
        folder,
        block(),
        iterations or [Iteration(cold=True), Iteration()],
        generation=generation,
        style=style or CsvStyle(),
    )


@for_all("generation", CSV_GENERATIONS)
def test_every_generation_is_recognised_and_reads_the_same_ops(tmp_path, generation):
    report = read_performance_csv(written(tmp_path / generation, generation))
    assert report.generation == (generation if generation in REAL else "C3")
    times = [op[2] for op in ops_of(written(tmp_path / "again", generation))]
    assert times == [op[2] for op in ops_of(written(tmp_path / "newest", "C7"))]


@for_all(
    "style",
    [
        CsvStyle(line_ending="\n"),
        CsvStyle(line_ending="\r\n", quoting="all"),
        CsvStyle(float_numbers=True),
        CsvStyle(blank="-"),
        CsvStyle(blank="nan"),  # as pandas prints an empty cell
        CsvStyle(counters=True, cache_hits=True),
    ],
)
def test_the_writer_s_style_changes_nothing(tmp_path, style):
    assert ops_of(written(tmp_path / "odd", style=style)) == ops_of(written(tmp_path / "plain"))


def test_logical_shapes_are_told_from_padded_ones(tmp_path):
    assert read_performance_csv(written(tmp_path / "new", "C4")).logical_shapes
    assert not read_performance_csv(written(tmp_path / "old", "C3")).logical_shapes


def test_an_op_is_named_by_its_line_in_the_file(tmp_path):
    path = written(tmp_path, iterations=[Iteration(signposts=("start", "stop")), Iteration()])
    with path.open(newline="") as file:
        lines = [
            line for line, row in enumerate(csv.DictReader(file), start=2) if row["OP TYPE"] == "tt_dnn_device"
        ]
    assert [op[0] for op in ops_of(path)] == lines


def test_a_signpost_with_line_breaks_pushes_later_lines_down(tmp_path):
    path = written(tmp_path, iterations=[Iteration(signposts=("start", "stop")), Iteration()])
    text = path.read_bytes().decode()
    path.write_bytes(text.replace("start,signpost", '"sta\nrt",signpost', 1).encode())
    physical = [line for line, text in enumerate(path.read_text().split("\n"), start=1) if "tt_dnn_device" in text]
    assert [op[0] for op in ops_of(path)] == physical


def test_cells_that_are_no_numbers_count_as_not_measured_and_are_told(tmp_path):
    path = written(tmp_path)
    rows = path.read_text().splitlines()
    columns = rows[0].split(",")
    cells = rows[2].split(",")
    cells[columns.index("CORE COUNT")] = "many"
    path.write_text("\n".join([*rows[:2], ",".join(cells), *rows[3:]]) + "\n")
    report = read_performance_csv(path)
    assert np.isnan(report.frame.numbers("cores")[1])
    assert report.caveats == ("1 cells of CORE COUNT are no numbers and count as not measured",)


def test_a_cut_off_last_line_is_left_out_and_told(tmp_path):
    path = written(tmp_path)
    whole = ops_of(path)
    path.write_bytes(path.read_bytes()[:-60])
    report = read_performance_csv(path)
    assert ops_of(path) == whole[:-1]
    assert report.caveats[0].startswith(f"line {len(whole) + 1} is cut off")


def test_a_last_line_without_line_break_is_whole(tmp_path):
    path = written(tmp_path)
    whole = ops_of(path)
    path.write_bytes(path.read_bytes().rstrip(b"\r\n"))
    assert ops_of(path) == whole
    quoted = few_columns(tmp_path, ['"Matmul",1,tt_dnn_device'] * 2)
    quoted.write_bytes(quoted.read_bytes().rstrip())
    report = read_performance_csv(quoted)
    assert (len(report.frame), report.caveats) == (2, ())


@for_all(
    ("write", "said"),
    [
        (made_foreign.write_tt_perf_report_csv, "tt-perf-report's output"),
        (made_foreign.write_device_only_csv, "device-only report"),
        (made_foreign.write_unrelated_csv, "no TTNN performance report"),
    ],
)
def test_foreign_dialects_are_named_with_what_to_give_instead(tmp_path, write, said):
    with pytest.raises(ReportForeign, match=said) as refused:
        read_performance_csv(write(tmp_path / "foreign.csv"))
    assert "ops_perf_results" in str(refused.value)


def test_semicolons_instead_of_commas_are_named(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text("OP CODE;OP TYPE;DEVICE KERNEL DURATION [ns]\nMatmul;tt_dnn_device;12\n")
    with pytest.raises(ReportForeign, match="comma"):
        read_performance_csv(path)


@for_all(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"\0\1\2" * 50, "binary"),
        ("OP CODE,x\n".encode("utf-16"), "binary"),
        (b'OP CODE,DEVICE KERNEL DURATION [ns]\nMatmul,"12\nMatmul,13\n', "never closed"),
    ],
)
def test_broken_files_are_refused_with_what_to_do(tmp_path, content, said):
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    with pytest.raises(ReportBroken, match=said):
        read_performance_csv(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ReportMissing, match="list_runs"):
        read_performance_csv(tmp_path / "nothing.csv")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0, 1), flips=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=6))
def test_no_damage_raises_anything_but_our_errors(tmp_path, cut, flips):
    content = bytearray(written(tmp_path / "whole").read_bytes())
    for place, byte in flips:
        content[int(place * (len(content) - 1))] = byte
    damaged = tmp_path / "damaged.csv"
    damaged.write_bytes(bytes(content[: int(cut * len(content))]))
    with suppress(ReportError):
        report = Performance(read_performance_csv(damaged))
        assert len(report.ops) <= len(report.rows)
        assert report.iterations.count >= 0


def test_reading_changes_nothing_beside_the_report(tmp_path):
    path = written(tmp_path)
    before = {one: hashlib.sha256(one.read_bytes()).hexdigest() for one in tmp_path.rglob("*") if one.is_file()}
    read_performance_csv(path)
    after = {one: hashlib.sha256(one.read_bytes()).hexdigest() for one in tmp_path.rglob("*") if one.is_file()}
    assert after == before


def test_device_ops_are_counted_without_parsing(tmp_path):
    path = written(tmp_path)
    assert count_device_ops(path) == len(ops_of(path))
    assert count_device_ops(tmp_path / "nothing.csv") is None


def test_only_a_file_that_is_not_plain_costs_the_start_of_pandas(tmp_path, monkeypatch):
    def parsed(*_):
        raise AssertionError

    monkeypatch.setattr(parsed_rows, "parsed", parsed)
    assert len(read_performance_csv(written(tmp_path)).frame)


@for_all("rows", [2_000_000, 2_000_001])
def test_two_million_rows_are_read_and_no_more(tmp_path, monkeypatch, rows):
    column = TextColumn(np.zeros(rows, dtype=np.int8), ("Matmul",))
    frame = Frame(rows, {"op_code": column, "kernel_ns": np.ones(rows)})
    monkeypatch.setattr(csv_file, "plain_frame", lambda *_: frame)
    path = few_columns(tmp_path, [], has_type=False)
    if rows == 2_000_000:
        assert len(read_performance_csv(path).frame) == rows
    else:
        with pytest.raises(ReportBroken, match=r"more than 2000000 rows.* head -n 2000001"):
            read_performance_csv(path)


def test_no_more_rows_are_read_where_a_file_is_not_plain(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "ROWS_AT_MOST", 2)
    rows = ['"Matmul",1,tt_dnn_device'] * 2
    assert len(read_performance_csv(few_columns(tmp_path, rows)).frame) == 2
    with pytest.raises(ReportBroken, match="more than 2 rows"):
        read_performance_csv(few_columns(tmp_path, [*rows, rows[0]]))


@for_all("has_type", [True, False])
def test_five_thousand_device_ops_are_believed_and_no_more(tmp_path, has_type):
    ops = [f"Op{number},1,tt_dnn_device" for number in range(5_000)]
    marks = [f"mark {number},,signpost" for number in range(10 * has_type)]
    assert len(read_performance_csv(few_columns(tmp_path, ops + marks, has_type=has_type)).frame) >= 5_000
    with pytest.raises(ReportBroken, match="names 5001 different device ops"):
        read_performance_csv(few_columns(tmp_path, [*ops, "One,1,tt_dnn_device", *marks], has_type=has_type))


def few_columns(folder, rows, header="OP CODE,DEVICE KERNEL DURATION [ns],OP TYPE", *, has_type=True):
    lines = [header, *rows]
    path = folder / "ops_perf_results.csv"
    path.write_text("\n".join(lines if has_type else [line.rpartition(",")[0] for line in lines]) + "\n")
    return path


def test_a_header_over_two_lines_is_no_row_that_is_cut_off(tmp_path):
    path = few_columns(tmp_path, [], header='OP CODE,DEVICE KERNEL DURATION [ns],"OP\nTYPE"')
    path.write_bytes(path.read_bytes().rstrip())
    report = read_performance_csv(path)
    assert len(report.frame) == 0
    assert report.caveats == ()


def test_impossible_cells_and_long_texts_are_changed_and_told_and_no_others(tmp_path):
    rows = ["Matmul,12,tt_dnn_device", f"Matmul,-inf,{'x' * 200}", "Matmul,1e300,tt_dnn_device"]
    report = read_performance_csv(few_columns(tmp_path, rows))
    np.testing.assert_array_equal(report.frame.numbers("kernel_ns"), [12, np.nan, np.nan])
    assert cells(report.frame.texts("op_type")) == ["tt_dnn_device", "x" * 100, "tt_dnn_device"]
    assert cells(report.frame.texts("op_code")) == ["Matmul"] * 3
    assert sorted(report.caveats) == [
        "2 cells of DEVICE KERNEL DURATION [ns] cannot be true (infinite, negative or absurd) and count as not measured",
        "OP TYPE holds 1 texts longer than 100 characters, cut there",
    ]


@pytest.mark.slow
def test_device_ops_of_a_very_large_file_are_not_counted(tmp_path):
    path = few_columns(tmp_path, ["Matmul,12,tt_dnn_device"])
    os.truncate(path, 1 << 28)  # it takes no disk, and 0.1 s to look through
    assert count_device_ops(path) == 1
    os.truncate(path, (1 << 28) + 1)
    assert count_device_ops(path) is None


def test_a_device_op_between_two_blocks_is_counted_once(tmp_path):
    path = tmp_path / "ops.csv"
    for lead in range((1 << 22) - 14, (1 << 22) + 2):
        path.write_bytes(bytes(lead) + b"tt_dnn_device" + bytes(20))
        assert count_device_ops(path) == 1
