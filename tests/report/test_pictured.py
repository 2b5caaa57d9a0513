"""Which picture a call asks for, and what it is drawn from."""

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.report import pictured
from ttnn_mcp.report.images import canvas
from ttnn_mcp.tools import TOOLS, answering

pytestmark = pytest.mark.usefixtures("opened_once")


def tool(name):
    return answering.tool_named(name, TOOLS)


@pytest.fixture
def drawable(monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda _: object())


@for_all(
    ("name", "arguments", "wanted"),
    [
        ("time_budget", {"run": "demo", "picture": "cores"}, "cores"),
        ("time_budget", {"run": "demo", "picture": None}, None),
        ("time_budget", {"run": "demo"}, None),
        ("open_run", {"run": "demo", "picture": "cores"}, None),
    ],
)
def test_a_picture_is_drawn_where_a_call_asks_for_it(drawable, name, arguments, wanted):
    assert pictured.wanted(tool(name), arguments) == wanted


@for_all("arguments", [{"run": "demo"}, {"run": "demo", "picture": None}])
def test_a_call_that_asks_for_none_needs_nothing_that_draws(monkeypatch, arguments):
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    assert pictured.wanted(tool("time_budget"), arguments) is None


def test_a_picture_that_is_not_there_is_refused(drawable):
    with pytest.raises(ArgumentsInvalid, match="picture"):
        pictured.wanted(tool("time_budget"), {"run": "demo", "picture": "l1"})


@for_all(
    ("name", "picture", "draws"),
    [
        ("time_budget", "window", ("draw_window", {"budget", "ops"})),
        ("time_budget", "timeline", ("draw_timeline", {"budget", "ops"})),
        ("time_budget", "cores", ("draw_cores", {"budget", "ops"})),
        ("time_budget", "roofline", ("draw_roofline", {"ops", "rooflines"})),
        ("memory_summary", "l1", ("draw_levels", {"memory", "levels"})),
        ("compare_runs", "before_after", ("draw_before_after", {"comparison"})),
    ],
)
async def test_each_picture_is_drawn_from_the_answer_beside_it(tmp_path, monkeypatch, name, picture, draws):
    drawn = []
    monkeypatch.setattr(pictured, "png", lambda draw, _: drawn.append(draw) or b"PNG")
    subject = {"baseline": "demo", "candidate": "demo"} if name == "compare_runs" else {"run": "demo"}
    at = session(tmp_path)
    answer = await ask(at, name, **subject)
    assert await pictured.picture(at, tool(name), {**subject, "picture": picture}, answer) == b"PNG"
    (draw,) = drawn
    assert (draw.func.__name__, {*draw.keywords}) == draws
    assert picture == "roofline" or answer in draw.keywords.values()
