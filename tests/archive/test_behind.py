"""The ops behind a turn: which are named, by the runs near it, and what changed in them."""

import pandas as pd

from tests.for_all import for_all
from ttnn_mcp.archive.history import behind
from ttnn_mcp.archive.turns import Course, Turn

SIDES = 5  # runs before and after the turn


def row(run, op_code, kernel_us, *, signature=1, settings=1, ops=1):
    return {
        "run": run,
        "signature": signature,
        "op_code": op_code,
        "settings_hash": settings,
        "ops": ops,
        "kernel_us": float(kernel_us),
        "line": 7,
    }


def named(rows, runs=2 * SIDES, at=SIDES, others=(), devices=1):
    """What stands behind the turn at run `at` of so many."""
    turn = Turn(at, 1.0, 2.0)
    course = Course(tuple(Turn(other, 1.0, 2.0) for other in sorted((at, *others))), 0.01, None)
    return behind(pd.DataFrame(rows), range(runs), turn, course, devices)


def changed(**times):
    """Rows of ops that took (before, after) us."""
    return [
        row(run, op_code, after if run >= SIDES else before)
        for run in range(2 * SIDES)
        for op_code, (before, after) in times.items()
    ]


def test_the_five_runs_on_either_side_count_and_none_further_away():
    """Of the three nearest runs, and of the seven nearest, the median is another."""
    near = [30, 30, 10, 10, 10, 30, 30, 30]
    (op,) = named(
        [row(run, "Matmul", us) for run, us in enumerate([*near[::-1], *(10 * us for us in near)])], 16, 8
    )
    assert (op.before_us, op.after_us) == (10, 100)


def test_runs_beyond_another_turn_do_not_count():
    times = [*[50] * 4, *[10, 10], *[20, 20], *[90] * 4]
    (op,) = named([row(run, "Matmul", us) for run, us in enumerate(times)], 12, 6, (4, 8))
    assert (op.before_us, op.after_us) == (10, 20)


def test_an_op_is_named_by_its_line_at_the_turn_and_its_time_on_one_device():
    rows = [{**row, "line": 7 + row["run"]} for row in changed(Matmul=(10, 30))]
    (op,) = named(rows, devices=2)
    assert (op.before_us, op.after_us, op.line) == (5, 15, 7 + SIDES)


def test_the_four_largest_changes_are_named():
    changes = {name: (100, 100 + more) for name, more in zip("ABCDEF", (10, 60, 30, -50, 40, 20), strict=True)}
    assert [op.op_code for op in named(changed(**changes))] == ["B", "D", "E", "C"]
    alike = {f"Op{number}": (10, 11) for number in range(30)}  # each a thirtieth of the change
    assert len(named(changed(**alike))) == 4


@for_all(("minor", "names"), [(4, ["A"]), (6, ["A", "B"])])
def test_less_than_a_twentieth_of_the_change_is_not_behind_it(minor, names):
    assert [op.op_code for op in named(changed(A=(100, 200 - minor), B=(50, 50 + minor)))] == names


def test_an_op_whose_time_stayed_is_not_named_where_two_others_make_up_for_each_other():
    assert [op.op_code for op in named(changed(A=(50, 60), B=(50, 40), C=(50, 50)))] == ["A", "B"]


def sides(before, after):
    return [
        {**row(run, "Matmul", 10 if run < SIDES else 20), **(before if run < SIDES else after)}
        for run in range(2 * SIDES)
    ]


@for_all(
    ("before", "after", "how"),
    [
        ({"signature": 1}, {"signature": 2}, "other shapes, formats or placements"),
        ({"ops": 4}, {"ops": 5}, "another number of ops"),
        ({"settings_hash": 1}, {"settings_hash": 2}, "other settings"),
        ({}, {}, "same ops and settings"),
    ],
)
def test_what_changed_in_an_op_is_told(before, after, how):
    (op,) = named(sides(before, after))
    assert (op.how, op.line) == (how, 7)


def test_an_op_that_came_is_new_and_one_that_went_is_gone():
    rows = changed(A=(10, 10))
    rows += [row(run, "Came", 20) for run in range(SIDES, 2 * SIDES)] + [
        row(run, "Went", 30) for run in range(SIDES)
    ]
    assert [(op.op_code, op.how, op.before_us, op.after_us, op.line) for op in named(rows)] == [
        ("Went", "gone", 30, 0, None),
        ("Came", "new", 0, 20, 7),
    ]
