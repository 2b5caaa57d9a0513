"""What a capture makes of what Tracy left behind, without starting anything."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell import people
from ttnn_mcp.shell.capture import profiled
from ttnn_mcp.shell.capture.failures import OutputWatch
from ttnn_mcp.shell.capture.profiled import Capture
from ttnn_mcp.shell.capture.target import Build, UserCommand

CSV = next(Path(demo_reports()[0]).rglob("ops_perf_results*.csv"))
DATABASE = Path(demo_reports()[1], "db.sqlite")
BUILD = Build(None, frozenset({"-v"}), joins=False, records_graph=True)


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    for name in ("TT_METAL_HOME", "TT_METAL_PROFILER_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def put(path, source=CSV, seconds=0.0):
    """A report that was written so many seconds from now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.read_bytes())
    os.utime(path, (time.time() + seconds,) * 2)
    return path


@pytest.fixture
def capture(work, monkeypatch):
    """Run a capture where Tracy writes these lines and files and ends so; it, and what it tells."""

    def run(lines=(), files=(), status=0, memory=False, recorded=None):
        def streamed(_command, listener):
            for line in lines:
                listener(line)
            for place in files:
                put(work / "generated" / place, seconds=9)
            return status

        told = []
        monkeypatch.setattr(profiled, "streamed", streamed)
        monkeypatch.setattr(profiled, "build_of", lambda _python: BUILD)
        monkeypatch.setattr(profiled, "target_of", lambda _command: UserCommand("python3", ("model.py",)))
        monkeypatch.setattr(profiled, "conflicts", lambda _environment: None)
        monkeypatch.setattr(profiled, "recorded", lambda *_asked: told.append("recorded") or recorded)
        made = Capture(["pytest"], [], memory, told.append)
        made.run()
        return made, told

    return run


REPORT = "profiler/reports/1/ops_perf_results_1.csv"
NO_LOG = "No device logs found"
FULL = "Profiler DRAM buffers were full"


def test_a_good_run_tells_where_its_report_lies_and_no_more(capture, work):
    made, told = capture(files=[REPORT])
    assert told == [f"Performance report: {work / 'generated' / REPORT}"]
    assert (made.status, made.performance) == (0, work / "generated" / REPORT)


def test_a_failure_that_cost_the_report_is_explained_and_one_that_cost_nothing_is_not(capture):
    assert capture([NO_LOG])[1][0].startswith("No device wrote a log")
    assert capture([NO_LOG])[1][-1] == "No performance report came of it."
    assert capture([FULL])[1][0].startswith("The profiler's buffer on the device was full")
    assert capture([FULL], [REPORT])[1][0].startswith("The profiler's buffer on the device was full")
    assert len(capture([NO_LOG], [REPORT])[1]) == 1


@for_all(
    ("status", "ends", "says"),
    [(0, 1, "Tracy ended with status 0 and no"), (3, 3, "Tracy was interrupted, and"), (4, 4, "Tracy ended with status 4")],
)  # fmt: skip
def test_without_a_report_the_status_is_tracys_or_a_failure(capture, status, ends, says):
    made, told = capture(status=status)
    assert made.status == ends
    (sentence,) = told
    assert sentence.startswith(says)


def test_of_several_reports_one_is_taken(capture):
    _made, told = capture(files=[REPORT, REPORT.replace("/1/", "/2/")])
    assert told[0] == "2 performance reports were written: the newest is read."


@for_all(
    ("memory", "status", "says"),
    [
        (False, 0, []),
        (False, 7, []),
        (True, 0, ["recorded"]),
        (True, 7, ["No memory run follows, because the command ended with status 7."]),
    ],
)
def test_memory_is_recorded_where_it_is_asked_for_and_the_command_went_well(capture, memory, status, says):
    made, told = capture(files=[REPORT], status=status, memory=memory)
    assert told[1:] == says
    assert made.status == status
    assert made.memory_report is None


def test_both_reports_get_the_manifest(capture, work):
    database = put(work / "memory" / "db.sqlite", DATABASE)
    made, _told = capture(files=[REPORT], memory=True, recorded=database)
    manifests = [report.parent / "run_manifest.json" for report in (made.performance, made.memory_report)]
    assert manifests[0].read_text() == manifests[1].read_text()


@for_all(("age", "is_taken"), [(-1.7, True), (-2.3, False)])
def test_the_report_that_tracy_names_is_new_also_where_a_file_has_its_time_in_twos(work, age, is_taken):
    """FAT counts every other second."""
    now = time.time()
    listener = OutputWatch()
    listener.report = str(put(work / "elsewhere" / "ops_perf_results_1.csv"))
    os.utime(listener.report, (now + age,) * 2)
    assert profiled._reports(listener, now) == ([Path(listener.report)] if is_taken else [])


def test_other_reports_are_those_of_times_that_came_since(work, monkeypatch):
    now = time.time()
    put(work / "generated" / "profiler" / "1" / "ops_perf_results_1.csv", seconds=-60)
    put(work / "generated" / "ttnn" / "reports" / "1" / "db.sqlite", DATABASE, seconds=9)
    assert profiled._reports(OutputWatch(), now) == []
    path = put(work / "artifacts" / "reports" / "1" / "ops_perf_results_1.csv", seconds=9)
    monkeypatch.setenv("TT_METAL_PROFILER_DIR", str(work / "artifacts"))
    assert profiled._reports(OutputWatch(), now) == [path]


def test_tt_metal_runs_on_linux_only(monkeypatch):
    monkeypatch.setattr(profiled, "sys", SimpleNamespace(platform="win32"))
    with pytest.raises(ArgumentsInvalid, match="tt-metal runs on Linux"):
        Capture(["pytest"], [], False, print).run()


def test_without_a_report_no_findings_are_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(Capture, "run", lambda self: None)
    asked = SimpleNamespace(behind=["pytest"], tracy=[], with_memory=False)
    assert people._profile(asked, None) == 0
    assert capsys.readouterr() == ("", "")
