"""The picture of an answer, drawn by matplotlib: what it shows stands where the numbers say."""

import io
import time

import pytest

from browser.elsewhere import elsewhere
from tests.asking import session
from tests.pairs import Model, write
from ttnn_mcp.report import pictured
from ttnn_mcp.report.image import COLOURS, DOTS, HEIGHT, WIDTH
from ttnn_mcp.tools import TOOLS, answering

Image = pytest.importorskip("PIL.Image")
TOOL = answering.tool_named("time_budget", TOOLS)
SECONDS = 10


def drawn(folder, run):
    async def picture():
        at, arguments = session(folder), {"run": run, "picture": True}
        assert pictured.wanted(TOOL, arguments)
        answer, _ = await answering.answer(at, TOOL, arguments)
        return await pictured.picture(at, TOOL, arguments, answer)

    return Image.open(io.BytesIO(elsewhere(picture))).convert("RGB")


def share(picture, colour):
    wanted = tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return (
        sum(count for count, each in picture.getcolors(1 << 20) if each == wanted) / picture.width / picture.height
    )


def test_the_demo_shows_every_bound_it_has(tmp_path):
    picture = drawn(tmp_path, "demo")
    assert picture.size == (WIDTH * DOTS, HEIGHT * DOTS)
    for bound in ("compute", "dram", "l1", "overhead"):
        assert share(picture, COLOURS[bound]) > 0.002, bound
    assert share(picture, COLOURS[None]) > 0.005


def test_ten_thousand_ops_are_drawn_in_seconds(tmp_path):
    run = str(write(tmp_path / "large", Model(layers=1000)))
    drawn(tmp_path, "demo")  # the import is not measured
    began = time.perf_counter()
    drawn(tmp_path, run)
    assert time.perf_counter() - began < SECONDS


def test_a_name_with_dollars_is_no_formula(tmp_path):
    from tests.report.test_page import named

    drawn(tmp_path, named(tmp_path / "run", ["$x_{", "\\frac{"]))
