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


@pytest.mark.slow
def test_sixty_thousand_symbols_take_little_time_and_little_memory():
    random = np.random.default_rng(7)
    before = random.integers(0, 40, 60_000)
    after = np.delete(before, random.choice(60_000, 3_000, replace=False))
    left, right = lcs.common(before, after)
    assert len(left) == len(after)
    assert np.array_equal(before[left], after[right])


def test_only_what_differs_counts_as_work():
    before = np.arange(100_000)
    after = np.insert(before, 50_000, -1)
    assert lcs.cells(before, after) == 0
    assert len(lcs.common(before, after)[0]) == 100_000


def test_symbols_that_occur_often_and_that_do_not_occur_have_their_places():
    places = lcs._Places(np.array([3, 1, 3, 3, 2, 2, 3]))
    expected = {3: 0b1001101, 2: 0b110000, 1: 0b10, 7: 0}
    for _ in range(2):
        assert {symbol: places.bits(symbol) for symbol in expected} == expected


def test_the_places_of_so_many_symbols_are_held_as_memory_allows(monkeypatch):
    """32 MB of integers: those of 32,000 symbols, in a sequence of 8,000."""
    sequence = np.repeat(np.arange(2_667), 3)[:8_000]
    assert lcs._Places(sequence)._room == 32_000_000 // 1_001
    monkeypatch.setattr(lcs, "PLACES_HELD_BYTES", 2_002)
    places = lcs._Places(sequence)
    for symbol in range(5):
        places.bits(symbol)
    assert len(places._bits) == 2
