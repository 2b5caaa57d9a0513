"""Real failures of SQLite come down to the right fault, and a damaged text spoils nothing but itself."""

import sqlite3
import threading
from contextlib import closing

import pytest

from ttnn_mcp.readers.sqlite_file import connected, fault_of, uri_of


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a b#.sqlite"  # characters that a URI has to escape
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE texts (text)")
        database.execute("INSERT INTO texts VALUES (CAST(x'61ff62' AS TEXT))")
    return path


async def fault(path, mode, sql):
    with pytest.raises(sqlite3.Error) as failure:
        async with connected(path, mode, 0.01) as connection:
            await connection.execute(sql)
    return fault_of(failure.value)


async def test_a_damaged_text_is_read_as_far_as_it_is(path):
    async with connected(path, "ro", 1.0) as connection:
        assert await connection.execute_fetchall("SELECT text FROM texts") == [("a\ufffdb",)]


async def test_a_reader_cannot_write_and_a_still_file_is_left_alone(path):
    assert await fault(path, "ro", "DELETE FROM texts") == "read_only"
    async with connected(path, "ro", 1.0, still=True) as connection:
        await connection.execute_fetchall("SELECT * FROM texts")
    assert [*path.parent.iterdir()] == [path]
    assert uri_of(path, "ro", still=True).endswith("a%20b%23.sqlite?mode=ro&immutable=1")


async def test_a_file_that_is_not_there_is_made_only_by_who_may(tmp_path):
    path = tmp_path / "new.sqlite"
    assert await fault(path, "rw", "SELECT 1") == "read_only"
    assert not path.exists()
    async with connected(path, "rwc", 1.0) as connection:
        await connection.execute("CREATE TABLE t (x)")
    assert path.exists()


async def test_no_thread_outlives_a_connection_that_failed(tmp_path):
    """It would answer a loop that is closed by then, and its traceback would stand in the user's terminal."""
    before = {*threading.enumerate()}
    for _ in range(20):
        assert await fault(tmp_path / "missing.sqlite", "ro", "SELECT 1") == "read_only"
        left = {*threading.enumerate()} - before
        assert not [one for one in left if "connection" in one.name]


async def test_a_file_that_another_program_holds_is_busy(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert await fault(path, "rw", "SELECT * FROM texts") == "busy"


async def test_a_file_of_something_else_or_with_a_broken_page_is_damaged(path, tmp_path):
    (tmp_path / "text").write_text("no database " * 100)
    assert await fault(tmp_path / "text", "ro", "SELECT * FROM texts") == "damaged"
    content = bytearray(path.read_bytes())
    content[4096:4110] = b"\xff" * 14  # the header of the second page, the table's
    path.write_bytes(content)
    assert await fault(path, "ro", "SELECT * FROM texts") == "damaged"


async def test_a_file_that_may_not_grow_is_full(path):
    async with connected(path, "rw", 1.0) as connection:
        await connection.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.Error) as failure:
            await connection.execute("INSERT INTO texts VALUES (zeroblob(100000))")
    assert fault_of(failure.value) == "full"


async def test_a_wrong_statement_is_no_fault_of_the_file(path):
    assert await fault(path, "ro", "SELECT nothing FROM texts") == "unknown"
