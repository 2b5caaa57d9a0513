"""Opened runs come into the archive after the answer, and an archive that fails costs no answer."""

import io
import logging
import sys
import threading
import time
from subprocess import TimeoutExpired
from types import SimpleNamespace

import pytest

from tests.archive.reports import report
from tests.for_all import for_all
from ttnn_mcp.archive.passes import Order, one_pass
from ttnn_mcp.errors import ArchiveUnusable
from ttnn_mcp.run.kept import Kept
from ttnn_mcp.session import archiving as module
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.session.settings import ENGINE
from ttnn_mcp.shell.archive_command import ProgressLine
from ttnn_mcp.tools import TOOLS, answering

PATIENCE_S = 120.0


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.delenv("TTNN_MCP_ARCHIVE_MB")
    return Session(Settings(state=tmp_path / "state"))


async def opened(session, path):
    return await answering.answer(session, answering.tool_named("open_run", TOOLS), {"performance": str(path)})


def wait_for_threads():
    until = time.monotonic() + PATIENCE_S
    for thread in [thread for thread in threading.enumerate() if thread.name in ("archiving", "archived")]:
        thread.join(until - time.monotonic())


@pytest.fixture
def started(monkeypatch):
    """The commands that would run; none does."""
    commands = []

    class Ended:
        returncode = 0

        def __init__(self, words, **how):
            commands.append((words[3:], how))

        def communicate(self, timeout):
            assert timeout > 0
            return "", self.said

        said = ""

    monkeypatch.setattr("subprocess.Popen", Ended)
    return commands, Ended


async def test_an_opened_run_is_in_the_archive_soon_after_the_answer(tmp_path, session):
    await opened(session, report(tmp_path))
    wait_for_threads()
    wait_for_threads()  # the first thread starts the second
    (run,) = session.archive.known().values()
    assert run.ops > 0
    assert run.stamp


async def test_a_run_is_added_once_however_many_questions_follow(tmp_path, session, started):
    path = report(tmp_path)
    for _ in range(3):
        await opened(session, path)
        wait_for_threads()
    ((words, how),) = started[0]
    assert words[:3] == ["archive", "add", str(path)]
    assert how["start_new_session"]
    assert how["cwd"] == session.settings.state_folder / "archive"


async def test_reports_opened_meanwhile_wait_and_go_together(tmp_path, session, started, monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(started[1], "communicate", lambda *_, timeout: (ended.wait(timeout), ""))
    paths = [report(tmp_path, day, us=40 + day) for day in (1, 2, 3)]
    for path in paths:
        await opened(session, path)
    session.archiving.begin()
    for thread in [thread for thread in threading.enumerate() if thread.name == "archiving"]:
        thread.join(PATIENCE_S)
    assert [words[2] for words, _ in started[0]] == [str(paths[0])]
    ended.set()
    for _ in range(4):  # each thread starts the next
        wait_for_threads()
    assert [words[2:4] for words, _ in started[0][1:]] == [[str(path) for path in paths[1:]]]


async def test_what_the_archive_holds_is_not_added_again(tmp_path, session, started):
    path = report(tmp_path)
    one_pass(Order((str(path),), str(session.settings.state_folder / "archive")), ProgressLine(io.StringIO()))
    await opened(session, path)
    wait_for_threads()
    assert started[0] == []


@for_all("settings", [{"archive_mb": 0}, {}])
async def test_the_switch_turns_it_off(tmp_path, monkeypatch, started, settings):
    monkeypatch.setenv("TTNN_MCP_ARCHIVE_MB", "500" if settings else "0")
    session = Session(Settings(state=tmp_path / "state", **settings))
    await opened(session, report(tmp_path))
    wait_for_threads()
    assert started[0] == []
    assert session.archive is None


@for_all(("written", "most"), [("20", 20), ("off", 0), ("-1", 0), ("", 0), ("9" * 30, 0)])
def test_the_variable_sets_the_bound_and_anything_else_is_none(monkeypatch, written, most):
    monkeypatch.setenv("TTNN_MCP_ARCHIVE_MB", written)
    assert Settings().archive_at_most_mb == most
    assert Settings(archive_mb=7).archive_at_most_mb == 7


async def test_the_demo_is_no_measurement(session, started):
    await answering.answer(session, answering.tool_named("open_run", TOOLS), {"run": "demo"})
    wait_for_threads()
    assert started[0] == []


async def test_an_archive_that_cannot_be_written_is_said_once_and_costs_no_answer(
    tmp_path, session, started, caplog
):
    started[1].returncode = 1
    started[1].said = "noise\nThe archive cannot be written."
    with caplog.at_level(logging.WARNING):
        for day in (1, 2, 3):
            answer, _ = await opened(session, report(tmp_path, day, us=40 + day))
            assert answer["id"]
            wait_for_threads()
            wait_for_threads()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert "The archive cannot be written." in said[0]
    assert len(started[0]) == 1


async def test_a_state_folder_that_is_a_file_costs_no_answer(tmp_path, monkeypatch, caplog):
    monkeypatch.delenv("TTNN_MCP_ARCHIVE_MB")
    (tmp_path / "state").write_text("mine")
    session = Session(Settings(state=tmp_path / "state"))
    with caplog.at_level(logging.WARNING):
        for day in (1, 2):
            answer, _ = await opened(session, report(tmp_path, day, us=40 + day))
            assert answer["id"]
            wait_for_threads()
    assert len([record for record in caplog.records if "archive" in record.getMessage()]) == 1


def test_without_its_engine_there_is_no_archive(tmp_path, monkeypatch):
    """DuckDB is an extra: everything else works without it."""
    monkeypatch.setitem(sys.modules, ENGINE, None)
    at = Session(Settings(state=tmp_path, archive_mb=5))
    assert at.archive is None
    assert at.settings.archive_at_most_mb == 0


def run_of(path, build=None, *, performance=True):
    """What `note` looks at of a run."""
    path.touch()
    report = SimpleNamespace(csv=SimpleNamespace(path=path)) if performance else None
    return SimpleNamespace(id="0a", performance=report, memory=SimpleNamespace(build=build), kept=Kept())


def archiving(folder, known=dict):
    settings = Settings(state=folder / "state")
    at = module.Archiving(settings, settings.archive_folder if known else None)
    if known:
        settings.archive_folder.mkdir(parents=True)
        at.archive = SimpleNamespace(known=known)
    return at


@for_all(("known", "performance", "threads"), [(dict, True, 1), (None, True, 0), (dict, False, 0)])
def test_only_what_can_be_archived_starts_anything(tmp_path, monkeypatch, known, performance, threads):
    begun = []
    monkeypatch.setattr(module, "Thread", lambda **how: begun.append(how) or SimpleNamespace(start=lambda: None))
    at = archiving(tmp_path, known)
    at.note(run_of(tmp_path / "a.csv", performance=performance))
    at.begin()
    assert len(begun) == threads


def test_a_run_knows_its_archive_once_there_is_one(tmp_path):
    at, run = archiving(tmp_path), run_of(tmp_path / "a.csv")
    at._folder.rmdir()
    at.note(run)
    assert not run.kept.holds("SimpleNamespace")
    at._folder.mkdir()
    at.note(run)
    assert run.kept.get(SimpleNamespace) is at.archive


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        ((0, "noise"), None),
        ((2, "The report is damaged."), None),
        ((1, "noise\nNo room.\n"), "No room."),
        ((1, ""), "it ended early"),
    ],
)
def test_a_process_that_failed_is_quoted_once_and_one_that_did_not_is_not(tmp_path, started, caplog, ended, why):
    started[1].returncode, started[1].said = ended
    at = archiving(tmp_path)
    for build in ("of one build", "of another"):
        at.note(run_of(tmp_path / build, build))
    at.begin()
    wait_for_threads()
    wait_for_threads()
    assert [words[-1] for words, _ in started[0]] == ["of one build", "of another"]
    assert caplog.messages == (
        [] if why is None else [f"Runs are not archived in this session: {why} (--archive-mb 0 switches it off)"]
    )


def test_a_process_that_does_not_end_is_ended(tmp_path, started, monkeypatch, caplog):
    ended = []

    def wait(process, timeout):
        process.kill = lambda: ended.append(process)
        raise TimeoutExpired("archive", timeout)

    monkeypatch.setattr(started[1], "communicate", wait)
    at = archiving(tmp_path)
    at.note(run_of(tmp_path / "a.csv"))
    at.begin()
    wait_for_threads()
    wait_for_threads()
    assert len(ended) == 1
    assert caplog.messages == [
        "Runs are not archived in this session: TimeoutExpired (--archive-mb 0 switches it off)"
    ]


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (ArchiveUnusable("Install duckdb."), "Install duckdb."),
        (PermissionError(13, "Permission denied", "/secret"), "Permission denied"),
        (KeyError("secret"), "KeyError"),
    ],
)
def test_why_nothing_is_archived_is_said_in_our_words_or_the_systems(tmp_path, started, caplog, failure, why):
    def known():
        raise failure

    at = archiving(tmp_path, known)
    at.note(run_of(tmp_path / "a.csv"))
    at.begin()
    wait_for_threads()
    assert caplog.messages == [f"Runs are not archived in this session: {why} (--archive-mb 0 switches it off)"]
    assert started[0] == []
