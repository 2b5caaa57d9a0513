"""replay_op: the tool; tests/replay has what its scripts say and what is made of their results."""

import pytest

from tests.asking import ask, session
from ttnn_mcp.errors import QuestionRefused, ReportMissing


async def test_an_op_of_the_demo_gets_a_script_and_its_candidates(tmp_path):
    answer = await ask(session(tmp_path), "replay_op", run="demo", op=80, path=str(tmp_path / "try.py"), limit=3)
    assert answer["op_code"] == "Matmul"
    assert answer["candidates"]["columns"] == ["candidate", "expected_us", "low_us", "buffer_bytes"]
    assert len(answer["candidates"]["rows"]) == 3
    expected = [row[1] for row in answer["candidates"]["rows"]]
    assert expected == sorted(expected)
    assert "Replays Matmul, line 80" in (tmp_path / "try.py").read_text()


async def test_results_that_are_not_there_are_missing(tmp_path):
    with pytest.raises(ReportMissing):
        await ask(session(tmp_path), "replay_op", run="demo", op=80, results=str(tmp_path / "none.json"))


async def test_a_line_that_holds_no_op_is_refused(tmp_path):
    with pytest.raises(QuestionRefused, match="No op at line 900"):
        await ask(session(tmp_path), "replay_op", run="demo", op=900)
