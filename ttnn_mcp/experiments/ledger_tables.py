"""Where the rows of a ledger come from: a CSV, tables of a page in Markdown, or a folder of tt-perf-report's CSVs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.experiments.ledger_cells import times_of
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.regular_file import text_of

NAME = "candidate"  # the column of names that a folder gets
LARGEST_BYTES = 2_000_000
MOST_FILES, MOST_BYTES = 200, 50_000_000  # of a folder, ours: seconds
DEVICE_TIME = "Device Time"  # of tt-perf-report, in us
PERF_REPORT = {DEVICE_TIME, "Op-to-Op Gap", "OP Code"}
KERNEL_SUM = "kernel ms"
BLOCK = re.compile(r"[-_](?:run|rep|block)_?\d+$")
DELIMITERS = ",;\t"  # spreadsheets write the second where the comma is the sign of decimals
POINT, COMMA = re.compile(r"[0-9]\.[0-9]"), re.compile("(?<=[0-9]),(?=[0-9])")
Row: TypeAlias = "Mapping[str, str]"
TABLE = re.compile(r"^[ \t]*\|(.*)\n[ \t]*\|[-:| \t]+\n((?:[ \t]*\|.*\n?)*)", re.MULTILINE)


def tables_of(path: Path) -> list[list[Row]]:
    """The tables of a file or folder.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no text.
        QuestionRefused: it is too large.
    """
    if path.is_dir():
        return [_of_folder(path)]
    _check_size(path, path.stat().st_size, LARGEST_BYTES)
    text = text_of(path, LARGEST_BYTES)
    return [*_markdown(text)] if path.suffix.lower() == ".md" else [_csv(text)]


def _of_folder(folder: Path) -> list[Row]:
    """A row for each CSV of tt-perf-report in it or in a folder below: its name, and the sum of its device times."""
    tables = (file for file in chain(folder.glob("*.csv"), folder.glob("*/*.csv")) if file.is_file())
    files = sorted(islice(tables, MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise QuestionRefused(f"{shown(folder.name)} holds more than {MOST_FILES} CSVs. Import folders with fewer.")
    _check_size(folder, sum(file.stat().st_size for file in files), MOST_BYTES)
    rows: list[Row] = []
    for file in files:
        name = BLOCK.sub("", file.stem if file.parent == folder else file.parent.name)
        try:
            ops = _csv(text_of(file, MOST_BYTES))
        except (OSError, ValueError):
            ops = []
        if ops and ops[0].keys() >= PERF_REPORT:
            times = [time for op in ops for time in times_of("us", op[DEVICE_TIME])]
            rows.append({NAME: name, KERNEL_SUM: figure(sum(times), ".6f")})
    return rows


def _check_size(place: Path, size: int, at_most: int) -> None:
    if size > at_most:
        raise QuestionRefused(
            f"{shown(place.name)} holds {size // 10**6} MB, more than a ledger may ({at_most // 10**6} MB)."
        )


def _csv(text: str) -> list[Row]:
    lines = text.splitlines(keepends=True)
    try:
        heads = {delimiter: next(csv.reader(lines, delimiter=delimiter), ()) for delimiter in DELIMITERS}
        delimiter = max(heads, key=lambda one: len(heads[one]))
        rows = [_row(row) for row in csv.DictReader(lines, restval="", delimiter=delimiter)]
    except csv.Error:  # a cell without end
        return []
    has_points = any(POINT.search(cell) for row in rows for cell in row.values())
    if delimiter == "," or has_points:
        return rows
    return [{name: COMMA.sub(".", cell) for name, cell in row.items()} for row in rows]


def _row(cells: Mapping[str | None, str | list[str]]) -> Row:
    return {
        name.strip(): cell
        for name, cell in cells.items()
        if name is not None and isinstance(cell, str)  # unmoved: cells beyond the header are a list under no name
    }


def _markdown(text: str) -> Iterator[list[Row]]:
    """Its tables with pipes; code marks are taken off."""
    for head, body in TABLE.findall(text.replace("`", "")):
        yield [dict(zip(_cells(head), _cells(line.strip()[1:]), strict=False)) for line in body.splitlines()]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]
