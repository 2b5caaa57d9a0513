"""Each story on the other chip, and in a twentieth of its time: no check breaks, and no bound leaves the op's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.checks.asking import case_of_reports
from tests.profiles import header_of, performance_rows, write_rows
from tests.stories import STORIES
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask, diagnose

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts

TIME = "DEVICE KERNEL DURATION [ns]"
OTHER = {"wormhole_b0": "blackhole", "blackhole": "wormhole_b0"}


def varied(rows, folder, *, arch, quicker):
    """The story's report with other cells."""
    rows = [dict(row) for row in rows]
    for row in rows:
        if row.get(TIME):
            row[TIME] = str(max(1, int(row[TIME]) // quicker))
        if arch and row.get("DEVICE ARCH"):
            row["DEVICE ARCH"] = OTHER[row["DEVICE ARCH"]]
    return case_of_reports(write_rows(folder / "ops_perf_results_varied.csv", rows, header_of(rows, "C7")))


def assert_bounds_hold(case: WindowFacts) -> None:
    for check in CATALOGUE:
        outcome = ask(check, case)
        assert "a bug in" not in outcome.why, check.id
        for claim in outcome.claims:
            least = np.zeros(len(claim.rows)) if claim.at_least_ns is None else claim.at_least_ns
            assert (least >= 0).all(), check.id
            assert (least <= claim.at_most_ns + 1).all(), check.id
            assert (claim.at_most_ns <= case.kernel_ns[claim.rows] + 1).all(), check.id
    plan = diagnose(case, CATALOGUE).plan
    assert plan.after_ns >= plan.floors_ns.sum()
    assert sum(each.then_ns for each in plan.ranked) == pytest.approx(plan.before_ns - plan.after_ns)


@pytest.mark.sampled(20, checked=4)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.id)
def test_bounds_hold_on_the_other_chip_and_where_the_ops_are_near_their_floors(story, tmp_path):
    """The dense matmuls and norms of all stories then take less than their bytes or arithmetic: nothing is left there."""
    rows = performance_rows(story.build(), story.iterations)
    assert_bounds_hold(varied(rows, tmp_path / "other", arch=True, quicker=1))
    case = varied(rows, tmp_path / "quicker", arch=False, quicker=20)
    assert_bounds_hold(case)
    impossible = case.roofline.impossible & case.of_family("matmul", "norm")
    promises = [
        (check.id, float(claim.at_most_ns[impossible[claim.rows]].sum()))
        for check in CATALOGUE
        for claim in ask(check, case).claims
        if len(claim.rows)
    ]
    assert [name for name, most in promises if most > 1] == []
