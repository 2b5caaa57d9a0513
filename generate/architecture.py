"""Draw ARCHITECTURE.md from the code: the rooms in their layers, and the way from each question to its cells.

python -m generate.architecture        or `make fix`, which rewrites everything generated
"""

from __future__ import annotations

import ast
import re
from collections import Counter, deque
from functools import cache
from typing import TYPE_CHECKING

from tests.house.tree import PACKAGE, ROOT, tree_of
from ttnn_mcp.tools import TOOLS

if TYPE_CHECKING:
    from ttnn_mcp.tools.answering import AnyTool

PAGE = ROOT / "ARCHITECTURE.md"
NUMBERS = ("analyses", "checks", "archive", "experiments", "replay", "query")
INDEXES = ("analyses/window_facts.py", "checks/__init__.py", "checks/check.py")  # name what others work out
CONTAINER = re.compile(r'^containers = \["([\w.]+)"\]$', re.MULTILINE)
LAYERS = re.compile(r"^layers = \[\n(.*?)^\]$", re.DOTALL | re.MULTILINE)
CELLS = {  # the files that name the cells of each report
    "performance": ("readers/performance/columns.py",),
    "memory": ("readers/memory/columns.py", "readers/memory/tables.py"),
}

HEAD = """# Architecture

Drawn from the code by `make fix`. [AGENTS.md](AGENTS.md) has the rules and the words; this page says where things are.

## Rooms

From the doors down to the files. A room imports from rooms below it only; `lint-imports` proves it.

| room | what is there |
|---|---|
"""
WAYS = """
## From a question to its cells

For each tool: its file, the module that makes most of its numbers, and from there the shortest way along the imports
to the names of the cells of the report that it needs. A finding begins at its check, a file named by its id in the
folder of its step: `checks/step2_layouts/tilize_round_trip.py`. No way is longer than five files. `skill_step` answers
with a page, and reads no cells.

| question | files, in the order to read them |
|---|---|
"""


@cache
def imports(file: str) -> dict[str, tuple[str, ...]]:
    """The package's files that a file imports, each with the names it takes from there."""
    found: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree_of(PACKAGE / file)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ttnn_mcp"):
            room = (node.module or "").partition(".")[2].replace(".", "/")
            for name in node.names:
                for path in (f"{room}/{name.name}.py", f"{room}.py", f"{room}/__init__.py"):
                    if (PACKAGE / path).exists():
                        found[path] = (*found.get(path, ()), name.asname or name.name)
                        break
    return found


def shortest(start: str, *reports: str) -> list[str]:
    """The shortest way along the imports from a file to one that names cells, of these reports or of any."""
    cells = {file for report in reports or CELLS for file in CELLS[report]}
    ways, met = deque([[start]]), {start}
    while ways:
        way = ways.popleft()
        if way[-1] in cells:
            return way
        for file in imports(way[-1]):
            if file not in met:
                met.add(file)
                ways.append([*way, file])
    return []


def way(tool: AnyTool) -> list[str]:
    """The way from a tool's file to the cells of what it needs, over the module of numbers whose names it uses most."""
    file, reports = f"tools/{tool.name}.py", [need for need in tool.needs if need in CELLS]
    names = Counter(node.id for node in ast.walk(tree_of(PACKAGE / file)) if isinstance(node, ast.Name))
    used = {
        other: sum(names[name] for name in taken)
        for other, taken in imports(file).items()
        if other.partition("/")[0] in NUMBERS and other not in INDEXES and shortest(other, *reports)
    }
    over = max(used, key=lambda other: used[other], default=None)
    return [file, *shortest(over, *reports)] if over else shortest(file, *reports)


def ways() -> dict[str, list[str]]:
    """By tool that answers with cells; the others answer with pages."""
    return {
        tool.name: way(tool)
        for tool in TOOLS
        if not any(other.startswith("served/") for other in imports(f"tools/{tool.name}.py"))
    }


def sentence(room: str) -> str:
    path = PACKAGE / room / "__init__.py"
    path = path if path.exists() else PACKAGE / f"{room}.py"
    return (ast.get_docstring(tree_of(path)) or "").partition("\n")[0]


def rooms() -> list[str]:
    """The rooms that hold files of their own, from the doors down, those inside a room after it."""
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[[tool.importlinter.contracts]]")
    layers = {
        container[1].replace(".", "/").removeprefix("ttnn_mcp").lstrip("/"): re.findall(r"\w+", layered[1])
        for contract in contracts
        if (container := CONTAINER.search(contract)) and (layered := LAYERS.search(contract))
    }

    def within(room: str) -> list[str]:
        listed = layers.get(room) or sorted(path.parent.name for path in (PACKAGE / room).glob("*/__init__.py"))
        paths = [f"{room}/{name}".lstrip("/") for name in listed]
        return [each for path in paths if not room or (PACKAGE / path).is_dir() for each in (path, *within(path))]

    return within("")


def page() -> str:
    lines = [f"| `{room}` | {sentence(room)} |" for room in rooms()]
    drawn = [f"| `{name}` | {' → '.join(f'`{file}`' for file in files)} |" for name, files in ways().items()]
    return HEAD + "\n".join(lines) + "\n" + WAYS + "\n".join(drawn) + "\n"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
