"""A change, judged: by time or by memory, with the PCC that was given or the report's own."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.analyses.comparison.test_comparison import run_of
from tests.for_all import for_all
from tests.pairs import Model
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.matching_windows import like_windows
from ttnn_mcp.analyses.memory.memory_comparison import Figure, MemoryDelta
from ttnn_mcp.experiments import judging
from ttnn_mcp.experiments.judging import Attempt, judged
from ttnn_mcp.experiments.rules import Walls

BASE = Model(layers=1)
SAME, FASTER = replace(BASE, jitter=0.001), replace(BASE, weights="BFLOAT8_B", up_ns=60_000)
LOWER = (Figure("l1_peak", 100_000, 50_000),)
WALLS = Walls(50.0, 50.0, profiled=False)


@pytest.fixture
def judge(tmp_path, monkeypatch):
    def of(model, attempt, *, caveats=None, pcc_of_report=None):
        runs = run_of(tmp_path / "a", BASE), run_of(tmp_path / "b", model)
        comparison = Comparison(*like_windows(*runs))
        if pcc_of_report is not None:
            _ = runs[1].chip
            runs[1].memory = SimpleNamespace(path=Path("db.sqlite"), rank=None)
            monkeypatch.setattr(judging, "worst_global", lambda _: pcc_of_report)
            monkeypatch.setattr(judging, "losses_of", lambda _: [])
        return judged(comparison, attempt, MemoryDelta(LOWER, caveats) if caveats is not None else None)

    return of


@for_all(
    ("model", "more", "caveats", "outcome"),
    [
        (SAME, {}, (), ("keep", "memory")),
        (SAME, {}, ("floors",), ("inconclusive", "kernel")),
        (SAME, {}, None, ("inconclusive", "kernel")),
        (SAME, {"step": 4, "walls": WALLS}, (), ("inconclusive", "wall")),  # wall times are about something else
        (FASTER, {}, (), ("keep", "kernel")),
        (FASTER, {}, ("floors",), ("keep", "kernel")),
        (FASTER, {}, None, ("keep", "kernel")),
        (FASTER, {"pcc": 0.9}, (), ("revert", "kernel")),
        (SAME, {"pcc": 0.9}, (), ("revert", "kernel")),
    ],
)
def test_a_change_is_kept_for_time_or_for_memory(judge, model, more, caveats, outcome):
    found = judge(model, Attempt("weights to bfp8", **{"pcc": 0.999, **more}), caveats=caveats).experiment
    if model is SAME:
        found = judge(model, Attempt("x", **{"pcc": 0.999, **more}), caveats=caveats).experiment
    assert (found.verdict, found.judged_by) == outcome
    assert ("no proof" in found.why) == (found.verdict == "inconclusive" and caveats == ("floors",))
    assert "None" not in found.why
    assert (found.change_share == -0.5) == (found.judged_by == "memory")


def test_the_pcc_of_the_report_counts_where_none_was_given(judge):
    own = judge(FASTER, Attempt("weights to bfp8"), pcc_of_report=0.9).experiment
    assert (own.pcc, own.verdict) == (0.9, "revert")
    assert own.why.endswith("none was given)")
    given = judge(FASTER, Attempt("weights to bfp8", pcc=0.999), pcc_of_report=0.9).experiment
    assert (given.pcc, given.verdict) == (0.999, "keep")
    assert "none was given" not in given.why
    neither = judge(FASTER, Attempt("weights to bfp8")).experiment
    assert (neither.pcc, neither.verdict) == (None, "inconclusive")
    assert "none was given" not in neither.why


def test_what_was_taken_as_the_change_is_told(judge):
    assert judge(FASTER, Attempt("weights to bfp8")).taken_as == "BFLOAT8_B: by the words of the change"
    assert judge(FASTER, Attempt("LoFi")).taken_as.endswith("; shown is what differs most")
    assert judge(SAME, Attempt("LoFi")).taken_as == "LoFi: by the words of the change"
