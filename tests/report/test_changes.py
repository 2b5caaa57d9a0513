"""What made the change: as few ops as explain most of it, the largest first."""

import pytest

from ttnn_mcp.report.changes import change_words, makers, totals


def groups(*deltas):
    return {"rows": [[f"k{at}DeviceOperation", 10.0, 10.0 + delta, delta, 1, 1] for at, delta in enumerate(deltas)]}


@pytest.mark.parametrize(("deltas", "made"), [((-90.0, 10.0), [-90.0]), ((-89.0, 11.0), [-89.0, 11.0])])
def test_what_makes_nine_tenths_is_enough(deltas, made):
    assert [row[3] for row in makers(groups(*deltas))] == made


@pytest.mark.parametrize(("count", "made"), [(8, 8), (9, 8)])
def test_at_most_eight_are_told(count, made):
    assert len(makers(groups(*([1.0] * count)))) == made


def test_the_largest_stands_first_whatever_its_direction():
    assert [row[3] for row in makers(groups(1.0, -4.0, 3.0))] == [-4.0, 3.0, 1.0]


def test_what_did_not_change_made_nothing():
    assert makers(groups(0.0, 0.0)) == []
    assert change_words([]) == ""


def test_two_are_named():
    assert change_words(groups(-4.0, 3.0, 2.0)["rows"]) == "most by k0 -4.0 us and k1 +3.0 us"


@pytest.mark.parametrize(("delta", "words"), [(-1.5, ", most by k0 -1.5 us."), (0.0, ".")])
def test_the_totals_are_a_sentence(delta, words):
    comparison = {"kernel_ms": {"before": 2, "after": 1.5}, "change_share": -0.25, "groups": groups(delta)}
    assert totals(comparison) == f"Kernel time 2 -> 1.5 ms (-25%){words}"
