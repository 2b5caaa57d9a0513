"""An archive of runs: Parquet files in a folder or an object store, asked through DuckDB.

Why DuckDB: it is one package of 61 MB that reads and writes Parquet itself, without an extension to download; it reads
only the row groups that may hold a signature; and it takes a file system of fsspec for object stores.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from ttnn_mcp.archive.engine import connected, failing_as_ours, views, write_part
from ttnn_mcp.archive.parts import ArchivePart, KeptRun, PartList, part_id, shares, written_index
from ttnn_mcp.archive.places import BEGINNING, UNFINISHED, place_of
from ttnn_mcp.archive.schema import OPS, RUNS
from ttnn_mcp.errors import ArchiveUnusable

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from ttnn_mcp.archive.rows import RunRows

OURS = re.compile(rf"[0-9a-f]{{32}}\.(ops|runs)\.parquet|{BEGINNING}\w+{re.escape(UNFINISHED)}")
ABANDONED_S = 3600.0  # a file this old that belongs to no part has no writer any more: a part takes a minute
ATTEMPTS = 3  # a pass packs each part at most once  # unmoved: the third meets a third pass within a second
WRITERS = 1  # thread: whoever writes much has several processes  # unmoved: more of them write the same

Result = TypeVar("Result")

__all__ = ["OPS", "RUNS", "Archive"]


class Archive:
    """The runs that were added to one folder or bucket. Several programs may write to it at once."""

    def __init__(self, folder: str | Path) -> None:
        self.place = place_of(folder)
        self._list = PartList(self.place)
        self._connection: DuckDBPyConnection | None = None
        self._seen: tuple[str, ...] | None = None
        self._lock = Lock()

    def parts(self) -> list[ArchivePart]:
        """Its parts as they are now, the largest first.

        Raises:
            ArchiveUnusable: the place cannot be read.
        """
        with failing_as_ours("read", self.place.shown):
            return self._list.now()

    def known(self) -> dict[str, KeptRun]:
        """Its runs by their key; needs no engine.

        Raises:
            ArchiveUnusable: the place cannot be read.
        """
        return {run.run_key: run for part in self.parts() for run in part.runs}

    def connection(self) -> DuckDBPyConnection:
        """A cursor of the engine with the views `runs` and `ops` (`schema` has their columns).

        It shows the archive as it is now; close it when done. Each thread needs its own.

        Raises:
            ArchiveUnusable: the place cannot be read, or the engine is not installed.
        """
        with self._lock:
            parts = self.parts()
            identity = tuple(part.id for part in parts)
            with failing_as_ours("read", self.place.shown):
                connection = self._connection = self._connection or connected(self.place)
                if identity != self._seen:  # showing it again takes time
                    views(connection, self.place, shares(parts))
                    self._seen = identity
            return connection.cursor()

    def add(self, runs: Sequence[RunRows], stamps: Sequence[str] = ()) -> int:
        """Add runs as one part; those that are known already are left out. Returns how many were new.

        Args:
            runs: the rows of each run.
            stamps: per run, the stamp of the file it came from, by which a later pass knows it.

        Raises:
            ArchiveUnusable: the place cannot be written.
        """
        known = self.known()
        marks = [*stamps, *[""] * (len(runs) - len(stamps))]
        new = {str(rows.run["run_key"]): (rows, mark) for rows, mark in zip(runs, marks, strict=True)}
        new = {key: pair for key, pair in new.items() if key not in known}
        if not new:
            return 0
        kept = [_kept(rows, mark) for rows, mark in new.values()]
        with failing_as_ours("written", self.place.shown), connected(self.place, WRITERS) as engine:
            identity = part_id(new)
            size = write_part(engine, self.place, identity, [rows for rows, _ in new.values()])
            self._finish(identity, kept, size)
        return len(new)

    def forget(self, run_keys: Collection[str]) -> int:
        """Remove runs; parts that hold others too are written again without them. Returns how many were there.

        Raises:
            ArchiveUnusable: the place cannot be written.
        """
        gone = {*run_keys}
        held = gone & self.known().keys()

        def rewritten() -> None:
            for part in self.parts():
                if any(run.run_key in gone for run in part.runs):  # unmoved: others would stay as they are
                    self._rewrite([part], without=gone)

        self.steady(rewritten)
        return len(held)

    def pack(self, parts: Iterable[ArchivePart]) -> None:
        """Write the runs of several parts as one part, and remove them.

        Raises:
            ArchiveUnusable: the place cannot be written.
        """
        chosen = {part.id for part in parts}
        self.steady(
            lambda: self._rewrite([part for part in self.parts() if part.id in chosen], without=frozenset())
        )

    def steady(self, work: Callable[[], Result]) -> Result:
        """What `work` gives. Another program may put parts together under its hands: then it is done again.

        Raises:
            ArchiveUnusable: the place cannot be read or written.
        """
        for _ in range(ATTEMPTS - 1):
            before = {part.id for part in self.parts()}
            try:
                return work()
            except ArchiveUnusable:
                if {part.id for part in self.parts()} == before:
                    raise
        return work()

    def sweep(self) -> None:
        """Remove what killed writers left, and no file that others put there.

        Raises:
            ArchiveUnusable: the place cannot be written.
        """
        with failing_as_ours("written", self.place.shown):
            ours = {name for part in self._list.now() for name in part.files}
            old = time.time() - ABANDONED_S
            stray = [file.name for file in self.place.entries() if file.name not in ours and file.modified < old]
            self.place.remove(name for name in stray if OURS.fullmatch(name))

    def _rewrite(self, parts: list[ArchivePart], *, without: Collection[str]) -> None:
        left = {run.run_key: run for part in parts for run in part.runs if run.run_key not in without}
        identity = part_id(left)
        with failing_as_ours("written", self.place.shown):
            held = {part.id for part in self._list.now()}
            if left and identity not in held:  # unmoved: the same part would be written again
                with connected(self.place, WRITERS) as engine:
                    views(engine, self.place, shares(parts))
                    size = write_part(engine, self.place, identity, None, without=without)
                self._finish(identity, list(left.values()), size)
            for part in parts:
                if part.id != identity:
                    self.place.remove(part.files)

    def _finish(self, identity: str, runs: list[KeptRun], size: int) -> None:
        """Write the index: from now on the part is there."""
        with self.place.filled(identity + ".json") as path:
            path.write_bytes(written_index(runs, size))


def _kept(rows: RunRows, stamp: str) -> KeptRun:
    return KeptRun(str(rows.run["run_key"]), int(str(rows.run["recorded_at"])), len(rows.ops), stamp)
