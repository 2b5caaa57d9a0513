"""Memory databases, and what can happen to one: values, types, tables, columns, versions, graphs."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

from fuzz import database_files, graph_mutations, values

DATABASE = "db.sqlite"
# -(2**63) is not among them: it is what NaN becomes as an integer, and `verdict` looks for it
HUGE = (2**31, 2**53 + 1, 2**63 - 1, -(2**63) + 1, -1, 0, 1, 2, 7, 10**12)
MOST_COPIES = 200
VERSIONS = ("1", "2", "2.1", "3.0", "3.3", "3.99", "4.0", "99", "", "x", "3.3.3", "-1", "1e9", "\ud800", "9" * 400)


def mutate(rng, path):
    """One to four mutations of the database at `path`; their names."""
    written = []
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda content: content.decode("utf-8", "surrogateescape")
        for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
            mutation = rng.choice(_WEIGHTED)
            with suppress(
                sqlite3.Error, OverflowError, ValueError
            ):  # the one before may have taken what this one needs
                mutation(rng, connection)
                written.append(mutation.__name__.strip("_"))
        connection.commit()
    if rng.random() < 0.12:
        written.append(database_files.mutate(rng, path))
    if rng.random() < 0.15:
        database_files.beside(rng, path)
        written.append("beside")
    return written


def tables_of(connection):
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def columns_of(connection, table):
    return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]


def _filled(rng, connection):
    """A table with rows; the small ones as likely as the large."""
    names = [
        name for name in tables_of(connection) if connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()
    ]
    return rng.choice(names) if names else "operations"


def _row(rng, connection, table):
    count = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
    return connection.execute(f'SELECT rowid FROM "{table}" LIMIT 1 OFFSET ?', (rng.randrange(count),)).fetchone()[
        0
    ]


def _bound(rng, old):
    """A value of any type SQLite stores: (SQL, parameter)."""
    text = values.damaged(rng, old) if isinstance(old, str) and rng.random() < 0.6 else values.odd(rng)
    texts = ("CAST(? AS TEXT)", text.encode("utf-8", "surrogatepass"))
    near = old + rng.choice((1, -1, 1024, -1024)) if isinstance(old, int) else None
    return rng.choice(
        (
            ("?", None),
            ("?", rng.choice(HUGE)),
            ("?", near),
            ("?", rng.choice((0.5, -1.5, 1e308, float("inf"), float("-inf"), 1e19))),
            ("?", rng.choice((b"", b"\x00", b"\xff\xfe", b"x" * 5000))),
            texts,
            texts,
            texts,
        )
    )


def _cell(rng, connection):
    table = _filled(rng, connection)
    column, row = rng.choice(columns_of(connection, table)), _row(rng, connection, table)
    old = connection.execute(f'SELECT "{column}" FROM "{table}" WHERE rowid = ?', (row,)).fetchone()[0]
    sql, value = _bound(rng, old)
    connection.execute(f'UPDATE "{table}" SET "{column}" = {sql} WHERE rowid = ?', (value, row))


def _whole_column(rng, connection):
    table = _filled(rng, connection)
    column = rng.choice(columns_of(connection, table))
    sql, value = _bound(rng, None)
    some = "" if rng.random() < 0.5 else " WHERE rowid % 3 = 1"
    connection.execute(f'UPDATE "{table}" SET "{column}" = {sql}{some}', (value,))


def _another_rows(rng, connection):
    table = _filled(rng, connection)
    column, row, other = (
        rng.choice(columns_of(connection, table)),
        _row(rng, connection, table),
        _row(rng, connection, table),
    )
    connection.execute(
        f'UPDATE "{table}" SET "{column}" = (SELECT "{column}" FROM "{table}" WHERE rowid = ?) WHERE rowid = ?',
        (other, row),
    )


def _scaled_column(rng, connection):
    table = _filled(rng, connection)
    column = rng.choice(columns_of(connection, table))
    factor = rng.choice(("* -1", "* 1000000", "+ 1", "/ 3.0", "* 0", "|| 'x'"))
    connection.execute(f'UPDATE "{table}" SET "{column}" = "{column}" {factor}')


def _drop_table(rng, connection):
    connection.execute(f'DROP TABLE "{rng.choice(tables_of(connection))}"')


def _empty_table(rng, connection):
    connection.execute(f'DELETE FROM "{_filled(rng, connection)}"')


def _rename_table(rng, connection):
    connection.execute(
        f'ALTER TABLE "{rng.choice(tables_of(connection))}" RENAME TO "{rng.choice(("x", "a b", "op"))}"'
    )


def _drop_column(rng, connection):
    _rebuilt(rng, connection, drop=True)


def _rename_column(rng, connection):
    _rebuilt(rng, connection, drop=False)


def _rebuilt(rng, connection, *, drop):
    """The table without a column, or with one of another name; constraints go, too."""
    table = rng.choice(tables_of(connection))
    columns = columns_of(connection, table)
    chosen = rng.choice(columns)
    kept = [
        f'"{name}" AS "{rng.choice((name.upper(), "x", name + "_2"))}"' if name == chosen else f'"{name}"'
        for name in columns
        if not (drop and name == chosen)
    ]
    connection.execute(f'CREATE TABLE rebuilt AS SELECT {", ".join(kept) or "1 AS nothing"} FROM "{table}"')
    connection.execute(f'DROP TABLE "{table}"')
    connection.execute(f'ALTER TABLE rebuilt RENAME TO "{table}"')


def _view(rng, connection):
    table = rng.choice(tables_of(connection))
    connection.execute(f'ALTER TABLE "{table}" RENAME TO "{table}_kept"')
    rest = rng.choice(("", " WHERE 0", " UNION ALL SELECT * FROM " + f'"{table}_kept"'))
    connection.execute(f'CREATE VIEW "{table}" AS SELECT * FROM "{table}_kept"{rest}')


def _extra(rng, connection):
    name = rng.choice(("extra", "sqlite stat", "ops", "a\u202eb", "x" * 2000))
    connection.execute(f'CREATE TABLE "{name}" (a, b)')
    connection.execute(
        f'ALTER TABLE "{rng.choice(tables_of(connection))}" ADD COLUMN "{rng.choice(("rank", "new", "x y"))}" int'
    )


def _delete_rows(rng, connection):
    table = _filled(rng, connection)
    some = rng.choice(("rowid % 2 = 0", "rowid % 5 = 1", "rowid > 3", "rowid < 3", "rowid = 2"))
    connection.execute(f'DELETE FROM "{table}" WHERE {some}')


def _double_rows(rng, connection):
    table = _filled(rng, connection)
    connection.execute(f'CREATE TABLE doubled AS SELECT * FROM "{table}"')
    connection.execute(f'INSERT INTO doubled SELECT * FROM "{table}" LIMIT {MOST_COPIES}')
    connection.execute(f'DROP TABLE "{table}"')
    connection.execute(f'ALTER TABLE doubled RENAME TO "{table}"')


def _ranks(rng, connection):
    for table in tables_of(connection):
        if "rank" in columns_of(connection, table) and rng.random() < 0.7:
            connection.execute(f'UPDATE "{table}" SET rank = rowid % ?', (rng.choice((1, 2, 3)),))


def _version(rng, connection):
    connection.execute("CREATE TABLE IF NOT EXISTS report_metadata (key text, value text)")
    connection.execute("DELETE FROM report_metadata WHERE key = 'schema_version'")
    version = rng.choice(VERSIONS).encode("utf-8", "surrogatepass")
    connection.execute("INSERT INTO report_metadata VALUES ('schema_version', CAST(? AS TEXT))", (version,))


def _graph(rng, connection):
    found = connection.execute("SELECT rowid, captured_graph FROM captured_graph").fetchall()
    if found:
        row, text = rng.choice(found)
        changed = graph_mutations.mutate(rng, text if isinstance(text, str) else "[]")
        connection.execute(
            "UPDATE captured_graph SET captured_graph = CAST(? AS TEXT) WHERE rowid = ?",
            (changed.encode("utf-8", "surrogatepass"), row),
        )


def _all_graphs(rng, connection):
    found = connection.execute("SELECT rowid, captured_graph FROM captured_graph").fetchall()
    kept = rng.choice([text for _, text in found]) if found else "[]"
    for row, text in found:
        changed = (
            kept if rng.random() < 0.5 else graph_mutations.mutate(rng, text if isinstance(text, str) else "[]")
        )
        connection.execute(
            "UPDATE captured_graph SET captured_graph = CAST(? AS TEXT) WHERE rowid = ?",
            (changed.encode("utf-8", "surrogatepass"), row),
        )


_WEIGHTED = (
    *[_cell] * 10, *[_whole_column] * 4, *[_another_rows] * 4, *[_scaled_column] * 3, *[_drop_table] * 2, *[_empty_table] * 2,
    _rename_table, *[_drop_column] * 3, *[_rename_column] * 2, _view, _extra, *[_delete_rows] * 4, *[_double_rows] * 2,
    _ranks, _version, *[_graph] * 10, *[_all_graphs] * 2,
)  # fmt: skip
