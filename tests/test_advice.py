"""What engineers really did, and what optimization_check says of it: no verdict changes unnoticed.

Of the stories that no check was written for, tests/stories/test_stories.py speaks.
"""

from __future__ import annotations

import pytest

from generate import advice, frozen
from generate.frozen import MEETINGS
from tests.shared_reports import shared
from tests.stories import page


def test_the_first_table_says_what_the_checks_say_now():
    shared("backtest/stories.json")
    assert advice.first_table() == page.FIRST, page.RENEW


def test_no_saving_is_promised_from_a_change_that_cost_time():
    assert "no false promise." in page.FIRST


def test_the_page_tells_of_whole_layers_by_meetings():
    assert page.LAYERS.rstrip() == frozen.HEAD.rstrip()
    assert len(page.MEETINGS) == len(MEETINGS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("meeting", "part"), [*zip(MEETINGS, page.MEETINGS, strict=True)], ids=["1", "2", "3", "4", "5", "6", "7", "8"]
)
def test_a_meeting_is_told_as_it_was_and_as_it_would_be_now(meeting, part):
    assert frozen.part_of(meeting) == part, page.RENEW
