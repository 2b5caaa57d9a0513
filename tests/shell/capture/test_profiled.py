"""`ttnn-mcp profile` with a stand-in for Tracy: what it runs, what it passes on, what it says."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.for_all import for_all
from tests.shell.capture import tracy_stand_in
from tests.shell.capture.test_outcome import KERNEL, report_with
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.capture.failures import CONFLICTS

MODEL = "import json, sys; print('model', json.dumps(sys.argv[1:])); sys.exit(int(sys.argv[1]))\n"
TTNN = """
import contextlib, shutil
def open_device(**_options): return object()
def close_device(_device): assert not graph.recording, "TTNN aborts here"
class graph:
    recording = False
    @staticmethod
    @contextlib.contextmanager
    def full_graph_capture(path):
        graph.recording = True
        yield
        graph.recording = False
        open(path, "w").write("{}")
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a model, where this Python finds the stand-ins of Tracy and TTNN."""
    packages = tmp_path / "packages"
    for name, module, text in (
        ("tracy", "__init__.py", ""),
        ("tracy", "__main__.py", Path(tracy_stand_in.__file__).read_text()),
        ("ttnn", "__init__.py", TTNN),
        ("ttnn", "graph.py", "def full_graph_capture(): ...\n"),
        ("ttnn", "graph_report.py", f"import shutil\ndef import_report(_graph, folder): shutil.copy({demo_reports()[1]!r} + '/db.sqlite', folder)\n"),
    ):  # fmt: skip
        (packages / name).mkdir(parents=True, exist_ok=True)
        (packages / name / module).write_text(text)
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    for name in (*CONFLICTS, "TT_METAL_HOME", "STAND_IN", "FORCE_COLOR", "TT_METAL_PROFILER_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def profile(home, monkeypatch, capfd):
    """Profile the model, with what Tracy shall write; the exit status, stdout and stderr."""

    def run(*words, options=(), **asked):
        monkeypatch.setenv("STAND_IN", json.dumps(asked))
        status = cli.main(["profile", *options, "--", sys.executable, "model.py", *words])
        return status, *capfd.readouterr()

    return run


DEMO = str(next(Path(demo_reports()[0]).rglob("ops_perf*.csv")).parent)


def test_a_good_run_ends_with_what_is_slow(profile, home):
    odd = ["0", "a b", "*", "$HOME", "it's", "-k", "x and not y"]
    status, out, err = profile(*odd, report=DEMO)
    assert status == 0
    assert out.splitlines()[0] == f"model {json.dumps(odd)}"
    assert "Do this first: the device waits for the host" in out
    assert "Performance report: " in err
    csv = next((home / "generated").rglob("ops_perf_results*.csv"))
    manifest = json.loads((csv.parent / "run_manifest.json").read_text())
    assert manifest["command"] == shlex.join([sys.executable, "model.py", *odd])
    assert (manifest["exit_status"], manifest["device"], manifest["clock_mhz"]) == (0, "wormhole_b0", 1000)
    assert manifest["commit"] is None


def test_the_status_of_the_command_is_kept_and_its_report_is_still_read(profile):
    status, out, err = profile("7", options=["--memory"], report=DEMO)
    assert status == 7
    assert "Do this first: the device waits for the host" in out
    assert "No memory run follows, because the command ended with status 7." in err


def test_without_a_report_even_a_good_command_fails(profile):
    status, out, err = profile("0", output=["something new"])
    assert status == 1
    assert out == 'model ["0"]\n'
    assert "something new" in err
    assert "for a reason that is not known here" in err


def test_an_old_report_that_the_output_names_is_not_taken(profile, tmp_path):
    shutil.copytree(DEMO, tmp_path / "old")
    path = next((tmp_path / "old").glob("ops_perf_results*.csv"))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    status, _out, err = profile("0", output=[f"OPs csv generated at: {path}"])
    assert status == 1
    assert "Performance report" not in err
    assert not (tmp_path / "old" / "run_manifest.json").exists()


def test_of_several_reports_the_newest_is_read_and_that_is_told(profile, home):
    (home / "model.py").write_text(
        "import os, shutil, time\n"
        "for place, name in enumerate(('new', 'old')):\n"
        f"    folder = shutil.copytree({DEMO!r}, f'generated/profiler/reports/{{name}}')\n"
        "    for file in os.listdir(folder):\n"
        "        os.utime(os.path.join(folder, file), (time.time() + 9 - place,) * 2)\n"
    )
    status, out, err = profile()
    assert status == 0, err
    assert "2 performance reports were written: the newest is read." in err
    assert (home / "generated/profiler/reports/new/run_manifest.json").is_file()
    assert "Do this first: the device waits for the host" in out


def test_the_memory_is_recorded_in_a_run_of_its_own(profile, home):
    (home / "model.py").write_text(
        "import ttnn\ndevice = ttnn.open_device()\nttnn.close_device(device)\nprint('ran')\n"
    )
    status, out, err = profile(options=["--memory"], report=DEMO)
    assert status == 0, err
    assert out.count("ran\n") == 2
    assert "Memory report: " in err
    assert "model.py:104 +7" in out  # the findings cite both reports
    database = next((home / "generated").rglob("db.sqlite"))
    assert (database.parent / "run_manifest.json").is_file()


def test_an_older_ttnn_is_told_to_record_by_its_variable(profile, home, monkeypatch):
    (home / "packages" / "ttnn" / "graph.py").write_text("")
    monkeypatch.setenv("TTNN_CONFIG_OVERRIDES", '{"enable_fast_runtime_mode": true, "cache_path": "mine"}')
    (home / "model.py").write_text(
        "import os, pathlib, shutil\nprint(os.environ['TTNN_CONFIG_OVERRIDES'])\n"
        "folder = pathlib.Path('generated/ttnn/reports/1')\nfolder.mkdir(parents=True, exist_ok=True)\n"
        f"shutil.copyfile({demo_reports()[1] + '/db.sqlite'!r}, folder / 'db.sqlite')\n"
    )
    status, out, err = profile(options=["--memory"], report=DEMO)
    assert status == 0, err
    first, second = map(json.loads, out.splitlines()[:2])
    assert first == {"enable_fast_runtime_mode": True, "cache_path": "mine"}
    assert second.pop("report_name").startswith("profile_")
    switched_on = {"enable_logging": True, "enable_graph_report": True}
    assert second == {"enable_fast_runtime_mode": False, "cache_path": "mine", **switched_on}
    assert "Memory report: " in err
    assert json.loads(os.environ["TTNN_CONFIG_OVERRIDES"]) == first


def test_lost_ops_are_told_although_a_report_came(profile):
    full = "Profiler DRAM buffers were full, markers were dropped! device 0, worker core 1, 2, Risc BRISC"
    status, out, err = profile("0", report=DEMO, output=[full])
    assert status == 0
    assert "ops were lost" in err
    following = next(line for line in err.splitlines() if line.startswith("ttnn-mcp: Next: "))
    words = shlex.split(following.removeprefix("ttnn-mcp: Next: "))
    assert words[-5:] == ["--tracy=--op-support-count=10000", "--", sys.executable, "model.py", "0"]
    assert "Do this first: the device waits for the host" in out


def test_a_report_that_cannot_be_believed_is_told(profile, tmp_path):
    """What else cannot be: test_outcome.py."""
    status, out, err = profile("0", report=report_with(tmp_path / "bad", **{KERNEL: "0"}))
    assert status == 1
    assert "No device op has a kernel time" in err
    assert "Next: " in err
    assert "Do this first" not in out


@for_all("variable", CONFLICTS)
def test_what_excludes_the_profiler_is_told_before_anything_runs(profile, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    status, out, err = profile("0", report=DEMO)
    assert (status, out) == (1, "")
    assert f"Next: env -u {variable} " in err


@for_all(
    ("words", "says"),
    [
        ([], "Write the command behind --"),
        (["--", "no-such-program"], "There is no command"),
        (["--", "/bin/sh", "-c", "true"], "is no Python program"),
        (["--", "python", "-c", "pass"], "python -m MODULE"),
        (["--tracy=--no-such-option", "--", sys.executable, "model.py"], "has no option --no-such-option"),
    ],
)
def test_what_cannot_be_profiled_is_refused_in_a_sentence(home, capfd, words, says):
    assert cli.main(["profile", *words]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert says in err
    assert "Traceback" not in err


def test_a_python_without_tracy_is_refused(home, capfd):
    shutil.rmtree(home / "packages" / "tracy")
    assert cli.main(["profile", "--", sys.executable, "model.py"]) == 1
    assert "has no module tracy" in capfd.readouterr().err


def test_nothing_of_the_environment_changes(profile, home):
    (home / "model.py").write_text("import json, os; print(json.dumps(dict(os.environ)))\n")
    _status, out, _err = profile(report=DEMO)
    seen = json.loads(out.splitlines()[0])
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    assert {name: seen.get(name) for name in ours if name != "_"} == {
        name: ours[name] for name in ours if name != "_"
    }


@for_all("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_command(home, number):
    tracy = home / "packages" / "tracy" / "__main__.py"
    tracy.write_text(
        "import time\ntry:\n print('started', flush=True)\n time.sleep(60)\nexcept KeyboardInterrupt: raise SystemExit(3)\n"
    )
    command = [sys.executable, "-m", "ttnn_mcp", "profile", "--", sys.executable, "model.py"]
    env = {**os.environ, "PYTHONPATH": f"{home / 'packages'}:{Path(cli.__file__).parents[2]}"}
    started = time.monotonic()
    with subprocess.Popen(
        command, env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"started\n"
        process.send_signal(number)
        _out, err = process.communicate(timeout=30)
    assert process.returncode == (3 if number == signal.SIGINT else 128 + number)
    assert b"Traceback" not in err
    assert (b"Tracy was interrupted" in err) is (number == signal.SIGINT)
    assert time.monotonic() - started < 30
