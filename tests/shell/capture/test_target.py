"""Which Python runs what, read from the user's command."""

import sys
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.shell.capture.target import UserCommand, target_of


def script(folder, first_line):
    path = folder / "pytest"
    path.write_text(f"{first_line}\nimport sys\n")
    path.chmod(0o755)
    return str(path)


def test_pytest_runs_in_the_python_of_its_script(tmp_path, monkeypatch):
    path = script(tmp_path, f"#!{sys.executable}")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("pytest", path):
        assert target_of([name, "-x"]) == UserCommand(sys.executable, ("-m", "pytest", "-x"))


def test_other_python_scripts_run_as_scripts(tmp_path):
    path = tmp_path / "tool"
    Path(script(tmp_path, f"#!{sys.executable} -E")).rename(path)
    assert target_of([str(path), "a"]) == UserCommand(sys.executable, (str(path), "a"))


@for_all("words", [["-m", "pytest"], ["-m", "pytest", "x"], ["model.py"], ["model.py", "-m"]])
def test_a_python_is_taken_at_its_word(words):
    assert target_of([sys.executable, *words]) == UserCommand(sys.executable, tuple(words))


@for_all("words", [[], ["-c", "pass"], ["-u", "model.py"], ["-m"]])
def test_what_tracy_cannot_repeat_is_refused(words):
    with pytest.raises(ArgumentsInvalid, match="Python is not started"):
        target_of([sys.executable, *words])


@pytest.fixture
def python(tmp_path, monkeypatch):
    """A Python on the PATH, called like this."""

    def called(*folders):
        folder = tmp_path.joinpath(*folders)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "python3").touch(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return str(folder / "python3")

    return called


def test_a_script_alone_runs_in_the_python_of_the_environment(python):
    place = python("bin")
    assert target_of(["model.py", "-x"]) == UserCommand(place, ("model.py", "-x"))


def test_the_python_of_a_script_may_be_that_of_the_environment(python, tmp_path):
    place = python("bin")
    assert target_of([script(tmp_path, "#!/usr/bin/env python3")]) == UserCommand(place, ("-m", "pytest"))


@for_all("quote", ['"', "'"])
def test_the_python_of_a_script_may_stand_in_its_second_line(python, tmp_path, quote):
    """As pip and uv write it where the path of an environment is long or has a space."""
    long = python("with a space", "x" * 200)
    path = script(tmp_path, f"#!/bin/sh\n'''exec' {quote}{long}{quote} \"$0\" \"$@\"\n' '''")
    assert target_of([path, "-x"]) == UserCommand(long, ("-m", "pytest", "-x"))


def test_a_first_line_is_as_long_as_the_system_reads_it(python, tmp_path):
    for length, is_read in ((255, True), (300, False)):
        room = length - len(f"#!{tmp_path}/{'x' * 50}//python3\n")
        place = python("x" * 50, "y" * room)
        path = script(tmp_path, f"#!{place}")
        assert len(Path(path).read_text().splitlines(keepends=True)[0]) == length
        if is_read:
            assert target_of([path]).python == place
        else:
            with pytest.raises(ArgumentsInvalid, match="is no Python program"):
                target_of([path])


@for_all(
    "first_line",
    [
        "",
        "#!",
        "#!/usr/bin/env",
        "#!/bin/sh",
        "#!/bin/sh\n'''exec' \"/no end",
        "#!/bin/sh\n'''exec' ",
        "echo python3",
    ],
)
def test_what_is_no_python_program_is_refused(tmp_path, first_line):
    with pytest.raises(ArgumentsInvalid, match="is no Python program"):
        target_of([script(tmp_path, first_line)])


def test_a_command_that_is_not_there_is_refused():
    with pytest.raises(ArgumentsInvalid, match="There is no command 'no-such-program' here"):
        target_of(["no-such-program"])


@for_all(
    ("command", "words"),
    [
        (["python9", "model.py"], ("model.py",)),
        (["model.py", "a"], ("model.py", "a")),
        (["pytest", "x"], ("-m", "pytest", "x")),
    ],
)
def test_a_python_that_is_given_runs_whatever_is_found(monkeypatch, command, words):
    monkeypatch.setenv("PATH", "")
    assert target_of(command, "/given/python") == UserCommand("/given/python", words)


def test_a_script_of_another_python_is_run_by_the_given_one(tmp_path):
    path = Path(script(tmp_path, f"#!{sys.executable}")).rename(tmp_path / "tool")
    assert target_of([str(path)], "/given/python") == UserCommand("/given/python", (str(path),))
