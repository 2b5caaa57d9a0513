"""The methods under tools/: the list of tools and their calls.

A call returns an answer, the sentence of a `TtnnMcpError`, or one fixed sentence for anything unforeseen. The text of
other exceptions never reaches a client.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types

from ttnn_mcp import quoting
from ttnn_mcp.errors import TtnnMcpError, unforeseen

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ttnn_mcp.session.clients import Clients
    from ttnn_mcp.tools.tool import Tool

    Ctx = ServerRequestContext[Any]

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.0  # some clients reset their timeout on progress, so they wait for long reads
STRUCTURE_SINCE = "2025-06-18"  # the version of the protocol that brought structured answers; versions are dates


def offered(tool: Tool[Any, Any]) -> types.Tool:
    """A tool as tools/list sends it."""
    meta: dict[str, Any] = {}
    if tool.always_loaded:
        meta["anthropic/alwaysLoad"] = True
    if tool.search_hint:
        meta["anthropic/searchHint"] = tool.search_hint
    if tool.view:
        meta["ui"] = {"resourceUri": tool.view}
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=None if tool.prose else tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
        _meta=meta or None,
    )


class OfferedTools:
    """Handlers of the methods under tools/, and the answers from which resources and prompts are made."""

    def __init__(self, clients: Clients, tools: Sequence[Tool[Any, Any]] | None) -> None:
        self._clients = clients
        self._tools = tools

    @cached_property
    def tools(self) -> Sequence[Tool[Any, Any]]:
        """The tools. Ours are imported by the first request that needs them, so that the handshake is quick."""
        if self._tools is not None:
            return self._tools
        from ttnn_mcp.tools import TOOLS  # noqa: PLC0415

        return TOOLS

    @cached_property
    def listing(self) -> list[types.Tool]:
        """The tools as they are listed."""
        return [offered(tool) for tool in self.tools]

    async def list_tools(self, ctx: Ctx, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """tools/list."""
        if _knows_structure(ctx):
            return types.ListToolsResult(tools=self.listing)
        return types.ListToolsResult(
            tools=[tool.model_copy(update={"output_schema": None}) for tool in self.listing]
        )

    async def call_tool(self, ctx: Ctx, params: types.CallToolRequestParams) -> types.CallToolResult:
        """tools/call, with progress messages while it runs."""
        beat = asyncio.create_task(_beat(ctx, params.name))
        try:
            result = await self._called(params.name, params.arguments or {})
        finally:
            beat.cancel()
        if not _knows_structure(ctx):
            result.structured_content = None  # Cline shows all it gets: it would show the answer twice, and cut it
        return result

    async def _called(self, name: str, arguments: Mapping[str, object]) -> types.CallToolResult:
        from ttnn_mcp.tools import answering  # noqa: PLC0415 - the tools load after the first answer of the protocol

        try:
            tool = answering.tool_named(name, self.tools)
            pictured = "picture" in arguments and self._draws(tool, arguments)  # unmoved: spares an import
            structured, text = await answering.answer(self._clients.session, tool, arguments)
            if tool.prose:
                return types.CallToolResult(content=[types.TextContent(type="text", text=structured[tool.prose])])
            content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
            if pictured:
                content.append(await self._image(tool, arguments, structured))
        except TtnnMcpError as refusal:
            return _refused(str(refusal))
        except Exception:
            logger.exception("tool call failed")
            return _refused(unforeseen(name))
        return types.CallToolResult(content=content, structured_content=structured)

    def _draws(self, tool: Tool[Any, Any], arguments: Mapping[str, object]) -> str | None:
        from ttnn_mcp.report import pictured  # noqa: PLC0415 - few calls ask for a picture

        return pictured.wanted(tool, arguments)

    async def _image(
        self, tool: Tool[Any, Any], arguments: Mapping[str, object], answer: dict[str, Any]
    ) -> types.ImageContent:
        from ttnn_mcp.report import pictured  # noqa: PLC0415

        png = await pictured.picture(self._clients.session, tool, arguments, answer)
        return types.ImageContent(type="image", data=base64.b64encode(png).decode(), mime_type="image/png")

    async def ask(self, name: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """A tool's structured answer, for resources and completion."""
        from ttnn_mcp.tools import answering  # noqa: PLC0415

        structured, _text = await answering.answer(
            self._clients.session, answering.tool_named(name, self.tools), arguments
        )
        return structured


def _knows_structure(ctx: Ctx) -> bool:
    """Whether the client's version of the protocol has structured answers; else the text is all that is sent."""
    return ctx.protocol_version >= STRUCTURE_SINCE


def _refused(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=quoting.text(sentence))], is_error=True
    )


async def _beat(ctx: Ctx, name: str) -> None:
    """Report progress once a second, to clients that asked for it."""
    seconds = 0
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the client has gone
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            seconds += 1
            await ctx.session.report_progress(seconds, message=f"{name}: {seconds} s")
