"""What the doctor says of this machine, and what it calls broken."""

import os
from types import SimpleNamespace

import pytest

from tests.asking import session
from tests.for_all import for_all
from ttnn_mcp.errors import ArchiveUnusable
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.shell import doctor


@pytest.fixture
def at(tmp_path):
    (tmp_path / "reports").mkdir()
    return session(tmp_path, tmp_path / "reports")


async def broken(at):
    """What is broken, each in a sentence."""
    text, sound = await doctor.report(at)
    sentences = text.partition("\nBroken\n")[2].splitlines()
    assert sound is (sentences == [])
    return [sentence.strip() for sentence in sentences]


async def test_a_machine_without_reports_is_sound(tmp_path):
    text, sound = await doctor.report(session(tmp_path, tmp_path / "nowhere"))
    assert sound
    assert f"  {tmp_path / 'nowhere'}  (does not exist; name another with --root)\n" in text
    assert "  none yet; 'ttnn-mcp demo' works without\n" in text
    assert "Broken" not in text


async def test_that_no_simulator_is_used_is_said(at, monkeypatch):
    for folder, said in (
        ("", "used: a proof"),
        ("/opt/sim", "used, though $TT_METAL_SIMULATOR names one: a proof"),
    ):
        monkeypatch.setenv("TT_METAL_SIMULATOR", folder)
        assert f"no simulator of the chip is {said} tells no times and no PCC" in (await doctor.report(at))[0]


async def test_a_package_that_is_missing_is_broken(at, monkeypatch):
    monkeypatch.setattr(doctor, "PACKAGES", ("pandas", "no-such-package"))
    assert await broken(at) == ["no-such-package is missing: reinstall ttnn-mcp"]


@for_all("folder", ["skills", "resources"])
async def test_pages_that_are_missing_are_broken(at, monkeypatch, folder):
    there = doctor.documents.names
    monkeypatch.setattr(doctor.documents, "names", lambda asked: () if asked == folder else there(asked))
    assert await broken(at) == ["pages are missing"]


@for_all("denied", [os.R_OK, os.X_OK], ids=["read", "enter"])
async def test_a_folder_that_nobody_may_read_or_enter_is_broken(at, monkeypatch, denied):
    monkeypatch.setattr(os, "access", lambda _path, asked: not asked & denied)
    (root,) = at.settings.searched
    assert f"{root} cannot be read" in await broken(at)
    text, _sound = await doctor.report(at)
    assert f"  {root}  (cannot be read)\n" in text


async def test_a_run_that_the_options_name_is_opened(tmp_path):
    named = Session(Settings(roots=(tmp_path,), state=tmp_path / "state", run="demo"))
    assert await broken(named) == []
    lost = Session(Settings(roots=(tmp_path,), state=tmp_path / "state", memory=str(tmp_path / "db.sqlite")))
    (sentence,) = await broken(lost)
    assert sentence.startswith("the run that the options name: ")


@for_all(("count", "last"), [(10, "  0009  run 9: a card"), (12, "  and 2 older")])
async def test_the_ten_newest_runs_are_looked_into(at, monkeypatch, count, last):
    async def listed(_session, _tool, _arguments):
        rows = [[f"{number:04}", f"run {number}"] for number in range(count)]
        return {"runs": {"columns": ["id", "name"], "rows": rows}}, ""

    async def card(_session, _run):
        return "a card"

    monkeypatch.setattr(doctor.answering, "answer", listed)
    monkeypatch.setattr(doctor, "_looked_into", card)
    lines = (await doctor._runs(at)).lines
    assert lines[-1] == last
    assert sum(line.endswith("a card") for line in lines) == 10


@for_all(
    ("card", "line"),
    [
        ({}, "unknown architecture"),
        (
            {"arch": "wormhole_b0", "performance": "x", "csv_generation": "C7", "rows": {"device": 1234}},
            "wormhole_b0, performance report C7, 1,234 device ops",
        ),
        ({"memory": "x", "schema_generation": "S3"}, "unknown architecture, memory report S3"),
    ],
    ids=["neither", "performance", "memory"],
)
def test_a_run_is_told_by_its_reports(card, line):
    assert doctor._card(card) == line


@for_all(
    ("cache_mb", "folder", "says"),
    [
        (20, "state", "with copies of large reports: 0 of at most 20 MB"),
        (0, "state", "no copies of large reports (--cache-mb 0): each is parsed again after a restart"),
        (20, "file", doctor.LOST),
        (0, "file", "no copies of large reports (--cache-mb 0): each is parsed again after a restart"),
    ],
)
async def test_copies_are_told_with_their_bound_or_why_there_are_none(tmp_path, cache_mb, folder, says):
    (tmp_path / "file").touch()
    told = await doctor.remembered(Session(Settings(state=tmp_path / folder, cache_mb=cache_mb)))
    assert told.lines[1] == f"  {says}"
    closed = ["the state folder cannot be written (it is a file): --state chooses another"]
    assert told.broken == (closed if folder == "file" else [])


def test_copies_that_cannot_be_written_are_none():
    assert doctor.space_of(SimpleNamespace(most_bytes=1, writable=lambda: False)) == doctor.LOST


def parts(*sizes):
    runs = [SimpleNamespace(run_key="a"), SimpleNamespace(run_key="b")]
    return SimpleNamespace(parts=lambda: [SimpleNamespace(runs=runs, size=size) for size in sizes])


def unusable():
    raise ArchiveUnusable("it is torn.")


@for_all(
    ("archive", "says"),
    [
        (None, "no archive of earlier runs (--archive-mb 0, or without the extra `archive`): answers cite none"),
        (parts(), "with an archive of 0 earlier runs: 0 of at most 1,500 MB"),
        (parts(40_000_000, 2_000_000), "with an archive of 2 earlier runs: 42 of at most 1,500 MB"),
        (SimpleNamespace(parts=unusable), "answers cite no earlier runs: it is torn."),
    ],
    ids=["none", "empty", "some", "torn"],
)
def test_the_archive_is_told_with_its_size(archive, says):
    assert doctor.archive_state(archive, 1500) == says
