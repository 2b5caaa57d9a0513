"""Rows that are not plain, read by pandas: numbers, texts, cells that are no numbers, and rows that do not fit."""

import numpy as np
import pytest

from tests.cells_of_frames import cells
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


@pytest.mark.parametrize("rows_at_a_time", [2, 1 << 16])
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


@pytest.mark.parametrize("cores", ["8", "many"])
def test_rows_with_more_fields_than_the_header_are_refused(tmp_path, cores):
    with pytest.raises(ReportBroken, match="a row does not fit the header"):
        read(tmp_path, [f"Matmul,{cores},x,1,a,b"] * 3)
