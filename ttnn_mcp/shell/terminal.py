"""The terminal in front of a person: its width, whether it shows colours, the bytes it can take, and a sign of life.

Whatever takes longer than a second says so on stderr; only where somebody watches.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

if TYPE_CHECKING:
    import threading
    from types import FrameType

    from rich.console import Console


NO_TERMINAL = 100  # columns, where nobody says how many there are
# a full disk, a used up quota or length of a file, a closed stream, a terminal that is gone
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)
NARROWEST = 20  # below that a terminal lies, or nobody reads

Answer = TypeVar("Answer")

FIRST_S = 1.0
EVERY_S = 0.5
CLEAR_LINE = "\r\x1b[2K"


def width() -> int:
    """Columns: COLUMNS, else the terminal's, else 100."""
    import shutil  # noqa: PLC0415 - the server imports this module, and asks for no width

    return max(NARROWEST, shutil.get_terminal_size((NO_TERMINAL, 24)).columns)


def coloured(stream: TextIO) -> bool:
    """Whether to colour: NO_COLOR forbids it (no-color.org), FORCE_COLOR asks for it, else a terminal decides."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def canvas_for(stream: TextIO, paper: TextIO) -> Console:
    """Rich on `paper`, for a reader at `stream`; it looks for nothing in the text it is given."""
    from rich.console import Console  # noqa: PLC0415 - only a drawn answer needs it

    colour = coloured(stream)
    return Console(
        file=paper,
        width=width(),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def open_closed_streams() -> None:
    """Put something in the place of stdin, stdout or stderr where who started us closed it.

    Otherwise a file that we open would get its number, and be written to. Reading ends at once; writing to such a
    stdout fails, as it should, and only then: a server over HTTP writes nothing to it.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_RDONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))


def speak_any_locale() -> None:
    """Let no character stop an answer: where the locale lacks it, stdout and stderr get a substitute."""
    for stream in (sys.stdout, sys.stderr):
        if not (stream.encoding or "").lower().startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def show(text: str) -> None:
    """Print an answer; where it is longer than the terminal, in the pager that the reader chose, else in `less`."""
    import shlex  # noqa: PLC0415
    import shutil  # noqa: PLC0415
    import subprocess  # noqa: PLC0415

    words = shlex.split(os.environ.get("PAGER") or "less")
    fits = text.count("\n") < shutil.get_terminal_size().lines
    if fits or not (sys.stdout.isatty() and sys.stdin.isatty()) or not words or shutil.which(words[0]) is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    plain = {"LESS": "FRX", **os.environ}  # as git does: colours, and the text stays on the screen
    subprocess.run(words, input=text.encode(errors="replace"), env=plain, check=False)  # noqa: S603 - the reader's own


def own_name() -> str:
    """How this program is started here: by its name where the PATH has it, else by its path."""
    import shlex  # noqa: PLC0415
    import shutil  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    if not sys.executable:  # a frozen program, or an embedded Python
        return "ttnn-mcp"
    beside = Path(sys.executable).with_name("ttnn-mcp")
    on_path = shutil.which("ttnn-mcp")
    if on_path and (not beside.exists() or Path(on_path).resolve() == beside.resolve()):
        return "ttnn-mcp"
    if beside.exists():
        with suppress(FileNotFoundError, ValueError):  # the current folder was removed, or lies elsewhere
            beside = beside.relative_to(Path.cwd())
        return shlex.quote(str(beside))
    return f"{shlex.quote(sys.executable)} -m ttnn_mcp"


def is_of_stdout(fault: Exception) -> bool:
    """Whether writing the answer failed; a failure of another file names it."""
    return isinstance(fault, OSError) and fault.errno in UNWRITABLE and fault.filename is None


def mute_stdout() -> None:
    """Nobody takes what stdout still holds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
