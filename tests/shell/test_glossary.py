"""`--explain WORD`: what a word of an answer means."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.people import explained


@for_all(
    ("word", "terms"),
    [
        ("speed of light", ["speed of light, as it is"]),
        ("as_it_is", ["speed of light, as it is"]),
        ("roles", ["layer, role"]),
        ("Start  Skew", ["skew, start skew"]),
        ("C5", ["generation"]),
        ("G10", ["generation"]),
        ("above_bounds", ["above bounds"]),
        ("only_computing", ["only reading, only computing, only writing"]),
        ("no_edit", ["near floor, after edits, no edit, no floor known"]),
        ("gaps", ["gap"]),
        ("bound", ["bound (of a saving)", "bound (of an op)"]),
        ("report", ["performance report", "memory report"]),
    ],
)
def test_a_word_is_told_by_the_terms_that_are_it_else_hold_it(word, terms):
    assert [line.partition(": ")[0] for line in explained(word).splitlines()] == terms


def test_pages_are_files_at_a_shell():
    assert explained("C5").endswith("see resources/formats.md.")


def test_a_word_that_nobody_explains_is_refused_with_the_nearest():
    with pytest.raises(ArgumentsInvalid, match=r"The glossary has no 'rooflyne'\. Did you mean roofline"):
        explained("rooflyne")
    for word in ("", "term", "C500"):
        with pytest.raises(ArgumentsInvalid):
            explained(word)


def test_a_command_explains_without_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "--explain", "trial"]) == 0
    assert capsys.readouterr().out.startswith("trial: An edit whose saving ")
