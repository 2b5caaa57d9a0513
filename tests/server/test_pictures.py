"""The `picture` argument: off by default, an image beside the answer, and a sentence where none can be drawn."""

import base64
import importlib.util

import pytest
from mcp.client import Client

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.report.images import canvas
from ttnn_mcp.report.rows import MOST_OPS
from ttnn_mcp.server import server

pytestmark = pytest.mark.usefixtures("opened_once")

PNG = b"\x89PNG drawn"
OF_WINDOWS = ("window", "timeline", "roofline", "cores")
EVERY = [
    *(("time_budget", name) for name in OF_WINDOWS),
    ("memory_summary", "l1"),
    ("compare_runs", "before_after"),
]
NO_MATPLOTLIB = importlib.util.find_spec("matplotlib") is None


@pytest.fixture
def call(tmp_path):
    async def answer(tool="time_budget", **arguments):
        subject = {"baseline": "demo", "candidate": "demo"} if tool == "compare_runs" else {"run": "demo"}
        async with Client(server.build(session(tmp_path))) as client:
            return await client.call_tool(tool, {**subject, **arguments})

    return answer


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, instead of drawing it: the extra is not installed everywhere."""
    asked = []

    def draw(picture, _caches):
        asked.append((picture.func.__name__, picture.keywords))
        return PNG

    monkeypatch.setattr("ttnn_mcp.report.pictured.png", draw)
    monkeypatch.setattr("ttnn_mcp.report.pictured.check_drawable", lambda: None)
    return asked


@for_all("tool", ["time_budget", "memory_summary", "compare_runs"], sampled=5)
@for_all("arguments", [{}, {"picture": None}])
async def test_no_picture_comes_unasked(call, drawn, tool, arguments):
    result = await call(tool, **arguments)
    assert [block.type for block in result.content] == ["text"]
    assert not drawn


@for_all(("tool", "name"), EVERY, sampled=3)
async def test_a_picture_comes_beside_the_answer_and_shows_it(call, drawn, tool, name):
    plain, result = await call(tool), await call(tool, picture=name)
    assert [block.type for block in result.content] == ["text", "image"]
    assert result.content[1].mime_type == "image/png"
    assert base64.b64decode(result.content[1].data) == PNG
    assert result.structured_content == plain.structured_content
    [(function, shown)] = drawn
    assert function == {"l1": "draw_levels"}.get(name, f"draw_{name}")
    if name != "roofline":  # it is drawn from what op_detail says of each op
        assert plain.structured_content in shown.values()
    if tool == "time_budget":
        assert len(shown["ops"]["ops"]["rows"]) == plain.structured_content["window"]["rows"] < MOST_OPS


async def test_the_picture_is_of_the_window_that_was_asked_for(call, drawn):
    await call(picture="timeline", iteration=1)
    [(_, shown)] = drawn
    assert shown["ops"]["window"] == shown["budget"]["window"]
    assert shown["budget"]["window"]["iteration"] == 1


async def test_the_levels_hold_every_operation_and_the_answer_the_one_asked_for(call, drawn, tmp_path):
    await call("memory_summary", picture="l1", operation=28)
    [(_, shown)] = drawn
    levels = {row[0]: row[2] for row in shown["levels"]["rows"]}
    assert shown["memory"]["l1_peak"]["bytes_per_bank"] == levels[28]
    whole = await ask(session(tmp_path), "memory_summary", run="demo")
    assert max(levels.values()) == whole["l1_peak"]["bytes_per_bank"]


async def test_without_the_extra_a_sentence_says_what_to_install(call, monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda name: None)
    for tool, name in EVERY:
        result = await call(tool, picture=name)
        assert result.is_error
        assert "ttnn-mcp[picture]" in result.content[0].text


@for_all("tool", ["time_budget", "memory_summary", "compare_runs"])
async def test_an_unknown_picture_is_refused_with_those_there_are(call, tool):
    result = await call(tool, picture="large")
    assert result.is_error
    for asked, name in EVERY:
        assert (name in result.content[0].text) == (asked == tool)


@pytest.mark.slow
@pytest.mark.skipif(NO_MATPLOTLIB, reason="the extra `picture` is not installed: `make check` brings it")
@pytest.mark.parametrize(("tool", "name"), EVERY)
async def test_a_real_picture_is_a_png(call, tool, name):
    result = await call(tool, picture=name)
    assert base64.b64decode(result.content[1].data).startswith(b"\x89PNG\r\n\x1a\n")
