"""One self-contained page: text, pictures, and the answers they are made of. It can reach no address.

It carries the answers as JSON: no text of a profile can end the element it stands in. The section about two runs has
totals, the kinds of op that made the change, and behind a click the edits.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any

from ttnn_mcp import __version__
from ttnn_mcp.report.answers import Answers
from ttnn_mcp.report.markup import Markup, before_after_bars, element, joined, number, percent, rows_told
from ttnn_mcp.report.pictures import memory_section, ops_section, roofline_section, timeline_section
from ttnn_mcp.report.plan_section import findings_section, plan_section
from ttnn_mcp.report.plotted import roofs_of
from ttnn_mcp.report.sections import (
    budget_section,
    figures,
    folded,
    kinds_section,
    listed,
    paragraph,
    predicted_section,
    run_words,
    section,
    summary,
    window_words,
)

FOR_AUTHORS = re.compile(r"^ *//.*\n|^ +", re.MULTILINE)  # comments and indentation, which a browser does not need
MARK = "<!doctype html>\n<!-- ttnn-mcp report -->\n"

Answer = dict[str, Any]
MOST_OF = 0.9  # of all that changed, in either direction: what makes less is noise beside it (ours)
MOST_KINDS = 8  # as many as a screen shows at once (ours)
EDITS = (
    ("added", "Ops that are new"),
    ("removed", "Ops that are gone"),
    ("rewritten", "Ops that became others"),
    ("changed", "Ops that changed"),
    ("engaged", "Where the change took hold"),
    ("memory", "Memory"),
)

NO_WINDOW: dict[str, Any] = dict.fromkeys(("ops", "warm", "ops_total", "rooflines", "roofs", "stage", "layer"))
# Within JSON these stand in texts only, and an escape says the same.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


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
    header, main = element("header", element("h1", title), summary(answers)), element("main", *_sections(answers))
    body = element(
        "body",
        header,
        main,
        element(
            "footer",
            _words(header + main),
            element("p", f"Written by ttnn-mcp {__version__}. All numbers are answers of its tools."),
        ),
        element("script", Markup(embedded(content_of(answers))), type="application/json", id="content"),
        element("script", Markup(script)),
    )
    return f"{MARK}{element('html', joined(head, body), lang='en')}\n"


def _words(shown: str) -> Markup:
    """The words that explain themselves to a mouse, for those who have none."""
    each = dict(re.findall(r'<abbr title="([^"]*)">([^<]*)</abbr>', shown))
    pairs = [joined(element("dt", Markup(word)), element("dd", Markup(meaning))) for meaning, word in each.items()]
    if not pairs:
        return Markup()
    return folded("The words of this page", element("dl", *map(partial(element, "div"), pairs), class_="rowed"))


def _sections(answers: Answers) -> list[Markup]:
    ran = answers.ops if answers.ops and answers.ops["ops"]["rows"] else None
    return [
        kinds_section(answers),
        plan_section(answers.check) if answers.check else Markup(),
        comparison_section(answers) if answers.comparison else Markup(),
        timeline_section(answers, ran) if ran else Markup(),
        ops_section() if ran else Markup(),
        roofline_section() if ran else Markup(),
        memory_section(answers.memory, answers.levels, answers.spans) if answers.memory else Markup(),
        predicted_section(answers.predicted) if answers.predicted else Markup(),
        budget_section(answers.budget) if answers.budget else Markup(),
        findings_section(answers.check) if answers.check else Markup(),
    ]


@cache
def resource(folder: str, ending: str, names: tuple[str, ...] = ()) -> str:
    """The files of a folder of this room with this ending, or those of these names, in the order of their names.

    Without their comments and indentation.
    """
    everything = files("ttnn_mcp.report").joinpath(folder).iterdir()
    chosen = sorted((file for file in everything if file.name.endswith(ending)), key=lambda file: file.name)
    text = "\n".join(file.read_text(encoding="utf-8") for file in chosen if not names or file.name in names)
    return FOR_AUTHORS.sub("", text)


def policy(style: str, script: str) -> str:
    """Nothing may be loaded from anywhere; only this style and this script apply."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def comparison_section(answers: Answers) -> Markup:
    """Before and after."""
    comparison = answers.comparison or {}
    groups, chosen = comparison["groups"], makers(comparison["groups"])
    names = [run_words(side) for side in (answers.base or {}, answers.card)]
    pairs = [
        ("before", f"{names[0]}, {number(comparison['kernel_ms']['before'])} ms"),
        ("after", f"{names[1]}, {number(comparison['kernel_ms']['after'])} ms"),
        ("change", percent(comparison["change_share"])),
        ("noise", f"{percent(comparison['noise_share'])}: {comparison['noise_from']}"),
        ("window before", window_words(comparison["baseline_window"])),
        ("window after", window_words(comparison["window"])),
    ]
    keys = [element("span", word, class_=f"key {word}") for word in ("before", "after")]
    drawn = [paragraph(*keys, kind="legend"), before_after_bars(chosen)] if chosen else []
    edits = [(name, title, rows_told(title, comparison.get(name))) for name, title in EDITS]
    return section(
        "against",
        "Before and after",
        rows_told("What makes the gain doubtful", comparison.get("suspicious")),
        figures(pairs, "rowed"),
        *drawn,
        folded("All ops as a table", rows_told("Kernel time by op", groups)),
        *(folded(f"{title} ({len(comparison[name]['rows'])})", made) for name, title, made in edits if made),
        listed(comparison.get("caveats", ()), "caveats"),
    )


def makers(groups: dict[str, Any]) -> list[list[Any]]:
    """The groups of compare_runs that together make most of the change, the largest first."""
    rows = sorted(groups["rows"], key=lambda row: -abs(row[3]))
    wanted = MOST_OF * sum(abs(row[3]) for row in rows)
    chosen: list[list[Any]] = []
    for row in rows[:MOST_KINDS]:
        if sum(abs(one[3]) for one in chosen) >= wanted:
            break
        chosen.append(row)
    return chosen


def content_of(answers: Answers) -> dict[str, Any]:
    """Everything the page's pictures and its readers need: the tools' answers, long tables by column."""
    ops, rooflines = answers.ops, answers.rooflines
    timed = (
        window_content(ops, rooflines, answers.stage_of_op, answers.layer_of_op)
        if ops and rooflines  # unmoved: there are both or neither, which their types hide
        else NO_WINDOW
    )
    return {
        "ttnn_mcp": __version__,
        "card": answers.card,
        "check": answers.check,
        "budget": answers.budget,
        **timed,
        "stages": answers.stages,
        "memory": answers.memory,
        "levels": by_column(answers.levels) if answers.levels else None,
        "spans": {**answers.spans, "spans": by_column(answers.spans["spans"])} if answers.spans else None,
        "base": answers.base,
        "comparison": answers.comparison,
    }


def window_content(
    ops: dict[str, Any],
    rooflines: dict[str, Any],
    stage_of_op: Sequence[str | None],
    layer_of_op: Sequence[int | None],
) -> dict[str, Any]:
    """What the timeline, the roofline and the table of ops are drawn from."""
    return {
        "ops": by_column(ops["ops"]),
        "warm": ops["window"]["warm"],
        "ops_total": ops["total"],
        "rooflines": by_column(rooflines),
        "roofs": roofs_of(ops, rooflines),
        "stage": _distinct(stage_of_op),
        "layer": list(layer_of_op),
    }


def by_column(table: dict[str, Any]) -> dict[str, Any]:
    """A table column by column; a column of texts holds each of them once."""
    rows: list[list[Any]] = table["rows"]
    columns: list[tuple[Any, ...]] = [*zip(*rows, strict=True)] if rows else [()] * len(table["columns"])
    return {
        name: _distinct(cells) if any(isinstance(cell, str) for cell in cells) else list(cells)
        for name, cells in zip(table["columns"], columns, strict=True)
    }


def _distinct(cells: Sequence[str | None]) -> dict[str, Any]:
    places: dict[str, int] = {}
    at = [None if cell is None else places.setdefault(cell, len(places)) for cell in cells]
    return {"words": list(places), "at": at}


def embedded(content: dict[str, Any]) -> str:
    """The content as JSON for an element of a page."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return text
