"""What the tt-metal of the user's Python offers: whether it has Tracy, with which options, and how it records memory.

Read from the files of its packages, because importing them takes seconds and may leave folders behind.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.readers.regular_file import text_of
from ttnn_mcp.records import dataclass

_SOURCE_BYTES = 1_000_000  # of a module: tools/tracy/__main__.py of tt-metal has 17 kB

PROBE = """
import importlib.metadata, importlib.util, json, os, sys
def place(name):
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    return os.path.dirname(spec.origin) if spec and spec.origin else None
try:
    version = importlib.metadata.version("ttnn")
except importlib.metadata.PackageNotFoundError:
    version = None
print(json.dumps({"tracy": place("tracy"), "ttnn": place("ttnn"), "version": version}))
"""
PROBE_S = 60  # unmoved: it is how long a Python that hangs is waited for
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
    try:
        probe = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=PROBE_S, check=True)  # noqa: S603
        places = json.loads(probe.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        raise ArgumentsInvalid(f"{shown(python)} cannot be asked what it has installed. Does it start?") from None
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
