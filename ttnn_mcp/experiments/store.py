"""The log of experiments: a small SQLite database in the user's state folder.

Every change is one transaction, and it is on the disk before it is acknowledged: a kill at any moment loses nothing
that was acknowledged. Two servers may write at the same time; the second waits for the first.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.errors import StoreUnusable
from ttnn_mcp.experiments.stored_rows import (
    COLUMNS_READ,
    RUN_COLUMNS,
    TABLES,
    TARGET_COLUMNS,
    VERSION,
    check_sound,
    insert_experiment,
    insert_target,
    read_rows,
)
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.sqlite_file import connected, fault_of

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    import aiosqlite

    from ttnn_mcp.experiments.experiment import Experiment, RunSeen, Target
    from ttnn_mcp.readers.sqlite_file import Fault, Mode

FILE = "experiments.sqlite"
PATIENCE_S = 20.0  # how long another server may hold the store
_REASONS: dict[Fault, str] = {
    "full": "the disk is full or fails; make room and record again",
    "read_only": "the folder or the file is read-only",
    "busy": f"another program has held it for {figure(PATIENCE_S, '.0f')} s; try again",
    "damaged": "it is damaged; move it aside, and import an export if there is one",
    "unknown": "SQLite can no longer read or write it; move it aside, and import an export if there is one",
}


class Store:
    """The log of one state folder.

    Experiments with a run that `visible` does not accept are never returned.

    Attributes:
        path: the database.
        damaged: sentences on the damaged rows that the latest reading left out.
    """

    def __init__(self, folder: Path, visible: Callable[[RunSeen], bool] = lambda _run: True) -> None:
        self.path = folder / FILE
        self.damaged: tuple[str, ...] = ()
        self._visible = visible

    async def add(self, experiment: Experiment) -> Experiment:
        """Record one experiment; returns it with its number as soon as it is on the disk.

        Raises:
            QuestionRefused: a value in it could not be read again.
            StoreUnusable: the folder is read-only or full, or the store is damaged or newer than this version.
        """
        check_sound(experiment)
        recorded = replace(experiment, recorded=experiment.recorded or time.time())
        async with self._writing() as connection:
            return replace(recorded, id=await insert_experiment(connection, recorded))

    async def set_target(self, target: Target) -> None:
        """Set the target of the loop that starts at its baseline; it replaces an earlier one.

        Raises:
            QuestionRefused, StoreUnusable: see `add`.
        """
        check_sound(target)
        async with self._writing() as connection:
            await insert_target(connection, replace(target, recorded=target.recorded or time.time()))

    async def merge(self, experiments: Iterable[Experiment], targets: Iterable[Target]) -> int:
        """Add the experiments whose uid is new, and the targets, all or nothing; returns how many were new.

        Raises:
            QuestionRefused, StoreUnusable: see `add`.
        """
        new = 0
        experiments, targets = list(experiments), list(targets)
        for record in (*experiments, *targets):
            check_sound(record)
        async with self._writing() as connection:
            for experiment in sorted(experiments, key=lambda experiment: experiment.recorded):
                existing = await connection.execute_fetchall(
                    "SELECT 1 FROM experiments WHERE uid = ?", [experiment.uid]
                )
                if not list(existing):
                    await insert_experiment(connection, experiment)
                    new += 1
            for target in targets:
                await insert_target(connection, target)
        return new

    async def all(self) -> tuple[list[Experiment], list[Target]]:
        """Every experiment in the order recorded, and every target.

        Raises:
            StoreUnusable: the store is damaged, or newer than this version.
        """
        try:
            recorded = self.path.exists()
        except OSError as closed:  # a folder above it
            raise StoreUnusable(self._cannot(f"it cannot be read ({closed.strerror})")) from None
        if not recorded:
            return [], []
        async with self._reading() as connection:
            if await _version(connection) == 0:  # the process that made the store was killed
                return [], []
            runs = await _fetched(connection, "runs", RUN_COLUMNS)
            rows = await _fetched(connection, "experiments", COLUMNS_READ)
            aims = await _fetched(connection, "targets", TARGET_COLUMNS)
        log = read_rows(rows, aims, runs)
        self.damaged = log.damaged
        experiments = [
            experiment
            for experiment in log.experiments
            if all(map(self._visible, (experiment.baseline, experiment.candidate)))
        ]
        targets = [target for target in log.targets if self._visible(target.baseline)]
        return sorted(experiments, key=lambda experiment: experiment.id), targets

    @asynccontextmanager
    async def _reading(self) -> AsyncGenerator[aiosqlite.Connection]:
        async with self._connected("rw") as connection:  # "rw": only a writer can undo what a kill left half done
            await connection.execute("BEGIN")  # one snapshot of all tables
            yield connection

    @asynccontextmanager
    async def _writing(self) -> AsyncGenerator[aiosqlite.Connection]:
        """One transaction: committed at the end, undone by any exception."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as failed:
            raise StoreUnusable(self._cannot(f"its folder cannot be made ({failed.strerror})")) from None
        async with self._connected("rwc") as connection:
            await connection.execute("PRAGMA synchronous = FULL")
            await connection.execute("PRAGMA foreign_keys = ON")
            await connection.execute("BEGIN IMMEDIATE")
            if await _version(connection) == 0:
                for statement in (*TABLES, f"PRAGMA user_version = {VERSION:d}"):
                    await connection.execute(statement)
            yield connection
            await connection.execute("COMMIT")  # closing the connection without it undoes everything

    @asynccontextmanager
    async def _connected(self, mode: Mode) -> AsyncGenerator[aiosqlite.Connection]:
        import sqlite3  # noqa: PLC0415 - only needed once the log is opened

        try:
            async with connected(self.path, mode, PATIENCE_S) as connection:
                if await _version(connection) not in (0, VERSION):
                    raise StoreUnusable(self._cannot("a newer ttnn-mcp wrote it; update this one"))
                yield connection
        except sqlite3.Error as failed:
            raise StoreUnusable(self._cannot(_REASONS[fault_of(failed)])) from failed

    def _cannot(self, why: str) -> str:
        return (
            f"The log of experiments ({self.path.name} in the state folder) cannot be used: {why}. "
            "Nothing recorded is lost; --state chooses another folder."
        )


async def _version(connection: aiosqlite.Connection) -> int:
    [row] = await connection.execute_fetchall("PRAGMA user_version")
    return int(row[0])


async def _fetched(connection: aiosqlite.Connection, table: str, columns: Iterable[str]) -> Sequence[sqlite3.Row]:
    return list(await connection.execute_fetchall(f"SELECT {', '.join(columns)} FROM {table}"))  # noqa: S608
