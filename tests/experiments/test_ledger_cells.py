"""Cells of ledgers: figures with units, ranges, blocks and counts."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.experiments.ledger_cells import times_of


@for_all(
    ("column", "cell", "times"),
    [
        ("time", "12.5 ns", [12.5e-6]),
        ("time", "12.5 us", [12.5e-3]),
        ("time", "12.5 µs", [12.5e-3]),
        ("time", "12.5 μs", [12.5e-3]),
        ("time", "12.5 ms", [12.5]),
        ("time", "12.5 s", [12_500.0]),
        ("time", "40 tok/s", [25.0]),
        ("tok/s", "40", [25.0]),
        ("ms", "", []),
        ("ms", "0", []),
        ("tok/s", "0", []),
        ("ms", "0 ms, 3 ms", []),
        ("ms", "12,015", [12_015.0]),
        ("ms", "500,510", []),
        ("ms", "100,900", [100_900.0]),
        ("time", "0.6 to 0.7 ms", [0.6]),
        ("time", "5 runs, 3 ms, 2 us", []),
        ("time", "0.6 to 3 ms, 2 us", []),
        ("time", "40 tok/s, 3 ms", [25.0, 3.0]),
        ("time", "1e15 ms", []),
        ("time", "1.2e15 ns", []),
        ("time", "0.9e15 ns", [0.9e9]),
        ("ms per 10 iterations", "12.3", [1.23]),
    ],
)
def test_what_a_cell_tells(column, cell, times):
    assert times_of(column, cell) == pytest.approx(times)
