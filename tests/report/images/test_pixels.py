"""The pictures of answers, drawn by matplotlib: what each shows stands where the numbers say. `make check` installs it."""

import asyncio
import io
import time
from pathlib import Path

import pytest

from tests.asking import session
from tests.pairs import Model, write
from ttnn_mcp.report import pictured
from ttnn_mcp.report.images.canvas import BAR, COLOURS, DOTS, HEIGHT, WIDTH
from ttnn_mcp.report.plotted import points_of
from ttnn_mcp.tools import TOOLS, answering

pytest.importorskip("matplotlib", reason="the extra `picture` is not installed: `make check` brings it")
Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.slow
SECONDS = 10
KB = 1000


@pytest.fixture
def figures(monkeypatch):
    """The figures that were saved, with everything on them."""
    from matplotlib.figure import Figure

    saved, save = [], Figure.savefig

    def kept(figure, *words, **options):
        saved.append(figure)
        save(figure, *words, **options)

    monkeypatch.setattr(Figure, "savefig", kept)
    return saved


def drawn(of_state, name, tool="time_budget", **arguments):
    """The decoded picture, and the answer that it came with; in a folder, or in a session that has answered before."""

    async def both():
        at = session(of_state) if isinstance(of_state, Path) else of_state
        asked = {"picture": name, **arguments}
        of = answering.tool_named(tool, TOOLS)
        assert pictured.wanted(of, asked) == name
        answer, _ = await answering.answer(at, of, asked)
        return await pictured.picture(at, of, asked, answer), answer

    png, answer = asyncio.run(both())
    picture = Image.open(io.BytesIO(png))
    assert picture.format == "PNG"
    assert picture.size == (WIDTH * DOTS, HEIGHT * DOTS)
    return picture.convert("RGB"), answer


def share(picture, colour):
    wanted = tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return (
        sum(count for count, each in picture.getcolors(1 << 20) if each == wanted) / picture.width / picture.height
    )


def ops_of(folder, **arguments):
    async def asked():
        tool = answering.tool_named("list_ops", TOOLS)
        answer, _ = await answering.answer(session(folder), tool, {"sort": "order", "limit": 200, **arguments})
        return answering.records(answer["ops"])

    return asyncio.run(asked())


def test_a_window_shows_every_bound_and_every_entry_of_the_ledger(tmp_path, figures):
    picture, answer = drawn(tmp_path, "window", run="demo")
    for bound in ("compute", "dram", "l1", "overhead"):
        assert share(picture, COLOURS[bound]) > 0.002, bound
    assert share(picture, COLOURS[None]) > 0.005
    ledger = figures[0].axes[0].patches
    assert [bar.get_width() for bar in ledger] == [row[1] for row in answer["ledger"]["rows"]]


def test_in_a_timeline_each_bound_takes_the_time_of_its_ops(tmp_path):
    picture, _ = drawn(tmp_path, "timeline", run="demo")
    times = {}
    for op in ops_of(tmp_path, run="demo"):
        times[op["bound"]] = times.get(op["bound"], 0) + op["kernel_us"]
    lane = picture.crop(
        (0, picture.height // 2, picture.width, picture.height // 2 + 1)
    )  # one row, without the legend
    areas = {bound: share(lane, COLOURS[bound]) for bound in times}
    for bound, time_us in times.items():
        assert areas[bound] / sum(areas.values()) == pytest.approx(time_us / sum(times.values()), abs=0.02), bound


def test_the_cores_are_those_of_the_ops_in_their_order(tmp_path, figures):
    picture, _ = drawn(tmp_path, "cores", run="demo")
    assert share(picture, BAR) > 0.05
    (shape,) = figures[0].axes[1].collections
    cores = [op["cores"] for op in ops_of(tmp_path, run="demo")]
    assert shape.get_datalim(figures[0].axes[1].transData).y1 == max(cores)
    path = shape.get_paths()[0]
    for place, count in enumerate(cores):
        assert path.contains_point((place + 0.5, count - 0.5))
        assert not path.contains_point((place + 0.5, count + 0.5))


def test_a_roofline_has_each_op_where_its_figures_say(tmp_path, figures):
    from ttnn_mcp.report.answers import answers_of

    picture, _ = drawn(tmp_path, "roofline", run="demo")
    for bound in ("compute", "dram", "l1"):
        assert share(picture, COLOURS[bound]) > 0.0001, bound
    answers = asyncio.run(answers_of(session(tmp_path), "demo", None))
    wanted = sorted((point.flops_per_byte, point.tflops) for point in points_of(answers.ops, answers.rooflines))
    (axes,) = figures[0].axes
    assert sorted(tuple(at) for marks in axes.collections for at in marks.get_offsets()) == wanted
    for x, y in wanted:  # the mark's own colour stands at its place
        left, low = axes.transData.transform((x, y))
        assert picture.getpixel((round(left), picture.height - round(low))) != (255, 255, 255)
    peaks = [text.get_text() for text in axes.texts]
    assert any("288 GB/s" in words for words in peaks)


def test_the_levels_of_l1_have_their_peak_and_what_is_live_there(tmp_path, figures):
    picture, answer = drawn(tmp_path, "l1", "memory_summary", run="demo")
    assert share(picture, COLOURS["compute"]) > 0.005
    assert share(picture, COLOURS["dram"]) > 0.005
    over, live = figures[0].axes
    peak = answer["l1_peak"]
    tops = max(vertex[1] for shape in over.collections for path in shape.get_paths() for vertex in path.vertices)
    assert tops == peak["bytes_per_bank"] / KB
    assert f"{peak['bytes_per_bank']:,} B" in over.texts[0].get_text()
    parts = [
        peak["circular_buffers_bytes"],
        *(part["bytes_per_bank"] for part in answering.records(answer["live"])),
    ]
    assert [bar.get_width() * KB for bar in live.patches] == pytest.approx(parts)
    assert sum(parts) == peak["bytes_per_bank"]


def test_before_and_after_have_the_times_of_every_group(tmp_path, figures):
    slow, fast = (
        str(write(tmp_path / name, Model(layers=layers))) for name, layers in (("before", 4), ("after", 3))
    )
    picture, answer = drawn(tmp_path, "before_after", "compare_runs", baseline=slow, candidate=fast)
    assert share(picture, BAR) > share(picture, COLOURS["compute"]) > 0.01
    groups = sorted(answer["groups"]["rows"], key=lambda row: -abs(row[3]))
    widths = [bar.get_width() for bar in figures[0].axes[0].patches]
    assert widths == [row[1] for row in groups] + [row[2] for row in groups]


def test_ten_thousand_ops_are_drawn_in_seconds(tmp_path):
    run, at = str(write(tmp_path / "large", Model(layers=1000))), session(tmp_path)
    drawn(at, "window", run="demo")  # the import is not measured
    for name in ("window", "timeline", "cores", "roofline"):
        began = time.process_time()
        drawn(at, name, run=run)
        assert time.process_time() - began < SECONDS, name


def test_a_name_with_dollars_is_no_formula(tmp_path):
    from tests.report.test_page import named

    run = named(tmp_path / "run", ["$x_{", "\\frac{"])
    drawn(tmp_path, "window", run=run)
    drawn(tmp_path, "before_after", "compare_runs", baseline=run, candidate=run)
