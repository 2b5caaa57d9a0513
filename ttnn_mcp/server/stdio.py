"""The transport of one client: stdin and stdout."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from ttnn_mcp.server.front_desk import leave
from ttnn_mcp.server.handover import Unrepeated, continue_stdin
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
        await server.run(incoming, unrepeated, server.create_initialization_options())
