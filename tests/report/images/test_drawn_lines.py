"""What the pictures are told to draw of made answers: scales, what is left out, and room for words."""

import sys
from unittest.mock import MagicMock

import pytest

from tests.for_all import for_all
from tests.report.images.test_drawn import axes_of
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.report.images import canvas
from ttnn_mcp.report.images.canvas import BAR, COLOURS, head
from ttnn_mcp.report.images.drawings import draw_before_after, draw_cores, draw_levels, draw_roofline, draw_timeline

ROOFS = ["padded_flops", "dram_bytes", "compute_us", "dram_us"]


def compared(*groups, why="slower"):
    rows = [[name, before, after, after - before] for name, before, after in groups]
    times = {"before": 1.5, "after": 2000.25}
    return {"groups": {"rows": rows}, "kernel_ms": times, "verdict": "regressed", "why": why}


def test_two_bars_of_an_op_touch_and_leave_room_to_those_of_the_next():
    (axes,) = axes_of(draw_before_after, 1, comparison=compared(("A", 10.0, 20.0), ("B", 5.0, 4.0)))
    before, after = axes.barh.call_args_list
    for above, below in zip(before.args[0], after.args[0], strict=True):
        assert below - above == pytest.approx(before.args[2]) == pytest.approx(after.args[2])
    free = (before.args[0][1] - before.args[2] / 2) - (after.args[0][0] + after.args[2] / 2)
    assert 0.1 <= free <= 0.3  # of the distance of two ops
    assert [call.args[2] for call in axes.text.call_args_list] == [" +10.0 us", " -1.0 us"]


@for_all(("count", "rows"), [(1, 5), (5, 5), (7, 7)])
def test_a_single_op_gets_no_giant_bar(count, rows):
    (axes,) = axes_of(draw_before_after, 1, comparison=compared(*((f"op {at}", 1.0, 2.0) for at in range(count))))
    bottom, top = axes.set_ylim.call_args.args
    assert bottom - top == rows


@for_all(("count", "said"), [(20, "kernel time [us]"), (23, "3 kinds with smaller changes are not drawn")])
def test_what_is_not_drawn_is_counted(count, said):
    (axes,) = axes_of(draw_before_after, 1, comparison=compared(*((f"op {at}", 1.0, 2.0) for at in range(count))))
    assert axes.set_xlabel.call_args.args[0].endswith(said)


def test_a_title_has_the_characters_that_fit_in_a_line():
    (axes,) = axes_of(draw_before_after, 1, comparison=compared(("A", 1.0, 2.0), why="x" * 300))
    assert axes.set_title.call_args.args[0].startswith("regressed, 1.5 to 2,000.25 ms: xxx")
    assert len(axes.set_title.call_args.args[0]) == 100  # the names of ops stand beside it
    wide = MagicMock()
    head(wide, "x" * 300)
    assert len(wide.set_title.call_args.args[0]) == 130


def memory(live, *, capacity=None, buffer=True, more=0, circular=500):
    columns = ["tensor", "kind", "bytes_per_bank", "shape", *(["buffer"] if buffer else [])]
    peak = {"operation": 2, "bytes_per_bank": 3000, "circular_buffers_bytes": circular}
    return {
        "l1_peak": {**peak, **({"capacity_bytes": capacity} if capacity else {})},
        "live": {"columns": columns, "rows": live},
        "more_live": more,
    }


LEVELS = {
    "columns": ["operation", "name", "bytes_per_bank", "tensors_bytes", "circular_buffers_bytes"],
    "rows": [[1, "a", 1000, 1000, 0], [2, "b", 3000, 2500, 500]],
    "operations": 2,
}


def drawn_levels(**how):
    return axes_of(draw_levels, 2, memory=memory(**how), levels=LEVELS)


def test_levels_are_drawn_in_kb_of_a_bank():
    over, live = drawn_levels(live=[[7, "weight", 2500, "1x1", "L1"]])
    tensors, both = over.fill_between.call_args_list
    assert (tensors.args[0], tensors.args[1], both.args[2]) == ([1, 2, 3], [1.0, 2.5, 0], [1.0, 3.0, 0])
    assert over.plot.call_args.args == ([2.5], [3.0])
    assert live.barh.call_args.args[1] == [0.5, 2.5]


@for_all(("capacity", "lines", "top"), [(None, 0, 3.0), (8000, 1, 8.0)])
def test_the_capacity_is_drawn_where_it_is_known(capacity, lines, top):
    over, _ = drawn_levels(live=[], capacity=capacity)
    assert len(over.axhline.call_args_list) == lines
    assert over.set_ylim.call_args.args[1] == pytest.approx(1.2 * top)


@for_all(("buffer", "drawn", "left"), [(True, 2, 3), (False, 4, 1)])
def test_tensors_of_dram_are_not_drawn_and_counted(buffer, drawn, left):
    rows = [
        [at, "input", 1000, None, *([kind] if buffer else [])] for at, kind in enumerate(("L1", "DRAM", "DRAM"))
    ]
    _, live = drawn_levels(live=rows, buffer=buffer, more=1)
    assert len(live.barh.call_args.args[1]) == drawn
    assert f"; {left} more are not drawn" in live.set_title.call_args.args[0]


def test_twelve_tensors_can_be_told_apart_beside_the_levels():
    _, live = drawn_levels(live=[[at, "input", 64, None, "L1"] for at in range(15)])
    assert len(live.barh.call_args.args[1]) == 1 + 12
    assert live.barh.call_args.kwargs["color"] == [COLOURS["dram"], *[BAR] * 12]
    assert "3 more are not drawn" in live.set_title.call_args.args[0]
    assert "more" not in drawn_levels(live=[])[1].set_title.call_args.args[0]


@pytest.fixture
def ticker(monkeypatch):
    made = MagicMock()
    monkeypatch.setitem(sys.modules, "matplotlib.ticker", made)
    monkeypatch.setitem(sys.modules, "matplotlib", MagicMock())
    return made


def roofline(*rows):
    """(bound, fidelity, kernel_us, padded_flops, dram_bytes, compute_us, dram_us) of each op."""
    ops = {"ops": {"columns": ["bound", "fidelity", "kernel_us"], "rows": [row[:3] for row in rows]}}
    (axes,) = axes_of(draw_roofline, 1, ops=ops, rooflines={"columns": ROOFS, "rows": [row[3:] for row in rows]})
    return axes


# 250 GB/s and 2 TFLOP/s meet at 8 FLOP/B; the op stands at 4 FLOP/B and 0.5 TFLOP/s
BOTH = ("dram", "HiFi2", 8.0, 4_000_000, 1_000_000, 2.0, 4.0)
NO_COMPUTE = ("dram", "HiFi2", 8.0, 4_000_000, 1_000_000, None, 4.0)
NO_DRAM = ("compute", "HiFi2", 8.0, 4_000_000, 1_000_000, 2.0, None)


def lines(axes):
    return [[*zip(*call.args, strict=True)] for call in axes.plot.call_args_list]


def test_the_roofs_meet_in_the_picture(ticker):
    axes = roofline(BOTH)
    assert lines(axes) == [[(2.0, 0.5), (8.0, 2.0)], [(8.0, 2.0), (16.0, 2.0)]]
    assert (axes.set_xlim.call_args.args, axes.set_ylim.call_args.args) == ((2.0, 16.0), (0.25, 4.0))
    assert [call.args[0] for call in axes.annotate.call_args_list] == ["DRAM 250 GB/s", "HiFi2 2 TFLOP/s"]


def test_a_roof_that_is_not_known_is_not_drawn(ticker):
    assert lines(roofline(NO_COMPUTE)) == [[(2.0, 0.5), (8.0, 2.0)]]
    assert lines(roofline(NO_DRAM)) == [[(2.0, 2.0), (8.0, 2.0)]]
    assert lines(roofline((*BOTH[:5], None, None))) == []


def test_a_peak_is_drawn_from_where_dram_lets_an_op_reach_it(ticker):
    axes = roofline(BOTH, ("compute", "LoFi", 8.0, 16_000_000, 1_000_000, 2.0, 4.0))
    assert lines(axes)[1:] == [[(8.0, 2.0), (64.0, 2.0)], [(32.0, 8.0), (64.0, 8.0)]]


def test_each_bound_has_its_mark(ticker):
    axes = roofline(BOTH, NO_DRAM, (None, *BOTH[1:]))
    marks = {call.kwargs["label"]: call.args[0] for call in axes.scatter.call_args_list}
    assert marks == {"dram": [4.0], "compute": [4.0], "not modelled": [4.0]}


def test_less_than_a_decade_still_shows_its_scale(ticker):
    """By 1, 2 and 5, of which every factor of 2.5 holds one; by tens alone most pictures would have no mark."""
    roofline(BOTH)
    assert [call.kwargs["subs"] for call in ticker.LogLocator.call_args_list] == [(1, 2, 5)] * 2


def window(*rows, device=0):
    """(device, kernel_us, gap_us, bound, cores) of each op."""
    columns = ["device", "kernel_us", "gap_us", "bound", "cores"]
    budget = {"window_us": 5.0, "verdict": "cannot_tell", "device": device}
    return {"budget": budget, "ops": {"ops": {"columns": columns, "rows": [*rows]}, "window": {"warm": True}}}


def test_up_to_eight_devices_have_a_lane_of_their_own_ops():
    """As resources/report.md tells."""
    rows = [(device, 1.0 + device, 0.0, "dram", 8) for device in range(10)]
    (lanes,) = axes_of(draw_timeline, 1, **window(*rows))
    spans = [call.args for call in lanes.broken_barh.call_args_list if call.kwargs["color"] == COLOURS["dram"]]
    assert spans == [([(0.0, 1.0 + device)], (device - 0.4, 0.8)) for device in range(8)]
    assert "8 of 10 devices" in lanes.set_title.call_args.args[0]


def test_a_colour_that_no_op_has_is_not_in_the_legend():
    (lanes,) = axes_of(draw_timeline, 1, **window((0, 1.0, 0.0, "dram", 8)))
    assert [call.kwargs["label"] for call in lanes.broken_barh.call_args_list] == ["gap", "dram"]


def test_the_legend_stands_between_the_picture_and_its_title():
    (lanes,) = axes_of(draw_timeline, 1, **window((0, 1.0, 0.0, "dram", 8)))
    pad, size = lanes.set_title.call_args.kwargs["pad"], lanes.set_title.call_args.kwargs["fontsize"]
    assert 2.5 * size <= pad <= 3 * size  # a line, and half of one above and below it


def test_the_cores_are_those_of_the_device_of_the_budget():
    over_time, over_ops = axes_of(
        draw_cores, 2, **window((0, 1.0, 0.0, "dram", 8), (1, 2.0, 0.0, "dram", 64), device=1)
    )
    assert over_time.fill_between.call_args.args == ([0.0, 0.0, 2.0, 2.0], [0, 64, 64, 0])
    assert over_ops.fill_between.call_args.args[1] == [64, 0]


def test_without_matplotlib_a_picture_is_refused_with_the_name_of_the_extra(monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    with pytest.raises(QuestionRefused, match=r"install ttnn-mcp\[picture\]"):
        canvas.check_drawable()
