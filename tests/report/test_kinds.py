"""Time by kind of op: which kinds have a colour, how wide they are, and what stands below the bar."""

import re

from tests.for_all import for_all
from tests.report.reading import Page
from ttnn_mcp.report.sections import KindTime, of_comparison, of_window, short, stacked

RECTS = re.compile(r'<rect class="([\w-]+)" x="([\d.]+)" y="0" width="([\d.]+)" height="30"><title>([^<]*)<')
ITEMS = re.compile(r"<li>(.*?)</li>")


def listed(*rows):
    return {"columns": ["key", "count", "kernel_us"], "rows": [list(row) for row in rows]}


def texts(item):
    return [words for words in re.split(r"<[^>]*>", item) if words]


@for_all(
    ("op_code", "name"),
    [("MatmulDeviceOperation", "Matmul"), ("Pool2D", "Pool2D"), ("DeviceOperation", "DeviceOperation")],
)
def test_a_kind_is_called_by_what_tells_it_apart(op_code, name):
    assert short(op_code) == name


def test_the_kinds_of_a_window_stand_by_their_time_and_gaps_last():
    kinds = of_window(listed(("b", 1, 5.0), ("aDeviceOperation", 2, 30.0)), 12.5)
    assert kinds == [
        KindTime("a", "kind-1", None, 30.0, 2),
        KindTime("b", "kind-2", None, 5.0, 1),
        KindTime("gaps", "gaps", None, 12.5, None),
    ]
    assert [one.name for one in of_window(listed(("b", 1, 5.0)), 0.0)] == ["b"]


@for_all(("count", "coloured", "last"), [(9, 9, "k8"), (10, 9, "k9"), (11, 9, "2 others")])
def test_nine_kinds_have_a_colour_and_of_more_than_one_other_the_sum_is_told(count, coloured, last):
    kinds = of_window(listed(*((f"k{at}", at, 100.0 - at) for at in range(count))), 0.0)
    assert [one.style for one in kinds] == [*(f"kind-{at + 1}" for at in range(coloured)), "others"][:count]
    assert kinds[-1].name == last
    if count == 11:
        assert kinds[-1] == KindTime("2 others", "others", None, 91.0 + 90.0, 9 + 10)


def test_of_a_comparison_the_others_are_added_up_on_both_sides():
    rows = [[f"k{at}", 100.0 - at, 90.0 - at, -10.0, 1, 1] for at in range(11)]
    kinds = of_comparison({"rows": rows})
    assert kinds[0] == KindTime("k0", "kind-1", 100.0, 90.0, None)
    assert kinds[-1] == KindTime("2 others", "others", 91.0 + 90.0, 81.0 + 80.0, None)


def test_of_a_comparison_a_kind_that_is_gone_counts_by_what_it_was():
    kinds = of_comparison({"rows": [["small", 1.0, 2.0, 1.0], ["gone", 50.0, 0.0, -50.0]]})
    assert [one.name for one in kinds] == ["gone", "small"]


def test_a_window_is_one_bar_whose_parts_follow_each_other():
    made = stacked([KindTime("a", "kind-1", None, 75.0, 3), KindTime("gaps", "gaps", None, 25.0, None)])
    assert RECTS.findall(made) == [
        ("kind-1", "0.00", "750.00", "a 75.0 us"),
        ("gaps", "750.00", "250.00", "gaps 25.0 us"),
    ]
    assert [texts(item) for item in ITEMS.findall(made)] == [
        ["a", "75.0 us", "75.0%", "3 ops"],
        ["gaps", "25.0 us", "25.0%"],
    ]
    assert [names["data-find"] for tag, names in Page(f"<body>{made}</body>").elements if tag == "button"] == ["a"]


def test_a_comparison_is_two_bars_in_one_scale():
    made = stacked([KindTime("a", "kind-1", 100.0, 50.0, None), KindTime("b", "kind-2", 100.0, 100.0, None)])
    assert [(style, x, wide) for style, x, wide, _ in RECTS.findall(made)] == [
        ("kind-1", "0.00", "500.00"),
        ("kind-2", "500.00", "500.00"),
        ("kind-1", "0.00", "250.00"),
        ("kind-2", "250.00", "500.00"),
    ]
    assert re.findall(r'aria-label="([^"]*)"', made) == ["Time by kind of op before", "Time by kind of op after"]
    assert [texts(item)[-1] for item in ITEMS.findall(made)] == ["-50.0 us", "as before"]


@for_all(("ops", "told"), [(1, "1 op"), (2, "2 ops"), (None, "")])
def test_ops_are_counted_in_words(ops, told):
    assert KindTime("a", "kind-1", None, 1.0, ops).ends == told


def test_the_others_can_not_be_looked_for():
    made = stacked([KindTime("2 others", "others", None, 1.0, 2)])
    assert "<button" not in made


def test_kinds_without_time_do_not_fail():
    made = stacked([KindTime("a", "kind-1", None, 0.0, 3)])
    assert RECTS.findall(made) == [("kind-1", "0.00", "0.00", "a 0.0 us")]
    assert "0.0%" in made
