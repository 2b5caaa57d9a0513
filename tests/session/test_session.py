"""Runs are found, paired, remembered by content, and kept inside the roots where that is asked."""

import os
import shutil

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import write_performance_report, write_run
from tests.programs import block
from ttnn_mcp.errors import ReportForeign, ReportMissing, RunUnknown, shown_path
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


@for_all("skipped", [False, True])
async def test_what_was_not_looked_at_is_said_of_the_newest(tmp_path, made, skipped, monkeypatch):
    crowd = made.root / "a crowd"
    crowd.mkdir()
    monkeypatch.setattr("ttnn_mcp.readers.discover._ENTRIES", 9)
    for number in range(8 + skipped):
        (crowd / f"{number}.txt").touch()
    notes = (await session(tmp_path, made.root).run(None)).notes
    told = "taken as the newest, but a crowd has 9 entries or more, and no others were looked at"
    assert (told in notes) == skipped
    assert "taken as" not in str((await session(tmp_path, made.root).run(str(made.performance))).notes)


async def test_what_its_own_folder_says_of_the_newest_is_not_said_twice(tmp_path, monkeypatch):
    folder = tmp_path / "crowd"
    report = write_performance_report(folder, block())
    for number in range(9):
        report.with_name(f"ops_perf_results_2026_03_02_10_00_0{number}.csv").write_bytes(report.read_bytes())
    monkeypatch.setattr("ttnn_mcp.readers.discover._ENTRIES", 9)
    notes = (await session(tmp_path, folder).run(None)).notes
    assert str(notes).count("no others were looked at") == 1


async def test_a_run_that_was_opened_knows_the_replays_of_its_session(tmp_path, made):
    at = session(tmp_path)
    run = await at.run(str(made.performance))
    (known,) = at.opened
    assert known.id.startswith(run.id)
    assert run.kept.get(type(at.replays)) is at.replays


async def test_without_any_report_the_way_out_is_said(tmp_path):
    folder = tmp_path / ("x" * 80) / "mine"
    with pytest.raises(RunUnknown, match=r"no report found under .*/mine.*'demo'"):
        await session(tmp_path, folder).run(None)


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


async def test_copies_take_as_many_megabytes_as_was_decided(tmp_path):
    assert Session(Settings(state=tmp_path, cache_mb=7)).kept.most_bytes == 7_000_000


@for_all("kinds", ["run", "performance", "memory", "performance memory"])
async def test_the_run_that_was_decided_on_is_the_default(tmp_path, made, report, kinds):
    report("newer", drop=1)
    decided = {name: path for name, path in {**paths(made), "run": "demo"}.items() if name in kinds.split()}
    at = Session(Settings(roots=[tmp_path / "reports"], state=tmp_path / "state", **decided))
    run = await at.run(None)
    if kinds == "run":
        assert run.id == "demo"
    else:
        assert (run.performance is not None, run.memory is not None) == ("perf" in kinds, "mem" in kinds)
        assert run.id == (await at.open(decided.get("performance"), decided.get("memory"))).id


async def test_two_paths_are_one_report_of_each_kind(tmp_path, made):
    at, both = session(tmp_path), paths(made)
    with pytest.raises(RunUnknown, match="Nothing to open: give `performance`, `memory` or both"):
        await at.open(None, None)
    with pytest.raises(ReportMissing, match="holds no performance report"):
        await at.open(both["memory"], None)
    with pytest.raises(ReportMissing, match="holds no memory report"):
        await at.open(None, both["performance"])
    shutil.copy(made.memory, made.performance.parent)
    folder = await at.open(str(made.performance.parent), None)
    assert folder.id == (await at.open(both["performance"], both["memory"])).id


async def test_a_name_that_was_given_comes_before_a_path_and_means_no_other_run(tmp_path, report, monkeypatch):
    at = session(tmp_path)
    given, other = await at.open(str(report("a")), None, "base"), report("base", drop=1)
    monkeypatch.chdir(other.parents[1])
    assert await at.run("base") is given
    assert (await at.run(str(other))).id != given.id


async def test_a_confined_session_takes_a_name_for_no_folder_elsewhere(tmp_path, report, monkeypatch):
    at = Session(
        Settings(roots=[report("mine", below="served").parents[1]], confined=True, state=tmp_path / "state")
    )
    monkeypatch.chdir(report("mine", drop=1).parents[1])
    assert (await at.run("mine")).performance.csv.path.parent == tmp_path / "served" / "mine"


async def test_a_report_that_went_away_is_found_again_or_unknown(tmp_path, report):
    path = report("a")
    run = await session(tmp_path).open(str(path), None, "base")
    moved = shutil.move(path.parent, tmp_path / "kept" / "a")
    with pytest.raises(RunUnknown, match=f"No run '{run.id}'") as unknown:
        await session(tmp_path).run(run.id)
    assert "Did you mean" not in str(unknown.value)
    assert (await session(tmp_path, tmp_path / "kept").run(run.id)).performance.csv.path.parent == moved


async def test_a_name_from_folders_means_what_lies_there_now(tmp_path, report):
    name, roots = "resnet/2026_01_02", (tmp_path / "one", tmp_path / "two")
    old = await session(tmp_path).run(str(report(name, below="one/reports")))
    assert old.name == name
    first, second = report(name, drop=1, below="one/reports"), report(name, below="two/reports")
    with pytest.raises(RunUnknown, match=f"2 runs are called '{name}'") as several:
        await session(tmp_path, *roots).run(name)
    assert f"{old.id} at {shown_path(second.parent)}" in str(several.value)
    first.unlink()
    assert (await session(tmp_path, *roots).run(name)).performance.csv.path == second


async def test_a_named_report_that_became_a_link_out_is_not_read(tmp_path, report):
    inside, outside = report("a", below="served"), report("b", drop=1)
    at = Session(Settings(roots=[inside.parents[1]], confined=True, state=tmp_path / "state"))
    await at.open(str(inside), None, "mine")
    inside.unlink()
    inside.symlink_to(outside)
    with pytest.raises(ReportMissing, match="The report lies outside the served roots"):
        await at.run("mine")


async def test_each_run_is_recorded_once_and_the_demo_never(tmp_path, report, monkeypatch):
    at, recorded = session(tmp_path), []
    remember = at.registry.remember
    monkeypatch.setattr(at.registry, "remember", lambda known: recorded.append(known.shown_id) or remember(known))
    path = str(report("a"))
    run = await at.run(path)
    for asked in (run.id, path, "demo"):
        await at.run(asked)
    assert recorded == [run.id]


async def test_a_name_that_came_from_folders_is_kept_beside_the_same_one_given(tmp_path, report):
    at = session(tmp_path)
    first = await at.run(str(report("perf")))
    await at.open(str(report("b", drop=1)), None, "perf")
    assert (await at.run(first.id)).name == "perf"


async def test_only_the_run_of_the_same_file_was_overwritten(tmp_path, report):
    at, path = session(tmp_path), report("a")
    await at.run(str(path))
    assert (await at.run(str(report("b", drop=1)))).notes == ()
    os.utime(path, (1, 1))  # the same run, read again
    assert (await at.run(str(path))).notes == ()


async def test_a_dump_that_is_given_as_a_memory_report_is_said_to_be_one(tmp_path):
    dump = tmp_path / "p_detailed_memory_usage.csv"
    dump.write_text("0 0 8192 1 none yes\n")
    with pytest.raises(ReportForeign, match="is a dump of device memory"):
        await session(tmp_path).open(None, str(dump))
