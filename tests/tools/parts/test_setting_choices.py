"""The legal values of a setting: which are marked, which are listed, and what is said of them all."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.settings.predicted import LegalChoice
from ttnn_mcp.tools.parts import setting_choices
from ttnn_mcp.tools.parts.setting_choices import CHOICES_AT_MOST, law_of, listed, marks_of, nearest, summary
from ttnn_mcp.tools.parts.setting_wording import NO_LAW, NO_TIMES

NOW_US = 100.0


def choice(value, us=None, *, now=1, verdict="fits", errs=0.0, at_most_ns=None):
    """A legal value, of which a law expects `us` and errs by so much."""
    judged = SimpleNamespace(verdict=verdict, trial=SimpleNamespace(now=now, at_most_ns=at_most_ns), l1_bytes=None)
    return LegalChoice(value, judged, None if us is None else Expected(us, us - errs, us + errs, "a law", ""))


def marked(*legal, now_us=NOW_US, setting="in0_block_w"):
    return {legal[place].value: mark for place, mark in marks_of(setting, legal, now_us).items()}


@pytest.fixture
def said(monkeypatch):
    """`said(*legal)`: the summary, for an op that took what its law expects."""
    monkeypatch.setattr(setting_choices, "unlike_its_law", lambda _: None)
    return lambda *legal, us=NOW_US, setting="in0_block_w": summary(
        setting, [*legal], SimpleNamespace(kernel_us=us)
    )


def test_the_largest_number_is_told_beside_the_largest_that_fits():
    assert marked(choice(1), choice(4), choice(8, verdict="too_large")) == {
        1: "now",
        8: "largest",
        4: "largest that fits",
    }
    assert marked(choice(1), choice(4)) == {1: "now", 4: "largest"}
    assert marked(choice(1, verdict="too_large")) == {1: "now, largest"}


def test_what_is_no_number_has_no_largest():
    assert marked(choice("LoFi", now="LoFi"), choice("HiFi2", now="LoFi")) == {"LoFi": "now"}


@for_all(
    ("setting", "us", "errs", "mark"),
    [
        ("in0_block_w", 50, 10, "recommended"),
        ("in0_block_w", 90, 20, "a trial"),
        ("weights_dtype", 50, 10, "fastest, costs accuracy"),
        ("weights_dtype", 90, 20, "fastest, costs accuracy"),
    ],
)
def test_the_fastest_is_recommended_where_it_is_sure_and_costs_nothing(setting, us, errs, mark):
    assert marked(choice("a", NOW_US, now="a"), choice("b", us, now="a", errs=errs), setting=setting) == {
        "a": "now",
        "b": mark,
    }


def test_todays_value_is_recommended_where_no_other_is_faster():
    assert marked(choice("b", 120, now="a"), choice("a", NOW_US, now="a")) == {"a": "now, recommended"}


def test_without_a_law_what_may_save_most_is_a_trial():
    legal = choice("a", now="a"), choice("b", now="a", at_most_ns=9.0)
    assert marked(*legal) == {"a": "now", "b": "a trial"}
    assert marked(*legal, setting="weights_dtype") == {"a": "now"}


def test_without_times_nothing_is_to_be_tried():
    legal = choice("a", now="a"), choice("b", 5.0, now="a", at_most_ns=9.0)
    assert marked(*legal, now_us=None) == {"a": "now"}


def test_the_marked_ones_are_listed_first_and_once():
    legal = choice(1), choice(2, 70), choice(4, 60)
    assert [(one.value, one.mark, one.expected_us) for one in listed(legal, legal, {0: "now"})] == [
        (1, "now", None),
        (4, None, 60),
        (2, None, 70),
    ]


def test_a_law_is_named_where_it_tells_of_another_value_than_todays():
    assert law_of([choice(1, 100)]) is None
    assert law_of([choice(1, 100), choice(2, 90), choice(4, 80), choice(8)]) == "a law"


def test_a_summary_says_what_the_best_value_brings(said):
    assert said(choice(1), choice(4), us=None) == NO_TIMES
    by_law = "4: predicted by a law, not measured: 50.0 us (45.0 to 55.0)"
    assert said(choice(1, NOW_US), choice(4, 50, errs=5.0), us=None) == by_law
    assert said(choice(1, NOW_US), choice(4, 50, verdict="too_large")) == "no other fits"
    assert said(choice(1, 90), choice(4, 120)) == "no other is expected to be faster than 1"
    assert said(choice(1, NOW_US), choice(4, 50)).startswith("4: ")


def test_without_a_law_a_summary_names_the_trial(said):
    legal = choice("a", now="a"), choice("b", now="a", at_most_ns=9.0)
    assert said(*legal) == f"{NO_LAW} (b first)"
    assert said(*legal, setting="weights_dtype") == NO_LAW


@for_all(
    ("setting", "us", "asks"),
    [("weights_dtype", 50, True), ("in0_block_w", 50, False), ("weights_dtype", 99.9, False)],
)
def test_a_gain_that_costs_accuracy_asks_for_the_pcc(said, setting, us, asks):
    text = said(choice("a", NOW_US, now="a"), choice("b", us, now="a", errs=1), setting=setting)
    assert text.endswith(", if the PCC allows it") == asks


@for_all(
    ("law", "told"), [(None, NO_LAW), (Expected(50, 40, 60, "", ""), f"{NO_LAW}; it took 100.0 us where its law")]
)
def test_a_time_that_no_law_expects_is_told(monkeypatch, law, told):
    monkeypatch.setattr(setting_choices, "unlike_its_law", lambda _: law)
    text = summary("in0_block_w", [choice(1), choice(2)], SimpleNamespace(kernel_us=NOW_US))
    assert text.startswith(told)
    assert (text == told) == (law is None)


@for_all(("now", "first"), [(1, 1), (30, 19), (60, 37), (None, 1), (True, 1), ("8x8", 1)])
def test_of_many_values_those_around_todays_are_listed(now, first):
    values = [one.value for one in nearest([choice(value) for value in range(1, 61)], now)]
    assert values == [*range(first, first + CHOICES_AT_MOST)]


def test_values_that_are_no_numbers_are_listed_in_their_order():
    legal = [choice(f"{columns}x8") for columns in range(1, 31)]
    assert nearest(legal, 30) == legal[:CHOICES_AT_MOST]
