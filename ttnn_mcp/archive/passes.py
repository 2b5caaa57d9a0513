"""One pass over reports: what is new is read, by whoever is to read it, and added; the archive is then put in shape.

In shape it has few large parts instead of many small ones, and keeps within its bounds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Protocol

from ttnn_mcp.archive import pools
from ttnn_mcp.archive.adding import Added, Batch, Damage, batches
from ttnn_mcp.archive.parts import ArchivePart, KeptRun
from ttnn_mcp.archive.rows import Provenance
from ttnn_mcp.archive.sources import sources
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.records import dataclass

PART_OPS = 1_000_000  # a part of so many ops is large: it takes some 20 MB, and is written in about a second
SMALL_PARTS = 32  # so many small ones are read as fast as one large one; more are packed
CLUSTER_WORKERS = 4  # batches are made for so many; more of them share what there is
ALONE_BYTES = 20_000_000  # so much is read in about the second that starting processes takes


@dataclass(frozen=True, slots=True)
class Order:
    """What a pass is to do.

    Attributes:
        patterns: files, folders or wildcards.
        folder: the archive's folder or URL.
        provenance: what a person says of the runs.
        jobs: processes of this machine; None means one per core.
        cluster: address of a Dask scheduler; None means this machine.
        most_bytes: the most that the archive may take; None means no bound.
    """

    patterns: Sequence[str]
    folder: str
    provenance: Provenance = field(default_factory=Provenance)
    jobs: int | None = None
    cluster: str | None = None
    most_bytes: int | None = None


@dataclass(slots=True)
class Outcome:
    """What became of a pass: counts of reports, rows of ops, what could not be read, and runs that left for room."""

    new: int = 0
    known: int = 0
    ops: int = 0
    damaged: list[Damage] = field(default_factory=list[Damage])
    skipped: list[str] = field(default_factory=list[str])
    left: int = 0

    def take(self, added: Added) -> None:
        """Count a batch."""
        self.new += added.new
        self.known += added.known
        self.ops += added.ops
        self.damaged += added.damaged


class Listener(Protocol):
    """Who is told how far a pass is."""

    def begins(self, reports: int, size: int) -> None:
        """So many reports are to be read, of so many bytes."""
        ...

    def goes_on(self, added: Added) -> None:
        """A batch is done."""
        ...

    def ends(self) -> None:
        """No more batches follow."""
        ...


def one_pass(order: Order, listener: Listener) -> Outcome:
    """Add what is new. A pass that was interrupted is taken up by the next one.

    Raises:
        ReportMissing: a pattern names nothing.
        ArchiveUnusable: the archive or the cluster cannot be used.
    """
    archive = Archive(order.folder)
    reports, skipped = sources(order.patterns)
    stamps = {run.stamp for run in archive.known().values()}
    new = [source for source in reports if source.stamp not in stamps]
    outcome = Outcome(known=len(reports) - len(new), skipped=skipped)
    listener.begins(len(new), sum(source.size for source in new))
    try:
        for added in _added(order, batches(new, _workers(order))):
            outcome.take(added)
            listener.goes_on(added)
    finally:
        listener.ends()
    pack_small(archive)
    archive.sweep()
    outcome.left = keep_within(archive, order.most_bytes) if order.most_bytes is not None else 0
    return outcome


def _workers(order: Order) -> int:
    if order.cluster is not None:
        return CLUSTER_WORKERS
    return order.jobs or os.cpu_count() or 1


def _added(order: Order, work: list[Batch]) -> Iterator[Added]:
    if not work:
        return iter(())
    if order.cluster is not None:
        return pools.added_by_cluster(order.folder, work, order.provenance, order.cluster)
    jobs = min(_workers(order), len(work))
    if jobs == 1 or (order.jobs is None and sum(batch.size for batch in work) < ALONE_BYTES):
        return pools.added_here(order.folder, work, order.provenance)
    return pools.added_by_processes(order.folder, work, order.provenance, jobs)


def pack_small(archive: Archive) -> int:
    """Pack small parts together where there are many; returns how many were packed.

    Raises:
        ArchiveUnusable: the archive cannot be written.
    """
    small = [part for part in archive.parts() if part.ops < PART_OPS // 2]
    if len(small) <= SMALL_PARTS:
        return 0
    pack: list[ArchivePart] = []
    for part in sorted(small, key=_first_recorded):
        pack.append(part)
        if sum(packed.ops for packed in pack) >= PART_OPS:
            archive.pack(pack)
            pack = []
    if len(pack) > 1:
        archive.pack(pack)
    return len(small)


def keep_within(archive: Archive, most_bytes: int) -> int:
    """Remove the runs recorded first until the rest fits; returns how many left.

    Raises:
        ArchiveUnusable: the archive cannot be written.
    """
    parts = archive.parts()
    over = sum(part.size for part in parts) - most_bytes
    runs: list[tuple[KeptRun, float]] = [
        (run, part.size * (run.ops + 1) / (part.ops + len(part.runs))) for part in parts for run in part.runs
    ]
    leaving: set[str] = set()
    for run, size in sorted(runs, key=lambda sized: (sized[0].recorded_at, sized[0].run_key)):
        if over <= 0:
            break
        leaving.add(run.run_key)
        over -= int(size)
    return archive.forget(leaving)


def _first_recorded(part: ArchivePart) -> int:
    return min(run.recorded_at for run in part.runs)
