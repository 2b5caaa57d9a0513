"""The plan of a page: what to do first, the edits in their order, what is left; and the findings behind it."""

import re

import pytest

from tests.for_all import for_all
from tests.report.reading import Page
from ttnn_mcp.report.plan_section import findings_section, fix_block, plan_section


@pytest.fixture(scope="module")
def check(demo_answers):
    return demo_answers.check


def shown(made):
    return Page(f"<body>{made}</body>")


def with_rows(check, count):
    row = check["plan"]["rows"][0]
    return {**check, "plan": {**check["plan"], "rows": [[at, *row[1:]] for at in range(1, count + 1)]}}


def test_what_to_do_first_stands_with_its_fix(check):
    made = plan_section(check)
    first = check["findings"][0]
    assert first["edit"] == check["plan"]["rows"][0][1]
    assert "Do this first: the device waits for the host (all ops). " in made
    assert first["claim"] in made
    assert fix_block(first) in made


def test_a_fix_is_text_to_copy_and_no_fix_is_nothing():
    assert fix_block({"fix": "a < b"}) == "<p>Fix: a &lt; b</p>"
    assert fix_block({"fix": "once `ttnn.a(1)`"}) == "<pre><code># once\nttnn.a(1)</code></pre>"
    assert fix_block({}) == ""
    lines = [f"ttnn.add(x, y, dtype={'d' * more})" for more in (78, 79)]
    assert [len(line) for line in lines] == [100, 101]
    assert [line in fix_block({"fix": f"once `{line}`"}) for line in lines] == [True, False]


def test_an_edit_without_a_finding_has_no_fix(check):
    others = [finding for finding in check["findings"] if finding["edit"] != check["plan"]["rows"][0][1]]
    made = plan_section({**check, "findings": others})
    assert others
    assert "Do this first" not in made
    assert "<table" in made


def test_an_edit_nowhere_is_told_without_a_place(check):
    columns, (row, *rows) = check["plan"]["columns"], check["plan"]["rows"]
    nowhere = [None if name == "where" else cell for name, cell in zip(columns, row, strict=True)]
    made = plan_section({**check, "plan": {"columns": columns, "rows": [nowhere, *rows]}})
    assert "Do this first: the device waits for the host. " in made


def test_every_edit_has_its_numbers_and_its_cells_say_what_they_are(check):
    made = shown(plan_section(check))
    columns = check["plan"]["columns"]
    for row in check["plan"]["rows"]:
        edit = dict(zip(columns, row, strict=True))
        for name in ("alone_us", "then_us"):
            assert f"{edit[name]:,.1f}" in made.cells
        likely, if_gains = edit["expected_us"], edit["if_gains_us"]
        assert likely is None or f"{likely:,.1f}" in made.cells
        assert likely is not None or if_gains is None or f"if it gains {if_gains:,.1f}" in made.cells
    known = [columns.index(name) for name in ("expected_us", "if_gains_us")]
    trials = sum(all(row[place] is None for place in known) for row in check["plan"]["rows"])
    assert trials < len(check["plan"]["rows"]) - 1
    assert len(re.findall('<abbr title="An edit [^"]*">trial</abbr>', plan_section(check))) == trials
    cells = [names for tag, names in made.elements if tag == "td"][:7]
    assert [at for at, names in enumerate(cells) if names.get("class") == "number"] == [3, 4, 5]
    labels = [names.get("data-label") for names in cells]
    assert labels == [
        None, "change", "where", "expected [us]", "at most alone [us]", "after those above [us]", "accuracy",
    ]  # fmt: skip


@for_all(("count", "folded"), [(8, []), (9, ["1 more"])])
def test_eight_edits_are_in_sight_and_the_others_behind_a_click(check, count, folded):
    made = plan_section(with_rows(check, count))
    assert re.findall(r"<summary>([^<]*)<", made) == folded
    assert made.count("<tfoot>") == 1
    assert made.count("data-edit=") == count


def test_the_total_is_what_is_left(check):
    made, total = plan_section(check), check["total"]
    foot = made.partition("<tfoot>")[2].partition("</tfoot>")[0]
    for words in (
        f"Left of {total['before_us']:,.1f} us of {total['of']}",
        f"speed of light {total['speed_of_light_us']:,.1f} us",
        f">{total['expected_after_us']:,.1f}<",
        f">{total['after_us']:,.1f}<",
    ):
        assert words in foot
    part = plan_section({**check, "total": {**total, "modelled_share": 0.4103}})
    assert f"speed of light at least {total['speed_of_light_us']:,.1f} us, of the 41% that can be told" in part


def test_a_run_without_an_edit_says_so(check):
    made = plan_section(with_rows(check, 0))
    assert "No check found anything it could prove." in made
    assert "<table" not in made


def test_a_finding_offers_the_lines_it_cites_and_no_empty_words(check):
    first = check["findings"][0]
    cells = [{"source": "s", "column": "c", "value": 1, "row": row} for row in (9, "model.py:4", 9, 12)]
    made = findings_section(
        {**check, "findings": [{**first, "evidence": cells, "caveat": "", "verify": "again", "fix": "the fix"}]}
    )
    assert [names["data-line"] for tag, names in shown(made).elements if tag == "button"] == ["9", "12"]
    assert "<p>Fix: the fix</p>" in made
    assert "<dt>verify</dt><dd>again</dd>" in made
    assert "<dt>caveat</dt>" not in made
    assert f'data-of="{first["edit"]}"' in made


def test_what_is_unexplained_is_told_where_there_is_something(check):
    assert "Left above the floors" in findings_section(check)
    assert "Left above the floors" not in findings_section(
        {**check, "unexplained": {**check["unexplained"], "rows": []}}
    )
