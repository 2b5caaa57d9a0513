"""An answer's outline: its facts and its tables, whatever tool gave it. Numbers keep their digits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from ttnn_mcp.quoting import single_line
from ttnn_mcp.records import dataclass
from ttnn_mcp.report.markup import decimals, heading, number, percent
from ttnn_mcp.report.sections import window_words

SHORT = 40  # characters: longer texts of a list get a line each
FEW = 3  # values that stand in one line
TABLE = {"columns", "rows"}
CODED = frozenset({"how", "fix"})
AMOUNTS = frozenset({"bytes", "us", "ms", "gb", "flops", "ops", "count", "total", "operations"})  # in their names
SAID_ELSEWHERE = frozenset({"next", "next_cursor"})  # as commands: questions.py


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


class Percent(float):
    """A share, to be told in percent."""


class Count(int):
    """A count of bytes, ops or the like, to be told with its digits in threes."""


class Measure(float):
    """A time or a rate, to be told in the same way, with as many decimals as others of its column."""

    digits = 0


class MarkedCode(str):
    """Words of ours with marks around code."""

    __slots__ = ()


def outline_of(answer: Mapping[str, Any]) -> Outline:
    """The outline of a structured answer."""
    outline = Outline()
    for name, value in answer.items():
        if name not in SAID_ELSEWHERE:
            _add(outline, heading(name), _told(name, value))
    return outline


def _add(outline: Outline, title: str, value: Any) -> None:
    """A field of the answer: as a line, as a table, or as several tables where it holds tables itself."""
    if isinstance(value, dict) and "kind" in value and "first_row" in value:
        outline.facts.append((title, window_words(cast("dict[str, Any]", value))))
    elif isinstance(value, dict) and (len(cast("dict[str, Any]", value)) > FEW or _holds_parts([value])):
        _add_parts(outline, title, cast("dict[str, Any]", value))
    elif _holds_parts(value):
        for place, entry in enumerate(cast("list[dict[str, Any]]", value), start=1):
            _add_parts(outline, f"{title} {place}", entry)
    elif (table := _table(title, value)) is None:
        outline.facts.append((title, written(value)))
    elif table.rows:
        outline.sections.append(table)
    else:
        outline.facts.append((title, "none"))


def _add_parts(outline: Outline, title: str, parts: dict[str, Any]) -> None:
    """The single values of an object as one table, then its tables."""
    single = {name: value for name, value in parts.items() if not isinstance(value, (dict, list))}
    if single:
        rows = [(heading(name), _told(name, value)) for name, value in single.items()]
        outline.sections.append(Section(title, ("", ""), rows))
    for name, value in parts.items():
        if name not in single:
            _add(outline, f"{title}: {heading(name)}", value)


def _holds_parts(value: Any) -> bool:
    """Whether these are objects of which one holds tables."""
    if not isinstance(value, list):
        return False
    entries = cast("list[Any]", value)
    parts = [part for one in entries if isinstance(one, dict) for part in cast("dict[str, Any]", one).values()]
    return any(isinstance(part, dict) and part.keys() == TABLE for part in parts)


def _told(name: str, value: Any) -> Any:
    """A value of a field or column of this name."""
    if isinstance(value, str) and name in CODED:
        return MarkedCode(single_line(value))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if name.endswith("share"):
        return Percent(value)
    if AMOUNTS.isdisjoint(name.split("_")):  # a line, an id, an address: a name, and copied as one
        return value
    return Count(value) if isinstance(value, int) else Measure(value)


def worded(name: str) -> str:
    """The name of a field as words."""
    return name.replace("_", " ")


def written(value: Any) -> str:
    """A value in one line; a number exactly as the JSON has it, what was not measured as a dash."""
    if value is None:
        return "-"
    if isinstance(value, (Percent, Count, Measure)):
        digits = value.digits if isinstance(value, Measure) else 0
        return percent(value) if isinstance(value, Percent) else number(value, digits)
    if isinstance(value, str):
        return single_line(value)
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value).items()
        return ", ".join(f"{heading(name)} {_inner(_told(name, part))}" for name, part in parts)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_inner, cast("list[Any]", value))) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else json.dumps(value)


def numeric(values: Sequence[Any]) -> bool:
    """Whether the column holds numbers and nothing else."""
    present = [value for value in values if value is not None]
    return bool(present) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in present
    )


def _inner(value: Any) -> str:
    return f"({written(value)})" if isinstance(value, (dict, list, tuple)) else written(value)


def _table(title: str, value: Any) -> Section | None:
    """The value as a table; None where a line says it."""
    if isinstance(value, dict):
        shown = cast("dict[str, Any]", value)
        if shown.keys() == TABLE:
            return _section(title, shown["columns"], shown["rows"])
        return None
    if not isinstance(value, (list, tuple)):
        return None
    entries = cast("Sequence[Any]", value)
    if all(isinstance(entry, dict) for entry in entries):
        names = dict.fromkeys(name for entry in entries for name in entry)
        return _section(title, [*names], [[*map(entry.get, names)] for entry in entries])
    if any(isinstance(entry, str) and len(entry) > SHORT for entry in entries):
        return Section(title, ("",), [(entry,) for entry in entries])
    return None


def _section(title: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Section:
    columns = [_column(name, [row[place] for row in rows]) for place, name in enumerate(names)]
    return Section(title, tuple(map(heading, names)), [*zip(*columns, strict=True)])


def _column(name: str, cells: Sequence[Any]) -> list[Any]:
    """The values of a column, the numbers among them with the same decimals."""
    digits = decimals(name, cells)
    return [measured(cell, digits) if digits else _told(name, cell) for cell in cells]


def measured(cell: Any, digits: int) -> Any:
    """A number to be told with so many decimals; what is none stays as it is."""
    if not isinstance(cell, (int, float)):
        return cell
    measure = Measure(cell)
    measure.digits = digits
    return measure
