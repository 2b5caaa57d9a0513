"""A curve of levels as a few stretches: nothing left out, the highest point always named."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
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


@for_all("values", [[], [7]])
def test_short_curves_are_no_trouble(values):
    assert len(stretches(np.array(values, dtype=np.int64), 5)) == len(values)


@for_all("tolerance", [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64])
def test_each_tolerance_is_tried_in_turn(tolerance):
    """A band just inside it, and a step just beyond it: a smaller one cuts the band, a larger one loses the step."""
    top = 1_000_000
    band = int(0.85 * tolerance * top)
    step = int(1.15 * tolerance * top)
    values = [top, top - band] * 8 + [top - step] * 4
    assert stretches(np.array(values), 3) == [Stretch(0, 15, 0), Stretch(16, 19, 16)]


def test_what_does_not_move_needs_no_tolerance():
    values = [1_000_000] * 3 + [999_999] * 3
    assert stretches(np.array(values), 2) == [Stretch(0, 2, 0), Stretch(3, 5, 3)]
    assert stretches(np.array([0, 0, 1, 1]), 2) == [Stretch(0, 1, 0), Stretch(2, 3, 2)]


@for_all(
    ("values", "most", "starts"),
    [
        ([5] * 20, 4, [0]),  # all of it one level, however long
        ([5, 9], 1, [0]),  # one is allowed
        ([5], 4, [0]),
        ([100, 99] * 4, 8, [0, 1, 2, 3, 4, 5, 6, 7]),  # as many as places
        ([1000, 995] * 4, 4, [0, 2, 4, 6]),  # small jumps, all the time
        ([1000, 995] * 4, 1, [0]),
        ([0, 1000] * 4, 4, [0, 2, 4, 6]),  # large ones
    ],
)
def test_cuts(values, most, starts):
    assert [one.first for one in stretches(np.array(values), most)] == starts


def test_nothing_is_no_stretch():
    assert stretches(np.array([], dtype=np.int64), 4) == []
