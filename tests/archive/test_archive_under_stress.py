"""An archive that lies, breaks, ages or is shared: answers stand, and nothing counts twice."""

import asyncio
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from tests.archive.runs import OP, archive_of, archived, even, model, nights, remembering, report_of
from tests.asking import ask, session
from ttnn_mcp.archive.history import history_of
from ttnn_mcp.archive.memory_of_ops import in_time
from ttnn_mcp.archive.rows import rows_of
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.shell.doctor import archive_state

FASTER = model(61, block=8)


def files(archive: Archive, ending: str):
    return [file.name for file in archive.place.entries() if file.name.endswith(ending)]


@pytest.fixture
def at(tmp_path):
    return remembering(tmp_path)


@pytest.fixture
def here(tmp_path):
    return str(report_of(tmp_path / "here", model(93)))


async def earlier(at, here):
    table = (await ask(at, "op_detail", run=here, op=OP)).get("earlier", {"columns": [], "rows": []})
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def test_a_report_that_is_opened_twice_counts_once(at, here, tmp_path):
    report = report_of(tmp_path / "a", FASTER, day=1)
    await archived(at, report, report)
    await archived(at, Path(shutil.copy(report, tmp_path / "again.csv")))
    (once,) = await earlier(at, here)
    assert (once["ops"], once["runs"]) == (4, 1)


async def test_two_runs_under_one_name_are_two(at, here, tmp_path):
    report = report_of(tmp_path / "a", FASTER, day=1)
    await archived(at, report)
    report.unlink()
    again = report_of(tmp_path / "a", model(62, block=8), day=1)
    assert again == report
    await archived(at, again)
    (both,) = await earlier(at, here)
    assert (both["ops"], both["runs"]) == (8, 2)
    assert len(history_of(archive_of(at), await at.run(str(again)), None).runs) == 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", [".ops.parquet", ".runs.parquet", ".json"])
async def test_a_damaged_file_costs_no_answer(at, here, tmp_path, ending):
    plain = await ask(at, "op_detail", run=here, op=OP)
    archive = await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    (name,) = files(archive, ending)
    path = tmp_path / "state" / "archive" / name
    contents = path.read_bytes()
    assert await ask(remembering(tmp_path), "op_detail", run=here, op=OP) != plain
    for damaged in (contents[: len(contents) // 2], b"", b"PAR1" * 40):
        path.write_bytes(damaged)
        assert await ask(remembering(tmp_path), "op_detail", run=here, op=OP) == plain, damaged[:9]


async def test_a_damaged_part_does_not_take_the_others_with_it(at, here, tmp_path):
    first = await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    (name,) = files(first, ".ops.parquet")
    await archived(at, report_of(tmp_path / "b", model(110, block=16), day=2))
    path = tmp_path / "state" / "archive" / name
    path.write_bytes(path.read_bytes()[:-40])
    fresh = remembering(tmp_path)
    assert [each["was"] for each in await earlier(fresh, here)] == ["slower"]
    await archived(fresh, next(tmp_path.glob("a/*.csv")))  # and what was damaged can be added again
    assert [each["was"] for each in await earlier(fresh, here)] == ["faster", "slower"]


async def test_an_archive_of_a_newer_version_is_not_read(at, here, tmp_path):
    archive = await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    (name,) = files(archive, ".json")
    path = tmp_path / "state" / "archive" / name
    index = json.loads(path.read_text())
    path.write_text(json.dumps({**index, "format": index["format"] + 1}))
    assert await earlier(remembering(tmp_path), here) == []
    assert path.exists()


async def test_two_servers_see_what_either_adds(here, tmp_path):
    one, other = remembering(tmp_path), remembering(tmp_path)
    assert await earlier(one, here) == []
    reports = [
        report_of(tmp_path / name, FASTER if name == "a" else model(110, block=16), day=at)
        for at, name in enumerate("ab", 1)
    ]
    rows = [rows_of(await one.run(str(report))) for report in reports]
    await asyncio.gather(
        *(asyncio.to_thread(archive_of(server).add, [row]) for server, row in zip((one, other), rows, strict=True)),
        *(asyncio.to_thread(archive_of(server).add, rows) for server in (one, other)),
    )
    assert [each["runs"] for each in await earlier(one, here)] == [1, 1]
    assert await earlier(one, here) == await earlier(other, here)


async def test_a_slow_archive_is_not_waited_for(at, here, tmp_path, monkeypatch, caplog):
    await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    monkeypatch.setattr("ttnn_mcp.archive.memory_of_ops.PATIENCE_S", 0.05)
    caplog.set_level("INFO")
    started = time.monotonic()
    answer = in_time(archive_of(at), lambda _cursor: time.sleep(1.0) or "late", "nothing", asker="")
    assert answer == "nothing"
    assert time.monotonic() - started < 0.9
    assert "did not answer" in caplog.text


@pytest.mark.slow
async def test_a_question_that_is_too_slow_is_ended(at, tmp_path, monkeypatch):
    await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    monkeypatch.setattr("ttnn_mcp.archive.memory_of_ops.PATIENCE_S", 1.0)
    ended = Event()

    def forever(cursor):
        try:
            cursor.execute("SELECT count(*) FROM range(100000000000) a").fetchall()
        finally:
            ended.set()

    assert in_time(archive_of(at), forever, None, asker="") is None
    assert await asyncio.to_thread(ended.wait, 30)


LEAVING = """
import logging, sys, time
logging.basicConfig(level="INFO")
from ttnn_mcp.archive import memory_of_ops as patience
from ttnn_mcp.archive.store import Archive
patience.PATIENCE_S = float(sys.argv[2])
patience.in_time(Archive(sys.argv[1]), lambda c: c.execute("SELECT count(*) FROM range(100000000000)"), None, asker="")
"""


@pytest.mark.slow
@pytest.mark.parametrize("patience_s", ["0.001", "0.6"], ids=["while the engine loads", "while it computes"])
async def test_a_program_that_ends_before_its_archive_answers_ends_well(at, tmp_path, patience_s):
    """The engine may not return into a Python that is being torn down: that ends in a signal."""
    await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", LEAVING, str(at.settings.archive_folder), patience_s],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert b"did not answer" in ended.stderr


async def test_an_archive_that_is_off_says_so_only_where_it_is_asked(here, tmp_path):
    at = session(tmp_path)
    assert at.archive is None
    assert "earlier" not in await ask(at, "op_detail", run=here, op=OP)
    with pytest.raises(Exception, match="There is no archive of runs"):
        await ask(at, "history", run=here)


async def test_the_demo_neither_asks_nor_fills_the_archive(at):
    run = await at.run("demo")
    assert run.kept.get(Archive) is None
    assert archive_of(at).known() == {}


async def test_many_nights_are_told_in_the_bytes_of_a_list(at, tmp_path):
    report = report_of(tmp_path / "a", model())
    archive_of(at).add(nights(rows_of(await at.run(str(report))), [*even(60), *even(60, 1.2), *even(60)]))
    answer = await ask(at, "history", run=str(report))
    assert len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False)) <= 4_000
    assert answer["more_runs"] == 181 - len(answer["runs"]["rows"])


async def test_the_doctor_tells_what_the_archive_holds_or_why_it_does_not_answer(at, tmp_path, monkeypatch):
    archive = await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    assert archive_state(archive, 500) == "with an archive of 1 earlier runs: 0 of at most 500 MB"
    assert (
        archive_state(None, 0)
        == "no archive of earlier runs (--archive-mb 0, or without the extra `archive`): answers cite none"
    )

    def broken():
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(archive.place, "entries", broken)
    assert archive_state(archive, 500).startswith("answers cite no earlier runs: The archive ")
