"""Looks up every name of TTNN that the repository tells its readers, and every keyword told with one.

    PYTHON -m tests.real.rig.names        within the environment

Prints what the installed build does not have and `ELSEWHERE` does not explain, and exits non-zero then.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.real.rig.calls import calls
from tests.real.rig.devices import imported

ROOT = Path(__file__).parents[3]
NAME = re.compile(r"(?<![\w./-])ttnn((?:\.[A-Za-z_]\w*)+)")
TOLD = ("README.md", "AGENTS.md", "skills/**/*.md", "resources/**/*.md", "ttnn_mcp/**/*.py", "tools/*.json")
ELSEWHERE = {
    "MatmulMultiCoreProgramConfig": "C++ only: a profile prints it, nobody constructs it",
}
UNDESCRIBED = {
    ("ttnn.from_device", "cq_id"): "taken: the block of step 5 runs",
}


def told() -> dict[str, list[str]]:
    """Every dotted name behind `ttnn.`, with the files that tell it."""
    places: dict[str, list[str]] = {}
    for pattern in TOLD:
        for file in sorted(ROOT.glob(pattern)):
            for dotted in set(NAME.findall(file.read_text("utf-8"))):
                places.setdefault(dotted[1:], []).append(file.relative_to(ROOT).as_posix())
    return places


def keywords_told() -> dict[tuple[str, str], list[str]]:
    """Every keyword of a call that is told anywhere, by the call's name and its own."""
    places: dict[tuple[str, str], list[str]] = {}
    for pattern in TOLD:
        for file in sorted(ROOT.glob(pattern)):
            for call in calls(file.read_text("utf-8")):
                name, _, inside = call.partition("(")
                for keyword in outermost_keywords(inside[:-1]):
                    places.setdefault((name, keyword), []).append(file.relative_to(ROOT).as_posix())
    return places


def outermost_keywords(inside: str) -> list[str]:
    """Names before `=` between the parentheses of a call, those of calls within it left out."""
    flat, depth = "", 0
    for letter in inside:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        flat += letter if not depth else ""
    return re.findall(r"(?:^|,)\W*(\w+)=(?!=)", flat)


def takes(ttnn: Any, name: str, keyword: str) -> bool:
    """Whether a function's or a class's own description has the keyword; a name nobody has is told elsewhere."""
    function: Any = ttnn
    for part in name.split(".")[1:]:
        function = getattr(function, part, None)
    if function is None:
        return True
    told = [function.__doc__, getattr(function.__init__, "__doc__", ""), inspect.getdoc(function)]
    told.append(type(getattr(function, "function", function)).__call__.__doc__)
    if inspect.isfunction(function):
        told.append(str(inspect.signature(function)))
    return any(re.search(rf"\b{keyword}\b", text or "") for text in told)


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
    keywords = keywords_told()
    refused = [told for told in sorted(keywords) if told not in UNDESCRIBED and not takes(ttnn, *told)]
    for name, keyword in refused:
        sys.stdout.write(f"NO SUCH NAME {keyword}= of {name}, in {', '.join(keywords[name, keyword])}\n")
    build = version("ttnn")
    sys.stdout.write(
        f"names: {len(places) - len(missing)} of {len(places)}, and {len(keywords) - len(refused)} of {len(keywords)} "
        f"keywords are in TTNN {build}\n"
    )
    return 1 if missing or refused else 0


if __name__ == "__main__":
    sys.exit(main())
