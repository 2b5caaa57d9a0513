"""history: a model's or an op's time over the runs that were seen."""

from __future__ import annotations

import pytest

from tests.archive.runs import OP, Night, archive_of, even, model, nights, remembering, report_of
from tests.asking import ask, session
from tests.for_all import for_all
from tests.shared_reports import CLIP, shared
from ttnn_mcp.archive.history import Behind, History, Turned
from ttnn_mcp.archive.past_runs import PastRun
from ttnn_mcp.archive.rows import Provenance, rows_of
from ttnn_mcp.archive.turns import Course, Turn
from ttnn_mcp.errors import QuestionRefused, RunUnknown
from ttnn_mcp.tools.history import left_out, ops_behind, runs, turns, verdict, why
from ttnn_mcp.tools.history import newest as newest_of
from ttnn_mcp.wire import bytes_of

START = 1_767_225_600  # 2026-01-01, in seconds since 1970


async def test_the_demo_run_is_answered(tmp_path):
    answer = await ask(remembering(tmp_path), "history", run="demo")
    assert answer["verdict"] == "too_few_runs"
    assert (
        answer["why"]
        == "1 run, 70% or more of their ops alike, on wormhole_b0 at 1000 MHz; a turn takes 3 on either side"
    )
    assert len(answer["runs"]["rows"]) == 1
    assert "turns" not in answer


@pytest.fixture
async def newest(tmp_path):
    """A session whose archive holds nights that turned, and the report they were made from, which is the newest."""
    at = remembering(tmp_path)
    report = report_of(tmp_path / "new", model(), day=200)
    rows = rows_of(await at.run(str(report)))
    before = even(6, 0.8, op_code="Matmul", build="0.80", label="net")
    archive_of(at).add(nights(rows, [*before, *even(4, build="0.81", label="net"), Night(clock_mhz=500.0)]))
    return at, str(report)


def rows(table):
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def test_a_turn_is_told_with_its_run_builds_and_ops(newest):
    at, report = newest
    answer = await ask(at, "history", run=report)
    assert answer["verdict"] == "turned"
    (turn,) = rows(answer["turns"])
    assert (turn["of"], turn["run"], turn["build"]) == ("kernel", "net", "0.80 -> 0.81")
    assert turn["change_share"] == pytest.approx(0.23, abs=0.02)
    (op,) = rows(answer["behind"])
    assert (op["op_code"], op["how"], op["op"]) == ("Matmul", "same ops and settings", 15)
    assert answer["runs"]["rows"][0][0] == "ops_perf_results_2026_08_05_00_00_00.csv"
    assert len(answer["runs"]["rows"]) == 11
    assert answer["left_out"] == [
        "1 with the same work at another clock or on another number of devices: never compared"
    ]


async def test_an_op_is_followed_by_its_line(newest):
    at, report = newest
    answer = await ask(at, "history", run=report, op=OP)
    assert (answer["op_code"], answer["verdict"]) == ("Matmul", "turned")
    assert answer["runs"]["columns"] == ["run", "recorded", "time_us", "build"]
    assert "with this Matmul" in answer["why"]
    assert (await ask(at, "history", run=report, op=19))["verdict"] == "steady"


async def test_a_newest_run_that_stands_out_is_told_before_it_is_a_turn(tmp_path, newest):
    at, _ = newest
    slow = str(report_of(tmp_path / "slow", model(130), day=250))
    answer = await ask(at, "history", run=slow)
    assert "slower than those before it: beyond noise, but a turn takes 3 such runs" in answer["newest"]


async def test_a_model_is_found_by_what_it_was_called_after_its_reports_are_gone(newest):
    at, _ = newest
    answer = await ask(at, "history", run="net")
    assert (answer["run"], answer["verdict"], len(answer["runs"]["rows"])) == ("net", "turned", 10)


async def test_a_name_that_nobody_knows_is_answered_with_those_there_are(newest):
    at, _ = newest
    with pytest.raises(RunUnknown, match="Call list_runs"):
        await ask(at, "history", run="nobody")


@for_all(("before", "verdict"), [(4, "too_few_runs"), (5, "steady")])
async def test_three_runs_on_either_side_are_enough(tmp_path, before, verdict):
    at = remembering(tmp_path)
    report = str(report_of(tmp_path / "new", model(), day=200))
    archive_of(at).add(nights(rows_of(await at.run(report)), even(before)))
    assert (await ask(at, "history", run=report))["verdict"] == verdict


async def test_many_runs_fill_a_thousand_tokens(tmp_path):
    at = remembering(tmp_path)
    report = str(report_of(tmp_path / "new", model(), day=200))
    archive_of(at).add(nights(rows_of(await at.run(report)), even(100)))
    answer = await ask(at, "history", run=report)
    assert 3_900 < bytes_of(answer) <= 4_000
    assert len(answer["runs"]["rows"]) + answer["more_runs"] == 101


async def test_without_an_archive_or_a_report_the_next_step_is_named(tmp_path):
    with pytest.raises(QuestionRefused, match="Install the extra `archive`"):
        await ask(session(tmp_path), "history", run="demo")
    with pytest.raises(RunUnknown, match="No run given"):
        await ask(remembering(tmp_path / "empty"), "history")


async def test_a_run_without_device_times_is_refused(tmp_path):
    from tests.profiles import write_memory_report
    from tests.profiles.demo_model import demo_program

    memory = write_memory_report(tmp_path / "memory", demo_program())
    with pytest.raises(QuestionRefused, match="no performance report"):
        await ask(remembering(tmp_path), "history", run=str(memory))


async def test_real_nights_of_one_model_are_one_history(tmp_path):
    """A real report and its copies with jittered times: eight nights, then eight on which its matmuls are slower."""
    at, report = remembering(tmp_path), str(shared(CLIP))
    real = rows_of(await at.run(report), Provenance(build="0.6x"))
    archive_of(at).add(nights(real, [*even(8), *even(8, 1.15, op_code="MinimalMatmul")]))
    answer = await ask(at, "history", run="night_15.csv")
    assert [turn["run"] for turn in rows(answer["turns"])] == ["night_8.csv"]
    assert rows(answer["behind"])[0]["op_code"] == "MinimalMatmul"


def past(number, build="0.81.0", **more) -> PastRun:
    told = {"label": None, "name": f"run{number}.csv", "recorded_at": START + 86_400 * number, "build": build}
    rest = {"arch": "wormhole_b0", "clock_mhz": 1000.0, "devices": 1, "commit": None, "kernel_us": 90.0}
    return PastRun(f"key{number}", window_us=100.0, warm=True, **{**told, **rest, **more})


def history(count=8, *, newest_change=None, newest_runs=0, **more) -> History:
    series = tuple(past(number) for number in range(count))
    told = {
        "subject": series[-1],
        "op_code": None,
        "runs": series,
        "times_us": (90.0,) * count,
        "course": Course((), None, newest_change, newest_runs),
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


NOISY, UNTOLD = Course((), 0.51, None), "whether it is steady cannot be told"
ALIKE, CHIP = "70% or more of their ops alike", "on wormhole_b0 at 1000 MHz"


@for_all(
    ("series", "said"),
    [
        (history(6), f"6 runs, {ALIKE}, {CHIP}"),
        (history(1), f"1 run, {ALIKE}, {CHIP}; a turn takes 3 on either side"),
        (history(5, op_code="Matmul"), f"5 runs, with this Matmul, {CHIP}; a turn takes 3 on either side"),
        (history(200, through=2), f"200 runs, {ALIKE}, {CHIP}; 2 of them alike only to others of them"),
        (history(201), f"201 runs, {ALIKE}, {CHIP}; the newest 200 were searched for turns"),
        (history(6, course=NOISY), f"6 runs, {ALIKE}, {CHIP}; they differ by more than 50%: {UNTOLD}"),
        (history(6, course=Course((), 0.5, None)), f"6 runs, {ALIKE}, {CHIP}"),
        (history(6, course=NOISY, turns=turning(3)), f"6 runs, {ALIKE}, {CHIP}"),
    ],
    ids=["enough", "one", "an op", "as many as are searched", "more", "noise", "less noise", "turned in it"],
)
def test_what_a_series_is_and_what_it_takes_to_turn_is_told(series, said):
    assert why(series) == said
    assert (verdict(series) == "cannot_tell") == (UNTOLD in said)


@for_all(
    ("change", "count", "told"),
    [
        (0.123, 1, "run7.csv is 12.3% slower than those before it"),
        (-0.123, 1, "run7.csv is 12.3% faster than those before it"),
        (0.123, 2, "the newest 2 runs, from run6.csv on, are 12.3% slower than those before them"),
    ],
)
def test_newest_runs_beyond_noise_are_told_as_such_and_are_not_steady(change, count, told):
    series = history(8, newest_change=change, newest_runs=count)
    assert newest_of(series) == f"{told}: beyond noise, but a turn takes 3 such runs"
    assert verdict(series) == "cannot_tell"
    assert (newest_of(history(8)), verdict(history(8))) == (None, "steady")


def test_runs_that_do_not_count_are_told_with_the_reason():
    assert left_out(history()) == ()
    wrong = past(6, doubts="clocks_differ, kernels_too_short")
    series = history(unsure=tuple(past(number) for number in range(5)), elsewhere=2, doubtful=(wrong,))
    unsure, doubtful, elsewhere = left_out(series)
    assert doubtful == "1 whose times are in doubt: run6.csv (clocks_differ, kernels_too_short)"
    assert unsure.startswith(
        "cannot tell whether 5 more are of the same model, by their ops they may be: run2.csv, run3.csv, run4.csv;"
    )
    assert elsewhere.startswith("2 with the same work at another clock")
