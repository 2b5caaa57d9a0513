"""`ttnn-mcp history`: what it prints."""

import asyncio
import json

import pytest

from tests.archive.runs import archive_of, even, model, nights, remembering, report_of
from ttnn_mcp.archive.rows import rows_of
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.history_command import _lines


@pytest.fixture
def printed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.session.archiving.Archiving.begin", lambda _: None)
    at = remembering(tmp_path)
    report = report_of(tmp_path / "new", model(), day=200)
    rows = rows_of(asyncio.run(at.run(str(report))))
    archive_of(at).add(nights(rows, [*even(6, 0.8, op_code="Matmul"), *even(4)]))

    def asked(*words, status=0):
        state = [] if "--in" in words else ["--state", str(tmp_path / "state")]
        on = [] if "--archive-mb" in words else ["--archive-mb", "500"]
        assert cli.main(["history", *words, *state, *on]) == status
        return capsys.readouterr()

    asked.report, asked.archive = str(report), str(tmp_path / "state" / "archive")
    return asked


def test_a_history_is_told_for_people(printed):
    text = printed(printed.report).out
    assert text.startswith("ops_perf_results_2026_08_05_00_00_00.csv: turned\n")
    assert "2026-01-07 00:00  kernel 323.0 us -> 397.3 us (+23.0%)  night_6.csv\n  Matmul  " in text
    assert text.count("<- turned") == 1
    assert len([line for line in text.splitlines() if " us  " in line and line.startswith("  2026")]) == 11


def test_a_history_of_an_op_in_another_archive_is_json_for_scripts(printed):
    answer = json.loads(printed("night_9.csv", "--op", "19", "--in", printed.archive, "--json").out)
    assert (answer["op_code"], answer["verdict"]) == ("Unary", "steady")


def test_what_is_refused_is_said_on_stderr(printed):
    assert "nobody" in printed("nobody", status=1).err
    assert "There is no archive of runs" in printed(printed.report, "--archive-mb", "0", status=1).err


RUNS = {
    "columns": ["recorded", "time_us", "run", "build"],
    "rows": [["2026-01-02", 50.0, "b.csv", "0.81"], ["2026-01-01", 1500.0, "a.csv", None]],
}
TURNS = {
    "columns": ["recorded", "of", "before_us", "after_us", "change_share", "run", "build"],
    "rows": [
        ["2026-01-01", "kernel", 100.0, 1500.0, 14.0, "a.csv", None],
        ["2026-01-02", "gaps", 20.0, 10.0, -0.5, "b.csv", "0.81"],
        ["2026-01-02", "kernel", 1500.0, 50.0, -0.967, "b.csv", "0.81"],
    ],
}
BEHIND = {
    "columns": ["at", "op_code", "before_us", "after_us", "how", "op"],
    "rows": [["a.csv", "Matmul", 9.0, 1400.0, "slower", 7], ["b.csv", "Conv", 1400.0, 9.0, "gone", None]],
}


def test_each_turn_of_the_kernels_names_the_ops_behind_it():
    answer = {
        "run": "b.csv",
        "verdict": "turned",
        "why": "It turned.",
        "turns": TURNS,
        "behind": BEHIND,
        "runs": RUNS,
    }
    assert list(_lines(answer)) == [
        *("b.csv: turned", "  It turned."),
        "\n2026-01-01  kernel 0.100 ms -> 1.500 ms (+1400.0%)  a.csv",
        "  Matmul  0.009 ms -> 1.400 ms: slower, line 7",
        "\n2026-01-02  gaps 20.0 us -> 10.0 us (-50.0%)  b.csv  0.81",
        "\n2026-01-02  kernel 1.500 ms -> 0.050 ms (-96.7%)  b.csv  0.81",
        "  Conv  1.400 ms -> 0.009 ms: gone",
        "",
        "  2026-01-02      0.050 ms  b.csv  0.81  <- turned",
        "  2026-01-01      1.500 ms  a.csv  <- turned",
    ]


def test_what_is_known_of_older_runs_and_of_noise_is_told():
    answer = {"run": "b.csv", "op_code": "Matmul", "verdict": "too_few_runs", "why": "Two.", "runs": RUNS}
    assert list(_lines(answer))[:3] == ["Matmul in b.csv: too few runs", "  Two.", ""]
    more = {
        **answer,
        "noise_share": 0.02,
        "more_runs": 5,
        "newest": "It is the newest.",
        "left_out": ["1 is torn."],
    }
    assert list(_lines(more))[2] == "  two runs differ by up to 2.0% without a change"
    assert list(_lines(more))[-3:] == ["  and 5 older", "  It is the newest.", "  1 is torn."]
