"""Edits as lists: what is gone, what is new, what became something else."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.alignment import Rewrite
from ttnn_mcp.analyses.comparison.edits import edits_of, listed_ops
from ttnn_mcp.analyses.comparison.grouping import Delta


def made(before, after, edits, *, little=False):
    """Ops by name, each of which takes 10 ns more than the one before it."""
    names = before.split(), after.split()
    keys = [*dict.fromkeys((*names[0], *names[1]))]
    return SimpleNamespace(
        names=names.__getitem__,
        little_in_common=little,
        times=[10 * (np.arange(len(side)) + 1) for side in names],
        alignment=SimpleNamespace(edits=[Rewrite(*edit) for edit in edits]),
        groups=lambda _: [
            Delta(key, 10 * names[0].count(key), 20 * names[1].count(key), *(side.count(key) for side in names))
            for key in keys
        ],
    )


def lists(found):
    edits = edits_of(found)
    return (
        [(each.op, each.how, each.first, each.count, each.ns) for each in edits.added],
        [(each.op, each.how, each.first, each.count, each.ns) for each in edits.removed],
        [
            (each.before, each.after, each.first, each.count, each.before_ns, each.after_ns)
            for each in edits.rewritten
        ],
    )


def test_equal_edits_are_one_and_those_with_the_most_time_come_first():
    found = made("A X B X C Y", "A B C", [((1,), ()), ((3,), ()), ((5,), ())])
    assert lists(found) == ([], [("X", "removed", 1, 2, 60), ("Y", "removed", 5, 1, 60)], [])
    found = made("A B", "A X B Y", [((), (1,)), ((), (3,))])
    assert lists(found) == ([("Y", "inserted", 3, 1, 40), ("X", "inserted", 1, 1, 20)], [], [])


def test_a_name_on_both_sides_of_an_edit_is_neither_gone_nor_new():
    found = made("A A B", "A C", [((0, 1, 2), (0, 1))])
    assert lists(found) == (
        [("C", "replaces 2 A + B", 1, 1, 20)],
        [("B", "replaced by A + C", 2, 1, 30), ("A", "replaced by A + C", 1, 1, 20)],
        [("2 A + B", "A + C", 0, 1, 60, 30)],
    )


def test_very_different_windows_have_only_names_of_one_side():
    found = made("A A B", "B C", [((0, 1), (1,))], little=True)
    assert lists(found) == ([("C", "new", 1, 1, 20)], [("A", "gone", 0, 2, 20)], [])


@for_all(
    ("names", "words"),
    [("A B C D", "A + B + C + D"), ("A B C D E", "A + B + C + D + 1 more"), ("A B A", "2 A + B")],
)
def test_four_names_are_told(names, words):
    assert listed_ops(names.split()) == words
