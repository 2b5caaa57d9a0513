"""Runs opened before, so that their ids survive a restart: a small database in the user's state folder."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import aiosqlite

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, performance TEXT, memory TEXT, rank INTEGER, opened REAL NOT NULL
)"""


@dataclass(frozen=True, slots=True)
class Known:
    """A run by its reports' paths; `modified` is seconds since the epoch, None where not looked up."""

    id: str
    name: str
    performance: Path | None
    memory: Path | None
    rank: int | None
    modified: float | None


class Registry:
    """The opened runs on record; where the state folder cannot be written, none, and all else works."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "runs.sqlite"

    async def remember(self, known: Known) -> None:
        """Record or renew one run."""
        import sqlite3  # noqa: PLC0415

        paths = [str(path.resolve()) if path else None for path in (known.performance, known.memory)]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            async with self._connected() as database:
                await database.execute(_SCHEMA)
                await database.execute(
                    "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                    (known.id, known.name, *paths, known.rank, time.time()),
                )
                await database.commit()
        except (OSError, sqlite3.Error):
            return  # a read-only home is no reason not to answer

    async def find(self, wanted: str) -> Known | None:
        """The run with this id or name whose reports are still there; the latest opened wins."""
        matching = [known for known in await self.all() if wanted in (known.id, known.name)]
        return next((known for known in matching if _is_there(known)), None)

    async def all(self) -> list[Known]:
        """All runs on record, latest opened first."""
        import sqlite3  # noqa: PLC0415

        if not self._path.exists():
            return []
        try:
            async with self._connected() as database:
                rows = await database.execute_fetchall(
                    "SELECT id, name, performance, memory, rank FROM runs ORDER BY opened DESC"
                )
        except sqlite3.Error:
            return []
        return [
            Known(run_id, name, _path(performance), _path(memory), rank, None)
            for run_id, name, performance, memory, rank in rows
        ]

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[aiosqlite.Connection]:
        import aiosqlite  # noqa: PLC0415

        async with aiosqlite.connect(self._path, timeout=5) as database:
            yield database


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _is_there(known: Known) -> bool:
    return all(path is None or path.exists() for path in (known.performance, known.memory))
