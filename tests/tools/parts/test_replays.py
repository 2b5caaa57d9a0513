"""Scripts of replays: what they may replace, and what is said of a try; tests/replay has their proofs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools.parts import replays
from ttnn_mcp.tools.parts.replays import written

MARK = "ttnn-mcp replay"


def test_a_script_replaces_a_script_and_no_other_file(tmp_path):
    path = tmp_path / "folder" / "try.py"
    for number in range(2):
        written(path, f"# {MARK} {number}")
    assert path.read_text() == f"# {MARK} 1"
    path.write_text("import ttnn")
    with pytest.raises(QuestionRefused, match=r"try\.py exists and is no script of ours"):
        written(path, f"# {MARK} 2")
    assert path.read_text() == "import ttnn"


@for_all(("end", "ours"), [(60_000, True), (60_001, False)])
def test_a_script_tells_in_its_first_60_kb_that_it_is_one(tmp_path, end, ours):
    path = tmp_path / "try.py"
    path.write_text("x" * (end - len(MARK)) + MARK)
    if ours:
        written(path, MARK)
        assert path.read_text() == MARK
    else:
        with pytest.raises(QuestionRefused):
            written(path, MARK)


@for_all(
    ("outcome", "took", "predicted", "settings", "why"),
    [
        ("refused", 5, 3, {}, "said"),
        ("accepted", None, 3, {}, "said"),
        ("accepted", 3, None, {}, "said"),
        ("accepted", 3, 3, {}, "said"),
        ("accepted", 5_000, 3_000, {"in0_block_w": 2}, "2,000 B more than predicted"),
        ("accepted", 3_000, 5_000, {"in0_block_w": 2}, "2,000 B less than predicted"),
        ("accepted", 5, 3, {}, "2 B more than predicted: what TTNN runs here is not quite what ran"),
    ],
)
def test_a_try_says_how_its_l1_differs_from_what_was_predicted(outcome, took, predicted, settings, why):
    one = SimpleNamespace(outcome=outcome, buffer_bytes=took, settings=settings, why="said")
    assert replays._why(one, predicted) == why
