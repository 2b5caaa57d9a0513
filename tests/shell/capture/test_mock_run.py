"""`ttnn-mcp capture` with a stand-in for TTNN: what it runs, what it writes, what it says."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.replay.mock_chips import KINDS, description
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.capture import mock_run
from ttnn_mcp.shell.capture.mock_run import MockCapture
from ttnn_mcp.shell.capture.target import Build

DATABASE = Path(demo_reports()[1], "db.sqlite")
NEW = Build("0.81.1", frozenset(), joins=False, records_graph=True, traces=False)
TTNN = """
import contextlib, os, shutil
LIBRARY = os.path.join(os.path.dirname(__file__), "libtt_metal.so")
mapped = open(LIBRARY, "rb")
import mmap
kept = mmap.mmap(mapped.fileno(), 0, access=mmap.ACCESS_READ)
def open_device(**_options): print("chips", open(os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"]).read().count("harvest_mask"))
def close_device(_device): pass
class graph:
    @staticmethod
    @contextlib.contextmanager
    def full_graph_capture(path):
        yield
        open(path, "w").write("{}")
"""
REPORT = f"import shutil\ndef import_report(_graph, folder): shutil.copy({str(DATABASE)!r}, folder)\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    for name in ("TT_METAL_HOME", "TTNN_MCP_TTNN", "TT_METAL_CACHE", "FORCE_COLOR", *mock_run.LOGS):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def capture(home, monkeypatch):
    """Capture where the command ends so and TTNN is like this; the capture, what it tells, the call and its limit."""

    def run(status=0, writes=True, arch="n150", builds=(NEW,), python=None, **asked):
        told, calls, found = [], [], list(builds)

        def streamed(call, _listener, seconds):
            calls.append((call, seconds, Path(call[3]).read_text(), os.environ["TT_METAL_CACHE"]))
            if writes:
                Path(call[2], "db.sqlite").write_bytes(DATABASE.read_bytes())
            return status

        monkeypatch.setattr(mock_run, "streamed", streamed)
        monkeypatch.setattr(mock_run, "ttnn_of", lambda _python: found.pop(0))
        options = {"minutes": 30, "memory_gb": None, **asked}
        made = MockCapture(
            [sys.executable, "model.py", "a b"], arch, python, state=home / "state", tell=told.append, **options
        )
        made.run()
        return made, told, calls

    return run


def test_the_command_runs_on_the_chips_within_its_limits(capture, home):
    made, told, [(call, seconds, chips, kernels)] = capture(minutes=3, memory_gb=2, arch="p100")
    assert call[:2] == [sys.executable, str(Path(mock_run.__file__).with_name("mocked.py"))]
    assert call[4:] == ["180", "2000000000", "model.py", "a b"]
    assert 180 < seconds <= 600
    assert chips == description(KINDS["p100"])
    assert kernels == str(home / "state" / "mock-kernels")
    assert made.report.parent.parent == home / "generated" / "ttnn" / "reports"
    assert told == [f"Memory report: {made.report}"]
    manifest = json.loads((made.report.parent / "run_manifest.json").read_text())
    assert (manifest["device"], manifest["build"], made.status) == ("mock p100", "ttnn 0.81.1", 0)


def test_without_a_limit_three_quarters_of_the_machines_memory_are_given(capture):
    _made, _told, [(call, *_rest)] = capture()
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert int(call[5]) == int(whole * 0.75)


def test_a_description_of_a_cluster_is_taken_as_it_is(capture, home):
    (home / "cluster_descriptor.yaml").write_text("arch: {}\n")
    made, _told, [(_call, _seconds, chips, _kernels)] = capture(arch="cluster_descriptor.yaml")
    assert chips == "arch: {}\n"
    manifest = json.loads((made.report.parent / "run_manifest.json").read_text())
    assert manifest["device"] == "mock cluster_descriptor.yaml"


@for_all(
    ("arch", "says"),
    [("n15", r"no mock chips 'n15'\. Did you mean n150"), ("zzz", "There is: n150, n300, .*t3000"), ("no.yaml", "cannot be read")],
)  # fmt: skip
def test_chips_that_nobody_knows_are_refused(capture, arch, says):
    with pytest.raises(ArgumentsInvalid, match=says):
        capture(arch=arch)


@for_all(
    ("status", "ends", "says"),
    [(137, 137, "ended after 30 minutes"), (139, 139, "TTNN crashed on the mock device"), (0, 1, r"No report \(status 0\)")],
)  # fmt: skip
def test_without_a_report_it_is_said_why(capture, status, ends, says):
    made, told, _calls = capture(status=status, writes=False)
    assert (made.report, made.status) == (None, ends)
    assert says.replace("\\", "") in told[0]


NONE = Build(None, frozenset(), joins=False, records_graph=False, traces=False, has_ttnn=False)
OLD = Build("0.60", frozenset(), joins=False, records_graph=False)


def test_another_python_runs_the_command_where_its_own_has_no_ttnn(capture, monkeypatch):
    monkeypatch.setattr(mock_run, "ttnn_python", lambda _asked: ("/metal/python", False))
    made, told, [(call, *_rest)] = capture(builds=(NONE, NEW))
    assert call[0] == "/metal/python"
    assert told[0] == f"{sys.executable} has no TTNN: /metal/python runs the command."
    assert made.build is NEW


@for_all(
    ("builds", "python", "says"),
    [((NONE, NONE), None, "has no TTNN"), ((NONE,), sys.executable, "has no TTNN"), ((OLD,), None, "TTNN 0.60 cannot record")],
)  # fmt: skip
def test_a_python_without_a_ttnn_that_records_is_refused(capture, builds, python, says):
    with pytest.raises(ArgumentsInvalid, match=says):
        capture(builds=builds, python=python)


def test_a_python_that_has_no_ttnn_either_is_not_taken(capture, monkeypatch):
    monkeypatch.setattr(mock_run, "ttnn_python", lambda _asked: ("/metal/python", False))
    with pytest.raises(ArgumentsInvalid, match=re.escape(f"{sys.executable} has no TTNN")):
        capture(builds=(NONE, NONE))


def test_without_a_command_it_says_where_to_write_it(home):
    with pytest.raises(ArgumentsInvalid, match="behind --"):
        MockCapture([], "n150", None, 1, None, home, print).run()


def test_from_the_command_line_to_the_answers(home, monkeypatch, capfd):
    """The whole way, in the Python of this test, with a package that stands in for TTNN."""
    package = home / "packages" / "ttnn"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(TTNN)
    (package / "graph.py").write_text("def full_graph_capture(): ...\n")
    (package / "graph_report.py").write_text(REPORT)
    (package / "libtt_metal.so").write_text("TT_METAL_MOCK_CLUSTER_DESC_PATH")
    (home / "model.py").write_text("import sys, ttnn\nttnn.open_device(device_id=0)\nsys.exit(int(sys.argv[1]))\n")
    environment = {"PYTHONPATH": str(home / "packages"), "XDG_STATE_HOME": str(home / "state"), "COLUMNS": "200"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    status = cli.main(["capture", "--arch", "t3000", "--", sys.executable, "model.py", "5"])
    out, err = capfd.readouterr()
    assert status == 5, err
    assert out.splitlines()[0] == "chips 8"
    assert "no kernel ran: this report holds no times" in out
    assert "then the program ended with status 5" in out
    assert cli.main(["capture", "--arch", "n150", "--json", "--", sys.executable, "model.py", "0"]) == 0
    out, _err = capfd.readouterr()
    answer = json.loads(out.splitlines()[-1])
    assert answer["capture"] == {"arch": "n150", "ttnn": None, "status": 0, "times": None, "unrecorded": False}
    assert answer["memory"]["l1_peak"]["bytes_per_bank"] > 0


@for_all(("words", "status"), [(["--minutes", "0"], 2), (["--minutes", "x"], 2), (["--memory-gb", "10001"], 2)])
def test_limits_are_whole_numbers_in_bounds(words, status):
    with pytest.raises(SystemExit) as refused:
        cli.main(["capture", "--arch", "n150", *words, "--", "python", "model.py"])
    assert refused.value.code == status
