"""The id of a run: of its reports' contents, whatever they are called, and of the rank that is meant."""

from itertools import product

import pytest

from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.session.registry import Pair, identity, stamp_of


@pytest.fixture
def files(tmp_path):
    written = {name: tmp_path / name for name in ("a.csv", "copy.csv", "b.csv")}
    for name, path in written.items():
        path.write_text("b" if name == "b.csv" else "a")
    return written.values()


def test_an_id_is_that_of_the_contents(files):
    a, copy, b = files
    assert identity(Pair(a, None)) == identity(Pair(copy, None))
    pairs = [Pair(*both) for both in product((a, b, None), repeat=2) if any(both)]
    assert len({identity(pair) for pair in pairs}) == len(pairs) == 8


def test_each_rank_but_the_first_has_an_id_of_its_own(files):
    a, *_ = files
    unsaid, first, second, third = (identity(Pair(None, a, rank)) for rank in (None, 0, 1, 2))
    assert unsaid == first
    assert len({first, second, third}) == 3


def test_what_is_not_there_is_named_by_the_end_of_its_path(tmp_path):
    for look in (stamp_of, lambda path: identity(Pair(path, None))):
        with pytest.raises(ReportMissing, match=r"/gone/ops_perf_results\.csv (is not there|cannot be opened)"):
            look(tmp_path / ("x" * 80) / "gone" / "ops_perf_results.csv")
