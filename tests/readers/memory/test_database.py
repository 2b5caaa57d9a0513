import asyncio
import hashlib
import os
import shutil
import sqlite3

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ReportBroken, ReportMissing
from ttnn_mcp.readers.memory import database
from ttnn_mcp.readers.memory.database import open_database


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report#1 ?" / "db.sqlite"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE operations (operation_id int, name text)")
    connection.executemany("INSERT INTO operations VALUES (?, ?)", [(at, "ttnn.add" * 50) for at in range(500)])
    connection.commit()
    connection.close()
    return path


async def run(path, sql):
    async with open_database(path) as connection:
        await connection.execute(sql)
        await connection.commit()


async def count(path):
    async with open_database(path) as connection:
        [[rows]] = await connection.execute_fetchall("SELECT count(*) FROM operations")
        return rows


def state(path):
    return [
        (each.name, each.stat().st_mtime_ns, hashlib.sha256(each.read_bytes()).hexdigest())
        for each in sorted(path.parent.iterdir())
    ]


async def test_reading_leaves_the_folder_as_it_was(report):
    before = state(report)
    assert await count(report) == 500
    assert state(report) == before


async def test_a_wal_database_without_changes_is_read_without_files_beside_it(report):
    connection = sqlite3.connect(report)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before = state(report)
    assert len(before) == 1
    assert await count(report) == 500
    assert state(report) == before


async def test_unmerged_changes_of_a_wal_database_are_not_passed_over(report):
    connection = sqlite3.connect(report)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("INSERT INTO operations VALUES (501, 'ttnn.late')")
    connection.commit()
    before = state(report)
    with pytest.raises(ReportBroken, match=r"not merged into it yet.*wal_checkpoint"):
        await count(report)
    assert state(report) == before
    connection.close()


async def test_a_writer_that_holds_the_file_is_waited_out_not_fought(report, monkeypatch):
    monkeypatch.setattr(database, "_PATIENCE_S", 0.05)
    writer = sqlite3.connect(report, isolation_level=None)
    writer.execute("PRAGMA journal_mode = MEMORY")
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ReportBroken, match="being written by another program: wait"):
        await count(report)
    writer.execute("ROLLBACK")
    assert await count(report) == 500
    writer.close()


async def test_a_half_written_transaction_is_refused(report):
    writer = sqlite3.connect(report, isolation_level=None)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN")
    writer.execute("UPDATE operations SET name = name || 'x'")
    with pytest.raises(ReportBroken, match=r"half written.*-journal"):
        await count(report)
    writer.execute("ROLLBACK")
    writer.close()


async def test_a_reader_does_not_keep_a_writer_from_writing(report):
    async with open_database(report) as connection:
        await connection.execute_fetchall("SELECT count(*) FROM operations")
        writer = sqlite3.connect(report, timeout=0.1)
        writer.execute("INSERT INTO operations VALUES (501, 'ttnn.late')")
        writer.commit()
        writer.close()
    assert await count(report) == 501


async def test_nothing_can_be_written_through_the_connection(report):
    before = state(report)
    for sql in ("DELETE FROM operations", "CREATE TABLE mine (x)", "PRAGMA user_version = 3"):
        with pytest.raises(ReportBroken):
            await run(report, sql)
    assert state(report) == before


@for_all("kept", [1, 15, 16, 50, 99, 100, 512, 4095, 4096, 10_000, -1])
async def test_a_truncated_database_is_refused_with_what_to_do(report, kept):
    whole = report.read_bytes()
    report.write_bytes(whole[:kept])
    with pytest.raises(ReportBroken, match=r"not a SQLite database|cut off.*Copy it again"):
        await count(report)


@for_all(("kept", "missing"), [(99, 1), (100, 4096 - 100), (4096, None)])
async def test_how_much_is_missing_is_counted_by_the_header(report, kept, missing):
    """sqlite.org/fileformat2.html: 100 bytes of header, the size of a page at 16, their count at 28."""
    whole = report.read_bytes()
    header = bytearray(whole[:kept])
    assert int.from_bytes(header[16:18], "big") == 4096
    header[28:32] = (1).to_bytes(4, "big")
    report.write_bytes(header)
    if missing is None:
        assert not database._is_still(report)
        return
    with pytest.raises(ReportBroken, match=rf"cut off: {missing} bytes are missing"):
        await count(report)


async def test_a_writer_is_waited_for_half_a_second(report):
    async with open_database(report) as connection:
        [[milliseconds]] = await connection.execute_fetchall("PRAGMA busy_timeout")
    assert milliseconds == 500


async def test_changes_of_another_time_beside_a_plain_database_do_not_matter(report):
    report.with_name("db.sqlite-wal").write_bytes(b"stale")
    before = state(report)
    assert await count(report) == 500
    assert state(report) == before


async def test_an_empty_file_is_refused_with_what_to_do(report):
    report.write_bytes(b"")
    with pytest.raises(ReportBroken, match=r"is empty: .* Run it again"):
        await count(report)


async def test_a_damaged_page_is_refused_with_what_to_do(report):
    whole = bytearray(report.read_bytes())
    whole[4096:] = b"\xff" * (len(whole) - 4096)
    report.write_bytes(whole)
    with pytest.raises(ReportBroken, match="damaged inside"):
        await count(report)


async def test_a_file_that_is_no_database_is_refused(report):
    report.write_text("OP CODE,OP TYPE\n" * 100)
    with pytest.raises(ReportBroken, match="not a SQLite database"):
        await count(report)


async def test_a_missing_file_a_folder_and_a_pipe_are_refused(report):
    os.mkfifo(report.parent / "pipe")
    for path in (report.parent / "other.sqlite", report.parent, report.parent / "pipe"):
        with pytest.raises(ReportMissing, match="There is no database file"):
            await count(path)


@for_all("suffix", ["-journal", "-wal", "-shm"])
@for_all("made", [os.mkfifo, os.mkdir])
async def test_what_lies_beside_as_no_regular_file_is_refused_at_once(report, suffix, made):
    made(f"{report}{suffix}")
    with pytest.raises(ReportBroken, match=f"The {suffix} file beside .* is not a regular file: remove it"):
        await asyncio.wait_for(count(report), 10)


async def test_a_folder_that_may_not_be_written_is_read(report, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert await count(report) == 500
    shutil.rmtree(report.parent)


async def test_text_that_is_no_utf8_is_read_all_the_same(report):
    connection = sqlite3.connect(report)
    connection.execute("INSERT INTO operations VALUES (501, CAST(x'ff41' AS TEXT))")
    connection.commit()
    connection.close()
    async with open_database(report) as connection:
        [[name]] = await connection.execute_fetchall("SELECT name FROM operations WHERE operation_id = 501")
    assert name == "\ufffdA"


async def test_of_errors_within_sqlites_are_told_in_our_words_and_ours_pass_unchanged(report):
    with pytest.raises(
        ReportBroken, match=r"report#1 \?/db.sqlite could not be read as a SQLite database. Check that"
    ):
        await run(report, "SELECT * FROM nowhere")
    with pytest.raises(KeyError):
        async with open_database(report):
            raise KeyError
