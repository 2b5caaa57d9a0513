"""What engineers really did, and what optimization_check says of it: no verdict changes unnoticed.

Of the stories that no check was written for, tests/stories/test_stories.py speaks.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from generate import advice, cases, frozen
from generate.frozen import MEETINGS_THAT_WERE, MODELS
from tests.shared_reports import shared
from tests.stories import page
from ttnn_mcp.checks.expectation import CASES

SAMPLED = 12  # models of which one is judged each time, and without its own cases


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
    """Of what the checks say of 900 layers, which is kept beside them, a part is asked again."""
    assert [frozen.part_of(meeting) for meeting in MEETINGS_THAT_WERE] == page.MEETINGS, page.RENEW
    assert cases.section() == page.CASES, page.RENEW
    told, tried = cases.cases(), cases.tries()
    text = cases.text_of(cases.told_by(told, tried))
    assert CASES.read_text("utf-8") == text, page.RENEW
    said, by_others = frozen.said_now(), frozen.read_verdicts(cases.BY_OTHERS)
    assert [*said] == [*by_others] == [*MODELS], page.RENEW
    turn = crc32(text.encode()) % SAMPLED
    for model in [*MODELS][turn::SAMPLED]:  # all of them take minutes: which these are changes with the cases
        now = frozen.asked(MODELS[model])
        assert [one.cells for one in said[model]] == [one.cells for one in now], page.RENEW
        assert by_others[model] == cases.verdicts_by_others(model, told, tried), page.RENEW
