"""Where the log goes and comes from: over HTTP only within the state folder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.asking import session
from tests.experiments.writer import experiment
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.tools.parts.loop_actions import bring_in, export


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


@pytest.fixture
def confined(at):
    """The same session over HTTP."""
    at.settings = replace(at.settings, confined=True)
    return at


async def test_an_export_comes_back_from_wherever_a_person_puts_it(at, tmp_path):
    await Store(at.settings.state_folder).add(experiment("one"))
    for path in (None, str(tmp_path / "elsewhere.json")):
        moved = (await export(at, path)).file
        assert moved.experiments == 1
        assert (await bring_in(at, moved.path, None)).file.new == 0


async def test_over_http_an_export_stays_in_the_state_folder_and_comes_back_from_there(confined, tmp_path):
    await Store(confined.settings.state_folder).add(experiment("one"))
    with pytest.raises(QuestionRefused, match="leave out `path`"):
        await export(confined, str(tmp_path / "elsewhere.json"))
    moved = (await export(confined, None)).file
    assert (await bring_in(confined, moved.path, None)).file.experiments == 1


async def test_over_http_nothing_is_read_from_elsewhere(confined, tmp_path):
    with pytest.raises(QuestionRefused, match="only files in the state folder"):
        await bring_in(confined, str(tmp_path / "elsewhere.json"), None)
