"""The user's command: which Python runs which module or script, read from the words behind `--`."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.readers.regular_file import opened
from ttnn_mcp.records import dataclass

MODULES = frozenset({"pytest", "py.test"})  # started by a script that Tracy may run as a module too
_PYTHON = re.compile(r"python(\d(\.\d+)?)?")
_SHEBANG_BYTES = 256  # Linux reads no more of the first line


@dataclass(frozen=True, slots=True)
class UserCommand:
    """`python` as found on this machine; `words` are `-m MODULE ...` or `SCRIPT ...`."""

    python: str
    words: tuple[str, ...]


def target_of(command: Sequence[str], python: str | None = None) -> UserCommand:
    """What the command runs; by this Python if one is given, whichever it names.

    Raises:
        ArgumentsInvalid: it is no Python program, or is started in a way that cannot be repeated.
    """
    first, *rest = command
    if _PYTHON.fullmatch(Path(first).name):
        return UserCommand(python or _found(first), _program(rest))
    if first.endswith(".py"):
        return UserCommand(python or _found("python3"), tuple(command))
    if python and Path(first).name in MODULES:
        return UserCommand(python, ("-m", "pytest", *rest))
    path = _found(first)
    named = _shebang(path)
    if named is None:
        raise ArgumentsInvalid(
            f"'{shown(first)}' is no Python program, and only Python is run here: give pytest ..., python -m ... or "
            "a script."
        )
    return UserCommand(python or named, ("-m", "pytest", *rest) if Path(first).name in MODULES else (path, *rest))


def _program(words: Sequence[str]) -> tuple[str, ...]:
    if not words or (words[0].startswith("-") and (words[0] != "-m" or len(words) < 2)):
        options = f"with '{shown(words[0])}'" if words else "without a program"
        raise ArgumentsInvalid(
            f"Python is not started {options} here: give python -m MODULE ... or python SCRIPT ..., and settings of "
            "the interpreter in the environment."
        )
    return tuple(words)


def _found(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise ArgumentsInvalid(
            f"There is no command '{shown(name)}' here. Activate the environment in which your model runs "
            f"(put VARIABLE=value before ttnn-mcp): then give {shlex.quote(shown(name))} behind -- again."
        )
    return path


def _shebang(path: str) -> str | None:
    """The Python that a script names in its first line; None for anything else.

    Where that would be too long for the system, or hold a space, pip lets /bin/sh start the Python of the second line.
    """
    try:
        with opened(Path(path)) as file:
            line = file.readline(_SHEBANG_BYTES)
            second = file.readline().decode(errors="replace") if line == b"#!/bin/sh\n" else ""
    except OSError:
        return None
    words = line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []
    if second.startswith("'''exec' "):
        with suppress(ValueError):  # a quote that does not end
            words = shlex.split(second)[1:]
    if words and Path(words[0]).name == "env":
        words = words[1:]
    if not words or not _PYTHON.fullmatch(Path(words[0]).name):
        return None
    return shutil.which(words[0])
