"""optimization_check: findings ranked by what they save, a status for every step, calls worth making next."""

from types import SimpleNamespace

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report, write_run
from tests.profiles.demo_model import demo_program
from tests.programs import block
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.tools import optimization_check as module
from ttnn_mcp.wire import bytes_of

pytestmark = pytest.mark.usefixtures("opened_once")


def rows_of(table):
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def test_the_plan_names_every_edit_and_adds_up(tmp_path):
    answer = await ask(session(tmp_path), "optimization_check", run="demo")
    plan, total = rows_of(answer["plan"]), answer["total"]
    assert [edit["rank"] for edit in plan] == [*range(1, len(plan) + 1)]
    assert len({edit["edit"] for edit in plan}) == len(plan) >= 3
    for edit in plan:
        assert 0 <= edit["then_us"] <= edit["alone_us"] <= total["before_us"]
        assert 0 < edit["share"] <= 1
        assert edit["alone_us"] >= 0.005 * total["before_us"]
        assert edit["where"]
    saved = sum(edit["then_us"] for edit in plan)
    assert (
        total["before_us"] - saved
        <= total["after_us"] + 0.005 * total["before_us"] * answer.get("smaller_edits", 0) + 1
    )
    assert total["floor_us"] <= total["after_us"] <= total["before_us"]
    named = sum(answer["unexplained_us"].values())
    assert total["after_us"] - total["floor_us"] == pytest.approx(named, abs=1)


async def test_each_finding_is_cited_and_bounded_and_belongs_to_an_edit(tmp_path):
    answer = await ask(session(tmp_path), "optimization_check", run="demo")
    first = rows_of(answer["plan"])[0]
    assert answer["findings"][0]["edit"] == first["edit"]
    for finding in answer["findings"]:
        assert finding["evidence"]
        assert finding["assumption"]
        assert finding["saving_us"]["at_least"] == 0  # nothing of the demo is sure; scripts read both bounds
        assert 0 < finding["saving_us"]["at_most"] <= answer["total"]["before_us"]
        assert finding["check"] in {check.id for check in CATALOGUE}
    assert [step["step"] for step in answer["steps"]] == [1, 2, 3, 4, 5, 6, 7]


async def test_the_findings_of_an_edit_are_given_by_its_name(tmp_path):
    at = session(tmp_path)
    plan = rows_of((await ask(at, "optimization_check", run="demo"))["plan"])
    last = plan[-1]["edit"]
    answer = await ask(at, "optimization_check", run="demo", details=[last])
    assert {finding["edit"] for finding in answer["findings"]} == {last}
    assert "plan" not in answer
    total = answer["total"]
    assert total["before_us"] - total["after_us"] == pytest.approx(plan[-1]["alone_us"], abs=0.02)
    with pytest.raises(TtnnMcpError, match=f"Did you mean '{last}'"):
        await ask(at, "optimization_check", run="demo", details=[f"{last}s"])


async def test_settings_are_those_of_the_edits_asked_for_and_stand_on_the_first_page(tmp_path):
    at = session(tmp_path)
    names = [edit["edit"] for edit in rows_of((await ask(at, "optimization_check", run="demo"))["plan"])]
    one = await ask(at, "optimization_check", run="demo", details=["conv-config"])
    assert {each["edit"] for each in rows_of(one["settings"])} == {"conv-config"}
    every = await ask(at, "optimization_check", run="demo", details=names)
    assert {each["edit"] for each in rows_of(every["settings"])} > {"conv-config"}
    following = await ask(at, "optimization_check", run="demo", details=names, cursor=every["next_cursor"])
    assert following["findings"]
    assert not {"settings", "plan", "total"} & following.keys()


async def test_only_the_steps_asked_for_are_answered(tmp_path):
    answer = await ask(session(tmp_path), "optimization_check", run="demo", steps=[4])
    assert [step["step"] for step in answer["steps"]] == [4]
    assert {finding["step"] for finding in answer["findings"]} == {4}


async def test_what_is_unexplained_does_not_depend_on_the_steps_asked_for(tmp_path):
    """Seven steps explain more than one: asked for one only, the others' findings are no mystery."""
    at = session(tmp_path)
    whole, narrow = [await ask(at, "optimization_check", run="demo", **how) for how in ({}, {"steps": [4]})]
    assert narrow["unexplained_us"] == whole["unexplained_us"]
    assert narrow["unexplained"] == whole["unexplained"]
    rows = rows_of(whole["unexplained"])
    assert 0 < sum(row["above_us"] for row in rows) <= sum(whole["unexplained_us"].values()) + 0.1
    assert await ask(at, "op_detail", run="demo", op=rows[0]["heaviest_op"])


@for_all("arguments", [{"steps": [9]}, {"steps": ["two"]}, {"min_saving_share": 1.5}])
async def test_a_question_without_an_answer_is_no_pass(tmp_path, arguments):
    with pytest.raises(TtnnMcpError):
        await ask(session(tmp_path), "optimization_check", run="demo", **arguments)


async def savings(at, **arguments):
    """What each check saves at most, over all pages."""
    saved, cursor = {}, None
    while cursor or not saved:
        page = await ask(at, "optimization_check", run="demo", cursor=cursor, **arguments)
        saved |= {finding["check"]: finding["saving_us"]["at_most"] for finding in page["findings"]}
        cursor = page.get("next_cursor")
    return saved, page["kernel_ms"] * 1000


async def test_a_higher_bar_drops_small_savings_and_keeps_risks(tmp_path):
    at = session(tmp_path)
    all_of_them, kernel_us = await savings(at, min_saving_share=0)
    high, _ = await savings(at, min_saving_share=0.2)
    small = {check for check, at_most in all_of_them.items() if 0 < at_most < 0.2 * kernel_us}
    assert len(small) > 3
    assert not small & set(high)
    assert {"stalled-on-host", "late-free"} <= set(high)  # the one saves more, the other is a risk


async def test_the_next_call_leads_to_the_op_of_the_first_finding_which_names_its_page(tmp_path):
    at = session(tmp_path)
    answer = await ask(at, "optimization_check", run="demo")
    (call,) = answer["next"]
    assert call["tool"] == "op_detail"
    assert await ask(at, "op_detail", **call["arguments"])
    assert await ask(at, "skill_step", page=answer["findings"][0]["read_next"].removesuffix(".md"))


async def test_without_findings_there_is_nothing_to_call_next(tmp_path):
    answer = await ask(session(tmp_path), "optimization_check", run="demo", steps=[7])
    assert (answer["findings"], answer.get("next", [])) == ([], [])


async def test_findings_fill_the_room_of_an_answer_and_the_plan_stands_on_the_first_page(tmp_path):
    at, every = session(tmp_path), {"run": "demo", "min_saving_share": 0}
    answer = await ask(at, "optimization_check", **every)
    assert 4_500 < bytes_of(answer) <= 6_300
    following = await ask(at, "optimization_check", cursor=answer["next_cursor"], **every)
    assert following["findings"]
    assert not {"plan", "total", "steps"} & following.keys()


@for_all(("lost", "trust"), [((), "abcd"), (("x", "a"), "xabc"), (("v", "w", "x", "y", "a"), "vwxyab")])
def test_lost_columns_come_first_and_leave_room_for_one_caveat(monkeypatch, lost, trust):
    monkeypatch.setattr(module, "caveats_of", lambda _: ("c", "d", "e", "f"))
    report, chip = SimpleNamespace(csv=SimpleNamespace(lost=lost)), SimpleNamespace(caveats=("a", "b"))
    run = SimpleNamespace(memory=None, chip=chip, performance_report=report)
    assert module._trust(run, None) == [*trust]


async def test_a_cold_window_sends_the_reader_to_profile_again(tmp_path):
    path = write_performance_report(tmp_path / "perf", demo_program(), [Iteration(cold=True)])
    answer = await ask(session(tmp_path), "optimization_check", run=str(path))
    assert not answer["window"]["warm"]
    assert "how to profile warm" in [call["why"] for call in answer["next"]]


async def test_a_run_that_died_is_no_clean_step_3(tmp_path):
    program = block()
    program.fail("Out of Memory: Not enough space to allocate 65536 B L1 buffer across 64 banks")
    made = write_run(tmp_path / "home", program, [Iteration(), Iteration()])
    at = session(tmp_path)
    await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name="died")
    answer = await ask(at, "optimization_check", run="died", steps=[3])
    assert "the run died in" in answer["trust"][0]
    (step,) = answer["steps"]
    unsure = step["why"].partition("cannot tell: ")[2]
    for check in ("l1-pressure", "late-free", "long-lived-l1-tensor", "weights-in-l1"):
        assert check in unsure


async def test_a_wall_time_is_the_whole_of_the_plan_and_lets_expect_a_part_of_the_trace(tmp_path):
    at = session(tmp_path)
    without = await ask(at, "optimization_check", run="demo")
    answer = await ask(at, "optimization_check", run="demo", wall_ms=1.3)
    host = (await ask(at, "host_overhead", run="demo", wall_ms=1.3))["trace_saving_ms"]
    total, plan = answer["total"], {edit["edit"]: edit for edit in rows_of(answer["plan"])}
    assert (total["of"], total["before_us"]) == ("kernels and gaps", 1300)
    trace = plan["trace"]
    ends = [trace[name] for name in ("expected_us", "low_us", "high_us", "alone_us")]
    assert ends == pytest.approx(
        [1000 * ms for ms in (host["expected"], *host["interval"], host["at_most"])], abs=1
    )
    assert trace["basis"] == "cases"
    saved = sum(edit["then_us"] for edit in plan.values())
    assert total["before_us"] - saved == pytest.approx(
        total["after_us"], abs=0.005 * 1300 * answer.get("smaller_edits", 0) + 1
    )
    assert total["floor_us"] <= total["after_us"] <= total["expected_after_us"] <= total["before_us"]
    assert all(edit["expected_us"] is None or edit["expected_us"] <= edit["alone_us"] for edit in plan.values())
    assert [total[name] for name in ("floor_us", "speed_of_light_us")] == [
        without["total"][name] for name in ("floor_us", "speed_of_light_us")
    ]
    assert await ask(at, "optimization_check", run="demo") == without


async def test_a_wall_that_kernels_fill_makes_step_4_clean_and_says_why(tmp_path):
    answer = await ask(session(tmp_path), "optimization_check", run="demo", wall_ms=1.153)
    (step,) = [step for step in answer["steps"] if step["step"] == 4]
    assert step["status"] == "clean"
    assert "; stalled-on-host: kernels fill 90% of wall_ms 1.153: longer gaps of the profile" in step["why"]
    assert "trace" not in {edit["edit"] for edit in rows_of(answer["plan"])}
    assert answer["total"]["before_us"] == 1153


async def test_a_wall_time_goes_on_with_the_next_page_and_with_details(tmp_path):
    at = session(tmp_path)
    cursor = (await ask(at, "optimization_check", run="demo", wall_ms=1.3))["next_cursor"]
    assert (await ask(at, "optimization_check", run="demo", wall_ms=1.3, cursor=cursor))["findings"]
    with pytest.raises(TtnnMcpError, match="other"):
        await ask(at, "optimization_check", run="demo", wall_ms=1.4, cursor=cursor)
    detailed = await ask(at, "optimization_check", run="demo", wall_ms=1.3, details=["trace"])
    assert detailed["findings"][0]["claim"].startswith("kernels fill 80% of wall_ms 1.3: 262 us are left")
    assert detailed["total"]["before_us"] == 1300


@for_all("tool", ["optimization_check", "host_overhead"])
@for_all(
    ("wall_ms", "why"),
    [
        (0, "'wall_ms' is more than 0"),
        (-1.0, "'wall_ms' is more than 0"),
        (float("inf"), "'wall_ms' is a finite number"),
        (float("nan"), "'wall_ms' is a finite number"),
        ("long", "'wall_ms' is a number"),
        (1.03, r"wall_ms 1.03 is below the 1.038 ms of kernels in this window: it belongs to other rows"),
    ],
)
async def test_a_wall_time_that_cannot_be_is_refused(tmp_path, tool, wall_ms, why):
    with pytest.raises(TtnnMcpError, match=why):
        await ask(session(tmp_path), tool, run="demo", wall_ms=wall_ms)


async def test_a_memory_report_alone_has_no_use_for_a_wall_time(tmp_path):
    made = write_run(tmp_path / "x", demo_program(), [Iteration()])
    with pytest.raises(TtnnMcpError, match="'wall_ms' needs device times"):
        await ask(session(tmp_path), "optimization_check", run=str(made.memory), wall_ms=1.3)


@for_all(("unknown_ns", "told"), [(7_400, False), (7_500, True)])
async def test_a_floor_of_less_than_95_percent_of_the_kernels_says_so(tmp_path, unknown_ns, told):
    """An op of a kind never seen takes 4.98 or 5.05 % of the kernel time."""
    program = Program("wormhole_b0")
    x, weights = program.tensor([1, 1, 2048, 2048]), program.weight([1, 1, 2048, 2048])
    program.op("MatmulDeviceOperation", [x, weights], shape=[1, 1, 2048, 2048], kernel_ns=141_000, fidelity="HiFi2")
    program.op("NeverSeenDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=unknown_ns)
    run = str(write_performance_report(tmp_path, program, (Iteration(cold=True), Iteration())))
    share = (await ask(session(tmp_path), "optimization_check", run=run))["total"].get("modelled_share")
    assert share == (pytest.approx(141_000 / (141_000 + unknown_ns), abs=1e-4) if told else None)
