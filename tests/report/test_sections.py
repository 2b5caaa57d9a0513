"""The sections of a page: each stands where its answer does, and tells what a reader must know."""

import asyncio
from dataclasses import replace

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.report.reading import Page
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.page import comparison_section, page, resource
from ttnn_mcp.report.pictures import memory_section
from ttnn_mcp.report.sections import kinds_section, run_words, summary, window_words


@pytest.fixture(scope="module")
def demo(demo_answers):
    return demo_answers


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    before, after = (str(write(folder / name, Model(up_ns=us))) for name, us in (("a", 90_000), ("b", 80_000)))
    return asyncio.run(answers_of(session(folder), after, before))


def sections(answers):
    return [names["id"] for tag, names in Page(page(answers)).elements if tag == "section"]


def test_a_page_has_a_section_for_each_answer(demo, compared):
    assert sections(demo) == ["kinds", "plan", "time", "ops", "bounds", "memory", "budget", "findings"]
    assert sections(compared) == ["kinds", "plan", "against", "time", "ops", "bounds", "budget", "findings"]


@for_all(
    ("part", "gone"),
    [
        ("budget", {"budget"}),
        ("check", {"plan", "findings"}),
        ("memory", {"memory"}),
        ("ops", {"time", "ops", "bounds"}),
        ("kinds", {"kinds"}),
    ],
)
def test_what_cannot_be_answered_has_no_section(demo, part, gone):
    left = replace(demo, **{part: None})
    if part == "ops":
        left = replace(left, rooflines=None)
    assert {*sections(demo)} - {*sections(left)} == gone


def test_a_window_without_ops_has_no_pictures_of_them(demo):
    none = {**demo.ops, "ops": {**demo.ops["ops"], "rows": []}}
    left = replace(demo, ops=none, rooflines={**demo.rooflines, "rows": []}, stage_of_op=[], layer_of_op=[])
    assert sections(left) == ["kinds", "plan", "memory", "budget", "findings"]


def test_the_gaps_of_the_ledger_stand_among_the_kinds(demo, compared):
    gaps = next(row[1] for row in demo.budget["ledger"]["rows"] if row[0] == "gaps")
    assert f"<title>gaps {gaps:,.1f} us</title>" in kinds_section(demo)
    ledger = {**demo.budget["ledger"], "rows": [row for row in demo.budget["ledger"]["rows"] if row[0] != "gaps"]}
    assert "<title>gaps" not in kinds_section(replace(demo, budget={**demo.budget, "ledger": ledger}))
    assert "<title>gaps" not in kinds_section(replace(demo, budget=None))
    assert kinds_section(replace(demo, kinds={"groups": {**demo.kinds["groups"], "rows": []}}, budget=None)) == ""
    assert "before and after" in kinds_section(compared)


def test_the_kinds_take_as_long_as_the_window(demo):
    kernels = sum(row[2] for row in demo.kinds["groups"]["rows"])
    gaps = next(row[1] for row in demo.budget["ledger"]["rows"] if row[0] == "gaps")
    assert kernels + gaps == pytest.approx(demo.budget["window_us"], rel=1e-4)


def figures(answers):
    shown = Page(f"<body>{summary(answers)}</body>")
    names = [tag for tag, _ in shown.elements]
    return names.count("p"), shown.cells


def test_the_summary_tells_what_the_answers_do(demo, compared):
    kernel_ms, peak = (
        f"{demo.budget['kernel_us']:,.1f} us",
        f"{demo.memory['l1_peak']['bytes_per_bank']:,} B",
    )
    verdicts, cells = figures(demo)
    assert (verdicts, kernel_ms in cells, peak in cells, "wormhole_b0" in cells, cells[-1]) == (
        2,
        True,
        True,
        True,
        "1",
    )
    assert figures(compared)[0] == 3  # against the baseline, its own measure, and the window
    for part in ("budget", "check"):  # a verdict needs both
        verdicts, cells = figures(replace(demo, **{part: None}))
        assert (verdicts, kernel_ms in cells, peak in cells) == (int(part == "check"), False, True)
    assert peak not in figures(replace(demo, memory=None))[1]
    card = {name: value for name, value in demo.card.items() if name not in ("arch", "devices")}
    assert figures(replace(demo, card=card))[1] == [cell for cell in figures(demo)[1][:-1] if cell != "wormhole_b0"]


def test_a_window_is_told_in_words():
    window = {"kind": "whole_run", "warm": True, "first_row": 2, "last_row": 9, "rows": 8, "why": "w"}
    assert window_words(window) == "whole run, warm, 8 ops (lines 2 to 9): w"
    repeated = {**window, "kind": "iteration", "iteration": 2, "of_iterations": 3, "warm": False}
    assert window_words(repeated) == "iteration 2 of 3, not warm, 8 ops (lines 2 to 9): w"


def test_runs_of_one_name_are_told_apart_by_their_ids():
    assert run_words({"name": "a", "id": "a"}) == "a"
    assert run_words({"name": "a", "id": "b"}) == "a (b)"


def test_tables_of_a_comparison_stand_where_they_have_rows(compared):
    titles = {"added": "Ops that are new", "removed": "Ops that are gone"}
    filled = {"columns": ["op_code"], "rows": [["Typecast"]]}
    made = comparison_section(
        replace(compared, comparison={**compared.comparison, "added": filled, "removed": {**filled, "rows": []}})
    )
    assert {name for name, title in titles.items() if title in made} == {"added"}
    without = {name: part for name, part in compared.comparison.items() if name not in titles}
    assert not any(title in comparison_section(replace(compared, comparison=without)) for title in titles.values())


def test_the_peak_is_told_by_its_bytes_and_drawn_where_levels_are_known(demo):
    memory = {
        **demo.memory,
        "l1_peak": {**demo.memory["l1_peak"], "made_bytes": 7, "bytes_said": 8, "why_bytes": "x"},
    }
    shown = Page(f"<body>{memory_section(memory, demo.levels, demo.spans)}</body>")
    peak = demo.memory["l1_peak"]
    parts = [peak["tensors_bytes"], peak["circular_buffers_bytes"]]
    cells = [cell for cell in shown.cells if cell]
    at = cells.index("together")
    assert cells[at - 2 : at + 2] == [*(f"{part:,}" for part in parts), "together", f"{sum(parts):,}"]
    assert {"made", "capacity"} <= {*cells[at:]}  # what adds up to nothing comes after
    assert not {"bytes_said", "bytes said", "why", "operation"} & {*shown.cells}
    for levels in (None, {**demo.levels, "rows": []}):
        assert "<canvas" not in memory_section(demo.memory, levels, demo.spans)
    assert "<canvas" in memory_section(demo.memory, demo.levels, demo.spans)


def test_a_resource_is_made_of_the_files_that_are_asked_for():
    whole, axes = resource("page", ".js"), resource("page", ".js", ("2_axes.js",))
    assert axes in whole
    assert 0 < len(axes) < len(whole)
    assert ":root {" not in whole
    assert ":root {" in resource("page", ".css")


def test_a_failure_is_told_before_everything_and_its_remedies_below_the_picture(demo):
    failed = {"operation": 5, "name": "ttnn.add", "outcome": "aborted", "kind": "RuntimeError"}
    remedies = {"columns": ["remedy"], "rows": [["deallocate"]]}
    memory = {**demo.memory, "errors": [{**failed, "remedies": remedies}]}
    told = "aborted in operation 5 ttnn.add: RuntimeError"
    assert summary(replace(demo, memory=memory)).startswith(
        f'<p class="verdicts">Memory: <strong class="verdict slower">{told}'
    )
    assert told not in summary(demo)
    assert "What helps" in memory_section(memory, demo.levels, demo.spans)
    assert "Who held it" not in memory_section(memory, demo.levels, demo.spans)


def test_l1_is_drawn_by_address_where_addresses_are_known_and_dram_beside_it(demo):
    drawn = {
        name: {
            names["id"]
            for tag, names in Page(f"<body>{memory_section(demo.memory, demo.levels, spans)}</body>").elements
            if tag == "figure"
        }
        for name, spans in (
            ("known", demo.spans),
            ("no dram", {**demo.spans, "dram_bytes_per_bank": [0] * len(demo.levels["rows"])}),
            ("unknown", None),
        )
    }
    assert drawn == {"known": {"levels", "dram"}, "no dram": {"levels"}, "unknown": {"levels"}}
    some = memory_section(demo.memory, demo.levels, {**demo.spans, "left_out": 7})
    assert "7 small or brief ones are not drawn" in some
    assert "are not drawn" not in memory_section(demo.memory, demo.levels, demo.spans)
