"""Every plan's sums can be true: of all real reports, of the stories, and of every step alone."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from pathlib import Path

import pytest

from tests.asking import ask, reader, session
from tests.for_all import for_all
from tests.oracles.plan_sums import (
    cells_of,
    flaws,
    flaws_of_cells,
    flaws_of_page,
    flaws_of_settings,
    flaws_of_shares,
    flaws_of_some,
    flaws_of_unexplained,
    kernels_us,
    least_us,
    rows_of,
)
from tests.profiles import write_performance_report
from tests.shared_reports import SHARED
from tests.stories import STORIES
from ttnn_mcp.wire import bytes_of

REPORTS = sorted(
    path
    for folder in ("perf", "layers", "backtest", "golden")
    for path in (SHARED / folder).rglob("*.csv")
    if "DEVICE KERNEL DURATION" in path.read_text("utf-8", errors="replace").partition("\n")[0]
)
OF_CSV_US = 1.0  # an op that ran beside others counts its part


async def whole(at, run, **asked):
    """The first page with all edits, and the findings of all pages."""
    first = page = await ask(at, "optimization_check", run=run, min_saving_share=0, **asked)
    findings = [*first["findings"]]
    while page.get("next_cursor"):
        asked["cursor"] = page["next_cursor"]
        page = await ask(at, "optimization_check", run=run, min_saving_share=0, **asked)
        findings += page["findings"]
    return first, findings


async def settings(at, run, first):
    """What the edits set that can be made together."""
    plan = rows_of(first["plan"])
    edits = [edit["edit"] for edit in plan if not (edit["relation"] or "").startswith("instead of")]
    if not edits:
        return []
    answer = await ask(at, "optimization_check", run=run, min_saving_share=0, details=edits)
    return rows_of(answer["settings"]) if answer.get("settings") else []


async def faults(at, report):
    first, findings = await whole(at, str(report))
    page = await ask(at, "optimization_check", run=str(report))
    cells, window = cells_of(Path(report)), first["window"]
    found = [*flaws(first, findings), *flaws_of_page(page, first, bytes_of(page))]
    found += [*flaws_of_cells(cells, findings), *flaws_of_shares(cells, first), *flaws_of_unexplained(first)]
    found += flaws_of_settings(await settings(at, str(report), first))
    kernels, devices = kernels_us(cells, window)
    before, least = first["total"]["before_us"], least_us(cells, window)
    if first["total"]["speed_of_light_us"] < least:
        found.append(
            f"the program has a floor of {first['total']['speed_of_light_us']} us, its matmuls need {least}"
        )
    if devices == 1 and first["total"]["of"] == "kernels" and abs(kernels - before) > OF_CSV_US:
        found.append(f"the plan begins with {before} us, the CSV has {kernels}")
    names = [edit["edit"] for edit in rows_of(first["plan"])]
    for some in (names[: len(names) // 2], names[::2], names[-1:]):
        answer = await ask(at, "optimization_check", run=str(report), min_saving_share=0, details=some)
        found += flaws_of_some(some, answer["total"], first)
    for step in {finding["step"] for finding in findings}:
        found += [f"of step {step}: {flaw}" for flaw in flaws(*await whole(at, str(report), steps=[step]))]
    return found


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
@pytest.mark.sampled(10, checked=3)
async def test_plans_of_real_reports_can_be_true(tmp_path, report):
    assert await faults(reader(tmp_path), report) == []


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.id)
@pytest.mark.sampled(30, checked=4)
async def test_plans_of_stories_can_be_true(tmp_path, story):
    report = write_performance_report(tmp_path / "made", story.build(), story.iterations)
    assert await faults(reader(tmp_path), report) == []


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return asyncio.run(whole(session(tmp_path_factory.mktemp("demo")), "demo"))


def changed(demo, path, value):
    """The demo's answer with one cell changed."""
    first, findings = deepcopy(demo)
    place = {"answer": first, "findings": findings}
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return first, findings


def cell(column, row=0):
    columns = (  # of the plan
        "rank",
        "edit",
        "what",
        "where",
        "share",
        "expected_us",
        "low_us",
        "high_us",
        "if_gains_us",
        "basis",
        "alone_us",
        "then_us",
        "accuracy",
        "relation",
    )
    return ("answer", "plan", "rows", row, columns.index(column))


@for_all(
    ("path", "value", "said"),
    [
        (("answer", "total", "floor_us"), 1e6, "floor"),
        (("answer", "total", "speed_of_light_us"), 100.0, "the program as it is one of 100.0"),
        (("answer", "total", "after_us"), 1.0, "the total says"),
        (("answer", "total", "expected_after_us"), 0.5, "expected 0.5"),
        (("answer", "total", "expected_after_us"), 1_200.0, "and the total to save more"),
        (cell("then_us"), 1e6, "below the floor"),
        (cell("alone_us"), 1e9, "alone"),
        (cell("rank"), 7, "rank 7"),
        (cell("share"), 1.5, "share of 1.5"),
        (cell("share", 1), 0.07, "us of a share of 0.07"),
        (cell("edit", 2), "another-edit", "has no finding"),
        (cell("alone_us", 5), 100.0, "all of compute-config 100.0"),
        (cell("expected_us", 3), -4.0, "expected to save"),
        (cell("if_gains_us", 1), 1e6, "if it gains"),
        (cell("basis", 1), "9/8 gained elsewhere", "rests on 9/8"),
        (("findings", 1, "saving_us", "basis"), "law: made", "if it gains"),
        (cell("edit", 1), "compute-config", "one name"),
        (cell("alone_us", 2), 10.0, "stands below one of"),
        (cell("accuracy", 1), "may cost", "stands below one of"),
        (cell("relation", 1), "symptom, so last", "stands below one of"),
        (cell("relation", 1), "symptom, so last; after trace, conv-config", "conv-config does not stand above"),
        (cell("relation", 1), "instead of placement", "placement does not stand above"),
        (("findings", 0, "claim"), "1 ops leave a device idle", "says '1 ops'"),
        (("findings", 0, "saving_us", "at_least"), 1e9, "saves"),
        (("findings", 0, "edit"), "no-such-edit", "belongs to no edit"),
        (("findings", 0, "share"), -0.1, "share of -0.1"),
        (("findings", 1, "share"), 0.01, "us of a share of 0.01"),
        (("findings", 1, "claim"), "4 convs (1.7 ms, 93.0%) idle", "tells ms, 93.0%"),
        (("findings", 0, "evidence"), [], "no evidence"),
        (("answer", "steps", 0, "status"), "clean", "and has findings"),
    ],
    sampled=4,
)
def test_a_plan_that_cannot_be_true_is_noticed(demo, path, value, said):
    first, findings = changed(demo, path, value)
    rows = [list(row) for row in first["plan"]["rows"]]
    first["plan"]["rows"] = rows
    assert any(said in flaw for flaw in flaws(first, findings))


def test_a_page_that_hides_an_edit_is_noticed(demo):
    first, _ = deepcopy(demo)
    page = {**first, "plan": {**first["plan"], "rows": first["plan"]["rows"][1:]}}
    assert [flaw.partition(" ")[2][:5] for flaw in flaws_of_page(page, first, 6_301)] == ["first", "saves"]


def test_time_that_nobody_explains_is_noticed(demo):
    first, _ = deepcopy(demo)
    first["unexplained_us"]["no_edit"] += 1
    assert ["us are unexplained" in flaw for flaw in flaws_of_unexplained(first)] == [True]


CELLS = {7: {"OP CODE": "Matmul", "CORE COUNT": "64", "DEVICE KERNEL DURATION [ns]": "20000"}}


@for_all(
    ("claim", "column", "value", "said"),
    [
        ("heaviest at line 7", "CORE COUNT", 64, []),
        ("heaviest at line 7", "OP CODE", "Mat...", []),
        ("heaviest at line 7", "CORE COUNT", 56, ["made cites 56 of CORE COUNT, line 7 has 64"]),
        ("heaviest at line 7", "OP CODE", "Conv...", ["made cites Conv... of OP CODE, line 7 has Matmul"]),
        ("heaviest at line 8", "CORE COUNT", 64, ["made names line 8, which has no op"]),
    ],
)
def test_a_cell_that_the_report_does_not_have_is_noticed(claim, column, value, said):
    cell = {"row": 7, "column": column, "value": value}
    assert [*flaws_of_cells(CELLS, [{"check": "made", "claim": claim, "fix": "", "evidence": [cell]}])] == said


@for_all(
    ("names", "cell", "us", "said"),
    [
        (["trace"], "after_us", 950.0, "together they save"),
        (["trace"], "floor_us", 1_200.0, "floor 1200.0"),
        (["trace"], "before_us", 1_800.0, "the window has 1800.0"),
        (["trace", "conv-config"], "after_us", 1_000.0, "as the first of the plan"),
        (["trace", "conv-config"], "after_us", 900.0, None),
        (["conv-config"], "after_us", 1_600.0, "together they save"),
    ],
)
def test_totals_of_some_edits_that_cannot_be_true_are_noticed(names, cell, us, said):
    """Trace saves 700 of 1,700 us, the config 200 alone and 100 then."""
    columns = ["edit", "alone_us", "then_us"]
    plan = {"columns": columns, "rows": [["trace", 700.0, 700.0], ["conv-config", 200.0, 100.0]]}
    some = {"before_us": 1_700.0, "after_us": 900.0, "expected_after_us": 1_700.0, "floor_us": 100.0}
    found = [*flaws_of_some(names, {**some, cell: us}, {"plan": plan, "total": {"before_us": 1_700.0}})]
    assert any(said in flaw for flaw in found) if said else not found


@for_all(("lines", "width", "count"), [("3, 4", 4, 0), ("3, 4", 8, 1), ("5", 8, 0)])
def test_two_values_for_one_line_are_noticed(lines, width, count):
    call = "compute_kernel_config=f(a=1); ttnn.MatmulProgramConfig(grid=(8, 8), in0_block_w="
    settings = [
        {"edit": "first", "lines": "4 and 2 more", "sets": f"{call}4)"},
        {"edit": "second", "lines": lines, "sets": f"{call}{width})"},
    ]
    assert len([*flaws_of_settings(settings)]) == count


@for_all(("share", "count"), [(0.2, 0), (0.25, 0), (0.19, 1)])
def test_a_share_that_leaves_out_kernel_time_is_noticed(share, count):
    plan = {"columns": ["edit", "where", "share"], "rows": [["made", "line 7 (model.py:3)", share]]}
    assert len([*flaws_of_shares(CELLS, {"total": {"before_us": 100.0}, "plan": plan})]) == count


def test_what_a_matmul_must_take_is_its_arithmetic():
    """2048 x 2048 x 2048 on 64 cores of 1.35 GHz."""
    shapes = {
        f"{operand}_{axis}_PAD[LOGICAL]": "2048[2048]" for operand in ("INPUT_0", "OUTPUT_0") for axis in "YX"
    }
    row = {"OP CODE": "MatmulDeviceOperation", "AVAILABLE WORKER CORE COUNT": "64", "DEVICE ID": "0", **shapes}
    window = {"first_row": 7, "last_row": 7}
    assert least_us({7: row, 8: row}, window) == pytest.approx(48.5, abs=0.1)
    assert least_us({7: row, 8: {**row, "DEVICE ID": "1"}}, {**window, "last_row": 8}) == 0
