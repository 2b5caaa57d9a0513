"""Where the log goes and comes from: over HTTP only within the state folder."""

from __future__ import annotations

import json
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


async def test_results_of_a_replay_are_kept_and_counted(at, tmp_path):
    facts = {"format": "ttnn-mcp replay 1", "line": 3, "op": "Matmul", "signature": "0" * 16, "tuned": "1" * 16}
    facts |= {"arch": "wormhole_b0", "clock_ghz": 1.0, "kernel_us": 100.0, "floor_us": 10.0, "mode": "measured"}
    tried = {"name": "as profiled", "settings": {}, "outcome": "measured", "median_us": 100.0}
    path = tmp_path / "replay.json"
    path.write_text(json.dumps({**facts, "candidates": [tried, {**tried, "name": "a=1"}]}))
    moved = (await bring_in(at, str(path), None)).file
    assert (moved.path, moved.experiments, moved.replayed) == (str(path), 0, 2)
    assert [file.name[:16] for file in at.replays.folder.glob("*.json")] == ["0" * 16]


async def test_over_http_an_export_stays_in_the_state_folder_and_comes_back_from_there(confined, tmp_path):
    await Store(confined.settings.state_folder).add(experiment("one"))
    with pytest.raises(QuestionRefused, match="leave out `path`"):
        await export(confined, str(tmp_path / "elsewhere.json"))
    moved = (await export(confined, None)).file
    assert (await bring_in(confined, moved.path, None)).file.experiments == 1


async def test_over_http_nothing_is_read_from_elsewhere(confined, tmp_path):
    with pytest.raises(QuestionRefused, match="only files in the state folder"):
        await bring_in(confined, str(tmp_path / "elsewhere.json"), None)
