"""list_runs: reports under the roots and runs opened before, newest first."""

import os
from pathlib import Path

from tests.asking import ask, session
from tests.profiles import write_performance_report
from tests.programs import block

OLD, NEW = 1_700_000_000, 1_700_003_600


def report(folder, modified):
    path = write_performance_report(folder, block())
    os.utime(path, (modified, modified))
    return path


def listed(answer):
    return [dict(zip(answer["runs"]["columns"], row, strict=True)) for row in answer["runs"]["rows"]]


async def test_the_newest_comes_first_with_its_time_and_its_ops(tmp_path):
    older, newer = (report(tmp_path / "home" / name, at) for name, at in (("a", OLD), ("b", NEW)))
    answer = await ask(session(tmp_path, tmp_path / "home"), "list_runs")
    assert [run["performance"] for run in listed(answer)] == [str(newer), str(older)]
    assert [run["modified"] for run in listed(answer)] == ["2023-11-14 23:13 UTC", "2023-11-14 22:13 UTC"]
    assert all(run["memory"] is None for run in listed(answer))
    ops = {run["device_ops"] for run in listed(answer)}
    assert ops == {(await ask(session(tmp_path), "open_run", performance=str(newer)))["rows"]["device"]}
    assert answer["total"] == 2
    assert answer["roots"] == [str(tmp_path / "home")]
    assert "note" not in answer


async def test_the_limit_shortens_the_list_and_not_the_count(tmp_path):
    for number in range(3):
        report(tmp_path / "home" / str(number), OLD + number)
    answer = await ask(session(tmp_path, tmp_path / "home"), "list_runs", limit=2)
    assert (len(listed(answer)), answer["total"]) == (2, 3)


async def test_a_run_opened_by_its_path_is_remembered_and_listed_once(tmp_path):
    path = report(tmp_path / "elsewhere", NEW)
    card = await ask(session(tmp_path), "open_run", performance=str(path), name="mine")
    answer = await ask(session(tmp_path), "list_runs")
    assert [(run["id"], run["name"]) for run in listed(answer)] == [(card["id"], "mine")]
    inside = await ask(session(tmp_path, tmp_path / "elsewhere"), "list_runs")
    assert inside["total"] == 1


async def test_a_root_by_its_relative_path_lists_no_run_twice(tmp_path, monkeypatch):
    path = report(tmp_path / "home" / "a", NEW)
    monkeypatch.chdir(tmp_path)
    await ask(session(tmp_path), "open_run", performance=str(path))
    answer = await ask(session(tmp_path, Path("home")), "list_runs")
    assert [run["performance"] for run in listed(answer)] == [str(path)]


async def test_two_csvs_of_a_folder_are_two_runs(tmp_path):
    newer = report(tmp_path / "home" / "a", NEW)
    older = newer.with_name("ops_perf_results_old.csv")
    older.write_text(newer.read_text().replace("0", "1"))
    os.utime(older, (OLD, OLD))
    answer = await ask(session(tmp_path, tmp_path / "home"), "list_runs")
    assert [run["performance"] for run in listed(answer)] == [str(newer), str(older)]
    assert len({run["name"] for run in listed(answer)}) == 2


async def test_a_run_whose_report_is_gone_is_listed_without_a_time(tmp_path):
    path = report(tmp_path / "elsewhere", NEW)
    await ask(session(tmp_path), "open_run", performance=str(path), name="mine")
    path.unlink()
    (run,) = listed(await ask(session(tmp_path), "list_runs"))
    assert (run["name"], run["modified"]) == ("mine", None)


async def test_where_nothing_is_found_the_next_step_is_said(tmp_path):
    answer = await ask(session(tmp_path), "list_runs")
    assert answer["total"] == 0
    assert "run='demo'" in answer["note"]
