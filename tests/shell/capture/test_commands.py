"""Which command is run for which tt-metal."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.shell.capture.profiled import under_tracy
from ttnn_mcp.shell.capture.target import Build, UserCommand, build_of

STATUS = Path("/some where/status")
OLD = Build(None, frozenset({"-r", "-p", "-m"}), joins=True, records_graph=False)
NEW = Build("0.81.1", frozenset({"--no-web-server", "--op-support-count"}), joins=True, records_graph=True)
DIRECT = Build("1.0", frozenset(), joins=False, records_graph=True)
PYTEST = UserCommand("/env/bin/python", ("-m", "pytest", "test_x.py::t[a b]", "-k", "x and not y"))


def test_the_words_reach_the_shell_of_tracy_whole():
    command = under_tracy(PYTEST, OLD, [], STATUS)
    assert command[:5] == ["/env/bin/python", "-m", "tracy", "-r", "-p"]
    joined = " ".join(command[5:])  # as tools/tracy/__main__.py does
    assert (
        joined
        == "-m pytest 'test_x.py::t[a b]' -k 'x and not y' ; status=$?; echo $status > '/some where/status'; exit $status"
    )
    assert shlex.split(joined.partition(" ;")[0]) == list(PYTEST.words)


def test_the_status_behind_the_words_is_that_of_the_command(tmp_path):
    file = tmp_path / "the status"
    *_start, ending = under_tracy(PYTEST, OLD, [], file)
    assert subprocess.run(f"(exit 7) {ending}", shell=True, check=False).returncode == 7  # noqa: S602
    assert file.read_text() == "7\n"


def test_a_newer_tracy_starts_no_server_for_a_browser():
    command = under_tracy(PYTEST, NEW, ["--op-support-count=5000"], STATUS)
    assert command[3:7] == ["-r", "-p", "--no-web-server", "--op-support-count=5000"]
    assert "--no-web-server" not in under_tracy(PYTEST, OLD, [], STATUS)


def test_a_tracy_without_a_shell_gets_the_words_as_they_are():
    assert under_tracy(PYTEST, DIRECT, [], STATUS)[5:] == list(PYTEST.words)


def test_an_option_that_this_tracy_lacks_is_refused():
    with pytest.raises(ArgumentsInvalid, match="no option --op-support-count=5000"):
        under_tracy(PYTEST, OLD, ["--op-support-count=5000"], STATUS)


def test_a_tt_metal_is_read_from_its_files_and_not_imported(tmp_path, monkeypatch):
    for name, files in {
        "tracy": {"__init__.py": "raise SystemExit('imported')", "__main__.py": 'x("-r"); x("--name-append")\nshell=True\n" ".join(a)'},
        "ttnn": {"__init__.py": "raise SystemExit('imported')", "graph.py": "def full_graph_capture(path): ..."},
    }.items():  # fmt: skip
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    build = build_of(sys.executable)
    assert build == Build(build.version, frozenset({"-r", "--name-append"}), joins=True, records_graph=True)
    (tmp_path / "ttnn" / "graph.py").unlink()
    assert not build_of(sys.executable).records_graph
    for half in ("shell=True", '" ".join(a)'):
        (tmp_path / "tracy" / "__main__.py").write_text(half)
        assert not build_of(sys.executable).joins
    (tmp_path / "tracy" / "__init__.py").unlink()
    (tmp_path / "tracy" / "__main__.py").unlink()
    with pytest.raises(ArgumentsInvalid, match="has no module tracy"):
        build_of(sys.executable)


def test_a_program_that_is_no_python_cannot_be_asked():
    with pytest.raises(ArgumentsInvalid, match="cannot be asked"):
        build_of("/bin/true")
