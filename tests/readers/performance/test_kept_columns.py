"""Columns come back from their bytes as they were, to the last bit, however few bytes they take."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.for_all import for_all
from ttnn_mcp.readers.performance.csv_file import PerformanceCsv
from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.readers.performance.kept_columns import LENGTH, packed, unpacked

NAN = np.nan


def there_and_back(values):
    frame = Frame(len(values), {"kernel_ns": np.array(values, dtype=np.float64)})
    csv = PerformanceCsv(Path("ops.csv"), "C7", False, True, frame, {"kernel_ns": "x"}, (), ())
    contents = b"".join(bytes(part) for part in packed(csv, {"a": 1}, {"n": np.arange(3, dtype=np.int8)}))
    again, more, arrays = unpacked(memoryview(contents), Path("ops.csv"))
    assert more == {"a": 1}
    assert arrays["n"].tolist() == [0, 1, 2]
    return again.frame.numbers("kernel_ns"), len(contents)


@for_all(
    "values",
    [
        [0, 1, 127, -127],
        [127, 128],
        [-127, -128],
        [NAN, 5, NAN],
        [NAN, -128, -32768],
        [32767, 32768],
        [2**31 - 1, -(2**31) + 1],
        [2**31, 1],
        [-(2**31), NAN],
        [2**53, 14168404359928],
        [0.5, 1],
        [-0.0, 1],
        [NAN, NAN, NAN],
        [],
    ],
)
def test_numbers_come_back_to_the_last_bit(values):
    again, _ = there_and_back(values)
    expected = np.array(values, dtype=np.float64)
    assert again.dtype == np.float64
    np.testing.assert_array_equal(np.isnan(again), np.isnan(expected))
    known = ~np.isnan(expected)
    assert again[known].tobytes() == expected[known].tobytes()


def test_texts_come_back_those_that_are_missing_too():
    frame = Frame(3, {"op_code": TextColumn(np.array([1, -1, 0], dtype=np.int8), ("Matmul", "Conv2d"))})
    csv = PerformanceCsv(Path("ops.csv"), "C7", False, True, frame, {"op_code": "x"}, (), ())
    contents = b"".join(bytes(part) for part in packed(csv, {}, {}))
    texts = unpacked(memoryview(contents), Path("ops.csv"))[0].frame.texts("op_code")
    assert (texts.codes.tolist(), texts.distinct) == ([1, -1, 0], ("Matmul", "Conv2d"))


def test_a_single_row_without_a_number_comes_back():
    assert np.isnan(there_and_back([NAN])[0]).all()


def test_blank_and_small_columns_take_little():
    rows = 100_000
    assert there_and_back([NAN] * rows)[1] < 1_000
    assert there_and_back([1.0, NAN] * (rows // 2))[1] < rows + 1_000
    assert there_and_back([0.0, 1.0] * (rows // 2))[1] < rows + 1_000
    assert there_and_back([1000.0] * rows)[1] < 2 * rows + 1_000
    assert there_and_back([-200.0] * rows)[1] < 2 * rows + 1_000


def contents_with(columns, arrays=None):
    rows = len(next(iter(columns.values())).codes if "op_code" in columns else next(iter(columns.values())))
    csv = PerformanceCsv(Path("ops.csv"), "C7", False, True, Frame(rows, columns), {}, (), ())
    return b"".join(bytes(part) for part in packed(csv, {}, arrays or {}))


def test_columns_begin_where_a_processor_reads_them_at_once():
    numbers = {name: np.array([0.5, 1.5, 2.5]) for name in ("kernel_ns", "cores")}
    contents = np.frombuffer(contents_with(numbers, {"n": np.arange(3, dtype=np.int8)}), dtype=np.uint8)
    again, _, arrays = unpacked(contents.data, Path("ops.csv"))
    places = [array.ctypes.data - contents.ctypes.data for array in (*again.frame.columns.values(), arrays["n"])]
    assert places == [0, 64, 128]


@for_all(
    "spoil",
    [
        {"rows": -3},
        {"rows": 2.5},
        {"columns": [["kernel_ns", ["a"], "<f8"]]},
        {"columns": [["kernel_ns", ["a"], "|i1"]], "rows": 2},
        {"columns": [["kernel_ns", ["a", "b"], "|i1"]]},
        {"columns": [["kernel_ns", None, "<f4"]]},
        {"arrays": [["n", "<f4", 2]]},
        {"arrays": [["n", "|i1", -1]]},
    ],
)
def test_a_summary_that_was_not_written_by_us_is_refused(spoil):
    """Codes 0, 1, -2 and 1 stand where the changed summary says something else, and as numbers of 8 bytes they are next to 0."""
    codes = np.array([0, 1, -2, 1], dtype=np.int8)
    contents = contents_with({"kernel_ns": np.full(4, NAN)}, {"n": codes})
    body, summary = contents[:64], json.loads(contents[64 : -LENGTH.size])
    assert summary["rows"] == 4
    end = json.dumps(summary | spoil).encode()
    with pytest.raises(ValueError, match="not written by us"):
        unpacked(memoryview(body + end + LENGTH.pack(len(end))), Path("ops.csv"))


def test_only_arrays_that_can_be_read_again_are_written():
    with pytest.raises(ValueError, match="no column is written as <f4"):
        contents_with({"kernel_ns": np.zeros(1)}, {"n": np.zeros(1, dtype=np.float32)})
