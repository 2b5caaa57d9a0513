"""Any number of clients over streamable HTTP: on this machine, or in a lab behind tokens or a proxy."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from sse_starlette.sse import AppStatus
from starlette.routing import Route

from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.server.front_desk import leave
from ttnn_mcp.server.http.arrivals import Arrivals
from ttnn_mcp.server.http.home_page import HomePage
from ttnn_mcp.server.http.shares import IDLE_S, SessionShares
from ttnn_mcp.server.http.streams import EndedStreams
from ttnn_mcp.server.http.token_file import TokenFile
from ttnn_mcp.server.http.turns import Impatient, Turns, as_its_client
from ttnn_mcp.server.server import build

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp

    from ttnn_mcp.server.http.door import Door
    from ttnn_mcp.session.session import Session

logger = logging.getLogger(__name__)

SESSIONS = 1000  # open at once: an idle session takes 27 kB (300 took 8 MB)
DRAIN_S = 25.0  # Docker and systemd kill 10 and 90 s after SIGTERM unless told otherwise, Kubernetes 30
FLUSH_S = 0.2  # from an answer to its last byte  # unmoved: the end comes a moment sooner or later


async def over_http(session: Session, door: Door) -> None:
    """Serve at /mcp until interrupted, and a page for people at /.

    SIGTERM lets the answers that are under way be finished first; SIGINT, or a second SIGTERM, ends at once.

    Raises:
        ArgumentsInvalid: the port is taken or may not be used, or the token file is unusable.
    """
    tokens = TokenFile(door.tokens) if door.tokens else None
    listener = _listener(door)
    turns = Turns()
    config = uvicorn.Config(
        _app(session, door, tokens, turns), http=Impatient, log_level="warning", access_log=False
    )
    uvicorn_server = uvicorn.Server(config)
    drained: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()

    def stop(sig: int, frame: FrameType | None) -> None:
        if sig != signal.SIGTERM or drained:
            leave(sig, frame)
        drained.append(loop.create_task(_drain(uvicorn_server, turns)))

    uvicorn_server.handle_exit = stop
    AppStatus.disable_automatic_graceful_drain()  # it would cut answers short: streams end after them instead
    address = f"http://{door.shown_host}:{listener.getsockname()[1]}/mcp"
    print(f"ttnn-mcp serves {address}", file=sys.stderr, flush=True)  # noqa: T201 - stdout is for the protocol
    if not (door.local or tokens):
        logger.warning("No token is asked for: whoever reaches this port reads the reports under the roots.")
    await uvicorn_server.serve(sockets=[listener])


def _listener(door: Door) -> socket.socket:
    try:
        return socket.create_server(
            (door.host, door.port), family=socket.AF_INET6 if ":" in door.host else socket.AF_INET
        )
    except OSError as failed:
        raise ArgumentsInvalid(
            f"Cannot serve on {door.shown_host} port {door.port}: {failed.strerror}. Choose another port or address."
        ) from None


def _app(session: Session, door: Door, tokens: TokenFile | None, turns: Turns) -> ASGIApp:
    server = build(session)
    server.middleware += [as_its_client, turns]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(door.allowed_hosts),
        allowed_hosts=door.allowed_hosts,
        allowed_origins=door.allowed_origins,
    )
    app: Any = server.streamable_http_app(
        host=door.host,
        session_idle_timeout=IDLE_S,
        max_sessions=SESSIONS,
        transport_security=security,
        auth=_AUTH if tokens else None,
        token_verifier=tokens,
        custom_starlette_routes=[Route("/", HomePage(security, _tools(), tokens=tokens is not None).answer)],
    )
    shared = Arrivals(SessionShares(app), tokens)
    return EndedStreams(shared, tokens) if tokens else shared


# The tokens are ours, not those of an authorization server, so no such server is named to clients.
_AUTH = AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None)


def _tools() -> list[tuple[str, str]]:
    from ttnn_mcp.tools import TOOLS  # noqa: PLC0415 - they load after the socket is open

    return [(tool.name, tool.title) for tool in TOOLS]


async def _drain(uvicorn_server: uvicorn.Server, turns: Turns) -> None:
    """Finish what is under way, then end."""
    for listening in uvicorn_server.servers:
        listening.close()
    if not await turns.closed(DRAIN_S):
        logger.warning("Some answers took longer than %.0f s and were cut.", DRAIN_S)
    await asyncio.sleep(FLUSH_S)
    AppStatus.should_exit = True
    uvicorn_server.should_exit = True
