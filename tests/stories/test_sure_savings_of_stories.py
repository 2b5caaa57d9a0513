"""Which findings about a story promise a least saving: beside the other tests of stories, which ask the same of each."""

from __future__ import annotations

import pytest

from tests.checks.test_sure_savings import SURE
from tests.stories import STORIES
from tests.stories.story import findings_of


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.id)
def test_no_other_finding_about_a_story_is_sure(story):
    sure = {one["check"] for one in findings_of(story)[0] if one["saving_us"]["at_least"] > 0}
    assert sure <= set(SURE)
