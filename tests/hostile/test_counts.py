"""No count in a report makes an answer slow or long: devices, and scopes of one graph, in absurd numbers."""

import json
import sqlite3
import time
from contextlib import closing

import pytest

from tests.asking import ask, required, session
from tests.profiles import header_of, performance_rows, write_memory_report, write_rows
from tests.programs import block
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.tools import TOOLS

SECONDS = 10  # of CPU: other tests may run beside
ANSWER_BYTES = 10_000
MANY_DEVICES = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 200000)"


async def answers_of_all_tools(path, state, op):
    """What every tool about a run answers; of refusals their text, anything else raises."""
    at, answers = session(state), {}
    for tool in TOOLS:
        if "run" not in tool.arguments.model_fields:
            continue
        began = time.process_time()
        try:
            answers[tool.name] = await ask(at, tool.name, **{"run": str(path), **required(tool, str(path), op)})
        except TtnnMcpError as refusal:
            answers[tool.name] = str(refusal)
        assert time.process_time() - began < SECONDS, tool.name
    assert {
        name: len(json.dumps(said)) for name, said in answers.items() if len(json.dumps(said)) > ANSWER_BYTES
    } == {}
    return answers


@pytest.mark.slow
async def test_a_csv_of_thirty_thousand_devices_has_a_short_card(tmp_path):
    rows = performance_rows(block())
    columns = header_of(rows, "C7")
    op = next(row for row in rows if row["OP TYPE"] == "tt_dnn_device")
    many = [{**op, "DEVICE ID": str(n), "GLOBAL CALL COUNT": str(1024 * (n + 1))} for n in range(30_000)]
    path = write_rows(tmp_path / "ops_perf_results.csv", many, columns)
    card = (await answers_of_all_tools(path, tmp_path / "state", 2))["open_run"]
    assert len(card["devices"]) == len(card["kernel_ms_by_device"]["rows"]) == 64
    assert card["more_devices"] > 900


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["devices", "scopes"])
async def test_a_memory_report_of_absurd_counts_is_answered_by_every_tool(tmp_path, kind):
    path = write_memory_report(tmp_path / "report", block())
    with closing(sqlite3.connect(path)) as database, database:
        if kind == "devices":
            database.execute(
                f"{MANY_DEVICES} INSERT INTO devices (device_id, l1_num_banks) SELECT i + 9, 64 FROM n"
            )
        else:
            nodes = [{"node_type": "function_start", "params": {"name": f"f{n}"}} for n in range(20_000)]
            database.execute(
                "UPDATE captured_graph SET captured_graph = ? WHERE operation_id = 2", [json.dumps(nodes)]
            )
    answers = await answers_of_all_tools(path, tmp_path / "state", 2)
    for tool in ("open_run", "memory_summary", "op_detail", "list_ops", "query_run"):
        assert isinstance(answers[tool], dict), answers[tool]
    if kind == "devices":
        assert "only the first 2048 rows of devices are read" in answers["open_run"]["caveats"]
