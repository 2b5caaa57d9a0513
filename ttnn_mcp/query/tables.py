"""A run as SQL tables: `ops`, `signposts` and `host_ops` in memory, the memory report's own tables attached read-only.

Only the columns that a statement names are loaded: a million rows of three columns are quick, of fifty are not.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from time import monotonic

import numpy as np

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.schema import RANKLESS
from ttnn_mcp.readers.performance.columns import COLUMNS
from ttnn_mcp.readers.sqlite_file import uri_of
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.run.ops.texts import Texts
from ttnn_mcp.run.performance import Performance

Values = Sequence[object]
Columns = Mapping[str, Callable[[], Values]]
CELLS_AT_MOST = 6_000_000  # measured: twice as many took about ten seconds and a gigabyte
BATCH_ROWS = 20_000  # unmoved: rows between two looks at the clock
_WORDS = re.compile(r"[A-Za-z_]\w*")
_STAR = re.compile(r"(?<!\()\*|\*(?!\s*\))")  # any star but that of count(*)
_PLAIN_TABLE = re.compile(r"CREATE TABLE\b", re.IGNORECASE)


def named_in(sql: str) -> frozenset[str]:
    """All words of a statement in lower case, and "*" if it has a star.

    A statement can read a table or column only by its name or by a star.
    """
    words = {word.lower() for word in _WORDS.findall(sql)}
    return frozenset({*words, "*"} if _STAR.search(sql) or "natural" in words else words)


def performance_tables(report: Performance) -> dict[str, Columns]:
    """The tables of the performance report (`ops`, `signposts`, `host_ops`): per column, a function of its values."""
    iteration = np.zeros(len(report.rows), dtype=np.int64)
    places = np.searchsorted(report.rows.lines, report.steady.lines)
    iteration[places] = report.iterations.number
    ops = report.timed
    numbers = iteration[np.searchsorted(report.rows.lines, ops.lines)]
    signposts, host = report.signposts, report.host_rows
    return {
        "ops": {
            "line": ops.lines.tolist,
            "iteration": numbers.tolist,
            **_declared(ops),
            "op": lambda: _spelled(ops.texts("op_code"), canonical),
            "category": lambda: _spelled(ops.texts("op_code"), family),
            **_operand_columns(ops),
        },
        "signposts": {"line": signposts.lines.tolist, "name": lambda: _texts(signposts, "op_code")},
        "host_ops": {
            "line": host.lines.tolist,
            "op_code": lambda: _texts(host, "op_code"),
            "host_ns": lambda: _numbers(host, "host_ns"),
        },
    }


def _declared(ops: OpTable) -> dict[str, Callable[[], Values]]:
    """All columns that we read, by our names; NULL in every row where the report lacks the column."""
    readers = {"number": _numbers, "text": _texts}
    kinds = {column.name: readers[column.kind] for column in COLUMNS if column.name != "op_type"}
    return {name: lambda name=name, take=take: take(ops, name) for name, take in kinds.items()}


def _operand_columns(ops: OpTable) -> dict[str, Callable[[], Values]]:
    """in0_shape, in0_dtype, in0_layout, in0_placement, ... out0_placement."""
    columns: dict[str, Callable[[], Values]] = {}
    for side, operands in (("in", ops.inputs), ("out", ops.outputs)):
        for number, operand in enumerate(operands):
            label = f"{side}{number}"
            columns[f"{label}_shape"] = lambda operand=operand: _shapes(operand)
            for part in ("dtype", "layout", "placement"):
                columns[f"{label}_{part}"] = lambda operand=operand, part=part: _operand_texts(operand, part)
    return columns


def _numbers(ops: OpTable, name: str) -> Values:
    values = ops.numbers(name)
    measured = np.isfinite(values)
    whole = bool((values[measured] == np.rint(values[measured])).all()) and bool(
        (np.abs(values[measured]) < 2**62).all()
    )
    plain: list[object] = (np.where(measured, values, 0).astype(np.int64) if whole else values).tolist()
    for row in np.flatnonzero(~measured).tolist():
        plain[row] = None
    return plain


def _texts(ops: OpTable, name: str) -> Values:
    return _spelled(ops.texts(name))


def _spelled(texts: Texts, fold: Callable[[str], str] = str) -> Values:
    words: list[str | None] = [*map(fold, texts.distinct), None]
    codes: list[int] = texts.codes.tolist()
    return [words[code] for code in codes]


def _operand_texts(operand: Operand, part: str) -> Values:
    return _spelled({"dtype": operand.dtype, "layout": operand.layout, "placement": operand.placement}[part])


def _shapes(operand: Operand) -> Values:
    """Shapes as text, made once per distinct shape; NULL where the op has no such operand."""
    dims = np.hstack((operand.logical, operand.padded))
    _, first_rows, place = np.unique(dims, axis=0, return_index=True, return_inverse=True)
    texts: list[str | None] = [
        operand.shape_text(row) if operand.present[row] else None for row in first_rows.tolist()
    ]
    codes: list[int] = place.ravel().tolist()
    return [texts[code] for code in codes]


def load(
    connection: sqlite3.Connection,
    tables: Mapping[str, Columns],
    words: frozenset[str],
    seconds: float,
    given_up: Callable[[], bool],
) -> None:
    """Create the tables, and fill the columns that the statement names.

    Raises:
        QuestionRefused: a star needs too many cells, it takes longer than `seconds`, or nobody waits for it.
    """
    deadline = monotonic() + seconds
    for table, columns in tables.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        if table not in words:
            continue
        needed = [name for name in columns if "*" in words or name in words] or ["line"]
        rows = len(columns["line"]())
        if rows * len(needed) > CELLS_AT_MOST:
            raise QuestionRefused(
                f"{table} has {rows} rows and {len(needed)} of its columns are asked for: name the few you need "
                "instead of *."
            )
        values = zip(*(columns[name]() for name in needed), strict=True)
        slots = ", ".join("?" * len(needed))
        insert = f"INSERT INTO {table} ({', '.join(needed)}) VALUES ({slots})"  # noqa: S608
        while batch := list(islice(values, BATCH_ROWS)):
            if monotonic() > deadline or given_up():
                raise QuestionRefused(
                    f"Reading {len(needed)} columns of {rows} rows took longer than {seconds:g} s. "
                    "Name fewer columns."
                )
            connection.executemany(insert, batch)


def attach(
    connection: sqlite3.Connection, report: MemoryReport, words: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Attach the memory report read-only; returns its tables and their columns.

    If the report has several ranks, the chosen rank's rows of the named tables are copied and the file is detached:
    so no statement can mix ranks.
    """
    connection.execute("PRAGMA trusted_schema = OFF")  # nothing in the file's own schema may run
    connection.execute("ATTACH DATABASE ? AS report", [uri_of(report.path, "ro", still=True)])
    tables = {
        name: columns for name, columns in _attached_tables(connection) if _has_one_rank(report, name, columns)
    }
    if len(report.ranks) > 1:
        for name, columns in tables.items():
            condition = f"rank = {report.rank:d}" if "rank" in columns else "1"
            empty = "" if name in words else " LIMIT 0"
            quoted = _quoted(name)
            connection.execute(f"CREATE TABLE {quoted} AS SELECT * FROM report.{quoted} WHERE {condition}{empty}")  # noqa: S608
        connection.commit()
        connection.execute("DETACH DATABASE report")
    return tables


def _attached_tables(connection: sqlite3.Connection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The plain tables of the attached file with their columns. Views and virtual tables could run code: left out."""
    listed = connection.execute("SELECT name, sql FROM report.sqlite_master WHERE type = 'table' ORDER BY name")
    for name, sql in listed.fetchall():
        if _PLAIN_TABLE.match(str(sql)) and str(name).lower() not in ("ops", "signposts", "host_ops"):
            columns = connection.execute(f"PRAGMA report.table_info({_quoted(str(name))})").fetchall()
            yield str(name).lower(), tuple(str(column[1]).lower() for column in columns)


def _has_one_rank(report: MemoryReport, table: str, columns: tuple[str, ...]) -> bool:
    return len(report.ranks) == 1 or "rank" in columns or table in RANKLESS


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
