"""Turns: how much of the server one client may take, and whether anything still runs.

Connections on which a request never arrives as a whole are closed, so that they do not pile up.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import field
from typing import TYPE_CHECKING, Any

import h11
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from uvicorn.protocols.http.h11_impl import H11Protocol

from ttnn_mcp.records import dataclass
from ttnn_mcp.session.clients import CLIENT

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

# The time from the connection, or from the first byte of another request, to the last byte: at most 4 MiB, from this
# machine. It does not limit answers: a request that is being answered, or a stream of news, has arrived already.
ARRIVAL_S = 20.0
AT_ONCE = 4  # questions of one client that are answered at the same time: as many as there are threads that read
WAITING = 256  # more of them wait; an agent that asks in parallel has some ten
STREAMS = frozenset({"subscriptions/listen"})  # open as long as the client likes, and no work


@dataclass(slots=True)
class Line:
    """The questions of one client."""

    waiting: int = 0
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))


class Turns:
    """Gives every client the same share: a middleware of the SDK around each request.

    A client is a token, without tokens a session, and without sessions a connection.
    """

    def __init__(self) -> None:
        self._lines: defaultdict[object, Line] = defaultdict(Line)
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer a request when it is its client's turn.

        Raises:
            MCPError: the client has too many questions open, or the server is being stopped.
        """
        if ctx.request_id is None or ctx.method in STREAMS:
            return await call_next(ctx)
        if self._closed:
            raise MCPError(INTERNAL_ERROR, "The server is being stopped. Ask again when it is back.")
        client = client_of(ctx)
        line = self._lines[client]
        if line.waiting >= WAITING + AT_ONCE:
            raise MCPError(INTERNAL_ERROR, f"{line.waiting} of your questions are open. Wait for their answers.")
        line.waiting += 1
        self._idle.clear()
        try:
            async with line.places:
                return await call_next(ctx)
        finally:
            line.waiting -= 1
            if not line.waiting:
                self._lines.pop(client, None)
            if not self._lines:
                self._idle.set()

    async def closed(self, seconds: float) -> bool:
        """Take no more requests, and wait for the answers of those that are here; False if that took too long."""
        self._closed = True
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        return True


async def as_its_client(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Answer a request from the names and loops of whoever's token it carries: a middleware of the SDK."""
    named = CLIENT.set(token_name(ctx))
    try:
        return await call_next(ctx)
    finally:
        CLIENT.reset(named)


def client_of(ctx: ServerRequestContext[Any, Any]) -> object:
    """Whose request this is: a token's name, else a session's id, else the connection."""
    request = ctx.request
    if request is None:
        return None
    return token_name(ctx) or request.headers.get("mcp-session-id") or request.client


def token_name(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The name beside the token of a request; None where no token is asked for."""
    user = ctx.request.scope.get("user") if ctx.request is not None else None
    return user.display_name if user is not None and user.is_authenticated else None


class Impatient(H11Protocol):
    """uvicorn's protocol with a time limit; without it, it waits forever for the rest of a request."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request."""
        super().connection_made(transport)
        self._await_rest()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a request is complete, start it for another; single bytes do not restart it."""
        super().data_received(data)
        if self._arrived():
            self._stop_waiting()
        elif self._late is None:
            self._await_rest()

    def on_response_complete(self) -> None:
        """Start the clock if a part of the next request arrived together with the last one."""
        super().on_response_complete()
        if self._late is None and not self._arrived():
            self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _arrived(self) -> bool:
        """Whether no part of a request is missing: it is complete, or none has begun."""
        if self.conn.their_state is h11.IDLE:
            return bool(self.cycle) and not self.conn.trailing_data[0]
        return self.conn.their_state is not h11.SEND_BODY

    def _await_rest(self) -> None:
        self._late = self.loop.call_later(ARRIVAL_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if not self._arrived():
            self.transport.close()
