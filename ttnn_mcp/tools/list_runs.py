"""list_runs: what reports are there."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ttnn_mcp.quoting import single_line
from ttnn_mcp.readers.performance.csv_file import count_device_ops
from ttnn_mcp.session.registry import KnownRun
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.tool import Arguments as Closed
from ttnn_mcp.tools.tool import Tool
from ttnn_mcp.wire import Columns, Quoting, Table, Wire

RUNS = Columns(
    "id", "name", "performance", "memory", "modified", "device_ops", quoted=("name", "performance", "memory")
)


NONE_FOUND = "No report found. open_run takes any path; run='demo' shows what an answer looks like."


class Arguments(Closed):
    """Arguments of list_runs."""

    limit: int = Field(20, ge=1, le=100)


class Answer(Wire):
    """Answer of list_runs."""

    runs: Annotated[Table, RUNS]
    total: int
    roots: tuple[str, ...]
    note: Quoting | None = None


async def list_runs(session: Session, asked: Arguments) -> Answer:
    """List profiles: reports under the roots and runs opened before, newest first. `demo` is always there."""
    under_roots = await session.runs_under_roots(asked.limit)
    pairs = {known.pair for known in under_roots}
    opened = [known for known in await session.registry.all() if known.pair not in pairs]
    known_runs = sorted([*under_roots, *map(_dated, opened)], key=lambda known: -(known.modified or 0))
    listed = known_runs[: asked.limit]
    counts = await asyncio.to_thread(lambda: [_device_ops(known.performance) for known in listed])
    return Answer(
        runs=RUNS.table(
            [
                (known.shown_id, known.name, _text(known.performance), _text(known.memory), _when(known), count)
                for known, count in zip(listed, counts, strict=True)
            ]
        ),
        total=len(known_runs),
        roots=tuple(str(root) for root in session.settings.searched),
        note="; ".join([*([] if known_runs else [NONE_FOUND]), *session.skipped]) or None,
    )


def _device_ops(path: Path | None) -> int | None:
    return count_device_ops(path) if path is not None else None


def _dated(known: KnownRun) -> KnownRun:
    from dataclasses import replace  # noqa: PLC0415

    paths = [path for path in (known.performance, known.memory) if path is not None and path.exists()]
    return replace(known, modified=max((path.stat().st_mtime for path in paths), default=None))


def _when(known: KnownRun) -> str | None:
    if known.modified is None:
        return None
    return datetime.fromtimestamp(known.modified, tz=timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _text(path: Path | None) -> str | None:
    return single_line(str(path)) if path else None


TOOL = Tool(
    name="list_runs",
    title="List runs",
    arguments=Arguments,
    answer=Answer,
    ask=list_runs,
    search_hint="find profiles reports newest",
)
