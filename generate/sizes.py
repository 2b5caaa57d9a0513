"""Write how large the parts of the project are, in rough steps, so that a reviewer sees where something grows.

python -m generate.sizes        or `make fix`, which rewrites everything generated
"""

from __future__ import annotations

import json
from math import ceil
from statistics import median
from typing import TYPE_CHECKING

from generate.layout import ROOT
from ttnn_mcp.server import prompts
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.wire import bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SNAPSHOT = ROOT / "tests" / "house" / "sizes.json"
PACKAGE = ROOT / "ttnn_mcp"
LONG_MODULE = 250  # lines: named from here on, because a reader may not take it in one sitting
LONG_PAGE = 200  # lines: same


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def up_to(value: float, step: int) -> int:
    """Rounded up to whole steps: a small change does not touch the snapshot."""
    return ceil(value / step) * step


def longest(paths: Iterable[Path], line: int) -> dict[str, int]:
    lengths = {path.relative_to(ROOT).as_posix(): lines_of(path) for path in paths}
    return {name: up_to(length, 25) for name, length in sorted(lengths.items()) if length >= line}


def sizes() -> dict[str, object]:
    """Lines and bytes, each rounded up."""
    modules = sorted(PACKAGE.rglob("*.py"))
    written = [path for path in modules if path.name != "__init__.py"]
    checks = [path for path in written if path.parent.name.startswith("step")]
    sources = [*modules, *PACKAGE.rglob("*.js"), *PACKAGE.rglob("*.css")]
    pages = [*(ROOT / "skills").rglob("*.md"), *(ROOT / "resources").rglob("*.md"), ROOT / "AGENTS.md"]
    spoken = [{"name": t.name, "description": t.description, "inputSchema": t.input_schema} for t in TOOLS]
    return {
        "package_lines": up_to(sum(map(lines_of, modules)), 500),
        "modules": up_to(len(written), 25),
        "median_module_lines": up_to(median(map(lines_of, written)), 5),
        "median_check_lines": up_to(median(map(lines_of, checks)), 5),
        "test_lines": up_to(sum(map(lines_of, (ROOT / "tests").rglob("*.py"))), 2000),
        "tool_definitions_bytes": up_to(bytes_of(spoken), 500),
        "instructions_characters": up_to(len(prompts.INSTRUCTIONS), 100),
        "long_modules": longest(sources, LONG_MODULE),
        "long_pages": longest(pages, LONG_PAGE),
    }


def snapshot() -> str:
    return json.dumps(sizes(), indent=2) + "\n"


def main() -> None:
    SNAPSHOT.write_text(snapshot(), encoding="utf-8")


if __name__ == "__main__":
    main()
