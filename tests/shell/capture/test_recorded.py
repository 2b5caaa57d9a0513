"""The recorder runs a program as Python would, with TTNN's recording around it: a stand-in for ttnn keeps count."""

import sys

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell.capture import recorded

TTNN = """
import contextlib, pathlib
events = []
class device:
    @staticmethod
    def close_device(_device): events.append("closed")
def open_device(**_options): events.append("opened")
close_device = device.close_device
CreateDevice, CloseDevice = open_device, close_device
class distributed:
    class distributed:
        @staticmethod
        def open_mesh_device(): events.append("opened")
        @staticmethod
        def within(): distributed.distributed.open_mesh_device()
ran = []
def add(): ran.append("add")
class _ttnn:
    @staticmethod
    def get_device_operation_id(): return len(ran)
class graph:
    @staticmethod
    @contextlib.contextmanager
    def full_graph_capture(path):
        events.append("recording")
        yield
        pathlib.Path(path).write_text("{}")
        events.append("recorded")
"""
REPORT = "import ttnn\ndef import_report(graph, folder): ttnn.events.append('report')\n"
PROGRAM = """
import sys, ttnn
ttnn.events.append(sys.argv[1:])
for _ in range(2):
    ttnn.open_device(device_id=0)
    ttnn.close_device(None)
{end}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a program with that end; its status, and what the stand-in saw."""
    (tmp_path / "ttnn").mkdir()
    (tmp_path / "ttnn" / "__init__.py").write_text(TTNN)
    (tmp_path / "ttnn" / "graph_report.py").write_text(REPORT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["place of the recorder", str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    before = set(sys.modules)

    def recorded_program(end="", start=("program.py",), program=PROGRAM, **named):
        (tmp_path / "program.py").write_text(program.format(end=end))
        status = recorded.recorded(str(tmp_path), [*start, "a b"], **named)
        return status, sys.modules["ttnn"].events

    yield recorded_program
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("ttnn", "program"):
            del sys.modules[name]


WHOLE = ["opened", "recording", "recorded", "closed", "opened", "closed", "report"]


@for_all("start", [("program.py",), ("-m", "program")], ids=["script", "module"])
def test_a_recording_lies_between_the_first_device_and_its_end(run, capsys, start):
    status, events = run("ttnn.open_device(device_id=0)", start=start)
    assert (
        capsys.readouterr().err
        == f"{recorded.UNRECORDED} Record one test at a time, and close its devices at its end.\n"
    )
    assert status == 0
    assert events == [["a b"], *WHOLE[:-1], "opened", "report"]


@for_all(
    ("end", "status"),
    [("sys.exit(7)", 7), ("sys.exit()", 0), ("sys.exit('why')", 1), ("raise ValueError('why')", 1)],
)
def test_the_status_is_the_programs_own_and_what_was_recorded_is_kept(run, capsys, end, status):
    ended, events = run(end)
    assert (ended, events) == (status, [["a b"], *WHOLE])
    assert ("why" in capsys.readouterr().err) is ("why" in end)


@for_all("way", ["ttnn.CreateDevice(device_id=0)", "ttnn.distributed.distributed.within()"])
def test_every_way_to_open_a_device_starts_the_recording(run, capsys, way):
    start, end = way, "ttnn.CloseDevice(None)"
    _status, events = run("", program=f"import ttnn\nttnn.events.append('')\n{end}\n{start}\n{start}\n{end}\n")
    assert events == ["", "closed", "opened", "recording", "opened", "recorded", "closed", "report"]
    assert capsys.readouterr().err == ""  # two devices at a time are recorded


def test_ttnn_is_imported_as_the_caller_wants(run):
    status, events = run(imported=lambda run, module: (run(module), module.events.append("imported")))
    assert (status, events[0]) == (0, "imported")


def test_a_program_whose_ttnn_is_not_there_fails_as_without_us(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    (tmp_path / "plain.py").write_text("import json\nimport ttnn\n")
    assert recorded.recorded(str(tmp_path), ["plain.py"]) == 1
    assert "ModuleNotFoundError: No module named 'ttnn'" in capsys.readouterr().err


def test_a_program_without_ttnn_makes_no_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    (tmp_path / "plain.py").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    assert recorded.recorded(str(tmp_path), ["plain.py"]) == 0
    assert (tmp_path / "ran").exists()
    assert not (tmp_path / "graph.json").exists()


TWO = """
import ttnn
one, other = ttnn.open_device(device_id=0), ttnn.open_device(device_id=1)
ttnn.add()
{end}
"""


@for_all(
    ("end", "told"),
    [
        ("ttnn.close_device(one); ttnn.close_device(other)", 0),
        ("ttnn.add(); ttnn.close_device(one); ttnn.close_device(other)", 0),
        ("ttnn.close_device(one); ttnn.add(); ttnn.close_device(other)", 1),
        ("ttnn.close_device(one); ttnn.add()", 1),
        ("", 0),
    ],
)
def test_what_runs_on_a_device_while_another_is_closed_is_told_to_be_missing(run, capsys, end, told):
    run(end, program=TWO)
    assert capsys.readouterr().err.count(recorded.UNRECORDED) == told


def test_ops_that_nobody_counts_are_not_told(run, capsys, monkeypatch):
    run(
        "ttnn.close_device(one); ttnn.add()",
        program=TWO,
        imported=lambda load, module: (load(module), delattr(module, "_ttnn")),
    )
    assert capsys.readouterr().err == ""
