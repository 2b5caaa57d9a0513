"""The `picture` argument: off by default, an image beside the answer, and a sentence where none can be drawn."""

import base64
import importlib.util

import pytest
from mcp.client import Client

from tests.asking import session
from ttnn_mcp.report import image
from ttnn_mcp.report.rows import MOST_OPS
from ttnn_mcp.server import server

PNG = b"\x89PNG drawn"


@pytest.fixture
def call(tmp_path):
    async def answer(**arguments):
        async with Client(server.build(session(tmp_path))) as client:
            return await client.call_tool("time_budget", {"run": "demo", **arguments})

    return answer


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, instead of drawing it: the extra is not installed everywhere."""
    asked = []

    def draw(budget, ops, caches):
        asked.append((budget, ops, caches))
        return PNG

    monkeypatch.setattr("ttnn_mcp.report.pictured.window_image", draw)
    monkeypatch.setattr("ttnn_mcp.report.pictured.check_drawable", lambda: None)
    return asked


@pytest.mark.parametrize("arguments", [{}, {"picture": False}, {"picture": None}])
async def test_no_picture_comes_unasked(call, drawn, arguments):
    result = await call(**arguments)
    assert [block.type for block in result.content] == ["text"]
    assert not drawn


async def test_a_picture_comes_beside_the_answer_and_shows_it(call, drawn):
    plain, result = await call(), await call(picture=True)
    assert [block.type for block in result.content] == ["text", "image"]
    assert result.content[1].mime_type == "image/png"
    assert base64.b64decode(result.content[1].data) == PNG
    assert result.structured_content == plain.structured_content
    [(budget, ops, _)] = drawn
    assert budget == plain.structured_content
    assert len(ops["ops"]["rows"]) == budget["window"]["rows"] < MOST_OPS


async def test_the_picture_is_of_the_window_that_was_asked_for(call, drawn):
    await call(picture=True, iteration=1)
    [(budget, ops, _)] = drawn
    assert ops["window"] == budget["window"]
    assert budget["window"]["iteration"] == 1


async def test_without_the_extra_a_sentence_says_what_to_install(call, monkeypatch):
    monkeypatch.setattr(image, "find_spec", lambda name: None)
    result = await call(picture=True)
    assert result.is_error
    assert "ttnn-mcp[picture]" in result.content[0].text


async def test_what_is_no_truth_value_is_refused(call):
    result = await call(picture="large")
    assert result.is_error
    assert "picture" in result.content[0].text


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the extra `picture` is not installed")
async def test_a_real_picture_is_a_png(call):
    result = await call(picture=True)
    assert base64.b64decode(result.content[1].data).startswith(b"\x89PNG\r\n\x1a\n")
