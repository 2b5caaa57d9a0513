"""Runs one SELECT on a connection that can do nothing else, within limits of time and memory.

SQLite itself enforces this. Its authorizer decides what may be read and called. `query_only` and read-only files
forbid the rest. A progress callback ends slow queries, and limits on values and memory end large ones. SQLite before
3.41 does not call back while it prepares a statement: there the limit on memory has to do.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from time import monotonic

from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.query.functions import add_functions
from ttnn_mcp.quoting import line
from ttnn_mcp.records import dataclass
from ttnn_mcp.wire import Cell

# instructions of SQLite's machine between two looks at the clock: well under a millisecond
OPCODES = 1000  # unmoved: only how often the clock is looked at
ANSWER_BYTES = 20_000
CELL_CHARS = 2000
VALUE_BYTES = 8_000_000  # of one value within a query; a captured graph has megabytes
NINE_DIGITS = 1e9  # from here on, nine digits hold no fraction; a double has fifteen (IEEE 754)
PATTERN_CHARS = 200  # of LIKE and GLOB, whose time is pattern times text
# SQLite's heap in this process, for all queries together. Measured with forty WITH parts, each doubling the last, on
# a core shared by twelve: the limit is reached after 3.2 s and 350 MB of process (with 1 GiB: 15 s and 1.5 GB).
# A million rows of two numbers, ranked by two windows, take 75 MB.
HEAP_BYTES = 256 << 20
SCAN_TABLES = ("json_each", "json_tree")

_FUNCTIONS = re.compile(
    "abs|avg|ceil|ceiling|char|coalesce|concat|concat_ws|count|cume_dist|date|datetime|dense_rank|exp|first_value"
    "|floor|glob|group_concat|hex|ifnull|iif|instr|json|json_array|json_array_length|json_extract"
    "|json_group_array|json_group_object|json_object|json_type|json_valid|->|->>|julianday|lag|last_value|lead"
    "|length|like|ln|log|log10|log2|lower|ltrim|max|median|min|mod|nth_value|ntile|nullif|percent_rank|percentile"
    "|pow|power|quote|rank|replace|round|row_number|rtrim|sign|sqrt|strftime|string_agg|substr|substring|sum"
    "|time|total|trim|trunc|typeof|unicode|upper"
)
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
_FORBIDDEN = {
    sqlite3.SQLITE_ATTACH: "attach another database",
    sqlite3.SQLITE_DETACH: "detach a database",
    sqlite3.SQLITE_PRAGMA: "use PRAGMA",
    sqlite3.SQLITE_TRANSACTION: "open transactions",
    sqlite3.SQLITE_SAVEPOINT: "open transactions",
}
_SQLITE_TABLES = ("sqlite_", "pragma_")  # tables of SQLite's own
_START = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
TOO_MUCH_MEMORY = "The query needs too much memory. Aggregate in SQL, or read fewer columns."
ONE_SELECT = "query_run takes one statement that begins with SELECT or WITH and only reads."


class NameUnknown(Exception):  # noqa: N818 - becomes a refusal with the schema in it
    """A table or column that does not exist; `column` is True for a column."""

    def __init__(self, name: str, *, column: bool) -> None:
        super().__init__(name)
        self.name, self.column = name, column


@dataclass(frozen=True, slots=True)
class ResultRows:
    """The rows of a query.

    Attributes:
        columns: their names.
        rows: the values, as JSON holds them.
        stopped: why there may be more rows; None if these are all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    stopped: str | None


def check_statement(sql: str) -> None:
    """Refuse anything but a SELECT, before any table is loaded for it.

    Raises:
        QuestionRefused: it begins with another word than SELECT or WITH, or is no plain text.
    """
    start = _START.match(sql)
    word = _WORD.match(sql, start.end() if start else 0)
    if "\0" in sql or any("\ud800" <= char <= "\udfff" for char in sql):
        raise QuestionRefused("The statement holds a null character or half a character. Write it as plain text.")
    if word is None or word.group().upper() not in ("SELECT", "WITH"):
        raise QuestionRefused(ONE_SELECT)


def guarded(
    connection: sqlite3.Connection,
    sql: str,
    tables: Collection[str],
    limit: int,
    seconds: float,
    *,
    given_up: Callable[[], bool] = bool,
) -> ResultRows:
    """Run one SELECT. Afterwards the connection can be used for nothing else.

    Args:
        connection: a connection after `set_limits`.
        sql: the statement.
        tables: the tables it may read, in lower case.
        limit: rows at most.
        seconds: how long it may take.
        given_up: returns True when nobody waits for the query any more.

    Raises:
        QuestionRefused: it does more than read, takes too long, grows too large or cannot be parsed.
        NameUnknown: it names a table or column that does not exist.
    """
    check_statement(sql)
    connection.execute("PRAGMA query_only = ON")
    if sys.version_info >= (3, 11):  # unmoved: true wherever setlimit can be called
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for (
        name
    ) in SCAN_TABLES:  # read once before the authorizer is set: later reads need no right; a build may lack them
        with suppress(sqlite3.Error):
            connection.execute(f"SELECT 1 FROM {name}('[]')")  # noqa: S608
    denied: list[str] = []
    connection.set_authorizer(_authorizer({*tables, *SCAN_TABLES}, denied))
    deadline = monotonic() + seconds
    connection.set_progress_handler(lambda: monotonic() > deadline or given_up(), OPCODES)
    try:
        cursor = connection.execute(sql)
        columns = tuple(shown(column[0]) for column in cursor.description or ())
        return _fetched(cursor, columns, limit)
    except MemoryError:
        raise QuestionRefused(TOO_MUCH_MEMORY) from None
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _explained(str(error), denied, seconds) from None


def set_limits(connection: sqlite3.Connection) -> None:
    """Limit what the connection may use; to be called before it is filled."""
    connection.execute("PRAGMA temp_store = MEMORY")  # no temporary files
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute(f"PRAGMA hard_heap_limit = {HEAP_BYTES:d}")
    if sys.version_info >= (3, 11):  # unmoved: true wherever setlimit can be called
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_CHARS)
    add_functions(connection, VALUE_BYTES, PATTERN_CHARS)


def _authorizer(tables: Collection[str], denied: list[str]) -> Callable[..., int]:
    def may(action: int, subject: str | None, detail: str | None, *_where: str | None) -> int:
        if action in _READS:
            return sqlite3.SQLITE_OK
        table = (subject or "").lower()
        if action == sqlite3.SQLITE_READ:
            # count(*) reads the column '' of a table, or of a subquery by the name that the statement gives it
            if table in tables or (detail == "" and not table.startswith(_SQLITE_TABLES)):
                return sqlite3.SQLITE_OK
            denied.append(f"read {shown(subject)}")
        elif action == sqlite3.SQLITE_FUNCTION:
            if _FUNCTIONS.fullmatch(str(detail).lower()):
                return sqlite3.SQLITE_OK
            denied.append(f"call {shown(detail)}()")
        else:
            of_sqlite = table.startswith(_SQLITE_TABLES)
            denied.append("look into SQLite itself" if of_sqlite else _FORBIDDEN.get(action, "change the tables"))
        return sqlite3.SQLITE_DENY

    return may


def _fetched(cursor: sqlite3.Cursor, columns: tuple[str, ...], limit: int) -> ResultRows:
    rows: list[tuple[Cell, ...]] = []
    used = 0
    for values in cursor:
        if len(rows) == limit:
            return ResultRows(columns, tuple(rows), f"more than {limit} rows: raise limit, or narrow the query")
        row = tuple(_cell(value) for value in values)
        used += len(json.dumps(row, separators=(",", ":")))
        if used > ANSWER_BYTES:
            return ResultRows(columns, tuple(rows), f"more than {ANSWER_BYTES // 1000} kB: select less")
        rows.append(row)
    return ResultRows(columns, tuple(rows), None)


def _cell(value: object) -> Cell:
    """A value as JSON holds it: bytes as their length, long text cut, floats without digits that are noise."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, str):
        clean = line(value[:CELL_CHARS], CELL_CHARS)  # the text may come from a profile
        return clean if len(value) <= CELL_CHARS else f"{clean}... ({len(value)} characters)"
    if isinstance(value, float):
        return _rounded(value) if math.isfinite(value) else None
    return value if isinstance(value, int) else None


def _rounded(value: float) -> float:
    """To nine digits, which keeps answers short; whole numbers stay whole, as cycles of clocks have fourteen."""
    if value.is_integer():
        return value
    return float(f"{value:.15g}" if abs(value) >= NINE_DIGITS else f"{value:.9g}")


def too_slow(seconds: float) -> QuestionRefused:
    """The refusal for a query that did not end in time."""
    return QuestionRefused(f"The query ran longer than {seconds:g} s and was ended. Filter or aggregate earlier.")


def _explained(error: str, denied: list[str], seconds: float) -> QuestionRefused | NameUnknown:
    """SQLite's failure in our words. Of its own text, only names from the statement are used."""
    if denied:
        return QuestionRefused(f"query_run only reads; this query would {denied[0]}. {_OFFERED}")
    name = error.partition(": ")[2]
    if error.startswith(("no such column", "no such table")):
        return NameUnknown(name, column=error.startswith("no such column"))
    if "no such function" in error:
        return QuestionRefused(f"There is no function {shown(name)}. {_OFFERED}")
    if "interrupted" in error:
        return too_slow(seconds)
    sentence = next((text for marker, text in _SENTENCES if marker in error), None)
    return QuestionRefused(sentence or f"SQLite cannot run this: {shown(error)}.")


_OFFERED = "It may read the run's tables and json_each, and call aggregate, text, date, JSON and window functions."
_TOO_LONG = "The query makes a value or a pattern that is too long. Select parts of it with substr()."
_SENTENCES = (
    ("one statement", ONE_SELECT),
    ("too big", _TOO_LONG),
    ("too long", _TOO_LONG),
    ("too complex", _TOO_LONG),
    ("user-defined function", _TOO_LONG),  # our own functions raise for no other reason
    ("malformed JSON", "A text the query reads as JSON is none; filter with json_valid() first."),
)
