"""An outline drawn for a terminal: tables where they fit, also in several pieces, else one block per row."""

from __future__ import annotations

import re
import sys
from io import StringIO

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from ttnn_mcp.shell.outline import Outline, Section, numeric, written
from ttnn_mcp.shell.terminal import canvas_for

GAP = 2  # columns between two cells
WRAPPED = 16  # columns of a sentence at least
WORD = 30  # columns up to which a name is kept whole
BAND = 4  # columns that a table has at least, on average, if one becomes several
FOLDED = 12  # of names and sentences alike, before a table becomes blocks
# where a line may end: names and numbers stay whole where they fit
BREAKS = re.compile(r"(?<=[ ;/|])|(?<=\w\()|(?<=,)(?!\d)")
FILLED = re.compile(r" +((?:\x1b\[[\d;]*m)*)$", re.MULTILINE)  # rich fills lines with spaces
NAME = "bold"
NUMBER = "cyan"


def drawn(title: str, outline: Outline) -> str:
    """The title, all facts, then all tables, for the terminal on stdout."""
    canvas = canvas_for(sys.stdout, paper := StringIO())
    canvas.print(Text(title, style=NAME))
    canvas.print(_named(outline.facts, canvas.width))
    for section in outline.sections:
        canvas.print(Text(f"\n{section.title}" if section.title else "", style=NAME))
        for part in _drawn(section, canvas.width):
            canvas.print(part)
    return FILLED.sub(r"\1", paper.getvalue()).rstrip("\n")


def _named(pairs: list[tuple[str, str]], width: int) -> Table:
    """Names and values in two columns."""
    grid = Table.grid(padding=(0, GAP), pad_edge=False)
    most = max(width // 3, 1)
    grid.add_column(max_width=most, overflow="fold")
    grid.add_column(overflow="fold")
    names = min(max((cell_len(name) for name, _ in pairs), default=0), most)
    for name, value in pairs:
        grid.add_row(Text(name, style=NAME), Text(_broken(value, width - names - GAP)))
    return grid


def _broken(text: str, width: int) -> str:
    """A text in lines that end between names where they can."""
    lines = [""]
    for part in BREAKS.split(text):
        if cell_len(f"{lines[-1]}{part.rstrip()}") > width and lines[-1]:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _drawn(section: Section, width: int) -> list[Table | Text]:
    """One table; else several that begin with the same column; else a block per row."""
    cells = [[written(value) for value in row] for row in section.rows]
    columns = [[column, *(row[place] for row in cells)] for place, column in enumerate(section.columns)]
    tries = (
        [_least(texts, WRAPPED, WORD) for texts in columns],
        [_least(texts, FOLDED, FOLDED) for texts in columns],
    )
    least = next((widths for widths in tries if _together(widths) <= width), tries[0])
    bands = [list(range(len(least)))] if _together(least) <= width else _bands(least, width)
    if not bands:
        return [
            part for row in cells for part in (_named(list(zip(section.columns, row, strict=True)), width), Text())
        ]
    tables: list[Table | Text] = []
    for band in bands:
        ranges = {place: (least[place], max(map(cell_len, columns[place]))) for place in band}
        tables += [_table(section, _fitted(ranges, width)), Text()]
    return tables[:-1]


def _table(section: Section, widths: dict[int, int]) -> Table:
    """Some columns of a section, by their places, each as wide as is said."""
    table = Table(
        box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style=NAME, show_header=any(section.columns)
    )
    numbers = {place: numeric([row[place] for row in section.rows]) for place in widths}
    for place, columns in widths.items():
        justify = "right" if numbers[place] else "left"
        table.add_column(Text(section.columns[place]), justify=justify, width=columns, overflow="fold")
    for row in section.rows:
        cells = {place: _broken(written(row[place]), columns) for place, columns in widths.items()}
        table.add_row(*(Text(cell, style=NUMBER if numbers[place] else "") for place, cell in cells.items()))
    return table


def _fitted(ranges: dict[int, tuple[int, int]], width: int) -> dict[int, int]:
    """A width for each column between its least and its whole one; all least ones fit. The most spare gives first."""
    widths = {place: whole for place, (_least, whole) in ranges.items()}
    while _together([*widths.values()]) > width:
        spare = {place: widths[place] - least for place, (least, _whole) in ranges.items()}
        widths[max(spare, key=lambda place: spare[place])] -= 1
    return widths


def _bands(least: list[int], width: int) -> list[list[int]]:
    """Columns that fit side by side, the first of all in front of each group; none where groups would be thin."""
    bands = [[0]]
    for place in range(1, len(least)):
        if _together([least[other] for other in (*bands[-1], place)]) > width:
            bands.append([0])
        bands[-1].append(place)
    thin = sum(map(len, bands)) < len(bands) * BAND or _together(least[:1]) > width
    widest = max(_together([least[place] for place in band]) for band in bands)
    return [] if thin or widest > width else bands


def _together(widths: list[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _least(texts: list[str], sentence: int, word: int) -> int:
    """Columns that a column takes at least: sentences and headings are wrapped early, names late."""
    heading = max(map(cell_len, texts[0].split()), default=0)
    most = sentence if any(" " in text for text in texts[1:]) else word
    return min(max(heading, *map(cell_len, texts[1:])), max(most, heading))
