"""The tree of the checkout, as the house tests look at it."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ttnn_mcp"
TESTS = ROOT / "tests"
MODULES = sorted(PACKAGE.rglob("*.py"))
IGNORED = [".git", *(line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split())]


@cache
def is_ours(name: str) -> bool:
    """Whether a file or folder of this name goes into a commit."""
    return not any(fnmatch(name, pattern) for pattern in IGNORED)


def where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def mirror_of(path: Path) -> Path:
    """Where the mirrored test of a module of the package stands."""
    return TESTS / path.relative_to(PACKAGE).parent / f"test_{path.name}"


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements_of(path: Path) -> Iterator[ast.AST]:
    """All statements of a module, inner ones too: a tenth of what `ast.walk` goes through."""
    waiting: list[ast.AST] = [tree_of(path)]
    while waiting:
        node = waiting.pop()
        yield node
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, inner, ())


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Everything a module imports, by full name; names inside modules too."""
    named: set[str] = set()
    for node in statements_of(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
    return frozenset(named)


def holds_logic(path: Path) -> bool:
    """Whether a module has functions; constants, records and lists need no test."""
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in statements_of(path))


def written_files() -> list[Path]:
    """Every text file that goes into a commit."""
    skipped = re.compile(r"\.(sqlite|png|pyc)$")
    tops = [path for path in ROOT.iterdir() if is_ours(path.name)]
    files = [path for top in tops for path in ([top] if top.is_file() else top.rglob("*"))]
    return sorted(
        path
        for path in files
        if path.is_file() and not skipped.search(path.name) and all(map(is_ours, path.relative_to(ROOT).parts))
    )
