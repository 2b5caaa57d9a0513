import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_mcp.analyses.comparison import lcs

sequences = st.lists(st.integers(0, 5), max_size=30)


def length_by_the_book(before, after):
    table = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for row, own in enumerate(before):
        for column, other in enumerate(after):
            longer = max(table[row][column + 1], table[row + 1][column])
            table[row + 1][column + 1] = table[row][column] + 1 if own == other else longer
    return table[-1][-1]


@pytest.mark.parametrize("held", [8, lcs.CELLS_HELD])
@given(before=sequences, after=sequences)
def test_the_subsequence_is_common_and_no_longer_one_exists(held, before, after):
    whole = lcs.CELLS_HELD
    lcs.CELLS_HELD = held  # small: the halving does the work; large: the walk back does
    try:
        left, right = lcs.common(np.array(before, dtype=np.int64), np.array(after, dtype=np.int64))
    finally:
        lcs.CELLS_HELD = whole
    assert [before[at] for at in left] == [after[at] for at in right]
    assert (np.diff(left) > 0).all()
    assert (np.diff(right) > 0).all()
    assert len(left) == length_by_the_book(before, after)


def test_sixty_thousand_symbols_take_little_time_and_little_memory():
    random = np.random.default_rng(7)
    before = random.integers(0, 40, 60_000)
    after = np.delete(before, random.choice(60_000, 3_000, replace=False))
    left, right = lcs.common(before, after)
    assert len(left) == len(after)
    assert np.array_equal(before[left], after[right])


def test_only_what_differs_counts_as_work():
    before = np.arange(1_000_000)
    after = np.insert(before, 500_000, -1)
    assert lcs.cells(before, after) == 0
    assert len(lcs.common(before, after)[0]) == 1_000_000
