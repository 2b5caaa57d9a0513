"""What a half-typed argument could become."""

from tests import asking
from tests.asking import session
from tests.for_all import for_all
from tests.pairs import Model, write
from ttnn_mcp.errors import RunUnknown
from ttnn_mcp.server import offered_prompts

SPECIFIED = 100  # values of one completion, at most: modelcontextprotocol.io, utilities/completion


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


@for_all(
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
    assert await offered_prompts.candidates(ask, argument, {}, **options) == values


async def test_of_a_long_run_without_signposts_as_many_ops_are_offered_as_the_protocol_allows(tmp_path):
    run = write(tmp_path / "long", Model(layers=40))
    at = session(tmp_path)

    async def asked(tool, given):
        return await asking.ask(at, tool, **given)

    offered = await offered_prompts.candidates(asked, "op", {"run": run}, op_lines=True)
    assert len({*offered}) == SPECIFIED
    assert await offered_prompts.candidates(asked, "signpost", {"run": run}) == []


@for_all("argument", ["op", "signpost"])
async def test_a_run_that_cannot_be_opened_offers_nothing(argument):
    assert await offered_prompts.candidates(ask, argument, {"run": "broken"}) == []


def test_what_begins_as_typed_comes_before_what_contains_it():
    values = ["LayerNorm", "Matmul", "BatchNorm", "NormLayer", "Matmul"]
    assert offered_prompts.matching("norm", values) == ["NormLayer", "LayerNorm", "BatchNorm"]
    assert offered_prompts.matching("", values) == ["LayerNorm", "Matmul", "BatchNorm", "NormLayer"]
    assert offered_prompts.matching("zzz", values) == []
