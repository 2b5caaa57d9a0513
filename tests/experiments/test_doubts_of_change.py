"""What the statement of a change explains, and what it does not."""

import pytest

from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.experiments.doubts_of_change import older_than_baseline, unexplained
from ttnn_mcp.experiments.statement import statement_of

GONE = Reason("ops_missing", "32 Softmax, 2 LayerNorm gone, nothing in their place (baseline line 4)")
LESS = Reason("ops_missing", "matmuls, convolutions and attention do 40% of the baseline's arithmetic")
TRACED = Reason("trace_on_one_side", "only the candidate replays a trace")
CLOCK = Reason("other_clock", "1 -> 0.8 GHz")


@pytest.mark.parametrize(
    ("change", "step", "left"),
    [
        ("removed the second softmax", None, [TRACED, CLOCK]),
        ("add in place", None, [GONE, TRACED, CLOCK]),
        ("baseline line nothing", None, [GONE, TRACED, CLOCK]),
        ("Metal Trace", None, [GONE, CLOCK]),
        ("tuning", 4, [GONE, CLOCK]),
        ("tuning", 3, [GONE, TRACED, CLOCK]),
    ],
)
def test_a_statement_explains_what_it_names(change, step, left):
    assert unexplained([GONE, TRACED, CLOCK], statement_of(change, step)) == left


def test_less_arithmetic_is_not_explained_by_the_name_of_an_op():
    assert unexplained([LESS], statement_of("softmax removed", None)) == [LESS]


@pytest.mark.parametrize(
    ("before", "after", "stale"),
    [
        ("ops_perf_results_2026_03_02_10_00_00.csv", "ops_perf_results_2026_03_02_10_00_01.csv", False),
        ("ops_perf_results_2026_03_02_10_00_00.csv", "ops_perf_results_2026_03_02_10_00_00.csv", False),
        ("ops_perf_results_2026_03_02_10_00_00.csv", "ops_perf_results_2026_03_02_09_59_59.csv", True),
        ("baseline.csv", "ops_perf_results_2026_03_02_09_59_59.csv", False),
        ("ops_perf_results_2026_03_02_10_00_00.csv", "candidate.csv", False),
    ],
)
def test_a_report_is_stale_by_the_time_in_its_name(before, after, stale):
    assert (older_than_baseline(before, after) is not None) == stale
