"""Answers on the demo run stay what they were until somebody has read the difference."""

import json

import pytest

from generate import golden
from tests.for_all import for_all
from tests.oracles.sentences import flaws


@pytest.fixture(scope="module")
def said():
    import asyncio

    return asyncio.run(golden.answers())


@for_all("tool", list(golden.CALLS))
def test_an_answer_is_the_one_that_was_reviewed(said, tool):
    kept = (golden.FOLDER / f"{tool}.json").read_text(encoding="utf-8")
    assert [*flaws(json.loads(kept))] == []
    assert said[tool] == kept, "if the change is meant: python -m generate.golden, then read the difference"


def test_there_are_no_golden_answers_that_nothing_checks():
    assert {path.stem for path in golden.FOLDER.iterdir()} == set(golden.CALLS)
