"""An answer's outline: its facts and its tables, whatever tool gave it. Numbers stay as the JSON has them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.quoting import single_line
from ttnn_mcp.report.sections import window_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHORT = 40  # characters: longer texts of a list get a line each
SAID_ELSEWHERE = frozenset({"next", "next_cursor"})  # as commands: suggestions.py


@dataclass(frozen=True, slots=True)
class Section:
    """One table of an answer."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Outline:
    """Facts by name, then tables."""

    facts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    sections: list[Section] = field(default_factory=list[Section])


def outline_of(answer: Mapping[str, Any]) -> Outline:
    """The outline of a structured answer."""
    outline = Outline()
    for name, value in answer.items():
        if name in SAID_ELSEWHERE:
            continue
        table = _table(worded(name), value)
        if table is None:
            outline.facts.append((worded(name), window_text(value) if "window" in name else written(value)))
        elif table.rows:
            outline.sections.append(table)
        else:
            outline.facts.append((worded(name), "none"))
    return outline


def worded(name: str) -> str:
    """The name of a field as words."""
    return name.replace("_", " ")


def written(value: Any) -> str:
    """A value in one line; a number exactly as the JSON has it, what was not measured as a dash."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return single_line(value)
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value).items()
        return ", ".join(f"{worded(name)} {_inner(part)}" for name, part in parts)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_inner, cast("list[Any]", value))) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else json.dumps(value)


def window_text(window: Any) -> str:
    """A window as a sentence."""
    if not isinstance(window, dict) or "kind" not in window:
        return written(window)
    return window_words(cast("dict[str, Any]", window))


def _inner(value: Any) -> str:
    return f"({written(value)})" if isinstance(value, (dict, list, tuple)) else written(value)


def _table(title: str, value: Any) -> Section | None:
    """The value as a table; None where a line says it."""
    if isinstance(value, dict):
        shown = cast("dict[str, Any]", value)
        if shown.keys() == {"columns", "rows"}:
            return Section(title, tuple(map(worded, shown["columns"])), [tuple(row) for row in shown["rows"]])
        return None
    if not isinstance(value, (list, tuple)):
        return None
    entries = cast("Sequence[Any]", value)
    if all(isinstance(entry, dict) for entry in entries):
        names = dict.fromkeys(name for entry in entries for name in entry)
        return Section(title, tuple(map(worded, names)), [tuple(map(entry.get, names)) for entry in entries])
    if any(isinstance(entry, str) and len(entry) > SHORT for entry in entries):
        return Section(title, ("",), [(entry,) for entry in entries])
    return None
