"""The Python that has the user's own TTNN, and whether that TTNN has mock devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from ttnn_mcp.records import dataclass

VARIABLE = "TTNN_MCP_TTNN"
MOCK = "TT_METAL_MOCK_CLUSTER_DESC_PATH"
PROBE_S = 30.0  # a first look at libraries of half a GB on a slow disk
_PROBE = f"""
import importlib.metadata, importlib.util, json, os, pathlib
spec = importlib.util.find_spec("ttnn")
told = {{"version": None, "mock": False}}
if spec is not None and spec.origin:
    try:
        told["version"] = importlib.metadata.version("ttnn")
    except importlib.metadata.PackageNotFoundError:
        told["version"] = "unknown"
    built = pathlib.Path(os.environ.get("TT_METAL_HOME", "/nowhere"), "build", "lib")
    homes = [home for home in (pathlib.Path(spec.origin).parent, built) if home.is_dir()]
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
        return self.version is not None and self.mock

    @property
    def told(self) -> str:
        """What it is, in words."""
        if self.version is None:
            return f"no TTNN in {self.path} ({self.origin})"
        doubt = "" if self.mock else ", which knows no mock devices"
        return f"TTNN {self.version} in {self.path} ({self.origin}){doubt}"


def interpreter(named: Path | None) -> Interpreter:
    """The Python that was named, or the first of the usual ones that has TTNN, or the last that has none."""
    home = os.environ.get("TT_METAL_HOME")
    places = [(Path(sys.executable), "the own one")]
    if home:
        places.insert(0, (Path(home, "python_env", "bin", "python"), "$TT_METAL_HOME/python_env"))
    if os.environ.get(VARIABLE):
        places = [(Path(os.environ[VARIABLE]), f"${VARIABLE}")]
    if named is not None:
        places = [(named, "--ttnn")]
    origin = [probed(path, how) for path, how in places]
    return next((one for one in origin if one.version is not None), origin[-1])


@lru_cache(maxsize=8)
def probed(path: Path, origin: str) -> Interpreter:
    """What an interpreter says of its TTNN; asked once."""
    try:
        ran = subprocess.run(  # noqa: S603 - a Python that the user, or his tt-metal, named
            [path, "-c", _PROBE], capture_output=True, text=True, timeout=PROBE_S, check=True, cwd="/"
        )
        answer = json.loads(ran.stdout.splitlines()[-1])
        return Interpreter(path, origin, answer["version"], bool(answer["mock"]))
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return Interpreter(path, origin, None, mock=False)
