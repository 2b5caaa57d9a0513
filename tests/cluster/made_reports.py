"""Many reports made from the real ones: their rows over and over, kernel times jittered. Made, and named so."""

from __future__ import annotations

import csv
import io
import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

KERNEL, START, END = "DEVICE KERNEL DURATION [ns]", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE"
JITTER = 0.10  # a kernel becomes up to so much shorter, never longer: it still fits into its firmware time
MARK = "\x01"  # stands for the cells that change
DAMAGED = {
    "ops_perf_results_made_empty.csv": b"",
    "ops_perf_results_made_binary.csv": bytes(range(256)) * 40,
    "ops_perf_results_made_foreign.csv": b"name,age\nada,36\n",
    "ops_perf_results_made_headless.csv": b"1,2,3\n4,5,6\n",
}


class Base(NamedTuple):
    """A real report, ready to be written many times.

    Attributes:
        name: of the real file.
        header: its first line.
        rows: per row, the text around the cells that change, and these cells as numbers (None: left as it was).
        span: cycles from its first op to its last.
    """

    name: str
    header: str
    rows: list[tuple[list[str], int, int, int] | str]
    span: int

    @property
    def ops(self):
        return sum(not isinstance(row, str) for row in self.rows)


def base_of(path):
    with path.open(newline="") as file:
        header, *rows = list(csv.reader(file))
    places = [header.index(name) for name in (START, END, KERNEL)]
    order = sorted(places)
    made, cycles = [], []
    for row in rows:
        cells = [row[place] if place < len(row) else "" for place in places]
        if not all(cell.isdigit() for cell in cells):
            made.append(_line(row))
            continue
        for place in places:
            row[place] = MARK
        parts = _line(row).split(MARK)
        numbers = {place: int(cell) for place, cell in zip(places, cells, strict=True)}
        assert len(parts) == 4
        assert order == sorted(order) == [places[0], places[1], places[2]], "the columns stand in this order"
        made.append((parts, *(numbers[place] for place in places)))
        cycles += [numbers[places[0]], numbers[places[1]]]
    return Base(path.name, _line(header), made, max(cycles) - min(cycles) + 1000)


def write_report(base, path, ops, seed):
    """At least so many ops: the real report's rows over and over, the clock going on, kernels jittered."""
    chance = random.Random(seed).random
    repeats = -(-ops // base.ops)
    with path.open("w", newline="") as file:
        file.write(base.header)
        for repeat in range(repeats):
            shift = repeat * base.span
            pieces = []
            for row in base.rows:
                if isinstance(row, str):
                    pieces.append(row)
                else:
                    (a, b, c, d), start, end, kernel = row
                    jittered = int(kernel * (1 - JITTER * chance()))
                    pieces.append(f"{a}{start + shift}{b}{end + shift}{c}{jittered}{d}")
            file.write("".join(pieces))
    return repeats * base.ops


def write_reports(bases, folder: Path, count, ops_each):
    """So many reports below the folder, a hundred per subfolder; returns their rows of ops."""
    total = 0
    for number in range(count):
        base = bases[number % len(bases)]
        place = folder / f"night_{number // 100:03}"
        place.mkdir(parents=True, exist_ok=True)
        name = f"ops_perf_results_made_{number:05}_from_{base.name.removeprefix('ops_perf_results_')}"
        total += write_report(base, place / name, ops_each, number)
    return total


def write_damaged(folder: Path):
    folder.mkdir(parents=True, exist_ok=True)
    for name, contents in DAMAGED.items():
        (folder / name).write_bytes(contents)


def _line(row):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()
