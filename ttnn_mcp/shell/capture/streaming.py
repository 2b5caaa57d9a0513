"""Runs a command, passes on what it writes while it writes it, tells a listener each line, and passes on signals."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from typing import TextIO

PASSED_ON = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2")
OF_THE_KEYBOARD = ("SIGINT", "SIGQUIT")  # a terminal sends them to the command as well
LONGEST_LINE = 65_536  # bytes that a listener gets of a line: as many as a pipe holds
# a server that the command left behind may keep its output open
QUIET_S = 0.5  # unmoved: it is how long more output is waited for
BY_SIGNAL = 128  # as shells report it


def streamed(command: Sequence[str], listener: Callable[[str], None], seconds: float = inf) -> int:
    """Run the command, and kill it after so long; its exit status, or 128 and the signal that ended it."""
    sources = [_Source(sys.stdout, listener), _Source(sys.stderr, listener)]
    process = subprocess.Popen(command, stdout=sources[0].theirs, stderr=sources[1].theirs)  # noqa: S603
    end = time.monotonic() + seconds
    with _signals_to(process, sources), selectors.DefaultSelector() as selector:
        for source in sources:
            os.close(source.theirs)
            selector.register(source.ours, selectors.EVENT_READ, source)
        while selector.get_map():
            ready = selector.select(QUIET_S)
            if time.monotonic() > end:
                process.kill()
            for key, _events in ready:
                if not key.data.passed_on():
                    selector.unregister(key.data.ours)
            if not ready and process.poll() is not None:
                break
        status = process.wait()
    for source in sources:
        source.close()
    return status if status >= 0 else BY_SIGNAL - status


class _Source:
    """One output of the command: a terminal where ours leads to one, else a pipe."""

    def __init__(self, to: TextIO, listener: Callable[[str], None]) -> None:
        self.to, self.listener, self.rest = to, listener, b""
        to.flush()
        if to.isatty():
            import pty  # noqa: PLC0415 - not there on every system, and needed for terminals only

            self.ours, self.theirs = pty.openpty()
            self.resize()
        else:
            self.ours, self.theirs = os.pipe()

    def passed_on(self) -> bool:
        """Pass on what is there; False once nothing more can come, or nobody wants it."""
        try:
            part = os.read(self.ours, LONGEST_LINE)
            self._heard(part)
            while part:
                written = os.write(self.to.fileno(), part)
                part = part[written:]
                if not part:
                    return True
        except OSError:  # the other end of a terminal, or our reader, is gone: the command meets that as usual
            self.close()
        return False

    def resize(self) -> None:
        """Give the command's terminal the size of ours; a pipe has none."""
        import fcntl  # noqa: PLC0415
        import termios  # noqa: PLC0415

        with suppress(OSError):
            size = fcntl.ioctl(self.to.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)

    def close(self) -> None:
        """Tell the listener the last line, and read no more."""
        if self.rest:
            self.listener(self.rest.decode(errors="replace"))
        self.rest = b""
        with suppress(OSError):
            os.close(self.ours)

    def _heard(self, part: bytes) -> None:
        *lines, self.rest = (self.rest + part).replace(b"\r", b"\n").split(b"\n")
        self.rest = self.rest[-LONGEST_LINE:]
        for line in lines:
            self.listener(line.decode(errors="replace"))


@contextmanager
def _signals_to(process: subprocess.Popen[bytes], sources: Sequence[_Source]) -> Generator[None]:
    """Pass signals on to the command, and the size of the terminal to its terminals."""

    def pass_on(number: int, _frame: object) -> None:
        if signal.Signals(number).name in OF_THE_KEYBOARD and _in_front():
            return
        with suppress(ProcessLookupError):
            process.send_signal(number)

    def resize(_number: int, _frame: object) -> None:
        for source in sources:
            source.resize()

    handlers = {getattr(signal, name): pass_on for name in PASSED_ON}
    former = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    former[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, resize)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _in_front() -> bool:
    """Whether a terminal sends the signals of its keyboard to us, and so to the command too."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False
