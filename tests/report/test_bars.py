"""Rows with bars: how many, how long, and what stands beside them."""

import re

from tests.for_all import for_all
from ttnn_mcp.report.markup import before_after_bars, budget_bars, ranked, shortened

BARS = re.compile(r'class="bar (\w+)" x="0" y="(\d+)" width="([\d.]+)" height="10"')
NAMES = re.compile(r'class="name">(?:<abbr[^>]*>)?([^<]*)<')
FIGURES = re.compile(r'class="figures">([^<]*)<')


@for_all(("count", "drawn", "left"), [(19, 19, 0), (20, 20, 0), (25, 20, 5)])
def test_the_twenty_largest_changes_are_drawn_and_the_others_counted(count, drawn, left):
    rows = [[f"op {at}", 1.0, 1.0 - at, float(-at if at % 2 else at)] for at in range(count)]
    shown, others = ranked({"rows": rows})
    assert [abs(row[3]) for row in shown] == [float(at) for at in range(count)][::-1][:drawn]
    assert others == left


@for_all(("name", "told"), [("m" * 38, "m" * 38), ("m" * 39, "m" * 37 + "…")])
def test_a_name_is_cut_where_it_would_not_fit_beside_a_bar(name, told):
    assert shortened(name) == told


def test_the_longest_bar_fills_its_column_and_the_others_are_in_scale():
    rows = [["roofline", 600.0, 0.6], ["idle_cores", 300.0, 0.3], ["gaps", 100.0, 0.1], ["padding", 0.0, 0.0]]
    made = budget_bars({"rows": rows})
    assert [(kind, float(width)) for kind, _, width in BARS.findall(made)] == [
        ("roofline", 1000),
        ("ledger", 500),
        ("gaps", 166.67),
        ("ledger", 0.5),  # a hairline says that there is a row
    ]
    assert NAMES.findall(made) == ["roofline", "idle cores", "gaps", "padding"]
    assert FIGURES.findall(made)[1] == "300.0 us, 30%"
    assert made.count('viewBox="0 0 1000 10"') == 4


def test_two_bars_a_row_and_a_sign_before_what_grew():
    made = before_after_bars([["Matmul", 50.0, 100.0, 50.0, 1, 1], ["Unary", 25.0, 0.0, -25.0, 1, 1]])
    bars = [(kind, int(top), float(width)) for kind, top, width in BARS.findall(made)]
    assert bars == [("before", 0, 500), ("after", 11, 1000), ("before", 0, 250), ("after", 11, 0.5)]
    assert made.count('viewBox="0 0 1000 21"') == 2
    figures = [words.replace("&gt;", ">") for words in FIGURES.findall(made)]
    assert figures == ["50.0 -> 100.0 us, +50.0 us", "25.0 -> 0.0 us, -25.0 us"]


def test_where_nothing_took_time_no_bar_is_longer_than_a_hairline():
    assert [width for *_, width in BARS.findall(budget_bars({"rows": [["gaps", 0.0, 0.0]]}))] == ["0.50"]
    assert [width for *_, width in BARS.findall(before_after_bars([["a", 0, 0, 0]]))] == ["0.50", "0.50"]
    assert BARS.findall(budget_bars({"rows": []})) == BARS.findall(before_after_bars([])) == []
