"""What is told beside the figures."""

from types import SimpleNamespace

import pytest

from tests.analyses.comparison.test_comparison import opened, run_of
from tests.pairs import Model
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.comparison.caveats import caveats_of
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
def told(tmp_path, monkeypatch):
    """The caveats of two sides with these windows, and other properties of their comparison."""
    run = run_of(tmp_path, SMALL, COLD)
    monkeypatch.setattr("ttnn_mcp.analyses.comparison.caveats.shared_signs", lambda *_: ["7 rows", "8 columns"])

    def caveats(before, after, *, ids=("a", "b"), complete=True, little=False, ratio=1.0):
        sides = [
            SimpleNamespace(
                run=SimpleNamespace(id=name, performance_report=run.performance_report),
                scope=SimpleNamespace(window=each, critical_device=0),
            )
            for name, each in zip(ids, (before, after), strict=True)
        ]
        return caveats_of(
            SimpleNamespace(
                before=sides[0],
                after=sides[1],
                mixed_windows=before.kind != after.kind,
                clock_ratio=ratio,
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


@pytest.mark.parametrize(
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


def test_another_clock_is_told(told):
    assert told(window(), window(), ratio=0.8)[0].startswith(
        "clock 1 -> 1 GHz: the candidate's times are its cycles"
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


def test_whole_files_without_a_common_signpost_tell_none(tmp_path):
    runs = marked(tmp_path / "a", ["one"]), marked(tmp_path / "b", ["two"])
    assert not any("signpost" in caveat for caveat in caveats_of(Comparison(*like_windows(*runs))))
