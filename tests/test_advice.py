"""What engineers really did, and what optimization_check says of it: no verdict changes unnoticed.

Of the stories that no check was written for, tests/stories/test_stories.py speaks.
"""

from __future__ import annotations

import pytest

from generate import advice, cases, frozen
from generate.frozen import MEETINGS_THAT_WERE
from tests.shared_reports import shared
from tests.stories import page
from ttnn_mcp.checks.expectation import CASES


@pytest.mark.slow
def test_the_first_table_says_what_the_checks_say_now():
    shared("backtest/stories.json")
    assert advice.first_table() == page.FIRST, page.RENEW


def test_no_saving_is_promised_from_a_change_that_cost_time():
    assert "no false promise." in page.FIRST


def test_the_page_tells_of_whole_layers_by_meetings():
    assert page.LAYERS.rstrip() == frozen.HEAD.rstrip()
    assert len(page.MEETINGS) == len(MEETINGS_THAT_WERE)


@pytest.mark.slow
def test_meetings_and_what_is_expected_are_told_as_they_would_be_now():
    """In one test, because processes share no promises: these are 350 layers."""
    assert [frozen.part_of(meeting) for meeting in MEETINGS_THAT_WERE] == page.MEETINGS, page.RENEW
    assert cases.section() == page.CASES, page.RENEW
    assert CASES.read_text("utf-8") == cases.text_of(cases.told_by(cases.cases(), cases.tries())), page.RENEW
