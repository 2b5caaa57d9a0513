"""Names of runs for the gate, and what its comment shows."""

import shutil

import pytest

from tests.for_all import for_all
from tests.pairs import Model, write
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.gate_command import Ruling, judged, pull_request, share_of

BASE, SLOWER = Model(), Model(up_ns=100_000)
WINDOW = {"kind": "iteration", "rows": 80, "warm": True}
ANSWER = {
    "verdict": "same",
    "why": "why",
    "change_share": 0.0,
    "noise_share": 0.005,
    "noise_from": "two runs",
    "kernel_ms": {"before": 1.0, "after": 1.0},
    "window": WINDOW,
    "baseline_window": WINDOW,
}
PASS = Ruling("pass", "why")


@pytest.fixture
def shell(tmp_path, capsys):
    def asked(*words):
        status = cli.main([*map(str, words), "--state", str(tmp_path / "state")])
        return status, *capsys.readouterr()

    return asked


def test_a_candidate_may_be_allowed_ten_times_the_time_more_and_not_eleven():
    assert share_of("1000%") == 10
    with pytest.raises(ArgumentsInvalid, match="--worse wants a share"):
        share_of("1001%")


def test_a_stage_that_is_new_cannot_have_become_slower():
    stages = {"columns": ["key", "before_us", "after_us"], "rows": [["sampling", 0, 10], ["decode", 50, 50]]}
    assert judged({**ANSWER, "stages": stages}, 0.03).outcome == "pass"


def test_runs_that_cannot_be_compared_are_not_judged():
    answer = {**ANSWER, "verdict": "not_comparable", "change_share": 0.5}
    assert judged(answer, 0.03) == Ruling("cannot_judge", "why")


def test_the_comment_shows_the_eight_ops_that_changed_most():
    rows = [[f"Op{number}", 100 - number] for number in range(9)]
    text = pull_request({**ANSWER, "groups": {"columns": ["op", "delta_us"], "rows": rows}}, PASS, ("a", "b"))
    assert "**Ops, largest change first**" in text
    assert [f"| Op{number} |" in text for number in range(9)] == [True] * 8 + [False]


@for_all(
    "answer",
    [
        {},
        {"layers": {"columns": ["key", "delta_us"], "rows": []}},
        {"layers": {"columns": ["key", "delta_us"], "rows": [["0", 0.0]]}},
    ],
    ids=["absent", "empty", "unchanged"],
)
def test_the_comment_has_no_table_without_a_change(answer):
    lines = pull_request({**ANSWER, **answer}, PASS, ("a", "b")).splitlines()
    assert "**Layers**" not in lines
    assert lines[-1] == "Change +0.00%, noise 0.50%: two runs"


def test_only_names_that_a_person_gave_are_listed(shell, tmp_path):
    base = write(tmp_path / "a", BASE)
    assert shell("ops", base)[0] == 0  # opened under a name of its own
    assert shell("baseline") == (0, "No run has a name yet. Give one: ttnn-mcp baseline main PATH\n", "")
    shell("baseline", "main", base)
    _status, out, _err = shell("baseline")
    assert [line.split("  ")[0] for line in out.splitlines()] == ["main"]
    assert out.endswith(".csv\n")


def test_a_memory_report_has_a_name_too(shell):
    status, out, _err = shell("baseline", "main", demo_reports()[1])
    assert (status, out.startswith("main is run ")) == (0, True)


def test_where_nothing_can_be_kept_no_name_is_given(tmp_path, capsys):
    (tmp_path / "file").touch()
    words = ["baseline", "main", str(write(tmp_path / "a", BASE)), "--state", str(tmp_path / "file")]
    assert cli.main(words) == 1
    assert "No name can be kept: the state folder cannot be written" in capsys.readouterr().err


def test_a_report_that_nobody_named_may_be_written_anew(shell, tmp_path):
    base, slower = write(tmp_path / "a", BASE), write(tmp_path / "b", SLOWER)
    _status, card, _err = shell("call", "open_run", f"performance={base}")
    (name,) = {part.split('"')[3] for part in card.split(",") if part.startswith('"name":')}
    write(tmp_path / "a", Model(up_ns=99_000))
    assert shell("gate", "--baseline", name, "--candidate", slower)[0] == 0


def test_the_command_moves_a_baseline_and_says_so(shell, tmp_path):
    base, slower = write(tmp_path / "a", BASE), write(tmp_path / "b", SLOWER)
    old = shell("baseline", "main", base)[1].split()[-1]
    assert shell("baseline", "main", slower)[1].endswith(f"; the name 'main' was run {old}'s until now\n")


def test_a_baseline_that_is_gone_is_said_to_be_gone(shell, tmp_path):
    base, slower = write(tmp_path / "a", BASE), write(tmp_path / "b", SLOWER)
    shell("baseline", "main", base)
    shutil.rmtree(tmp_path / "a")
    status, out, err = shell("gate", "--baseline", "main", "--candidate", slower)
    assert (status, err) == (2, "")
    assert out.endswith(" cannot be opened (No such file or directory).\n")
