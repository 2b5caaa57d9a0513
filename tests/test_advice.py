"""What engineers really did, and what optimization_check says of it: no verdict changes unnoticed."""

from __future__ import annotations

from generate import advice, stories
from tests.shared_reports import shared


def test_the_page_on_the_advice_says_what_the_checks_say_now():
    shared("backtest/stories.json")
    assert advice.PAGE.read_text("utf-8") == advice.page(), (
        "run `make fix`, and say in the commit what got better or worse"
    )


def test_no_saving_is_promised_from_a_change_that_cost_time():
    assert "no false promise." in advice.PAGE.read_text("utf-8")


def test_the_page_tells_first_verdicts_and_those_of_now():
    page = advice.PAGE.read_text("utf-8")
    assert page[page.index(stories.TITLE) :] == stories.section(), (
        "run `make fix`, and say in the commit what changed"
    )
