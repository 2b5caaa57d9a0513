"""The methods under resources/: the list of pages and runs, their templates and their texts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ttnn_mcp.errors import ArgumentsInvalid, TtnnMcpError, nearest, shown, unforeseen
from ttnn_mcp.served import pages
from ttnn_mcp.server import skills, views
from ttnn_mcp.server.subscriptions import EXPERIMENTS_URI, RUNS_URI
from ttnn_mcp.wire import compact

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ttnn_mcp.server.prompt_facts import Ask
    from ttnn_mcp.session.clients import Clients

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


class OfferedResources:
    """Handlers of the methods under resources/."""

    def __init__(self, clients: Clients, ask: Ask) -> None:
        self._clients = clients
        self.ask = ask

    async def list_resources(
        self, _ctx: Ctx, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """resources/list."""
        listed = [
            *(skills.resource(page) for page in pages.catalogue().values()),
            *(types.Resource(uri=uri, name=name, title=title, mime_type=JSON) for uri, name, title in LIVE),
            views.resource(),
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, _ctx: Ctx, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """resources/templates/list."""
        listed = [
            types.ResourceTemplate(uri_template=uri, name=name, description=description, mime_type=mime)
            for uri, name, description, mime in TEMPLATES
        ]
        listed.append(views.template())
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read(self, _ctx: Ctx, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """resources/read."""
        uri = str(params.uri)
        try:
            text, mime = await self._text_at(uri)
        except TtnnMcpError as refusal:
            raise MCPError(types.INVALID_PARAMS, str(refusal), data={"uri": uri}) from None
        except Exception:
            logger.exception("reading a resource failed")
            raise MCPError(types.INTERNAL_ERROR, unforeseen("resource"), data={"uri": uri}) from None
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=mime)])

    async def _text_at(self, uri: str) -> tuple[str, str]:
        if uri == views.URI:
            return views.text(), views.MIME
        if uri.startswith(views.DRAWN):
            parts = urlsplit(uri)
            chosen = dict(parse_qsl(parts.query, keep_blank_values=True))
            return compact(await views.drawn(self._clients.session, parts.path.strip("/"), chosen)), JSON
        served = pages.catalogue()
        page = served.get(uri) or served.get(f"{uri}.md")
        if page is not None:
            return page.text, "text/markdown"
        if uri in ANSWERED_BY:
            tool, arguments = ANSWERED_BY[uri]
            return compact(await self.ask(tool, arguments)), JSON
        scheme, _, path = uri.partition("ttnn://runs/")
        parts = [unquote(part) for part in path.split("/")]
        if not scheme and parts[0]:
            if len(parts) == 1:
                return compact(await self.ask("open_run", {"run": parts[0]})), JSON
            if len(parts) == 3 and parts[1] == "ops":
                arguments = {"run": parts[0], "op": parts[2]}
                return compact(await self.ask("op_detail", arguments)), JSON
        raise ArgumentsInvalid(f"There is no resource '{shown(uri)}'.{nearest(uri, served)}")
