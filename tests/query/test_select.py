"""One SELECT over one run: what stands beside its rows, and what is said of a wrong name."""

import sqlite3
from contextlib import closing

import pytest

from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_memory_report, write_rows, write_run
from tests.programs import block
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.query.guard import NameUnknown
from ttnn_mcp.query.queries import _schema, queried
from ttnn_mcp.session.opening import read_run

SHORT = "op_code holds '{}DeviceOperation', not '{}': compare the column op, which has the short names"


@pytest.fixture
async def run(tmp_path):
    made = write_run(tmp_path / "made", block(), [Iteration(cold=True), Iteration()])
    return await read_run("0a", "made", made.performance, made.memory)


@for_all(
    ("sql", "notes"),
    [
        ("SELECT count(*) FROM ops", ("ops holds all 2 iterations; other tools look at iteration 2",)),
        ("SELECT count(*) FROM ops WHERE iteration = 2", ()),
        ("SELECT count(*) FROM operations", ()),
        *(
            (f"SELECT count(*) FROM ops o WHERE {compared} AND iteration = 2", tuple(map(SHORT.format, *names)))
            for compared, *names in (
                ("op_code = 'Matmul'", ["Matmul"], ["Matmul"]),
                ("'Unary'=o.op_code", ["Unary"], ["Unary"]),
                ("op_code NOT LIKE 'matmul'", ["Matmul"], ["matmul"]),
                ("op_code IN ('A', 'Unary' , 'Matmul', 'Unary')", ["Unary", "Matmul"], ["Unary", "Matmul"]),
                ("op_code IN ('A', 'B', 'C', 'Matmul')", [], []),  # three are looked at
                ("op_code = 'MatmulDeviceOperation'", [], []),
                ("op_code LIKE 'matmuldeviceoperation'", [], []),
                ("op_code LIKE 'Matmul%'", [], []),
                ("op_code <> op AND op = 'Matmul'", [], []),
            )
        ),
    ],
)
def test_who_counts_ops_is_told_of_passes_and_of_names_that_no_row_has(run, sql, notes):
    assert queried(run, sql, 10, 60).notes == notes


def test_each_op_has_the_number_of_its_pass(run):
    sql = "SELECT iteration, count(*) FROM ops GROUP BY iteration"
    (first, count), (second, again) = queried(run, sql, 10, 60).rows.rows
    assert (first, second, count > 0, again) == (1, 2, True, count)


def test_texts_and_shapes_are_told_and_what_an_op_lacks_is_null(run):
    sql = "SELECT op, fidelity, in0_dtype, in0_shape FROM ops ORDER BY line LIMIT 2"
    assert queried(run, sql, 10, 60).rows.rows == (
        ("Matmul", "HiFi2", "BFLOAT16", "64x64"),
        ("Unary", None, "BFLOAT16", "64x128"),
    )


async def test_one_pass_of_one_report_needs_no_note_and_of_several_the_one_that_is_looked_at_is_told(tmp_path):
    made = write_run(tmp_path, block(), [Iteration()])
    one = await read_run("0a", "made", made.performance, None)
    assert queried(one, "SELECT count(*) FROM ops", 10, 60).notes == ()
    rows = performance_rows(block(), [Iteration(cold=True), Iteration(), Iteration()])
    rows[-1]["DEVICE KERNEL DURATION [ns]"] = ""
    path = write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))
    (note,) = queried(await read_run("0b", "x", path, None), "SELECT count(*) FROM ops", 10, 60).notes
    assert note == "ops holds all 3 iterations; other tools look at iteration 2"


async def test_a_memory_report_alone_can_be_asked(run):
    alone = await read_run("0a", "made", None, run.memory.path)
    assert queried(alone, "SELECT count(*) > 0 FROM operations", 10, 60).rows.rows == ((1,),)
    with pytest.raises(QuestionRefused, match="There is no table 'ops'"):
        queried(alone, "SELECT count(*) FROM ops", 10, 60)


async def test_of_several_ranks_one_is_asked_and_told(tmp_path):
    path = write_memory_report(tmp_path, block(), "3.3")
    with closing(sqlite3.connect(path)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(operations)")]
        others = ", ".join("1" if name == "rank" else name for name in columns)
        database.execute(f"INSERT INTO operations SELECT {others} FROM operations")
        database.execute("CREATE TABLE of_no_rank (a)")
        database.commit()
    both = await read_run("0a", "made", None, path)
    asked = queried(both, "SELECT DISTINCT rank FROM operations", 10, 60)
    assert (asked.rows.rows, asked.notes) == (((0,),), ("rank 0 alone",))
    with pytest.raises(QuestionRefused, match="There is no table 'of_no_rank'"):
        queried(both, "SELECT * FROM of_no_rank", 10, 60)


@for_all(
    ("sql", "said", "unsaid"),
    [
        ("SELECT nam FROM operations", r"no column 'nam'\. Did you mean name\? operations\(", "ops("),
        ("SELECT nam FROM (SELECT 1)", r"no column 'nam'\. Tables: ops, .*; ops\(line", "operations("),
        (
            "SELECT 1 FROM opps, operations",
            r"no table 'opps'\. Did you mean ops.* Tables: .*; ops\(line",
            "operations(",
        ),
    ],
)
def test_a_wrong_name_is_answered_with_the_columns_that_could_be_meant(run, sql, said, unsaid):
    with pytest.raises(QuestionRefused, match=said) as refused:
        queried(run, sql, 10, 60)
    assert unsaid not in str(refused.value)


def schema(tables, *, column):
    return _schema(NameUnknown("wrong", column=column), tables, frozenset(tables))


@for_all(("count", "more"), [(60, ""), (61, ", ...")])
def test_sixty_columns_of_a_table_are_named(count, more):
    columns = tuple(f"c{number}" for number in range(count))
    assert schema({"t": columns}, column=True).endswith(f"c58, c59{more}).")


@for_all(("count", "more"), [(24, ""), (25, ", ...")])
def test_twenty_four_tables_are_named(count, more):
    assert f"t22, t23{more}; t0()" in schema({f"t{number}": () for number in range(count)}, column=False)
