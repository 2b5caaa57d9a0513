"""Which finding an experiment tried, and what it promised."""

from __future__ import annotations

import pytest

from tests.for_all import for_all
from tests.tools.parts.test_loop_story import finding
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.experiments.outlook import Outlook
from ttnn_mcp.tools.parts import loop_finding
from ttnn_mcp.tools.parts.loop_answer import Arguments
from ttnn_mcp.tools.parts.loop_finding import finding_of, tried
from ttnn_mcp.wire import Saving

KNOWN, OTHER = (check.id for check in CATALOGUE[:2])


@for_all(
    ("said", "check"),
    [
        ({"finding": KNOWN, "change": f"as {OTHER} says"}, KNOWN),
        ({"change": f"as {OTHER} says"}, OTHER),
        ({"hypothesis": f"{KNOWN} is right"}, KNOWN),
        ({"change": f"{KNOWN} and {OTHER}"}, None),
        ({}, None),
    ],
)
def test_the_finding_is_the_one_that_was_given_or_that_the_texts_name(said, check):
    assert finding_of(Arguments(**said)) == check


@for_all(("said", "hint"), [(KNOWN[:-1], f"Did you mean '{KNOWN}'?"), ("zzz", "Take it from a finding's `check`")])
def test_a_finding_that_is_none_is_refused_with_the_nearest(said, hint):
    with pytest.raises(ArgumentsInvalid) as refused:
        finding_of(Arguments(finding=said))
    assert hint in str(refused.value)


async def test_a_promise_is_the_most_of_that_finding_on_the_run_before(monkeypatch):
    saved = [("one", 9.0), ("one", 12.0), ("two", 50.0)]
    found = [
        finding(check).model_copy(update={"saving_us": Saving(at_least=1, at_most=most)}) for check, most in saved
    ]
    outlook = Outlook(1e6, 8e5, 0.0, 0.0, 0.0, tuple(found), ())

    async def outlook_now(_run, _most):
        return outlook

    monkeypatch.setattr(loop_finding, "outlook_now", outlook_now)
    assert await tried(None, "one") == ("one", 12.0)
    assert await tried(None, "three") == ("three", 0.0)
    assert await tried(None, None) == (None, None)
    outlook = None
    assert await tried(None, "one") == ("one", None)
