"""The page: every number is an answer of a tool, no text of a profile becomes markup, nothing is fetched."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.hostile.csv_cells import spoiled
from tests.pairs import Model, write
from tests.profiles import DatabaseStyle, Program, write_memory_report, write_performance_report
from tests.profiles.demo_model import demo_program
from tests.report.reading import Page, numbers_in, rows_of
from tests.shared_reports import CLIP, DEEPSEEK, shared
from ttnn_mcp import errors
from ttnn_mcp.report import answers
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.page import page
from ttnn_mcp.report.plotted import slots_of

pytestmark = pytest.mark.usefixtures("opened_once")

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "</title></style><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "&lt;b&gt; {{7*7}} ${7*7} `x`",
    "]]> \u2028 \u2029 \\u003c",
)
FIGURE = re.compile(r"(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?![\w.-])")


async def page_of(folder, run, against=None):
    return page(await answers_of(session(folder), run, against))


@pytest.fixture(scope="module")
def text(demo_answers):
    return page(demo_answers)


@pytest.fixture(scope="module")
def demo(text):
    return Page(text)


async def test_the_page_is_as_large_as_its_documentation_says(text, demo, tmp_path):
    told = (Path(__file__).parents[2] / "resources/report.md").read_text()
    for size in (
        f"the bundled demo {len(text.encode()) / 1e6:.2f} MB",
        f"own script of {max(len(one.encode()) for one in demo.scripts if one != demo.content) / 1e3:.0f} kB",
    ):
        assert size in told
    (least,) = map(int, re.findall(r"A page takes (\d+) kB", told))
    small = len((await page_of(tmp_path, write(tmp_path / "r", Model(layers=1)))).encode())
    assert small / 1e3 == pytest.approx(least, rel=0.02)


async def test_every_answer_in_the_page_is_the_tools_answer(demo, tmp_path):
    at, answers = session(tmp_path), demo.answers
    for part, tool in (
        ("card", "open_run"),
        ("budget", "time_budget"),
        ("memory", "memory_summary"),
        ("stages", "model_stages"),
    ):
        assert answers[part] == await ask(at, tool, run="demo"), tool
    check = await ask(at, "optimization_check", run="demo")
    first = check["findings"]
    assert answers["check"]["findings"][: len(first)] == first
    assert len(answers["check"]["findings"]) > len(first)
    assert {**answers["check"], "findings": first} == {name: check[name] for name in check if name != "next_cursor"}


async def test_every_op_in_the_page_is_a_row_of_list_ops(demo, tmp_path):
    at, rows, cursor = session(tmp_path), [], None
    while True:
        answer = await ask(at, "list_ops", run="demo", sort="order", limit=15, cursor=cursor)
        rows += answer["ops"]["rows"]
        cursor = answer.get("next_cursor")
        if cursor is None:
            break
    assert list(demo.answers["ops"]) == answer["ops"]["columns"]
    assert rows_of(demo.answers["ops"]) == rows


async def test_every_roofline_in_the_page_is_the_one_of_op_detail(demo, tmp_path):
    at, rooflines = session(tmp_path), demo.answers["rooflines"]
    for line, row in zip(demo.answers["ops"]["op"], rows_of(rooflines), strict=True):
        detail = await ask(at, "op_detail", run="demo", op=line)
        told = {name: cell for name, cell in zip(rooflines, row, strict=True) if cell is not None}
        assert told == detail["roofline"], line


async def test_every_level_in_the_page_is_the_one_of_memory_summary(demo, tmp_path):
    at, levels = session(tmp_path), rows_of(demo.answers["levels"])
    assert len(levels) == demo.answers["card"]["operations"]
    for operation, name, *level in levels[::7]:
        peak = (await ask(at, "memory_summary", run="demo", operation=operation))["l1_peak"]
        assert [name, *level] == [
            peak[part] for part in ("name", "bytes_per_bank", "tensors_bytes", "circular_buffers_bytes")
        ]


def test_every_number_that_is_printed_stands_in_an_answer(demo):
    known = {float(number) for number in numbers_in(demo.answers)}
    known |= {round(number * 100, 10) for number in known}  # shares are printed in percent
    known |= {round(number, 1) for number in known}  # and times of the plan with one decimal
    known |= {float(len(demo.answers["card"]["devices"])), float(len(demo.answers["check"]["findings"]))}
    figures = [cell for cell in demo.cells if FIGURE.fullmatch(cell.removesuffix("%").removesuffix(" us"))]
    assert len(figures) > 100
    for cell in figures:
        assert float(cell.removesuffix("%").removesuffix(" us").replace(",", "")) in known, cell


async def test_before_and_after_are_the_answer_of_compare_runs(tmp_path):
    before, after = write(tmp_path / "before", Model()), write(tmp_path / "after", Model(up_ns=80_000))
    text = await page_of(tmp_path, str(after), str(before))
    answer = await ask(session(tmp_path), "compare_runs", baseline=str(before), candidate=str(after), limit=200)
    shown = Page(text)
    assert shown.answers["comparison"] == answer
    for row in answer["groups"]["rows"]:
        assert f"{row[1]:,}" in shown.cells
        assert f"{row[2]:,}" in shown.cells
    assert text.count('class="bar before"') == 1  # the one kind that changed
    assert "most by Matmul" in text


def named(folder, names):
    """A report whose ops and cells carry these names, one after the other."""

    def name(rows):
        for place, row in enumerate(row for row in rows if row["OP TYPE"] == "tt_dnn_device"):
            row.update(dict.fromkeys(("OP CODE", "MATH FIDELITY", "ATTRIBUTES"), names[place % len(names)]))

    return str(spoiled(folder, name))


async def test_text_of_a_profile_stays_text(tmp_path):
    ordinary = Page(await page_of(tmp_path, named(tmp_path / "plain", ["Quux"])))
    shown = Page(await page_of(tmp_path, named(tmp_path / "hostile", HOSTILE)))
    assert {tag for tag, _ in shown.elements} <= {tag for tag, _ in ordinary.elements}
    assert len(shown.scripts) == 2
    assert shown.scripts[1] == ordinary.scripts[1]
    assert not [names for _, names in shown.elements if any(each.startswith("on") for each in names)]
    for column in ("op_code", "fidelity"):
        assert set(shown.answers["ops"][column]["words"]) == {errors.shown(name) for name in HOSTILE}


def test_a_page_can_reach_no_address(demo, text):
    assert not [(tag, names) for tag, names in demo.elements if {"src", "href", "action", "style"} & names.keys()]
    assert "url(" not in text
    assert "@import" not in text
    assert not re.search(r"\w://", re.sub(r"<script type=.*?</script>", "", text, flags=re.DOTALL))


def test_the_policy_forbids_the_network_and_allows_this_script_alone(demo, text):
    policy = next(
        names["content"] for _, names in demo.elements if names.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    for rule, source in (("style-src", style), ("script-src", demo.scripts[1])):
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
    assert rules.keys() == {"default-src", "style-src", "script-src", "base-uri", "form-action"}


async def test_a_performance_report_alone_says_what_is_missing(tmp_path):
    shown = Page(await page_of(tmp_path, str(write(tmp_path / "run", Model()))))
    assert shown.answers["memory"] is None
    assert not [names for _, names in shown.elements if names.get("id") == "levels"]
    assert [names for _, names in shown.elements if names.get("id") == "timeline"]


async def test_a_memory_report_alone_has_its_levels(tmp_path):
    path = write_memory_report(tmp_path / "memory", demo_program(), style=DatabaseStyle())
    shown = Page(await page_of(tmp_path, str(path)))
    assert shown.answers["ops"] is None
    assert [names for _, names in shown.elements if names.get("id") == "levels"]
    assert not [names for _, names in shown.elements if names.get("id") == "timeline"]


async def test_a_memory_report_alone_is_predicted_and_said_not_to_be_measured(tmp_path):
    path = write_memory_report(tmp_path / "memory", demo_program(), style=DatabaseStyle())
    shown = await answers_of(session(tmp_path), str(path), None)
    text = page(shown)
    budget = await ask(session(tmp_path), "time_budget", run=str(path))
    assert shown.predicted["kinds"] == budget["predicted"]["kinds"]
    assert '<section id="predicted"' in text
    assert "Nothing here was measured. Laws of time speak of" in text
    ops = [row[1] for row in shown.predicted["kinds"]["rows"]]
    assert sum(ops) > 0
    timed = str(write(tmp_path / "run", Model()))
    assert (await answers_of(session(tmp_path), timed, None)).predicted is None
    assert 'id="predicted"' not in await page_of(tmp_path, timed)


async def test_of_too_many_ops_the_critical_device_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.report.rows.MOST_OPS", 50)
    path = write(tmp_path / "run", Model(devices=2))
    text = await page_of(tmp_path, str(path))
    shown = Page(text)
    assert len(set(shown.answers["ops"]["device"])) == 1
    assert len(shown.answers["ops"]["op"]) == 45
    assert "45 of 90 ops are shown, all from device" in text


async def test_what_a_tool_refuses_is_left_out_with_its_sentence(tmp_path, monkeypatch):
    answered = answers._ask

    async def refused(at, name, **arguments):
        if name == "time_budget":
            raise errors.QuestionRefused("All kernel times are 0.")
        return await answered(at, name, **arguments)

    monkeypatch.setattr(answers, "_ask", refused)
    text = await page_of(tmp_path, "demo")
    assert Page(text).answers["budget"] is None
    assert "No time_budget: All kernel times are 0." in text
    assert 'id="timeline"' in text


async def test_a_page_without_words_to_explain_offers_none(tmp_path):
    path = write_performance_report(tmp_path / "empty", Program())
    text = await page_of(tmp_path, str(path))
    assert "The performance report holds no times of a device: no timeline" in text
    assert "The words of this page" not in text
    assert "<dt>chip</dt><dd>wormhole_b0</dd>" in text
    assert "<dt>devices</dt>" not in text


async def test_a_memory_report_without_operations_does_not_cost_the_page(tmp_path):
    path = shared("memory/empty_aa85cd0c.sqlite")
    text = await page_of(tmp_path, str(path))
    assert "No memory_summary: This memory report holds no operations" in text


@for_all("name", [CLIP, DEEPSEEK])
async def test_a_real_report_makes_a_page_whose_ops_last_as_long_as_its_budget_says(tmp_path, name):
    told = await answers_of(session(tmp_path), str(shared(name)), None)
    assert Page(page(told)).answers["budget"] == told.budget
    table, device, warm = told.ops["ops"], told.budget["device"], told.ops["window"]["warm"]
    assert ("This window is not warm" in page(told)) == (not warm)
    ends = [slot.end_ns for slot in slots_of(table["columns"], table["rows"], warm=warm) if slot.device == device]
    assert max(ends) / 1e3 == pytest.approx(told.budget["window_us"], rel=0.01)
