"""Markdown from answers. Text of a profile is data: it cannot become a link, a tag, a mention or a cell of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ttnn_mcp.checks.fixes import CODE
from ttnn_mcp.report.sections import ops_counted
from ttnn_mcp.shell.outline import MarkedCode, Outline, numeric, written

_MARKS = re.compile(r"([\\`*{}\[\]<>|#!~@&$]|(?<![^\W_])_|_(?![^\W_]))")  # inside a word `_` is a letter
# GitHub looks for these in the text that is left when backslashes are gone: only an unseen gap inside keeps it away
_LINKED = re.compile(
    r"""(?i)\b(https?|ftp|www)(?=[:.])     # addresses
    | [@#](?=\w)                          # mentions, issues
    | \$(?=\S)                            # formulas
    | \bGH-(?=\d)                         # issues
    | :(?=[\w+-]+:)                       # emoji
    | \b(?=\d*[a-f])[0-9a-f]{9,40}\b       # commits; our own ids have 8 digits, and are to be copied
    """,
    re.VERBOSE,
)
_SHORTER = re.compile(r"\w{6}(?=\w)|.$")  # a commit is linked by seven digits


def _gapped(linked: re.Match[str]) -> str:
    return _SHORTER.sub("\\g<0>\u200b", linked[0])


def text(value: object) -> str:
    """A value as text that Markdown shows as it is."""
    return _shown(" ".join(str(value).split()))


def _shown(line: str) -> str:
    return _MARKS.sub(r"\\\1", _LINKED.sub(_gapped, line))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[bool] = ()) -> list[str]:
    """A table, line by line; columns of `numbers` stand at the right."""
    rules = ["---:" if at_right else "---" for at_right in numbers] or ["---"] * len(columns)
    lines = [_line(columns), _line(rules, escaped=True)]
    return [*lines, *(_line(["" if cell is None else cell for cell in row]) for row in rows)]


def window(shown: Mapping[str, Any]) -> str:
    """A window as one cell."""
    kind = shown["kind"].replace("_", " ")
    doubtful = ", in doubt" if shown.get("doubts") else ""
    return f"{kind}, {'warm' if shown['warm'] else 'not warm'}, {ops_counted(shown['rows'])}{doubtful}"


def _line(cells: Sequence[Any], *, escaped: bool = False) -> str:
    return f"| {' | '.join(cell if escaped else coded(cell) for cell in cells)} |"


def coded(value: object) -> str:
    """A value as text; what our words mark as code is code, also in a table."""
    if not isinstance(value, MarkedCode):
        return text(value)
    parts = enumerate(value.split(CODE))
    return "".join(
        f"{CODE}{part}{CODE}".replace("|", "\\|") if place % 2 else _shown(part) for place, part in parts
    )


def page(title: str, outline: Outline) -> list[str]:
    """A whole answer, line by line: its facts, then its tables."""
    lines = [f"### {text(title)}", "", *(f"- **{text(name)}**: {text(value)}" for name, value in outline.facts)]
    for section in outline.sections:
        lines += ["", f"**{text(section.title)}**", ""]
        if not any(section.columns):
            lines += [_item(*row) for row in section.rows]
        elif any(isinstance(cell, (dict, list)) for row in section.rows for cell in row):
            lines += [line for row in section.rows for line in _entry(section.columns, row)]
        else:
            cells = [[_kept(cell) for cell in row] for row in section.rows]
            lines += table(section.columns, cells, [numeric(column) for column in zip(*section.rows, strict=True)])
    return lines


def _kept(value: object) -> str:
    return value if isinstance(value, MarkedCode) else written(value)


def _item(first: object, *others: object) -> str:
    name = text(written(first))
    return f"- **{name}**: {coded(_kept(others[0]))}" if others else f"- {name}"


def _entry(columns: Sequence[str], row: Sequence[Any]) -> list[str]:
    """A row whose cells hold more than a word, as a list."""
    pairs = [(name, written(cell)) for name, cell in zip(columns, row, strict=True) if cell is not None]
    return [
        f"{'1. ' if place == 0 else '   - '}**{text(name)}**: {text(cell)}"
        for place, (name, cell) in enumerate(pairs)
    ]
