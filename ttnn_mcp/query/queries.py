"""One read-only SQL statement over one run.

A few run at a time, and no caller waits longer than the limit, whatever SQLite does.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from difflib import get_close_matches
from functools import partial
from threading import Event

from ttnn_mcp.errors import QuestionRefused, ReportBroken, shown, suggestion
from ttnn_mcp.query.guard import (
    TOO_MUCH_MEMORY,
    NameUnknown,
    ResultRows,
    check_statement,
    guarded,
    set_limits,
    too_slow,
)
from ttnn_mcp.query.tables import attach, load, named_in, performance_tables
from ttnn_mcp.quoting import quoted
from ttnn_mcp.readers.sqlite_file import text_of
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.run import Run

COLUMNS_SHOWN = 60  # in an error's schema
TABLES_SHOWN = 24
CODES_SHOWN = 3  # in a note (ours)
# Queries have threads of their own, so that slow ones do not block other tools. Four of them, because all queries
# share one limit on memory (guard.HEAP_BYTES).
AT_ONCE = 4
SECONDS = 5.0  # for one statement
TURN_S = 3.0  # wait for a free thread and for the tables: with the statement's own time, a call ends within 10 s
_LITERAL = re.compile(r"'([^']*)'")
_COMPARED = re.compile(
    rf"\bop_code\b\s*(?:[=!<>]+|(?:not\s+)?(?:like|glob)\b|is\b(?:\s+not\b)?|(?:not\s+)?in\s*\()\s*"
    rf"(?P<behind>{_LITERAL.pattern}(?:\s*,\s*{_LITERAL.pattern})*)"
    rf"|(?P<before>{_LITERAL.pattern})\s*[=!<>]+\s*(?:\w+\.)?op_code\b",
    re.IGNORECASE,
)
_THREADS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="query")


async def query_answer(run: Run, sql: str, limit: int, seconds: float = SECONDS) -> QueryResult:
    """Run one SELECT over the run's tables.

    Raises:
        QuestionRefused: it is not one reading statement, has a wrong name (the message has the schema), is too slow
            or too large, or too many queries run at the same time.
        ReportBroken: the memory report changed or is damaged.
    """
    check_statement(sql)
    given_up = Event()
    started = _THREADS.submit(partial(queried, run, sql, limit, seconds, given_up=given_up.is_set))
    result = asyncio.wrap_future(started)
    not_started = False
    try:
        finished, _ = await asyncio.wait({result}, timeout=seconds + TURN_S)
    finally:
        given_up.set()  # also when the caller was cancelled
        not_started = started.cancel()
        result.add_done_callback(_consume)
    if finished:
        return result.result()
    if not_started:
        raise QuestionRefused(f"{AT_ONCE} other queries are running. Ask again in a few seconds.")
    raise too_slow(seconds)


def _consume(result: asyncio.Future[QueryResult]) -> None:
    """Look at the result of a query that nobody waits for; otherwise asyncio logs its exception."""
    if not result.cancelled():
        result.exception()


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query, and notes on the tables that it read."""

    rows: ResultRows
    notes: tuple[str, ...]


def queried(run: Run, sql: str, limit: int, seconds: float, *, given_up: Callable[[], bool] = bool) -> QueryResult:
    """Run one SELECT over the run's tables. It blocks: `queries.query_answer` runs it in a thread.

    Raises:
        QuestionRefused: it is not one reading statement, has a wrong name (the message has the schema), or is too
            slow or too large.
        ReportBroken: the memory report changed or is damaged.
    """
    words = named_in(sql)
    with closing(sqlite3.connect(":memory:", uri=True)) as connection:
        connection.text_factory = text_of
        set_limits(connection)
        try:
            tables = _filled(connection, run, words, seconds, given_up)
        except MemoryError:
            raise QuestionRefused(TOO_MUCH_MEMORY) from None
        try:
            rows = guarded(connection, sql, tables, limit, seconds, given_up=given_up)
        except NameUnknown as unknown:
            raise QuestionRefused(_schema(unknown, tables, words)) from None
        return QueryResult(rows, tuple(_notes(run, sql, words)))


def _filled(
    connection: sqlite3.Connection,
    run: Run,
    words: frozenset[str],
    seconds: float,
    given_up: Callable[[], bool],
) -> dict[str, tuple[str, ...]]:
    """Put the run's tables into the connection; returns the columns of each."""
    tables: dict[str, tuple[str, ...]] = {}
    if run.performance is not None:
        run_tables = performance_tables(run.performance)
        load(connection, run_tables, words, seconds, given_up)
        tables.update((name, tuple(columns)) for name, columns in run_tables.items())
        connection.commit()
    if run.memory is not None:
        try:
            tables.update(attach(connection, run.memory, words))
        except sqlite3.Error:
            raise ReportBroken(
                f"{shown(run.memory.path.name)} cannot be read any more: it was damaged or is being written. "
                "Wait until the run has ended, then ask again."
            ) from None
    return tables


def _notes(run: Run, sql: str, words: frozenset[str]) -> Iterable[str]:
    passes = run.performance.iterations if run.performance else None
    if "ops" in words and passes and passes.count > 1 and "iteration" not in words:
        yield f"ops holds all {passes.count} iterations; other tools look at iteration {max(passes.whole)}"
    if run.memory is not None and len(run.memory.ranks) > 1:
        yield f"rank {run.memory.rank} alone"
    if run.performance is not None and {"ops", "op_code"} <= words:
        yield from _short_names(sql, run.performance.timed.texts("op_code").occurring())


def _short_names(sql: str, codes: list[str]) -> Iterable[str]:
    """A note on each op code that a statement asks for by the name that other tools print: no row has that."""
    groups = [match["behind"] or match["before"] for match in _COMPARED.finditer(sql)]
    names = dict.fromkeys(literal for group in groups for literal in _LITERAL.findall(group))
    for name in [*names][:CODES_SHOWN]:
        held = [code for code in codes if canonical(code).casefold() == name.casefold()]
        if held and name.casefold() not in map(str.casefold, codes):
            written = ", ".join(map(quoted, held[:CODES_SHOWN]))
            yield f"op_code holds {written}, not {quoted(name)}: compare the column op, which has the short names"


def _schema(unknown: NameUnknown, tables: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> str:
    """The message for a wrong name: similar names, and the columns of the tables in question or a list of tables."""
    name = unknown.name.rpartition(".")[2]
    tables_named = [table for table in tables if table in words]
    if unknown.column and tables_named:
        columns = [column for table in tables_named for column in tables[table]]
        listed = "; ".join(f"{table}({', '.join(_some(tables[table], COLUMNS_SHOWN))})" for table in tables_named)
        return f"There is no column '{shown(name)}'.{suggestion(name, columns, limit=2)} {listed}."
    kind = "column" if unknown.column else "table"
    listed = ", ".join(_some(tuple(map(shown, tables)), TABLES_SHOWN))
    likely = next(iter([*get_close_matches(name, tables), *tables]), None)
    schema_of_likely = f"; {shown(likely)}({', '.join(_some(tables[likely], COLUMNS_SHOWN))})" if likely else ""
    hint = suggestion(name, tables, limit=2)
    return f"There is no {kind} '{shown(unknown.name)}'.{hint} Tables: {listed}{schema_of_likely}."


def _some(names: tuple[str, ...], most: int) -> list[str]:
    return [*map(shown, names[:most]), *(["..."] if len(names) > most else [])]
