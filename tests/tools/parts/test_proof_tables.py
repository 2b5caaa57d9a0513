"""Where a change took hold, and where not."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.engaged import Engaged
from ttnn_mcp.analyses.comparison.places import LayersReached
from ttnn_mcp.tools.parts.proof_tables import engaged, suspicious


def reached(layers=None, missing=()):
    ((*_, told, lines),) = engaged([Engaged("weights", "Matmul", "to BFLOAT8_B", 2, 9, layers, missing)], 3).rows
    return told, lines


@for_all(
    ("missing", "lines"),
    [((), None), ((3,), "3"), ((3, 5, 7, 9), "3, 5, 7, 9"), ((3, 5, 7, 9, 11, 13), "3, 5, 7, 9 and 2 more")],
)
def test_four_lines_that_a_change_missed_are_named_and_the_others_counted(missing, lines):
    assert reached(missing=missing) == (None, lines)


@for_all(
    ("missing", "told"),
    [
        ((), "24 of 30"),
        (tuple(range(1, 9)), "24 of 30; missing in 1, 2, 3, 4, 5, 6, 7, 8"),
        (tuple(range(1, 12)), "24 of 30; missing in 1, 2, 3, 4, 5, 6, 7, 8 and 3 more"),
    ],
)
def test_eight_layers_that_a_change_missed_are_named_and_the_others_counted(missing, told):
    assert reached(LayersReached(24, 30, missing)) == (told, None)


def test_no_change_and_no_doubt_are_no_empty_tables():
    assert engaged([], 3) is None
    assert suspicious([]) is None
    changes = [Engaged("weights", name, "to BFLOAT8_B", 1, 1, None, ()) for name in ("Matmul", "Conv2d", "Add")]
    assert [row[1] for row in engaged(changes, 2).rows] == ["Matmul", "Conv2d"]
