"""The answers that a report is made of: which are asked, and which are left out with a sentence."""

from tests.asking import session
from tests.pairs import Model, write
from tests.profiles import write_memory_report
from tests.profiles.demo_model import demo_program
from tests.profiles.performance_csv import header_of, performance_rows, write_rows
from ttnn_mcp.report import answers
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import tool_named

NO_TIMES = "No performance report: no timeline, no budget, no findings."
NO_MEMORY = "No memory report: nothing about L1."


def test_a_run_with_both_reports_leaves_nothing_out(demo_answers):
    assert demo_answers.left_out == ()


async def test_without_a_memory_report_nothing_is_asked_about_l1(tmp_path):
    told = await answers_of(session(tmp_path), write(tmp_path / "run", Model()), None)
    assert (told.left_out, told.memory, told.levels) == ((NO_MEMORY,), None, None)
    assert told.ops
    assert told.budget


async def test_without_a_performance_report_nothing_is_asked_about_time(tmp_path):
    told = await answers_of(session(tmp_path), str(write_memory_report(tmp_path / "m", demo_program())), None)
    assert (told.left_out, told.ops, told.budget, told.check, told.stages) == ((NO_TIMES,), None, None, None, None)
    assert told.memory


async def test_a_performance_report_without_times_is_as_good_as_none(tmp_path):
    rows = performance_rows(Model().program())
    for row in rows:
        row["DEVICE KERNEL DURATION [ns]"] = ""
    path = tmp_path / "ops_perf_results_2026_01_01_00_00_00.csv"
    write_rows(path, rows, header_of(rows, "C7"))
    told = await answers_of(session(tmp_path), str(path), None)
    assert (told.left_out, told.ops, told.budget) == ((NO_TIMES, NO_MEMORY), None, None)


async def test_of_a_comparison_all_groups_are_asked_for_that_the_tool_gives(tmp_path, monkeypatch):
    asked = []

    async def noted(at, name, real=answers._ask, **arguments):
        asked.append((name, arguments.get("limit")))
        return await real(at, name, **arguments)

    monkeypatch.setattr(answers, "_ask", noted)
    slow, fast = (write(tmp_path / name, Model(up_ns=us)) for name, us in (("a", 90_000), ("b", 80_000)))
    await answers_of(session(tmp_path), fast, slow)
    limit = tool_named("compare_runs", TOOLS).input_schema["properties"]["limit"]
    (most,) = [kind["maximum"] for kind in limit.get("anyOf", [limit]) if "maximum" in kind]
    assert dict(asked)["compare_runs"] == most
