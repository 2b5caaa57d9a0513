"""SQL over a run: what it answers, and that it can do nothing else."""

import asyncio
import json
import sqlite3
import time
from contextlib import closing

import pytest

from tests.asking import call, session
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.profiles import Iteration, Program, write_memory_report, write_performance_report, write_run
from tests.programs import block
from tests.shared_reports import CLIP, MEMORY, shared
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, ReportBroken
from ttnn_mcp.query import guard as sql_guard
from ttnn_mcp.query import queries
from ttnn_mcp.query.queries import queried
from ttnn_mcp.tools.query_run import TOOL


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A session with a run of both reports, and the reports' folder: no question changes either."""
    folder = tmp_path_factory.mktemp("both")
    run, opened = write_run(folder / "run", block()), session(folder)
    asyncio.run(opened.open(str(run.performance), str(run.memory), "both"))
    return opened, folder / "run"


@pytest.fixture
def ask(opened):
    async def asked(sql, **more):
        return await call(TOOL, opened[0], {"run": "both", "sql": sql, **more})

    return asked


async def test_ops_are_a_table_with_our_names(ask):
    said = await ask(
        "SELECT op, iteration, kernel_ns, in0_shape, in1_dtype, out0_placement FROM ops WHERE op = 'Matmul' ORDER BY line"
    )
    assert said["columns"] == ["op", "iteration", "kernel_ns", "in0_shape", "in1_dtype", "out0_placement"]
    assert said["rows"][0] == [
        "Matmul",
        1,
        20_000,
        "64x64",
        "BFLOAT16",
        "DRAM_INTERLEAVED",
    ]
    assert [row[1] for row in said["rows"]] == [1, 1, 2, 2]
    assert said["truncated"] is False


async def test_the_memory_reports_tables_stand_beside_them(ask):
    said = await ask("SELECT name, count(*) FROM operations GROUP BY name ORDER BY name")
    assert ["ttnn.linear", 2] in said["rows"]
    joined = await ask("SELECT count(*) FROM ops, operations WHERE ops.line = operations.operation_id")
    assert joined["rows"][0][0] > 0


async def test_sums_agree_with_the_file(at):
    path = shared(CLIP)
    said = await call(TOOL, at, {"run": str(path), "sql": "SELECT count(*), sum(kernel_ns) FROM ops"})
    import csv

    with path.open(newline="") as file:
        took = [int(row["DEVICE KERNEL DURATION [ns]"]) for row in csv.DictReader(file)]
    assert said["rows"] == [[len(took), sum(took)]]
    assert said["notes"] == ["ops holds all 2 iterations; other tools look at iteration 2"]


async def test_signposts_and_host_calls_are_tables_too(tmp_path, at):
    marked = (Iteration(cold=True, host_rows=("(torch) numel",)), Iteration(signposts=("start", "stop")))
    run = write(tmp_path, Model(), marked)
    said = await call(
        TOOL, at, {"run": run, "sql": "SELECT name FROM signposts UNION ALL SELECT op_code FROM host_ops"}
    )
    assert said["rows"] == [["start"], ["stop"], ["(torch) numel"]]


async def test_rows_beyond_the_limit_are_told_and_not_sent(ask):
    said = await ask("SELECT line FROM ops", limit=3)
    assert len(said["rows"]) == 3
    assert said["truncated"] is True
    assert "limit" in said["why"]


async def test_an_answer_stays_small_whatever_is_selected(ask):
    said = await ask(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) SELECT i, hex(i) || substr(replace(hex(1000), '3', 'xxxxxxxxxxxxxxxxxxxxxxxx'), 1, 90) FROM n",
        limit=1000,
    )
    assert said["truncated"] is True
    assert len(json.dumps(said)) < 30_000


async def test_long_texts_and_bytes_are_cut(ask):
    said = await ask("SELECT group_concat(attributes), x'00ff' FROM ops")
    assert said["rows"][0][1] == "<2 bytes>"
    wide = (await ask("SELECT group_concat(attributes || attributes || attributes) FROM ops a"))["rows"][0][0]
    assert wide is None or len(wide) < 2_100


async def test_a_wrong_column_is_answered_with_the_nearest_and_the_schema(ask):
    with pytest.raises(
        QuestionRefused, match=r"There is no column 'kernal_ns'\. Did you mean kernel_ns"
    ) as refused:
        await ask("SELECT kernal_ns FROM ops")
    assert "ops(line, iteration," in str(refused.value)


async def test_a_wrong_table_is_answered_with_the_nearest_and_the_schema(ask):
    with pytest.raises(QuestionRefused, match=r"There is no table 'opss'\. Did you mean ops") as refused:
        await ask("SELECT * FROM opss")
    assert "operations" in str(refused.value)
    assert "ops(line, iteration," in str(refused.value)


WRITES = (
    "DELETE FROM ops",
    "INSERT INTO ops (line) VALUES (1)",
    "UPDATE operations SET name = 'x'",
    "DROP TABLE ops",
    "CREATE TEMP TABLE mine (a)",
    "REPLACE INTO ops (line) VALUES (1)",
    "VACUUM INTO '{folder}/copy.sqlite'",
    "BEGIN",
    "COMMIT",
    "REINDEX",
    "EXPLAIN SELECT 1",
    "VALUES (1)",
    "ATTACH DATABASE '{folder}/other.sqlite' AS other",
    "PRAGMA user_version = 7",
    "PRAGMA database_list",
    "",
    "-- nothing",
    "/* SELECT */ DELETE FROM ops",
)
READS_ELSEWHERE = (
    "WITH x AS (SELECT 1) DELETE FROM ops",
    "WITH x AS (SELECT 1) INSERT INTO ops (line) SELECT * FROM x",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM sqlite_schema",
    "SELECT count(*) FROM sqlite_master",
    "SELECT * FROM report.sqlite_master",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_table_info('ops')",
    "SELECT count(*) FROM pragma_database_list",
    "SELECT * FROM dbstat",
    "SELECT load_extension('{folder}/evil.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('{folder}/written', 'x')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT * FROM fsdir('/')",
    "SELECT 1; SELECT 2",
    "SELECT 1; DELETE FROM ops",
)
GROWS = (
    "SELECT zeroblob(2000000000)",
    "SELECT randomblob(2000000000)",
    "SELECT hex(zeroblob(500000000))",
    "SELECT printf('%.*c', 2000000000, 'x')",
    "SELECT format('%2000000000s', 'x')",
    "WITH RECURSIVE c(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM c) SELECT length(s) FROM c",
    "WITH RECURSIVE c(n, s) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, replace(s, 'a', 'aaaaaaaaaa') FROM c WHERE n < 12) SELECT length(s) FROM c",
)
RUNS_ON = (
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 0",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100000) SELECT count(*) FROM c a, c b, c d",
)


@for_all("sql", [*WRITES, *READS_ELSEWHERE], sampled=4)
async def test_whatever_is_no_plain_reading_is_refused_and_leaves_no_trace(opened, ask, tmp_path, sql):
    before = sorted(opened[1].rglob("*"))
    with pytest.raises(QuestionRefused) as refused:
        await ask(sql.format(folder=tmp_path))
    assert "Traceback" not in str(refused.value)
    assert (sorted(tmp_path.iterdir()), sorted(opened[1].rglob("*"))) == ([], before)
    assert (await ask("SELECT count(*) FROM ops"))["rows"][0][0] > 0


@for_all("sql", GROWS)
async def test_what_grows_without_end_is_ended_with_a_clear_message(ask, sql):
    started = time.monotonic()
    with pytest.raises(
        QuestionRefused, match=r"too long|too much memory|call (zeroblob|randomblob|printf|format)|no function"
    ):
        await ask(sql)
    assert time.monotonic() - started < 10


@for_all("sql", RUNS_ON)
async def test_what_runs_on_is_ended_in_time(opened, sql):
    run = await opened[0].run("both")
    started = time.monotonic()
    with pytest.raises(QuestionRefused, match=r"ran longer than 0.3 s"):
        queried(run, sql, 10, seconds=0.3)
    assert time.monotonic() - started < 3


async def test_windows_subqueries_and_json_work(ask):
    assert (await ask("WITH x AS (SELECT kernel_ns FROM ops) SELECT count(*) FROM x"))["rows"][0][0] > 0
    assert (await ask("SELECT count(*) FROM (SELECT 1 UNION SELECT 2)"))["rows"] == [[2]]
    assert (await ask("SELECT line, rank() OVER (ORDER BY kernel_ns DESC) FROM ops LIMIT 1"))["rows"][0][1] == 1
    nodes = await ask(
        "SELECT json_extract(value, '$.node_type') AS kind, count(*) FROM captured_graph, json_each(captured_graph)"
        " GROUP BY kind ORDER BY kind"
    )
    assert "function_start" in [row[0] for row in nodes["rows"]]


async def test_ranks_of_a_report_never_mix(tmp_path, at):
    path = write_memory_report(tmp_path / "memory", block(), "3.3")
    with closing(sqlite3.connect(path)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(operations)")]
        there = database.execute("SELECT count(*) FROM operations").fetchone()[0]
        others = ", ".join("1" if name == "rank" else name for name in columns)
        database.execute(f"INSERT INTO operations SELECT {others} FROM operations")
        database.execute("UPDATE operations SET name = 'of rank one' WHERE rank = 1")
        database.commit()
    for sql in (
        "SELECT count(*) FROM operations",
        "SELECT count(*) FROM main.operations",
        "WITH o AS (SELECT * FROM operations) SELECT count(*) FROM o",
        'SELECT count(*) FROM "operations"',
    ):
        said = await call(TOOL, at, {"run": str(path), "sql": sql})
        assert said["rows"] == [[there]], sql
        assert said["notes"] == ["rank 0 alone"]
    with pytest.raises(QuestionRefused, match=r"no table 'report\.operations'"):
        await call(TOOL, at, {"run": str(path), "sql": "SELECT count(*) FROM report.operations"})
    await at.open(None, str(path), "second", 1)
    said = await call(TOOL, at, {"run": "second", "sql": "SELECT DISTINCT name FROM operations"})
    assert said["rows"] == [["of rank one"]]


async def test_the_report_is_never_written_locked_or_joined_by_side_files(opened, ask):
    await ask("SELECT 1")
    path = (await opened[0].run("both")).memory.path
    before, files = path.read_bytes(), sorted(path.parent.iterdir())
    with closing(sqlite3.connect(path, timeout=0.1, isolation_level=None)) as writer:
        await ask("SELECT count(*) FROM buffers")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("ROLLBACK")
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == files


async def test_a_view_or_trigger_in_the_report_runs_nothing(tmp_path, at):
    path = write_memory_report(tmp_path / "memory", block())
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE VIEW sneaky AS SELECT load_extension('x')")
        database.commit()
    with pytest.raises(QuestionRefused):
        await call(TOOL, at, {"run": str(path), "sql": "SELECT * FROM sneaky"})


async def test_a_report_that_was_cut_off_is_an_error_of_the_report(tmp_path, at):
    path = write_memory_report(tmp_path / "memory", block())
    await call(TOOL, at, {"run": str(path), "sql": "SELECT 1"})
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ReportBroken):
        await call(TOOL, at, {"run": str(path), "sql": "SELECT count(*) FROM operations"})


async def test_a_report_that_is_written_while_it_is_asked_is_an_error_of_the_report(tmp_path, at, monkeypatch):
    """No lock is held on it, so that its writer need not wait: rows of two states may be mixed."""
    path = write_memory_report(tmp_path / "memory", block())
    answered = queries.query_answer

    async def overtaken(*asked):
        rows = await answered(*asked)
        with closing(sqlite3.connect(path)) as writer:
            writer.execute("DELETE FROM operations")
            writer.commit()
        return rows

    monkeypatch.setattr(queries, "query_answer", overtaken)
    with pytest.raises(ReportBroken, match="changed while the question was answered"):
        await call(TOOL, at, {"run": str(path), "sql": "SELECT count(*) FROM operations"})


@for_all("folder", MEMORY)
async def test_every_memory_generation_can_be_queried(at, folder):
    said = await call(TOOL, at, {"run": str(shared(folder)), "sql": "SELECT count(*) FROM operations"})
    assert said["rows"][0][0] > 5


async def test_statements_and_limits_have_bounds(ask):
    with pytest.raises(ArgumentsInvalid, match="'sql'"):
        await ask("SELECT 1" + " " * 20_000)
    with pytest.raises(ArgumentsInvalid, match="'limit'"):
        await ask("SELECT 1", limit=100_000)
    with pytest.raises(QuestionRefused, match="SQLite cannot run this"):
        await ask("SELECT FROM WHERE")


def test_every_pass_of_the_guard_has_its_own_words():
    for sentence in (sql_guard.ONE_SELECT, *(said for _, said in sql_guard._SENTENCES)):
        assert sentence.endswith((".", "first."))


async def test_an_op_without_operands_is_a_row_of_nulls(tmp_path, at):
    program = Program()
    program.op("SoftmaxDeviceOperation", [program.tensor([1, 1, 32, 32])])
    from tests.profiles import write_performance_report

    path = write_performance_report(tmp_path, program)
    said = await call(TOOL, at, {"run": str(path), "sql": "SELECT in2_shape, trace_id, loc FROM ops LIMIT 1"})
    assert said["rows"] == [[None, None, None]]


async def test_a_statement_of_ten_thousand_characters_is_the_longest_and_needs_no_memory_report(at, tmp_path):
    csv = str(write_performance_report(tmp_path / "perf", block()))
    assert (await call(TOOL, at, {"run": csv, "sql": "SELECT 1".ljust(10_000)}))["rows"] == [[1]]
    with pytest.raises(ArgumentsInvalid, match="'sql' has at most 10000 characters"):
        await call(TOOL, at, {"run": csv, "sql": "SELECT 1".ljust(10_001)})
