"""Looks up every name of TTNN that the repository tells its readers: pages, fixes, tool descriptions.

    PYTHON -m tests.real.rig.names        within the environment

Prints what the installed build does not have and `ELSEWHERE` does not explain, and exits non-zero then.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.real.rig.devices import imported

ROOT = Path(__file__).parents[3]
NAME = re.compile(r"(?<![\w./-])ttnn((?:\.[A-Za-z_]\w*)+)")
TOLD = ("README.md", "AGENTS.md", "skills/**/*.md", "resources/**/*.md", "ttnn_mcp/**/*.py", "tools/*.json")
ELSEWHERE = {
    "MatmulMultiCoreProgramConfig": "C++ only: a profile prints it, nobody constructs it",
}


def told() -> dict[str, list[str]]:
    """Every dotted name behind `ttnn.`, with the files that tell it."""
    places: dict[str, list[str]] = {}
    for pattern in TOLD:
        for file in sorted(ROOT.glob(pattern)):
            for dotted in set(NAME.findall(file.read_text("utf-8"))):
                places.setdefault(dotted[1:], []).append(file.relative_to(ROOT).as_posix())
    return places


def known(ttnn: Any, dotted: str) -> bool:
    """Whether the build has the name, as an attribute or as a module of its own."""
    found = ttnn
    for part in dotted.split("."):
        if not hasattr(found, part):
            try:
                found = import_module(f"ttnn.{dotted}")
            except ImportError:
                return False
            return True
        found = getattr(found, part)
    return True


def main() -> int:
    """Look all of them up."""
    ttnn = imported("n150")
    places = told()
    missing = [name for name in sorted(places) if name not in ELSEWHERE and not known(ttnn, name)]
    for name in missing:
        sys.stdout.write(f"NO SUCH NAME ttnn.{name}, in {', '.join(places[name])}\n")
    build = version("ttnn")
    sys.stdout.write(f"names: {len(places) - len(missing)} of {len(places)} are in TTNN {build}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
