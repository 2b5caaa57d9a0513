"""A run as SQL tables: `ops` and its companions in memory, the memory report's own tables attached read-only.

Only what a statement names is loaded: a million rows of three columns are quick, of fifty they are not.
"""

from __future__ import annotations

import re
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.memory.schema import RANKLESS
from ttnn_mcp.readers.performance.columns import COLUMNS
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ttnn_mcp.readers.memory.report import MemoryReport
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand
    from ttnn_mcp.run.ops.texts import Texts
    from ttnn_mcp.run.performance import Performance

    Values = Sequence[object]
    Columns = Mapping[str, Callable[[], Values]]

CELLS_AT_MOST = 6_000_000  # twice as many took about ten seconds and a gigabyte
BATCH_ROWS = 20_000  # between two looks at the clock
_WORDS = re.compile(r"[A-Za-z_]\w*")
_STAR = re.compile(r"(?<!\()\*|\*(?!\s*\))")  # any but count(*)'s
_PLAIN_TABLE = re.compile(r"CREATE TABLE\b", re.IGNORECASE)


def named_in(sql: str) -> frozenset[str]:
    """Every word of a statement, lower case: no table or column is read that is not among them, but by a star."""
    words = {word.lower() for word in _WORDS.findall(sql)}
    return frozenset({*words, "*"} if _STAR.search(sql) or "natural" in words else words)


def performance_tables(report: Performance) -> dict[str, Columns]:
    """Columns of the tables that the performance report gives: `ops`, `signposts`, `host_ops`."""
    iteration = np.zeros(len(report.rows), dtype=np.int64)
    at = np.searchsorted(report.rows.lines, report.steady.lines)
    iteration[at] = report.iterations.number
    ops = report.ops
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
    """Every column we read, by our names; NULL throughout where this generation does not write it."""
    read = {"number": _numbers, "text": _texts}
    kinds = {column.name: read[column.kind] for column in COLUMNS if column.name != "op_type"}
    return {name: lambda name=name, take=take: take(ops, name) for name, take in kinds.items()}


def _operand_columns(ops: OpTable) -> dict[str, Callable[[], Values]]:
    """in0_shape, in0_dtype, in0_layout, in0_placement, ... out0_placement."""
    found: dict[str, Callable[[], Values]] = {}
    for side, operands in (("in", ops.inputs), ("out", ops.outputs)):
        for number, one in enumerate(operands):
            label = f"{side}{number}"
            found[f"{label}_shape"] = lambda one=one: _shapes(one)
            for part in ("dtype", "layout", "placement"):
                found[f"{label}_{part}"] = lambda one=one, part=part: _operand_texts(one, part)
    return found


def _numbers(ops: OpTable, name: str) -> Values:
    values = ops.numbers(name)
    known = np.isfinite(values)
    whole = bool((values[known] == np.rint(values[known])).all()) and bool((np.abs(values[known]) < 2**62).all())
    plain: list[object] = (np.where(known, values, 0).astype(np.int64) if whole else values).tolist()
    for row in np.flatnonzero(~known).tolist():
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
    """`1x1x32[19]x1280`-like text, made once per distinct shape; NULL where absent."""
    dims = np.hstack((operand.logical, operand.padded))
    _, first, place = np.unique(dims, axis=0, return_index=True, return_inverse=True)
    spoken: list[str | None] = [operand.shape_text(row) if operand.present[row] else None for row in first.tolist()]
    codes: list[int] = place.ravel().tolist()
    return [spoken[code] for code in codes]


def load(
    connection: sqlite3.Connection,
    tables: Mapping[str, Columns],
    words: frozenset[str],
    seconds: float,
    given_up: Callable[[], bool],
) -> None:
    """Create the tables; fill those that are named, with the columns that are.

    Raises:
        QuestionRefused: a star asks for more than fits, or it takes longer than `seconds`, or nobody waits for it.
    """
    deadline = monotonic() + seconds
    for table, columns in tables.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        if table not in words:
            continue
        wanted = [name for name in columns if "*" in words or name in words] or ["line"]
        rows = len(columns["line"]())
        if rows * len(wanted) > CELLS_AT_MOST:
            raise QuestionRefused(
                f"{table} has {rows} rows and {len(wanted)} of its columns are asked for: name the few you need "
                "instead of *."
            )
        values = zip(*(columns[name]() for name in wanted), strict=True)
        slots = ", ".join("?" * len(wanted))
        insert = f"INSERT INTO {table} ({', '.join(wanted)}) VALUES ({slots})"  # noqa: S608
        while batch := list(islice(values, BATCH_ROWS)):
            if monotonic() > deadline or given_up():
                raise QuestionRefused(
                    f"Reading {len(wanted)} columns of {rows} rows took longer than {seconds:g} s. "
                    "Name fewer columns."
                )
            connection.executemany(insert, batch)


def attach(
    connection: sqlite3.Connection, report: MemoryReport, words: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Attach the memory report read-only; returns its tables and their columns.

    Of a report with several ranks the named tables are copied at the chosen rank, and the file is let go: however a
    statement is written, ranks never mix.
    """
    connection.execute("PRAGMA trusted_schema = OFF")  # nothing in the file's own schema may run
    connection.execute("ATTACH DATABASE ? AS report", [f"{report.path.absolute().as_uri()}?mode=ro&immutable=1"])
    tables = {name: columns for name, columns in _there(connection) if _told_apart(report, name, columns)}
    if len(report.ranks) > 1:
        for name, columns in tables.items():
            where = f"rank = {report.rank:d}" if "rank" in columns else "1"
            empty = "" if name in words else " LIMIT 0"
            quoted = _quoted(name)
            connection.execute(f"CREATE TABLE {quoted} AS SELECT * FROM report.{quoted} WHERE {where}{empty}")  # noqa: S608
        connection.commit()
        connection.execute("DETACH DATABASE report")
    return tables


def _there(connection: sqlite3.Connection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Plain tables of the attached file, with their columns; views and virtual tables could run code."""
    listed = connection.execute("SELECT name, sql FROM report.sqlite_master WHERE type = 'table' ORDER BY name")
    for name, sql in listed.fetchall():
        if _PLAIN_TABLE.match(str(sql)) and str(name).lower() not in ("ops", "signposts", "host_ops"):
            columns = connection.execute(f"PRAGMA report.table_info({_quoted(str(name))})").fetchall()
            yield str(name).lower(), tuple(str(column[1]).lower() for column in columns)


def _told_apart(report: MemoryReport, table: str, columns: tuple[str, ...]) -> bool:
    return len(report.ranks) == 1 or "rank" in columns or table in RANKLESS


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
