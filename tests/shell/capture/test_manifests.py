"""What is written beside a report that was profiled here."""

import json
import subprocess

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell.capture import manifests
from ttnn_mcp.shell.capture.target import Build

BUILD = Build("0.81.1", frozenset(), joins=True, records_graph=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one commit, which is the current folder and tt-metal's too."""
    for name in ("GIT_DIR", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("1\n")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], check=True)
    return tmp_path


def test_a_manifest_says_what_ran_on_what(repository):
    (repository / "profile_log_device.csv").write_text("ARCH: blackhole, CHIP_FREQ[MHz]: 1350, Max: 1\n")
    manifest = manifests.manifest_of(["pytest", "a b"], 0.0, 7, BUILD, repository)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert manifest == {
        "command": "pytest 'a b'",
        "started": "1970-01-01 00:00:00 UTC",
        "exit_status": 7,
        "commit": commit,
        "dirty": False,
        "build": f"ttnn 0.81.1 tt-metal {commit[:12]}",
        "device": "blackhole",
        "clock_mhz": 1350,
    }
    manifests.write(manifest, repository)
    assert json.loads((repository / "run_manifest.json").read_text()) == manifest


def test_changes_are_told(repository):
    (repository / "model.py").write_text("2\n")
    manifest = manifests.manifest_of(["pytest"], 0.0, 0, BUILD, repository)
    assert manifest["dirty"] is True
    assert manifest["build"].endswith(" with changes")


def test_where_nothing_is_known_nothing_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    monkeypatch.setattr(manifests, "_git", lambda *_asked: None)
    manifest = manifests.manifest_of(["pytest"], 0.0, 0, Build(None, frozenset(), False, False), tmp_path)
    assert {name for name, value in manifest.items() if value is None} == {
        *("commit", "dirty", "build", "device", "clock_mhz"),
    }


@for_all(
    ("commit", "status", "known"),
    [("ab12", "", ("ab12", False)), ("ab12", None, ("ab12", None)), (None, "", (None, None))],
    ids=["clean", "git-stopped", "no-commit-yet"],
)
def test_changes_are_told_only_where_git_tells_them(tmp_path, monkeypatch, commit, status, known):
    monkeypatch.setattr(manifests, "_git", lambda _folder, word, *_more: commit if word == "rev-parse" else status)
    assert manifests._repository(tmp_path) == known
