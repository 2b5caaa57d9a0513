"""replay_op: the tool; tests/replay has what its scripts say and what is made of their results."""

import json
from pathlib import Path

import pytest

from tests.asking import ask, session
from tests.replay.test_results import FACTS, tried
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, ReportMissing
from ttnn_mcp.session.session import Session
from ttnn_mcp.session.settings import Settings


async def test_an_op_of_the_demo_gets_a_script_and_its_candidates(tmp_path):
    answer = await ask(session(tmp_path), "replay_op", run="demo", op=80, path=str(tmp_path / "try.py"), limit=3)
    assert answer["op_code"] == "Matmul"
    assert answer["candidates"]["columns"] == ["candidate", "expected_us", "low_us", "buffer_bytes"]
    assert len(answer["candidates"]["rows"]) == 3
    assert "Replays Matmul, line 80 of a profile" in (tmp_path / "try.py").read_text()


async def test_the_l1_beside_an_op_and_what_it_took_itself_are_written_as_its_memory_report_has_them(tmp_path):
    """Line 75: 73,728 of 1,393,312 bytes lie above its buffers, a third of that its result. A conv shards in its call."""
    at, path = session(tmp_path), tmp_path / "try.py"
    answer = await ask(at, "replay_op", run="demo", op=75, path=str(path), sweep=[])
    assert answer["assumed"] == ["what else lay in L1 is one tensor, of that size", "made-up values"]
    assert f"'free_bytes': {1_393_312 - 73_728 + 24_576}," in path.read_text()
    assert "'settings': {}, 'buffer_bytes': 724992}" in path.read_text()
    await ask(at, "replay_op", run="demo", op=9, path=str(path), sweep=[])
    assert "'free_bytes': None," in path.read_text()


async def test_twelve_candidates_are_tried_unasked_and_two_hundred_at_most(tmp_path):
    at, asked = session(tmp_path), {"run": "demo", "op": 75, "path": str(tmp_path / "try.py")}
    counts = [
        len((await ask(at, "replay_op", **asked, **more)).get("candidates", {"rows": []})["rows"])
        for more in ({}, {"limit": 0}, {"limit": 200})
    ]
    assert counts == [12, 0, 19]
    for limit in (-1, 201):
        with pytest.raises(ArgumentsInvalid, match="'limit' is 0 to 200"):
            await ask(at, "replay_op", **asked, limit=limit)


async def test_results_that_are_not_there_are_missing(tmp_path):
    with pytest.raises(ReportMissing):
        await ask(session(tmp_path), "replay_op", run="demo", op=80, results=str(tmp_path / "none.json"))


async def test_a_line_that_holds_no_op_is_refused(tmp_path):
    with pytest.raises(QuestionRefused, match="No op at line 900"):
        await ask(session(tmp_path), "replay_op", run="demo", op=900)


async def test_an_op_of_a_memory_report_alone_gets_a_script(tmp_path):
    memory = Path(__file__).parents[2] / "resources" / "demo" / "memory"
    answer = await ask(session(tmp_path), "replay_op", run=str(memory), op=8, path=str(tmp_path / "s.py"), limit=0)
    assert answer["op_code"] == "Conv2d"


async def test_over_http_nothing_is_written_and_results_come_from_the_state_folder_alone(tmp_path):
    state, asked = tmp_path / "state", {"run": "demo", "op": 80, "limit": 0}
    at = Session(Settings(roots=[tmp_path / "reports"], confined=True, state=state))
    answer = await ask(at, "replay_op", **asked)
    assert ("Replays Matmul" in answer["script"], "file" in answer) == (True, False)
    with pytest.raises(QuestionRefused, match="Over HTTP no file is written"):
        await ask(at, "replay_op", **asked, path=str(tmp_path / "try.py"))
    for folder, why in (
        (tmp_path, "Over HTTP only results in the state folder"),
        (state, "was measured of another op"),
    ):
        folder.mkdir(exist_ok=True)
        results = folder / "results.json"
        results.write_text(json.dumps({"format": "ttnn-mcp replay 1", **FACTS, "candidates": [tried(100.0)]}))
        with pytest.raises(QuestionRefused, match=why):
            await ask(at, "replay_op", **asked, results=str(results))
