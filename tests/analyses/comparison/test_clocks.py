"""Clocks that differ, and those that are not to be compared."""

from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.clocks import clock_ratio


def run(ghz, arch="wormhole_b0"):
    return SimpleNamespace(performance_report=SimpleNamespace(clock_ghz=ghz), chip=SimpleNamespace(arch=arch))


@for_all(
    ("before", "after", "ratio"),
    [
        (run(1.0), run(0.8), 0.8),
        (run(1.0), run(1.0105), 1.0105),
        (run(1.0), run(1.0095), 1.0),  # as far as readings of one clock lie apart
        (run(1.0), run(0.9905), 1.0),
        (run(50.0), run(50.5), 1.0),
        (run(1.0), run(None), 1.0),
        (run(None), run(1.0), 1.0),
        (run(1.0), run(1.35, "blackhole"), 1.0),  # cycles of another architecture are other cycles
    ],
)
def test_clocks_of_one_architecture_differ_from_one_per_cent_on(before, after, ratio):
    assert clock_ratio(before, after) == pytest.approx(ratio)
