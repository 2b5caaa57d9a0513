"""What the tt-metal of the user's Python offers: whether it has Tracy, with which options, and how it records memory.

Read from the files of its packages.
"""

from __future__ import annotations

import re
from pathlib import Path

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.readers.regular_file import text_of
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.interpreters import looked_at

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
