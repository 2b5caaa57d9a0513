"""What a half-typed argument could become."""

import pytest

from ttnn_mcp.errors import RunUnknown
from ttnn_mcp.server import completions


async def ask(tool, given):
    answers = {
        "list_runs": {"runs": {"columns": ["id", "name"], "rows": [["ab12", "base"], ["cd34", "sharded"]]}},
        "list_ops": {
            "groups": {"columns": ["key", "count"], "rows": [["Matmul", 4], ["LayerNorm", 2]]},
            "ops": {"columns": ["op", "op_code"], "rows": [[57, "Matmul"], [9, "LayerNorm"]]},
        },
        "open_run": {"signposts": ["start", "stop"]},
    }
    if given.get("run") == "broken":
        raise RunUnknown("no such run")
    return answers[tool]


@pytest.mark.parametrize(
    ("argument", "options", "values"),
    [
        ("run", {}, ["ab12", "cd34", "demo"]),
        ("op", {}, ["Matmul", "LayerNorm"]),
        ("op", {"op_lines": True}, ["57", "9"]),
        ("signpost", {}, ["start", "stop"]),
        ("step", {}, ["1", "2", "3", "4", "5", "6", "7"]),
        ("target", {}, []),
    ],
)
async def test_each_argument_has_its_own_values(argument, options, values):
    assert await completions.candidates(ask, argument, {}, **options) == values


@pytest.mark.parametrize("argument", ["op", "signpost"])
async def test_a_run_that_cannot_be_opened_offers_nothing(argument):
    assert await completions.candidates(ask, argument, {"run": "broken"}) == []


def test_what_begins_as_typed_comes_before_what_contains_it():
    values = ["LayerNorm", "Matmul", "BatchNorm", "NormLayer", "Matmul"]
    assert completions.matching("norm", values) == ["NormLayer", "LayerNorm", "BatchNorm"]
    assert completions.matching("", values) == ["LayerNorm", "Matmul", "BatchNorm", "NormLayer"]
    assert completions.matching("zzz", values) == []
