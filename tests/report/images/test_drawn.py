"""What the pictures are told to draw, without matplotlib: the figures of the answers. test_pixels.py looks at pixels."""

import sys
from unittest.mock import MagicMock

import pytest

from tests.asking import ask, session
from tests.pairs import Model, write
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.images.canvas import COLOURS, GAP, head
from ttnn_mcp.report.images.drawings import (
    DEVICES,
    draw_before_after,
    draw_cores,
    draw_levels,
    draw_roofline,
    draw_timeline,
    draw_window,
)

pytestmark = pytest.mark.usefixtures("opened_once")

KB = 1000


def axes_of(draw, count, **shown):
    """What `draw` asked of its axes."""
    axes = [MagicMock() for _ in range(count)]
    for each in axes:
        each.get_legend_handles_labels.return_value = ([1, 2, 3], ["gap", "dram", "dram"])
    figure = MagicMock()
    figure.subplots.return_value = axes if count > 1 else axes[0]
    draw(figure, **shown)
    return axes


@pytest.fixture
async def demo(tmp_path):
    return await answers_of(session(tmp_path), "demo", None)


def spans_by_colour(axes):
    return {call.kwargs["color"]: call.args[0] for call in axes.broken_barh.call_args_list}


def test_a_window_has_its_ledger_its_ops_and_their_cores(demo):
    spent, lanes, cores = axes_of(draw_window, 3, budget=demo.budget, ops=demo.ops)
    assert spent.barh.call_args.args[1] == [row[1] for row in demo.budget["ledger"]["rows"]]
    assert spans_by_colour(lanes)[GAP][0][1] == pytest.approx(demo.budget["window_us"], abs=0.1)
    assert max(cores.fill_between.call_args.args[1]) == 64


def test_each_bound_gets_the_time_of_its_ops(demo):
    (lanes,) = axes_of(draw_timeline, 1, budget=demo.budget, ops=demo.ops)
    names = demo.ops["ops"]["columns"]
    for bound, colour in COLOURS.items():
        wanted = sum(
            row[names.index("kernel_us")] for row in demo.ops["ops"]["rows"] if row[names.index("bound")] == bound
        )
        assert sum(wide for _, wide in spans_by_colour(lanes).get(colour, [])) == pytest.approx(wanted), bound
    handles, labels = lanes.legend.call_args.args
    assert list(zip(handles, labels, strict=True)) == [(1, "gap"), (3, "dram")]  # once, however many lanes


def test_of_many_devices_some_are_drawn_and_the_title_says_of_how_many():
    columns = ["device", "kernel_us", "gap_us", "bound", "cores"]
    rows = [[device, 5.0, 0.0, "dram", 8] for device in range(DEVICES + 1)]
    budget = {"window_us": 5.0, "verdict": "cannot_tell", "device": 0}
    (lanes,) = axes_of(
        draw_timeline, 1, budget=budget, ops={"ops": {"columns": columns, "rows": rows}, "window": {"warm": True}}
    )
    assert len(lanes.set_yticks.call_args.args[0]) == DEVICES
    assert f"{DEVICES} of {DEVICES + 1} devices" in lanes.set_title.call_args.args[0]


def test_the_cores_are_drawn_op_by_op(demo):
    _, over_ops = axes_of(draw_cores, 2, budget=demo.budget, ops=demo.ops)
    at = demo.ops["ops"]["columns"].index("cores")
    places, cores = over_ops.fill_between.call_args.args
    assert cores == [*(row[at] for row in demo.ops["ops"]["rows"]), 0]
    assert len(places) == len(cores)


def test_a_roofline_says_how_many_ops_it_lacks(demo, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.ticker", MagicMock())
    monkeypatch.setitem(sys.modules, "matplotlib", MagicMock())
    (axes,) = axes_of(draw_roofline, 1, ops=demo.ops, rooflines=demo.rooflines)
    drawn = sum(len(call.args[0]) for call in axes.scatter.call_args_list)
    left = len(demo.ops["ops"]["rows"]) - drawn
    assert axes.set_title.call_args.args[0].startswith(f"{drawn} ops against their roofline; {left} others")
    nothing = {**demo.ops, "ops": {**demo.ops["ops"], "rows": []}}
    (empty,) = axes_of(draw_roofline, 1, ops=nothing, rooflines={**demo.rooflines, "rows": []})
    assert not empty.scatter.called
    assert empty.text.called


def test_the_levels_reach_the_peak_and_its_parts_add_up(demo):
    over, live = axes_of(draw_levels, 2, memory=demo.memory, levels=demo.levels)
    peak = demo.memory["l1_peak"]["bytes_per_bank"]
    tensors, both = over.fill_between.call_args_list
    assert max(both.args[2]) == peak / KB
    assert tensors.args[1] == both.args[1]  # circular buffers stand on the tensors
    assert sum(live.barh.call_args.args[1]) == pytest.approx(peak / KB)


async def test_at_an_operation_only_l1_is_drawn_and_the_rest_is_counted(demo, tmp_path):
    memory = await ask(session(tmp_path), "memory_summary", run="demo", operation=28)
    _, live = axes_of(draw_levels, 2, memory=memory, levels=demo.levels)
    drawn = live.barh.call_args.args[1]
    rows, at = memory["live"]["rows"], memory["live"]["columns"].index("buffer")
    assert len(drawn) == 1 + sum(row[at] == "L1" for row in rows)
    assert sum(drawn) == pytest.approx(memory["l1_peak"]["bytes_per_bank"] / KB)
    left = len(rows) + memory["more_live"] - len(drawn) + 1
    assert f"{left} more are not drawn" in live.set_title.call_args.args[0]


async def test_the_largest_change_comes_first(tmp_path):
    slow, fast = (str(write(tmp_path / name, Model(layers=layers))) for name, layers in (("a", 4), ("b", 3)))
    comparison = await ask(session(tmp_path), "compare_runs", baseline=slow, candidate=fast)
    (axes,) = axes_of(draw_before_after, 1, comparison=comparison)
    groups = sorted(comparison["groups"]["rows"], key=lambda row: -abs(row[3]))
    before, after = axes.barh.call_args_list
    assert before.args[1] == [row[1] for row in groups]
    assert after.args[1] == [row[2] for row in groups]


def test_a_long_title_is_cut_and_says_so():
    axes = MagicMock()
    head(axes, "x" * 300, chars=100)
    assert axes.set_title.call_args.args[0] == "x" * 99 + "…"
    head(axes, "x" * 100, chars=100)
    assert axes.set_title.call_args.args[0] == "x" * 100
