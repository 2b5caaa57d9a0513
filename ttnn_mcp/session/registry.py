"""Runs opened before, so that their ids survive a restart: a small database in the user's state folder."""

from __future__ import annotations

import asyncio
import os
import re
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import shown
from ttnn_mcp.session.pair import ID_CHARS, Pair
from ttnn_mcp.session.places import LONGEST_PATH

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    import aiosqlite

PATIENCE_S = 5.0  # how long another server may hold it; a run is answered for with or without it
LISTED = 5000  # latest opened; a list of runs shows a hundred
ID = re.compile(f"[0-9a-f]{{{ID_CHARS}}}")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, performance TEXT, memory TEXT, rank INTEGER, opened REAL NOT NULL
)"""
_GIVEN = "ALTER TABLE runs ADD COLUMN given INTEGER NOT NULL DEFAULT 0"  # a person gave the name
_REMEMBER = """
INSERT INTO runs (id, name, performance, memory, rank, opened, given) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET performance = excluded.performance, memory = excluded.memory, rank = excluded.rank,
    opened = excluded.opened, given = max(given, excluded.given),
    name = CASE WHEN given AND NOT excluded.given THEN name ELSE excluded.name END"""
_TAKE_NAME = "UPDATE runs SET name = id, given = 0 WHERE name = ? AND given AND id <> ?"


@dataclass(frozen=True, slots=True)
class Known:
    """A run by its reports' paths.

    Attributes:
        modified: seconds since the epoch, None where not looked up.
        given: whether a person gave the name; else it comes from the folders.
        caveats: what was noticed when the reports were found.
    """

    id: str
    name: str
    performance: Path | None
    memory: Path | None
    rank: int | None
    modified: float | None
    given: bool = False
    caveats: tuple[str, ...] = ()

    @property
    def pair(self) -> Pair:
        """Its reports."""
        return Pair(self.performance, self.memory, self.rank)


class Registry:
    """The opened runs on record; where the state folder cannot be written, none, and all else works.

    Runs that `permits` refuses are on record for others and are not told of.
    """

    def __init__(self, folder: Path, permits: Callable[..., bool]) -> None:
        self._path = folder / "runs.sqlite"
        self._permits = permits

    async def remember(self, known: Known) -> None:
        """Record or renew one run. A name that a person gives belongs to one run: another loses it."""
        import sqlite3  # noqa: PLC0415

        paths = [_kept(path) for path in (known.performance, known.memory)]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            async with self._connected() as database:
                await database.execute(_SCHEMA)
                if "given" not in await _columns(database):
                    await database.execute(_GIVEN)
                if known.given:
                    await database.execute(_TAKE_NAME, (known.name, known.id))
                row = (known.id, known.name, *paths, known.rank, time.time(), int(known.given))
                await database.execute(_REMEMBER, row)
                await database.commit()
        except (OSError, sqlite3.Error):
            return  # a read-only home is no reason not to answer

    async def all(self) -> list[Known]:
        """All runs on record, latest opened first; a row that makes no sense is left out."""
        return await self._where("1", "")

    async def with_id(self, wanted: str) -> list[Known]:
        """The run with this id, if it is on record."""
        return await self._where("id = ?", wanted)

    async def called(self, wanted: str) -> list[Known]:
        """The runs of this name, latest opened first."""
        return await self._where("name = ?", wanted)

    async def _where(self, condition: str, value: str) -> list[Known]:
        import sqlite3  # noqa: PLC0415

        try:
            value.encode()
            if not self._path.exists():
                return []
            async with self._connected() as database:
                given = "given" if "given" in await _columns(database) else "0"
                rows = await database.execute_fetchall(
                    f"SELECT id, name, performance, memory, rank, {given} FROM runs"  # noqa: S608
                    f" WHERE {condition} ORDER BY opened DESC LIMIT {LISTED:d}",
                    (value,) if "?" in condition else (),
                )
        except (OSError, ValueError, sqlite3.Error):  # a lone surrogate in a name is a ValueError
            return []
        known = [known for known in map(_known, rows) if known is not None]
        return await asyncio.to_thread(lambda: [each for each in known if self._permits(*each.pair.paths)])

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[aiosqlite.Connection]:
        import aiosqlite  # noqa: PLC0415

        async with aiosqlite.connect(self._path, timeout=PATIENCE_S) as database:
            database.text_factory = _decoded
            yield database


async def _columns(database: aiosqlite.Connection) -> set[str]:
    return {row[1] for row in await database.execute_fetchall("PRAGMA table_info(runs)")}


def _kept(path: Path | None) -> str | bytes | None:
    """A path as the database holds it: a name that is no UTF-8 as its bytes."""
    if path is None:
        return None
    written = str(path.resolve())
    try:
        written.encode()
    except UnicodeEncodeError:
        return os.fsencode(written)
    return written


def _known(row: Any) -> Known | None:
    """A row as a run; None where another program, or a fault, wrote it."""
    run_id, name, performance, memory, rank, given = row
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
    return Known(run_id, shown(name), places[0], places[1], rank, None, bool(given))


def _decoded(raw: bytes) -> str:
    """A text that is damaged spoils its row, not the reading of all rows."""
    return raw.decode("utf-8", "replace")
