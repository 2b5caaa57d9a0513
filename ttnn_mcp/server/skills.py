"""The Skills extension of MCP (SEP-2640): the skill's pages with digests, for hosts that load skills over MCP."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ttnn_mcp.errors import nearest, shown
from ttnn_mcp.served import documents, pages

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

IDENTIFIER = "io.modelcontextprotocol/skills"
FRESH_MS = 300_000  # pages change with a release; five minutes suffice for a checkout under development
DIRECTORY_MIME = "inode/directory"


class ByUri(types.RequestParams):
    """Parameters of a request about one URI."""

    uri: str
    cursor: str | None = None


class SkillsListed(types.CacheableResult):
    """Every skill we serve."""

    skills: list[dict[str, Any]]


class SkillGot(types.CacheableResult):
    """One skill."""

    skill: dict[str, Any]


class DirectoryRead(types.CacheableResult):
    """The direct entries of a directory."""

    resources: list[types.Resource]


def extend(server: Server[Any]) -> None:
    """Serve `skills/list`, `skills/get` and `resources/directory/read`, and announce them as a capability."""
    server.extensions[IDENTIFIER] = {"directoryRead": True}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, _list)
    server.add_request_handler("skills/get", ByUri, _get)
    server.add_request_handler("resources/directory/read", ByUri, _read_directory)


def resource(page: pages.Page) -> types.Resource:
    """A page as a list of resources shows it."""
    return types.Resource(
        uri=page.uri,
        name=page.name,
        title=page.title,
        description=page.description,
        mime_type="text/markdown",
        size=len(page.text.encode()),
    )


def _entries() -> dict[str, dict[str, Any]]:
    """One entry per `SKILL.md`, by its URI: its frontmatter, and every file of the skill with its digest."""
    served = pages.catalogue()
    entries: dict[str, dict[str, Any]] = {}
    for uri, page in served.items():
        if uri.endswith("/SKILL.md"):
            root = uri.removesuffix("SKILL.md")
            files = [file for file in served.values() if file.uri.startswith(root)]
            entries[uri] = {
                "uri": uri,
                "frontmatter": documents.frontmatter(page.text),
                "resources": [_digested(file) for file in files],
            }
    return entries


def _digested(page: pages.Page) -> dict[str, Any]:
    served = page.text.encode()
    return {"uri": page.uri, "digest": f"sha256:{sha256(served).hexdigest()}", "size": len(served)}


async def _list(_ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams) -> SkillsListed:
    return SkillsListed(skills=list(_entries().values()), ttl_ms=FRESH_MS, cache_scope="public")


async def _get(_ctx: ServerRequestContext[Any], params: ByUri) -> SkillGot:
    entries = _entries()
    if params.uri not in entries:
        raise MCPError(types.INVALID_PARAMS, f"No skill at '{shown(params.uri)}'.{nearest(params.uri, entries)}")
    return SkillGot(skill=entries[params.uri], ttl_ms=FRESH_MS, cache_scope="public")


async def _read_directory(_ctx: ServerRequestContext[Any], params: ByUri) -> DirectoryRead:
    top = params.uri if params.uri.endswith("/") else f"{params.uri}/"
    inside = [page for page in pages.catalogue().values() if page.uri.startswith(top)]
    if not inside:
        raise MCPError(types.INVALID_PARAMS, f"'{shown(params.uri)}' is no directory we serve.")
    folders = {page.uri.removeprefix(top).split("/")[0] for page in inside if "/" in page.uri.removeprefix(top)}
    listed = [types.Resource(uri=top + folder, name=folder, mime_type=DIRECTORY_MIME) for folder in sorted(folders)]
    listed += [resource(page) for page in inside if "/" not in page.uri.removeprefix(top)]
    return DirectoryRead(resources=listed, ttl_ms=FRESH_MS, cache_scope="public")
