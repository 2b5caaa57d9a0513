"""An outline drawn for a terminal: tables where they fit, else one block per row."""

from __future__ import annotations

import re
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from ttnn_mcp.shell.outline import written
from ttnn_mcp.shell.terminal import canvas_for

if TYPE_CHECKING:
    from ttnn_mcp.shell.outline import Outline, Section

GAP = 2  # columns between two cells
WRAPPED = 16  # columns of a sentence at least
WORD = 30  # columns up to which a name is kept whole
FOLDED = 12  # of names and sentences alike, before a table becomes blocks
FILLED = re.compile(r" +((?:\x1b\[[\d;]*m)*)$", re.MULTILINE)  # rich fills lines with spaces
NAME = "bold"
NUMBER = "cyan"


def drawn(title: str, outline: Outline) -> str:
    """The title, all facts, then all tables, for the terminal on stdout."""
    canvas = canvas_for(sys.stdout, paper := StringIO())
    canvas.print(Text(title, style=NAME))
    if outline.facts:
        canvas.print(_named(outline.facts, canvas.width))
    for section in outline.sections:
        canvas.print(Text(f"\n{section.title}", style=NAME))
        for part in _drawn(section, canvas.width):
            canvas.print(part)
    return FILLED.sub(r"\1", paper.getvalue()).rstrip("\n")


def _named(pairs: list[tuple[str, str]], width: int) -> Table:
    """Names and values in two columns."""
    grid = Table.grid(padding=(0, GAP), pad_edge=False)
    grid.add_column(max_width=max(width // 3, 1), overflow="fold")
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(Text(name, style=NAME), Text(value))
    return grid


def _drawn(section: Section, width: int) -> list[Table | Text]:
    cells = [[written(value) for value in row] for row in section.rows]
    numbers = [_numeric([row[place] for row in section.rows]) for place in range(len(section.columns))]
    columns = [[column, *(row[place] for row in cells)] for place, column in enumerate(section.columns)]
    tries = (
        [_least(texts, WRAPPED, WORD) for texts in columns],
        [_least(texts, FOLDED, FOLDED) for texts in columns],
    )
    least = next((widths for widths in tries if sum(widths) + GAP * (len(widths) - 1) <= width), None)
    if least is None:
        return [
            part for row in cells for part in (_named(list(zip(section.columns, row, strict=True)), width), Text())
        ]
    table = Table(
        box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style=NAME, show_header=any(section.columns)
    )
    for column, number, size in zip(section.columns, numbers, least, strict=True):
        table.add_column(Text(column), justify="right" if number else "left", min_width=size, overflow="fold")
    for row in cells:
        table.add_row(
            *(Text(cell, style=NUMBER if number else "") for cell, number in zip(row, numbers, strict=True))
        )
    return [table]


def _least(texts: list[str], sentence: int, word: int) -> int:
    """Columns that a column takes at least: sentences are wrapped early, names late."""
    return min(max(map(cell_len, texts)), sentence if any(" " in text for text in texts[1:]) else word)


def _numeric(values: list[Any]) -> bool:
    """Whether the column holds numbers and nothing else."""
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, (int, float)) for value in present)
