"""One SELECT on a connection: what it may read and call, how much it may take, and what is said of the rest."""

import json
import sqlite3
from contextlib import closing
from itertools import chain, repeat

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.query import guard
from ttnn_mcp.query.guard import ONE_SELECT, TOO_MUCH_MEMORY, NameUnknown, guarded, set_limits

COUNTING = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT {} FROM n"
TOO_LONG = "a value or a pattern that is too long"


def asked(sql, limit=10, *, seconds=60, cell="Matmul", **how):
    """The answer over a table `ops` of one row; `mine` is another table, which nobody offers."""
    with closing(sqlite3.connect(":memory:")) as connection:
        set_limits(connection)
        connection.execute("CREATE TABLE ops (line, name)")
        connection.execute("CREATE TABLE mine (secret)")
        connection.execute("INSERT INTO ops VALUES (7, ?)", (cell,))
        connection.commit()
        return guarded(connection, sql, {"ops"}, limit, seconds, **how)


@for_all(
    ("sql", "rows"),
    [
        ("SELECT line, NAME FROM Ops", ((7, "Matmul"),)),
        ("-- a comment\n /* and another */ select count(*) from ops", ((1,),)),
        ("WITH x AS (SELECT line FROM ops) SELECT count(*) FROM x", ((1,),)),
        ("SELECT count(*) FROM (SELECT 1 UNION SELECT 2)", ((2,),)),
        ("SELECT sum(value) FROM json_each('[1, 2]')", ((3,),)),
        (
            "SELECT x'00ff', NULL, 1e999, -1e999, 1.23456789012, 2",
            (("<2 bytes>", None, None, None, 1.23456789, 2),),
        ),
        (
            "SELECT 14185060793718 / 1.0, 14185060793718 / -4.0, 999999999.44, 1e9 + 0.5, 9007199254740991 * 1.0, 1e300",
            ((14185060793718.0, -3546265198429.5, 999999999.0, 1000000000.5, 9007199254740991.0, 1e300),),
        ),
        ("SELECT 2.0 / 3, 1e-20 / 3, 14185060793718 / 7.0", ((0.666666667, 3.33333333e-21, 2026437256245.43),)),
        (COUNTING.format(3, "i"), ((1,), (2,), (3,))),
        ("SELECT 1 WHERE 0", ()),
    ],
)
def test_what_only_reads_is_answered(sql, rows):
    answered = asked(sql)
    assert (answered.rows, answered.stopped) == (rows, None)


@for_all(
    "sql",
    [
        "DELETE FROM ops",
        "VALUES (1)",
        "EXPLAIN SELECT 1",
        "PRAGMA database_list",
        "",
        "1",
        "-- nothing",
        "/* SELECT */ DROP TABLE ops",
        "SELECT 1; SELECT 2",
    ],
)
def test_what_is_not_one_select_is_refused(sql):
    with pytest.raises(QuestionRefused) as refused:
        asked(sql)
    assert str(refused.value) == ONE_SELECT


@for_all(
    ("sql", "would"),
    [
        ("WITH x AS (SELECT 1) DELETE FROM ops", "change the tables"),
        ("WITH x AS (SELECT 1) INSERT INTO ops (line) SELECT * FROM x", "change the tables"),
        ("SELECT secret FROM mine", "read mine"),
        ("SELECT name FROM sqlite_master", "read sqlite_master"),
        ("SELECT count(*) FROM sqlite_master", "read sqlite_master"),
        ("SELECT name FROM pragma_table_info('ops')", "look into SQLite itself"),
        ("SELECT load_extension('evil.so')", r"call load_extension\(\)"),
        ("SELECT randomblob(3)", r"call randomblob\(\)"),
    ],
)
def test_what_does_more_is_refused_with_what_it_would_do(sql, would):
    with pytest.raises(
        QuestionRefused, match=rf"^query_run only reads; this query would {would}\. It may read the run's tables"
    ):
        asked(sql)


@for_all(
    ("sql", "name", "column"),
    [("SELECT lines FROM ops", "lines", True), ("SELECT 1 FROM opss", "opss", False)],
)
def test_a_wrong_name_is_told_apart_from_other_faults(sql, name, column):
    with pytest.raises(NameUnknown) as unknown:
        asked(sql)
    assert (unknown.value.name, unknown.value.column) == (name, column)


@for_all(
    ("sql", "said"),
    [
        ("SELECT readfile('/etc/passwd')", "There is no function readfile. It may read"),
        ("SELECT FROM WHERE", "SQLite cannot run this: near .FROM.: syntax error."),
        ("SELECT value FROM json_each('[')", r"is none; filter with json_valid\(\) first"),
    ],
)
def test_sqlites_complaints_become_sentences(sql, said):
    with pytest.raises(QuestionRefused, match=said):
        asked(sql)


def test_rows_beyond_the_limit_are_told():
    assert asked(COUNTING.format(3, "i"), 3).stopped is None
    more = asked(COUNTING.format(4, "i"), 3)
    assert (len(more.rows), more.stopped) == (3, "more than 3 rows: raise limit, or narrow the query")


@for_all(("count", "stopped"), [(200, None), (201, "more than 20 kB: select less")])
def test_twenty_kilobytes_of_rows_are_sent(count, stopped):
    row = ("x" * 96,)
    answered = asked(COUNTING.format(count, "(SELECT name FROM ops)"), 999, cell=row[0])
    assert (answered.rows, answered.stopped) == ((row,) * 200, stopped)
    assert len(json.dumps(row, separators=(",", ":"))) * 200 == 20_000


@for_all(
    ("cell", "shown"),
    [
        ("x" * 2000, "x" * 2000),
        ("x" * 2001, "x" * 2000 + "... (2001 characters)"),
        ("a\x1b[31m\nb\u202e", "a [31m b "),
    ],
)
def test_a_cell_is_one_clean_line_of_two_thousand_characters(cell, shown):
    assert asked("SELECT name FROM ops", cell=cell).rows == ((shown,),)


@for_all(
    ("sql", "longest"),
    [("SELECT length(name || name) FROM ops", 4_000_000), ("SELECT 'b' LIKE name FROM ops", 200)],
)
def test_values_of_eight_megabytes_and_patterns_of_two_hundred_signs_are_the_longest(sql, longest):
    assert len(asked(sql, cell="%" * longest).rows) == 1
    with pytest.raises(QuestionRefused, match=TOO_LONG):
        asked(sql, cell="%" * (longest + 1))


def test_all_queries_together_take_a_quarter_of_a_gigabyte():
    with closing(sqlite3.connect(":memory:")) as connection:
        set_limits(connection)
        assert connection.execute("PRAGMA hard_heap_limit").fetchone() == (2**30 / 4,)


def test_a_query_runs_in_memory_trusts_no_schema_writes_nothing_and_attaches_nothing(monkeypatch):
    added = []
    monkeypatch.setattr(guard, "add_functions", lambda _, *most: added.append(most))
    with closing(sqlite3.connect(":memory:")) as connection:
        set_limits(connection)
        assert guarded(connection, "SELECT 1", (), 1, 60).rows == ((1,),)
        connection.set_authorizer(None)
        states = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("temp_store", "trusted_schema", "query_only")
        }
        assert states == {"temp_store": 2, "trusted_schema": 0, "query_only": 1}  # 2 is memory
        with pytest.raises(sqlite3.Error, match="too many attached databases - max 0"):
            connection.execute("ATTACH ':memory:' AS other")
    assert added == [(8_000_000, 200)]


def test_what_takes_too_much_memory_is_told_so(monkeypatch):
    def short(*_):
        raise MemoryError

    monkeypatch.setattr(guard, "_fetched", short)
    with pytest.raises(QuestionRefused) as refused:
        asked("SELECT 1")
    assert str(refused.value) == TOO_MUCH_MEMORY


@for_all(("passed", "in_time"), [(0.9, True), (1.1, False)])
def test_a_query_ends_when_its_time_is_over(monkeypatch, passed, in_time):
    clock = chain([100.0], repeat(100.0 + passed))
    monkeypatch.setattr(guard, "monotonic", lambda: next(clock))
    long = COUNTING.format(10_000, "max(i)")
    if in_time:
        assert asked(long, seconds=1).rows == ((10_000,),)
    else:
        with pytest.raises(QuestionRefused, match=r"ran longer than 1 s and was ended\. Filter or aggregate"):
            asked(long, seconds=1)


def test_a_query_ends_when_nobody_waits_for_it():
    with pytest.raises(QuestionRefused, match="was ended"):
        asked(COUNTING.format(10_000, "max(i)"), given_up=lambda: True)
