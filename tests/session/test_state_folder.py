"""Where things are remembered, and what is said where that cannot be."""

import logging
import os
import pwd
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.asking import ask
from tests.for_all import for_all
from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.archive.memory_of_ops import in_time
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import StoreUnusable
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.session.settings import HOMELESS, NOWHERE, obstacle
from ttnn_mcp.shell.gate_command import baseline

PATIENT = "--state chooses another"


@pytest.fixture
def homes(monkeypatch):
    """Set HOME and XDG_STATE_HOME (None: unset), for a user whom the list of users does not have."""

    def unknown(_user):
        raise KeyError

    def set_to(home, state):
        for name, value in (("HOME", home), ("XDG_STATE_HOME", state)):
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    return set_to


@for_all(
    ("home", "state", "folder"),
    [
        ("/home/me", None, Path("/home/me/.local/state/ttnn-mcp")),
        ("/home/me", "", Path("/home/me/.local/state/ttnn-mcp")),
        ("/home/me", "relative", Path("/home/me/.local/state/ttnn-mcp")),
        ("/home/me", "/state", Path("/state/ttnn-mcp")),
        (None, "/state", Path("/state/ttnn-mcp")),
        (None, None, NOWHERE),
        ("", None, NOWHERE),
        ("relative", None, NOWHERE),
    ],
)
def test_only_absolute_folders_are_remembered_in(homes, home, state, folder):
    homes(home, state)
    assert Settings().state_folder == folder
    assert Settings(state=Path("/named")).state_folder == Path("/named")


def test_a_folder_that_was_removed_under_us_stops_no_question(tmp_path, monkeypatch):
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    assert Settings().searched == (tmp_path / "gone" / "generated",)
    (tmp_path / "gone").rmdir()
    assert Settings().searched == (Path("generated"),)


def test_a_folder_that_can_be_written_has_no_obstacle_and_gets_no_file(tmp_path):
    assert obstacle(tmp_path / "a" / "b") is None
    assert [*(tmp_path / "a" / "b").iterdir()] == []


@for_all(("below", "says"), [("file", "it is a file"), ("file/below", "Not a directory"), (NOWHERE, HOMELESS)])
def test_what_is_in_the_way_is_named(tmp_path, below, says):
    (tmp_path / "file").write_text("")
    assert obstacle(tmp_path / below) == says


def test_a_folder_that_takes_files_but_no_bytes_is_not_writable(tmp_path):
    """As on a full disk: there an empty file can be made."""
    code = (
        "import sys; from pathlib import Path; from ttnn_mcp.session.settings import obstacle\n"
        "print(obstacle(Path(sys.argv[1])))"
    )
    ran = subprocess.run(
        [sys.executable, "-B", "-c", code, str(tmp_path)],  # Python would write half a .pyc
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "File too large\n"


async def test_open_run_says_that_its_id_will_be_forgotten_and_the_session_knows_it(tmp_path):
    report = write_performance_report(tmp_path, block())
    (tmp_path / "file").write_text("")
    at = Session(Settings(roots=[tmp_path / "none"], state=tmp_path / "file"))
    card = await ask(at, "open_run", performance=str(report))
    [said] = [caveat for caveat in card["caveats"] if PATIENT in caveat]
    assert "it is a file" in said
    assert str(tmp_path / "file") not in said
    assert (await ask(at, "list_ops", run=card["id"]))["ops"]
    again = await ask(at, "open_run", run=card["id"])
    assert again["caveats"].count(said) == 1
    fine = Session(Settings(roots=[tmp_path / "none"], state=tmp_path / "state"))
    assert not [
        word for word in (await ask(fine, "open_run", performance=str(report)))["caveats"] if PATIENT in word
    ]


async def test_a_damaged_list_of_runs_is_named(tmp_path):
    at = Session(Settings(state=tmp_path))
    assert await at.registry.fault() is None
    report = write_performance_report(tmp_path, block())
    assert not [word for word in (await ask(at, "open_run", performance=str(report)))["caveats"] if PATIENT in word]
    assert await at.registry.fault() is None
    (tmp_path / "runs.sqlite").write_bytes(os.urandom(4096))
    assert "move runs.sqlite aside" in await at.registry.fault()


async def test_a_list_of_runs_that_another_program_locks_is_not_called_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.session.registry.PATIENCE_S", 0.1)
    at = Session(Settings(state=tmp_path))
    await ask(at, "open_run", performance=str(write_performance_report(tmp_path, block())))
    holder = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert await at.registry.fault() == "another program holds it"
    holder.close()


async def test_a_name_that_cannot_be_kept_is_refused(tmp_path):
    report = write_performance_report(tmp_path, block())
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable, match="it is a file"):
        await baseline(Session(Settings(state=tmp_path / "file")), "main", str(report))
    assert "main is run" in await baseline(Session(Settings(state=tmp_path / "state")), "main", str(report))


def test_without_a_home_there_is_no_archive(homes, monkeypatch):
    monkeypatch.delenv("TTNN_MCP_ARCHIVE_MB")
    homes(None, None)
    assert Settings().archive_at_most_mb == 0
    homes("/home/me", None)
    assert Settings().archive_at_most_mb > 0


def test_an_archive_that_does_not_answer_is_named_once(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert in_time(Archive(tmp_path / "file"), lambda _cursor: 1, 0, asker="") == 0
    assert [record.getMessage() for record in caplog.records if "is not asked" in record.getMessage()][1:] == []
    assert len(caplog.records) == 1
