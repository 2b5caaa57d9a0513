"""The terminal in front of a person: its width, whether it shows colours, and the bytes it can take."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

NO_TERMINAL = 100  # columns, where nobody says how many there are
# a full disk, a used up quota or length of a file, a closed stream, a terminal that is gone
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)
NARROWEST = 20  # below that a terminal lies, or nobody reads


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
