"""How far two measurements of one program lie apart: from repeats, from iterations, or assumed."""

import random

import pytest

from tests.analyses.comparison.test_comparison import opened, run_of
from tests.for_all import for_all
from tests.lies import KERNEL, Honest, scale, store
from tests.pairs import Model
from tests.profiles import Iteration, write_performance_report
from ttnn_mcp.analyses.comparison.matching_windows import measured
from ttnn_mcp.analyses.comparison.noise import noise_of

SMALL = Model(layers=1)
CERTAIN = 0.95  # of pairs of measurements differ by less than the noise
FLOOR = 0.005


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", range(2, 10))
def test_the_range_of_a_few_repeats_tells_by_how_much_two_of_them_differ(count):
    """Drawn numbers instead of a table of factors: on average, 19 of 20 pairs lie within the share."""
    drawn = random.Random(count)  # noqa: S311
    sigma = 0.05
    shares = [noise_of((), [drawn.gauss(1, sigma) for _ in range(count)]).share for _ in range(2_000)]
    apart = sorted(abs(drawn.gauss(1, sigma) - drawn.gauss(1, sigma)) for _ in range(20_000))
    within = apart[int(CERTAIN * len(apart))]
    wider = 1.043 if count > 8 else 1.0  # more than eight are judged by the factor of eight
    assert sum(shares) / len(shares) == pytest.approx(within * wider, rel=0.05)


def test_repeats_that_agree_by_luck_or_took_no_time_leave_the_floor():
    assert noise_of((), [1e6, 1e6, 1e6]).share == FLOOR
    assert noise_of((), [0.0, 0.0]).share == FLOOR


def test_one_measurement_proves_nothing_and_two_per_cent_are_assumed():
    noise = noise_of((), [1e6])
    assert (noise.source, noise.share, noise.inside) == ("default", 0.02, None)


def inside(folder, *scales):
    """What iterations of one file, the first of them cold, tell apart."""
    passes = [Iteration(cold=number == 0, kernel_scale=each) for number, each in enumerate(scales)]
    return noise_of([measured(run_of(folder, SMALL, passes))], one_file=True)


@for_all(
    ("scales", "apart"),
    [
        ((2.0, 1.0, 1.0), False),  # the first of three or more is left out
        ((2.0, 1.0), True),
        ((1.0, 1.0, 2.0), True),
        ((1.0, 2.0, *[1.0] * 7), True),  # the last eight
        ((1.0, 2.0, *[1.0] * 8), False),
    ],
)
def test_iterations_tell_their_noise_by_the_last_eight_without_the_first(tmp_path, scales, apart):
    noise = inside(tmp_path, *scales)
    assert noise.source == "iterations"
    assert (noise.inside > 0.4) if apart else (noise.inside == FLOOR)


def test_a_run_without_iterations_tells_nothing_of_its_own_noise(tmp_path):
    noise = inside(tmp_path, 1.0)
    assert (noise.source, noise.inside) == ("default", None)


def test_the_floor_between_iterations_is_told_where_they_differ_by_less(tmp_path):
    assert "by 0.16% or more, between iterations 0.5%" in inside(tmp_path / "a", 1.0, 1.0, 1.001, 1.0).why
    assert "between" not in inside(tmp_path / "b", 1.0, 1.0, 1.1, 1.0).why


def test_a_replay_that_lost_rows_is_no_measurement_of_the_others(tmp_path):
    passes = [Iteration(cold=True), Iteration(capture=True), *(Iteration(trace=(1, n)) for n in range(1, 6))]
    path = write_performance_report(tmp_path / "whole", SMALL.program(), passes)
    rows = Honest(path, 1, "", ()).rows
    third = [row for row in rows if row["METAL TRACE REPLAY SESSION ID"] == "3"]
    heaviest = max(third, key=lambda row: float(row[KERNEL]))
    lost = store(tmp_path / "lost.csv", [row for row in rows if row is not heaviest])
    assert noise_of([measured(opened(lost))], one_file=True).inside == FLOOR
    scale(heaviest, 0.5)
    slow = store(tmp_path / "slow.csv", rows)
    assert noise_of([measured(opened(slow))], one_file=True).inside > 0.1


def test_between_signposts_only_what_lies_there_is_compared(tmp_path):
    """The pass before the signposts took twice as long: it is not measured with the others."""
    passes = [
        Iteration(cold=True, kernel_scale=2.0),
        Iteration(kernel_scale=2.0),
        Iteration(signposts=("start", "step")),
        Iteration(signposts=("again", "step")),
        Iteration(signposts=("again", "stop")),
    ]
    run = run_of(tmp_path, SMALL, passes)
    assert noise_of([measured(run, "last", ("start", "stop"))], one_file=True).inside == FLOOR
    assert noise_of([measured(run)], one_file=True).inside > 0.1
