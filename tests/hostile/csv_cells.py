"""A small, sound performance report whose cells, header or bytes a test then spoils."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from tests.profiles import header_of, performance_rows, write_rows
from tests.programs import block

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def spoiled(folder: Path, spoil: Callable[[list[dict[str, str]]], object], *, devices: int = 1) -> Path:
    """The report after `spoil` has changed its rows."""
    rows = performance_rows(block(devices=devices))
    columns = header_of(rows, "C7")
    spoil(rows)
    return write_rows(folder / "ops_perf_results_spoiled.csv", rows, columns)


def filled(folder: Path, *columns: str, text: str, every: int = 1, devices: int = 1) -> Path:
    """The report with `text` in a column of every so many device rows; in each further column from one row later."""

    def fill(rows: list[dict[str, str]]) -> None:
        for start, column in enumerate(columns):
            for row in [row for row in rows if row["OP TYPE"] == "tt_dnn_device"][start % every :: every]:
                row[column] = text

    return spoiled(folder, fill, devices=devices)


def renamed(folder: Path, old: str, new: str | None) -> Path:
    """The report whose column `old` is called `new`, or is gone."""
    path = spoiled(folder, lambda rows: None)
    with path.open(newline="") as file:
        header, *body = csv.reader(file)
    place = header.index(old)
    if new is None:
        lines = [[*line[:place], *line[place + 1 :]] for line in (header, *body)]
    else:
        lines = [[new if name == old else name for name in header], *body]
    return written(path, lines)


def doubled(folder: Path, old: str, new: str) -> Path:
    """The report with another column `new` in front, which holds what `old` holds."""
    path = spoiled(folder, lambda rows: None)
    with path.open(newline="") as file:
        header, *body = csv.reader(file)
    place = header.index(old)
    return written(path, [[new, *header], *([line[place], *line] for line in body)])


def written(path: Path, lines: list[list[str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return path
