"""Two programs compared as their reports tell them."""

import pytest

from tests.analyses.comparison.test_comparison import opened
from tests.profiles import write_performance_report
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.matching_windows import like_windows


@pytest.fixture
def compare(tmp_path):
    def compared(before, after):
        paths = [write_performance_report(tmp_path / name, each) for name, each in (("a", before), ("b", after))]
        return Comparison(*like_windows(*map(opened, paths)))

    return compared
