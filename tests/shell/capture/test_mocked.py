"""A program on mock devices: what it is kept from, what ends it, what is left out."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell.capture import mocked

FOLDER = Path(mocked.__file__).parent
START = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import mocked, os\n"


def python(code, **options):
    """What a Python of its own says and ends with: limits and locks stay in it."""
    ran = subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, check=False, **options
    )
    return ran.returncode, ran.stdout, ran.stderr


CHILD = "os.system('cat devices/chip && cat other')"


@for_all("code", ["print(open('other').read(), open('devices/chip').read())", CHILD])
def test_neither_a_program_nor_what_it_starts_can_open_a_real_device(tmp_path, code):
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "chip").write_text("real")
    (tmp_path / "other").write_text("other")
    (tmp_path / "link").symlink_to("devices")
    locked = f"print(mocked.kept_from({str(tmp_path / 'devices')!r}), flush=True)\n"
    _status, out, _err = python(locked + "print(open('other').read())", cwd=tmp_path)
    if out.startswith("False"):
        pytest.skip("this Linux has no Landlock")
    assert out == "True\nother\n"
    _status, out, err = python(locked + code, cwd=tmp_path)
    assert out == "True\n"
    assert "ermission denied" in err
    _status, out, err = python(locked + "open('link/chip')", cwd=tmp_path)
    assert "ermission denied" in err


def test_a_linux_that_cannot_lock_says_so(monkeypatch):
    libc = SimpleNamespace(syscall=lambda *_asked: -1)
    monkeypatch.setattr(mocked.ctypes, "CDLL", lambda *_asked, **_named: libc)
    assert mocked.kept_from("/dev/tenstorrent") is False


def test_a_program_is_ended_and_gets_no_more_memory():
    status, _out, err = python("mocked.limit(1, 10**9); import time; time.sleep(20)")
    assert status == 1
    assert "TimeoutError: ttnn-mcp ended the program after 1 s" in err
    status, out, err = python("mocked.limit(60, 3 * 10**8); bytearray(10**8); print('fits'); bytearray(4 * 10**8)")
    assert (status, out) == (1, "fits\n")
    assert "MemoryError" in err


def test_only_a_library_with_the_variable_knows_mock_devices(tmp_path):
    for name, text in (
        ("libtt_metal.so", "TT_METAL_MOCK_CLUSTER_DESC_PATH"),
        ("libtt_metal_old.so", "TT_METAL_HOME"),
    ):
        (tmp_path / name).write_text(f"\0{text}\0")
    (tmp_path / "libother.so").write_text("TT_METAL_MOCK_CLUSTER_DESC_PATH")

    def knows(*names):
        maps = tmp_path / "maps"
        maps.write_text("".join(f"7f00-7f01 r-xp 0000 08:01 42   {tmp_path / name}\n" for name in names))
        return mocked.knows_mock_devices(str(maps))

    assert knows("libtt_metal_old.so", "libtt_metal.so")
    assert not knows("libtt_metal_old.so", "libother.so")


@pytest.fixture
def imported(monkeypatch):
    """Import a module with these calls, where TTNN knows mock devices or not; the module."""
    monkeypatch.setenv("TT_METAL_MOCK_CLUSTER_DESC_PATH", "changed")

    def run(*calls, knows=True):
        monkeypatch.setattr(mocked, "knows_mock_devices", lambda: knows)
        module = SimpleNamespace()

        def execute(module):
            module.seen = os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"]
            for name in calls:
                setattr(module, name, lambda *_asked, **_named: "done")

        mocked.Mock("/chips.yaml").imported(execute, module)
        return module

    return run


def test_ttnn_sees_the_chips_whatever_the_program_made_of_the_variable(imported):
    assert imported().seen == "/chips.yaml"


def test_what_a_mock_device_dies_of_is_left_out_and_told_once(imported, capsys):
    module = imported("begin_trace_capture", "execute_trace", "add")
    assert module.begin_trace_capture(1, cq_id=0) == 0
    assert (module.execute_trace(1, 0), module.execute_trace(1, 0), module.add(1)) == (None, None, "done")
    assert not hasattr(module, "wait_for_event")
    assert capsys.readouterr().err.splitlines() == [
        "ttnn-mcp: a mock device cannot do ttnn.begin_trace_capture: left out.",
        "ttnn-mcp: a mock device cannot do ttnn.execute_trace: left out.",
    ]


def test_a_ttnn_without_mock_devices_runs_nothing(imported):
    with pytest.raises(SystemExit, match="this TTNN knows no mock devices"):
        imported(knows=False)


@for_all(("locked", "there", "runs"), [(False, True, False), (False, False, True), (True, True, True)])
def test_where_nothing_can_be_locked_real_devices_must_be_absent(monkeypatch, tmp_path, locked, there, runs):
    called = []
    monkeypatch.setitem(sys.modules, "recorded", SimpleNamespace(recorded=lambda *asked: called.append(asked) or 7))
    monkeypatch.setattr(mocked, "kept_from", lambda _path: locked)
    monkeypatch.setattr(mocked, "REAL_DEVICES", str(tmp_path if there else tmp_path / "none"))
    monkeypatch.setattr(mocked, "limit", lambda *limits: called.append(limits))
    monkeypatch.setenv("TT_METAL_MOCK_CLUSTER_DESC_PATH", "")
    asked = ("folder", "chips.yaml", "60", "1000", "model.py", "a b")
    if not runs:
        with pytest.raises(SystemExit, match="cannot keep a program from its real devices"):
            mocked.main(*asked)
        assert called == []
        return
    assert mocked.main(*asked) == 7
    assert called[0] == (60, 1000)
    assert called[1][:2] == ("folder", ["model.py", "a b"])
    assert os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"] == "chips.yaml"
