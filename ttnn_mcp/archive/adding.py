"""Adding reports to an archive in batches. A batch becomes one part: it is there as a whole, or is done again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ttnn_mcp.archive.rows import Provenance, RunRows, rows_of
from ttnn_mcp.archive.sources import Source, local_copy
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import ReportBroken, TtnnMcpError, shown
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.run.kept_report import performance_of
from ttnn_mcp.run.run import Run

BATCH_BYTES = 150_000_000  # of reports: some 100,000 ops, which make a part of 2 MB
BATCH_REPORTS = 64


class Batch(NamedTuple):
    """Reports that become one part."""

    sources: tuple[Source, ...]

    @property
    def size(self) -> int:
        """Bytes of its reports."""
        return sum(source.size for source in self.sources)


class Damage(NamedTuple):
    """A report that could not be read, and why."""

    report: str
    why: str


class Added(NamedTuple):
    """What became of a batch.

    Attributes:
        reports: how many it had.
        size: their bytes.
        new: runs that were added.
        known: runs that the archive held already, by their contents.
        ops: rows of ops that were added.
        damaged: reports that could not be read.
    """

    reports: int
    size: int
    new: int
    known: int
    ops: int
    damaged: tuple[Damage, ...]


def batches(reports: Iterable[Source], workers: int = 1) -> list[Batch]:
    """The reports in batches, small enough that every worker gets several."""
    waiting = list(reports)
    total = sum(source.size for source in waiting)
    size = min(BATCH_BYTES, max(total // (8 * workers), 1))
    made: list[Batch] = []
    batch: list[Source] = []
    for source in waiting:
        batch.append(source)
        if sum(one.size for one in batch) >= size or len(batch) >= BATCH_REPORTS:
            made.append(Batch(tuple(batch)))
            batch = []
    return [*made, Batch(tuple(batch))] if batch else made


def add_batch(folder: str, batch: Batch, provenance: Provenance) -> Added:
    """Read the reports of a batch and add them as one part. Doing it again adds nothing.

    Raises:
        ArchiveUnusable: the archive cannot be read or written.
    """
    archive = _archive(folder)
    known = {*archive.known()}
    rows: list[RunRows] = []
    stamps: list[str] = []
    damaged: list[Damage] = []
    for source in batch.sources:
        read = _read(source, provenance, known)
        if isinstance(read, Damage):
            damaged.append(read)
        elif read is not None:
            known.add(str(read.run["run_key"]))
            rows.append(read)
            stamps.append(source.stamp)
    new = archive.add(rows, stamps)
    ops = sum(len(read.ops) for read in rows)
    held = len(batch.sources) - len(damaged) - new
    return Added(len(batch.sources), batch.size, new, held, ops, tuple(damaged))


@lru_cache(maxsize=2)  # unmoved: what is forgotten is looked up again
def _archive(folder: str) -> Archive:
    """The archive, the same for all batches of a worker: it reads the index of a part once."""
    return Archive(folder)


def _read(source: Source, provenance: Provenance, known: set[str]) -> RunRows | Damage | None:
    """The rows of a report; None if the archive holds its contents already."""
    try:
        with local_copy(source) as path:
            key = fingerprint(path)
            return None if key in known else _rows(path, source, key, provenance)
    except TtnnMcpError as refusal:
        return Damage(source.shown, str(refusal))
    except (OSError, MemoryError) as failed:
        return Damage(source.shown, f"It cannot be read ({shown(type(failed).__name__)}).")


def _rows(path: Path, source: Source, key: str, provenance: Provenance) -> RunRows:
    run = Run(key[:8], source.name, performance_of(path), None)
    rows = rows_of(run, provenance, run_key=key, modified=source.modified_ns / 1e9)
    if fingerprint(path) != key:
        raise ReportBroken(f"{source.name} changed while it was read. Add it again when its run has ended.")
    return rows
