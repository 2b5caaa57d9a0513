"""A command's output and signals pass through as if nothing stood between."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from tests.shell.test_terminal import at_a_terminal, environment  # noqa: F401 - a fixture
from ttnn_mcp.shell.capture import streaming
from ttnn_mcp.shell.capture.streaming import streamed


def python(code):
    return [sys.executable, "-c", code]


def heard(code, capfd):
    lines = []
    status = streamed(python(code), lines.append)
    return status, lines, *capfd.readouterr()


def test_both_outputs_are_passed_on_and_heard(capfd):
    code = "import sys; print('a'); sys.stderr.write('b\\nno end'); sys.exit(3)"
    status, lines, out, err = heard(code, capfd)
    assert (status, out, err) == (3, "a\n", "b\nno end")
    assert sorted(lines) == ["a", "b", "no end"]


def test_bytes_are_passed_on_as_they_are(capfdbinary):
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 2000)"
    lines = []
    assert streamed(python(code), lines.append) == 0
    assert capfdbinary.readouterr().out == bytes(range(256)) * 2000


def test_a_line_without_end_takes_bounded_memory(capfd):
    _status, lines, out, _err = heard("print('x' * 3_000_000, end='')", capfd)
    assert len(out) == 3_000_000
    assert [len(line) for line in lines] == [64 * 1024]  # as much as a pipe holds


def test_progress_on_one_line_is_heard_in_parts(capfd):
    assert heard("print('1 %\\r2 %\\rdone')", capfd)[1] == ["1 %", "2 %", "done"]


def test_a_command_ended_by_a_signal_has_the_status_of_a_shell(capfd):
    assert heard("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", capfd)[0] == 128 + 9


def test_a_command_that_takes_too_long_is_killed(capfd):
    start = time.monotonic()
    code = "import time; print('begun', flush=True); time.sleep(60)"
    assert streamed(python(code), [].append, 0.2) == 128 + 9
    assert streamed(python("pass"), [].append, 60) == 0
    assert time.monotonic() - start < 20


def test_what_a_child_writes_after_the_command_ended_is_heard(capfd, monkeypatch):
    monkeypatch.setattr(streaming, "QUIET_S", 20)
    lines = []
    assert streamed(["sh", "-c", "(sleep 0.2; echo late) & echo early"], lines.append) == 0
    assert lines == ["early", "late"]


def test_a_command_may_be_quiet_for_long(capfd, monkeypatch):
    monkeypatch.setattr(streaming, "QUIET_S", 0.01)
    lines = []
    assert streamed(["sh", "-c", "sleep 0.2; echo at last"], lines.append) == 0
    assert lines == ["at last"]


def test_where_stdout_is_a_terminal_the_command_gets_one(monkeypatch):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as screen, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", screen)
        assert streamed(["sh", "-c", "test -t 1 && echo yes"], lambda _line: None) == 0
        assert os.read(ours, 100).split() == [b"yes"]
    os.close(ours)


@for_all(
    ("number", "in_front", "is_passed_on"),
    [
        (signal.SIGTERM, False, True),
        (signal.SIGTERM, True, True),
        (signal.SIGINT, False, True),
        (signal.SIGINT, True, False),  # the terminal sends it to the command as well
    ],
)
def test_a_signal_reaches_the_command_once(monkeypatch, number, in_front, is_passed_on):
    monkeypatch.setattr(streaming, "_in_front", lambda: in_front)
    passed_on = []
    before = signal.getsignal(number)
    with streaming._signals_to(SimpleNamespace(send_signal=passed_on.append), []):
        signal.raise_signal(number)
    assert passed_on == ([number] if is_passed_on else [])
    assert signal.getsignal(number) is before


@for_all(("terminal", "group", "in_front"), [(True, 7, True), (True, 8, False), (False, 7, False)])
def test_the_keyboard_is_ours_where_we_read_a_terminal_in_its_front(monkeypatch, terminal, group, in_front):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: terminal, fileno=lambda: 0))
    monkeypatch.setattr(os, "tcgetpgrp", lambda _file: 7)
    monkeypatch.setattr(os, "getpgrp", lambda: group)
    assert streaming._in_front() is in_front


def test_a_server_left_behind_does_not_hold_us(capfd):
    started = time.monotonic()
    code = "import subprocess; print(subprocess.Popen(['sleep', '30']).pid)"
    status, lines, _out, _err = heard(code, capfd)
    os.kill(int(lines[0]), 9)
    assert status == 0
    assert time.monotonic() - started < 20


def test_at_a_terminal_the_command_sees_one_of_the_same_size(environment):  # noqa: F811
    see = "import os, sys; print([each.isatty() for each in (sys.stdin, sys.stdout, sys.stderr)], os.get_terminal_size().columns)"
    code = f"import sys\nfrom ttnn_mcp.shell.capture.streaming import streamed\nprint(streamed([sys.executable, '-c', {see!r}], print))"
    env = {**environment, "PYTHONPATH": str(Path(__file__).parents[3])}
    written, status = at_a_terminal(code, env, columns=77)
    assert status == 0
    assert "[True, True, True] 77" in written


def test_a_reader_that_leaves_ends_the_command_as_without_us(tmp_path):
    code = "from ttnn_mcp.shell.capture.streaming import streamed\nimport json, sys\nsys.exit(streamed(json.loads(sys.argv[1]), lambda line: None))"
    endless = json.dumps(python("while True: print('y' * 1000)"))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [*python(code), endless], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=30) == 1
        assert b"BrokenPipeError" in process.stderr.read()  # the command's own


@pytest.mark.parametrize("bad", ["no-such-program"])
def test_what_cannot_start_is_no_hang(bad):
    with pytest.raises(FileNotFoundError):
        streamed([bad], print)
