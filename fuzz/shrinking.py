"""Makes a failing case small: fewer calls, files, lines, columns, tables, rows; then empty cells.

Every step keeps what still fails in the same way. The budget is in tries and in seconds, for a person waits.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from fuzz.csv_table import CsvTable
from fuzz.database_mutations import DATABASE, columns_of, tables_of

TRIES = 400
SECONDS = 40.0
SLOW_LIMIT = 3.0  # CPU seconds after which a call counts as slow while shrinking
MAGIC = b"SQLite format 3\x00"


class Shrinker:
    """Shrinks one case for one signature."""

    def __init__(self, room, signature, tries=TRIES, seconds=SECONDS):
        self.room, self.signature, self.tries, self.until = room, signature, tries, time.monotonic() + seconds

    def fails(self, case):
        """Whether the case still fails in the same way; False once the budget is used up."""
        if self.tries <= 0 or time.monotonic() > self.until:
            return False
        self.tries -= 1
        try:
            return self.signature in self.room.signatures(case)
        except (OSError, ValueError):
            return False

    def shrunk(self, case):
        """The smallest case met that fails alike; the case itself where it does not fail again."""
        if self.signature[0] in ("slow", "stuck"):
            case = replace(case, limit=SLOW_LIMIT)
        if not self.fails(case):
            return None
        for call in reversed(case.calls):
            if len(case.calls) > 1 and self.fails(case.only(call)):
                case = case.only(call)
                break
        if len(case.calls) > 1:
            case = replace(
                case, calls=tuple(self.fewer(list(case.calls), lambda calls: replace(case, calls=tuple(calls))))
            )
        for name in list(case.files):
            without = replace(
                case, files={other: content for other, content in case.files.items() if other != name}
            )
            if len(case.files) > 1 and self.fails(without):
                case = without
        for name, content in list(case.files.items()):
            case = self._file(case, name, content)
        return case

    def fewer(self, items, build):
        """Delta debugging: the fewest of `items` with which `build(items)` still fails."""
        size = max(1, len(items) // 2)
        while items:
            at = 0
            while at < len(items):
                rest = items[:at] + items[at + size :]
                if self.fails(build(rest)):
                    items = rest
                else:
                    at += size
            if size == 1 or self.tries <= 0:
                break
            size //= 2
        return items

    def _file(self, case, name, content):
        def with_content(changed):
            return replace(case, files={**case.files, name: changed})

        if content.startswith(MAGIC):
            return with_content(self._database(content, with_content))
        if name.endswith(".csv"):
            head, *lines = content.split(b"\n")
            lines = self.fewer(lines, lambda some: with_content(b"\n".join([head, *some])))
            content = b"\n".join([head, *lines])
            with suppress(ValueError, IndexError):
                content = self._columns(CsvTable.read(content), content, with_content)
        return with_content(content)

    def _columns(self, table, content, with_content):
        if table.write().rstrip() != content.rstrip() and not self.fails(with_content(table.write())):
            return content

        def chosen(columns):
            rows = [[row[at] for at in columns if at < len(row)] for row in table.rows]
            return CsvTable([table.names[at] for at in columns], rows).write()

        kept = self.fewer(list(range(len(table.names))), lambda columns: with_content(chosen(columns)))
        table = CsvTable.read(chosen(kept))
        for row in table.rows:
            for at, cell in enumerate(row):
                if cell:
                    row[at] = ""
                    if not self.fails(with_content(table.write())):
                        row[at] = cell
        return table.write()

    def _database(self, content, with_content):
        with tempfile.TemporaryDirectory() as folder, suppress(sqlite3.Error, ValueError):  # a name may be no text
            path = Path(folder) / DATABASE
            path.write_bytes(content)
            with closing(sqlite3.connect(path)) as connection:
                tables = tables_of(connection)
            for table in tables:
                content = self._applied(path, content, with_content, f'DROP TABLE "{table}"')
            with closing(sqlite3.connect(path)) as connection:
                rows = {
                    table: [row for (row,) in connection.execute(f'SELECT rowid FROM "{table}"')]
                    for table in tables_of(connection)
                }
                columns = {table: columns_of(connection, table) for table in rows}
            for table, ids in rows.items():
                content = self._rows(path, content, with_content, table, ids)
            for table, names in columns.items():
                for name in names:
                    content = self._applied(path, content, with_content, f'UPDATE "{table}" SET "{name}" = NULL')
        return content

    def _rows(self, path, content, with_content, table, ids):
        size = max(1, len(ids) // 2)
        while ids:
            at = 0
            while at < len(ids):
                some = ids[at : at + size]
                marks = ", ".join(map(str, some))
                changed = self._applied(
                    path, content, with_content, f'DELETE FROM "{table}" WHERE rowid IN ({marks})'
                )
                if changed is content:
                    at += size
                else:
                    ids, content = ids[:at] + ids[at + size :], changed
            if size == 1 or self.tries <= 0:
                break
            size //= 2
        return content

    def _applied(self, path, content, with_content, statement):
        """The database after the statement where it still fails, else as it was."""
        if self.tries <= 0:
            return content
        path.write_bytes(content)
        with closing(sqlite3.connect(path)) as connection:
            try:
                connection.execute(statement)
                connection.commit()
                connection.execute("VACUUM")
            except (sqlite3.Error, OverflowError):
                path.write_bytes(content)
                return content
        changed = path.read_bytes()
        if self.fails(with_content(changed)):
            return changed
        path.write_bytes(content)
        return content
