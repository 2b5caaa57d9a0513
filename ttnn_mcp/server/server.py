"""The tools, pages and prompts, offered over MCP: the only folder that knows the protocol.

The SDK's low-level `Server` is used: the other one derives schemas, validation and texts from Python signatures, and
our tools bring their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from ttnn_mcp import __version__
from ttnn_mcp.server import prompts, skills, views
from ttnn_mcp.server.offered_prompts import OfferedPrompts
from ttnn_mcp.server.offered_resources import OfferedResources
from ttnn_mcp.server.offered_tools import OfferedTools, offered
from ttnn_mcp.server.subscriptions import Listening
from ttnn_mcp.session.clients import Clients

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.tool import Tool

__all__ = ["build", "offered"]

LISTS_FRESH = CacheHint(ttl_ms=3_600_000, scope="public")  # lists change with a release, not with a run


def build(session: Session, tools: Sequence[Tool[Any, Any]] | None = None) -> Server[Any]:
    """A server for any number of clients, in both eras of the protocol.

    Args:
        session: the runs it answers for.
        tools: the tools it offers; None means ours.
    """
    clients = Clients(session)
    offer = OfferedTools(clients, tools)
    resources = OfferedResources(clients, offer.ask)
    offered_prompts = OfferedPrompts(offer.ask)
    server: Server[Any] = Server(
        "ttnn-mcp",
        title="TTNN profiles",
        version=__version__,
        instructions=prompts.INSTRUCTIONS,
        cache_hints={
            "tools/list": LISTS_FRESH,
            "prompts/list": LISTS_FRESH,
            "resources/list": LISTS_FRESH,
            "resources/templates/list": LISTS_FRESH,
        },
        on_list_tools=offer.list_tools,
        on_call_tool=offer.call_tool,
        on_list_resources=resources.list_resources,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=resources.read,
        on_list_prompts=offered_prompts.list_prompts,
        on_get_prompt=offered_prompts.get_prompt,
        on_completion=offered_prompts.complete,
        on_subscriptions_listen=Listening(clients),
    )
    skills.extend(server)
    views.extend(server)
    server.middleware.append(in_one_page)
    return server


async def in_one_page(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Answer a request; a middleware of the SDK. A list comes whole, so that no cursor is ours.

    Some clients write none as an empty text.

    Raises:
        MCPError: it asks for a page by its cursor: the protocol wants invalid ones refused.
    """
    if ctx.params and ctx.params.get("cursor"):
        raise MCPError(INVALID_PARAMS, "The list comes in one page, which has no cursor. Ask without one.")
    return await call_next(ctx)
