"""The page for a person who opens the server's address in a browser: what this is, and how to connect."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.responses import HTMLResponse, Response

from ttnn_mcp import __version__

if TYPE_CHECKING:
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.requests import Request

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ttnn-mcp</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }}
pre {{ padding: .8rem 1rem; overflow-x: auto; border: 1px solid; border-radius: .4rem; }}
td, th {{ text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; }}
</style>
</head>
<body>
<h1>ttnn-mcp {version}</h1>
<p>This server answers questions about TTNN profiles: why a model is slow, and what to change first. It speaks the
Model Context Protocol, so an assistant asks it for you.</p>
<h2>Connect</h2>
<p>Claude Code:</p>
<pre>claude mcp add -s user --transport http ttnn {url}{claude_token}</pre>
<p>Any other client:</p>
<pre>{{ "mcpServers": {{ "ttnn": {{ "type": "http", "url": "{url}"{json_token} }} }} }}</pre>
<p>{who}</p>
<h2>What it answers</h2>
<table>
<tr><th scope="col">Tool</th><th scope="col">What it does</th></tr>
{tools}
</table>
</body>
</html>
"""


class HomePage:
    """Serves the page. It names no run: whoever reaches the port may see it, with a token or without."""

    def __init__(self, security: TransportSecuritySettings, tools: list[tuple[str, str]], *, tokens: bool) -> None:
        self._guard = TransportSecurityMiddleware(security)
        self._tokens = tokens
        self._rows = "\n".join(
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(title)}</td></tr>" for name, title in tools
        )

    async def answer(self, request: Request) -> Response:
        """Answer GET /."""
        refusal = await self._guard.validate_request(request)
        if refusal is not None:
            return refusal
        who = "Ask whoever runs this server for a token of your own." if self._tokens else "No token is needed."
        page = PAGE.format(
            version=escape(__version__),
            url=escape(f"{request.url.scheme}://{request.url.netloc}/mcp"),
            claude_token=escape(' --header "Authorization: Bearer TOKEN"') if self._tokens else "",
            json_token=escape(', "headers": { "Authorization": "Bearer TOKEN" }') if self._tokens else "",
            who=who,
            tools=self._rows,
        )
        return HTMLResponse(page, headers=HEADERS)
