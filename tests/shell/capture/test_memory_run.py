"""The run that records memory: which report is taken for its own."""

import json
import os
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell.capture import profiled
from ttnn_mcp.shell.capture.target import Build, UserCommand

NEW, OLD = (Build(None, frozenset(), joins=True, records_graph=records) for records in (True, False))
MODEL = UserCommand("python3", ("model.py",))
DATABASE = Path(demo_reports()[1], "db.sqlite").read_bytes()
CSV = next(Path(demo_reports()[0]).rglob("ops_perf_results*.csv")).read_bytes()


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Record while the command writes these files; the report's path, what is told, and the commands that ran."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    monkeypatch.delenv(profiled.VARIABLE, raising=False)

    def run(build, files=(), status=0):
        told, ran = [], []

        def streamed(command, _listener):
            ran.append((list(command), os.environ.get(profiled.VARIABLE)))
            for place, content in files:
                folder = Path(command[2]) if build is NEW else tmp_path / "generated"
                path = folder / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            return status

        monkeypatch.setattr(profiled, "streamed", streamed)
        return profiled.recorded(MODEL, build, told.append), told, ran

    return run


def test_a_newer_ttnn_is_recorded_from_outside(recorded, tmp_path):
    report, told, [(command, variable)] = recorded(NEW, [("db.sqlite", DATABASE)])
    assert report.is_file()
    assert report.is_relative_to(tmp_path / "generated" / "ttnn" / "reports")
    assert told[1:] == [f"Memory report: {report}"]
    assert (command[0], command[3:], variable) == ("python3", ["model.py"], None)


def test_an_older_ttnn_is_told_by_its_variable_which_is_taken_back(recorded):
    report, _told, [(command, variable)] = recorded(OLD, [("ttnn/reports/1/db.sqlite", DATABASE)])
    assert report.parts[-4:] == ("ttnn", "reports", "1", "db.sqlite")
    assert command == ["python3", "model.py"]
    assert json.loads(variable)["enable_graph_report"] is True
    assert profiled.VARIABLE not in os.environ


@for_all("build", [NEW, OLD], ids=["new", "old"])
def test_neither_an_older_memory_report_nor_a_new_one_of_times_is_its_own(recorded, tmp_path, build):
    before = tmp_path / "generated" / "ttnn" / "reports" / "1" / "db.sqlite"
    before.parent.mkdir(parents=True)
    before.write_bytes(DATABASE)
    os.utime(before, (1_700_000_000, 1_700_000_000))
    report, told, _ran = recorded(build, [("profiler/reports/1/ops_perf_results_1.csv", CSV)], status=3)
    assert report is None
    assert told[1:] == ["No memory report came of it (status 3): a device must be opened with ttnn.open_device."]
