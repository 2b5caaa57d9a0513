"""Rows that are not plain, read by pandas: numbers, texts, cells that are no numbers, and rows that do not fit."""

import numpy as np
import pytest

from tests.cells_of_frames import cells
from tests.for_all import for_all
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.performance import parsed_rows
from ttnn_mcp.readers.performance.csv_file import BLANK
from ttnn_mcp.readers.performance.header import header_of
from ttnn_mcp.readers.performance.parsed_rows import parsed

HEADER = "OP CODE,CORE COUNT,unread,DEVICE KERNEL DURATION [ns],OP TYPE"


def read(folder, rows):
    path = folder / "ops_perf_results.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return parsed(path, header_of(path), 1_000, BLANK)


def test_quoted_cells_are_read(tmp_path):
    report = read(tmp_path, ['"Mat,mul",8,x,"12.5",a', "Softmax,,x,13,", '"Mat,mul",-,x,,1'])
    assert report.unread == {"cores": 0, "kernel_ns": 0}
    np.testing.assert_array_equal(report.frame.numbers("kernel_ns"), [12.5, 13, np.nan])
    np.testing.assert_array_equal(report.frame.numbers("cores"), [8, np.nan, np.nan])
    assert cells(report.frame.texts("op_code")) == ["Mat,mul", "Softmax", "Mat,mul"]
    assert cells(report.frame.texts("op_type")) == ["a", None, "1"]
    assert list(report.frame.columns) == ["op_code", "cores", "kernel_ns", "op_type"]


@for_all("rows_at_a_time", [2, 1 << 16])
def test_cells_that_are_no_numbers_are_counted_and_blank_ones_are_not(tmp_path, monkeypatch, rows_at_a_time):
    monkeypatch.setattr(parsed_rows, "ROWS_AT_A_TIME", rows_at_a_time)
    cores = ["8", "many", "", "1e1", "", "few"]
    report = read(tmp_path, [f"Matmul,{text},x,14168404359928,a" for text in cores])
    assert report.unread == {"cores": 2, "kernel_ns": 0}
    np.testing.assert_array_equal(report.frame.numbers("cores"), [8, np.nan, np.nan, 10, np.nan, np.nan])
    assert set(report.frame.numbers("kernel_ns").tolist()) == {14168404359928.0}
    assert cells(report.frame.texts("op_code")) == ["Matmul"] * 6


def test_words_for_true_and_false_are_no_numbers(tmp_path):
    report = read(tmp_path, ["Matmul,True,x,1,a", "Matmul,False,x,fast,a"])
    assert report.unread == {"cores": 2, "kernel_ns": 1}
    assert np.isnan(report.frame.numbers("cores")).all()


LONG = "Mat,mul,{cores},x,1,a"  # the comma is not quoted: what follows stands under the wrong headers
FITS = "Matmul,{cores},x,1,a"


@for_all("cores", ["8", "many"])
@for_all(
    ("rows", "line"),
    [
        ([LONG] * 3, 2),
        (["Matmul,{cores},x,1,a,b,c"] * 3, 2),
        ([FITS, FITS, LONG, FITS], 4),
        ([FITS, "Matmul,{cores},x,1,a,"], 3),
        ([FITS, '"Mat,mul",{cores},x,1,a', LONG], 4),
    ],
)
def test_a_row_with_more_fields_than_the_header_is_refused_and_named(tmp_path, cores, rows, line):
    with pytest.raises(ReportBroken, match=f"does not read as a CSV at line {line}: a row does not fit the header"):
        read(tmp_path, [row.format(cores=cores) for row in rows])


def test_a_stray_quote_that_misleads_the_count_of_fields_changes_nothing(tmp_path):
    """Inside a cell it opens nothing; but the line break between two of them seems to be quoted, and the rows one."""
    report = read(tmp_path, ['Softmax,8,x,1,a"', 'Mat"mul,8,x,1,a'] * 2)
    assert cells(report.frame.texts("op_code")) == ["Softmax", 'Mat"mul'] * 2
    assert report.frame.numbers("kernel_ns").tolist() == [1] * 4
    assert list(report.frame.columns) == ["op_code", "cores", "kernel_ns", "op_type"]
