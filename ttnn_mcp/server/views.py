"""The Apps extension of MCP (SEP-1865): the page that a host shows beside an answer, and what it reads to draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from ttnn_mcp.session.session import Session

IDENTIFIER = "io.modelcontextprotocol/ui"
URI = "ui://ttnn-mcp/pictures"
MIME = "text/html;profile=mcp-app"
DRAWN = "ttnn://pictures/"


def extend(server: Server[Any]) -> None:
    """Announce the extension as a capability."""
    server.extensions[IDENTIFIER] = {}


def resource() -> types.Resource:
    """The page as a list of resources shows it."""
    return types.Resource(uri=URI, name="pictures", title="Pictures beside an answer", mime_type=MIME)


def template() -> types.ResourceTemplate:
    """What the page reads through its host; it is for eyes, and too long for a model."""
    return types.ResourceTemplate(
        uri_template=f"{DRAWN}{{picture}}{{?run,iteration,start_signpost,end_signpost}}",
        name="drawn",
        description="What a picture is drawn from: every op of a window, or L1 at every operation (levels)",
        mime_type="application/json",
        annotations=types.Annotations(audience=["user"]),
    )


def text() -> str:
    """The page; it is put together when a host first asks for it."""
    from ttnn_mcp.report.app_page import app_page  # noqa: PLC0415

    return app_page()


async def drawn(session: Session, picture: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    """The content of a picture of the page.

    Raises:
        TtnnMcpError: there is no such picture, or the run cannot answer.
    """
    from ttnn_mcp.report import app_page  # noqa: PLC0415 - the tools load after the first answer

    return await app_page.drawn(session, picture, arguments)
