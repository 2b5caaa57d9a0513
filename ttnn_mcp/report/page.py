"""One self-contained page: text, pictures, and the answers they are made of. It can reach no address."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ttnn_mcp import __version__
from ttnn_mcp.report.embedded import content_of, embedded
from ttnn_mcp.report.markup import Markup, element, joined
from ttnn_mcp.report.pictures import memory_section, roofline_section, timeline_section
from ttnn_mcp.report.sections import budget_section, comparison_section, findings_section, run_words, summary

if TYPE_CHECKING:
    from ttnn_mcp.report.answers import Answers

MARK = "<!doctype html>\n<!-- ttnn-mcp report -->\n"


def page(answers: Answers) -> str:
    """The page of a run."""
    style, script = resource("page", ".css"), resource("page", ".js")
    title = f"TTNN report: {run_words(answers.card)}"
    title += f" against {run_words(answers.base)}" if answers.base else ""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        element("header", element("h1", title), summary(answers)),
        element("main", *_sections(answers)),
        element(
            "footer", element("p", f"Written by ttnn-mcp {__version__}. All numbers are answers of its tools.")
        ),
        element("script", Markup(embedded(content_of(answers))), type="application/json", id="content"),
        element("script", Markup(script)),
    )
    return f"{MARK}{element('html', joined(head, body), lang='en')}\n"


def _sections(answers: Answers) -> list[Markup]:
    parts: list[Markup] = []
    if answers.comparison:
        parts.append(comparison_section(answers))
    if answers.budget:
        parts.append(budget_section(answers.budget))
    if answers.ops and answers.ops["ops"]["rows"]:
        parts.append(timeline_section(answers, answers.ops))
    if answers.check:
        parts.append(findings_section(answers.check))
    if answers.ops and answers.ops["ops"]["rows"]:
        parts.append(roofline_section())
    if answers.memory:
        parts.append(memory_section(answers.memory, answers.levels))
    return parts


@cache
def resource(folder: str, ending: str, names: tuple[str, ...] = ()) -> str:
    """The files of a folder of this room with this ending, or those of these names, in the order of their names."""
    everything = files("ttnn_mcp.report").joinpath(folder).iterdir()
    chosen = sorted((file for file in everything if file.name.endswith(ending)), key=lambda file: file.name)
    return "\n".join(file.read_text(encoding="utf-8") for file in chosen if not names or file.name in names)


def policy(style: str, script: str) -> str:
    """Nothing may be loaded from anywhere; only this style and this script apply."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
