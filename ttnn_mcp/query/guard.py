"""One SELECT on a connection that can do nothing else, for so long and no longer.

Enforced by SQLite itself: its authorizer names what may be read and called, `query_only` and read-only files forbid
the rest, a progress callback ends what runs on, and limits on values and memory end what grows. SQLite before 3.41
does not ask that callback while it prepares a statement; what grows there meets the limit on memory instead.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import sys
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.query.functions import add_functions
from ttnn_mcp.quoting import line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ttnn_mcp.wire import Cell

SECONDS = 5.0
OPCODES = 1000  # of SQLite's machine between two looks at the clock: well under a millisecond
ANSWER_BYTES = 20_000
CELL_CHARS = 2000
VALUE_BYTES = 8_000_000  # of one value inside a query; a captured graph has megabytes
PATTERN_CHARS = 200  # of LIKE and GLOB, which take pattern times text
# SQLite's, in this whole process, for all queries together. Measured with forty WITH parts that double, on a core
# shared by twelve: it is reached after 3.2 s and 350 MB of process (with 1 GiB: 15 s and 1.5 GB); a million rows
# of two numbers, ranked by two windows, take 75 MB.
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
_OWN = ("sqlite_", "pragma_")  # tables of SQLite's own
_START = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
TOO_MUCH_MEMORY = "The query needs too much memory. Aggregate in SQL, or read fewer columns."
ONE_SELECT = "query_run takes one statement that begins with SELECT or WITH and only reads."


class NameUnknown(Exception):  # noqa: N818 - becomes a refusal with the schema in it
    """A table or column that does not exist; `column` tells which of the two it is."""

    def __init__(self, name: str, *, column: bool) -> None:
        super().__init__(name)
        self.name, self.column = name, column


@dataclass(frozen=True, slots=True)
class Rows:
    """What the statement returned; `stopped` says why there may be more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    stopped: str | None


def check_statement(sql: str) -> None:
    """Refuse what is no SELECT before anything is loaded for it.

    Raises:
        QuestionRefused: it begins with anything else.
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
    seconds: float = SECONDS,
    *,
    given_up: Callable[[], bool] = bool,
) -> Rows:
    """Run one SELECT that reads `tables` (lower-case names) only. The connection is of no other use afterwards.

    `given_up` tells that nobody waits for it any more.

    Raises:
        QuestionRefused: it does more than read, takes too long, grows too large or cannot be parsed.
        NameUnknown: it names a table or column that is not there.
    """
    check_statement(sql)
    connection.execute("PRAGMA query_only = ON")
    if sys.version_info >= (3, 11):
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for name in SCAN_TABLES:  # once read, they need no further rights; a build may lack them
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
        raise _said(str(error), denied, seconds) from None


def set_limits(connection: sqlite3.Connection) -> None:
    """Bound what the connection may use, before anything is put into it."""
    connection.execute("PRAGMA temp_store = MEMORY")  # nothing is spilled into files
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute(f"PRAGMA hard_heap_limit = {HEAP_BYTES:d}")
    if sys.version_info >= (3, 11):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_CHARS)
    add_functions(connection, VALUE_BYTES, PATTERN_CHARS)


def _authorizer(tables: Collection[str], denied: list[str]) -> Callable[..., int]:
    def may(action: int, first: str | None, second: str | None, *_where: str | None) -> int:
        if action in _READS:
            return sqlite3.SQLITE_OK
        table = (first or "").lower()
        if action == sqlite3.SQLITE_READ:
            # count(*) reads the column '', of a table or of a name the statement itself gave to a subquery
            if table in tables or (second == "" and not table.startswith(_OWN)):
                return sqlite3.SQLITE_OK
            denied.append(f"read {shown(first)}")
        elif action == sqlite3.SQLITE_FUNCTION:
            if _FUNCTIONS.fullmatch((second or "").lower()):
                return sqlite3.SQLITE_OK
            denied.append(f"call {shown(second)}()")
        else:
            own = table.startswith(_OWN)
            denied.append("look into SQLite itself" if own else _FORBIDDEN.get(action, "change the tables"))
        return sqlite3.SQLITE_DENY

    return may


def _fetched(cursor: sqlite3.Cursor, columns: tuple[str, ...], limit: int) -> Rows:
    rows: list[tuple[Cell, ...]] = []
    used = 0
    for found in cursor:
        if len(rows) == limit:
            return Rows(columns, tuple(rows), f"more than {limit} rows: raise limit, or narrow the query")
        row = tuple(_cell(value) for value in found)
        used += len(json.dumps(row, separators=(",", ":")))
        if used > ANSWER_BYTES:
            return Rows(columns, tuple(rows), f"more than {ANSWER_BYTES // 1000} kB: select less")
        rows.append(row)
    return Rows(columns, tuple(rows), None)


def _cell(value: object) -> Cell:
    """A value as JSON holds it: bytes as their length, long text cut, floats to nine digits."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, str):
        clean = line(value[:CELL_CHARS], CELL_CHARS)  # a profile's text, however it was put together
        return clean if len(value) <= CELL_CHARS else f"{clean}... ({len(value)} characters)"
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    return value if isinstance(value, int) else None


def too_slow(seconds: float) -> QuestionRefused:
    """What a query is told that did not end in time."""
    return QuestionRefused(f"The query ran longer than {seconds:g} s and was ended. Filter or aggregate earlier.")


def _said(error: str, denied: list[str], seconds: float) -> QuestionRefused | NameUnknown:
    """SQLite's failure in our words; its own text goes no further, but for names out of the statement."""
    if denied:
        return QuestionRefused(f"query_run only reads; this query would {denied[0]}. {_OFFERED}")
    name = error.partition(": ")[2]
    if error.startswith(("no such column", "no such table")):
        return NameUnknown(name, column=error.startswith("no such column"))
    if "no such function" in error:
        return QuestionRefused(f"There is no function {shown(name)}. {_OFFERED}")
    if "interrupted" in error:
        return too_slow(seconds)
    said = next((sentence for marker, sentence in _SENTENCES if marker in error), None)
    return QuestionRefused(said or f"SQLite cannot run this: {shown(error)}.")


_OFFERED = "It may read the run's tables and json_each, and call aggregate, text, date, JSON and window functions."
_TOO_LONG = "The query makes a value or a pattern that is too long. Select parts of it with substr()."
_SENTENCES = (
    ("one statement", ONE_SELECT),
    ("too big", _TOO_LONG),
    ("too long", _TOO_LONG),
    ("too complex", _TOO_LONG),
    ("user-defined function", _TOO_LONG),  # ours raise for nothing else
    ("malformed JSON", "A text the query reads as JSON is none; filter with json_valid() first."),
)
