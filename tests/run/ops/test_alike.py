"""Rows get the same number exactly when they agree in every column."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttnn_mcp.run.ops import alike
from ttnn_mcp.run.ops.alike import count_distinct, first_rows, numbered

CELLS = st.sampled_from([0, 1, 2, -1, 7, 2**31, 2**62, -(2**63), 2**63 - 1, 2**40 + 1])


@pytest.fixture(params=[alike.FEW_ROWS, 0], ids=["few rows", "many"], autouse=True)
def few_rows(request, monkeypatch):
    """Each test twice: few rows are numbered one by one, all others column by column."""
    monkeypatch.setattr(alike, "FEW_ROWS", request.param)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 6).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=40)))
def test_equal_rows_and_only_they_share_a_number(rows):
    table = np.array(rows, dtype=np.int64)
    numbers = numbered(len(rows), list(table.T)).tolist()
    first = {row: number for number, row in reversed(list(zip(numbers, rows, strict=True)))}
    assert numbers == [first[row] for row in rows]
    assert sorted(set(numbers)) == list(range(len(set(rows))))
    assert list(dict.fromkeys(numbers)) == sorted(set(numbers))


def test_no_rows_and_no_columns():
    assert [count_distinct(np.array(values)) for values in ([], [5], [7, 7], [1024, 0, 1024, -3])] == [0, 1, 1, 3]
    assert numbered(0, [np.zeros(0, dtype=np.int64)]).tolist() == []
    assert numbered(3, []).tolist() == [0, 0, 0]


def test_many_wide_columns_do_not_overflow():
    columns = [np.arange(1000, dtype=np.int64) * (10**15 + place) for place in range(30)]
    assert numbered(1000, columns).tolist() == list(range(1000))


def test_numbers_that_would_not_fit_64_bits_are_counted_first():
    """Two rows that differ by 2**24 in one column are 2**64 apart once another one of 2**40 values is added."""
    many = np.array([*range(19), 18])
    far, wide = np.zeros(20, dtype=np.int64), np.zeros(20, dtype=np.int64)
    far[-1], wide[0] = 1 << 24, (1 << 40) - 1
    assert numbered(20, [many, many, far, wide]).tolist() == list(range(20))


def test_the_first_row_of_each_number_is_where_it_appears_first():
    numbers = numbered(6, [np.array([7, 3, 7, 3, 9, 7])])
    assert first_rows(numbers).tolist() == [0, 1, 4]
    assert first_rows(np.zeros(0, dtype=np.int64)).tolist() == []
