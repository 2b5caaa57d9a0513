"""Element-wise ops that a neighbour took in, and those that are simply gone."""

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.analyses.comparison.alignment import Alignment, Rewrite, absorbed

RELU = {"user_fused_activation": "relu"}


def table(folder, *ops):
    """(name, attributes, inputs) per op."""
    program = Program()
    x = program.tensor([1, 1, 64, 64])
    for name, *more in ops:
        attributes, inputs = (*more, *({}, 1)[len(more) :])
        program.op(f"{name}DeviceOperation", [x] * inputs, attributes=attributes)
    return ops_of(folder, program)


@pytest.fixture
def joined(tmp_path):
    """The edits after ops of one side, at the places given, had no partner."""

    def edits(before, after, gone):
        removed = len(before) > len(after)
        longer = range(max(len(before), len(after)))
        partners = np.array([row for row in longer if row not in gone], dtype=np.int64)
        counted = np.arange(len(partners))
        sides = (partners, counted) if removed else (counted, partners)
        runs = np.split(np.array(gone), np.flatnonzero(np.diff(gone) > 1) + 1)
        made = tuple(
            Rewrite(tuple(run.tolist()), ()) if removed else Rewrite((), tuple(run.tolist())) for run in runs
        )
        plain = Alignment(*sides, np.ones(len(partners), dtype=np.bool_), made)
        found = absorbed(plain, table(tmp_path, *before), table(tmp_path, *after))
        return [(edit.kind, edit.before, edit.after) for edit in found.edits]

    return edits


MATMUL, FUSED, WIDER = ("Matmul",), ("Matmul", RELU), ("Matmul", {}, 2)
UNARY, NORM = ("Unary",), ("Softmax",)


@for_all(
    ("before", "after", "gone", "edits"),
    [
        ([MATMUL, UNARY], [FUSED], [1], [("fused", (0, 1), (0,))]),
        ([UNARY, MATMUL], [FUSED], [0], [("fused", (0, 1), (0,))]),
        ([MATMUL, UNARY], [WIDER], [1], [("fused", (0, 1), (0,))]),
        ([MATMUL, UNARY], [MATMUL], [1], [("removed", (1,), ())]),
        ([MATMUL, NORM], [FUSED], [1], [("removed", (1,), ())]),  # no activation
        ([WIDER, UNARY], [MATMUL], [1], [("removed", (1,), ())]),
        ([FUSED], [MATMUL, UNARY], [1], [("split", (0,), (0, 1))]),
        ([MATMUL], [FUSED, UNARY], [1], [("added", (), (1,))]),
        ([("Matmul", {"user_fused_activation": "[]"}), UNARY], [MATMUL], [1], [("removed", (1,), ())]),
        ([MATMUL, UNARY], [("Matmul", {"user_fused_activation": "SmallVector([])"})], [1], [("removed", (1,), ())]),
        ([MATMUL, UNARY], [("Matmul", {"dim": "1"})], [1], [("removed", (1,), ())]),
        ([MATMUL, UNARY], [("Matmul", {"user_fused_activation": None})], [1], [("removed", (1,), ())]),
        ([MATMUL, *[UNARY] * 3], [FUSED], [1, 2, 3], [("fused", (0, 1, 2, 3), (0,))]),
        ([MATMUL, *[UNARY] * 4], [FUSED], [1, 2, 3, 4], [("removed", (1, 2, 3, 4), ())]),
        # a neighbour takes in what is gone on one side of it only
        ([UNARY, MATMUL, UNARY], [FUSED], [0, 2], [("fused", (0, 1), (0,)), ("removed", (2,), ())]),
        ([MATMUL, UNARY, MATMUL], [MATMUL, FUSED], [1], [("fused", (1, 2), (1,))]),
    ],
)
def test_what_a_neighbour_shows_afterwards_was_fused_into_it(joined, before, after, gone, edits):
    assert joined(before, after, gone) == edits


def test_ops_that_became_others_are_left_as_they_are(tmp_path):
    before, after = table(tmp_path, FUSED, NORM), table(tmp_path, MATMUL, UNARY)
    rows = np.array([0])
    replaced = Rewrite((1,), (1,))
    plain = Alignment(rows, rows, rows == 0, (replaced,))
    assert absorbed(plain, before, after).edits == (replaced,)
