"""Every plan's sums can be true: of all real reports, of the stories, and of every step alone."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from pathlib import Path

import pytest

from tests.asking import ask, session
from tests.oracles.plan_sums import flaws, flaws_of_page, kernels_us
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


async def faults(at, report):
    first, findings = await whole(at, str(report))
    page = await ask(at, "optimization_check", run=str(report))
    found = [*flaws(first, findings), *flaws_of_page(page, first, bytes_of(page))]
    kernels, devices = kernels_us(Path(report), first["window"])
    before = first["total"]["before_us"]
    if devices == 1 and first["total"]["of"] == "kernels" and abs(kernels - before) > OF_CSV_US:
        found.append(f"the plan begins with {before} us, the CSV has {kernels}")
    for step in {finding["step"] for finding in findings}:
        found += [f"of step {step}: {flaw}" for flaw in flaws(*await whole(at, str(report), steps=[step]))]
    return found


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
@pytest.mark.sampled(4)
async def test_plans_of_real_reports_can_be_true(tmp_path, report):
    assert await faults(session(tmp_path), report) == []


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.id)
@pytest.mark.sampled(6)
async def test_plans_of_stories_can_be_true(tmp_path, story):
    report = write_performance_report(tmp_path / "made", story.build(), story.iterations)
    assert await faults(session(tmp_path), report) == []


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
    columns = (
        "rank",
        "edit",
        "what",
        "where",
        "share",
        "expected_us",
        "low_us",
        "high_us",
        "basis",
        "alone_us",
        "then_us",
    )
    return ("answer", "plan", "rows", row, columns.index(column))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("answer", "total", "floor_us"), 1e6, "floor"),
        (("answer", "total", "after_us"), 1.0, "the total says"),
        (("answer", "total", "expected_after_us"), 0.5, "expected 0.5"),
        (cell("then_us"), 1e6, "below the floor"),
        (cell("alone_us"), 1e9, "alone"),
        (cell("rank"), 7, "rank 7"),
        (cell("share"), 1.5, "share of 1.5"),
        (cell("expected_us", 2), -4.0, "expected to save"),
        (cell("edit", 1), "compute-config", "one name"),
        (("findings", 0, "saving_us", "at_least"), 1e9, "saves"),
        (("findings", 0, "edit"), "no-such-edit", "belongs to no edit"),
        (("findings", 0, "share"), -0.1, "share of -0.1"),
        (("findings", 0, "evidence"), [], "no evidence"),
        (("answer", "steps", 0, "status"), "clean", "and has findings"),
    ],
)
def test_a_plan_that_cannot_be_true_is_noticed(demo, path, value, said):
    first, findings = changed(demo, path, value)
    rows = [list(row) for row in first["plan"]["rows"]]
    first["plan"]["rows"] = rows
    assert any(said in flaw for flaw in flaws(first, findings))


def test_a_page_that_hides_an_edit_is_noticed(demo):
    first, _ = deepcopy(demo)
    page = {**first, "plan": {**first["plan"], "rows": first["plan"]["rows"][1:]}}
    assert [flaw.partition(" ")[2][:5] for flaw in flaws_of_page(page, first, 6_001)] == ["first", "saves"]
