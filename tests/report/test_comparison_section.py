"""What made the change: as few ops as explain most of it, the largest first."""

from tests.for_all import for_all
from ttnn_mcp.report.page import makers


def groups(*deltas):
    return {"rows": [[f"k{at}DeviceOperation", 10.0, 10.0 + delta, delta, 1, 1] for at, delta in enumerate(deltas)]}


@for_all(("deltas", "made"), [((-90.0, 10.0), [-90.0]), ((-89.0, 11.0), [-89.0, 11.0])])
def test_what_makes_nine_tenths_is_enough(deltas, made):
    assert [row[3] for row in makers(groups(*deltas))] == made


@for_all(("count", "made"), [(8, 8), (9, 8)])
def test_at_most_eight_are_told(count, made):
    assert len(makers(groups(*([1.0] * count)))) == made


def test_the_largest_stands_first_whatever_its_direction():
    assert [row[3] for row in makers(groups(1.0, -4.0, 3.0))] == [-4.0, 3.0, 1.0]


def test_what_did_not_change_made_nothing():
    assert makers(groups(0.0, 0.0)) == []
