"""No file that passes for a performance report fills the memory, never ends, or is read half without a word."""

import os
import time

import pytest

from tests.cells_of_frames import check_same_cells
from tests.for_all import for_all
from tests.hostile.csv_cells import spoiled
from ttnn_mcp.errors import ReportBroken, ReportForeign, ReportMissing
from ttnn_mcp.readers.performance import csv_bytes, csv_file, header, parsed_rows
from ttnn_mcp.readers.performance.csv_bytes import LINE_BYTES
from ttnn_mcp.readers.performance.csv_file import count_device_ops, read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.trust import caveats_of


def sound(folder):
    return spoiled(folder, lambda rows: None)


def refused(path, said, kind=ReportBroken):
    began = time.monotonic()
    with pytest.raises(kind, match=said) as failure:
        read_performance_csv(path)
    assert time.monotonic() - began < 5
    assert len(str(failure.value)) < 400


def test_a_line_without_end_is_refused(tmp_path):
    path = sound(tmp_path)
    with path.open("ab") as file:
        file.write(b"x" * (3 * LINE_BYTES))
    refused(path, "a line of more than")


def test_a_sparse_file_is_refused_at_its_first_nul(tmp_path):
    path = sound(tmp_path)
    os.truncate(path, header.LARGEST_BYTES - 1)
    refused(path, "binary")
    long_header = sound(tmp_path / "long")
    with long_header.open("ab") as file:
        file.write(b"mark,signpost\n" * 30_000)
    os.truncate(long_header, header.LARGEST_BYTES - 1)
    refused(long_header, "NUL bytes")


def test_a_file_beyond_all_reports_is_refused_by_its_size(tmp_path):
    path = sound(tmp_path)
    os.truncate(path, 100_000_000_000)
    refused(path, "100.0 GB")
    began = time.monotonic()
    assert count_device_ops(path) is None
    assert time.monotonic() - began < 1


def test_a_quote_that_is_never_closed_is_refused_before_all_is_in_memory(tmp_path):
    path = sound(tmp_path)
    with path.open("ab") as file:
        file.write(b'"' + b"x,y\n" * LINE_BYTES)
    refused(path, "never closed")


def test_more_rows_than_are_read_are_refused(tmp_path, monkeypatch):
    path = sound(tmp_path)
    monkeypatch.setattr(csv_file, "ROWS_AT_MOST", 5)
    refused(path, "more than 5 rows")


def test_blank_lines_without_end_are_rows(tmp_path, monkeypatch):
    path = sound(tmp_path)
    monkeypatch.setattr(csv_file, "ROWS_AT_MOST", 1000)
    path.write_bytes(path.read_bytes() + b"\n" * 2000)
    refused(path, "more than 1000 rows")


def test_more_op_codes_than_ttnn_has_ops_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "OP_CODES_AT_MOST", 2)
    refused(sound(tmp_path), "names 3 different device ops")


def test_as_many_signposts_as_one_likes_are_no_op_codes(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "OP_CODES_AT_MOST", 4)

    def add(rows):
        rows += [{"OP CODE": f"mark {number}", "OP TYPE": "signpost"} for number in range(50)]

    assert len(Performance(read_performance_csv(spoiled(tmp_path, add))).signposts) == 50


def test_texts_that_are_too_many_to_take_apart_count_as_not_said(tmp_path, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.readers.performance.cells.DISTINCT_AT_MOST", 3)

    def spoil(rows):
        for number, row in enumerate(rows):
            row["ATTRIBUTES"] = f"{{'n': '{number}'}}"

    report = read_performance_csv(spoiled(tmp_path, spoil))
    assert any("ATTRIBUTES holds 10 different texts, more than 3" in caveat for caveat in report.caveats)
    assert not Performance(report).ops.texts("attributes").distinct


def test_a_header_with_more_columns_than_any_report_is_refused(tmp_path):
    path = sound(tmp_path)
    first, rest = path.read_text().split("\n", 1)
    path.write_text(first + "," + ",".join(f"c{n}" for n in range(3000)) + "\n" + rest)
    refused(path, "columns: no report has so many")


def test_operands_beyond_any_op_s_are_left_out_and_told(tmp_path):
    path = sound(tmp_path)
    text = path.read_text()
    path.write_text(text.replace("INPUT_2_", "INPUT_77_", 7))
    report = read_performance_csv(path)
    assert "1 operands beyond 32 inputs or outputs are left out" in report.caveats
    assert len(Performance(report).ops.inputs) == 2


@for_all(
    ("spoil", "said"),
    [
        (lambda content: content.replace(b"\n", b"\r"), "carriage returns only"),
        (lambda content: content.decode().encode("utf-16"), "UTF-16"),
        (lambda content: content[:4000] + b"\0\0" + content[4000:], "binary|NUL bytes"),
        (lambda content: b"x" * (1 << 19), "begins with a line of"),
        (lambda content: content.replace(b"tt_dnn_device", b'tt"dnn,device', 1), "does not read as a CSV"),
    ],
)
def test_other_encodings_and_bytes_are_named(tmp_path, spoil, said):
    path = sound(tmp_path)
    path.write_bytes(spoil(path.read_bytes()))
    refused(path, said)


@for_all("encoding", ["latin-1", "cp1252", "utf-8-sig"])
def test_bytes_that_are_no_utf_8_are_read_with_a_mark(tmp_path, encoding):
    path = sound(tmp_path)
    whole = len(Performance(read_performance_csv(path)).ops)
    path.write_bytes(path.read_text().replace("Matmul", "Mätmul").encode(encoding))
    assert len(Performance(read_performance_csv(path)).ops) == whole


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", "not a regular file", ReportMissing)


@for_all("name", ["a\0b.csv", "x" * 300 + ".csv"])
def test_a_path_no_file_can_have_is_refused(tmp_path, name):
    refused(tmp_path / name, "No file|cannot be opened", ReportMissing)


def test_a_file_that_grows_while_it_is_read_is_read_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "plain_frame", lambda *_: None)  # gives up on a file that changes
    path = sound(tmp_path)
    rows = len(read_performance_csv(path).frame)

    def append(self, block):
        with path.open("ab") as file:
            file.write(b"mark,signpost\n")

    monkeypatch.setattr(csv_bytes.CsvBytes, "_look_at", append)
    report = read_performance_csv(path)
    assert len(report.frame) == rows
    assert "the file grew while it was read: what was added is left out" in report.caveats


def test_a_file_that_shrinks_while_it_is_read_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "plain_frame", lambda *_: None)  # gives up on a file that changes
    path = sound(tmp_path)
    whole = len(read_performance_csv(path).frame)
    size = path.stat().st_size
    true_read = csv_bytes.CsvBytes.read

    def read_and_cut(self, wanted=-1):
        block = true_read(self, min(wanted, size // 2))
        os.truncate(path, size // 2)
        return block

    monkeypatch.setattr(csv_bytes.CsvBytes, "read", read_and_cut)
    report = read_performance_csv(path)
    assert len(report.frame) < whole
    assert any("became shorter while it was read" in caveat for caveat in caveats_of(Performance(report)))


def test_a_number_column_with_words_is_read_piece_by_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(parsed_rows, "ROWS_AT_A_TIME", 3)
    whole = read_performance_csv(sound(tmp_path / "whole")).frame

    def spoil(rows):
        rows[1]["HOST DURATION [ns]"], rows[9]["PM IDEAL [ns]"] = "soon", "0x10"

    report = read_performance_csv(spoiled(tmp_path, spoil))
    assert (
        "1 cells of HOST DURATION [ns], 1 cells of PM IDEAL [ns] are no numbers and count as not measured"
        in report.caveats
    )
    check_same_cells(report.frame, whole, but=("host_ns", "pm_ideal_ns"))


@for_all(
    ("old", "new", "said"),
    [
        ("DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL DURATION (ns)", "but one named 'DEVICE KERNEL DURATION"),
        ("DEVICE KERNEL DURATION [ns]", "Device Kernel Duration [ns]", "but one named 'Device Kernel Duration"),
        ("OP CODE", "OP_CODE", "has no OP CODE column, but one named 'OP_CODE'"),
        ("DEVICE KERNEL DURATION [ns]", "y", "device times were not collected"),
        ("OP CODE", "y", "device-only report"),
    ],
)
def test_a_required_column_under_another_name_is_named(tmp_path, old, new, said):
    path = sound(tmp_path)
    first, rest = path.read_text().split("\n", 1)
    names = [new if name == old else name for name in first.split(",")]
    path.write_text(",".join(names) + "\n" + rest)
    with pytest.raises(ReportForeign) as failure:
        read_performance_csv(path)
    assert said in str(failure.value)
