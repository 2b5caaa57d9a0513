"""What `profile` says of its reports."""

from pathlib import Path

from tests.asking import session
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell.capture import outcome
from ttnn_mcp.shell.capture.profiled import Capture


def capture(performance, status=0):
    sentences = []
    asked = Capture(["pytest"], [], False, sentences.append, status=status, performance=Path(performance))
    return asked, sentences


async def test_both_reports_are_read_as_one_run(tmp_path):
    performance, memory = demo_reports()
    asked, sentences = capture(performance)
    asked.memory_report = Path(memory)
    text = await outcome.findings_of(session(tmp_path), asked)
    assert sentences == []
    assert "db.sqlite, " in text
    assert asked.status == 0


async def test_a_report_that_cannot_be_read_fails_the_capture_in_a_sentence(tmp_path):
    broken = tmp_path / "ops_perf_results_1.csv"
    broken.write_bytes(b"\0" * 1000)
    for status, ends in ((0, 1), (7, 7)):
        asked, sentences = capture(broken, status)
        assert await outcome.findings_of(session(tmp_path), asked) == ""
        assert len(sentences) == 1
        assert asked.status == ends
