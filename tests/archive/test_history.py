"""Histories of made nights: what turned, when, and what is behind it; never noise, another clock or another model."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.archive.runs import OP, Night, archive_of, even, model, nights, remembering, report_of
from tests.for_all import for_all
from ttnn_mcp.archive.history import _of_windows, history_of
from ttnn_mcp.archive.rows import rows_of
from ttnn_mcp.archive.turns import Course, Turn
from ttnn_mcp.errors import QuestionRefused, RunUnknown

NEWEST = "night_{}.csv"


@pytest.fixture
async def told(tmp_path):
    """`told(*nights, op=None)`: the history of the last of these nights, all made from one run."""
    at = remembering(tmp_path)
    of = rows_of(await at.run(str(report_of(tmp_path / "one", model()))))
    archive = archive_of(at)

    def history(*each, op=None):
        made = nights(of, each)
        archive.add(made)
        return history_of(archive, NEWEST.format(len(made) - 1), op)

    history.of, history.at, history.archive = of, at, archive
    return history


async def test_noise_alone_turns_nowhere(told):
    noise = np.random.default_rng(11).normal(1, 0.004, 16)
    history = told(*(Night(float(scale)) for scale in noise))
    assert (len(history.runs), history.turns) == (16, ())
    assert history.course.noise_share == pytest.approx(0.011, rel=0.5)


async def test_a_turn_names_its_run_and_the_op_behind_it(told):
    history = told(*even(6, build="0.80"), *even(6, 1.1, op_code="Matmul", build="0.81"))
    (turned,) = history.turns
    run = history.runs[turned.turn.at]
    assert (turned.of, run.name, run.version) == ("kernel", "night_6.csv", "0.81")
    assert history.runs[turned.turn.at - 1].version == "0.80"
    (op,) = turned.ops  # the others moved by noise
    assert (op.op_code, op.how, op.line) == ("Matmul", "same ops and settings", 15)
    assert op.after_us / op.before_us == pytest.approx(1.1, rel=0.01)


async def test_other_settings_are_told_apart_from_the_same(told):
    history = told(*even(5), *even(5, 0.8, op_code="Matmul", settings_hash=7))
    assert history.turns[0].ops[0].how == "other settings"


async def test_an_op_that_is_gone_is_named(told):
    (turned,) = told(*even(5), *even(5, drop="Unary")).turns
    assert [(op.op_code, op.how, op.after_us, op.line) for op in turned.ops[:1]] == [("Unary", "gone", 0, None)]


async def test_a_slow_week_turns_twice(told):
    history = told(*even(6), *even(4, 1.2), *even(6))
    assert [history.runs[turned.turn.at].name for turned in history.turns] == ["night_6.csv", "night_10.csv"]


async def test_gaps_turn_on_their_own(told):
    history = told(*even(6), *even(6, gap_us=90.0))
    (turned,) = history.turns
    assert (turned.of, turned.turn.at, turned.ops) == ("window", 6, ())


async def test_gaps_that_turn_with_the_kernels_or_a_night_later_are_told_once(told):
    assert [turned.of for turned in told(*even(6), *even(6, 1.3, gap_us=90.0)).turns] == ["kernel"]
    windows = tuple(SimpleNamespace(window_us=us, warm=True) for us in [100.0] * 6 + [150.0] * 6)
    courses = {at: Course((Turn(at, 1.0, 2.0),), 0.01, None) for at in range(4, 9)}
    assert [at for at, course in courses.items() if _of_windows(windows, course)] == [4, 8]


async def test_one_op_has_a_history_of_its_own(told):
    history = told(*even(5), *even(5, 1.3, op_code="Unary"), op=19)
    assert (history.op_code, len(history.runs)) == ("Unary", 10)
    assert history.times_us[0] == pytest.approx(20, rel=0.01)
    assert [turned.turn.at for turned in history.turns] == [5]
    assert told(*even(5), op=OP).op_code == "Matmul"


@for_all("devices", [1, 4])
async def test_what_is_behind_the_turn_of_one_op_is_told_of_one_op_as_the_turn_is(told, devices):
    """Four matmuls run in a pass, and on every device."""
    told.of.run["devices"] = devices
    (turned,) = told(*even(5), *even(5, 1.3, op_code="Matmul"), op=OP).turns
    (op,) = turned.ops
    assert turned.turn.before == pytest.approx(93, rel=0.01)
    assert (op.before_us, op.after_us) == pytest.approx((turned.turn.before, turned.turn.after), rel=0.001)


async def test_runs_at_another_clock_are_counted_and_left_out(told):
    history = told(*even(6), *even(3, 1.25, clock_mhz=800.0), *even(2))
    assert (len(history.runs), history.elsewhere, history.turns) == (8, 3, ())


@for_all("op", [None, OP])
async def test_runs_whose_times_are_in_doubt_are_named_and_count_for_nothing(told, op):
    wrong = [Night(0.1, doubts="clocks_differ"), Night(0.001, doubts="kernels_too_short")]
    history = told(*even(3), *wrong, *even(3), op=op)
    assert [run.name for run in history.doubtful] == ["night_3.csv", "night_4.csv"]
    assert [run.name for run in history.runs] == [f"night_{day}.csv" for day in (0, 1, 2, 5, 6, 7)]
    assert (history.course.noise_share < 0.01, history.turns) == (True, ())


async def test_a_model_of_other_ops_is_left_out(told, tmp_path):
    other = rows_of(await told.at.run(str(report_of(tmp_path / "other", model(m=2048, matmuls=40)))))
    told.archive.add(nights(other, even(5), first=100))
    history = told(*even(6))
    assert (len(history.runs), history.unsure) == (6, ())


async def test_a_run_that_may_be_of_the_model_is_named(told, tmp_path):
    """Four of six ops have other shapes, none has another name."""
    other = rows_of(await told.at.run(str(report_of(tmp_path / "other", model(m=2048)))))
    told.archive.add(nights(other, [Night()], first=100))
    history = told(*even(6))
    assert [run.name for run in history.unsure] == ["night_100.csv"]


async def test_the_run_that_asks_need_not_be_in_the_archive(told, tmp_path):
    told(*even(6))
    run = await told.at.run(str(report_of(tmp_path / "new", model(140.0), day=200)))
    history = history_of(told.archive, run, None)
    assert [each.name for each in history.runs][-1] == "ops_perf_results_2026_08_05_00_00_00.csv"
    assert len(history.runs) == 7
    assert history.course.newest_change > 0.3
    of_op = history_of(told.archive, run, OP)
    assert (len(of_op.runs), of_op.op_code) == (7, "Matmul")
    assert of_op.times_us == pytest.approx([93] * 6 + [140], rel=0.01)  # each of four
    assert run.id not in told.archive.known()


async def test_what_nobody_knows_is_refused(told):
    told(*even(2))
    with pytest.raises(RunUnknown, match="nor in the archive"):
        history_of(told.archive, "nobody", None)
    with pytest.raises(QuestionRefused, match=r"No timed device op at line 999 of night_0\.csv"):
        history_of(told.archive, NEWEST.format(0), 999)


@pytest.mark.parametrize("scale", [1.0, 1.3])
async def test_a_run_in_which_the_ops_counter_stood_still_is_left_out(told, scale):
    nights_seen = [*even(4), Night(0.0, op_code="Unary"), *even(4, scale, op_code="Unary")]
    history = told(*nights_seen, op=19)
    assert [run.name for run in history.runs] == [f"night_{day}.csv" for day in (0, 1, 2, 3, 5, 6, 7, 8)]
    assert [history.runs[turned.turn.at].name for turned in history.turns] == ["night_5.csv"] * (scale > 1)
    assert 0 < history.course.noise_share < 0.01


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ({"arch": None}, "does not tell its architecture or clock"),
        ({"clock_mhz": None}, "does not tell its architecture or clock"),
        ({}, "no op with a time in its window"),
    ],
)
async def test_a_run_that_cannot_be_compared_is_refused(told, lacks, said):
    *before, night = nights(told.of, [*even(2), Night(0.0 if not lacks else 1.0)])
    told.archive.add([*before, night._replace(run={**night.run, **lacks})])
    with pytest.raises(QuestionRefused, match=said):
        history_of(told.archive, NEWEST.format(2), None)


@pytest.mark.parametrize("lacks", [{"warm": False}, {"window_us": None}, {"window_us": 0.0}])
async def test_gaps_of_the_host_are_followed_only_through_warm_windows(told, lacks):
    made = nights(told.of, [*even(6), *even(6, gap_us=90.0)])
    made[3] = made[3]._replace(run={**made[3].run, **lacks})
    told.archive.add(made)
    assert history_of(told.archive, NEWEST.format(11), None).turns == ()
