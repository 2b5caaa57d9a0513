"""A script's sweep within this process, with the measuring part that is imported: what is wrong in it shows here."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from ttnn_mcp.replay import measuring

STAND_INS = Path(__file__).parent / "stand_ins"
MOST = 20  # processes of a sweep


class Gone(BaseException):
    """The process ends, with this status."""


class Late(BaseException):
    """Nobody waits so long."""


class Sweep:
    """What a script does when it is started; its processes are `children`, with the stand-in that each had."""

    def __init__(self, script, facts=None):
        self.path, self.facts, self.children = Path(script), facts or {}, []
        self.code = compile(self.path.read_text(), str(script), "exec")

    def run(self, *options):
        """What it prints."""
        stdout = Printed(self)
        with (
            contextlib.redirect_stdout(stdout),
            patch.object(measuring, "subprocess", self._subprocess()),
            patch.object(os, "killpg", self._killed),
            patch.dict(sys.modules),
        ):
            self._main([str(self.path), *options])
        return stdout.getvalue()

    def _killed(self, pid, number):
        assert number == signal.SIGKILL
        self.children[pid].killed = "with all that it started"

    def _subprocess(self):
        names = {name: getattr(subprocess, name) for name in ("DEVNULL", "PIPE", "TimeoutExpired")}
        return SimpleNamespace(Popen=lambda command, **how: Child(self, command, **how), **names)

    def _main(self, words):
        """Run it, with modules of its own."""
        ttnn, torch = self._stood_in()
        script = {"__name__": "script"}
        exec(self.code, script)  # noqa: S102 - a script of ours
        calls = {name: script[name] for name in ("operands", "call", "reference")}
        clock = SimpleNamespace(perf_counter=lambda: ttnn.clock[0])
        with patch.object(sys, "argv", words), patch.object(measuring, "time", clock):
            measuring.main(measuring.Replay(ttnn, torch, script["FACTS"] | self.facts, calls))

    def _stood_in(self):
        for name in ("torch", "ttnn"):
            spec = importlib.util.spec_from_file_location(name, STAND_INS / name / "__init__.py")
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        self.ttnn = sys.modules["ttnn"]
        return self.ttnn, sys.modules["torch"]


class Printed(io.StringIO):
    """What was printed; before a process starts, all of it is with the reader."""

    waiting = False

    def __init__(self, sweep):
        super().__init__()
        self.sweep = sweep

    def write(self, text):
        self.waiting = True
        return super().write(text)

    def flush(self):
        self.waiting = False


class Child:
    """In the place of a process."""

    returncode, killed = 0, None

    def __init__(self, sweep, command, *, env, cwd, start_new_session, stdout, stderr):
        assert command[:2] == [sys.executable, os.path.realpath(sweep.path)]
        assert cwd == env["TT_METAL_PROFILER_DIR"]
        assert not getattr(sys.stdout, "waiting", False)
        assert len(sweep.children) < MOST
        self.sweep, self.words, self.environment, self.apart = sweep, command[1:], env, start_new_session
        self.pid = len(sweep.children)
        sweep.children.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def communicate(self, timeout):
        printed, self.timeout = io.StringIO(), timeout
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(printed),
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(os, "_exit", self._end),
            patch.object(os, "kill", lambda _, number: self._end(-number)),
            patch("time.sleep", self._sleep),
            patch.dict(sys.modules),
        ):
            try:
                self.sweep._main(self.words)
            except Gone as gone:
                (self.returncode,) = gone.args
            except Late:
                raise subprocess.TimeoutExpired(self.words, timeout) from None
            except Exception:  # noqa: BLE001 - as a process ends by any
                printed.write(traceback.format_exc())
                self.returncode = 1
            finally:
                self.ttnn = self.sweep.ttnn
        return b"", printed.getvalue().encode()

    def kill(self):
        self.killed = "alone"

    def _end(self, status):
        raise Gone(status)

    def _sleep(self, _seconds):
        raise Late
