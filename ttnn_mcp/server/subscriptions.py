"""Streams of changes over MCP: the roots and the log are watched only while a client listens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from ttnn_mcp.server.changes import news

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext

    from ttnn_mcp.session.clients import Clients
    from ttnn_mcp.session.session import Session


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
