"""Started where something is missing or closed: a sentence, and an answer wherever that is possible."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell import cli

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}


@pytest.fixture
def started(tmp_path):
    """Run `ttnn-mcp` in /bin/sh, with its streams as the shell's words say."""

    def run(streams, *argv, code="", **environment):
        env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "PYTHONUNBUFFERED": ""}
        start = [sys.executable, "-c", code] if code else [sys.executable, "-m", "ttnn_mcp"]
        ran = subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", *start, *argv],
            input=json.dumps(HELLO) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**env, **environment},
        )
        assert "Traceback" not in ran.stderr
        assert "bug in ttnn-mcp" not in ran.stderr
        return ran

    return run


@for_all("words", [["--version"], ["skill"], []])
@for_all(("stdout", "why"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")])
def test_an_answer_that_cannot_be_written_is_a_sentence(started, words, stdout, why):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    ran = started(stdout, *words)
    assert ran.returncode == 1
    assert ran.stderr == f"The answer cannot be written to stdout: {why}.\n"


@for_all("closed", ["2>&-", "<&-"])
def test_an_answer_needs_neither_stdin_nor_stderr(started, closed):
    ran = started(closed, "skill")
    assert ran.returncode == 0
    assert ran.stdout.startswith("---\nname: optimizing-ttnn-models")


def test_a_call_needs_neither_stdin_nor_stderr(started):
    ran = started("2>&- <&-", "call", "skill_step", "page=SKILL")
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["text"]


def test_a_server_without_stdin_ends(started):
    assert started("<&-").returncode == 0


def test_a_user_without_a_home_gets_answers_and_is_told_what_is_forgotten(monkeypatch, capsys):
    monkeypatch.setenv("HOME", "")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert cli.main(["call", "open_run", "run=demo"]) == 0
    assert json.loads(capsys.readouterr().out)["id"]
    assert cli.main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "lies in\n  nowhere\n" in told
    assert "Broken\n  the state folder cannot be written (HOME names no folder" in told


def test_a_run_that_the_options_name_and_nobody_finds_is_broken(tmp_path, capsys):
    options = ["--state", str(tmp_path / "state"), "--root", str(tmp_path)]
    assert cli.main(["doctor", "--run", str(tmp_path / "nothing"), *options]) == 1
    assert "Broken\n  the run that the options name: " in capsys.readouterr().out
    assert cli.main(["doctor", "--run", "demo", *options]) == 0
    assert "Broken" not in capsys.readouterr().out


def test_a_python_without_our_packages_is_named(started):
    code = (
        "import sys; sys.modules['numpy'] = None; sys.argv[1:] = ['demo'];"
        "from ttnn_mcp.shell.cli import main; sys.exit(main())"
    )
    ran = started("", code=code)
    assert ran.returncode == 1
    assert f"{sys.executable} lacks the package numpy: install ttnn-mcp there" in ran.stderr


def test_a_current_folder_that_was_removed_stops_no_question(tmp_path, monkeypatch, capsys):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    state = ["--state", str(tmp_path)]
    assert cli.main(["check", "demo", *state]) == 0
    assert "Do this first" in capsys.readouterr().out
    assert cli.main(["runs", *state]) == 0
    out, err = capsys.readouterr()
    assert "No report found" in out
    assert err == ""


def test_a_current_folder_that_was_removed_stops_no_start(tmp_path):
    gone = tmp_path / "gone"
    code = (
        f"import os, sys; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n"
        f"from ttnn_mcp.shell.cli import main; sys.exit(main(['runs', '--state', {str(tmp_path)!r}]))"
    )
    script = tmp_path / "script.py"  # with -c the gone folder is on the path: there Python 3.13.0 itself fails
    script.write_text(code)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "No report found" in ran.stdout
