"""How the two were captured: each line with a pair, on comparisons made by hand."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison import doubts_of_capture as doubts
from ttnn_mcp.analyses.comparison.doubts_of_capture import new_signs, shared_signs
from ttnn_mcp.analyses.comparison.grouping import Delta
from ttnn_mcp.analyses.comparison.noise import Noise


def clocked(before_ns, cycles_ns, after_ns, ratio=0.8):
    run = SimpleNamespace(performance_report=SimpleNamespace(clock_ghz=1.0))
    return SimpleNamespace(
        clock_ratio=ratio,
        total=Delta("total", before_ns, cycles_ns, 1, 1),
        noise=Noise(0.02, "default", ""),
        change_share=cycles_ns / before_ns - 1 if before_ns else 0.0,
        ops=(None, SimpleNamespace(numbers=lambda _: np.array([float(after_ns)]))),
        before=SimpleNamespace(run=run),
        after=SimpleNamespace(run=run),
    )


@for_all(
    ("cycles", "time", "told"),
    [
        (80, 90, True),
        (80, 82, False),
        (80, 100, True),
        (80, 120, True),
        (100, 99, False),
        (100, 97, True),
        (97, 98.5, True),  # a gain in cycles, none in time
        (120, 130, True),
        (120, 121, False),
        (120, 101, True),
    ],
)
def test_a_clock_is_told_where_cycles_and_time_disagree(cycles, time, told):
    assert (doubts.other_clock(clocked(100, cycles, time)) is not None) == told


def test_without_time_before_no_clock_is_told():
    assert doubts.other_clock(clocked(0, 80, 100)) is None


@for_all(
    ("before", "after", "told"),
    [
        ({}, {}, None),
        ({"noc_util_pct": 5.0}, {"noc_util_pct": 7.0}, None),
        ({"noc_util_pct": 0.0}, {}, None),
        ({"noc_util_pct": 5.0}, {}, "NoC trace in the baseline only"),
        (
            {},
            {"fpu_util_pct": 5.0, "ncrisc_ns": 9.0},
            "hardware counters, times per processor in the candidate only",
        ),
    ],
)
def test_options_that_one_side_was_profiled_with_are_told(before, after, told):
    ops = [
        SimpleNamespace(numbers=lambda name, filled=filled: np.array([np.nan, filled.get(name, np.nan)]))
        for filled in (before, after)
    ]
    reason = doubts.profiler_on_one_side(SimpleNamespace(ops=ops))
    assert reason is None if told is None else reason.what.startswith(told)


@for_all(
    ("before", "after", "told"),
    [
        ([1.0], [2.0], None),
        ([np.nan], [np.nan], None),
        ([np.nan], [2.0], "candidate"),
        ([1.0], [np.nan], "baseline"),
    ],
)
def test_a_trace_of_one_side_is_told(before, after, told):
    ops = [SimpleNamespace(numbers=lambda _, each=each: np.array(each)) for each in (before, after)]
    reason = doubts.trace_on_one_side(SimpleNamespace(ops=ops))
    assert reason is None if told is None else reason.what.startswith(f"only the {told} replays")


def signed(monkeypatch, caveats=(), dropped=()):
    """A run whose report says these things."""
    report = SimpleNamespace(caveats=caveats, dropped=dropped)
    for name, column in (("caveats_of", "caveats"), ("dropped_rows", "dropped")):
        monkeypatch.setattr(
            f"ttnn_mcp.analyses.comparison.doubts_of_capture.{name}",
            lambda said, column=column: getattr(said, column),
        )
    return SimpleNamespace(performance_report=report)


def test_signs_of_lost_rows_are_of_one_side_or_of_both_whatever_their_figures(monkeypatch):
    run = signed(monkeypatch, dropped=("7 call counts", "1000 ops"))
    other = signed(monkeypatch, dropped=("9 call counts",))
    assert new_signs(run, other) == ["1000 ops"]
    assert shared_signs(run, other) == ["7 call counts"]


def test_a_last_iteration_that_is_cut_off_is_a_sign_and_other_caveats_are_none(monkeypatch):
    cut_off = "the last iteration is cut off: 4 ops"
    run = signed(monkeypatch, caveats=("PM columns not to be trusted", cut_off))
    assert new_signs(run, signed(monkeypatch)) == [cut_off]
