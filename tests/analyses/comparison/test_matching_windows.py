"""Windows of one pass: shorter iterations are joined where together they are as long as one of the other side."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison import matching_windows
from ttnn_mcp.analyses.comparison.matching_windows import like_windows


def side(passes, ops, kind="iteration", short=()):
    window = SimpleNamespace(kind=kind, of_iterations=passes)
    run = SimpleNamespace(performance_report=SimpleNamespace(iterations=SimpleNamespace(short=short)))
    return SimpleNamespace(scope=SimpleNamespace(window=window, ops=np.zeros(ops)), run=run)


@pytest.fixture
def matched(monkeypatch):
    """How many iterations of each side were joined."""

    def joined(before, after):
        monkeypatch.setattr(matching_windows, "measured", lambda each: each)
        monkeypatch.setattr(matching_windows, "_joined", lambda each, times: times)
        return tuple(each if isinstance(each, int) else None for each in like_windows(before, after))

    return joined


@for_all(
    ("before", "after", "joined"),
    [
        (side(12, 10), side(3, 41), (4, None)),
        (side(3, 41), side(12, 10), (None, 4)),
        (side(6, 10), side(3, 21), (2, None)),
        (side(3, 10), side(3, 10), (None, None)),
        (side(12, 10), side(3, 79), (4, None)),
        (side(12, 10, short=((11, 1),)), side(3, 41), (None, None)),  # together they would lack a time
        (side(12, 10), side(3, 41, short=((1, 1),)), (4, None)),
        (side(12, 10), side(3, 80), (None, None)),  # twice as many ops are another model
        (side(12, 10), side(3, 21), (4, None)),
        (side(12, 10), side(3, 20), (None, None)),
        (side(13, 10), side(3, 41), (None, None)),
        (side(12, 10), side(None, 40, "whole_report"), (None, None)),
        (side(12, 40, "whole_report"), side(3, 160), (None, None)),
    ],
)
def test_iterations_are_joined_to_about_the_number_of_ops_of_one_on_the_other_side(matched, before, after, joined):
    assert matched(before, after) == joined
