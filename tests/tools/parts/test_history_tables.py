"""What history says of a series, case by case."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.archive.behind import Behind
from ttnn_mcp.archive.history import History, Turned
from ttnn_mcp.archive.past_runs import PastRun
from ttnn_mcp.archive.turns import Course, Turn
from ttnn_mcp.tools.parts.history_tables import left_out, newest, ops_behind, runs, turns, why

START = 1_767_225_600  # 2026-01-01, in seconds since 1970


def past(number, build="0.81.0", **more) -> PastRun:
    told = {"label": None, "name": f"run{number}.csv", "recorded_at": START + 86_400 * number, "build": build}
    rest = {"arch": "wormhole_b0", "clock_mhz": 1000.0, "devices": 1, "commit": None, "kernel_us": 90.0}
    return PastRun(f"key{number}", window_us=100.0, warm=True, **{**told, **rest, **more})


def history(count=8, *, newest_change=None, **more) -> History:
    series = tuple(past(number) for number in range(count))
    told = {
        "subject": series[-1],
        "op_code": None,
        "runs": series,
        "times_us": (90.0,) * count,
        "course": Course((), None, newest_change),
        "turns": (),
        "through": 0,
        "unsure": (),
        "elsewhere": 0,
    }
    return History(**{**told, **more})


def turning(*places):
    return tuple(
        Turned("kernel", Turn(at, 90.0, 99.0), (Behind("Matmul", 50.0, 59.0, "slower", at),)) for at in places
    )


def test_the_runs_are_listed_newest_first_and_those_of_an_op_without_their_window():
    table = runs(history(3))
    assert [row[0] for row in table.rows] == ["run2.csv", "run1.csv", "run0.csv"]
    assert "window_us" in table.columns
    assert "window_us" not in runs(history(3, op_code="Matmul")).columns


def test_the_four_newest_turns_are_told_with_the_ops_behind_them():
    turned = history(20, turns=turning(2, 5, 8, 11, 14))
    assert [row[1] for row in turns(turned).rows] == ["run5.csv", "run8.csv", "run11.csv", "run14.csv"]
    assert [row[0] for row in ops_behind(turned).rows] == ["run5.csv", "run8.csv", "run11.csv", "run14.csv"]
    assert turns(history()) is None
    assert ops_behind(history()) is None


@for_all(
    ("before", "after", "told"),
    [
        ("0.80.0", "0.81.0", "0.80.0 -> 0.81.0"),
        ("0.81.0", "0.81.0", "0.81.0"),
        (None, "0.81.0", "unknown -> 0.81.0"),
        ("0.81.0", None, "0.81.0 -> unknown"),
        (None, None, None),
    ],
)
def test_a_turn_says_which_build_came_with_it(before, after, told):
    (row,) = turns(history(runs=(past(0, before), past(1, after)), turns=turning(1))).rows
    assert row[-1] == told


ALIKE, CHIP = "70% or more of their ops alike", "on wormhole_b0 at 1000 MHz"


@for_all(
    ("series", "said"),
    [
        (history(6), f"6 runs, {ALIKE}, {CHIP}"),
        (history(1), f"1 run, {ALIKE}, {CHIP}; a turn takes 3 on either side"),
        (history(5, op_code="Matmul"), f"5 runs, with this Matmul, {CHIP}; a turn takes 3 on either side"),
        (history(200, through=2), f"200 runs, {ALIKE}, {CHIP}; 2 of them alike only to others of them"),
        (history(201), f"201 runs, {ALIKE}, {CHIP}; the newest 200 were searched for turns"),
    ],
    ids=["enough", "one", "an op", "as many as are searched", "more"],
)
def test_what_a_series_is_and_what_it_takes_to_turn_is_told(series, said):
    assert why(series) == said


@for_all(("change", "word"), [(0.123, "12.3% slower"), (-0.123, "12.3% faster")])
def test_a_newest_run_beyond_noise_is_told_as_such(change, word):
    said = newest(history(4, newest_change=change))
    assert said == f"run3.csv is {word} than those before it: beyond noise, but a turn takes 3 such runs"
    assert newest(history(4)) is None


def test_runs_that_do_not_count_are_told_with_the_reason():
    assert left_out(history()) == ()
    unsure, elsewhere = left_out(history(unsure=tuple(past(number) for number in range(5)), elsewhere=2))
    assert unsure.startswith(
        "cannot tell whether 5 more are of the same model, by their ops they may be: run2.csv, run3.csv, run4.csv;"
    )
    assert elsewhere.startswith("2 with the same work at another clock")
