"""What a memory report says, without what changes from one capture of the same program to the next."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

POINTER = re.compile(r"0x[0-9a-f]{6,}")
OUR_FRAME = re.compile(r'  File "(?!/home/user/demo/)[^"]*", line \d+, in .*\n.*\n?')  # of the rig and of Python
TIMES = {"duration", "duration_ns", "capture_timestamp_ns", "total_duration_ns"}


def rows_of(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each table, times, pointers and frames beyond the model left out."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [column for _, column, *_ in connection.execute(f"PRAGMA table_info({table})")]
            kept = ", ".join(column for column in columns if column not in TIMES)
            rows = connection.execute(f"SELECT {kept} FROM {table}").fetchall()
            found[table] = sorted((tuple(map(_lasting, row)) for row in rows if not TIMES & set(row)), key=repr)
    return found


def differences(one: Path, other: Path) -> list[str]:
    """The tables in which two reports differ, and the first row that does."""
    ours, theirs = rows_of(one), rows_of(other)
    return [
        f"{table}: {[row for row in theirs.get(table, []) if row not in ours.get(table, [])][:1]}"[:300]
        for table in sorted(ours.keys() | theirs.keys())
        if ours.get(table) != theirs.get(table)
    ]


def _lasting(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    if cell.startswith("  File "):
        return OUR_FRAME.sub("", cell).strip()
    if cell.startswith("["):
        try:
            nodes = json.loads(cell)
        except ValueError:
            return POINTER.sub("", cell)
        cell = json.dumps([_without_times(node) for node in nodes], sort_keys=True)
    return POINTER.sub("", cell)


def _without_times(node: Any) -> Any:
    return {name: value for name, value in node.items() if name not in TIMES} if isinstance(node, dict) else node
