"""Streams of changes over MCP: the roots and the log are watched only while a client listens.

A change is a report under the roots, a run that is opened or overwritten, or an experiment.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, Any

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from ttnn_mcp.readers.discover import find_reports

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import mcp_types as types
    from mcp.server.context import ServerRequestContext

    from ttnn_mcp.session.clients import Clients
    from ttnn_mcp.session.session import Session

RUNS_URI = "ttnn://runs"
EXPERIMENTS_URI = "ttnn://experiments"
EVERY_SECONDS = 2.0  # a profile takes minutes, a scan milliseconds  # unmoved: news a moment sooner or later


class Listening:
    """The handler of `subscriptions/listen`: each client hears of the runs and of its own log."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._streams: dict[Session, _Stream] = {}

    async def __call__(
        self, ctx: ServerRequestContext[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Hold one stream open until the client hangs up."""
        session = self._clients.session
        return await self._streams.setdefault(session, _Stream(session)).held(ctx, params)


class _Stream:
    """What changes for one session, as long as anybody listens."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._bus = InMemorySubscriptionBus()
        self._stream = ListenHandler(self._bus)
        self._listeners = 0
        self._watch: asyncio.Task[None] | None = None

    async def held(
        self, ctx: ServerRequestContext[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Hold one stream open until the client hangs up."""
        self._listeners += 1
        watch = self._watch = self._watch or asyncio.create_task(self._publish())
        try:
            return await self._stream(ctx, params)
        finally:
            self._listeners -= 1
            if not self._listeners:
                watch.cancel()
                self._watch = None

    async def _publish(self) -> None:
        async for uri in news(self._session):
            await self._bus.publish(ResourceUpdated(uri=uri))


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
    from ttnn_mcp.experiments.store import FILE  # noqa: PLC0415 - not needed to start serving

    reports = frozenset((str(report.path), report.modified) for report in find_reports(session.settings.searched))
    opened = frozenset((known.id, known.name, _stamps(known.pair.paths)) for known in session.opened)
    log = session.settings.state_folder.glob(FILE + "*")  # another server may write into it
    return {RUNS_URI: (reports, opened), EXPERIMENTS_URI: _stamps(log)}


def _stamps(files: Iterable[Path]) -> tuple[tuple[int, int], ...]:
    """Times and sizes of those that are there."""
    return tuple(
        sorted((state.st_mtime_ns, state.st_size) for state in map(_file_state, files) if state is not None)
    )


def _file_state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:  # deleted after it was listed
        return None
