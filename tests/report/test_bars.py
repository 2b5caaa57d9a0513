"""Bars as SVG: how many, how long, and what of a long name is told."""

import re

import pytest

from tests.for_all import for_all
from ttnn_mcp.report.bars import before_after_bars, budget_bars, ranked, shortened

BOX = re.compile(r'viewBox="0 0 (\d+) (\d+)"')
BARS = re.compile(r'class="bar (\w+)" x="(\d+)" y="\d+" width="([\d.]+)"')
FIGURES = re.compile(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="start">([^<]+)<')
WIDEST = 9  # units of a digit in the page's 14 pixels


@for_all(("count", "drawn", "left"), [(19, 19, 0), (20, 20, 0), (25, 20, 5)])
def test_the_twenty_largest_changes_are_drawn_and_the_others_counted(count, drawn, left):
    rows = [[f"op {at}", 1.0, 1.0 - at, float(-at if at % 2 else at)] for at in range(count)]
    shown, others = ranked({"rows": rows})
    assert [abs(row[3]) for row in shown] == [float(at) for at in range(count)][::-1][:drawn]
    assert others == left


@pytest.mark.parametrize(("name", "told"), [("m" * 38, "m" * 38), ("m" * 39, "m" * 37 + "…")])
def test_a_name_is_cut_where_it_would_not_fit_beside_a_bar(name, told):
    assert shortened(name) == told


def test_the_longest_bar_leaves_room_for_its_figures_and_the_others_are_in_scale():
    rows = [["roofline", 600.0, 0.6], ["above_roofline", 300.0, 0.3], ["gaps", 100.0, 0.1]]
    made = budget_bars({"rows": rows})
    wide, high = map(int, BOX.search(made).groups())
    assert (wide, high) == (960, 3 * 26)  # one unit is a pixel where a page is at its widest but for its margins
    widths = [float(width) for _, _, width in BARS.findall(made)]
    assert widths[0] == pytest.approx(2 * widths[1], rel=1e-3) == pytest.approx(6 * widths[2], rel=1e-3)
    assert [kind for kind, _, _ in BARS.findall(made)] == ["roofline", "ledger", "gaps"]
    for x, words in FIGURES.findall(made):
        assert float(x) + WIDEST * len(words) <= wide


def test_two_bars_a_row_and_a_sign_before_what_grew():
    made = before_after_bars([["Matmul", 50.0, 100.0, 50.0, 1, 1], ["Unary", 25.0, 0.0, -25.0, 1, 1]])
    kinds = [(kind, round(float(width))) for kind, _, width in BARS.findall(made)]
    assert kinds == [("before", 240), ("after", 480), ("before", 120), ("after", 0)]
    assert [words for _, words in FIGURES.findall(made)] == ["+50.0 us", "-25.0 us"]
