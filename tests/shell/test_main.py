"""Each command in this process: its exit status, and what it needs or leaves alone."""

import errno
import gc
import os
import signal
import sys
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import RunUnknown
from ttnn_mcp.server.front_desk import Heard
from ttnn_mcp.session.session import Settings
from ttnn_mcp.shell import cli, people
from ttnn_mcp.shell.command_line import command_line
from ttnn_mcp.shell.lean_start import NO_PLUGINS, ONE_THREAD
from ttnn_mcp.tools import TOOLS


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name, value in (ONE_THREAD, NO_PLUGINS):
        monkeypatch.setenv(name, value)  # so that what a command sets is taken back
        monkeypatch.delenv(name)


@pytest.fixture
def doctor(monkeypatch, capsys):
    """`ttnn-mcp doctor`, where it fails so; the exit status and stderr."""

    def failing(failure):
        def fail(_options):
            raise failure

        monkeypatch.setitem(cli.COMMANDS, "doctor", fail)
        return cli.main(["doctor"]), capsys.readouterr().err

    return failing


def test_an_interrupt_ends_with_the_status_of_a_shell(doctor):
    assert doctor(KeyboardInterrupt()) == (128 + signal.SIGINT, "")


def test_a_failure_that_we_understand_is_its_sentence(doctor):
    assert doctor(RunUnknown("No such run.")) == (1, "No such run.\n")


@for_all(
    "bug",
    [
        ValueError("why"),
        ModuleNotFoundError("of ours", name="ttnn_mcp.gone"),
        ModuleNotFoundError("of nobody"),
        OSError(errno.EIO, "why", "some file"),
        OSError(errno.EINVAL, "why"),
    ],
    ids=repr,
)
def test_a_bug_is_called_one(doctor, bug):
    status, err = doctor(bug)
    assert status == 1
    assert err.startswith("Traceback")
    assert "this is a bug in ttnn-mcp" in err


def test_a_package_that_is_missing_is_named(doctor):
    status, err = doctor(ModuleNotFoundError("why", name="numpy"))
    assert status == 1
    assert err.startswith(f"{sys.executable} lacks the package numpy: ")


GATE = ["gate", "--baseline", "demo"]


@for_all("call", ["write", "flush"])
@for_all("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO], ids=errno.errorcode.get)
def test_a_place_that_takes_no_answer_is_a_sentence(tmp_path, monkeypatch, capsys, call, code):
    def fails(*_text):
        raise OSError(code, os.strerror(code))

    for words, status in ((["skill"], 1), (GATE, 2), ([*GATE, "--bisect"], 125)):
        with (tmp_path / "stdout").open("w") as stdout, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", stdout)
            patched.setattr(stdout, call, fails)
            assert cli.main(words) == status
        assert capsys.readouterr().err == f"The answer cannot be written to stdout: {os.strerror(code)}.\n"


def test_a_reader_that_left_is_told_to_the_shell_only(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stdout, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stdout)
        assert cli.main(["skill"]) == 128 + signal.SIGPIPE
    assert capsys.readouterr().err == ""


@for_all("loaded", [True, False])
def test_what_duckdb_made_is_collected_at_the_end(monkeypatch, loaded):
    monkeypatch.delitem(sys.modules, "duckdb", raising=False)
    if loaded:
        monkeypatch.setitem(sys.modules, "duckdb", SimpleNamespace(__spec__=ModuleSpec("duckdb", None)))
    gc.unfreeze()
    assert cli.main(["skill"]) == 0
    assert (gc.get_freeze_count() == 0) is loaded
    assert gc.isenabled()


def test_completion_is_loaded_for_a_shell_that_asks(monkeypatch):
    monkeypatch.delenv("_ARGCOMPLETE", raising=False)
    monkeypatch.delitem(sys.modules, "ttnn_mcp.shell.completion", raising=False)
    assert cli.main(["skill"]) == 0
    assert "ttnn_mcp.shell.completion" not in sys.modules


@for_all(("words", "set_to"), [(["demo"], ["1", "__all__"]), (["profile", "--", "pytest"], [None, None])])
def test_numpy_gets_one_thread_and_pydantic_no_plugins_but_not_in_the_program_that_is_profiled(
    monkeypatch, words, set_to
):
    told, names = [], (ONE_THREAD[0], NO_PLUGINS[0])
    monkeypatch.setattr(people, "answered", lambda *_asked: told.extend(map(os.environ.get, names)) or 0)
    assert cli.main(words) == 0
    assert told == set_to


def test_without_options_a_session_has_the_usual_settings():
    assert cli._session(command_line().parse_args(["doctor"])).settings == Settings()
    asked = command_line().parse_args(["--cache-mb", "0", "--archive-mb", "7", "doctor"])
    assert cli._session(asked).settings == Settings(cache_mb=0, archive_mb=7)


@for_all(
    ("words", "begins"),
    [
        (["call", "--help"], "usage: ttnn-mcp call ["),
        (["call", "skill_step", "--help"], "usage: ttnn-mcp call skill_step [name=value ...]"),
        (["call", "skill_step", "page=SKILL"], '{"page":"SKILL"'),
        (["call", "skill_step", "--root", ".", "page=SKILL"], '{"page":"SKILL"'),
        (["call", "skill_step", "--", "page=step-04-metal-trace"], '{"page":"step-04-metal-trace"'),
    ],
    ids=" ".join,
)
def test_a_call_lists_explains_or_asks(capsys, words, begins):
    assert cli.main(words) == 0
    assert capsys.readouterr().out.startswith(begins)


def test_a_call_without_a_tool_lists_them_all(capsys):
    assert cli.main(["call"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line][:-1] == [tool.name for tool in TOOLS]


@for_all("words", [["doctor", "--bogus"], ["demo", "x"], ["check", "--bogus"]])
def test_a_word_that_belongs_to_nothing_is_a_usage_error(capsys, words):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert f"unknown argument: {words[-1]}." in capsys.readouterr().err


@pytest.fixture
def serve(monkeypatch, capsys):
    """`ttnn-mcp serve`: what a client said before, whether stdin is a terminal; which door opened, and stderr."""

    def started(*options, heard=None, terminal=False):
        opened, asked = [], []

        async def over_stdio(session, heard):
            opened.append(("stdio", heard, session.settings.confined))

        async def over_http(session, door):
            opened.append(("http", door.port, session.settings.confined))

        monkeypatch.setitem(sys.modules, "ttnn_mcp.server.stdio", SimpleNamespace(over_stdio=over_stdio))
        monkeypatch.setitem(sys.modules, "ttnn_mcp.server.http.serving", SimpleNamespace(over_http=over_http))
        monkeypatch.setattr(cli, "_first_answers", lambda: asked.append("front desk") or heard)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: terminal))
        assert cli.main(["serve", *options]) == 0
        return [*asked, *opened], capsys.readouterr().err

    return started


def test_a_client_at_stdin_is_answered_by_the_front_desk_first(serve):
    waits = Heard(b"more")
    assert serve(heard=waits) == (["front desk", ("stdio", waits, False)], "")
    assert serve(heard=None) == (["front desk", ("stdio", None, False)], "")
    assert serve(heard=Heard(ended=True)) == (["front desk"], "")


def test_a_person_at_stdin_is_told_what_is_waited_for(serve):
    opened, err = serve(terminal=True)
    assert opened == [("stdio", None, False)]
    assert err.startswith("Waiting for an MCP client on stdin.")


@for_all("terminal", [True, False])
def test_a_server_over_http_reads_no_stdin_and_confines_itself_to_its_roots(serve, terminal):
    assert serve("--http", "127.0.0.1:8765", terminal=terminal) == ([("http", 8765, True)], "")
