"""The shell's door at a real terminal, and where there is none."""

import errno
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell import terminal

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")


@pytest.fixture
def environment(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    return {**kept, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "PAGER": "cat"}


def at_a_terminal(code, env, columns=80, interrupt_at=None):
    """What a process writes to a terminal of so many columns, and its exit status; Ctrl-C once it wrote the text."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the process ended
            part = b""
        if not part:
            break
        written += part
        if interrupt_at and interrupt_at in written:
            os.killpg(process.pid, signal.SIGINT)
            interrupt_at = None
    os.close(ours)
    return written.decode(), process.wait(timeout=30)


def main(*words):
    return f"import sys; from ttnn_mcp.shell.cli import main; sys.exit(main({list(words)!r}))"


def test_a_terminal_gets_its_width_and_colours(environment):
    written, status = at_a_terminal(main("host", "demo"), environment, columns=52)
    assert status == 0
    assert "\x1b[1mhost overhead: demo\x1b[0m" in written
    plain = (
        written.partition("host overhead")[2].replace("\x1b[1m", "").replace("\x1b[36m", "").replace("\x1b[0m", "")
    )
    assert 40 < max(map(len, plain.replace("\r", "").splitlines())) <= 52


@for_all(("lines", "paged"), [(23, False), (24, True)])
def test_what_is_longer_than_the_terminal_goes_through_the_pager(environment, lines, paged):
    code = f"from ttnn_mcp.shell import terminal; terminal.show('x\\n' * {lines})"
    written, _status = at_a_terminal(code, {**environment, "PAGER": "sed s/x/paged/"})
    assert written.count("paged") == (lines if paged else 0)
    assert written.count("\n") == lines
    for pager in ("no-such-pager", " "):
        assert at_a_terminal(code, {**environment, "PAGER": pager})[0].count("x") == lines


def test_a_pipe_meets_no_pager(environment):
    code = "from ttnn_mcp.shell import terminal; terminal.show('x\\n' * 100)"
    command, env = [sys.executable, "-c", code], {**environment, "PAGER": "sed s/x/paged/"}
    assert subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout == "x\n" * 100


def test_what_takes_long_says_so_and_an_interrupt_ends_it_quietly(environment):
    slow = "import time; from ttnn_mcp.shell import asking; asking.asked.__code__ = slow.__code__"
    body = "import asyncio\n    await asyncio.to_thread(__import__('time').sleep, 30)"  # as a thread that reads
    code = f"async def slow(session, reader, words, tell):\n    {body}\n{slow}\n"
    started = time.monotonic()
    written, status = at_a_terminal(code + main("host", "demo"), environment, interrupt_at=b"host: 2 s")
    assert status == 130
    assert written.startswith(f"{terminal.CLEAR_LINE}ttnn-mcp host: 1 s")
    assert written.endswith(terminal.CLEAR_LINE)
    assert "Traceback" not in written
    assert time.monotonic() - started < 25


def test_a_locale_without_unicode_gets_substitutes(environment):
    env = {**environment, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    code = f"from ttnn_mcp.shell import terminal; terminal.speak_any_locale(); print('caf\\u00e9'); {main('runs')}"
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("caf?\nlist runs\n")


@for_all(
    ("told", "colour"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "0"}, False), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)  # fmt: skip
def test_the_environment_decides_about_colours(monkeypatch, told, colour):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    with Path(os.devnull).open("w") as nobody:
        assert terminal.coloured(nobody) is colour


@for_all(("kind", "colour"), [("xterm", True), (None, True), ("dumb", False)])
def test_a_terminal_has_colours_unless_it_says_that_it_is_dumb(monkeypatch, kind, colour):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    if kind is not None:
        monkeypatch.setenv("TERM", kind)
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    assert terminal.coloured(screen) is colour


@for_all(("columns", "width"), [(None, 100), ("19", 20), ("21", 21), ("300", 300)])
def test_a_screen_has_at_least_20_columns_and_100_where_nobody_knows(monkeypatch, columns, width):
    def nobody_knows(_file):
        raise OSError(errno.ENOTTY, "no terminal")

    monkeypatch.setattr(os, "get_terminal_size", nobody_knows)
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert terminal.width() == width


def test_a_stream_that_is_closed_is_opened_and_others_are_left(monkeypatch):
    stdout = sys.stdout
    monkeypatch.setattr(sys, "stdin", None)
    terminal.open_closed_streams()
    with sys.stdin as stdin:
        assert stdin.read() == ""
    assert sys.stdout is stdout


def test_a_stream_gets_substitutes_where_it_lacks_characters(monkeypatch):
    ascii_only, utf_8 = (io.TextIOWrapper(io.BytesIO(), encoding=name) for name in ("ascii", "UTF-8"))
    for stdout, stderr in ((ascii_only, utf_8), (io.StringIO(), utf_8)):
        monkeypatch.setattr(sys, "stdout", stdout)
        monkeypatch.setattr(sys, "stderr", stderr)
        terminal.speak_any_locale()
    assert (ascii_only.errors, utf_8.errors) == ("replace", "strict")


@for_all(
    ("beside", "on_path", "name"),
    [
        (True, "here", "ttnn-mcp"),
        (True, "elsewhere", "{here}/ttnn-mcp"),
        (True, None, "{here}/ttnn-mcp"),
        (False, "elsewhere", "ttnn-mcp"),
        (False, None, "{here}/python -m ttnn_mcp"),
    ],
)
def test_the_program_is_called_so_that_the_same_one_starts(tmp_path, monkeypatch, beside, on_path, name):
    for folder in ("here", "elsewhere"):
        (tmp_path / folder).mkdir()
        if beside or folder == "elsewhere":
            (tmp_path / folder / "ttnn-mcp").touch(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "here" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / on_path) if on_path else "/nowhere")
    assert terminal.own_name() == name.format(here=tmp_path / "here")


@for_all("executable", ["", None])
def test_a_program_that_knows_no_python_still_has_a_name(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setenv("PATH", "/nowhere")
    assert terminal.own_name() == "ttnn-mcp"
