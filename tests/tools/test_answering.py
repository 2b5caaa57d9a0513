"""The door: what it prepares, refuses and fits for every tool alike."""

import asyncio
import threading

import pytest

from tests.archive.runs import remembering
from tests.asking import ask, call, required, session
from tests.for_all import for_all
from tests.profiles import (
    Iteration,
    header_of,
    performance_rows,
    write_memory_report,
    write_performance_report,
    write_rows,
    write_run,
)
from tests.programs import block
from ttnn_mcp.analyses.memory import replay
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused
from ttnn_mcp.experiments.outlook import outlook_of
from ttnn_mcp.tools import TOOLS, answering
from ttnn_mcp.tools.parts import loop_story, memory_errors
from ttnn_mcp.tools.tool import Arguments, Tool
from ttnn_mcp.wire import Wire, bytes_of


@pytest.fixture
def replays(monkeypatch):
    """The runs whose memory was replayed, one entry for each replay."""
    runs, replayed = [], replay._replay

    async def counted(run, memory):
        runs.append(run.name)
        return await replayed(run, memory)

    monkeypatch.setattr(replay, "_replay", counted)
    return runs


async def test_eight_callers_share_one_replay(tmp_path, replays):
    at = session(tmp_path)
    answers = await asyncio.gather(*(ask(at, "optimization_check", run="demo") for _ in range(8)))
    assert replays == ["demo"]
    assert all(each == answers[0] for each in answers)


async def test_a_comparison_and_a_summary_share_one_replay_of_each_run(tmp_path, replays):
    at = session(tmp_path)
    for name, layers in (("before", 2), ("after", 3)):
        made = write_run(tmp_path / name, block(layers=layers))
        await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name=name)
    questions = [ask(at, "memory_summary", run=name) for name in ("before", "after")]
    compared = [ask(at, "compare_runs", baseline="before", candidate="after") for _ in range(2)]
    await asyncio.gather(*questions, *compared)
    assert sorted(replays) == ["after", "before"]


async def test_memory_is_replayed_where_there_is_some_and_the_question_needs_it(tmp_path, replays):
    at = session(tmp_path)
    csv = str(write_performance_report(tmp_path / "perf", block(), (Iteration(), Iteration())))
    await ask(at, "optimization_check", run=csv)
    await ask(at, "list_ops", run="demo")
    assert replays == []


async def test_the_loop_and_the_check_say_the_same_of_one_run(tmp_path, monkeypatch):
    """Experiments diagnosed without the memory replay, and could not tell what optimization_check had found."""
    outlooks = []
    monkeypatch.setattr(
        loop_story, "outlook_of", lambda *run, **more: outlooks.append(outlook_of(*run, **more)) or outlooks[-1]
    )
    at = session(tmp_path)
    run = await at.run("demo")
    baseline = str(run.performance.csv.path.parent)
    await ask(at, "open_run", performance=baseline, memory=str(run.memory.path), name="pair")
    checked = await ask(at, "optimization_check", run="pair")
    loop = session(tmp_path)
    await ask(loop, "experiments", action="target", target="0.5 ms", baseline="pair")
    assert any("late-free" in step["why"] for step in checked["steps"])  # known only once memory is replayed
    assert [step.spoken() for step in outlooks[0].steps] == checked["steps"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS if tool.about != "session" and not tool.awaited], ids=lambda tool: tool.name
)
async def test_a_tool_is_asked_off_the_event_loop(tool, tmp_path, monkeypatch):
    seen = []

    def spied(*subject):
        seen.append(threading.current_thread())
        return tool.ask(*subject)

    given = required(tool, "demo", 67)
    probe = type("Probe", (), {name: getattr(tool, name) for name in type(tool).__slots__} | {"ask": spied})
    await answering.answer(session(tmp_path), probe, given)
    assert seen
    assert threading.main_thread() not in seen


async def test_what_has_threads_of_its_own_is_asked_on_the_event_loop(tmp_path):
    """So that a caller who stops waiting ends it."""
    seen = []
    tool = answering.tool_named("query_run", TOOLS)

    def spied(*subject):
        seen.append(threading.current_thread())
        return tool.ask(*subject)

    probe = type("Probe", (), {name: getattr(tool, name) for name in type(tool).__slots__} | {"ask": spied})
    await answering.answer(session(tmp_path), probe, required(tool, "demo", 67))
    assert seen == [threading.main_thread()]


async def test_a_run_without_what_a_tool_needs_is_refused_in_one_voice(tmp_path):
    memory = str(write_memory_report(tmp_path / "memory", block()))
    csv = str(write_performance_report(tmp_path / "perf", block(), (Iteration(), Iteration())))
    at = session(tmp_path)
    for tool in TOOLS:
        if "performance" not in tool.needs or tool.alone is not None:
            continue
        with pytest.raises(QuestionRefused, match=f"no performance report, and {tool.name} needs device times"):
            await ask(at, tool.name, **required(tool, memory, 2))
    with pytest.raises(QuestionRefused, match="no memory report"):
        await ask(at, "memory_summary", run=csv)
    card = await ask(at, "open_run", memory=memory)
    assert "memory_summary" in card["answerable"]
    assert "host_overhead: no device times" in card["not_answerable"]


def test_tools_need_the_reports_that_they_speak_of():
    """All need device times but these: so does a new tool, until it is named here."""
    needs = {tool.name: tool.needs for tool in TOOLS if tool.needs != ("performance",)}
    loose = ("list_runs", "open_run", "replay_op", "experiments", "history", "skill_step")
    assert needs == {**dict.fromkeys(loose, ()), "memory_summary": ("memory",), "query_run": ("either",)}


async def test_memory_that_ran_out_is_told_before_what_a_run_lacks(tmp_path, monkeypatch):
    at = session(tmp_path)
    memory = str(write_memory_report(tmp_path / "memory", block()))

    async def ending(_):
        return memory_errors.Ending("ran out of L1 in ttnn.linear", None)

    monkeypatch.setattr(memory_errors, "ending_of", ending)
    with pytest.raises(QuestionRefused, match=r"^Run \w+ ran out of L1 in ttnn\.linear\. .*no performance report"):
        await ask(at, "host_overhead", run=memory)
    monkeypatch.undo()
    with pytest.raises(QuestionRefused, match=r"^Run \w+ has no performance report"):
        await ask(at, "host_overhead", run=memory)


async def test_the_shell_gets_all_findings_and_rows_by_their_names(tmp_path, monkeypatch):
    at, begun = session(tmp_path), []
    monkeypatch.setattr(at.archiving, "begin", lambda: begun.append("archiving"))
    tool = answering.tool_named("optimization_check", TOOLS)
    whole = await answering.all_findings(at, tool, {"run": "demo"})
    page, _ = await answering.answer(at, tool, {"run": "demo"})
    assert begun == ["archiving"] * 2
    assert len(whole["findings"]) > len(page["findings"])
    rows = answering.records(whole["plan"])
    assert [row["edit"] for row in rows] == [
        row[whole["plan"]["columns"].index("edit")] for row in whole["plan"]["rows"]
    ]


async def test_what_is_answerable_is_read_off_the_tools(tmp_path):
    card = await ask(session(tmp_path), "open_run", run="demo")
    declared = [tool.name for tool in TOOLS if tool.needs]
    assert card["answerable"] == declared
    assert card["not_answerable"] == []
    about_no_report = {tool.name for tool in TOOLS} - {*declared}
    listed = {"experiments", "history", "list_runs", "open_run", "replay_op", "skill_step"}
    assert about_no_report == listed, (
        "say in `needs` of the tool which report it reads; if none, name the tool here"
    )


ALSO_ALONE = {
    *("check_setting", "list_ops", "op_detail", "sharding_summary", "reshard_detect"),
    *("optimization_check", "time_budget"),
}
TIMED = {tool.name for tool in TOOLS if tool.needs == ("performance",)} - ALSO_ALONE
NO_TIMES, NO_MEMORY = "no device times", "memory_summary: no memory report"


async def test_what_one_report_alone_answers(tmp_path):
    at = session(tmp_path)
    memory = str(write_memory_report(tmp_path / "memory", block()))
    card = await ask(at, "open_run", memory=memory)
    answerable = {*ALSO_ALONE, "memory_summary", "query_run"}
    assert {*card["answerable"]} == answerable, "name a tool with `alone` in ALSO_ALONE"
    assert {*card["not_answerable"]} == {f"{name}: {NO_TIMES}" for name in TIMED}
    warm = str(write_performance_report(tmp_path / "warm", block(), (Iteration(cold=True), Iteration())))
    card = await ask(at, "open_run", performance=warm)
    assert {*card["answerable"]} == {*TIMED, *ALSO_ALONE, "query_run"}
    assert card["not_answerable"] == [NO_MEMORY]
    cold = str(write_performance_report(tmp_path / "cold", block(), (Iteration(cold=True),)))
    card = await ask(at, "open_run", performance=cold)
    assert card["not_answerable"] == [NO_MEMORY, "host_overhead.verdict: no warm iteration"]


async def test_a_report_of_host_rows_alone_answers_sql(tmp_path):
    rows = performance_rows(block(), (Iteration(host_rows=("python_fallback",)),))
    host = [row for row in rows if not row.get("DEVICE KERNEL DURATION [ns]")]
    csv = str(write_rows(tmp_path / "ops_perf_results_1.csv", host, header_of(rows, "C7")))
    card = await ask(session(tmp_path), "open_run", performance=csv)
    assert card["answerable"] == ["query_run"]
    assert {*card["not_answerable"]} == {NO_MEMORY, *(f"{name}: {NO_TIMES}" for name in (*TIMED, *ALSO_ALONE))}


@for_all(
    ("arguments", "words"),
    [
        ({"steps": [9]}, "'steps' is 7 or less"),
        ({"steps": [0]}, "'steps' is 1 or more"),
        ({"steps": "x"}, "'steps' is a list"),
        ({"iteration": "lst"}, "'iteration' is last or all, or is a whole number"),
        ({"min_saving_share": "much"}, "'min_saving_share' is a number"),
        ({"min_saving_share": 2}, "'min_saving_share' is 1 or less"),
        ({"itration": 1}, r"unknown argument 'itration'. Did you mean iteration\?"),
        ({"qqq": 1}, "unknown argument 'qqq'."),
    ],
)
async def test_a_wrong_argument_is_explained_in_our_words(tmp_path, arguments, words):
    with pytest.raises(ArgumentsInvalid, match=words) as wrong:
        await ask(session(tmp_path), "optimization_check", run="demo", **arguments)
    for theirs in ("Input should", "parse", "unable", "valid integer"):
        assert theirs not in str(wrong.value)


async def test_a_misspelt_setting_names_the_nearest(tmp_path):
    with pytest.raises(
        ArgumentsInvalid, match=r"'setting' cannot be 'in0_blockw'\. Did you mean in0_block_w\?"
    ) as wrong:
        await ask(session(tmp_path), "check_setting", run="demo", op=57, setting="in0_blockw", value=2)
    assert "shard_layout" not in str(wrong.value)
    with pytest.raises(ArgumentsInvalid, match=r"is one of .*shard_layout"):  # nothing is near: all there are
        await ask(session(tmp_path), "check_setting", run="demo", op=57, setting="qqq", value=2)


@for_all("tool", [tool for tool in TOOLS if tool.budget], ids=lambda tool: tool.name, sampled=3)
async def test_an_answer_keeps_to_its_budget(tool, tmp_path):
    arguments = {"op": 57} if "op" in tool.arguments.model_fields else {}
    answer = await ask(remembering(tmp_path), tool.name, run="demo", **arguments)
    assert bytes_of(answer) <= tool.budget.size


class Long(Wire):
    text: str


@for_all(("size", "fits"), [(39_900, True), (40_100, False)])
async def test_an_answer_that_its_reader_could_not_take_is_refused(tmp_path, size, fits):
    tool = Tool("made", "Made", Arguments, Long, lambda *_: Long(text="x" * size))
    if fits:
        assert (await call(tool, session(tmp_path), {}))["text"] == "x" * size
        return
    with pytest.raises(QuestionRefused, match="has 40 kB, and at most 40 kB are sent"):
        await call(tool, session(tmp_path), {})


async def test_pages_of_a_list_join_to_the_whole(tmp_path):
    at, ops, cursor, page = session(tmp_path), [], None, None
    while page is None or cursor is not None:
        page = await ask(at, "list_ops", run="demo", sort="order", cursor=cursor)
        ops += [row[0] for row in page["ops"]["rows"]]
        cursor = page.get("next_cursor")
    assert len(ops) == page["total"]["count"] == len(set(ops))


@for_all("tool", ["list_ops", "reshard_detect", "sharding_summary"])
@for_all("asked", [{"iteration": 2}, {"start_signpost": "a"}, {"end_signpost": "b"}])
async def test_a_window_of_a_memory_report_alone_is_refused(tmp_path, tool, asked):
    memory = str(write_memory_report(tmp_path / "memory", block()))
    with pytest.raises(QuestionRefused, match=f"'{next(iter(asked))}' chooses rows of a performance report"):
        await ask(session(tmp_path), tool, run=memory, **asked)
