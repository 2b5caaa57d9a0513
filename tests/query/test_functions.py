"""Our text functions, and LIKE and GLOB for Python 3.10, answer as SQLite's own do and take no time squared."""

import sqlite3
import time
from contextlib import closing
from itertools import product

import pytest

from tests.for_all import for_all
from ttnn_mcp.query.functions import add_functions, add_matching

TEXTS = [
    "",
    "a",
    "A",
    "ab",
    "abc",
    "aXbXc",
    "aaab",
    "a%b",
    "a_b",
    "[a",
    "[a]",
    "a-c",
    "line\nbreak",
    "ÄäA",
    "xyzzy",
    "]",
]
LIKES = [
    "",
    "%",
    "_",
    "a%",
    "%a",
    "%b%",
    "a_c",
    "A%C",
    "%%",
    "_%_",
    "a%b%c",
    "%a%b",
    "ab%b",
    "Ä%",
    "ä%",
    "line_break",
    "%\n%",
    "a%a",
]
GLOBS = [
    "",
    "*",
    "?",
    "a*",
    "*b",
    "[a-c]*",
    "[^a]*",
    "[]]",
    "a[X-Z]b*",
    "A*",
    "[[]a]",
    "[a",
    "*[b-c]",
    "a*b*c",
    "[^]]",
    "[]",
    "[^]",
    "line?break",
]
EXPRESSIONS = (
    *(f"instr({part})" for part in ("'abcabc', 'c'", "'abc', 'x'", "'abc', ''", "NULL, 'o'", "'None', NULL")),
    *(f"instr({part})" for part in ("1234, 3", "x'616263', 'c'", "'abc', x'63'")),
    *(f"replace({part})" for part in ("'aXbX', 'X', '--'", "'abc', '', 'x'", "1212, 1, 9", "x'6162', 'b', x'63'")),
    *(f"replace({part})" for part in ("NULL, 'N', 'b'", "'aNone', NULL, 'b'", "'ab', 'b', NULL")),
    *(f"{name}('  a b ')" for name in ("trim", "ltrim", "rtrim")),
    *(f"{name}('xyaxayx', 'yx')" for name in ("trim", "ltrim", "rtrim")),
    *(f"{name}('xx', 'x')" for name in ("trim", "ltrim", "rtrim")),
    *(f"trim({part})" for part in ("NULL", "NULL, 'N'", "'None', NULL", "'', 'x'", "'xax', ''", "x'20612020'")),
)


@pytest.fixture
def ours():
    with closing(sqlite3.connect(":memory:")) as connection:
        add_matching(connection, 200)
        yield connection


@pytest.fixture
def bounded():
    with closing(sqlite3.connect(":memory:")) as connection:
        add_functions(connection, value_bytes=100, pattern_chars=200)
        yield connection


@pytest.fixture
def sqlites():
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


@for_all(("word", "patterns"), [("LIKE", LIKES), ("GLOB", GLOBS)])
def test_they_answer_as_sqlites_own(ours, sqlites, word, patterns):
    for text, pattern in product(TEXTS, patterns):
        both = [each.execute(f"SELECT ? {word} ?", (text, pattern)).fetchone()[0] for each in (ours, sqlites)]
        assert both[0] == both[1], (text, word, pattern)
    assert ours.execute(f"SELECT NULL {word} 'a', 'a' {word} NULL, 12 {word} '1' || '2'").fetchone() == (
        None,
        None,
        1,
    )


def test_a_long_pattern_is_refused(ours):
    with pytest.raises(sqlite3.Error, match=r"too big|user-defined function"):
        ours.execute("SELECT 'a' LIKE ?", ("%a" * 101,)).fetchone()


def test_many_parts_on_a_long_text_take_no_time_squared(ours):
    began = time.monotonic()
    assert ours.execute("SELECT ? LIKE ?", ("a" * 300_000, "%a" * 90 + "b")).fetchone()[0] == 0
    assert time.monotonic() - began < 5


def test_sets_are_read_as_sqlite_reads_them(ours, sqlites):
    texts = ["", "a", "b", "z", "-", "]", "[", "^", "a-", "[a", "]a", "*"]
    for signs in (signs for count in range(5) for signs in product("[]^-az", repeat=count)):
        pattern = "[" + "".join(signs)
        sql = f"SELECT {', '.join(f'{text!r} GLOB ?1' for text in texts)}"
        both = [each.execute(sql, (pattern,)).fetchone() for each in (ours, sqlites)]
        assert both[0] == both[1], pattern


@for_all("expression", EXPRESSIONS)
def test_text_functions_answer_as_sqlites_own(bounded, sqlites, expression):
    both = [each.execute(f"SELECT {expression}").fetchone()[0] for each in (bounded, sqlites)]
    assert both[0] == both[1]


@for_all(("count", "part"), [(50, "xx"), (100, "x")])
def test_a_text_that_grows_beyond_the_bound_is_refused(bounded, count, part):
    replaced = "SELECT replace(?, 'a', ?)"
    assert bounded.execute(replaced, ("a" * count, part)).fetchone()[0] == part * count
    with pytest.raises(sqlite3.Error, match=r"too big|user-defined function"):
        bounded.execute(replaced, ("a" * count + "b", part)).fetchone()


@for_all(
    "expression",
    ["instr(?1, ?2 || 'b')", "replace(?1, ?2 || 'b', 'c')", "trim(?2, replace(?2, 'a', 'b') || 'a')"],
)
def test_searching_long_texts_takes_no_time_squared(sqlites, expression):
    add_functions(sqlites, 8_000_000, 200)
    began = time.monotonic()
    sqlites.execute(f"SELECT {expression}", ("a" * 200_000, "a" * 100_000)).fetchone()
    assert time.monotonic() - began < 2
