"""The Apps extension of MCP (SEP-1865): the page that a host shows beside an answer of time_budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

IDENTIFIER = "io.modelcontextprotocol/ui"
URI = "ui://ttnn-mcp/time-budget"
MIME = "text/html;profile=mcp-app"


def extend(server: Server[Any]) -> None:
    """Announce the extension as a capability."""
    server.extensions[IDENTIFIER] = {}


def resource() -> types.Resource:
    """The page as a list of resources shows it."""
    return types.Resource(uri=URI, name="time-budget", title="Time budget, drawn", mime_type=MIME)


def text() -> str:
    """The page; it is put together when a host first asks for it."""
    from ttnn_mcp.report.app_page import app_page  # noqa: PLC0415

    return app_page()
