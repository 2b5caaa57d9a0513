"""Every step has a title and a page."""

from __future__ import annotations

from ttnn_mcp.checks.check import STEP_PAGES, STEP_TITLES


def test_every_step_has_a_title_and_a_page():
    assert [*STEP_TITLES] == [*STEP_PAGES] == [1, 2, 3, 4, 5, 6, 7]
    assert [page[:7] for page in STEP_PAGES.values()] == [f"step-0{step}" for step in STEP_PAGES]
