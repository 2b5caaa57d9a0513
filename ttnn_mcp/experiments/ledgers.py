"""Ledgers that engineers keep: the CSV of a sweep, or the tables of a work log in Markdown, as experiments.

A table is one where a column names the candidates, a row is named as the control, and a column tells times or rates,
as in the `sweep_results.csv` and work logs of tt-metal's models/autoports. Of several such columns the one with blocks
counts, then the one of decode; one in seconds counts last. Several figures in a cell, and rows of one name, are blocks
of replays. A table without a control may have both sides in a row (`performance_matrix.csv` there). In a folder, each
CSV of tt-perf-report is a candidate, told by its name; "_run1" at its end names a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice, takewhile
from pathlib import Path
from statistics import median

from ttnn_mcp.errors import QuestionRefused, ReportMissing, shown, shown_path
from ttnn_mcp.experiments.experiment import LONGEST_TEXT, Experiment, RunSeen
from ttnn_mcp.experiments.ledger_cells import DIGIT, has_unit, is_usual, pccs_of, times_of
from ttnn_mcp.experiments.ledger_tables import KERNEL_SUM, NAME, Row, tables_of
from ttnn_mcp.experiments.rules import by_blocks, decide
from ttnn_mcp.records import dataclass

SUFFIXES = (".csv", ".md")
NEEDS = "A table needs names, a control and a time, or both sides in a row (before_ms, after_ms)"
NAMES = (NAME, "config_id", "id", "trial", "policy", "config", "variant", "name")
# rows that differ in them are not compared
GROUPS = ("batch", "phase", "kind", "layer kind", "seq_len", "prefix", "prefix_len")
CONTROL = re.compile(r"baseline|control|shipped|reference|^before", re.IGNORECASE)
BEFORE = re.compile(r"(?:before|baseline|control|reference|functional|default|old)[ _]?", re.IGNORECASE)
AFTER = r"(after|candidate|new|fused|optimi[sz]ed)[ _]?"
PASSED = re.compile(r"\s*(?:pass|ok(?![a-z]))", re.IGNORECASE)
FAILED = re.compile(r"fail|error", re.IGNORECASE)
# such as: no failures, 0 of 5 failed, "errors: 0"
NONE_FAILED = re.compile(
    r"(?<![\w.])(?:no|0|zero|without|not)(?: (?:of|any) ?\w*)? (?:fail|error)\w*"
    r"|(?:fail|error)\w*[:=]? ?(?:0|none)\b"
    r"|(?:fail|error)\w*[ -]free",
    re.IGNORECASE,
)
# columns with "pcc" in their name that hold no PCC of the candidate
BESIDES = re.compile(
    r"(?<![a-z])(?:before|old|previous|thresh(?:old)?|required?|requirement|target|expected|limit|bound|floor"
    r"|tolerance|delta|diff|difference|drop|loss|change|pass(?:ed|es)?|ok|status)(?![a-z])",
    re.IGNORECASE,
)
SIDE_BEFORE = re.compile(r"(?<![a-z])(?:baseline|control|reference|functional|default)(?![a-z])", re.IGNORECASE)
SIDE_AFTER = re.compile(r"(?<![a-z])(?:after|candidate|new|fused|optimi[sz]ed)(?![a-z])", re.IGNORECASE)
LEAST = re.compile(r"(?<![a-z])min(?:imum)?(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a ledger holds.

    Attributes:
        experiments: one for each candidate whose time is known.
        without: how many candidates have no figure.
        unread: what the others say whose figure is not clear.
    """

    experiments: tuple[Experiment, ...]
    without: int
    unread: tuple[str, ...] = ()


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
        recorded, tables = path.stat().st_mtime, tables_of(path)
    except (OSError, ValueError):
        raise ReportMissing(f"{shown_path(path)} cannot be read. Check the path and its permissions.") from None
    tried = [one for table in tables for one in _experiments(path.name, table, control)]
    experiments = [replace(one, recorded=recorded) for one in tried if isinstance(one, Experiment)]
    unread = [one for one in tried if isinstance(one, str)]
    if not experiments:
        kind = "A folder needs CSVs of tt-perf-report, one of them named baseline" if path.is_dir() else NEEDS
        raise QuestionRefused(
            f"{shown(path.name)} is no ledger: {_missing(tables, control, unread)}. {kind}. "
            "Reports are opened with open_run."
        )
    return Ledger(tuple(experiments), tried.count(None), tuple(unread))


def _missing(tables: Sequence[Sequence[Row]], control: str | None, unread: Sequence[str]) -> str:
    """What the table lacks that has most of a ledger."""
    if unread:
        return f"no figure is clear, as {unread[0]}"
    lacks = [_lack(rows, control) for rows in tables if rows]
    return max(lacks, key=lambda lack: lack[0])[1] if lacks else "it has no table with rows"


def _lack(rows: Sequence[Row], control: str | None) -> tuple[int, str]:
    """(How much it has, what is missing then)."""
    columns = f"among its columns ({shown(', '.join(rows[0]))})"
    name = _column_of_names(rows)
    if name is None:
        return 0, f"no column of names ({', '.join(NAMES)}) and no pair of times is {columns}"
    named = _named(rows, name)
    names = shown(", ".join(named))
    wanted = _control(named, "", control)
    if wanted is None:
        return 1, f"no row in {shown(name)} is named baseline or control, or name it: `baseline` ({names})"
    if _timed(named[wanted]) is None:
        return 2, f"no time of {shown(wanted)} in ms, us, s or per second is {columns}"
    return 3, f"no other row beside {shown(wanted)} has a time ({names})"


def _experiments(file: str, rows: Sequence[Row], control: str | None) -> Iterator[Experiment | str | None]:
    """Those of a table; None for a candidate without a figure, and its text for one whose figure is not clear."""
    columns = {name.lower(): name for name in (rows[0] if rows else ())}
    pccs = _of_accuracy(rows)
    if sides := _sides(rows):
        pccs = [column for column in pccs if not BEFORE.match(column)]
        yield from (_side_by_side(file, row, *sides, pccs) for row in rows)
        return
    name = _column_of_names(rows)
    if name is None:  # unmoved: a row without a name is none
        return
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(columns.get(one, ""), "") for one in GROUPS), []).append(row)
    for members in groups.values():
        yield from _compared(file, _named(members, name), columns.get("decision", ""), control, pccs)


def _of_accuracy(rows: Sequence[Row]) -> list[str]:
    """The columns with PCCs of candidates: not those of limits, of changes, or of the side before."""
    columns = [column for column in (rows[0] if rows else ()) if "pcc" in column.lower()]
    after = {SIDE_AFTER.sub("", column) for column in columns if SIDE_AFTER.search(column)}
    return [
        column
        for column in columns
        if not BESIDES.search(column)
        and not (SIDE_BEFORE.search(column) and SIDE_BEFORE.sub("", column) in after)
        # the least of each candidate, or the least that is allowed
        and not (LEAST.search(column) and len({row.get(column) or None for row in rows} - {None}) == 1)
    ]


def _pcc(rows: Sequence[Row], columns: Sequence[str]) -> float | None:
    """The lowest; None where a cell is not clear."""
    pccs: list[float] = []
    for row in rows:
        for column in columns:
            of_cell = pccs_of(row.get(column) or "")
            if of_cell is None:
                return None
            pccs += of_cell
    return max(-1.0, min(*pccs, 1.0)) if pccs else None


def _column_of_names(rows: Sequence[Row]) -> str | None:
    columns = {name.lower(): name for name in (rows[0] if rows else ())}
    return next((columns[one] for one in NAMES if one in columns), None)


def _sides(rows: Sequence[Row]) -> tuple[str, str] | None:
    """The first columns of times before and after: equal but for their first word, and with a unit of time."""
    columns = list(rows[0] if rows else ())
    pairs: list[tuple[str, str]] = []
    for before in columns:
        if start := BEFORE.match(before):
            rest = re.escape(before[start.end() :])
            after = next((one for one in columns if re.fullmatch(AFTER + rest, one, re.IGNORECASE)), None)
            if after is not None and (
                has_unit(before) or any(times_of(before, row.get(before, "")) for row in rows)
            ):
                pairs.append((before, after))
    return max(pairs, key=lambda pair: any(is_usual(pair[0], row.get(pair[0], "")) for row in rows), default=None)


def _side_by_side(file: str, row: Row, before: str, after: str, pccs: Sequence[str]) -> Experiment | str | None:
    """The experiment of a row that tells both sides; without a figure, as of a table."""
    name = " ".join(row[column] for column in takewhile(before.__ne__, row))  # a row may be cut off
    was, now = times_of(before, row.get(before, "")), times_of(after, row.get(after, ""))
    if not was or not now:
        return _unclear(name, before, [row]) or _unclear(name, after, [row])
    runs = (
        _run(file, f"{name}: {before}", {**row, "side": before}, was),
        _run(file, f"{name}: {after}", {**row, "side": after}, now),
    )
    return _experiment(f"{name}: {after}", [row], runs, before, (was, now), pccs=pccs)


def _named(rows: Sequence[Row], name: str) -> dict[str, list[Row]]:
    """The rows of each name."""
    rows_of: dict[str, list[Row]] = {}
    for row in rows:
        if text := row.get(name, "").strip():
            rows_of.setdefault(text, []).append(row)
    return rows_of


def _joined(rows: Sequence[Row]) -> Row:
    """What several rows tell of a name, as one."""
    return {column: ",".join(filter(None, (row.get(column) for row in rows))) for column in rows[0]}


def _compared(
    file: str, rows: Mapping[str, Sequence[Row]], decision: str, wanted: str | None, pccs: Sequence[str]
) -> Iterator[Experiment | str | None]:
    """All of them with the control, which `wanted` may name."""
    control = _control(rows, decision, wanted)
    if control is None:
        return
    column = _timed(rows[control])
    if column is None:
        unclear = (_unclear(control, one, rows[control]) for one in filter(has_unit, rows[control][0]))
        yield from islice(filter(None, unclear), 1)
        return
    before = _times(column, rows[control])
    run = _run(file, control, _joined(rows[control]), before)
    times = {name: _times(column, same) for name, same in rows.items() if name != control}
    for name in (name for name, after in times.items() if not after):
        yield _unclear(name, column, rows[name])
    for name in sorted(filter(times.get, times), key=lambda name: median(times[name])):
        candidate = _run(file, name, _joined(rows[name]), times[name])
        yield _experiment(name, rows[name], (run, candidate), column, (before, times[name]), pccs=pccs)


def _control(rows: Mapping[str, Sequence[Row]], decision: str, wanted: str | None) -> str | None:
    """The name of the control."""
    if wanted is not None:
        return wanted if wanted in rows else None
    return next(
        (name for name, same in rows.items() if CONTROL.search(name) or CONTROL.match(same[0].get(decision, ""))),
        None,
    )


def _timed(control: Sequence[Row]) -> str | None:
    """The column that is judged."""
    blocks = {column: _times(column, control) for column in control[0]}
    usual = {column: any(is_usual(column, row.get(column, "")) for row in control) for column in blocks}
    return max(
        (column for column, times in blocks.items() if times),
        key=lambda column: (usual[column], len(blocks[column]) > 1, "decode" in column.lower()),
        default=None,
    )


def _times(column: str, rows: Sequence[Row]) -> list[float]:
    """The blocks of some rows; none where a figure of one is not clear."""
    read = [(cell, times_of(column, cell)) for row in rows if (cell := row.get(column) or "")]
    return [] if any(map(_is_unclear, read)) else [time for _, times in read for time in times]


def _is_unclear(read: tuple[str, Sequence[float]]) -> bool:
    """Whether a cell has a figure that tells no time."""
    cell, times = read
    return not times and DIGIT.search(cell) is not None


def _unclear(name: str, column: str, rows: Sequence[Row]) -> str | None:
    """What the first row says whose cell is not clear; None where there is none."""
    cells = (row.get(column) or "" for row in rows)
    unclear = (cell for cell in cells if _is_unclear((cell, times_of(column, cell))))
    return next((f"{shown(name)} says {shown(cell)} in {shown(column)}" for cell in unclear), None)


def _run(file: str, name: str, row: Row, times: Sequence[float]) -> RunSeen:
    return RunSeen(
        _digest(file, row), f"{file}: {name}"[:LONGEST_TEXT], None, None, round(median(times) * 1e6), warm=True
    )


def _digest(file: str, row: Row) -> str:
    return sha256(repr((file, sorted(row.items()))).encode("utf-8", "replace")).hexdigest()[:32]


def _failed(status: str) -> bool:
    """Does it tell of a failure? "passed, 0 errors" and "no failures" tell of none."""
    return not PASSED.match(status) and FAILED.search(NONE_FAILED.sub("", status)) is not None


def _experiment(
    name: str,
    rows: Sequence[Row],
    runs: tuple[RunSeen, RunSeen],
    column: str,
    blocks: tuple[Sequence[float], Sequence[float]],
    *,
    pccs: Sequence[str],
) -> Experiment:
    row = _joined(rows)
    cells = {column.lower(): text for column, text in row.items()}
    pcc = _pcc(rows, pccs)
    walls = column != KERNEL_SUM
    measured = by_blocks(*blocks, judged_by="wall" if walls else "kernel")
    verdict, why = decide(measured, pcc)
    if any(_failed(text) for each in rows for column, text in each.items() if column.lower() == "status"):
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
