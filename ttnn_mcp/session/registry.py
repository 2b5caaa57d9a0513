"""Runs on record: their reports by path, their ids, and those that were opened before.

A run's id comes from the contents of its reports, so it survives moves and restarts. A small database in the user's
state folder knows where the reports of an id lie.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ttnn_mcp.errors import ReportMissing, shown, shown_path
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.readers.sqlite_file import connected
from ttnn_mcp.records import dataclass
from ttnn_mcp.session.places import LONGEST_PATH, is_there
from ttnn_mcp.session.settings import reason

ID_CHARS = 32  # 128 bits: nobody makes a report with the id of another
SHOWN_CHARS = 8  # of them in answers, where no other run begins alike

# for another server that writes; questions are answered without the registry too
PATIENCE_S = 5.0  # unmoved: only how long another writer is waited for
LISTED = 5000  # the runs opened last; a list of runs shows a hundred
ID = re.compile(f"[0-9a-f]{{{SHOWN_CHARS},{ID_CHARS}}}")  # or how it begins

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, performance TEXT, memory TEXT, rank INTEGER, opened REAL NOT NULL,
    given INTEGER NOT NULL -- whether a person gave the name
)"""
_REMEMBER = """
INSERT INTO runs (id, name, performance, memory, rank, opened, given) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET performance = excluded.performance, memory = excluded.memory, rank = excluded.rank,
    opened = excluded.opened, given = max(given, excluded.given),
    name = CASE WHEN given AND NOT excluded.given THEN name ELSE excluded.name END"""
_TAKE_NAME = f"UPDATE runs SET name = substr(id, 1, {SHOWN_CHARS}), given = 0 WHERE name = ? AND given AND id <> ?"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Pair:
    """The reports of one run, by path."""

    performance: Path | None
    memory: Path | None
    rank: int | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths that are set."""
        return tuple(path for path in (self.performance, self.memory) if path is not None)


class Stamp(NamedTuple):
    """Properties of a file that change whenever its contents do; times in nanoseconds since 1970."""

    modified: int
    changed: int
    size: int
    inode: int


Stamps: TypeAlias = "tuple[Stamp, ...]"


def identity(pair: Pair, kept: KeptFiles | None = None) -> str:
    """The id of the run, from the contents of its reports. Reads files that it has not seen before, so it blocks.

    Args:
        pair: the reports.
        kept: where checksums of large files are stored.

    Raises:
        ReportMissing: one of them cannot be opened.
    """
    contents = _contents(pair.performance, kept) + _contents(pair.memory, kept)
    contents += str(pair.rank).encode() if pair.rank else b""
    sizes = SHOWN_CHARS // 2, (ID_CHARS - SHOWN_CHARS) // 2  # what is shown, and the rest
    return "".join(blake2b(contents, digest_size=size).hexdigest() for size in sizes)


def _contents(path: Path | None, kept: KeptFiles | None) -> bytes:
    return b"-" if path is None else fingerprint(path, kept).encode()


def stamps_of(pair: Pair) -> Stamps:
    """The stamps of a pair's files.

    Raises:
        ReportMissing: one of them is not there, or may not be looked at.
    """
    return tuple(map(stamp_of, pair.paths))


def stamp_of(path: Path) -> Stamp:
    """The stamp of one file.

    Raises:
        ReportMissing: it is not there, or may not be looked at.
    """
    try:
        state = path.stat()
    except (OSError, ValueError):
        raise ReportMissing(f"{shown_path(path)} is not there any more, or its folder cannot be read.") from None
    return Stamp(state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run that need not be open: its names and its reports' paths.

    Attributes:
        id: from the reports' contents; "" where they were not read yet.
        name: for people.
        performance: path of the performance report.
        memory: path of the memory report.
        rank: the rank whose rows of the memory report are meant, where it holds several.
        modified: when the reports were written last, in seconds since 1970; None where unknown.
        named_by_hand: whether a person gave the name; otherwise it comes from the folders.
        caveats: what was odd when the reports were found.
    """

    id: str
    name: str
    performance: Path | None
    memory: Path | None
    rank: int | None
    modified: float | None
    named_by_hand: bool = False
    caveats: tuple[str, ...] = ()

    @property
    def pair(self) -> Pair:
        """Its reports."""
        return Pair(self.performance, self.memory, self.rank)

    @property
    def shown_id(self) -> str:
        """As much of its id as answers show."""
        return self.id[:SHOWN_CHARS]

    @property
    def is_there(self) -> bool:
        """Whether its reports lie where they lay."""
        return all(map(is_there, self.pair.paths))


class Registry:
    """The record of opened runs. If the state folder cannot be written, it is empty and everything else works.

    Runs that `permits` refuses belong to other sessions and are never returned.
    """

    def __init__(self, folder: Path, permits: Callable[..., bool]) -> None:
        self._path = folder / "runs.sqlite"
        self._permits = permits

    async def remember(self, run: KnownRun) -> str | None:
        """Record a run, or renew its record; why it could not be recorded, or None.

        A name that a person gave belongs to one run: any other run loses it.
        """
        import sqlite3  # noqa: PLC0415

        paths = [_stored(path) for path in (run.performance, run.memory)]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            async with connected(self._path, "rwc", PATIENCE_S) as database:
                await database.execute("BEGIN IMMEDIATE")
                await database.execute(_SCHEMA)
                if run.named_by_hand:
                    await database.execute(_TAKE_NAME, (run.name, run.id))
                row = (run.id, run.name, *paths, run.rank, time.time(), int(run.named_by_hand))
                await database.execute(_REMEMBER, row)
                await database.execute("COMMIT")
        except (OSError, sqlite3.Error) as failed:  # questions can be answered all the same
            return reason(self._path.parent, failed)
        return None

    async def fault(self) -> str | None:
        """Why nothing can be recorded in it; None where that works, or nothing is recorded yet."""
        import sqlite3  # noqa: PLC0415

        if not is_there(self._path):
            return None
        try:
            async with connected(self._path, "rw", PATIENCE_S) as database:
                await database.execute("BEGIN IMMEDIATE")
                await database.execute_fetchall("SELECT count(*) FROM sqlite_master")
        except (OSError, sqlite3.Error) as failed:
            return reason(self._path.parent, failed)
        return None

    async def all(self) -> list[KnownRun]:
        """All runs on record, the one opened last first; damaged rows are left out."""
        return await self._where("1", "")

    async def with_id(self, run_id: str) -> list[KnownRun]:
        """The runs whose ids begin so."""
        return await self._where("substr(id, 1, length(?1)) = ?1", run_id)

    async def called(self, name: str) -> list[KnownRun]:
        """The runs of this name, the one opened last first."""
        return await self._where("name = ?", name)

    async def _where(self, condition: str, value: str) -> list[KnownRun]:
        import sqlite3  # noqa: PLC0415

        try:
            if not is_there(self._path):
                return []
            async with connected(self._path, "rw", PATIENCE_S) as database:  # to undo what a kill left half done
                rows = await database.execute_fetchall(
                    "SELECT id, name, performance, memory, rank, given FROM runs"  # noqa: S608
                    f" WHERE {condition} ORDER BY opened DESC LIMIT {LISTED:d}",
                    (value,) if "?" in condition else (),
                )
        except (OSError, ValueError, sqlite3.Error):  # a lone surrogate in a name is a ValueError
            return []
        runs = [run for run in map(_run_of, rows) if run is not None]
        return await asyncio.to_thread(lambda: [run for run in runs if self._permits(*run.pair.paths)])


def _stored(path: Path | None) -> str | bytes | None:
    """A path as the database stores it: as bytes if it is not valid UTF-8."""
    if path is None:
        return None
    written = str(path.resolve())
    try:
        written.encode()
    except UnicodeEncodeError:
        return os.fsencode(written)
    return written


def _run_of(row: Any) -> KnownRun | None:
    """The run of a row; None for a row that another program, or a fault, wrote."""
    run_id, name, performance, memory, rank, by_hand = row
    paths = [os.fsdecode(path) if isinstance(path, bytes) else path for path in (performance, memory)]
    sound = (
        isinstance(run_id, str)
        and ID.fullmatch(run_id)
        and isinstance(name, str)
        and all(path is None or (isinstance(path, str) and 0 < len(path) <= LONGEST_PATH) for path in paths)
        and any(paths)
        and not any("\0" in path for path in paths if path)
        and (rank is None or (isinstance(rank, int) and rank >= 0))
    )
    if not sound:
        return None
    places = [Path(path) if path else None for path in paths]
    return KnownRun(run_id, shown(name), places[0], places[1], rank, None, bool(by_hand))
