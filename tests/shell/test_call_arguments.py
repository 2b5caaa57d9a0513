"""The words after `ttnn-mcp call`, and the help about them."""

from typing import Literal

import pytest

from tests.fakes import count_ops
from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.shell import call_arguments
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import tool_named
from ttnn_mcp.tools.tool import Arguments, Tool

LIST_OPS = tool_named("list_ops", TOOLS)


class ManyArguments(Arguments):
    only: Literal["dram"] = "dram"
    some: list[int]
    either: Literal["last", "all"] | int = "last"


@for_all("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_help_of_a_tool_shows_every_argument(tool):
    text = call_arguments.usage(tool)
    for name in tool.arguments.model_fields.keys() - {"picture"}:  # a shell shows no images
        assert f"  {name} " in text
    assert "  picture " not in text


def test_values_are_json_where_they_can_be_and_else_strings():
    given = call_arguments.arguments(
        LIST_OPS, ["limit=5", "op_code=Matmul", "min_share=0.5", "iteration=last", "cursor=null"]
    )
    assert given == {"limit": 5, "op_code": "Matmul", "min_share": 0.5, "iteration": "last", "cursor": None}


@for_all("run", ["12345678", "12e45678", "true", "NaN", "[1]"])
def test_what_can_only_be_text_stays_text(run):
    assert call_arguments.arguments(LIST_OPS, [f"run={run}"]) == {"run": run}


def test_a_value_may_hold_the_equals_sign_and_spaces():
    assert call_arguments.arguments(LIST_OPS, ["op_code=a = b == c"]) == {"op_code": "a = b == c"}


@for_all(
    ("words", "says"),
    [
        (["demo"], "Write arguments as name=value; 'demo' has no '='"),
        (["device=1", "device=2"], r"'device' is given twice; for several values write device=\[1,2\]"),
        (["picture=cores"], "Images are sent to chats only"),
    ],
)
def test_a_word_that_says_nothing_is_refused(words, says):
    with pytest.raises(ArgumentsInvalid, match=says):
        call_arguments.arguments(tool_named("time_budget", TOOLS), words)


def test_text_may_be_nothing_and_may_stand_in_quotes():
    assert call_arguments.arguments(LIST_OPS, ["run=null"]) == {"run": None}
    assert call_arguments.arguments(LIST_OPS, ['run="12"']) == {"run": "12"}


def test_a_tool_without_pictures_is_asked_for_one_like_for_anything_else():
    assert call_arguments.arguments(LIST_OPS, ["picture=cores"]) == {"picture": "cores"}


def test_help_fits_a_terminal_of_100_columns_and_uses_it():
    pages = [call_arguments.listing(TOOLS), *map(call_arguments.usage, TOOLS)]
    assert 90 < max(len(line) for page in pages for line in page.splitlines()) <= 100


def test_the_help_of_a_tool_tells_what_a_value_may_be():
    lines = call_arguments.usage(Tool("many", "Many", ManyArguments, ManyArguments, count_ops)).splitlines()
    assert lines[0] == "usage: ttnn-mcp call many [name=value ...]"
    assert lines[-3:] == [
        '  only             dram (default "dram")',
        "  some             [integer, ...], required",
        '  either           last | all | integer (default "last")',
    ]
    assert "  category         string" in call_arguments.usage(LIST_OPS).splitlines()
