"""A run as tables: only what a statement names is read, and nothing of the report's own file can run."""

import sqlite3
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from tests.for_all import for_all
from tests.profiles import write_memory_report, write_performance_report
from tests.programs import block
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.query.tables import _numbers, attach, load, named_in, performance_tables
from ttnn_mcp.session.opening import read_run


@for_all(
    ("sql", "star"),
    [
        ("SELECT * FROM ops", True),
        ("SELECT count(*) FROM ops", False),
        ("SELECT count( * ), o.* FROM ops o", True),
        ("SELECT 1 FROM ops NATURAL JOIN operations", True),
        ("SELECT kernel_ns FROM ops", False),
    ],
)
def test_a_star_is_told_from_a_count(sql, star):
    assert named_in(sql) >= {"select", "from", "ops"}
    assert ("*" in named_in(sql)) is star


async def test_no_column_is_named_that_holds_the_same_everywhere(tmp_path):
    """OP TYPE tells the rows of the tables apart."""
    run = await read_run("0a", "made", write_performance_report(tmp_path, block()), None)
    tables = performance_tables(run.performance)
    assert {"op_code", "kernel_ns", "in0_shape", "out0_placement"} <= {*tables["ops"]}
    assert "op_type" not in tables["ops"]


@for_all(
    ("values", "cells"),
    [
        ([1.0, np.nan, 3.0], [1, None, 3]),
        ([1.0, 2.5], [1.0, 2.5]),
        ([2.0**61, 1.0], [2**61, 1]),
        ([2.0**80, 1.0], [2.0**80, 1.0]),
    ],
)
def test_whole_numbers_are_whole_and_what_was_not_measured_is_none(values, cells):
    ops = SimpleNamespace(numbers=lambda _: np.array(values))
    given = _numbers(ops, "kernel_ns")
    assert given == cells
    assert [type(cell) for cell in given] == [type(cell) for cell in cells]


def unread():
    pytest.fail("nobody asked for it")


def loaded(tables, sql, *, seconds=60, given_up=bool):
    with closing(sqlite3.connect(":memory:")) as connection:
        load(connection, tables, named_in(sql), seconds, given_up)
        return connection.execute(sql).fetchall()


def test_only_what_a_statement_names_is_read():
    ops = {"line": lambda: [2, 3], "op": lambda: ["a", "b"], "cores": unread}
    other = {"line": unread, "name": unread}
    assert loaded({"ops": ops, "signposts": other}, "SELECT op FROM ops") == [("a",), ("b",)]
    assert loaded({"ops": ops, "signposts": other}, "SELECT count(*) FROM ops") == [(2,)]


def test_a_star_reads_all():
    ops = {"line": lambda: [2], "op": lambda: ["a"]}
    assert loaded({"ops": ops}, "SELECT * FROM ops") == [(2, "a")]


@for_all(("rows", "said"), [(2_000_000, "took longer"), (2_000_001, "name the few you need")])
def test_six_million_cells_are_the_most(rows, said):
    ops = dict.fromkeys(("line", "op", "cores"), lambda: range(rows))
    with pytest.raises(QuestionRefused, match=said):
        loaded({"ops": ops}, "SELECT * FROM ops", given_up=lambda: True)


def test_reading_ends_with_its_time_or_when_nobody_waits():
    ops = {"line": lambda: [2]}
    for how in ({"seconds": -1}, {"given_up": lambda: True}):
        with pytest.raises(QuestionRefused, match="Name fewer columns"):
            loaded({"ops": ops}, "SELECT line FROM ops", **how)


async def test_plain_tables_of_a_report_are_offered_and_no_others(tmp_path):
    path = write_memory_report(tmp_path, block())
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE signposts (mine)")
        database.execute("CREATE VIRTUAL TABLE searched USING fts5(a)")
        database.execute("CREATE VIEW seen AS SELECT 1")
        database.commit()
    run = await read_run("0a", "made", None, path)
    with closing(sqlite3.connect(":memory:", uri=True)) as connection:
        tables = attach(connection, run.memory, frozenset())
        assert connection.execute("SELECT count(*) > 0 FROM report.operations").fetchone() == (1,)
    assert {"operations", "tensors"} <= {*tables}
    assert not {"signposts", "searched", "seen"} & {*tables}
    assert "name" in tables["operations"]
