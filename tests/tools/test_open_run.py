"""open_run: the run card."""

import json
import shutil

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import (
    Iteration,
    Program,
    header_of,
    performance_rows,
    write_memory_report,
    write_performance_report,
    write_rows,
    write_run,
)
from tests.programs import block
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.tools import open_run as module
from ttnn_mcp.tools.parts.memory_errors import Ending
from ttnn_mcp.wire import bytes_of


async def test_the_card_of_a_performance_report_alone(tmp_path):
    path = write_performance_report(
        tmp_path / "perf", block(), [Iteration(cold=True), Iteration(signposts=("start", "stop"))]
    )
    card = await ask(session(tmp_path), "open_run", performance=str(path))
    assert card["performance"] == str(path)
    assert card["memory"] is None
    assert card["arch"] == "wormhole_b0"
    assert card["csv_generation"] == "C7"
    assert (card["iterations"], card["window"]["warm"]) == (2, True)
    assert card["rows"]["signpost"] == 2
    assert card["signposts"] == ["start", "stop"]
    assert card["rows"]["device"] == 2 * card["iteration_ops"]
    assert card["link"]["status"] == "not_applicable"
    assert "no memory report" in card["link"]["why"]
    assert "memory_summary: no memory report" in card["not_answerable"]


async def test_a_card_counts_ops_without_a_time_and_adds_up_each_device(tmp_path):
    """Kernels of 20, 4, 40, 4 and 3 us; the ops that a trace recorded have no time."""
    passes = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1))]
    path = write_performance_report(tmp_path / "perf", block(devices=2), passes)
    card = await ask(session(tmp_path), "open_run", performance=str(path))
    assert card["rows"]["device"] == 3 * 2 * 5
    assert card["kernel_ms"] == pytest.approx(0.071)
    assert [row[:2] for row in card["kernel_ms_by_device"]["rows"]] == [[0, 5], [1, 5]]
    assert [row[2] for row in card["kernel_ms_by_device"]["rows"]] == pytest.approx([0.071] * 2)
    assert any("10 device ops have no kernel time" in caveat for caveat in card["caveats"])


async def test_a_card_says_why_a_run_died(tmp_path):
    run = await session(tmp_path).run(str(write_memory_report(tmp_path / "memory", block())))
    told = [module.card(run, [], Ending(None, died)) for died in (None, "it died")]
    assert [*told[1].caveats] == [*told[0].caveats, "it died"]


async def test_an_architecture_of_two_lines_is_told_on_one(tmp_path):
    """The fuzz: such a cell is text of the report."""
    rows = performance_rows(block())
    for row in rows:
        row["DEVICE ARCH"] = "a\nb"
    path = write_rows(tmp_path / "ops_perf_results_x.csv", rows, header_of(rows, "C7"))
    card = await ask(session(tmp_path), "open_run", performance=str(path))
    assert card["arch"].isprintable()


async def test_the_card_of_a_memory_report_alone(tmp_path):
    folder = write_memory_report(tmp_path / "memory", block())
    card = await ask(session(tmp_path), "open_run", memory=str(folder))
    assert card["performance"] is None
    assert card["operations"] > 0
    assert card["kernel_ms"] is card["iterations"] is card["rows"] is None
    assert card["link"]["why"] == "no performance report: no device times"
    assert "memory_summary" in card["answerable"]
    assert "rank" not in card


async def test_the_card_of_the_demo_names_no_folder_of_the_server(tmp_path):
    card = await ask(session(tmp_path), "open_run", run="demo")
    assert card["performance"] == "demo/ops_perf_results_2026_01_01_00_00_00.csv"
    assert card["memory"] == "demo/db.sqlite"


async def test_a_pair_is_linked_and_keeps_the_name_it_is_given(tmp_path):
    made = write_run(tmp_path / "home", block())
    at = session(tmp_path)
    card = await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name="both")
    assert card["name"] == "both"
    assert card["link"]["status"] == "linked"
    assert card["link"]["matched"] == card["link"]["of"]
    assert await ask(at, "open_run", run="both") == card
    assert (await ask(at, "open_run", run=card["id"], name="again", move_name=True))["name"] == "again"
    assert (await ask(at, "open_run", run="again"))["link"] == card["link"]


async def test_whose_name_was_moved_is_said_once(tmp_path):
    first = str(write_performance_report(tmp_path / "a", block()))
    second = str(write_performance_report(tmp_path / "b", block(layers=3)))
    at = session(tmp_path)
    owner = (await ask(at, "open_run", performance=first, name="main"))["id"]
    with pytest.raises(TtnnMcpError, match="The name 'main' is run"):
        await ask(at, "open_run", performance=second, name="main")
    moved = await ask(at, "open_run", performance=second, name="main", move_name=True)
    assert moved["caveats"][0] == f"the name 'main' was run {owner}'s until now"
    assert (await ask(at, "open_run", run="main"))["caveats"] == moved["caveats"][1:]


@for_all("arguments", [{"performance": "nowhere.csv"}, {"run": "nowhere"}])
async def test_what_is_not_there_is_refused(tmp_path, arguments):
    with pytest.raises(TtnnMcpError):
        await ask(session(tmp_path), "open_run", **arguments)


async def test_the_card_says_how_a_profiled_report_was_made(tmp_path):
    path = write_performance_report(tmp_path / "perf", block())
    assert "capture" not in await ask(session(tmp_path), "open_run", performance=str(path))
    told = {"command": "pytest \x1b[1mtests/test_x.py", "dirty": True, "exit_status": "no number", "unknown": [1]}
    (path.parent / "run_manifest.json").write_text(json.dumps(told))
    card = await ask(session(tmp_path), "open_run", performance=str(path))
    assert card["capture"] == {"command": "pytest  [1mtests/test_x.py", "dirty": True}


@for_all(("device", "is_mock"), [("mock n150", True), ("mocking", False), ("wormhole_b0", False)])
async def test_a_report_from_a_mock_device_is_said_to_hold_no_times(tmp_path, device, is_mock):
    folder = shutil.copytree(demo_reports()[1], tmp_path / "memory")
    (folder / "run_manifest.json").write_text(json.dumps({"device": device}))
    card = await ask(session(tmp_path), "open_run", memory=str(folder))
    assert any("no kernel ran, so it holds no device times" in one for one in card["caveats"]) is is_mock


def marked(folder, count):
    """A report with so many signposts, no two alike."""
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])])
    passes = [Iteration(signposts=(f"pass {n:04} begins", f"pass {n:04} ends")) for n in range(count // 2)]
    return str(write_performance_report(folder, program, passes))


async def test_signposts_fill_the_room_of_a_card(tmp_path):
    card = await ask(session(tmp_path), "open_run", performance=marked(tmp_path / "perf", 100))
    assert 1_450 < bytes_of(card) <= 1_500
    assert len(card["signposts"]) + card["more_signposts"] == 100


async def test_no_signpost_is_shown_where_there_is_no_room(tmp_path):
    deep = tmp_path.joinpath(*["folder" * 30] * 7)
    card = await ask(session(tmp_path), "open_run", performance=marked(deep, 2))
    assert ("signposts" in card, card["more_signposts"]) == (False, 2)


async def test_of_many_signposts_and_devices_only_some_are_looked_at(tmp_path):
    at = session(tmp_path)
    run = await at.run(marked(tmp_path / "marked", 210))
    assert len(module.card(run, (), Ending(None, None)).signposts) == 200
    mesh = Program("wormhole_b0", devices=70)
    mesh.op("UnaryDeviceOperation", [mesh.tensor([1, 1, 32, 32])])
    card = module.card(await at.run(str(write_performance_report(tmp_path / "mesh", mesh))), (), Ending(None, None))
    assert (len(card.devices), card.more_devices, len(card.kernel_ms_by_device.rows)) == (64, 6, 64)
