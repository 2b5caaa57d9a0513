"""Started where something is missing or closed: a sentence, and an answer wherever that is possible."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("words", [["--version"], ["skill"], []])
@pytest.mark.parametrize(
    ("stdout", "why"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_an_answer_that_cannot_be_written_is_a_sentence(started, words, stdout, why):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    ran = started(stdout, *words)
    assert ran.returncode == 1
    assert ran.stderr == f"The answer cannot be written to stdout: {why}.\n"


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "2>&- <&-"])
def test_an_answer_needs_neither_stdin_nor_stderr(started, closed):
    ran = started(closed, "call", "skill_step", "page=SKILL")
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["text"]


def test_a_server_without_stdin_ends(started):
    assert started("<&-").returncode == 0


def test_a_user_without_a_home_gets_answers_and_is_told_what_is_forgotten(started):
    homeless = {"HOME": "", "XDG_STATE_HOME": "relative"}
    assert started("", "call", "open_run", "run=demo", **homeless).returncode == 0
    doctor = started("", "doctor", **homeless)
    assert doctor.returncode == 1
    assert "lies in\n  nowhere\n" in doctor.stdout
    assert "Broken\n  the state folder cannot be written (HOME names no folder" in doctor.stdout


def test_a_run_that_the_options_name_and_nobody_finds_is_broken(started, tmp_path):
    ran = started("", "doctor", "--run", str(tmp_path / "nothing"))
    assert ran.returncode == 1
    assert "Broken\n  the run that the options name: " in ran.stdout
    assert "Broken" not in started("", "doctor", "--run", "demo").stdout


def test_a_python_without_our_packages_is_named(started):
    code = (
        "import sys; sys.modules['numpy'] = None; sys.argv[1:] = ['demo'];"
        "from ttnn_mcp.shell.cli import main; sys.exit(main())"
    )
    ran = started("", code=code)
    assert ran.returncode == 1
    assert f"{sys.executable} lacks the package numpy: install ttnn-mcp there" in ran.stderr


def test_a_current_folder_that_was_removed_stops_no_question(tmp_path):
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    start = f"import os; os.mkdir({str(tmp_path / 'gone')!r}); os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd());"
    code = f"{start} from ttnn_mcp.shell.cli import main; main(['check', 'demo']); main(['runs'])"
    script = tmp_path / "script.py"  # with -c the gone folder is on the path: there Python 3.13.0 itself fails
    script.write_text(code)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "The seven steps" in ran.stdout
    assert "No report found" in ran.stdout
