"""How many sessions of the protocol one client may hold open: the one that was idle for longest makes room."""

from __future__ import annotations

import time
from hashlib import sha256
from typing import TYPE_CHECKING

from ttnn_mcp.records import dataclass
from ttnn_mcp.server.http.streams import token_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSIONS_OF_CLIENT = 100  # of 1,000 in all; an assistant holds one per conversation
# After this time a silent client counts as gone: hosts keep a conversation open over a lunch break. One that comes
# back later has to begin a new session, as the protocol says.
IDLE_S = 3600.0
ID = b"mcp-session-id"


@dataclass(slots=True)
class Use:
    """How a session is used: the requests that are being answered, and when one was last."""

    at: float
    open: int = 0


class SessionShares:
    """Ends sessions of a client that opens more than its share, as the client itself would: by DELETE.

    A client is a token, without one an address. Only sessions that were opened count, so that whoever is refused
    takes nobody's place.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._clients: dict[object, dict[bytes, Use]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        client = _client_of(scope)
        uses = self._clients.get(client, {})
        use = uses.get(headers.get(ID, b""))
        fresh: list[bytes] = []

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = dict(message["headers"]).get(ID)
                if ID not in headers and session is not None and message["status"] < 300:
                    fresh.append(session)
                elif message["status"] == 404 or (scope["method"] == "DELETE" and message["status"] < 300):
                    uses.pop(headers.get(ID, b""), None)
            await send(message)

        if use is not None:
            use.open += 1
        try:
            await self._app(scope, receive, watched)
        finally:
            if use is not None:
                use.open, use.at = use.open - 1, time.monotonic()
            for session in fresh:
                await self._opened(scope, client, session)

    async def _opened(self, scope: Scope, client: object, session: bytes) -> None:
        """Remember a session, and end the one that was idle for longest where it is one too many."""
        now = time.monotonic()
        self._forget(now)
        uses = self._clients.setdefault(client, {})
        while len(uses) >= SESSIONS_OF_CLIENT:
            longest = min(uses, key=lambda one: (uses[one].open > 0, uses[one].at))
            del uses[longest]
            await self._end(scope, longest)
        uses[session] = Use(now)

    def _forget(self, now: float) -> None:
        for client, uses in list(self._clients.items()):
            for session in [one for one, use in uses.items() if not use.open and now - use.at > IDLE_S]:
                del uses[session]
            if not uses:
                del self._clients[client]

    async def _end(self, scope: Scope, session: bytes) -> None:
        """End a session with the token of the request that takes its place: it is the same client's."""
        kept = [(name, text) for name, text in scope["headers"] if name in (b"authorization", b"host", b"origin")]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unheard(_message: Message) -> None:
            return None

        await self._app({**scope, "method": "DELETE", "headers": [*kept, (ID, session)]}, nothing, unheard)


def _client_of(scope: Scope) -> object:
    token = token_of(scope)
    if token is not None:
        return sha256(token.encode()).digest()
    return (scope.get("client") or ("",))[0]
