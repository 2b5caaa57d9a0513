"""Ledgers that engineers keep: the CSV of a sweep, or the tables of a work log in Markdown, as experiments.

A table is one where a column names the candidates, a row is named as the control, and a column tells times or rates,
as in the `sweep_results.csv` and work logs of tt-metal's models/autoports. Of several such columns the one with blocks
counts, then the one of decode. Several figures in a cell, and rows of one name, are blocks of replays. A table without
a control may have both sides in a row (`performance_matrix.csv` there). In a folder, each CSV of tt-perf-report is a
candidate, told by its name; "_run1" at its end names a block.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from statistics import median
from typing import TypeAlias

from ttnn_mcp.errors import QuestionRefused, ReportMissing, shown, shown_path
from ttnn_mcp.experiments.experiment import LONGEST_TEXT, Experiment, RunSeen
from ttnn_mcp.experiments.rules import by_blocks, decide
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.regular_file import text_of
from ttnn_mcp.records import dataclass

SUFFIXES = (".csv", ".md")
LARGEST_BYTES = 2_000_000
MOST_FILES, MOST_BYTES = 200, 50_000_000  # of a folder, ours: seconds
DEVICE_TIME = "Device Time"  # of tt-perf-report, in us
PERF_REPORT = {DEVICE_TIME, "Op-to-Op Gap", "OP Code"}
KERNEL_SUM = "kernel ms"
BLOCK = re.compile(r"[-_](?:run|rep|block)_?\d+$")
NAMES = ("candidate", "config_id", "id", "trial", "policy", "config", "variant", "name")
# rows that differ in them are not compared
GROUPS = ("batch", "phase", "kind", "layer kind", "seq_len", "prefix", "prefix_len")
CONTROL = re.compile(r"baseline|control|shipped|reference|^before", re.IGNORECASE)
BEFORE = re.compile(r"(?:before|baseline|control|reference|functional|default|old)[ _]?", re.IGNORECASE)
AFTER = r"(after|candidate|new|fused|optimi[sz]ed)[ _]?"
FAILED = re.compile(r"fail|error", re.IGNORECASE)
UNIT = re.compile(r"(?<![a-z])(?:(ms|us)|(?:t|tok|tokens|samples)[_/]s)(?![a-z])", re.IGNORECASE)
TABLE = re.compile(r"^[ \t]*\|(.*)\n[ \t]*\|[-:| \t]+\n((?:[ \t]*\|.*\n?)*)", re.MULTILINE)
FIGURE = re.compile(r"\s*(\d{1,6}(?:\.\d{1,20})?)\s*(?:ms|us)?\s*", re.ASCII)
PCC = re.compile(r"(?<![\d.-])-?[01](?:\.\d{1,20})?(?![\d.])", re.ASCII)
Row: TypeAlias = "Mapping[str, str]"


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a ledger holds: experiments, and how many candidates have no figure."""

    experiments: tuple[Experiment, ...]
    without: int


def read_ledger(path: Path, control: str | None = None) -> Ledger:
    """Read a ledger, or a folder of tt-perf-report's CSVs; the fastest candidate of a table comes first. Blocks.

    Args:
        path: the file or folder.
        control: the name of the control's row; None for the one that is named like a control.

    Raises:
        ReportMissing: there is no such file.
        QuestionRefused: no table in it names candidates, a control and a time; or it is too large.
    """
    try:
        status = path.stat()
        recorded = status.st_mtime
        if path.is_dir():
            tables = [_of_folder(path)]
        else:
            _check_size(path, status.st_size, LARGEST_BYTES)
            text = text_of(path, LARGEST_BYTES)
            tables = _markdown(text) if path.suffix.lower() == ".md" else [_csv(text)]
    except (OSError, ValueError):
        raise ReportMissing(f"{shown_path(path)} cannot be read. Check the path and its permissions.") from None
    tried = [one for table in tables for one in _experiments(path.name, table, control)]
    experiments = [replace(one, recorded=recorded) for one in tried if one is not None]
    if not experiments:
        raise QuestionRefused(
            f"{shown(path.name)} is no ledger: a table needs a column of names ({', '.join(NAMES)}), a row named "
            "baseline or control (or name it: `baseline`), and a column in ms, us or per second; or both sides in a "
            "row (before_ms, after_ms). A folder needs CSVs of tt-perf-report, one of them named baseline. Reports "
            "are opened with open_run."
        )
    return Ledger(tuple(experiments), len(tried) - len(experiments))


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
            times = [time for op in ops for time in _times("us", op[DEVICE_TIME])]
            rows.append({NAMES[0]: name, KERNEL_SUM: figure(sum(times), ".6f")})
    return rows


def _check_size(place: Path, size: int, at_most: int) -> None:
    if size > at_most:
        raise QuestionRefused(
            f"{shown(place.name)} holds {size // 10**6} MB, more than a ledger may ({at_most // 10**6} MB)."
        )


def _csv(text: str) -> list[Row]:
    try:
        return [_row(row) for row in csv.DictReader(text.splitlines(keepends=True), restval="")]
    except csv.Error:  # a cell without end
        return []


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


def _experiments(file: str, rows: Sequence[Row], control: str | None) -> Iterator[Experiment | None]:
    """Those of a table; None for a candidate without a figure."""
    columns = {name.lower(): name for name in (rows[0] if rows else ())}
    if sides := _sides(list(columns.values())):
        yield from (_side_by_side(file, row, *sides) for row in rows)
        return
    name = next((columns[one] for one in NAMES if one in columns), None)
    if name is None:  # unmoved: a row without a name is none
        return
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(columns.get(one, ""), "") for one in GROUPS), []).append(row)
    for members in groups.values():
        yield from _compared(file, _named(members, name), columns.get("decision", ""), control)


def _sides(columns: Sequence[str]) -> tuple[str, str] | None:
    """The first columns of times before and after: equal but for their first word."""
    for before in columns:
        if start := BEFORE.match(before):
            rest = re.escape(before[start.end() :])
            after = next((one for one in columns if re.fullmatch(AFTER + rest, one, re.IGNORECASE)), None)
            if after is not None:
                return before, after
    return None


def _side_by_side(file: str, row: Row, before: str, after: str) -> Experiment | None:
    """The experiment of a row that tells both sides; None without a figure."""
    was, now = _times(before, row.get(before, "")), _times(after, row.get(after, ""))
    if not was or not now:
        return None
    name = " ".join(list(row.values())[: list(row).index(before)])
    runs = (
        _run(file, f"{name}: {before}", {**row, "side": before}, was),
        _run(file, f"{name}: {after}", {**row, "side": after}, now),
    )
    return _experiment(f"{name}: {after}", row, runs, before, (was, now))


def _named(rows: Sequence[Row], name: str) -> dict[str, Row]:
    """A row for each name; what several rows tell of it is joined."""
    rows_of: dict[str, list[Row]] = {}
    for row in rows:
        rows_of.setdefault(row.get(name, "").strip(), []).append(row)
    return {
        text: {column: ",".join(filter(None, (row.get(column) for row in same))) for column in same[0]}
        for text, same in rows_of.items()
        if text
    }


def _compared(file: str, rows: Mapping[str, Row], decision: str, wanted: str | None) -> Iterator[Experiment | None]:
    """All of them with the control, which `wanted` may name."""
    likely = (name for name, row in rows.items() if CONTROL.search(name) or CONTROL.match(row.get(decision, "")))
    control = next(likely, None) if wanted is None else wanted if wanted in rows else None
    if control is None:
        return
    column = _timed(rows[control])
    if column is None:
        return
    before = _times(column, rows[control][column])
    run = _run(file, control, rows[control], before)
    times = {name: _times(column, row.get(column, "")) for name, row in rows.items() if name != control}
    yield from (None for after in times.values() if not after)
    for name in sorted(filter(times.get, times), key=lambda name: median(times[name])):
        candidate = _run(file, name, rows[name], times[name])
        yield _experiment(name, rows[name], (run, candidate), column, (before, times[name]))


def _timed(control: Row) -> str | None:
    """The column that is judged."""
    timed = [column for column, cell in control.items() if _times(column, cell)]
    has_blocks = {column: len(_times(column, control[column])) > 1 for column in timed}
    return max(timed, key=lambda column: (has_blocks[column], "decode" in column.lower()), default=None)


def _times(column: str, cell: str) -> list[float]:
    """The blocks of a cell in ms; none where it tells no time."""
    unit = UNIT.search(cell) or UNIT.search(column)
    parts = re.split(r"[,/]", cell.strip(" []"))
    if unit is None or not (first := FIGURE.match(parts[0])):
        return []
    blocks = [FIGURE.fullmatch(part) for part in parts]
    figures = [float(block[1]) for block in blocks if block]
    if len(figures) < len(parts):
        figures = [float(first[1])]
    if min(figures) <= 0:
        return []
    scale = {"ms": 1.0, "us": 1e-3}.get((unit[1] or "").lower())
    return [1000 / one if scale is None else one * scale for one in figures]


def _run(file: str, name: str, row: Row, times: Sequence[float]) -> RunSeen:
    return RunSeen(
        _digest(file, row), f"{file}: {name}"[:LONGEST_TEXT], None, None, round(median(times) * 1e6), warm=True
    )


def _digest(file: str, row: Row) -> str:
    return sha256(repr((file, sorted(row.items()))).encode("utf-8", "replace")).hexdigest()[:32]


def _experiment(
    name: str,
    row: Row,
    runs: tuple[RunSeen, RunSeen],
    column: str,
    blocks: tuple[Sequence[float], Sequence[float]],
) -> Experiment:
    cells = {column.lower(): text for column, text in row.items()}
    pccs = [float(one) for column, text in cells.items() if "pcc" in column for one in PCC.findall(text)]
    pcc = max(-1.0, min(*pccs, 1.0)) if pccs else None
    walls = column != KERNEL_SUM
    measured = by_blocks(*blocks, judged_by="wall" if walls else "kernel")
    verdict, why = decide(measured, pcc)
    if FAILED.search(cells.get("status", "")):
        verdict, why = "revert", f"the ledger says {shown(cells['status'])}; {measured.summary}"
    return Experiment(
        change=": ".join(filter(None, (name, cells.get("desc"))))[:LONGEST_TEXT],
        step=None,
        baseline=runs[0],
        candidate=runs[1],
        pcc=pcc,
        wall_before_ms=median(blocks[0]) if walls else None,
        wall_after_ms=median(blocks[1]) if walls else None,
        measured=f"{shown(column)}: {measured.summary}",
        judged_by=measured.judged_by,
        change_share=measured.change_share,
        noise_share=measured.noise_share,
        verdict=verdict,
        why=why,
        note=cells.get("decision", "")[:LONGEST_TEXT] or None,
        uid=_digest(runs[0].id, row),
    )
