"""The view of time_budget inside a chat: an MCP App. It gets the answer from its host, and ops by calling list_ops.

The extension: io.modelcontextprotocol/ui, 2026-01-26 (SEP-1865). The page holds no answer, so it is the same for all.
"""

from __future__ import annotations

import re
from functools import cache

from ttnn_mcp import __version__
from ttnn_mcp.report.markup import Markup, element, joined
from ttnn_mcp.report.page import policy, resource
from ttnn_mcp.report.pictures import figure

ACTIONS = (("in", "Zoom in"), ("out", "Zoom out"), ("all", "Everything"))
NEEDED = ("1_content.js", "2_plot.js", "3_timeline.js")
SCHEMES = re.compile(r":root \{(.*?)\}", re.DOTALL)


@cache
def app_page() -> str:
    """The page that a host shows beside an answer of time_budget."""
    style = "\n".join([resource("page", ".css"), _themes(), resource("app", ".css")])
    script = "\n".join([resource("page", ".js", NEEDED), "const plots = {};", resource("app", ".js")])
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        element("title", "Time budget"),
        element("style", Markup(style)),
    )
    timeline = str(figure("timeline", "Timeline of ops and gaps", ACTIONS)).replace(
        "<figure ", "<figure hidden ", 1
    )
    body = element(
        "body",
        element("p", "Waiting for the answer.", id="verdict", role="status"),
        element("table", element("caption", "Where the time goes"), element("tbody", id="ledger")),
        Markup(timeline),
        element("p", id="more", class_="quiet"),
        element("script", Markup(script)),
    )
    return f"<!doctype html>\n{element('html', joined(head, body), lang='en', data_version=__version__)}\n"


def _themes() -> str:
    """The two schemes once more, for a host that says which it shows."""
    light, dark = SCHEMES.findall(resource("page", ".css"))
    return "\n".join(
        f':root[data-theme="{name}"] {{{scheme} color-scheme: {name}; }}'
        for name, scheme in (("light", light), ("dark", dark))
    )
