"""Which op became which: on symbols, so that each rule stands alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison import alignment, lcs
from ttnn_mcp.analyses.comparison.alignment import aligned
from ttnn_mcp.analyses.comparison.op_tokens import Tokens


def tokens(*sides):
    """Ops as `name`, `name.shape` or `name.shape.record`; equal parts get equal numbers on both sides."""
    parts = [[each.split(".") for each in side] for side in sides]
    numbers = {}

    def number(*key):
        return numbers.setdefault(key, len(numbers))

    return [
        Tokens(*(np.array([number(level, *op[:level]) for op in side], dtype=np.int64) for level in (1, 2, 3)))
        for side in parts
    ]


def pairs(found):
    return list(zip(found.before.tolist(), found.after.tolist(), strict=True))


def edits(found):
    return [(edit.before, edit.after) for edit in found.edits]


def test_ops_of_the_same_record_are_partners_before_ops_of_the_same_shape_or_name():
    before, after = tokens(["A.1.a", "A.1.b", "A.2.c"], ["A.9.z", "A.1.b"])
    assert (1, 1) in pairs(aligned(before, after))
    before, after = tokens(["A.1.a", "A.2.b", "A.3.c"], ["A.2.x"])
    assert pairs(aligned(before, after)) == [(1, 0)]


def test_an_op_keeps_the_partner_of_its_record_where_another_of_its_shape_comes_first():
    before, after = tokens(["A.1.a"], ["A.1.b", "A.1.a"])
    assert pairs(aligned(before, after)) == [(0, 1)]
    assert pairs(aligned(after, before)) == [(1, 0)]


def test_a_partner_of_another_shape_joins_the_gap_beside_it_that_has_more_ops_of_its_name():
    before, after = tokens(["X.1.a", "A.1.a", "A.2.a", "A.3.a", "Y.1.a"], ["X.1.a", "A.9.a", "Y.1.a"])
    found = aligned(before, after)
    assert (pairs(found), edits(found)) == ([(0, 0), (4, 2)], [((1, 2, 3), (1,))])
    first = aligned(*tokens(["A.1.a", "A.2.a", "A.3.a", "Y.1.a"], ["A.9.a", "Y.1.a"]))
    assert (pairs(first), edits(first)) == ([(3, 1)], [((0, 1, 2), (0,))])
    after, before = tokens(["X.1.a", "A.1.a", "A.2.a", "A.3.a", "Y.1.a"], ["X.1.a", "A.9.a", "Y.1.a"])
    assert edits(aligned(before, after)) == [((1,), (1, 2, 3))]


def test_a_partner_of_the_same_shape_stays_one_beside_an_op_that_is_gone():
    before, after = tokens(["A.1.a", "A.2.a"], ["A.1.b"])
    found = aligned(before, after)
    assert (pairs(found), edits(found)) == ([(0, 0)], [((1,), ())])


def test_a_partner_of_another_shape_stays_one_beside_an_op_of_another_name():
    before, after = tokens(["A.1.a", "B.1.a"], ["A.2.a"])
    found = aligned(before, after)
    assert (pairs(found), edits(found), found.same_shape.tolist()) == ([(0, 0)], [((1,), ())], [False])


LONGEST = 200_000  # symbols on each side that differ: five seconds


@for_all(
    ("sizes", "shapes_count", "complete"),
    [
        ([LONGEST**2], True, True),
        ([LONGEST**2 + 1, LONGEST**2], False, True),
        ([LONGEST**2 + 1, LONGEST**2 + 1], False, False),
    ],
)
def test_windows_that_are_too_long_are_aligned_by_names_or_not_at_all(monkeypatch, sizes, shapes_count, complete):
    measured = iter(sizes)
    monkeypatch.setattr(alignment, "cells", lambda *_: next(measured))
    found = aligned(*tokens(["A.1.a", "A.2.b", "A.3.c"], ["A.2.b"]))
    assert found.complete == complete
    assert (pairs(found) == [(1, 0)]) == shapes_count
    assert bool(pairs(found) or found.edits) == complete


@for_all("held", [8, lcs.CELLS_HELD])
def test_a_pair_between_two_gaps_joins_one_of_them(monkeypatch, held):
    """Both have an op of its name too many; cut into halves, the middle op is paired, with a gap on either side."""
    monkeypatch.setattr(lcs, "CELLS_HELD", held)
    found = aligned(*tokens(["B.1.a", "A.1.a", "A.1.a", "A.1.a", "B.1.a"], ["A.2.a", "B.1.b"]))
    gone = [row for edit in edits(found) for row in edit[0]]
    assert sorted([*found.before.tolist(), *gone]) == [0, 1, 2, 3, 4]


ops = st.lists(
    st.tuples(st.sampled_from("AB"), st.sampled_from("12"), st.sampled_from("ab")).map(".".join), max_size=9
)


@pytest.mark.slow
@pytest.mark.parametrize("held", [8, lcs.CELLS_HELD])
@given(before=ops, after=ops)
def test_every_op_has_one_partner_of_its_name_or_is_in_one_edit(held, before, after):
    whole = lcs.CELLS_HELD
    lcs.CELLS_HELD = held  # small: cut into halves, which may pair other ops
    try:
        found = aligned(*tokens(before, after))
    finally:
        lcs.CELLS_HELD = whole
    for side, partners, written in ((0, found.before, before), (1, found.after, after)):
        edited = [row for edit in edits(found) for row in edit[side]]
        assert sorted([*partners.tolist(), *edited]) == list(range(len(written)))
    for row, partner in pairs(found):
        assert before[row].split(".")[0] == after[partner].split(".")[0]
    assert (np.diff(found.before) > 0).all()
    assert (np.diff(found.after) > 0).all()
