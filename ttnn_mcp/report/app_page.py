"""The pictures of a run inside a chat: an MCP App. Its host brings the answer; the page reads what it draws through it.

The extension: io.modelcontextprotocol/ui, 2026-01-26 (SEP-1865). The page holds no answer, so it is the same for all.
What it draws (all ops of a window, or L1 at every operation) a host reads as a resource, because an answer that goes to
a model must not hold it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from ttnn_mcp import __version__
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, nearest, shown
from ttnn_mcp.quoting import cleaned
from ttnn_mcp.report.markup import Markup, element, joined
from ttnn_mcp.report.page import by_column, policy, resource, window_content
from ttnn_mcp.report.pictures import ACTIONS, BOUNDS, figure, legend, roofline_section
from ttnn_mcp.report.rows import levels_of, window_rows
from ttnn_mcp.report.sections import paragraph, section
from ttnn_mcp.run.run import Run
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools import TOOLS, answering
from ttnn_mcp.tools.answering import validated
from ttnn_mcp.tools.tool import OfWindow

TOOL_OF = {"window": "time_budget", "levels": "memory_summary"}  # whose arguments choose what is drawn
ZOOM = tuple(action for action in ACTIONS if action[0] != "save")  # a frame in a chat may not download
NEEDED = (
    "1_content.js",
    "2_axes.js",
    "2_plot.js",
    "2_tip.js",
    "3_lanes.js",
    "3_timeline.js",
    "4_roofline.js",
    "5_levels.js",
)
SCHEMES = re.compile(r":root \{(.*?)\}", re.DOTALL)


@cache
def app_page() -> str:
    """The page that a host shows beside an answer."""
    style = "\n".join([resource("page", ".css", ("page.css",)), _themes(), resource("app", ".css")])
    script = "\n".join([resource("page", ".js", NEEDED), "const plots = {};", resource("app", ".js")])
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        element("title", "Pictures of a TTNN run"),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        element("p", "Waiting for the answer.", id="verdict", role="status"),
        *map(_hidden, (_budget(), _comparison(), _timeline(), roofline_section(ZOOM), _memory())),
        element("p", id="more", class_="quiet"),
        element("script", Markup(script)),
    )
    return f"<!doctype html>\n{element('html', joined(head, body), lang='en', data_version=__version__)}\n"


def _budget() -> Markup:
    return section(
        "budget", "Where the time goes", _rows("ledger", "Ledger of the window", "what", "", "time", "share")
    )


def _comparison() -> Markup:
    kinds = paragraph(
        element("span", "before", class_="key before"), element("span", "after", class_="key after"), kind="legend"
    )
    return section(
        "against",
        "Before and after",
        kinds,
        _rows("groups", "Kernel time by op", "op", "", "before", "after", "change"),
    )


def _timeline() -> Markup:
    return section(
        "time",
        "Timeline of ops and gaps, with their cores",
        paragraph("Above: ops in the order they ran; an empty lane is a gap. Below: cores that worked."),
        legend(*BOUNDS, "gap"),
        figure("timeline", "Timeline of ops and gaps", ZOOM),
        element("p", id="part", class_="quiet"),
    )


def _memory() -> Markup:
    return section(
        "memory",
        "L1 over the operations",
        legend("tensors", "circular buffers"),
        figure("levels", "L1 over the operations", ZOOM),
        _rows("live", "Live there, in bytes of a bank", "what", "", "size", "shape and line"),
    )


def _rows(name: str, caption: str, *columns: str) -> Markup:
    """A table that the script fills; the column without a name is for bars."""
    heads = element("tr", *(element("th" if words else "td", words) for words in columns))
    parts = (element("caption", caption), element("thead", heads), element("tbody", id=name))
    return element("div", element("table", *parts), class_="wide")


def _hidden(part: Markup) -> Markup:
    return Markup(part.replace("<section ", "<section hidden ", 1))


def _themes() -> str:
    """The two schemes once more, for a host that says which it shows."""
    light, dark = SCHEMES.findall(resource("page", ".css"))
    return "\n".join(
        f':root[data-theme="{name}"] {{{scheme} color-scheme: {name}; }}'
        for name, scheme in (("light", light), ("dark", dark))
    )


async def drawn(session: Session, picture: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    """The content of a picture, long tables by column as in the page of a report.

    Raises:
        TtnnMcpError: there is no such picture, or the run cannot answer.
    """
    if picture not in TOOL_OF:
        raise ArgumentsInvalid(f"There is no picture '{shown(picture)}'.{nearest(picture, TOOL_OF)}")
    tool = answering.tool_named(TOOL_OF[picture], TOOLS)
    asked = cast("OfWindow", validated(tool, arguments))
    run = await session.run(asked.run)
    lacking = answering.lacks(tool, run)
    if lacking:
        raise QuestionRefused(lacking)
    if picture == "levels":
        levels = cleaned(await levels_of(run))
        return {"levels": by_column(levels) if levels else None}
    return await asyncio.to_thread(_window, run, asked)


def _window(run: Run, asked: OfWindow) -> dict[str, Any]:
    facts = answering.window_asked(run, asked)
    rows = window_rows(facts)
    return {
        "card": {"worker_cores": facts.chip.worker_cores},
        **window_content(rows.ops, rows.rooflines, rows.stages, rows.layers),
        "window_rows": rows.ops["window"]["rows"],
        "device": facts.scope.critical_device,
    }
