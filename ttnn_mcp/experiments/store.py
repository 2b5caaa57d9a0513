"""The log of experiments: a small SQLite database in the user's state folder.

Every change is one transaction, written through to the disk before it is acknowledged: a kill at any moment loses
nothing that was. Two servers may write at once; the second waits for the first.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.errors import StoreUnusable
from ttnn_mcp.experiments.schema import MIGRATIONS, VERSION
from ttnn_mcp.experiments.soundness import check_sound
from ttnn_mcp.experiments.stored_rows import COLUMNS_READ, insert_experiment, insert_target, read_rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
    from pathlib import Path

    import aiosqlite

    from ttnn_mcp.experiments.experiment import Experiment, RunSeen, Target

FILE = "experiments.sqlite"
PATIENCE_S = 20.0  # how long another server may hold the store


def _everything(_run: RunSeen) -> bool:
    return True


class Store:
    """The log of one state folder.

    `visible` chooses the runs that may be named; experiments with others are left out of what is read.

    Attributes:
        damaged: sentences on what the latest reading left out because it makes no sense.
    """

    def __init__(self, folder: Path, visible: Callable[[RunSeen], bool] = _everything) -> None:
        self.path = folder / FILE
        self.damaged: tuple[str, ...] = ()
        self._visible = visible

    async def add(self, experiment: Experiment) -> Experiment:
        """Record one experiment; returns it with its number once it is on the disk.

        Raises:
            QuestionRefused: a value in it could not be read back.
            StoreUnusable: the folder is read-only or full, or the store is damaged or newer than we are.
        """
        check_sound(experiment)
        recorded = replace(experiment, recorded=experiment.recorded or time.time())
        async with self._writing() as connection:
            return replace(recorded, id=await insert_experiment(connection, recorded))

    async def set_target(self, target: Target) -> None:
        """Set the target of the loop that starts at its baseline; an earlier one gives way.

        Raises:
            QuestionRefused, StoreUnusable: see `add`.
        """
        check_sound(target)
        async with self._writing() as connection:
            await insert_target(connection, replace(target, recorded=target.recorded or time.time()))

    async def merge(self, experiments: Iterable[Experiment], targets: Iterable[Target]) -> int:
        """Add what is not there yet, by uid, all or nothing; returns how many experiments were new.

        Raises:
            QuestionRefused, StoreUnusable: see `add`.
        """
        new = 0
        experiments, targets = list(experiments), list(targets)
        for one in (*experiments, *targets):
            check_sound(one)
        async with self._writing() as connection:
            for one in sorted(experiments, key=lambda one: one.recorded):
                there = await connection.execute_fetchall("SELECT 1 FROM experiments WHERE uid = ?", [one.uid])
                if not list(there):
                    await insert_experiment(connection, one)
                    new += 1
            for target in targets:
                await insert_target(connection, target)
        return new

    async def all(self) -> tuple[list[Experiment], list[Target]]:
        """Every experiment in the order recorded, and every target.

        Raises:
            StoreUnusable: the store is damaged, or newer than we are.
        """
        if not self.path.exists():
            return [], []
        async with self._reading() as connection:
            version = await _version(connection)
            if version == 0:  # a store whose making was cut short
                return [], []
            runs = await _fetched(connection, "runs", "*")
            rows = await _fetched(connection, "experiments", ", ".join(COLUMNS_READ))
            aims = await _fetched(connection, "targets", "*") if version > 1 else ()
        log = read_rows(rows, aims, runs)
        self.damaged = log.damaged
        experiments = [one for one in log.experiments if all(map(self._visible, (one.baseline, one.candidate)))]
        targets = [target for target in log.targets if self._visible(target.baseline)]
        return sorted(experiments, key=lambda one: one.id), targets

    @asynccontextmanager
    async def _reading(self) -> AsyncGenerator[aiosqlite.Connection]:
        async with self._connected("rw") as connection:  # what a kill left half done is taken back by who may write
            await connection.execute("BEGIN")  # one snapshot of all tables
            yield connection

    @asynccontextmanager
    async def _writing(self) -> AsyncGenerator[aiosqlite.Connection]:
        """One transaction: committed at the end, undone by whatever is raised."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as failed:
            raise StoreUnusable(self._cannot(f"its folder cannot be made ({failed.strerror})")) from None
        async with self._connected("rwc") as connection:
            await connection.execute("PRAGMA synchronous = FULL")
            await connection.execute("PRAGMA foreign_keys = ON")
            await connection.execute("BEGIN IMMEDIATE")
            await _migrate(connection)
            yield connection
            await connection.execute("COMMIT")  # a connection that is closed without it takes all back

    @asynccontextmanager
    async def _connected(self, mode: str) -> AsyncGenerator[aiosqlite.Connection]:
        import sqlite3  # noqa: PLC0415 - only who opens the log pays for these two

        import aiosqlite  # noqa: PLC0415

        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            async with aiosqlite.connect(uri, uri=True, timeout=PATIENCE_S, isolation_level=None) as connection:
                connection.text_factory = _decoded
                if await _version(connection) > VERSION:
                    raise StoreUnusable(self._cannot("a newer ttnn-mcp wrote it; update this one"))
                yield connection
        except sqlite3.Error as failed:
            raise StoreUnusable(self._cannot(_explained(failed))) from failed

    def _cannot(self, why: str) -> str:
        return (
            f"The log of experiments ({self.path.name} in the state folder) cannot be used: {why}. "
            "Nothing recorded is lost; --state chooses another folder."
        )


def _explained(failed: sqlite3.Error) -> str:
    said = str(failed)
    if "full" in said or "disk I/O" in said:
        return "the disk is full or fails; make room and record again"
    if "readonly" in said or "unable to open" in said:
        return "the folder or the file is read-only"
    if "locked" in said or "busy" in said:
        return f"another program has held it for {PATIENCE_S:.0f} s; try again"
    if "malformed" in said or "not a database" in said:
        return "it is damaged; move it aside, and import an export if there is one"
    return "SQLite reads or writes it no more; move it aside, and import an export if there is one"


async def _version(connection: aiosqlite.Connection) -> int:
    [row] = await connection.execute_fetchall("PRAGMA user_version")
    return int(row[0])


async def _migrate(connection: aiosqlite.Connection) -> None:
    """Bring the tables up to date, inside the transaction that needs them."""
    version = await _version(connection)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            await connection.execute(statement)
    if version < VERSION:
        await connection.execute(f"PRAGMA user_version = {VERSION:d}")


async def _fetched(connection: aiosqlite.Connection, table: str, columns: str) -> Sequence[sqlite3.Row]:
    return list(await connection.execute_fetchall(f"SELECT {columns} FROM {table}"))  # noqa: S608


def _decoded(raw: bytes) -> str:
    """A text that is damaged spoils its row, not the reading of all rows."""
    return raw.decode("utf-8", "replace")
