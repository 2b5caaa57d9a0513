"""Queries at once and queries that never end: whoever asks is answered in time, in bounded memory, in clean text."""

import asyncio
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.query import queries, tables
from ttnn_mcp.query.queries import queried, query_answer

ROOT = Path(__file__).parents[2]
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
DOUBLING = (
    "WITH c0 AS (SELECT 1 a)"
    + "".join(f", c{i} AS (SELECT * FROM c{i - 1} UNION ALL SELECT * FROM c{i - 1})" for i in range(1, 41))
    + " SELECT count(*) FROM c40"
)
GROWING = (
    "WITH c0 AS (SELECT 1 a)"
    + "".join(f", c{i} AS (SELECT a + a AS a FROM c{i - 1})" for i in range(1, 41))
    + " SELECT a FROM c40"
)


@pytest.fixture
async def run(tmp_path):
    return await session(tmp_path).run(str(write_performance_report(tmp_path / "run", block())))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_statements_that_grow_while_they_are_prepared_end_in_time_and_in_bounded_memory():
    """In a process of its own: memory that SQLite gave back may stay with ours."""
    script = f"""
        import asyncio, time
        from ttnn_mcp.session.session import Session, Settings
        from ttnn_mcp.query.queries import query_answer
        from ttnn_mcp.errors import QuestionRefused
        def most_kilobytes():  # ru_maxrss would begin with what the process that started us held
            status = open("/proc/self/status").read()
            return next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        async def main():
            run = await Session(Settings(state=__import__("pathlib").Path("/nowhere"))).run("demo")
            for sql in {(DOUBLING, GROWING)!r}:
                began = time.monotonic()
                try:
                    await query_answer(run, sql, 5)
                except QuestionRefused as refusal:
                    print(refusal)
                print(time.monotonic() - began, most_kilobytes())
        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    doubling, of_doubling, growing, of_growing = done.stdout.splitlines()
    for refusal, figures in ((doubling, of_doubling), (growing, of_growing)):
        seconds, kilobytes = map(float, figures.split())
        assert "too much memory" in refusal or "ran longer" in refusal
        assert seconds < 10
        assert kilobytes < 800_000


async def test_whoever_asks_is_answered_in_time_though_sqlite_looks_at_no_clock(run, monkeypatch):
    monkeypatch.setattr(queries, "TURN_S", 0.2)
    monkeypatch.setattr(queries, "queried", lambda *_, given_up, **__: _deaf(given_up))
    began = time.monotonic()
    with pytest.raises(QuestionRefused, match=r"ran longer than 0\.1 s"):
        await query_answer(run, "SELECT 1", 1, seconds=0.1)
    assert time.monotonic() - began < 3


def _deaf(given_up):
    for _ in range(400):
        if given_up():
            return
        time.sleep(0.005)


async def test_queries_that_run_on_make_the_next_wait_for_no_longer_than_its_turn(run, monkeypatch):
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    monkeypatch.setattr(queries, "TURN_S", 0.15)
    hogs = [asyncio.create_task(query_answer(run, ENDLESS, 1, seconds=0.6)) for _ in range(8)]
    await asyncio.sleep(0.05)
    began = time.monotonic()
    with pytest.raises(QuestionRefused, match=r"^4 other queries are running"):
        await query_answer(run, "SELECT 1", 1, seconds=0.1)
    assert time.monotonic() - began < 3
    told = await asyncio.gather(*hogs, return_exceptions=True)
    assert all(isinstance(each, QuestionRefused) for each in told)
    assert (await query_answer(run, "SELECT 1", 1)).rows.rows == ((1,),)
    assert complaints == []


async def test_a_statement_has_five_seconds_and_whoever_asks_an_answer_in_eight(run, monkeypatch):
    given, wait = [], asyncio.wait
    monkeypatch.setattr(queries, "queried", lambda _run, _sql, _limit, seconds, **_: given.append(seconds))
    monkeypatch.setattr(queries.asyncio, "wait", lambda work, timeout: given.append(timeout) or wait(work))
    await query_answer(run, "SELECT 1", 1)
    assert sorted(given) == [5, 8]


async def test_who_stops_waiting_ends_the_query(run):
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    real = queries.queried

    def told(*arguments, **more):
        try:
            return real(*arguments, **more)
        finally:
            loop.call_soon_threadsafe(ended.set)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "queried", told)
        asking = asyncio.create_task(query_answer(run, ENDLESS, 1, seconds=60))
        await asyncio.sleep(0.1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(ended.wait(), 10)


async def test_filling_the_tables_has_a_clock_too(run, monkeypatch):
    monkeypatch.setattr(tables, "BATCH_ROWS", 1)
    with pytest.raises(QuestionRefused, match=r"took longer than 0 s\. Name fewer columns"):
        queried(run, "SELECT line, kernel_ns FROM ops", 1, seconds=0)


@for_all("sql", ["SELECT 1\0", "SELECT '\ud800'", "\0"])
async def test_a_statement_that_is_no_text_is_one_of_our_sentences(run, sql):
    with pytest.raises(QuestionRefused, match="plain text"):
        await query_answer(run, sql, 1)


async def test_what_is_no_select_waits_for_no_turn(run, monkeypatch):
    monkeypatch.setattr(queries, "queried", None)
    with pytest.raises(QuestionRefused, match="only reads"):
        await query_answer(run, "DROP TABLE ops", 1)


async def test_a_query_over_a_run_has_the_limits_of_all_queries(run):
    assert (await query_answer(run, f"SELECT 'b' LIKE '{'%' * 200}'", 1)).rows.rows == ((1,),)
    with pytest.raises(QuestionRefused, match="a value or a pattern that is too long"):
        await query_answer(run, f"SELECT 'b' LIKE '{'%' * 201}'", 1)


async def test_cells_and_column_names_are_clean_single_lines(tmp_path):
    at = session(tmp_path)
    hostile = "char(27) || '[31m' || char(8238) || 'x' || char(8203) || char(10) || char(13) || char(917569)"
    said = await ask(at, "query_run", run="demo", sql=f'SELECT {hostile} AS "a\u202eb"')
    assert said["rows"] == [[" [31m x    "]]
    assert said["columns"] == ["a b"]
    long = await ask(at, "query_run", run="demo", sql="SELECT replace(hex(9), '3', hex('" + "x" * 2000 + "')) v")
    assert long["rows"][0][0].endswith("characters)")


async def test_text_that_is_no_utf8_is_answered(tmp_path):
    said = await ask(session(tmp_path), "query_run", run="demo", sql="SELECT CAST(x'ff41' AS TEXT)")
    assert said["rows"] == [["\ufffdA"]]
