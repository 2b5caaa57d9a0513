"""Every step has a title and a page; what a check speaks of is left to it by others."""

from __future__ import annotations

from tests.checks.made_checks import comes_to, four_ops
from tests.checks.rows import case_of
from ttnn_mcp.checks.check import STEP_PAGES, STEP_TITLES, spoken_of
from ttnn_mcp.checks.needs import Need


def test_every_step_has_a_title_and_a_page():
    assert [*STEP_TITLES] == [*STEP_PAGES] == [1, 2, 3, 4, 5, 6, 7]
    assert [page[:7] for page in STEP_PAGES.values()] == [f"step-0{step}" for step in STEP_PAGES]


def test_a_check_that_cannot_tell_speaks_of_no_op(tmp_path):
    facts = case_of(tmp_path, four_ops())
    assert spoken_of(comes_to("other", "it lacks a column"), facts).tolist() == []
    assert spoken_of(comes_to("other", 0.5, 0.2), facts).tolist() == [0, 1, 2, 3]


def test_nor_does_one_whose_needs_are_not_met(tmp_path):
    """It is asked of the ops that it is about, of which there are two here."""
    facts, of_two = case_of(tmp_path, four_ops()), []
    for met, rows in ((True, [0, 1, 2, 3]), (False, [])):
        need = Need("something", lambda _, about, met=met: of_two.append(about.sum()) or met, "it lacks something")
        assert spoken_of(comes_to("other", 0.5, ops=2, needs=(need,)), facts).tolist() == rows
    assert of_two == [2, 2]
