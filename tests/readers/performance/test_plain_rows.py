"""Rows without quotes, read with numpy: every cell as the csv module reads it, or the file is left to the parser."""

import csv
import os
import string

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cells_of_frames import cells as cells_of
from tests.cells_of_frames import check_same_cells
from tests.for_all import for_all
from tests.shared_reports import shared
from ttnn_mcp.readers.performance import csv_file, plain_blocks, plain_rows
from ttnn_mcp.readers.performance.csv_file import BLANK, read_performance_csv
from ttnn_mcp.readers.performance.header import header_of
from ttnn_mcp.readers.performance.plain_blocks import shape_of
from ttnn_mcp.readers.performance.plain_numbers import Numbers
from ttnn_mcp.readers.performance.plain_rows import PlainRows, Wanted, plain_frame

HEADER = ["OP CODE", "OP TYPE", "DEVICE ID", "unread", "DEVICE KERNEL DURATION [ns]", "HOST START TS", "ATTRIBUTES"]
NUMBERS = {"DEVICE ID": "device", "DEVICE KERNEL DURATION [ns]": "kernel_ns", "HOST START TS": "host_start_ns"}
TEXTS = {"OP CODE": "op_code", "OP TYPE": "op_type", "ATTRIBUTES": "attributes"}
ROW = ["Matmul", "tt_dnn_device", "0", "x", "1234", "14168404359928", "{'a': 1}"]

whole = st.integers(0, 10**17).map(str)
signed = st.integers(-(10**6), 10**6).map(str)
decimal = st.floats(-1e9, 1e9, allow_nan=False).map(repr)
number = st.one_of(whole, signed, decimal, st.sampled_from([*BLANK, "007", "+5", "1e3", "99999999", "100000000"]))
text = st.one_of(st.text(string.ascii_letters + " ;'{}é-_", max_size=20), st.sampled_from(BLANK))
rows = st.lists(st.tuples(text, text, number, text, number, number, text).map(list), min_size=1, max_size=8)


def written(path, body, line_end="\r\n", *, ends=True):
    lines = line_end.join(",".join(row) for row in [HEADER, *body])
    path.write_bytes((lines + line_end * ends).encode())
    return path


def plain(path):
    return plain_frame(path, header_of(path), 100, BLANK)


def same_as_the_csv_module(frame, path):
    with path.open(newline="") as lines:
        expected = list(csv.DictReader(lines))
    assert len(frame) == len(expected)
    for header, name in NUMBERS.items():
        values = [np.nan if row[header] in BLANK else float(row[header]) for row in expected]
        np.testing.assert_array_equal(frame.numbers(name), values)
    for header, name in TEXTS.items():
        cells = [None if row[header] in BLANK else row[header] for row in expected]
        assert cells_of(frame.texts(name)) == cells
        assert list(frame.texts(name).distinct) == sorted(set(cells) - {None})


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(body=rows, line_end=st.sampled_from(["\n", "\r\n"]), ends=st.booleans(), block=st.integers(8, 400))
def test_every_cell_is_what_the_csv_module_reads(tmp_path, body, line_end, ends, block):
    path = written(tmp_path / "ops_perf_results.csv", body, line_end, ends=ends)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_rows, "BLOCK_BYTES", block)  # rows begin, end and cross blocks in every way
        same_as_the_csv_module(plain(path), path)


def test_rows_in_many_blocks_are_all_read(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_rows, "BLOCK_BYTES", 100)
    monkeypatch.setattr(plain_blocks, "LINE_BYTES", 300)  # more than the header has, less than the file
    path = written(tmp_path / "ops_perf_results.csv", [[*ROW[:4], str(row), *ROW[5:]] for row in range(90)])
    same_as_the_csv_module(plain(path), path)


@for_all("digits", range(1, 20))
def test_whole_numbers_of_every_length_are_exact(tmp_path, digits):
    cells = ["9" * digits, "1" + "0" * (digits - 1), "1234567890123456789"[:digits]]
    path = written(tmp_path / "ops.csv", [[*ROW[:4], cell, *ROW[5:]] for cell in cells])
    assert plain(path).numbers("kernel_ns").tolist() == [float(cell) for cell in cells]


@for_all("digits", range(9))
def test_decimals_are_the_numbers_next_to_them(tmp_path, digits):
    whole = "98765432"[:digits]
    cells = (
        [f"{whole[:place]}.{whole[place:]}" for place in range(digits + 1)] if digits else ["0.1", "00.30", "7."]
    )
    path = written(tmp_path / "ops.csv", [[*ROW[:4], cell, *ROW[5:]] for cell in cells])
    assert plain(path).numbers("kernel_ns").tolist() == [float(cell) for cell in cells]


@for_all(
    "spoil",
    [
        lambda text: text.replace(b"Matmul", b'"Matmul"', 1),
        lambda text: text.replace(b"OP TYPE", b'"OP TYPE"', 1),
        lambda text: text.replace(b",x,", b",\r,", 1),
        lambda text: text.replace(b",x,", b",", 1),
        lambda text: text.replace(b",x,", b",,,", 1),
        lambda text: text.replace(b",x,", b"\n", 1) + b"a,b,1\n",
        lambda text: text.replace(b"1234,", b"12a4,", 1),
        lambda text: text.replace(b"1234,", b" 1234,", 1),
        lambda text: text.replace(b"1234,", b"1_234,", 1),
        lambda text: text.replace(b"1234,", b"infinity,", 1),
        lambda text: text.replace(b"1234,", b".,", 1),
        lambda text: text.replace(b"1234,", b"1.2.3,", 1),
        lambda text: text.replace(b"1234,", b"1.2a,", 1),
        lambda text: text.replace(b",x,", b",\t,", 1),
        lambda text: text.replace(b"\r\n", b"\n", 1),
        lambda text: text[:-2] + b"\n",
        lambda text: text + b"\r\n",
        lambda text: text[:-30],
    ],
)
def test_whatever_is_not_plain_is_left_to_the_parser(tmp_path, spoil):
    path = written(tmp_path / "ops.csv", [ROW, ROW])
    assert plain(path) is not None
    path.write_bytes(spoil(path.read_bytes()))
    assert plain(path) is None


@for_all(
    ("line_end", "rows"),
    [
        ("\n", ["Matmul,tt_dnn_device,0\rx,1,2,a\n"]),
        ("\r\n", ["Matmul,tt_dnn_device,0\tx,1,2,a\r\n"]),
        ("\n", ["Matmul,tt_dnn_device,0,x,1,2\n", ",,,,,,,\n"]),  # a cell less, then one more
        ("\r\n", ["Matmul,tt_dnn_device,0\rx,1,2,a,\n"]),  # the carriage return stands where a comma should
    ],
)
def test_as_many_separators_as_in_plain_rows_do_not_make_rows_plain(tmp_path, line_end, rows):
    path = written(tmp_path / "ops.csv", [ROW], line_end)
    assert plain(path) is not None
    path.write_bytes(path.read_bytes() + "".join(rows).encode())
    assert plain(path) is None


def test_whole_numbers_and_short_decimals_need_no_python(tmp_path, monkeypatch):
    asked, others = [], Numbers._others
    monkeypatch.setattr(Numbers, "_others", lambda *given: asked.append(given[-1].tolist()) or others(*given))
    cells = ["", "7", "1234567", "12345678", "123456789", "1234567890123456", "1.5", "1234.567"]
    path = written(tmp_path / "ops.csv", [[*ROW[:4], cell, *ROW[5:]] for cell in cells])
    np.testing.assert_array_equal(plain(path).numbers("kernel_ns"), [float(cell or "nan") for cell in cells])
    assert asked == [[]]


@for_all("line_end", ["\n", "\r\n"])
def test_a_line_longer_than_any_real_one_is_left_to_the_parser(tmp_path, monkeypatch, line_end):
    monkeypatch.setattr(plain_rows, "BLOCK_BYTES", 50)
    path = written(tmp_path / "ops.csv", [[*ROW[:6], "x" * 900], ROW], line_end)
    assert plain(path) is not None
    monkeypatch.setattr(plain_blocks, "LINE_BYTES", 500)
    assert plain(path) is None


@pytest.fixture
def reading(tmp_path, monkeypatch):
    """600 rows of equal length in some twenty blocks, and what reads them."""
    monkeypatch.setattr(plain_rows, "BLOCK_BYTES", 2_000)
    path = written(tmp_path / "ops.csv", [[*ROW[:4], str(row), *ROW[5:]] for row in range(1_000, 1_600)])
    with path.open("rb") as file:
        shape = shape_of(file.fileno(), len(HEADER))
        yield PlainRows(file.fileno(), shape, Wanted(header_of(path).read, BLANK, 5_000))


def test_room_is_made_once_for_rows_of_equal_length_and_hardly_more_than_they_need(reading, monkeypatch):
    asked, true_widened = [], plain_rows._widened
    monkeypatch.setattr(plain_rows, "_widened", lambda *how: asked.append(how) or true_widened(*how))
    assert reading.read()
    assert len(asked) == 2  # numbers and texts
    assert 600 * 1.02 < reading.numbers.shape[1] < 600 * 1.1


def test_texts_side_by_side_are_looked_up_together(reading):
    assert [(group.first, group.last) for group in reading.groups] == [(0, 1), (6, 6)]


def test_too_many_different_texts_are_left_to_the_parser(tmp_path, monkeypatch):
    path = written(tmp_path / "ops.csv", [[*ROW[:6], f"attribute {n}"] for n in range(20)])
    monkeypatch.setattr(plain_rows, "KNOWN_BYTES_AT_MOST", 220)
    assert plain(path) is None
    monkeypatch.setattr(plain_rows, "KNOWN_BYTES_AT_MOST", 20 * len("attribute 10"))
    assert plain(path) is not None


def test_a_file_that_changes_meanwhile_is_left_to_the_parser(tmp_path, monkeypatch):
    path = written(tmp_path / "ops.csv", [ROW, ROW])
    true_block_at = plain_rows.block_at

    def and_append(*where):
        with path.open("ab") as file:
            file.write(b"more")
        return true_block_at(*where)

    monkeypatch.setattr(plain_rows, "block_at", and_append)
    assert plain(path) is None

    def and_cut(*where):
        os.truncate(path, sizes.pop())
        return true_block_at(*where)

    monkeypatch.setattr(plain_rows, "block_at", and_cut)
    sizes = [0, 200]
    assert plain(path) is None
    assert plain(path) is None
    assert not sizes


def test_a_file_that_is_read_in_part_only_is_left_to_the_parser(tmp_path, monkeypatch):
    path = written(tmp_path / "ops.csv", [ROW, [*ROW[:6], "attribute"]], ends=False)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda descriptor, size, place: pread(descriptor, size, place)[:-1])
    assert plain(path) is None  # its last cell would be cut


def test_no_more_rows_are_read_than_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_rows, "BLOCK_BYTES", 100)
    path = written(tmp_path / "ops.csv", [ROW] * 300)
    assert 101 <= len(plain(path)) < 150


def test_a_report_without_rows_has_its_columns(tmp_path):
    frame = plain(written(tmp_path / "ops.csv", []))
    assert len(frame) == 0
    assert {"op_code", "kernel_ns"} <= set(frame.columns)


@for_all("folder", ["perf", "backtest"], sampled=2)
def test_real_reports_are_plain_and_read_like_the_parser_reads_them(folder, monkeypatch):
    for path in sorted(shared(folder).glob("*.csv")):
        quick = read_performance_csv(path)
        assert plain(path) is not None, path
        monkeypatch.setattr(csv_file, "plain_frame", lambda *_: None)
        slow = read_performance_csv(path)
        monkeypatch.undo()
        assert quick.caveats == slow.caveats
        check_same_cells(quick.frame, slow.frame)
