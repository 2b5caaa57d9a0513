"""The tools, pages and prompts, offered over MCP: the only place that knows the protocol.

The low-level `Server` is used because everything it would derive from Python signatures we already have: schemas,
validation and wording live with the tools. What leaves here is either an answer, a sentence of `TtnnMcpError`, or
one fixed sentence for what we did not foresee; nothing else's text ever does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from ttnn_mcp import __version__
from ttnn_mcp.errors import ArgumentsInvalid, TtnnMcpError, nearest, shown
from ttnn_mcp.served import pages
from ttnn_mcp.server import completions, prompts, skills
from ttnn_mcp.server.changes import EXPERIMENTS_URI, RUNS_URI
from ttnn_mcp.server.prompt_facts import facts_of
from ttnn_mcp.server.subscriptions import Listening
from ttnn_mcp.tools import answering

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

    from mcp.server.context import ServerRequestContext

    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.tool import Tool

    Ctx = ServerRequestContext[Any]

logger = logging.getLogger(__name__)

RUN_URI, OP_URI = "ttnn://runs/{run}", "ttnn://runs/{run}/ops/{op}"
TEMPLATES = (
    (RUN_URI, "run", "The run card: what a run holds and how far to trust it", "application/json"),
    (OP_URI, "op", "One op of a run, by its line in the CSV report", "application/json"),
    ("ttnn://checks/{check}", "check", "What a check looks for and where its line is", "text/markdown"),
    ("ttnn://hardware/{arch}", "hardware", "Facts about one architecture, each with its source", "text/markdown"),
    (f"{pages.SKILL_ROOT}/{{page}}", "skill-page", "One page of the optimisation skill", "text/markdown"),
)
JSON = "application/json"
LIVE = (
    (RUNS_URI, "runs", "Runs under the roots and opened before"),
    (EXPERIMENTS_URI, "experiments", "The feedback loop so far"),
)
ANSWERED_BY: dict[str, tuple[str, dict[str, object]]] = {
    RUNS_URI: ("list_runs", {}),
    EXPERIMENTS_URI: ("experiments", {"action": "list"}),
}
LISTS_FRESH = CacheHint(ttl_ms=3_600_000, scope="public")  # lists change with a release, not with a run
BEAT_SECONDS = 1.0  # clients that reset their timeout on progress then wait for long reads
MOST_COMPLETIONS = 100  # the protocol's limit


def offered(tool: Tool[Any, Any]) -> types.Tool:
    """A tool as tools/list sends it."""
    meta: dict[str, Any] = {}
    if tool.always_loaded:
        meta["anthropic/alwaysLoad"] = True
    if tool.search_hint:
        meta["anthropic/searchHint"] = tool.search_hint
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
        _meta=meta or None,
    )


def build(session: Session, tools: Sequence[Tool[Any, Any]] | None = None) -> Server[Any]:
    """A server that answers from `session`; serves any number of clients, in both eras of the protocol.

    `tools` are ours unless given.
    """
    offer = _Offer(session, tools)
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
        on_list_resources=offer.list_resources,
        on_list_resource_templates=offer.list_templates,
        on_read_resource=offer.read,
        on_list_prompts=offer.list_prompts,
        on_get_prompt=offer.get_prompt,
        on_completion=offer.complete,
        on_subscriptions_listen=Listening(session),
    )
    skills.extend(server)
    return server


class _Offer:
    """One request handler per method of the protocol, around one session."""

    def __init__(self, session: Session, tools: Sequence[Tool[Any, Any]] | None) -> None:
        self.session = session
        self._given = tools

    @cached_property
    def tools(self) -> Sequence[Tool[Any, Any]]:
        """The tools; ours load with the first request that needs them, so that the handshake does not wait."""
        if self._given is not None:
            return self._given
        from ttnn_mcp.tools import TOOLS  # noqa: PLC0415

        return TOOLS

    @cached_property
    def listing(self) -> list[types.Tool]:
        return [offered(tool) for tool in self.tools]

    async def list_tools(self, _ctx: Ctx, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self.listing)

    async def call_tool(self, ctx: Ctx, params: types.CallToolRequestParams) -> types.CallToolResult:
        beat = asyncio.create_task(_beat(ctx, params.name))
        try:
            return await self._called(params.name, params.arguments or {})
        finally:
            beat.cancel()

    async def _called(self, name: str, given: Mapping[str, object]) -> types.CallToolResult:
        try:
            tool = answering.tool_named(name, self.tools)
            structured, text = await answering.answer(self.session, tool, given)
        except TtnnMcpError as refusal:
            return _refused(str(refusal))
        except Exception:
            logger.exception("tool call failed")
            return _refused(answering.unforeseen(name))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=structured
        )

    async def ask(self, name: str, given: Mapping[str, object]) -> dict[str, Any]:
        """A tool's structured answer, for resources and completion."""
        structured, _text = await answering.answer(self.session, answering.tool_named(name, self.tools), given)
        return structured

    async def list_resources(
        self, _ctx: Ctx, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        listed = [
            *(skills.resource(page) for page in pages.catalogue().values()),
            *(types.Resource(uri=uri, name=name, title=title, mime_type=JSON) for uri, name, title in LIVE),
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, _ctx: Ctx, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = [
            types.ResourceTemplate(uri_template=uri, name=name, description=description, mime_type=mime)
            for uri, name, description, mime in TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read(self, _ctx: Ctx, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text, mime = await self._text_at(uri)
        except TtnnMcpError as refusal:
            raise MCPError(types.INVALID_PARAMS, str(refusal), data={"uri": uri}) from None
        except Exception:
            logger.exception("reading a resource failed")
            raise MCPError(types.INTERNAL_ERROR, answering.unforeseen("resource"), data={"uri": uri}) from None
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=mime)])

    async def _text_at(self, uri: str) -> tuple[str, str]:
        served = pages.catalogue()
        page = served.get(uri) or served.get(f"{uri}.md")
        if page is not None:
            return page.text, "text/markdown"
        if uri in ANSWERED_BY:
            tool, given = ANSWERED_BY[uri]
            return answering.compact(await self.ask(tool, given)), "application/json"
        scheme, _, path = uri.partition("ttnn://runs/")
        parts = [unquote(part) for part in path.split("/")]
        if not scheme and parts[0]:
            if len(parts) == 1:
                return answering.compact(await self.ask("open_run", {"run": parts[0]})), "application/json"
            if len(parts) == 3 and parts[1] == "ops":
                one = {"run": parts[0], "op": parts[2]}
                return answering.compact(await self.ask("op_detail", one)), "application/json"
        raise ArgumentsInvalid(f"There is no resource '{shown(uri)}'.{nearest(uri, served)}")

    async def list_prompts(
        self, _ctx: Ctx, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        listed = [
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(name=one.name, description=one.description, required=one.required)
                    for one in prompt.arguments
                ],
            )
            for prompt in prompts.PROMPTS
        ]
        return types.ListPromptsResult(prompts=listed)

    async def get_prompt(self, _ctx: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        named = {prompt.name: prompt for prompt in prompts.PROMPTS}
        prompt = named.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"No prompt '{shown(params.name)}'.{nearest(params.name, named)}")
        try:
            given = params.arguments or {}
            text = prompt.text(given, await facts_of(self.ask, given.get("run")) if prompt.wants_facts else "")
        except ArgumentsInvalid as refusal:
            raise MCPError(types.INVALID_PARAMS, str(refusal)) from None
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def complete(self, _ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        chosen = (params.context.arguments if params.context else None) or {}
        try:
            values = await completions.candidates(
                self.ask, params.argument.name, chosen, op_lines=params.ref.type == "ref/resource"
            )
        except Exception:
            logger.exception("completion failed")
            values = []  # a person typing is not the one to be told
        values = completions.matching(params.argument.value, values)
        return types.CompleteResult(
            completion=types.Completion(
                values=values[:MOST_COMPLETIONS], total=len(values), has_more=len(values) > MOST_COMPLETIONS
            )
        )


def _refused(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=sentence)], is_error=True)


async def _beat(ctx: Ctx, name: str) -> None:
    """Tell a client that asked for progress, once a second, that its call is still being worked on."""
    seconds = 0
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the client has gone: so be it
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            seconds += 1
            await ctx.session.report_progress(seconds, message=f"{name}: {seconds} s")


async def over_stdio(session: Session) -> None:
    """Serve one client over stdin and stdout until it hangs up."""
    _log_to_stderr()
    signal.signal(signal.SIGINT, _leave)
    server = build(session)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def over_http(session: Session, host: str, port: int) -> None:
    """Serve any number of clients over streamable HTTP at /mcp until interrupted; port 0 takes any free one.

    For a loopback `host` the SDK refuses foreign Host and Origin headers (DNS rebinding).

    Raises:
        ArgumentsInvalid: the port is taken or may not be used.
    """
    import socket  # noqa: PLC0415

    import uvicorn  # noqa: PLC0415 - only this transport needs it

    _log_to_stderr()
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as failed:
        raise ArgumentsInvalid(f"Cannot serve on port {port}: {failed.strerror}. Choose another port.") from None
    app = build(session).streamable_http_app(host=host)
    shown_host = f"[{host}]" if ":" in host else host
    address = f"http://{shown_host}:{listening.getsockname()[1]}/mcp"
    print(f"ttnn-mcp serves {address}", file=sys.stderr, flush=True)  # noqa: T201 - stdout is for the protocol
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    serving = uvicorn.Server(config)
    serving.handle_exit = _leave
    await serving.serve(sockets=[listening])


def _leave(sig: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the names uvicorn gives them
    """End at once: a thread that reads stdin, or a client that listens, would keep us for as long as it likes.

    Nothing is lost by it: reports are only read, and our own store writes in transactions.
    """
    os._exit(128 + sig)  # the exit status shells give to what a signal ended


def _log_to_stderr() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
