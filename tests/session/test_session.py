"""Runs are found, paired, remembered by content, and kept inside the roots where that is asked."""

import shutil

import pytest

from tests.asking import ask, session
from tests.profiles import write_run
from tests.programs import block
from ttnn_mcp.errors import ReportMissing, RunUnknown
from ttnn_mcp.session.session import Session, Settings


@pytest.fixture
def made(tmp_path):
    return write_run(tmp_path / "home", block())


def paths(made):
    return {"performance": str(made.performance), "memory": str(made.memory)}


async def test_a_pair_keeps_its_id_across_sessions_and_moves(tmp_path, made):
    first = await ask(session(tmp_path), "open_run", **paths(made))
    again = await ask(session(tmp_path), "open_run", run=first["id"])
    assert again["performance"] == str(made.performance)
    shutil.move(made.root, tmp_path / "moved")
    moved = tmp_path / "moved"
    found = await session(tmp_path, moved / "generated").run(None)
    assert found.performance is not None
    performance = next(moved.rglob("ops_perf_results*.csv"))
    memory = next(moved.rglob("db.sqlite"))
    assert (await ask(session(tmp_path), "open_run", performance=str(performance), memory=str(memory)))[
        "id"
    ] == first["id"]


async def test_an_overwritten_report_is_another_run(tmp_path, made):
    at = session(tmp_path)
    before = await ask(at, "open_run", performance=str(made.performance))
    lines = made.performance.read_bytes().splitlines(keepends=True)
    made.performance.write_bytes(b"".join(lines[:-1]))
    after = await ask(at, "open_run", performance=str(made.performance))
    assert after["id"] != before["id"]
    assert after["rows"]["device"] == before["rows"]["device"] - 1


async def test_the_newest_report_under_the_roots_is_the_default(tmp_path, made):
    at = session(tmp_path, made.root)
    listed = await ask(at, "list_runs")
    assert listed["total"] == 2
    assert {row[5] for row in listed["runs"]["rows"]} == {10, None}
    assert (await at.run(None)).id in {row[0] for row in listed["runs"]["rows"]}


async def test_without_any_report_the_way_out_is_said(tmp_path):
    with pytest.raises(RunUnknown, match="demo"):
        await session(tmp_path).run(None)


async def test_an_unknown_id_is_answered_with_what_there_is(tmp_path, made):
    at = session(tmp_path, made.root)
    with pytest.raises(RunUnknown, match="demo"):
        await at.run("demmo")


async def test_a_run_is_read_once(tmp_path, made):
    at = session(tmp_path)
    assert await at.run(str(made.performance)) is await at.run(str(made.performance))


async def test_confined_sessions_open_nothing_outside_the_roots(tmp_path, made):
    inside = tmp_path / "served"
    inside.mkdir()
    at = Session(Settings(roots=[inside], confined=True, state=tmp_path / "state"))
    with pytest.raises(ReportMissing, match="outside"):
        await at.run(str(made.performance))
    (inside / "link.csv").symlink_to(made.performance)
    with pytest.raises(ReportMissing, match="outside"):
        await at.run(str(inside / "link.csv"))
    assert (await at.run("demo")).name == "demo"


async def test_a_state_folder_that_cannot_be_written_stops_nothing(tmp_path, made):
    (tmp_path / "file").write_text("")
    at = Session(Settings(roots=[tmp_path], state=tmp_path / "file" / "below"))
    assert (await at.run(str(made.performance))).performance is not None
