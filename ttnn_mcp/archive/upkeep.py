"""Keeping an archive in shape: few large parts instead of many small ones, and not more than its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.archive.parts import ArchivePart, KeptRun
    from ttnn_mcp.archive.store import Archive

PART_OPS = 1_000_000  # a part of so many ops is large: it takes some 20 MB, and is written in about a second
SMALL_PARTS = 32  # so many small ones are read as fast as one large one; more are packed


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
