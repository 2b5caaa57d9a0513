"""SQLite files, ours and other people's: how they are opened, and what their failures come down to.

Who opens a file words the failure, because only they know what to do next.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Thread

    import aiosqlite

Mode = Literal["ro", "rw", "rwc"]  # read; also write; also create. sqlite.org/uri.html
Fault = Literal["busy", "full", "read_only", "damaged", "unknown"]

LAST_WORDS_S = (
    5.0  # that the thread of a connection which failed may take to end (ours)  # unmoved: it ends at once
)

# Python 3.10 has no error codes, so the texts of sqlite.org/rescode.html and os_unix.c decide.
_FAULTS: tuple[tuple[Fault, tuple[str, ...]], ...] = (
    ("full", ("full", "disk I/O")),
    ("read_only", ("readonly", "unable to open")),
    ("busy", ("locked", "busy")),
    ("damaged", ("malformed", "not a database")),
)


def uri_of(path: Path, mode: Mode, *, still: bool = False) -> str:
    """The address of a file. `still` promises that nobody writes it, so that SQLite puts no file beside it."""
    return f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if still else ''}"


@asynccontextmanager
async def connected(
    path: Path, mode: Mode, patience_s: float, *, still: bool = False
) -> AsyncGenerator[aiosqlite.Connection]:
    """A connection whose transactions are begun and ended by hand, and whose damaged texts spoil nothing else.

    Args:
        path: the file.
        mode: what may be done with it.
        patience_s: how long to wait for another program that holds it.
        still: see `uri_of`.
    """
    import asyncio  # noqa: PLC0415 - only who opens a database pays for both

    import aiosqlite  # noqa: PLC0415

    uri = uri_of(path, mode, still=still)
    opening = aiosqlite.connect(uri, uri=True, timeout=patience_s, isolation_level=None)
    try:
        await opening
    except BaseException:
        # aiosqlite leaves its thread to itself then: it would answer a loop that asyncio.run has closed meanwhile
        thread = cast("Thread", getattr(opening, "_thread", opening))  # itself a thread, before 0.22
        await asyncio.shield(asyncio.to_thread(thread.join, LAST_WORDS_S))
        raise
    try:
        opening.text_factory = text_of
        yield opening
    finally:
        await opening.close()


def text_of(raw: bytes) -> str:
    """A text that is not UTF-8 is read as far as it is."""
    return raw.decode("utf-8", "replace")


def fault_of(error: Exception) -> Fault:
    """What a failure of SQLite comes down to."""
    words = str(error)
    for fault, marks in _FAULTS:
        if any(mark in words for mark in marks):
            return fault
    return "unknown"
