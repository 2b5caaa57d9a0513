"""No cell of a performance report ends in anything but a typed answer or our own sentence, and soon."""

import json
import math
import time

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.hostile.csv_cells import doubled, filled, renamed, spoiled
from tests.shared_reports import SHARED
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.tools import TOOLS

ABSURD = ("inf", "-inf", "1e308", "-1e308", "9" * 40, "9223372036854775807", "18446744073709551615", "-1", "0.5")
NUMBERS = ("DEVICE ID", "CORE COUNT", "AVAILABLE WORKER CORE COUNT", "GLOBAL CALL COUNT", "OP TO OP LATENCY [ns]",
           "DEVICE KERNEL DURATION [ns]", "DEVICE FW END CYCLE", "METAL TRACE ID", "PM IDEAL [ns]")  # fmt: skip
SECONDS = 10


def tools_of_a_run():
    return [
        tool.name
        for tool in TOOLS
        if "run" in tool.arguments.model_fields
        and not tool.input_schema.get("required")
        and tool.name != "skill_step"
    ]


async def every_answer(path, state):
    """What every tool answers of the report; refusals count as answers, anything else raises."""
    at = session(state)
    answers = {}
    for name in tools_of_a_run():
        began = time.monotonic()
        try:
            answers[name] = await ask(at, name, run=str(path))
        except TtnnMcpError as refusal:
            answers[name] = str(refusal)
        assert time.monotonic() - began < SECONDS, name
        json.dumps(answers[name], allow_nan=False).encode()
    compared = await ask(at, "compare_runs", baseline=str(path), candidate=str(path))
    json.dumps(compared, allow_nan=False)
    return {**answers, "compare_runs": compared}


def numbers_in(answer):
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple)):
        return [number for part in answer for number in numbers_in(part)]
    return [answer] if isinstance(answer, (int, float)) else []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("column", NUMBERS)
async def test_a_value_that_cannot_be_true_is_not_measured_and_counted(tmp_path, column):
    for text in ("inf", "9" * 40):
        answers = await every_answer(filled(tmp_path, column, text=text, every=3, devices=2), tmp_path / text)
        assert any(column in caveat and "cannot be true" in caveat for caveat in answers["open_run"]["caveats"])
        values = numbers_in({name: answer for name, answer in answers.items() if name != "query_run"})
        assert all(math.isfinite(value) and abs(value) < 2**53 for value in values)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", ABSURD)
@pytest.mark.parametrize("columns", [("DEVICE ID",), ("CORE COUNT", "OP TO OP LATENCY [ns]")])
async def test_no_absurd_number_breaks_a_tool(tmp_path, columns, text):
    await every_answer(filled(tmp_path, *columns, text=text, every=2), tmp_path / "state")


async def test_one_blank_device_id_leaves_one_op_out_and_says_so(tmp_path):
    def blank(rows):
        rows[2]["DEVICE ID"] = ""

    answers = await every_answer(spoiled(tmp_path, blank, devices=2), tmp_path / "state")
    assert "1 device ops have no DEVICE ID and are left out" in answers["open_run"]["caveats"]
    assert answers["open_run"]["devices"] == [0, 1]


async def test_a_report_without_any_device_id_is_that_of_one_device(tmp_path):
    answers = await every_answer(filled(tmp_path, "DEVICE ID", text=""), tmp_path / "state")
    assert any("all ops count as one device's" in caveat for caveat in answers["open_run"]["caveats"])
    whole = await every_answer(spoiled(tmp_path / "whole", lambda rows: None), tmp_path / "other")
    assert answers["open_run"]["kernel_ms"] == whole["open_run"]["kernel_ms"]


@for_all(
    ("old", "new", "told"),
    [
        ("METAL TRACE ID", "TRACE ID", "METAL TRACE ID and TRACE ID are the same column"),
        ("CORE COUNT", "CORE COUNT", "column CORE COUNT stands 2 times"),
        ("OP CODE", "OP CODE", "column OP CODE stands 2 times"),
        ("INPUT_0_MEMORY", "INPUT_0_MEMORY", "column INPUT_0_MEMORY stands 2 times"),
    ],
)
async def test_a_column_that_stands_twice_is_read_once(tmp_path, old, new, told):
    answers = await every_answer(doubled(tmp_path, old, new), tmp_path / "state")
    assert any(told in caveat for caveat in answers["open_run"]["caveats"])
    whole = await every_answer(spoiled(tmp_path / "whole", lambda rows: None), tmp_path / "other")
    assert answers["list_ops"]["ops"] == whole["list_ops"]["ops"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "columns", [("OP CODE",), ("ATTRIBUTES", "SUB DEVICE ID"), ("MATH FIDELITY", "INPUT_0_DATATYPE")]
)
@pytest.mark.parametrize("text", ["12345", "1.5", "True", "\u202e\u200b", "=1+1", "A" * 200_000])
async def test_texts_of_digits_and_long_texts_are_texts(tmp_path, columns, text):
    answers = await every_answer(filled(tmp_path, *columns, text=text), tmp_path / "state")
    assert isinstance(answers["list_ops"], dict)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", ["9" * 18, "999999999999999999[999999999999999999]", "4294967296", "0", "-5", "x"])
async def test_ops_with_shapes_that_no_chip_could_hold_are_doubted(tmp_path, text):
    def spoil(rows):
        for row in rows:
            for name in [name for name in row if name.startswith("INPUT_0_") and "_PAD" in name]:
                row[name] = text

    answers = await every_answer(spoiled(tmp_path, spoil), tmp_path / "state")
    if text.startswith(("9", "4", "0")):
        assert any(doubt.startswith("shapes_lost: ") for doubt in answers["open_run"]["window"]["doubts"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "column",
    [
        "MATH FIDELITY",
        "CORE COUNT",
        "OP TO OP LATENCY [ns]",
        "INPUT_0_MEMORY",
        "DEVICE ID",
        "OP TYPE",
        "ATTRIBUTES",
    ],
)
@pytest.mark.parametrize("renaming", [None, "{} X"])
async def test_a_lost_column_is_told_with_what_it_costs(tmp_path, column, renaming):
    new = renaming.format(column) if renaming else None
    answers = await every_answer(renamed(tmp_path, column, new), tmp_path / "state")
    beginning = f"no {column} (a column '{new}' is there): " if new else f"no {column}: "
    assert any(caveat.startswith(beginning) for caveat in answers["open_run"]["caveats"])
    assert any(caveat.startswith(beginning) for caveat in answers["optimization_check"]["trust"])


@for_all("name", ["r21_hang_1096.csv", "r21_hang_2006.csv", "r21_hang_40031.csv"], sampled=3)
async def test_files_that_once_held_a_call_for_good_are_answered(tmp_path, name):
    path = SHARED / "hostile" / name
    if not path.exists():
        pytest.skip("the hostile reports are not beside this checkout")
    answer = await every_answer(path, tmp_path)
    assert answer["optimization_check"]["findings"]
