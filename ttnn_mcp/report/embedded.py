"""The answers as the JSON that a page carries: no text of a profile can end the element it stands in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ttnn_mcp import __version__
from ttnn_mcp.report.answers import Answers
from ttnn_mcp.report.roofs import roofs_of

NO_WINDOW: dict[str, Any] = dict.fromkeys(("ops", "warm", "ops_total", "rooflines", "roofs", "stage", "layer"))
# Within JSON these stand in texts only, and an escape says the same.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


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
        "stage": _words(stage_of_op),
        "layer": list(layer_of_op),
    }


def by_column(table: dict[str, Any]) -> dict[str, Any]:
    """A table column by column; a column of texts holds each of them once."""
    rows: list[list[Any]] = table["rows"]
    columns: list[tuple[Any, ...]] = [*zip(*rows, strict=True)] if rows else [()] * len(table["columns"])
    return {
        name: _words(cells) if any(isinstance(cell, str) for cell in cells) else list(cells)
        for name, cells in zip(table["columns"], columns, strict=True)
    }


def _words(cells: Sequence[str | None]) -> dict[str, Any]:
    places: dict[str, int] = {}
    at = [None if cell is None else places.setdefault(cell, len(places)) for cell in cells]
    return {"words": list(places), "at": at}


def embedded(content: dict[str, Any]) -> str:
    """The content as JSON for an element of a page."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return text
