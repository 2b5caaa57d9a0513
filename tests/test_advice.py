"""What engineers really did, and what optimization_check says of it: no verdict changes unnoticed."""

from __future__ import annotations

from generate import advice, cases, frozen, stories
from tests.shared_reports import shared
from ttnn_mcp.checks.expectation import CASES


def test_the_page_on_the_advice_says_what_the_checks_say_now():
    shared("backtest/stories.json")
    assert advice.PAGE.read_text("utf-8") == advice.page(), (
        "run `make fix`, and say in the commit what got better or worse"
    )


def test_no_saving_is_promised_from_a_change_that_cost_time():
    assert "no false promise." in advice.PAGE.read_text("utf-8")


def test_the_page_tells_first_verdicts_and_those_of_now():
    page = advice.PAGE.read_text("utf-8")
    assert page[page.index(stories.TITLE) :] == f"{stories.section()}\n{cases.section()}\n{frozen.section()}", (
        "run `make fix`, and say in the commit what changed"
    )


def test_expectations_rest_on_the_cases_of_today():
    assert CASES.read_text("utf-8") == cases.text_of(cases.shares(cases.cases())), "run `make fix`"
