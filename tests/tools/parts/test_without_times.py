"""What list_ops says of a model that never ran on a device: predicted, and as far as laws of time reach."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.analyses.laws import asked as described
from tests.analyses.settings.graphs import MATMUL, TWO_D, graph, matmul, report
from tests.analyses.settings.test_printed_row import DRAM, EMPTY
from tests.asking import ask, session
from tests.shared_reports import shared
from tests.shell.test_shortage import ADD_ERROR, NO_L1
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.settings import unmeasured
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.tools.parts import without_times

ADD = f"operation_attributes_t(BinaryOpType::ADD, {EMPTY}<variant>, {DRAM}, "


@pytest.fixture
def told(tmp_path):
    async def of(*operations):
        return await ask(session(tmp_path), "list_ops", run=report(tmp_path / "memory", *operations))

    return of


def kinds(answer):
    return {row[0]: row[1:] for row in answer["predicted"]["kinds"]["rows"]}


async def test_ops_that_a_law_knows_have_its_time_and_all_others_their_least(told):
    rows = (1, 1, 4096, 2560)
    addition = graph("BinaryNgDeviceOperation", ADD, [rows, rows], rows)
    law = expected(described.many_rows(block_w=2))
    tiles = 4096 * 2560 // 1024
    added = expected(described.addition(tiles=tiles, dtype="BFLOAT16", out_dtype="BFLOAT16", cores=110))
    transposed = graph("TransposeDeviceOperation", f"TransposeParams(TransposeOpDim::WH, {DRAM}, ", [rows], rows)
    answer = await told(
        ("ttnn.linear", matmul(), {"program_config": TWO_D}),
        ("ttnn.linear", matmul(), {"program_config": TWO_D}),
        ("ttnn.add", addition, {}),
        ("ttnn.transpose", transposed, {}),
    )
    said, least_us = kinds(answer), 2 * 2 * 4096 * 2560 / 512e9 * 1e6
    assert said["Matmul"] == [
        2,
        2,
        *(pytest.approx(2 * us, abs=0.01) for us in (law.us, law.low_us, law.high_us)),
        None,
        None,
    ]
    assert said["Binary"] == [
        1,
        1,
        *(pytest.approx(us, abs=0.01) for us in (added.us, added.low_us, added.high_us)),
        None,
        None,
    ]
    assert said["Transpose"] == [1, 0, None, None, None, pytest.approx(least_us, rel=0.01), "no law of such an op"]
    predicted = answer["predicted"]
    assert predicted["at_least_us"] == pytest.approx(2 * law.low_us + added.low_us + least_us, rel=0.001)
    likely, high = 2 * law.us + added.us, 2 * law.high_us + added.high_us
    share = high / (high + least_us)
    assert predicted["why"].startswith("predicted, not measured: laws of time speak of 3 of 4 device ops: ")
    assert f": {likely:.0f} us (" in predicted["why"]
    assert f"{high:.0f}), at most {share:.0%} of the time; the others take {least_us:.0f} us" in predicted["why"]


async def test_without_a_law_no_time_is_told_and_without_an_op_nothing(told, tmp_path):
    alone = await told(("ttnn.x", graph("XDeviceOperation", "x(", [(32, 32)], (32, 32)), {}))
    assert alone["predicted"]["why"] == (
        "predicted, not measured: laws of time speak of 0 of 1 device ops; the others take 0 us at the very least"
    )
    plan = (await ask(session(tmp_path), "optimization_check", run=str(tmp_path / "memory")))["predicted"]
    assert plan.keys() == {"why", "others_at_least_us", "changes"}
    assert kinds(alone) == {"X": [1, 0, None, None, None, 0.37, "its graph does not print what a law asks for"]}


async def test_a_program_that_died_has_no_prediction(told):
    died = graph("MatmulDeviceOperation", MATMUL, [(1, 1, 64, 64)] * 2, (1, 1, 64, 64), ends=False)
    assert "predicted" not in await told(("ttnn.matmul", died, {}))


async def test_kinds_beyond_the_heaviest_are_counted(told):
    others = [("ttnn.x", graph(f"Op{one}DeviceOperation", "x(", [(32, 32)], (32, 32)), {}) for one in range(9)]
    predicted = (await told(*others))["predicted"]
    assert (len(predicted["kinds"]["rows"]), predicted["more_kinds"]) == (8, 1)


async def test_only_the_first_page_says_what_is_predicted(tmp_path):
    at, path = session(tmp_path), report(tmp_path / "m", *[("ttnn.linear", matmul(), {})] * 3)
    first = await ask(at, "list_ops", run=path, limit=2)
    assert first["predicted"] == (await ask(at, "list_ops", run=path))["predicted"]
    assert "predicted" not in await ask(at, "list_ops", run=path, limit=2, cursor=first["next_cursor"])


LLAMA = "../real/reports/llama_decode"  # a decode on a mock N150: its banked matmuls take deeper blocks


def records(table):
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def test_a_budget_of_a_memory_report_is_predicted_beside_its_ops_at_peak_rates(tmp_path):
    at, path = (
        session(tmp_path),
        report(tmp_path / "m", *[("ttnn.linear", matmul(), {"program_config": TWO_D})] * 2),
    )
    budget = await ask(at, "time_budget", run=path)
    listed = await ask(at, "list_ops", run=path)
    assert budget["predicted"] == listed["predicted"]
    assert (budget["verdict"], budget["why"]) == ("cannot_tell", listed["predicted"]["why"])
    engine_us = 2 * 2 * 2048**3 * 2 / (4096 * 110 * 1.35) / 1e3  # two of them at HiFi2 on a chip of 110 cores
    assert budget["predicted"]["at_peak_rates_us"] == pytest.approx(engine_us, rel=0.01)
    [(what, least_us, *shares, _why)] = budget["floors"]["rows"]
    assert (what, least_us, shares) == ("as_it_is", budget["predicted"]["at_peak_rates_us"], [None, None])
    assert not {"ledger", "window", "window_us", "kernel_us", "device"} & budget.keys()


async def test_what_needs_device_times_is_refused_and_nothing_is_predicted_without_an_op(tmp_path):
    at, died = (
        session(tmp_path),
        graph("MatmulDeviceOperation", MATMUL, [(1, 1, 64, 64)] * 2, (1, 1, 64, 64), ends=False),
    )
    none, one = (
        report(tmp_path / "none", ("ttnn.matmul", died, {})),
        report(tmp_path / "one", ("ttnn.linear", matmul(), {})),
    )
    for tool, name, value in (("time_budget", "picture", "window"), ("optimization_check", "steps", [2])):
        with pytest.raises(QuestionRefused, match=f"'{name}' needs device times"):
            await ask(at, tool, run=one, **{name: value})
        with pytest.raises(QuestionRefused, match="shows no device op that ran"):
            await ask(at, tool, run=none)
    with closing(sqlite3.connect(none)) as database, database:
        database.execute(ADD_ERROR, (1, "ttnn.matmul", "RuntimeError", NO_L1))
    with pytest.raises(QuestionRefused, match=r"^Run \w+ ran out of L1 .*\. It has no device times"):
        await ask(session(tmp_path), "time_budget", run=none)
    with pytest.raises(QuestionRefused, match="cursor"):
        await ask(at, "optimization_check", run=one, cursor="5-00000000")


async def test_what_changes_save_is_taken_off_the_total_the_most_first(tmp_path, monkeypatch):
    linear = ("ttnn.linear", matmul(), {"program_config": TWO_D})
    run = await session(tmp_path).run(report(tmp_path / "memory", linear, linear))

    async def changes(_run, ops, _most):
        now = ops[0].expected
        return [
            SimpleNamespace(
                ops=ops[:count], setting="made", now=1, value=count, before=now, then=replace(now, us=us)
            )
            for count, us in ((2, now.us - 5), (1, now.us - 20))
        ]

    monkeypatch.setattr(unmeasured, "promising_changes", changes)
    plan = await without_times.predicted_plan(run)
    columns = plan.changes.columns
    told = [dict(zip(columns, row, strict=True)) for row in plan.changes.rows]
    assert [(one["ops"], one["change"]) for one in told] == [(1, "made: 1 -> 1"), (2, "made: 1 -> 2")]
    assert [one["predicted_us"] - one["then_us"] for one in told] == pytest.approx([20, 10], abs=0.05)
    (_, before, *lowest), (_, after, *rest) = plan.total.rows
    assert (before - after, rest) == (pytest.approx(30, abs=0.05), lowest)
    assert await without_times.predicted_plan(run) is plan


async def test_a_plan_without_hardware_has_changes_that_fit_and_that_a_law_expects_to_be_faster(tmp_path):
    at, path = session(tmp_path), str(shared(LLAMA))
    answer = await ask(at, "optimization_check", run=path)
    assert not {"kernel_ms", "total", "plan", "window"} & answer.keys()
    assert answer["findings"] == []
    assert answer["trust"] == [
        f"the {len(CATALOGUE)} checks of the seven steps need device times: none of them was asked"
    ]
    plan = answer["predicted"]
    rows = records(plan["changes"])
    assert [(one["op"], one["ops"], one["change"]) for one in rows] == [
        (26, 4, "in0_block_w: 4 -> 8"),
        (32, 2, "in0_block_w: 7 -> 28"),
        (3, 2, "in0_block_w: 4 -> 8"),
        (21, 2, "in0_block_w: 4 -> 16"),
    ]
    before, after = records(plan["total"])
    for end in ("us", "low_us", "high_us"):
        total = "predicted_us" if end == "us" else end
        saved = sum(one[total] - one[f"then_{end}"] for one in rows)
        assert before[total] - after[total] == pytest.approx(saved, abs=0.05)
    for one in rows:
        assert one["then_low_us"] < one["then_us"] < one["then_high_us"] < one["predicted_us"]
        setting, _, now, _, value = one["change"].replace(":", " :").split()
        listed = await ask(at, "check_setting", run=path, op=one["op"], setting=setting)
        of_value = {choice["value"]: choice for choice in listed["choices"]}
        assert of_value[int(value)]["verdict"] == "fits"
        assert of_value[int(value)]["expected_us"] * one["ops"] == pytest.approx(one["then_us"], abs=0.05)
        assert of_value[int(now)]["expected_us"] * one["ops"] == pytest.approx(one["predicted_us"], abs=0.05)
        best = min((choice.get("expected_us", 1e9), choice["value"]) for choice in listed["choices"])
        assert f"; {best[1]}: predicted by a law, not measured: {best[0]:.1f} us (" in listed["expected"]
    single = await ask(at, "check_setting", run=path, op=26, setting="in0_block_w", value=8)
    assert single["expected"].endswith("; predicted by a law, not measured: 203.6 us (193.5 to 213.8)")
    assert "now_us" not in single


async def test_moves_that_can_be_left_out_stand_last_and_in_no_total(tmp_path, monkeypatch):
    path = str(demo_reports()[1])
    plan = (await ask(session(tmp_path), "optimization_check", run=path))["predicted"]
    none = [None] * 6
    first, second = (
        [11, "ShardedToInterleaved", "model.py:71", 1, "leave it out: round-trip, avoidable: certain", *none],
        [12, "InterleavedToSharded", "model.py:72", 1, "leave it out: round-trip, avoidable: certain", *none],
    )
    assert plan["changes"]["rows"] == [first, second]
    assert "more_changes" not in plan
    before, after = (row[1:] for row in plan["total"]["rows"])
    assert before == after
    monkeypatch.setattr(without_times, "CHANGES_SHOWN", 1)
    plan = (await ask(session(tmp_path), "optimization_check", run=path))["predicted"]
    assert (plan["changes"]["rows"], plan["more_changes"]) == ([first], 1)
