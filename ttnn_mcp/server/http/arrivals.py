"""Requests that have arrived as a whole: one that was given up is a quiet line, one asked twice is refused."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.errors import shown
from ttnn_mcp.server.http.shares import ID
from ttnn_mcp.server.http.streams import token_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ttnn_mcp.server.http.token_file import TokenFile

logger = logging.getLogger(__name__)

MOST_BYTES = 1 << 22  # of a request, as the SDK takes; it refuses what is longer


class Arrivals:
    """Passes on a request when its body is there.

    The SDK sends an answer to the stream that asked last with its id: of two that are asked at once in one session,
    the first would wait for ever.
    """

    def __init__(self, app: ASGIApp, tokens: TokenFile | None = None) -> None:
        self._app = app
        self._tokens = tokens
        self._asked: set[tuple[bytes, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] != "POST" or not self._may_ask(scope):
            await self._app(scope, receive, send)
            return
        begun, arrived = await _arrived(receive)
        if not arrived:
            logger.info("A client hung up before its request had arrived.")
            return
        asked = _asked(dict(scope["headers"]).get(ID), begun)
        if asked in self._asked:
            await _refuse(asked[1], send)
            return

        async def replayed() -> Message:
            return begun.pop(0) if begun else await receive()

        under_way = {asked} if asked is not None else set[tuple[bytes, str]]()
        self._asked |= under_way
        try:
            await self._app(scope, replayed, send)
        finally:
            self._asked -= under_way

    def _may_ask(self, scope: Scope) -> bool:
        """Whether a body is worth keeping; the application refuses whoever has no token before it reads one."""
        return self._tokens is None or self._tokens.owner(token_of(scope) or "") is not None


async def _arrived(receive: Receive) -> tuple[list[Message], bool]:
    """The messages of a body, as far as it may be long; and whether the client stayed until then."""
    messages: list[Message] = []
    length = 0
    while length <= MOST_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return messages, False
        messages.append(message)
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    return messages, True


def _asked(session: bytes | None, messages: list[Message]) -> tuple[bytes, str] | None:
    """The session and the id of a question; None for what is none, or stands in no session."""
    if session is None:
        return None
    try:
        question: Any = json.loads(b"".join(message.get("body", b"") for message in messages))
    except (ValueError, RecursionError):
        return None
    if not isinstance(question, dict) or not {"id", "method"} <= question.keys():
        return None
    return session, json.dumps(cast("dict[str, Any]", question)["id"])


async def _refuse(number: str, send: Send) -> None:
    logger.info("A question was asked again while it is answered.")
    error = {
        "code": -32600,
        "message": f"The question {shown(number)} is being answered. Give each an id of its own.",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": json.loads(number), "error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
