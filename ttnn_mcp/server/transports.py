"""The transports: one client over stdin and stdout, or any number over HTTP on this machine."""

from __future__ import annotations

import logging
import signal
import sys
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.server.front_desk import leave
from ttnn_mcp.server.handover import Unrepeated, continue_stdin
from ttnn_mcp.server.server import build

if TYPE_CHECKING:
    from ttnn_mcp.server.front_desk import Heard
    from ttnn_mcp.session.session import Session

# After this time a silent client counts as gone: hosts keep a conversation open over a lunch break. One that comes
# back later has to begin a new session, as the protocol says. An idle session takes 27 kB (300 took 8 MB).
SESSION_IDLE_S = 3600.0
SESSIONS = 1000  # open at once: 27 MB


async def over_stdio(session: Session, heard: Heard | None = None) -> None:
    """Serve one client over stdin and stdout until it hangs up.

    Args:
        session: the runs it answers for.
        heard: what the front desk heard and answered before.
    """
    _log_to_stderr()
    signal.signal(signal.SIGINT, leave)
    server = build(session)
    if heard is not None:
        continue_stdin(heard)
    async with stdio_server() as (incoming, outgoing):
        unrepeated: Any = outgoing if heard is None else Unrepeated(outgoing, heard.answered)
        await server.run(incoming, unrepeated, server.create_initialization_options())


async def over_http(session: Session, host: str, port: int) -> None:
    """Serve any number of clients over streamable HTTP at /mcp until interrupted; port 0 takes any free one.

    For a loopback `host` the SDK refuses foreign Host and Origin headers (DNS rebinding).

    Raises:
        ArgumentsInvalid: the port is taken or may not be used.
    """
    import socket  # noqa: PLC0415

    import uvicorn  # noqa: PLC0415 - only this transport needs these two

    from ttnn_mcp.server.impatience import Impatient  # noqa: PLC0415

    _log_to_stderr()
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as failed:
        raise ArgumentsInvalid(f"Cannot serve on port {port}: {failed.strerror}. Choose another port.") from None
    app = build(session).streamable_http_app(host=host, session_idle_timeout=SESSION_IDLE_S, max_sessions=SESSIONS)
    shown_host = f"[{host}]" if ":" in host else host
    address = f"http://{shown_host}:{listener.getsockname()[1]}/mcp"
    print(f"ttnn-mcp serves {address}", file=sys.stderr, flush=True)  # noqa: T201 - stdout is for the protocol
    config = uvicorn.Config(app, http=Impatient, log_level="warning", access_log=False)
    uvicorn_server = uvicorn.Server(config)
    uvicorn_server.handle_exit = leave
    await uvicorn_server.serve(sockets=[listener])


def _log_to_stderr() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
