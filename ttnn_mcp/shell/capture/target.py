"""The user's command: which Python runs which module or script, and what the tt-metal of that Python offers.

Read from the words behind `--`, and from the files of its packages: whether it has Tracy, with which options, and how
it records memory.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.readers.regular_file import opened, text_of
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.interpreters import looked_at

MODULES = frozenset({"pytest", "py.test"})  # started by a script that Tracy may run as a module too
_PYTHON = re.compile(r"python(\d(\.\d+)?)?")
_SHEBANG_BYTES = 256  # Linux reads no more of the first line

_SOURCE_BYTES = 1_000_000  # of a module: tools/tracy/__main__.py of tt-metal has 17 kB

_OPTION = re.compile(r"""["'](-[a-z]|--[a-z][a-z-]+)["']""")


@dataclass(frozen=True, slots=True)
class Build:
    """`options` are those of `python -m tracy`; `joins` says that it hands the command on as one line to a shell."""

    version: str | None
    options: frozenset[str]
    joins: bool
    records_graph: bool
    traces: bool = True
    has_ttnn: bool = True


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


def build_of(python: str) -> Build:
    """The tt-metal that this Python sees.

    Raises:
        ArgumentsInvalid: it has no Tracy, or cannot be asked.
    """
    build = ttnn_of(python)
    if not build.traces:
        raise ArgumentsInvalid(
            f"{shown(python)} has no module tracy, so this is not the Python of a tt-metal. Activate that environment "
            "(source python_env/bin/activate in tt-metal) and set PYTHONPATH as your model needs it, then try again."
        )
    return build


def ttnn_of(python: str) -> Build:
    """The TTNN that this Python sees, with Tracy or without.

    Raises:
        ArgumentsInvalid: it cannot be asked.
    """
    places = looked_at(python)
    if places is None:
        raise ArgumentsInvalid(f"{shown(python)} cannot be asked what it has installed. Does it start?")
    source = _text(Path(places["tracy"], "__main__.py")) if places["tracy"] else ""
    graph = _text(Path(places["ttnn"], "graph.py")) if places["ttnn"] else ""
    return Build(
        places["version"],
        frozenset(_OPTION.findall(source)),
        joins="shell=True" in source and '" ".join' in source,
        records_graph="def full_graph_capture" in graph,
        traces=places["tracy"] is not None,
        has_ttnn=places["ttnn"] is not None,
    )


def _text(path: Path) -> str:
    try:
        return text_of(path, _SOURCE_BYTES)
    except OSError:
        return ""
