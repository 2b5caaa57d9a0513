"""Stories that no check was written for: what optimization_check says of them cannot get worse unnoticed."""

from __future__ import annotations

import pytest

from generate import stories
from tests.checks.test_sure_savings import SURE
from tests.for_all import for_all
from tests.stories import STORIES, page
from tests.stories.story import findings_of, naming, verdict

GOOD = ("right", "right, wide", "named")


@pytest.mark.slow
def test_what_is_said_of_the_stories_is_what_was_said_before_and_stands_on_the_page():
    """In one test, because processes share no findings: these are 150 reports.

    A story that got better is told in its `now`; one that got worse is a bug, or says why in its commit.
    """
    for_all("story", STORIES, ids=lambda story: story.id)(is_told_as_before)()
    assert stories.section() == page.STORIES, page.RENEW


@for_all("story", STORIES[::5], ids=lambda story: story.id)
def test_what_is_said_of_every_fifth_story_is_what_was_said_before(story):
    is_told_as_before(story)


def is_told_as_before(story):
    """No lower bound is above what was measured, and none stands where only shapes tell who reads what."""
    found, kernel_us = findings_of(story)
    assert verdict(story, found, kernel_us) == story.now
    named = {one["check"]: one["saving_us"]["at_least"] for one in naming(story, found)}
    assert all(least <= (story.saving_us or 0) for least in named.values()), named
    assert {one["check"] for one in found if one["saving_us"]["at_least"]} <= set(SURE)


@for_all("story", STORIES, ids=lambda story: story.id)
def test_no_story_that_was_told_well_at_first_is_told_worse_now(story):
    assert story.now in GOOD or story.first not in GOOD


def test_a_story_that_is_not_told_well_says_why():
    silent = [story.id for story in STORIES if story.now not in ("right", "named") and not story.unknown]
    assert not silent, f"say in `unknown` why no report tells it, or tell it: {silent}"


def test_no_story_stands_twice():
    assert len({story.id for story in STORIES}) == len(STORIES)


def test_a_promise_from_a_change_that_brought_nothing_is_called_false():
    story = next(one for one in STORIES if one.id == "decode-k1024")
    promise = {"fix": "DRAMShardedProgramConfig", "saving_us": {"at_most": 2, "expected": 1}}
    assert verdict(story, [promise], 30) == "false promise"
    assert verdict(story, [promise], 40) == "right"
    trial = {"fix": "DRAMShardedProgramConfig", "saving_us": {"at_most": 20, "expected": None}}
    assert verdict(story, [trial], 30) == "right"


@for_all(
    ("bounds", "expected"),
    [((0, 105), "right"), ((0, 90), "bound wrong"), ((103, 400), "bound wrong"), ((0, 600), "right, wide")],
)
def test_bounds_must_hold_what_was_measured(bounds, expected):
    story = next(one for one in STORIES if one.id == "decode-k2048")
    told = {"fix": "DRAM-sharded", "saving_us": dict(zip(("at_least", "at_most"), bounds, strict=True))}
    assert verdict(story, [told], 300) == expected


def test_another_change_and_silence_are_told_apart():
    story = next(one for one in STORIES if one.id == "decode-k2048")
    risk, other = ({"fix": "?", "saving_us": {"at_most": most}} for most in (0, 9))
    assert verdict(story, [risk], 300) == "silent"
    assert verdict(story, [risk, other], 300) == "other change"
