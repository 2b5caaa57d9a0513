"""What a prompt says of a run, read from the answers of our tools."""

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.server.prompt_facts import known_facts

pytestmark = pytest.mark.usefixtures("opened_once")

TABLES = [
    {"columns": ["change", "verdict"], "rows": [["weights to BFLOAT8_B", "keep"]]},
    {"columns": ["id", "verdict", "pcc", "change"], "rows": [[7, "keep", 0.999, "weights to BFLOAT8_B"]]},
]


@for_all("log", TABLES)
async def test_past_changes_are_read_by_column_name_wherever_the_columns_stand(tmp_path, log):
    at = session(tmp_path)

    async def answered(tool, arguments):
        answer = await ask(at, tool, **arguments)
        return {**answer, "log": log} if tool == "experiments" else answer

    facts = await known_facts(answered, "demo")
    assert "* tried before: 'weights to BFLOAT8_B' -> keep" in facts
    assert "* run `demo` on wormhole_b0" in facts


def numbered(column, names):
    return {"columns": ["n", column, "verdict"], "rows": [[n, name, "keep"] for n, name in enumerate(names)]}


async def test_three_of_each_are_told_the_largest_findings_and_the_newest_changes(tmp_path):
    at = session(tmp_path)

    async def answered(tool, arguments):
        answer = await ask(at, tool, **arguments)
        plan = answer.get("plan", {"columns": ["edit"], "rows": [[""]]})
        first = dict(zip(plan["columns"], plan["rows"][0], strict=True))
        expecting = {"expected_us": 40.5, "basis": "law"}
        known = (
            expecting,
            {"basis": "5/9 gained elsewhere"},
            {"basis": "8/9 gained elsewhere", "if_gains_us": 12.5},
            {},
        )
        edits = [[*{**first, "edit": name, **more}.values()] for name, more in zip("wxyz", known, strict=True)]
        return {
            "experiments": {"log": numbered("change", ["a", "b", "c", "d"])},
            "open_run": {**answer, "caveats": ["one", "two", "three", "four"]},
            "optimization_check": {
                **answer,
                "plan": {**plan, "rows": edits},
            },
        }[tool]

    lines = (await known_facts(answered, "demo")).splitlines()
    assert [line[-3:] for line in lines if line.startswith("* caveat")] == ["one", "two", "ree"]
    assert [line[8] for line in lines if line.startswith("* edit")] == ["w", "x", "y"]
    trials = [line.partition("; ")[2].partition(", at most")[0] for line in lines if line.startswith("* edit")]
    assert trials == [
        "40.5 us expected",
        "a trial (5/9 gained elsewhere)",
        "a trial (8/9 gained elsewhere, about 12.5 us if it gains)",
    ]
    assert any(line.startswith("* the whole plan saves at most") for line in lines)
    assert [line[17] for line in lines if line.startswith("* tried before")] == ["b", "c", "d"]


async def test_a_run_that_cannot_be_read_is_said(tmp_path):
    async def refused(_tool, _arguments):
        raise ReportMissing("nothing there.")

    assert await known_facts(refused, "x") == "The run could not be read yet: nothing there.\n"


async def test_of_a_run_without_device_times_what_is_predicted_is_known():
    async def answered(tool, _arguments):
        return {"id": "r1"} if tool == "open_run" else {"predicted": {"why": "predicted, not measured: 3 us"}}

    facts = await known_facts(answered, "x")
    assert facts == "Known already of run `r1`: predicted, not measured: 3 us. It has no device times yet.\n"
