"""The shell's door: exit status, stdout and stderr are its interface; what a process adds to them is met as a process."""

import json
import os
import subprocess
import sys

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.command_line import command_line
from ttnn_mcp.shell.lean_start import NO_PLUGINS, ONE_THREAD

HEAVY = {"mcp", "mcp_types", "rich", "pygments", "argcomplete"}


@pytest.fixture
def shell(tmp_path):
    """Run `ttnn-mcp` with words, in an empty home."""

    def run(*argv, code=None, **options):
        start = [sys.executable, "-c", code] if code else [sys.executable, "-m", "ttnn_mcp"]
        env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
        return subprocess.run(
            [*start, *argv], capture_output=True, text=True, timeout=60, check=False, env=env, **options
        )

    return run


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """The same in this process: exit status, stdout, stderr."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv(*ONE_THREAD)  # so that what a command sets is taken back
    monkeypatch.setenv(*NO_PLUGINS)

    def run(*argv):
        try:
            status = cli.main(argv)
        except SystemExit as exited:
            status = exited.code
        return status, *capsys.readouterr()

    return run


def loaded(shell, code):
    """The top-level packages a process has imported after running `code`."""
    ran = shell(code=f"{code}\nimport sys; print(sorted({{name.split('.')[0] for name in sys.modules}}))")
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout.splitlines()[-1].replace("'", '"')))


def test_importing_the_shell_loads_neither_mcp_nor_pandas(shell):
    assert not loaded(shell, "import ttnn_mcp.shell.cli") & {*HEAVY, "pandas", "numpy", "pydantic"}


def test_a_call_prints_one_line_of_json_exits_with_zero_and_never_loads_mcp(shell):
    code = (
        "import json, sys; from ttnn_mcp.shell.cli import main; status = main()\n"
        "print(json.dumps([name.split('.')[0] for name in sys.modules])); sys.exit(status)"
    )
    ran = shell("call", "optimization_check", "run=demo", code=code)
    assert (ran.returncode, ran.stderr) == (0, "")
    answer, packages = map(json.loads, ran.stdout.splitlines())
    assert answer["findings"]
    assert not {*HEAVY, "starlette", "uvicorn"} & set(packages)


def test_without_an_archive_nothing_of_it_is_loaded_nor_numpys_types(shell):
    code = (
        "import sys; from ttnn_mcp.shell.cli import main; status = main(['check', 'demo'])\n"
        "print(*sys.modules); import numpy.typing as types; assert types.NDArray is not list and types.ArrayLike"
    )
    ran = shell(code=code)
    assert ran.returncode == 0, ran.stderr
    loaded_modules = set(ran.stdout.splitlines()[-1].split())
    assert "numpy.linalg" in loaded_modules
    unwanted = {"numpy._typing", "duckdb", "importlib.metadata"}
    assert not {name for name in loaded_modules if name in unwanted or name.startswith("ttnn_mcp.archive")}


def test_a_profile_that_fails_loads_no_tool(shell):
    code = "from ttnn_mcp.shell.cli import main\nassert main(['profile', '--', 'no-such-program']) == 1"
    assert not loaded(shell, code) & {"numpy", "pydantic"}


def test_listing_tools_waits_for_no_table(shell):
    assert not loaded(shell, "from ttnn_mcp.shell.cli import main\nmain(['call'])") & {"mcp", "pandas"}


@for_all(
    ("argv", "says"),
    [
        (["call", "optimisation_check"], "Did you mean optimization_check?"),
        (["call", "list_ops", "limmit=3"], "'limmit'"),
        (["call", "list_ops", "run=no-such-run"], "no-such-run"),
        (["call", "list_ops", "limit"], "name=value"),
        (["call", "list_ops", "limit=1", "limit=2"], "twice"),
        (["serve", "--http", "0.0.0.0:8765"], "ssh -L"),
        (["serve", "--http", "example.org:80"], "--allow-host"),
        (["serve", "--token-file", "tokens"], "--http HOST:PORT"),
        (["serve", "--http", "127.0.0.1:0", "--token-file", "no-such-file"], "No such file"),
        (["serve", "--http", "127.0.0.1:http"], "HOST:PORT"),
    ],
)
def test_a_mistake_exits_with_one_and_says_what_to_do_on_stderr_only(here, argv, says):
    status, out, err = here(*argv)
    assert (status, out) == (1, "")
    assert says in err
    assert "Traceback" not in err


def test_a_process_exits_with_what_the_command_returns(shell):
    ran = shell("call", "list_ops", "limit")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "name=value" in ran.stderr


@for_all(
    ("argv", "says"),
    [
        (["zzz"], "There is no command 'zzz'. There is: serve, "),
        (["check", "--jsn"], "unknown argument: --jsn. Did you mean --json?"),
        (["report", "demo", "--otput=x"], "Did you mean --output?"),
        (["serve", "--htp", "x"], "Did you mean --http?"),
    ],
)
def test_an_option_that_was_probably_meant_is_named(argv, says, capsys):
    with pytest.raises(SystemExit):
        cli.main(argv)
    assert says in capsys.readouterr().err


@for_all("argv", [["bogus"], ["call", "list_runs", "--bogus"]])
def test_a_word_the_shell_does_not_know_is_a_usage_error(here, argv):
    status, _out, err = here(*argv)
    assert status == 2
    assert "usage: ttnn-mcp" in err


@for_all("argv", [[], ["serve"], ["call"], ["demo"], ["doctor"]])
def test_help_is_friendly_at_every_level(here, argv):
    status, out, _err = here(*argv, "--help")
    assert status == 0
    assert out.startswith("usage: ttnn-mcp")
    assert "--root" in out


def test_options_may_stand_before_and_behind_the_command(here, tmp_path):
    before = here("--root", str(tmp_path), "call", "list_runs")
    assert before[0] == 0
    assert before == here("call", "list_runs", "--root", str(tmp_path))


def test_arguments_may_stand_behind_an_option(here, tmp_path):
    status, out, err = here("call", "list_ops", "--root", str(tmp_path), "run=demo", "limit=2")
    assert (status, err) == (0, "")
    assert len(json.loads(out)["ops"]["rows"]) == 2


def test_roots_before_and_behind_the_command_add_up():
    asked, _ = command_line().parse_known_args(["--root", "a", "call", "list_runs", "--root", "b"])
    assert [str(root) for root in cli._session(asked).settings.roots] == ["a", "b"]


def test_the_demo_tells_a_person_what_to_change_and_why(shell):
    ran = shell("demo")
    assert ran.returncode == 0, ran.stderr
    for word in ("speed of light", "expected", "Do this first", "--details 1", "--all"):
        assert word in ran.stdout
    assert ran.stdout.count("\n") <= 24
    assert "\x1b" not in ran.stdout  # no colour where nobody would see it
    assert max(len(line) for line in ran.stdout.splitlines()) <= 100


def test_the_doctor_says_what_is_here_and_what_is_not(here, tmp_path):
    status, out, err = here("doctor", "--root", str(tmp_path / "nowhere"))
    assert (status, err) == (0, "")
    assert "does not exist" in out
    assert "pandas" in out
    assert "NO pages" not in out


def test_the_doctor_fails_where_nothing_can_be_remembered(here, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    status, out, _err = here("doctor", "--state", str(tmp_path / "file"))
    assert status == 1
    assert out.count("no copies of large reports, as this folder cannot be written") == 1
    assert out.endswith("the state folder cannot be written (it is a file): --state chooses another\n")


def test_a_reader_that_closes_the_pipe_early_sees_no_traceback(tmp_path):
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "ttnn_mcp", "call", "skill_step", "page=SKILL"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == 141
    assert errors == b""


def test_the_version_is_the_packages_own(shell):
    from ttnn_mcp import __version__

    assert shell("--version").stdout == f"ttnn-mcp {__version__}\n"
