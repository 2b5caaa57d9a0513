"""Which windows of two runs are compared."""

from __future__ import annotations

import pytest

from tests.analyses.comparison.test_comparison import run_of
from tests.pairs import Model
from ttnn_mcp.tools.parts.comparing import RunsCompared, Windows, compared

BARE = Model(head_ops=0)  # its four layers alone: each of them is taken for an iteration


@pytest.fixture
def runs(tmp_path):
    return run_of(tmp_path / "bare", BARE), run_of(tmp_path / "whole", Model())


def test_passes_of_one_length_are_compared_unless_an_iteration_is_asked_for(runs):
    def ops(windows):
        comparison = compared(RunsCompared(*runs), windows)
        return len(comparison.before.scope.ops), len(comparison.after.scope.ops)

    layer, whole = ops(Windows(candidate_iteration=3))
    assert ops(Windows()) == (4 * layer, whole)
    assert ops(Windows(iteration=3)) == (layer, whole)
    assert ops(Windows(iteration="all"))[1] == 3 * whole


def test_a_repeat_is_windowed_as_the_baseline_is(runs, tmp_path):
    """It is the same model, and was refused as another one where iterations of the baseline were joined."""
    repeat = run_of(tmp_path / "repeat", Model(head_ops=0, seed=1, jitter=0.05))
    assert compared(RunsCompared(*runs, (repeat,)), Windows()).noise.source == "repeats"
    assert compared(RunsCompared(*runs, (repeat,)), Windows(iteration=3)).noise.source == "repeats"
