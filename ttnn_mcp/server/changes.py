"""Changes while the server runs: a report that appears under the roots, an experiment that is recorded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ttnn_mcp.readers.discover import find_reports

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from ttnn_mcp.session.session import Session

RUNS_URI = "ttnn://runs"
EXPERIMENTS_URI = "ttnn://experiments"
EVERY_SECONDS = 2.0  # a profile takes minutes, a scan milliseconds  # unmoved: news a moment sooner or later


async def news(session: Session, every_seconds: float | None = None) -> AsyncGenerator[str, None]:
    """URIs of resources that changed; looks every few seconds until the caller stops."""
    before = await asyncio.to_thread(_state_of, session)
    while True:
        await asyncio.sleep(every_seconds or EVERY_SECONDS)
        after = await asyncio.to_thread(_state_of, session)
        for uri, state in after.items():
            if state != before[uri]:
                yield uri
        before = after


def _state_of(session: Session) -> dict[str, object]:
    reports = frozenset((str(report.path), report.modified) for report in find_reports(session.settings.searched))
    return {RUNS_URI: reports, EXPERIMENTS_URI: _stamp(session)}


def _stamp(session: Session) -> tuple[tuple[int, int], ...]:
    """Times and sizes of the log's files: another server may write into the same log."""
    from ttnn_mcp.experiments.store import FILE  # noqa: PLC0415 - not needed to start serving

    files = session.settings.state_folder.glob(FILE + "*")
    return tuple(
        sorted((state.st_mtime_ns, state.st_size) for state in map(_file_state, files) if state is not None)
    )


def _file_state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:  # deleted after it was listed
        return None
