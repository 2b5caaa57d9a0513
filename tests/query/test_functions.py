"""Our LIKE and GLOB, for Python 3.10, answer as SQLite's own do and take no time squared."""

import sqlite3
import time
from contextlib import closing
from itertools import product

import pytest

from ttnn_mcp.query.functions import add_matching

TEXTS = ["", "a", "A", "ab", "abc", "aXbXc", "aaab", "a%b", "a_b", "[a]", "a-c", "line\nbreak", "ÄäA", "xyzzy", "]"]
LIKES = ["", "%", "_", "a%", "%a", "%b%", "a_c", "A%C", "%%", "_%_", "a%b%c", "%a%b", "ab%b", "Ä%", "%\n%", "a%a"]
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
]


@pytest.fixture
def ours():
    with closing(sqlite3.connect(":memory:")) as connection:
        add_matching(connection, 200)
        yield connection


@pytest.fixture
def sqlites():
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


@pytest.mark.parametrize(("word", "patterns"), [("LIKE", LIKES), ("GLOB", GLOBS)])
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
