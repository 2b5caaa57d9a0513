"""The sections of a page: each stands where its answer does, and tells what a reader must know."""

import asyncio
from dataclasses import replace

import pytest

from tests.asking import session
from tests.pairs import Model, write
from tests.report.reading import Page
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.page import page, resource
from ttnn_mcp.report.pictures import memory_section
from ttnn_mcp.report.sections import (
    comparison_section,
    findings_section,
    plan_table,
    run_words,
    summary,
    window_words,
)


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
    assert sections(demo) == ["budget", "time", "findings", "bounds", "memory"]
    assert sections(compared) == ["against", "budget", "time", "findings", "bounds"]


@pytest.mark.parametrize(
    ("part", "gone"),
    [("budget", {"budget"}), ("check", {"findings"}), ("memory", {"memory"}), ("ops", {"time", "bounds"})],
)
def test_what_cannot_be_answered_has_no_section(demo, part, gone):
    left = replace(demo, **{part: None})
    if part == "ops":
        left = replace(left, rooflines=None)
    assert {*sections(demo)} - {*sections(left)} == gone


def test_a_window_without_ops_has_no_pictures_of_them(demo):
    none = {**demo.ops, "ops": {**demo.ops["ops"], "rows": []}}
    left = replace(demo, ops=none, rooflines={**demo.rooflines, "rows": []}, stage_of_op=[])
    assert sections(left) == ["budget", "findings", "memory"]


def figures(answers):
    shown = Page(f"<body>{summary(answers)}</body>")
    names = [tag for tag, _ in shown.elements]
    return names.count("p"), shown.cells


def test_the_summary_tells_what_the_answers_do(demo, compared):
    kernel_ms, peak = f"{demo.check['kernel_ms']:,} ms", f"{demo.memory['l1_peak']['bytes_per_bank']:,} B"
    verdicts, cells = figures(demo)
    assert (verdicts, kernel_ms in cells, peak in cells, "wormhole_b0" in cells, cells[-1]) == (
        2,
        True,
        True,
        True,
        "1",
    )
    assert figures(compared)[0] == 3  # its own measure, against the baseline, and the window
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


def test_a_finding_offers_the_lines_it_cites_and_no_empty_words(demo):
    first = demo.check["findings"][0]
    cells = [{"source": "s", "column": "c", "value": 1, "row": row} for row in (9, "model.py:4", 9, 12)]
    made = findings_section(
        {**demo.check, "findings": [{**first, "evidence": cells, "caveat": "", "fix": "the fix"}]}
    )
    shown = Page(f"<body>{made}</body>")
    assert [names["data-line"] for tag, names in shown.elements if tag == "button"] == ["9", "12"]
    assert "<dt>fix</dt><dd>the fix</dd>" in made
    assert "<dt>caveat</dt>" not in made


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
    shown = Page(f"<body>{memory_section(memory, demo.levels)}</body>")
    assert {"made_bytes", "bytes_per_bank"} <= {*shown.cells}
    assert not {"bytes_said", "why_bytes", "operation"} & {*shown.cells}
    for levels in (None, {**demo.levels, "rows": []}):
        assert "<canvas" not in memory_section(demo.memory, levels)
    assert "<canvas" in memory_section(demo.memory, demo.levels)


def test_a_resource_is_made_of_the_files_that_are_asked_for():
    whole, axes = resource("page", ".js"), resource("page", ".js", ("2_axes.js",))
    assert axes in whole
    assert 0 < len(axes) < len(whole)
    assert ":root {" not in whole
    assert ":root {" in resource("page", ".css")


def test_a_run_without_an_edit_has_no_table_of_a_plan(demo):
    check = demo.check
    assert "<table" in plan_table(check)
    assert plan_table({**check, "plan": {**check["plan"], "rows": []}}) == ""
