"""What is told beside the figures."""

from types import SimpleNamespace

import pytest

from tests.analyses.comparison.test_comparison import opened
from tests.for_all import for_all
from tests.pairs import Model
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.comparison.comparability import caveats_of
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.matching_windows import like_windows, measured
from ttnn_mcp.wire import Window

SMALL = Model(layers=1)
COLD = (Iteration(cold=True),)


def window(kind="iteration", iteration=3, *, warm=True):
    return Window(
        kind=kind, rows=1, first_row=1, last_row=1, iteration=iteration, of_iterations=3, warm=warm, why="told"
    )


@pytest.fixture
def told(monkeypatch):
    """The caveats of two sides with these windows, and other properties of their comparison."""
    monkeypatch.setattr(
        "ttnn_mcp.analyses.comparison.comparability.shared_signs", lambda *_: ["7 rows", "8 columns"]
    )

    monkeypatch.setattr(
        "ttnn_mcp.analyses.comparison.comparability.slowest_timeline",
        lambda gap_ms, _clock: SimpleNamespace(gap_ns=gap_ms * 1e6, wall_ns=100e6),
    )

    def caveats(
        before, after, *, ids=("a", "b"), complete=True, little=False, ratio=1.0, gaps_ms=(5, 5), traced=(0, 0)
    ):
        sides = [
            SimpleNamespace(
                run=SimpleNamespace(
                    id=name,
                    chip=SimpleNamespace(clock_ghz=1.0),
                    performance_report=SimpleNamespace(traced=trace, clock_ghz=1.0, signposts=[]),
                ),
                scope=SimpleNamespace(window=each, critical_device=0, ops=gap_ms),
            )
            for name, each, gap_ms, trace in zip(ids, (before, after), gaps_ms, traced, strict=True)
        ]
        return caveats_of(
            SimpleNamespace(
                before=sides[0],
                after=sides[1],
                mixed_windows=before.kind != after.kind,
                clock_ratio=ratio,
                noise=SimpleNamespace(share=0.02),
                alignment=SimpleNamespace(complete=complete),
                little_in_common=little,
            )
        )

    return caveats


def test_two_warm_windows_of_two_files_tell_only_what_both_lack(told):
    assert told(window(), window()) == ["both sides: 7 rows"]


def test_one_run_lacks_nothing_that_its_other_side_does_not(told):
    assert told(window(), window(), ids=("a", "a")) == []
    assert told(window(), window(iteration=2), ids=("a", "a")) == ["both sides are the same run"]


@for_all(
    ("before", "after", "caveat"),
    [
        (window(), window("whole_report"), "windows differ: baseline warm iteration 3 of 3, candidate warm whole"),
        (
            window(),
            window(warm=False),
            "baseline warm iteration 3 of 3, candidate cold iteration 3 of 3: kernel times",
        ),
        (
            window(warm=False),
            window(),
            "baseline cold iteration 3 of 3, candidate warm iteration 3 of 3: kernel times",
        ),
        (window(warm=False), window(warm=False), "both windows are cold"),
    ],
)
def test_windows_that_differ_or_are_cold_are_told(told, before, after, caveat):
    caveats = told(before, after)
    assert caveats[0].startswith(caveat)
    assert len(caveats) == 2


@for_all(
    ("gaps_ms", "shown"),
    [
        ((3, 30), "3.000 -> 30.000"),
        ((30, 3), "30.000 -> 3.000"),
        ((3, 6), "3.000 -> 6.000"),  # twice as long
        ((4, 7.9), ""),  # less than that
        ((1, 2.5), ""),  # more than that, and within the noise of the wall time
        ((0, 2), ""),  # within the noise of the wall time
        ((0, 2.1), "0.000 -> 2.100"),
    ],
)
def test_time_between_ops_that_moved_is_told_because_the_verdict_leaves_it_out(told, gaps_ms, shown):
    caveats = [caveat for caveat in told(window(), window(), gaps_ms=gaps_ms) if "time between ops" in caveat]
    assert len(caveats) == bool(shown)
    assert all(f"time between ops {shown} ms, which" in caveat for caveat in caveats)


def test_time_between_ops_is_not_compared_with_that_of_a_trace_or_of_a_cold_window(told):
    assert told(window(), window(), gaps_ms=(3, 30), traced=(0, 1)) == ["both sides: 7 rows"]
    assert not any("between ops" in told for told in told(window(), window(warm=False), gaps_ms=(3, 30)))


def test_another_clock_is_told(told):
    assert told(window(), window(), ratio=0.8)[0] == (
        "clock 1 -> 1 GHz: the candidate's kernel times are its cycles at the baseline's clock, its wall time is as "
        "measured"
    )


def test_what_was_not_aligned_is_told(told):
    assert told(window(), window(), complete=False, little=True)[0].startswith("too many ops to align")
    assert told(window(), window(), little=True)[0].startswith("hardly an op has a partner")


def marked(folder, names, *, unnamed=False):
    program = Program()
    program.op("SoftmaxDeviceOperation", [program.tensor([1, 1, 64, 64])])
    passes = [Iteration(cold=True, signposts=(name, "")) for name in names]
    return opened(write_performance_report(folder, program, passes))


def test_signposts_that_both_whole_files_hold_are_told_two_of_them_by_name(tmp_path):
    runs = (
        marked(tmp_path / "a", ["zeta", "own", "beta", "alpha"]),
        marked(tmp_path / "b", ["alpha", "beta", "zeta"]),
    )

    def told(*iterations):
        found = Comparison(*(measured(run, each) for run, each in zip(runs, iterations, strict=True)))
        return [caveat for caveat in caveats_of(found) if "signposts" in caveat and "whole files" in caveat]

    [caveat] = told("all", "all")
    assert "both hold signposts 'zeta', 'beta' and 1 more:" in caveat
    assert told("last", "all") == told("all", "last") == []


def test_two_signposts_are_told_without_more(tmp_path):
    runs = marked(tmp_path / "a", ["one", "two", "own"]), marked(tmp_path / "b", ["two", "one", "other"])
    [caveat] = [each for each in caveats_of(Comparison(*(measured(run, "all") for run in runs))) if "signp" in each]
    assert "'one', 'two':" in caveat


def test_signposts_without_a_name_are_none_that_files_share(tmp_path):
    """Damaged files have such rows: the name that comes last in the file would stand for them."""
    path = marked(tmp_path / "a", ["gone", "named"]).performance_report.csv.path
    path.write_text(path.read_text().replace("\ngone,", "\n,"))
    caveats = caveats_of(Comparison(*(measured(opened(path), "all") for _ in range(2))))
    [caveat] = [each for each in caveats if "both hold signposts" in each]
    assert "signposts 'named': start" in caveat


def test_whole_files_without_a_common_signpost_tell_none(tmp_path):
    runs = marked(tmp_path / "a", ["one"]), marked(tmp_path / "b", ["two"])
    assert not any("signpost" in caveat for caveat in caveats_of(Comparison(*like_windows(*runs))))
