"""What the doctor says of the copies of large reports, and of the archive of earlier runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.errors import ArchiveUnusable
from ttnn_mcp.session.settings import MB

if TYPE_CHECKING:
    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.readers.kept_files import KeptFiles


def space_of(kept: KeptFiles) -> str:
    """What the copies of large reports take, or why there are none."""
    if not kept.most_bytes:
        return "no copies of large reports (--cache-mb 0): each is parsed anew after a restart"
    if not kept.writable():
        return "no copies of large reports, as this folder cannot be written: each is parsed anew after a restart"
    return f"with copies of large reports: {kept.held_bytes() / MB:,.0f} of at most {kept.most_bytes / MB:,.0f} MB"


def archive_state(archive: Archive | None, most_mb: int) -> str:
    """What the archive of earlier runs holds, or why answers cite none."""
    if archive is None:
        return "no archive of earlier runs (--archive-mb 0, or without the extra `archive`): answers cite none"
    try:
        parts = archive.parts()
    except ArchiveUnusable as broken:
        return f"answers cite no earlier runs: {broken}"
    runs = len({run.run_key for part in parts for run in part.runs})
    size = sum(part.size for part in parts) / MB
    return f"with an archive of {runs} earlier runs: {size:,.0f} of at most {most_mb:,} MB"
