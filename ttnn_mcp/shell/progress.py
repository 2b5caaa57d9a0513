"""A sign of life on stderr for whatever takes longer than a second; only where somebody watches."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import threading
    from types import FrameType

Answer = TypeVar("Answer")

FIRST_S = 1.0
EVERY_S = 0.5
CLEAR_LINE = "\r\x1b[2K"


def awaited(coroutine: Coroutine[Any, Any, Answer], command: str) -> Answer:
    """The outcome of a coroutine, with a sign of life while it takes long. Ctrl-C ends the process at once.

    Nothing else could: a thread reads a large report to its end, and the interpreter waits for its threads.
    """
    with _left_at_once(), waiting(f"ttnn-mcp {command}"):
        import asyncio  # noqa: PLC0415 - not for those who only ask for help

        return asyncio.run(coroutine)


@contextmanager
def _left_at_once() -> Generator[None]:
    """Where Ctrl-C would raise KeyboardInterrupt, it ends the process instead."""
    import signal  # noqa: PLC0415
    import threading  # noqa: PLC0415

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield  # it is ignored, or not for us to decide
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(number: int, _frame: FrameType | None) -> None:
    """End the process. Nothing is lost: nothing is printed yet, and what we keep is renamed when it is whole."""
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), CLEAR_LINE.encode())
    os._exit(128 + number)  # the exit status in shells for a process that a signal ended


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Say every half second that `what` goes on, once a second has passed; leave no trace of it."""
    if not sys.stderr.isatty():
        yield
        return
    import threading  # noqa: PLC0415 - the server imports this module, and waits for nothing

    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(what, ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _tell(what: str, ended: threading.Event) -> None:
    start = time.monotonic()
    if ended.wait(FIRST_S):
        return
    while True:
        sys.stderr.write(f"{CLEAR_LINE}{what}: {time.monotonic() - start:.0f} s ")
        sys.stderr.flush()
        if ended.wait(EVERY_S):
            break
    sys.stderr.write(CLEAR_LINE)
    sys.stderr.flush()
