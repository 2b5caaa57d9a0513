"""A curve of levels as a few stretches: nothing left out, the highest point always named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_mcp.analyses.memory.level_segments import Stretch, stretches

levels = st.lists(st.integers(0, 2_000_000), min_size=1, max_size=300)


@given(levels, st.integers(1, 12))
def test_stretches_cover_everything_and_name_the_highest(values, most):
    found = stretches(np.array(values), most)
    assert 1 <= len(found) <= most
    assert [one.first for one in found[1:]] == [one.last + 1 for one in found[:-1]]
    assert (found[0].first, found[-1].last) == (0, len(values) - 1)
    for one in found:
        assert values[one.highest] == max(values[one.first : one.last + 1])


def test_flat_stretches_stay_whole():
    found = stretches(np.array([5] * 40 + [90] * 3 + [5] * 40), 10)
    assert found == [Stretch(0, 39, 0), Stretch(40, 42, 40), Stretch(43, 82, 43)]


def test_a_curve_that_jumps_all_the_time_is_cut_evenly():
    found = stretches(np.array([0, 100] * 50), 10)
    assert len(found) == 10
    assert {one.last - one.first for one in found} == {9}


@pytest.mark.parametrize("values", [[], [7]])
def test_short_curves_are_no_trouble(values):
    assert len(stretches(np.array(values, dtype=np.int64), 5)) == len(values)
