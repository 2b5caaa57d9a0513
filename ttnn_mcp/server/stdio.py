"""The transport of one client: stdin and stdout.

The front desk hands the client over: the SDK reads what the desk left, and nothing is answered twice.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, cast

from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from ttnn_mcp.server.front_desk import leave
from ttnn_mcp.server.server import build

if TYPE_CHECKING:
    from ttnn_mcp.server.front_desk import Heard
    from ttnn_mcp.session.session import Session


async def over_stdio(session: Session, heard: Heard | None = None) -> None:
    """Serve one client over stdin and stdout until it hangs up.

    Args:
        session: the runs it answers for.
        heard: what the front desk heard and answered before.
    """
    signal.signal(signal.SIGINT, leave)
    server = build(session)
    if heard is not None:
        continue_stdin(heard)
    async with stdio_server() as (incoming, outgoing):
        unrepeated: Any = outgoing if heard is None else Unrepeated(outgoing, heard.answered)
        legible: Any = Legible(incoming, outgoing)
        await server.run(legible, unrepeated, server.create_initialization_options())


class _Continued(io.RawIOBase):
    """Bytes that were read before, then a file descriptor."""

    def __init__(self, before: bytes, descriptor: int) -> None:
        self._before, self._descriptor = before, descriptor

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._before[: len(buffer)] or os.read(self._descriptor, len(buffer))
        self._before = self._before[len(chunk) :] if self._before else b""
        buffer[: len(chunk)] = chunk
        return len(chunk)


def continue_stdin(heard: Heard) -> None:
    """Let `sys.stdin` begin with what the desk left. File descriptor 0 reads nothing any more, as under the SDK."""
    wire = os.dup(0)
    os.set_inheritable(wire, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(_Continued(heard.unanswered, wire)), encoding="utf-8")


class Unrepeated:
    """A stream of messages to the client without the responses that the desk gave already."""

    def __init__(self, outgoing: Any, answered: list[int | str]) -> None:
        self._outgoing, self._answered = outgoing, list(answered)

    async def send(self, message: SessionMessage) -> None:
        """Send the message, unless it is the second response to a request."""
        request = getattr(message.message, "id", None)
        if request in self._answered and not hasattr(message.message, "method"):
            self._answered.remove(request)
            return
        await self._outgoing.send(message)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._outgoing, name)

    async def __aenter__(self) -> Unrepeated:  # noqa: PYI034 - Self is of Python 3.11
        await self._outgoing.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> Any:
        return await self._outgoing.__aexit__(*failure)


class Legible:
    """A stream of what the client wrote. The SDK passes over lines that are no message: here they are answered."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    def __aiter__(self) -> Legible:
        return self

    async def __anext__(self) -> Any:
        while True:
            item = await self._incoming.__anext__()
            refusal = refusal_of(item) if isinstance(item, ValidationError) else None
            if refusal is None:
                return item
            await self._outgoing.send(SessionMessage(refusal))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._incoming, name)


def refusal_of(failure: ValidationError) -> JSONRPCError | None:
    """What is answered to a line that is no message; None for a blank one, a notification or a response.

    It has the id of the line as far as one can be read (jsonrpc.org/specification, section 5).
    """
    faults = failure.errors(include_url=False)
    if faults[0]["type"] == "json_invalid":
        blank = not faults[0]["input"].strip()
        return None if blank else _refusal(None, PARSE_ERROR, "The line is no JSON. Write one message per line.")
    # a member is missed in the whole message
    whole = next((fault["input"] for fault in faults if fault["type"] == "missing"), None)
    message = cast("dict[str, Any]", whole or {})
    is_response = "method" not in message and ("result" in message or "error" in message)
    if is_response or ("method" in message and "id" not in message):
        return None
    number = message.get("id")
    number = number if isinstance(number, str) or type(number) is int else None
    return _refusal(number, INVALID_REQUEST, "The line is no JSON-RPC request: jsonrpc, id, method, params.")


def _refusal(number: int | str | None, code: int, sentence: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=sentence))
