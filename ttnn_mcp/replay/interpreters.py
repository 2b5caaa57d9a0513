"""The Python that has the user's own TTNN, and what that TTNN is: whether it has mock devices, where its files lie."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.records import dataclass

OPTION, VARIABLE = "--ttnn", "TTNN_MCP_TTNN"
MOCK = "TT_METAL_MOCK_CLUSTER_DESC_PATH"
LIBRARIES = "libraries"
# a first look at libraries of half a GB on a slow disk
PROBE_S = 60  # unmoved: it is how long a Python that hangs is waited for
_PROBE = f"""
import importlib.metadata, importlib.util, json, os, pathlib, sys
def place(name):
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    return os.path.dirname(spec.origin) if spec and spec.origin else None
told = {{"tracy": place("tracy"), "ttnn": place("ttnn"), "version": None, "mock": False}}
try:
    told["version"] = importlib.metadata.version("ttnn")
except importlib.metadata.PackageNotFoundError:
    pass
if told["ttnn"] and "{LIBRARIES}" in sys.argv:
    built = pathlib.Path(os.environ.get("TT_METAL_HOME", "/nowhere"), "build", "lib")
    homes = [home for home in (pathlib.Path(told["ttnn"]), built) if home.is_dir()]
    libraries = [one for home in homes for one in home.rglob("*tt*metal*.so")]
    told["mock"] = any(b"{MOCK}" in one.read_bytes() for one in libraries)
print(json.dumps(told))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that may have TTNN.

    Attributes:
        path: where it lies.
        found: by what.
        version: TTNN's; None where it has none.
        mock: whether that TTNN knows mock devices, so that it can be kept from real ones.
    """

    path: Path
    origin: str
    version: str | None
    mock: bool

    @property
    def proves(self) -> bool:
        """Whether it can prove anything."""
        return self.mock

    @property
    def told(self) -> str:
        """What it is, in words."""
        if self.version is None:
            return f"no TTNN in {self.path} ({self.origin})"
        doubt = "" if self.mock else ", which knows no mock devices"
        return f"TTNN {self.version} in {self.path} ({self.origin}){doubt}"


def looked_at(python: str | Path, *words: str, folder: str | None = None) -> dict[str, Any] | None:
    """What a Python has installed: where `tracy` and `ttnn` lie, and TTNN's version; None where it cannot be asked.

    With `LIBRARIES`, whether TTNN's know mock devices. Nothing is imported: that takes seconds, and may leave folders.
    """
    try:
        ran = subprocess.run(  # noqa: S603 - a Python that the user, or his tt-metal, named
            [python, "-c", _PROBE, *words], capture_output=True, text=True, timeout=PROBE_S, check=True, cwd=folder
        )
        return json.loads(ran.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def places(named: str | Path | None) -> list[tuple[str, str]]:
    """Where the Python with TTNN may be, and by what: the one that is stated, else the usual ones in their order."""
    if named:
        return [(str(named), OPTION)]
    if os.environ.get(VARIABLE):
        return [(os.environ[VARIABLE], f"${VARIABLE}")]
    home = os.environ.get("TT_METAL_HOME")
    in_metal = [(str(Path(home, "python_env", "bin", "python")), "$TT_METAL_HOME/python_env")] if home else []
    return [*in_metal, (sys.executable, "the own one")]


def interpreter(named: Path | None) -> Interpreter:
    """The Python that was named, or the first of the usual ones that has TTNN, or the last that has none."""
    origin = [probed(Path(path), how) for path, how in places(named)]
    return next((one for one in origin if one.version is not None), origin[-1])


def ttnn_python(asked: str | None) -> tuple[str, bool]:
    """The first of the places where there is a program, and whether somebody stated it.

    Raises:
        ArgumentsInvalid: what was stated cannot be started, or there is none.
    """
    (first, by), *others = places(asked)
    stated = by in (OPTION, f"${VARIABLE}")
    programs = [program for path, _ in ((first, by), *others) if (program := shutil.which(path)) is not None]
    if not programs:
        raise ArgumentsInvalid(
            f"{by} names '{shown(first)}', and there is no such program: name a Python with TTNN."
        )
    return programs[0], stated


@lru_cache(maxsize=8)  # unmoved: only how many need not be asked again
def probed(path: Path, origin: str) -> Interpreter:
    """What an interpreter says of its TTNN; asked once."""
    installed = looked_at(path, LIBRARIES, folder="/") or {}
    version = (installed.get("version") or "unknown") if installed.get("ttnn") else None
    return Interpreter(path, origin, version, bool(installed.get("mock")))
