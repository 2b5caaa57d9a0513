"""Call counts of several devices: one id for the rows of one launch, or none."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.run.ops.call_counts import runtime_ids


def ids(counts, devices):
    columns = {"call_count": np.array(counts, dtype=float), "device": np.array(devices, dtype=float)}
    found = runtime_ids(SimpleNamespace(numbers=columns.get))
    return None if found is None else found.tolist()


def test_the_device_takes_the_lowest_ten_bits():
    assert ids([5 * 1024 + 3, 5 * 1024, 7 * 1024 + 1023], [3, 0, 1023]) == [5, 5, 7]
    assert ids([1024], [0]) == [1]


@for_all(
    ("counts", "devices"),
    [
        ([], []),
        ([5 * 1024 + 3], [2]),  # another device's
        ([5 * 1024 + 3, 5 * 1024 + 128], [3, 0]),  # one op is enough
        ([3], [3]),  # no launch is number 0
        ([1023], [1023]),
        ([128 * 9], [0]),
        ([5 * 1024, np.nan], [0, 0]),
        ([5 * 1024, 6 * 1024], [0, np.nan]),
        ([1, 2, 3], [0, 0, 0]),  # before 2025: a plain count
    ],
)
def test_a_count_that_is_not_made_so_gives_no_ids(counts, devices):
    assert ids(counts, devices) is None
