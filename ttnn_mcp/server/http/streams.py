"""Streams that stay open: they end when their token is taken away."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ttnn_mcp.server.http.token_file import TokenFile

LOOKED_AT_EVERY_S = 5.0  # how long a stream may outlive its token


class EndedStreams:
    """Tells the application that a client hung up, once its token is no longer in the file."""

    def __init__(self, app: ASGIApp, tokens: TokenFile) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        token = token_of(scope)
        if token is None:
            await self._app(scope, receive, send)
            return

        ended = False

        async def received() -> Message:
            nonlocal ended
            message = asyncio.ensure_future(receive())
            try:
                while not message.done():
                    await asyncio.wait({message}, timeout=LOOKED_AT_EVERY_S)
                    if not message.done() and self._tokens.owner(token) is None:
                        ended = True
                        return {"type": "http.disconnect"}
                return message.result()
            finally:
                message.cancel()

        await self._app(scope, received, send)
        if ended:  # the application left its stream open, as for a client that is gone; this one is still here
            with suppress(RuntimeError):  # nothing was sent yet
                await send({"type": "http.response.body", "body": b"", "more_body": False})


def token_of(scope: Scope) -> str | None:
    """What follows `Bearer` in a request's header."""
    if scope["type"] != "http":
        return None
    for name, content in scope["headers"]:
        if name == b"authorization" and content[:7].lower() == b"bearer ":
            return content[7:].decode("latin-1")
    return None
