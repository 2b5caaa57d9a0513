"""Columns come back from their bytes as they were, to the last bit, however few bytes they take."""

from pathlib import Path

import numpy as np
import pytest

from ttnn_mcp.readers.performance.csv_file import PerformanceCsv
from ttnn_mcp.readers.performance.frame import Frame
from ttnn_mcp.readers.performance.kept_columns import packed, unpacked

NAN = np.nan


def there_and_back(values):
    frame = Frame(len(values), {"kernel_ns": np.array(values, dtype=np.float64)})
    csv = PerformanceCsv(Path("ops.csv"), "C7", False, True, frame, {"kernel_ns": "x"}, (), ())
    contents = b"".join(bytes(part) for part in packed(csv, {"a": 1}, {"n": np.arange(3, dtype=np.int8)}))
    again, more, arrays = unpacked(memoryview(contents), Path("ops.csv"))
    assert more == {"a": 1}
    assert arrays["n"].tolist() == [0, 1, 2]
    return again.frame.numbers("kernel_ns"), len(contents)


@pytest.mark.parametrize(
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


def test_blank_and_small_columns_take_little():
    rows = 100_000
    assert there_and_back([NAN] * rows)[1] < 1_000
    assert there_and_back([1.0, NAN] * (rows // 2))[1] < rows + 1_000
    assert there_and_back([1000.0] * rows)[1] < 2 * rows + 1_000
