"""The gate: every outcome with its status, what it prints, and `git bisect run` with it."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_all import for_all
from tests.pairs import Model, write
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.shell import cli, gate_command, markdown
from ttnn_mcp.shell.gate_command import Ruling, judged, pull_request, share_of
from ttnn_mcp.shell.gate_status import status_of_usage

BASE = Model()
AGAIN = Model(jitter=0.001)  # the same model, measured another time
FASTER = replace(BASE, up_ns=80_000)
SLOWER = replace(BASE, up_ns=100_000)  # 4 of 1,170 us: 3.4 %
OTHER_CHIP = replace(BASE, arch="blackhole")
LITTLE_SLOWER = replace(BASE, up_ns=93_000)


@pytest.fixture
def gate(tmp_path, capsys):
    def asked(baseline, candidate, *more):
        paths = [
            write(tmp_path / name, side) if isinstance(side, Model) else str(side)
            for name, side in (("before", baseline), ("after", candidate))
        ]
        words = ["--state", str(tmp_path / "state"), "--baseline", paths[0], "--candidate", paths[1], *more]
        try:
            status = cli.main(["gate", *words])
        except SystemExit as ended:
            status = ended.code
        return status, capsys.readouterr().out

    return asked


@for_all(
    ("candidate", "worse", "status"),
    [
        (FASTER, "3%", 0),
        (AGAIN, "3%", 0),
        (BASE, "3%", 2),
        (LITTLE_SLOWER, "3%", 0),
        (SLOWER, "3%", 1),
        (SLOWER, "5%", 0),
        (OTHER_CHIP, "3%", 2),
    ],
)
def test_only_a_change_beyond_the_limit_is_a_regression(gate, candidate, worse, status):
    assert gate(BASE, candidate, "--worse", worse)[0] == status


def test_what_cannot_be_judged_is_skipped_by_bisect(gate, monkeypatch):
    for candidate, words, status in (
        (OTHER_CHIP, (), 2),
        ("/nowhere/at/all", (), 2),
        (SLOWER, ("--worse", "3,5%"), 2),
        (SLOWER, ("--wrose", "3%"), 2),
        (SLOWER, ("--cache-mb", "x"), 2),
        (SLOWER, (), 1),
    ):
        for bisect, skipped in ((), 2), (("--bi",), 125), (("--bisect",), 125):
            assert gate(BASE, candidate, *words, *bisect)[0] == (skipped if status == 2 else 1), (words, bisect)

    assert status_of_usage(["check", "--bisect"]) == status_of_usage(["gate", "--b"]) == 2

    def broken(*_arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(gate_command, "judged", broken)
    assert [gate(BASE, SLOWER, *words)[0] for words in ((), ("--bisect",))] == [2, 125]
    monkeypatch.setattr(cli, "_session", broken)
    assert [gate(BASE, SLOWER, *words)[0] for words in ((), ("--bisect",))] == [2, 125]


def told(change, noise, **more):
    return {"verdict": "slower", "why": "why", "change_share": change, "noise_share": noise, **more}


@for_all(
    ("change", "noise", "outcome"),
    [
        (0.031, 0.005, "regression"),
        (0.029, 0.005, "pass"),
        (0.031, 0.05, "cannot_judge"),  # over the limit, but the noise could have made it
        (0.051, 0.05, "regression"),
        (0.029, 0.05, "pass"),
        (-0.5, 0.005, "pass"),
    ],
)
def test_a_regression_is_beyond_limit_and_noise(change, noise, outcome):
    assert judged(told(change, noise), 0.03).outcome == outcome


def test_a_gain_in_one_stage_hides_no_loss_in_another():
    stages = {"columns": ["key", "before_us", "after_us"], "rows": [["prefill", 100, 60], ["decode", 50, 55]]}
    judgement = judged(told(-0.2, 0.005, stages=stages), 0.03)
    assert judgement.outcome == "regression"
    assert "decode" in judgement.why


@for_all(
    ("after", "worse", "noise", "outcome"),
    [
        (10.31, 0.03, 0.005, "cannot_judge"),
        (10.29, 0.03, 0.005, "pass"),
        (10.31, 0.03, 0.04, "pass"),
        (10.19, 0.01, 0.005, "pass"),  # wall times of two runs differ by 2 %
        (10.21, 0.01, 0.005, "cannot_judge"),
    ],
)
def test_gaps_that_grew_are_no_pass(after, worse, noise, outcome):
    judgement = judged(told(0.0, noise, wall_ms={"before": 10.0, "after": after}), worse)
    assert judgement.outcome == outcome
    assert ("the host may be slower" in judgement.why) == (outcome == "cannot_judge")


def test_a_doubtful_measurement_is_not_judged():
    doubts = {"columns": ["code", "why"], "rows": [["zero_times", "all are 0"]]}
    assert judged(told(-0.5, 0.005, suspicious=doubts), 0.03).outcome == "cannot_judge"


def test_a_doubt_about_a_gain_is_none_about_a_loss():
    doubts = {"columns": ["code", "what"], "rows": [["within_file_noise", "-1.2 %"]]}
    assert judged(told(-0.012, 0.02, suspicious=doubts), 0.03).outcome == "pass"
    assert judged(told(0.05, 0.02, suspicious=doubts), 0.03).outcome == "regression"


@for_all(
    ("text", "share"), [("3%", 0.03), ("0.03", 0.03), ("2.5 %", 0.025), ("0", 0.0), ("0.999", 0.999), ("800%", 8.0)]
)
def test_a_limit_is_written_as_percent_or_share(text, share):
    assert share_of(text) == pytest.approx(share)


@for_all(
    ("text", "says"),
    [
        *((text, "--worse wants a share") for text in ("", "3 ms", "-1%", "nan", "1e3%", "2000%", "100", "1001")),
        ("1", "write 1% or 0.01"),
        ("8", "write 8% or 0.08"),
        ("1.5", "write 1.5% or 0.015"),
        ("99.5", "write 99.5% or 0.995"),
    ],
)
def test_another_limit_is_refused(text, says):
    with pytest.raises(ArgumentsInvalid, match=says):
        share_of(text)


def test_the_markdown_names_the_ops_behind_a_regression(gate):
    status, text = gate(BASE, SLOWER)
    assert status == 1
    assert text.startswith("### TTNN performance: **regression**")
    assert "| MatmulDeviceOperation |" in text.replace("Matmul |", "MatmulDeviceOperation |")
    assert "noise" in text


def test_memory_that_ran_out_is_told_before_the_outcome_is_explained():
    window = {"kind": "all", "rows": 3, "warm": False}
    answer = {"kernel_ms": {"before": 1.0, "after": 1.0}, "baseline_window": window, "window": window}
    answer |= {"change_share": 0.0, "noise_share": 0.02, "noise_from": "n"}
    lines = [
        pull_request(one, Ruling("pass", "why"), ("a", "b")).splitlines()[2:5]
        for one in ({**answer, "ran_out": "the candidate ran out of L1"}, answer)
    ]
    assert lines == [["Memory: **the candidate ran out of L1**", "", "why"], ["why", "", *lines[1][2:]]]


def test_json_says_the_same_in_one_line(gate):
    status, text = gate(BASE, SLOWER, "--json")
    printed = json.loads(text)
    assert (status, printed["outcome"]) == (1, "regression")
    assert printed["change_share"] == pytest.approx(0.0342, abs=0.003)


def test_text_of_a_profile_makes_no_markdown():
    shown = markdown.text("a|b\n# [x](http://e.vil) @all <img>")
    assert "|" not in shown.replace("\\|", "")
    assert "\n" not in shown
    assert "http:" not in shown
    assert all(f"\\{mark}" in shown for mark in "#[@<")


def test_a_baseline_has_a_name(tmp_path, capsys):
    state = ["--state", str(tmp_path / "state")]
    base, slower = write(tmp_path / "a", BASE), write(tmp_path / "b", SLOWER)
    assert cli.main(["baseline", "main", base, *state]) == 0
    assert cli.main(["baseline", *state]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("main  ")
    assert cli.main(["gate", "--baseline", "main", "--candidate", slower, *state]) == 1


def test_an_overwritten_baseline_is_refused_however_often_it_is_asked(tmp_path, capsys):
    state = ["--state", str(tmp_path / "state")]
    base, slower = write(tmp_path / "a", BASE), write(tmp_path / "b", SLOWER)
    assert cli.main(["baseline", "main", base, *state]) == 0
    write(tmp_path / "a", SLOWER)
    for _ in range(2):
        assert cli.main(["gate", "--baseline", "main", "--candidate", slower, *state]) == 2
        assert "overwritten" in capsys.readouterr().out


def blocks(language):
    page = (Path(__file__).parents[2] / "resources" / "gate.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def environment(tmp_path, command=f'exec "{sys.executable}" -m ttnn_mcp "$@"'):
    """A shell in which `ttnn-mcp` is the package of this checkout, and the log lies in this folder."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    program = bin_folder / "ttnn-mcp"
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "XDG_STATE_HOME": str(tmp_path / "state")}


def step_of_the_page(tmp_path, env):
    """The exit status of the step, and the summary that it leaves."""
    [workflow] = blocks("yaml")
    step = textwrap.dedent(workflow.split("run: |\n")[1])
    env["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary.md")
    ran = subprocess.run(["bash", "-e", "-c", step], cwd=tmp_path, env=env, check=False, timeout=120)
    return ran.returncode, (tmp_path / "summary.md").read_text()


def test_the_step_of_the_page_runs_in_a_workflow(tmp_path):
    write(tmp_path / "reports" / "main", BASE)
    write(tmp_path / "reports" / "candidate", SLOWER)
    status, summary = step_of_the_page(tmp_path, environment(tmp_path))
    assert status == 1
    assert "**regression**" in summary


@for_all(("status", "ends"), [(0, 0), (1, 1), (2, 0), (3, 3)])
def test_the_step_of_the_page_fails_unless_the_gate_passes_or_cannot_judge(tmp_path, status, ends):
    env = environment(tmp_path, f"echo what the gate says; exit {status}")
    assert step_of_the_page(tmp_path, env) == (ends, "what the gate says\n")


@pytest.mark.slow
def test_the_bisect_of_the_page_finds_the_commit_that_made_it_slower(tmp_path, monkeypatch):
    """Seven commits: the sixth is slower, the one in the middle cannot be judged. A commit's profile is a file of it."""
    work, env = tmp_path / "work", environment(tmp_path)
    work.mkdir()

    def shell(command):
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=work,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return done.stdout + done.stderr

    shell("git init -q . && git config user.name a && git config user.email a@b")
    (work / "profile.sh").write_text('#!/bin/sh\nmkdir -p "$1" && cp ops_perf_results.csv "$1"\n')
    (work / "profile.sh").chmod(0o755)
    hashes = []
    for number in range(7):
        model = SLOWER if number >= 5 else OTHER_CHIP if number == 3 else BASE
        shutil.copy(
            write(tmp_path / f"r{number}", replace(model, seed=number, jitter=0.001)), work / "ops_perf_results.csv"
        )
        hashes.append(shell(f"git add -A && git commit -qm {number} && git rev-parse HEAD").strip())
    monkeypatch.setenv("XDG_STATE_HOME", env["XDG_STATE_HOME"])
    assert cli.main(["baseline", "main", write(tmp_path / "base", BASE)]) == 0
    [script] = blocks("bash")
    said = shell(script.replace("BAD", hashes[6]).replace("GOOD", hashes[0]))
    assert f"{hashes[5]} is the first bad commit" in said, said
    assert f"# skip: [{hashes[3]}]" in shell("git bisect log")
