"""Which runs are of one model: by their ops, and never by a file's name."""

import numpy as np
import pytest

from tests.for_all import for_all
from ttnn_mcp.archive.past_runs import WorkCounts, alike, kin_of

NO_NAMES = WorkCounts(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def counts(*runs):
    """One dict (work: how often) per run."""
    rows = [(place, work, often) for place, run in enumerate(runs) for work, often in run.items()]
    run, work, often = zip(*rows, strict=True)
    return WorkCounts(np.array(run), np.array(work), np.array(often, dtype=np.float64))


def test_alike_is_the_share_of_ops_of_both():
    both = counts({1: 8, 2: 2}, {1: 8, 3: 2}, {4: 1})
    assert alike(0, both, 3).tolist() == [1, pytest.approx(8 / 12), 0]


def test_a_run_twice_as_long_is_half_alike():
    assert alike(0, counts({1: 2, 2: 2}, {1: 4, 2: 4}), 2)[1] == 0.5


@for_all(("changed", "same", "unsure"), [(3, (0, 1), ()), (4, (0,), (1,)), (10, (0,), (1,)), (11, (0,), ())])
def test_two_thresholds_part_same_unsure_and_different(changed, same, unsure):
    """Of 20 ops each, `changed` are others: alike is (20 - changed) / (20 + changed)."""
    kin = kin_of(0, counts({1: 20}, {1: 20 - changed, 2: changed}), NO_NAMES, [None, None])
    assert (kin.same, kin.unsure) == (same, unsure)
    assert kin_of(0, counts({1: 10}, {1: 7}), NO_NAMES, [None, None]) == ((0, 1), (), ())
    assert kin_of(0, counts({1: 10}, {1: 3}), NO_NAMES, [None, None]) == ((0,), (), (1,))


def test_a_model_that_was_tuned_step_by_step_is_followed():
    steps = counts({1: 20}, {1: 17, 2: 3}, {1: 14, 2: 3, 3: 3}, {9: 20})
    kin = kin_of(0, steps, NO_NAMES, [None] * 4)
    assert (kin.same, kin.through, kin.unsure) == ((0, 1, 2), (2,), ())


def test_the_same_ops_with_other_shapes_are_unsure():
    kin = kin_of(0, counts({1: 20}, {2: 20}), counts({7: 20}, {7: 20}), [None, None])
    assert (kin.same, kin.unsure) == ((0,), (1,))


def test_a_label_decides_where_ops_cannot_but_not_against_them():
    half = counts({1: 20}, {1: 12, 2: 8}, {3: 20})
    assert kin_of(0, half, NO_NAMES, ["net", "net", "net"]).same == (0, 1)
    assert kin_of(0, half, NO_NAMES, ["net", "other", None]) == ((0,), (), (1,))
    assert kin_of(0, half, NO_NAMES, [None, None, None]).same == (0,)


@for_all(("common", "unsure"), [(94, ()), (95, (1,)), (100, (1,))])
def test_nine_of_ten_names_in_common_make_a_run_of_other_shapes_one_that_may_be_of_the_model(common, unsure):
    """Of 100 ops each, `common` have one name: alike is common / (200 - common)."""
    names = counts({7: 100}, {7: common, 8: 100 - common})
    assert kin_of(0, counts({1: 100}, {2: 100}), names, [None, None]).unsure == unsure


def test_what_is_alike_only_to_others_is_told_unless_its_label_says_so():
    steps = counts({1: 20}, {1: 17, 2: 3}, {1: 14, 2: 3, 3: 3})
    assert kin_of(0, steps, NO_NAMES, [None] * 3).through == (2,)
    assert kin_of(0, steps, NO_NAMES, ["net", None, "net"]).through == ()
    assert kin_of(0, steps, NO_NAMES, ["net", None, "other"]).through == (2,)
