"""What an answer suggests works as it is printed, in a shell."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell import cli, questions, terminal

pytestmark = pytest.mark.usefixtures("opened_once")


def printed_commands(text):
    """The lines that can be pasted."""
    return [line for line in text.splitlines() if line.startswith(terminal.own_name())]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "words",
    [["demo"], ["check", "demo"], ["ops", "demo", "limit=3"], ["ops", "demo", "--each", "limit=2"], ["check", "demo", "--all"], ["check", "demo", "--details", "1"],
     ["host", "demo"],
     ["memory", "demo"], ["experiments"], ["compare", "demo", "demo"]],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.sampled(2)
def test_every_printed_command_works_as_printed(tmp_path, monkeypatch, capsys, words):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert cli.main(words) == 0
    commands = printed_commands(capsys.readouterr().out)
    assert commands or words[0] in ("host", "memory", "compare") or "--details" in words
    start = shlex.split(terminal.own_name())
    for command in commands:
        parts = shlex.split(command, comments=True)
        assert parts[: len(start)] == start
        assert cli.main(parts[len(start) :]) == 0, command
        assert capsys.readouterr().out


def test_each_page_leads_to_the_one_behind_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    words = ["ops", "demo", "limit=6"]
    for _ in range(2):
        assert cli.main(words) == 0
        (line,) = [line for line in printed_commands(capsys.readouterr().out) if "# more rows" in line]
        words = shlex.split(line, comments=True)[len(shlex.split(terminal.own_name())) :]
        assert [word.partition("=")[0] for word in words] == ["ops", "demo", "limit", "cursor"]


def test_the_program_is_named_so_that_a_shell_finds_it(tmp_path):
    """As after `make demo`, where the environment's folder is not on the PATH."""
    for path in ("/usr/bin:/bin", f"{Path(sys.executable).parent}:/usr/bin:/bin"):
        env = {**os.environ, "PATH": path, "XDG_STATE_HOME": str(tmp_path)}
        code = "from ttnn_mcp.shell.questions import command; print(command('--version'))"
        written = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        ran = subprocess.run(["sh", "-c", written.stdout], env=env, capture_output=True, text=True, check=True)
        assert ran.stdout.startswith("ttnn-mcp ")


@for_all(
    ("run", "tool", "arguments", "words"),
    [
        ("demo", "op_detail", {"run": "ab12", "op": 3}, "op 3 demo"),
        (None, "compare_runs", {"candidate": "b", "baseline": "a", "limit": 3}, "compare a b limit=3"),
        (None, "compare_runs", {"candidate": "b"}, "call compare_runs candidate=b"),
        (None, "list_ops", {"run": "a"}, "call list_ops run=a"),  # the command groups, the tool does not
        (None, "list_ops", {"run": "a", "group_by": "none"}, "ops a group_by=none"),
        (None, "tensor_formats", {"run": "a"}, "call tensor_formats run=a"),
        (None, "op_detail", {"run": "ab12"}, "call op_detail run=ab12"),
        ("demo", "experiments", {"action": "next"}, "experiments action=next"),
        ("demo", "skill_step", {"page": "step-1"}, "skill step-1"),
        (None, "open_run", {}, "runs"),
        (None, "open_run", {"run": "demo"}, "open demo"),
        (None, "open_run", {"memory": "m"}, "open memory=m"),
        (None, "list_runs", {}, "runs"),
    ],
)
def test_a_call_is_a_command_about_the_run_as_a_person_named_it(run, tool, arguments, words):
    answer = {"next": [{"tool": tool, "arguments": arguments, "why": "because"}]}
    assert questions.following(answer, run) == [(f"{terminal.own_name()} {words}", "because")]


def test_a_refusal_names_commands_where_a_command_was_given(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert questions.spoken_here("Call list_runs, then open_run; my_list_ops stays.") == (
        "Call `ttnn-mcp runs`, then `ttnn-mcp open`; my_list_ops stays."
    )
    told = {
        "op_detail(op=75).kernel_us falls": "`ttnn-mcp op 75` kernel_us falls",
        "list_ops(op_code='A b', limit=3) falls": "`ttnn-mcp ops 'op_code=A b' limit=3` falls",
        "host_overhead(wall_ms=...)": "`ttnn-mcp host wall_ms=...`",
        "memory_summary.l1_peak": "`ttnn-mcp memory` l1_peak",
    }
    assert {text: questions.spoken_here(text) for text in told} == told
    answer = {
        "verify": "memory_summary",
        "fix": "see memory_summary",
        "name": "list_ops",
        "deep": [{"why": ["list_ops", 3]}],
    }
    assert questions.answer_spoken_here(answer) == {
        "verify": "`ttnn-mcp memory`", "fix": "see ttnn-mcp memory", "name": "list_ops",
        "deep": [{"why": ["`ttnn-mcp ops`", 3]}],
    }  # fmt: skip
    for words in (["check"], ["report"], ["baseline", "a"], ["gate", "--candidate", "demo", "--baseline"]):
        assert cli.main([*words, "nothing-here"]) != 0
        assert "Call `ttnn-mcp runs`, or give a path." in "".join(capsys.readouterr()), words
    assert cli.main(["call", "optimization_check", "run=nothing-here"]) == 1
    assert "Call list_runs, or give a path." in capsys.readouterr().err


def test_odd_names_and_values_survive_a_shell():
    name, values = "it's $HOME; rm -rf *", [1, "a b"]
    parts = shlex.split(questions.command("call", "list_ops", run=name, devices=values))
    assert parts[-2:] == [f"run={name}", 'devices=[1, "a b"]']
