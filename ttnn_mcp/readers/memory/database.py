"""Somebody else's SQLite file, opened so that it stays as it is: no write, no lock kept, no file beside it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportBroken, ReportMissing, shown
from ttnn_mcp.readers.fingerprint import stamp_of
from ttnn_mcp.readers.regular_file import begin_of
from ttnn_mcp.readers.sqlite_file import connected, fault_of

if TYPE_CHECKING:
    from pathlib import Path

    import aiosqlite

_MAGIC = b"SQLite format 3\x00"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")  # sqlite.org/fileformat2.html#the_rollback_journal
_HEADER_BYTES = 100
_PATIENCE_S = 0.5  # how long a writer may hold the file before we say so


@asynccontextmanager
async def open_database(path: Path) -> AsyncGenerator[aiosqlite.Connection, None]:
    """A read-only connection; whatever SQLite says inside the block becomes one of our errors.

    Raises:
        ReportMissing: no such file, or not readable.
        ReportBroken: no SQLite database, cut off, or with a write under way.
    """
    import sqlite3  # noqa: PLC0415 - only who reads a database pays for it

    still = _is_still(path)
    try:
        async with connected(path, "ro", _PATIENCE_S, still=still) as connection:
            # the file's own views and triggers run nothing
            await connection.executescript("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF")
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:  # sqlite3 decodes its own complaint about bad UTF-8
        raise ReportBroken(_explained(path, error)) from error


def state_of(path: Path) -> tuple[int, ...]:
    """What changes whenever the file does; empty where there is none."""
    try:
        return stamp_of(path.stat())
    except (OSError, ValueError):
        return ()


def check_unchanged(path: Path, state: tuple[int, ...]) -> None:
    """Refuse what was read meanwhile if the file is not in this state any more.

    Raises:
        ReportBroken: it was written, replaced or removed since.
    """
    if state_of(path) != state:
        raise ReportBroken(
            f"{_name(path)} changed while the question was answered. Wait until the run has ended, then ask again."
        )


def _is_still(path: Path) -> bool:
    """Whether SQLite would put a file beside this one unless told that nobody writes it; refuses what is not whole.

    It would in WAL mode, beside a -wal file, and in a folder that cannot be written.
    """
    header = _header(path)
    if not header:
        raise ReportBroken(f"{_name(path)} is empty: the run ended before its report was written. Run it again.")
    if not header.startswith(_MAGIC):
        raise ReportBroken(f"{_name(path)} is not a SQLite database; give the db.sqlite of a memory report.")
    for suffix in ("-journal", "-wal", "-shm"):
        if _is_special(path, suffix):  # SQLite would wait for whoever writes a pipe
            raise ReportBroken(f"The {suffix} file beside {_name(path)} is not a regular file: remove it.")
    wal = header[18:20] != b"\x01\x01"
    if wal and _size(path, "-wal"):
        raise ReportBroken(
            f"{_name(path)} has changes that are not merged into it yet (a -wal file lies beside it). Wait until "
            'the run has ended; if it crashed, merge them: sqlite3 db.sqlite "PRAGMA wal_checkpoint(TRUNCATE)".'
        )
    if _journal(path).startswith(_JOURNAL_MAGIC):
        raise ReportBroken(
            f"{_name(path)} is half written (a -journal file lies beside it). Wait until the run has ended; if it "
            "crashed, opening the file once with the sqlite3 shell undoes the half-written part."
        )
    missing = _missing_bytes(header, path.stat().st_size)
    if missing:
        raise ReportBroken(f"{_name(path)} is cut off: {missing} bytes are missing at its end. Copy it again.")
    # SQLite puts an index beside a -wal file even where it is a stale copy that the database knows nothing of
    return wal or _size(path, "-wal") > 0 or not os.access(path.parent, os.W_OK)


def _header(path: Path) -> bytes:
    try:
        if not path.is_file():  # a pipe or a device would block
            raise ReportMissing(
                f"There is no database file {_name(path)}; give a memory report folder or its db.sqlite."
            )
        return begin_of(path, _HEADER_BYTES)
    except (OSError, ValueError) as error:
        raise ReportMissing(f"{_name(path)} cannot be opened: check its permissions.") from error


def _missing_bytes(header: bytes, size: int) -> int:
    """How much shorter the file is than its header says: page size x page count, where the count is current."""
    if len(header) < _HEADER_BYTES:
        return _HEADER_BYTES - len(header)
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big") if header[24:28] == header[92:96] else 1
    return max((65_536 if page == 1 else page) * pages - size, 0)


def _is_special(path: Path, suffix: str) -> bool:
    beside = path.with_name(path.name + suffix)
    return beside.exists() and not beside.is_file()


def _size(path: Path, suffix: str) -> int:
    try:
        return path.with_name(path.name + suffix).stat().st_size
    except OSError:
        return 0


def _journal(path: Path) -> bytes:
    """How its journal begins; empty where there is none."""
    try:
        return begin_of(path.with_name(f"{path.name}-journal"), len(_JOURNAL_MAGIC))
    except OSError:
        return b""


def _explained(path: Path, error: Exception) -> str:
    """What to do next; SQLite's own words are not ours to repeat."""
    fault = fault_of(error)
    if fault == "busy":
        return f"{_name(path)} is being written by another program: wait until the run has ended, then ask again."
    if fault == "damaged":
        return f"{_name(path)} is damaged inside. Copy it again from where it was made, or make the report again."
    return f"{_name(path)} could not be read as a SQLite database. Check that it opens in the sqlite3 shell."


def _name(path: Path) -> str:
    return shown(f"{path.parent.name}/{path.name}")
