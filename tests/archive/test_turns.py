"""Turns of a series: found where they were made, and not in noise."""

import numpy as np
import pytest

from tests.archive.series import drawn_out, false_alarms, heavy_tailed, level, power, stepped, with_odd_runs
from tests.for_all import for_all
from ttnn_mcp.archive import turns
from ttnn_mcp.archive.turns import course_of

SEEDS = 300  # `python -m tests.archive.series` takes thousands
ONE_ALARM_TOO_MANY = 0.03  # of 300 series at 1 %, more than nine turn in one of a thousand tries


def flat(count, value=100.0):
    return [value * (1 + 0.001 * (at % 2)) for at in range(count)]


def test_what_is_as_likely_as_the_line_by_chance_is_no_turn_and_no_newest_change(monkeypatch):
    assert course_of(flat(8) + flat(8, 110.0)).turns
    assert course_of([*flat(8), 120.0]).newest_change
    monkeypatch.setattr(turns, "ALPHA", 0.0)
    monkeypatch.setattr(turns, "_tail", lambda *_: 0.0)
    assert not course_of(flat(8) + flat(8, 110.0)).turns
    assert course_of([*flat(8), 120.0]).newest_change is None


@for_all("count", [6, 9, 20])
def test_noise_alone_hardly_ever_turns(count):
    assert false_alarms(level(count), SEEDS) <= ONE_ALARM_TOO_MANY


@for_all(("made", "most"), [(heavy_tailed(20), 0.03), (with_odd_runs(20), 0.1), (drawn_out(20, 0.3), 0.05)])
def test_noise_that_is_not_normal_seldom_turns(made, most):
    assert false_alarms(made, SEEDS // 2) <= most


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("made", "wanted", "least"),
    [
        (stepped(6, (3, 0.08)), [3], 0.95),
        (stepped(8, (4, 0.05)), [4], 0.85),
        (stepped(20, (17, 0.05)), [17], 0.9),
        (stepped(20, (10, -0.05)), [10], 0.95),
        (stepped(25, (10, 0.08), (15, 1 / 1.08 - 1)), [10, 15], 0.95),
        (stepped(30, (10, 0.08), (20, -0.15)), [10, 20], 0.95),
        (stepped(50, (10, 0.06), (20, 1 / 1.06 - 1), (30, 0.06), (40, 1 / 1.06 - 1)), [10, 20, 30, 40], 0.95),
    ],
)
def test_what_turned_is_found_where_it_did(made, wanted, least):
    assert power(made, wanted, SEEDS // 3) >= least


def test_a_turn_tells_both_levels():
    (turn,) = course_of([*flat(5), *flat(5, 110.0)]).turns
    assert (turn.at, turn.before, turn.after) == (5, pytest.approx(100), pytest.approx(110))
    assert turn.change == pytest.approx(0.1)


def test_a_single_odd_run_is_no_turn_but_the_newest_is_told():
    assert course_of([*flat(6), 130.0, *flat(6)]).turns == ()
    assert course_of([*flat(6), 130.0, *flat(6)]).newest_change is None
    course = course_of([*flat(6), 130.0])
    assert course.turns == ()
    assert course.newest_change == pytest.approx(0.3, abs=0.001)


@for_all("slow", [1, 2])
def test_the_newest_runs_that_are_too_few_for_a_turn_are_told_and_are_no_noise(slow):
    """Nights after a change: the second slow one must not hide the first."""
    course = course_of([*flat(6), *flat(slow, 130.0)])
    assert (course.turns, course.newest_runs) == ((), slow)
    assert course.newest_change == pytest.approx(0.3, abs=0.002)
    assert course.noise_share == course_of(flat(6)).noise_share
    assert course_of([*flat(6), *flat(slow, 70.0)]).newest_change == pytest.approx(-0.3, abs=0.002)


@for_all(
    ("newest", "told"), [([130.0, 70.0], 1), ([130.0, 100.0], 0), ([100.0, 130.0], 1), ([130.0, 130.0, 130.0], 0)]
)
def test_of_the_newest_runs_only_those_count_that_all_lie_on_one_side(newest, told):
    assert course_of([*flat(8), *newest]).newest_runs == told


@for_all(("after", "turns"), [(2, 0), (3, 1)])
def test_a_turn_takes_three_runs_on_both_sides(after, turns):
    assert len(course_of([*flat(6), *flat(after, 130.0)]).turns) == turns
    assert len(course_of([*flat(after, 130.0), *flat(6)]).turns) == turns


@for_all(("share", "turns"), [(0.0046, 0), (0.0056, 1)])
def test_a_change_below_the_least_noise_is_no_turn_however_even_the_runs(share, turns):
    assert len(course_of([100.0] * 30 + [100 * (1 + share)] * 30).turns) == turns


def test_a_change_within_what_two_runs_differ_by_is_no_turn_however_many_runs():
    random = np.random.default_rng(5)
    noisy = 100 * np.exp(random.normal(0, 0.05, 200))
    noisy[100:] *= 1.06
    assert course_of(noisy).turns == ()


@for_all("count", [0, 1, 2, 3, 5])
def test_too_few_runs_cannot_turn(count):
    course = course_of(flat(count))
    assert course.turns == ()
    assert (course.noise_share is None) == (count < 3)


def test_the_noise_is_that_between_two_runs_of_one_stretch():
    random = np.random.default_rng(1)
    stepped_up = np.concatenate([np.full(300, 100.0), np.full(300, 150.0)])[:200] * np.exp(
        random.normal(0, 0.01, 200)
    )
    assert course_of(stepped_up).noise_share == pytest.approx(np.expm1(1.96 * 2**0.5 * 0.01), rel=0.15)


@for_all(("count", "turns"), [(196, [30]), (200, [])])
def test_of_a_long_series_the_two_hundred_newest_runs_are_looked_at(count, turns):
    """At 200 the step lies just before them."""
    course = course_of([*flat(30, 50.0), *flat(count)])
    assert [turn.at for turn in course.turns] == turns


@for_all(("chance", "told"), [(0.009, True), (0.012, False)])
def test_the_newest_run_is_told_where_one_in_a_hundred_lies_so_far_away(chance, told):
    """Of two degrees of freedom, a t lies further from zero than t in 1 - t / sqrt(2 + t * t) of all cases."""
    score = np.sqrt(2 * (1 - chance) ** 2 / (1 - (1 - chance) ** 2))
    gap = score * 0.02 * np.sqrt(4 / 3)
    change = course_of(100 * np.exp([-0.02, 0.0, 0.02, gap])).newest_change
    assert change == (pytest.approx(np.expm1(gap)) if told else None)


@for_all(("sigmas", "told"), [(2.7, False), (2.9, True)])
def test_the_newest_of_very_many_runs_lies_further_away_than_two_runs_differ_by(sigmas, told):
    """A t test of a hundred runs would tell 2.7 sigmas."""
    earlier = 0.01 * np.where(np.arange(100) % 2, 1, -1)
    assert (course_of(100 * np.exp([*earlier, 0.01 * sigmas])).newest_change is not None) == told


@for_all("place", [1, 2, 10, 11])
def test_two_odd_runs_are_no_turn_wherever_they_stand(place):
    series = flat(13)
    series[place - 1 : place + 1] = [130.0, 130.1]
    assert course_of(series).turns == ()


def test_an_even_series_has_the_least_noise_and_no_newest_change():
    course = course_of([100.0] * 10)
    assert course.noise_share == pytest.approx(0.005, rel=0.01)
    assert course.newest_change is None


def test_two_runs_before_a_turn_are_too_few_though_the_last_are_like_them():
    assert [turn.at for turn in course_of([130.0, 130.1, *flat(8), 130.0, 130.1, 130.0]).turns] == []


@for_all(("gap", "turns"), [(0.033, 0), (0.045, 1)])
def test_few_runs_turn_where_a_t_test_says_so_and_not_where_two_runs_alone_would_differ_less(gap, turns):
    """Of four degrees of freedom, one in a hundred lies beyond 4.6: 0.0376 here. Two runs differ by up to 0.0277."""
    before = np.array([-0.01, 0.0, 0.01])
    assert len(course_of(100 * np.exp([*before, *(before + gap)])).turns) == turns
