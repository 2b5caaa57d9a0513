"""The transport of one client: stdin and stdout.

The front desk hands the client over: the SDK reads what the desk left, and nothing is answered twice.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from ttnn_mcp.server.front_desk import leave
from ttnn_mcp.server.server import build

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

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
        await server.run(incoming, unrepeated, server.create_initialization_options())


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
