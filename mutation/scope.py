"""Which modules hold lines, which tests hold them, and what changed."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKS = ROOT / "ttnn_mcp" / "checks"
TESTS = ROOT / "tests" / "checks"
SHARED = CHECKS / "shared"
ANALYSES = ROOT / "ttnn_mcp" / "analyses"
KINDS = ANALYSES / "op_kinds"  # what checks know of a kind of op
WITH_TESTS_OF_THEIR_OWN = tuple(ANALYSES / room for room in ("time_budget",))  # tools ask these
OF_ALL_CHECKS = ("check.py", "needs.py", "overlaps.py", "unexplained.py", "worth.py")


def name_of(path: Path) -> str:
    """tests/checks/asking.py -> tests.checks.asking."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def with_lines() -> list[Path]:
    """The modules of checks, what they share, what is about all of them, what they know of ops, and what tools ask."""
    asked = (path for room in WITH_TESTS_OF_THEIR_OWN for path in _modules_in(room))
    return sorted((*(CHECKS / name for name in OF_ALL_CHECKS), *_modules_of_rooms(), *asked))


def _modules_of_rooms() -> list[Path]:
    return [path for room in (*CHECKS.glob("*/"), KINDS) for path in _modules_in(room)]


def _modules_in(room: Path) -> list[Path]:
    return [path for path in room.glob("*.py") if path.name != "__init__.py"]


@cache
def imports_of(path: Path) -> set[str]:
    """The modules that a module imports, those it imports only for types left out."""
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    for_types = [node for node in conditions if ast.unparse(node.test) == "TYPE_CHECKING"]
    typing = {id(part) for node in for_types for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in typing:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def tests_of(path: Path) -> list[Path]:
    """The tests that hold a module's lines: its own and its step's; of what checks share also those of its users."""
    beside = _beside(path.parent)
    if path.parent in WITH_TESTS_OF_THEIR_OWN:
        tests = sorted(beside.glob("test_*.py"), key=lambda test: (test.name != f"test_{path.name}", test.name))
        return [*tests, *(ROOT / "tests" / "tools").glob(f"test_{path.parent.name}.py")]
    own = [test for test in (beside / f"test_{path.name}", TESTS / f"test_{path.parent.name}.py") if test.is_file()]
    if path.parent not in {SHARED, KINDS}:
        return own or [test for test in sorted(TESTS.glob("test_step*.py")) if name_of(path) in imports_of(test)]
    if path.parent == KINDS:
        own += [test for test in sorted(beside.glob("test_*.py")) if name_of(path) in imports_of(test)]
    users = _users(path, _modules_of_rooms())
    tests = {test for user in users if user.parent not in {SHARED, KINDS} for test in tests_of(user)}
    return [*dict.fromkeys((*own, *sorted(tests)))]


def _beside(room: Path) -> Path:
    """Where the tests of a room's modules lie."""
    return ROOT / "tests" / room.relative_to(ROOT / "ttnn_mcp")


def _users(path: Path, among: list[Path]) -> set[Path]:
    """The modules that import one, directly or through each other."""
    imported = {other: imports_of(other) for other in among}
    users, reached = set(), {path}
    while reached:
        names = {name_of(one) for one in reached}
        reached = {other for other in among if imported[other] & names} - users
        users |= reached
    return users


def changed(since: str | None) -> list[Path] | None:
    """The modules whose lines a change may have left untested; None where git cannot tell what changed."""
    base = since or _fork_point()
    if base is None:
        return None
    names = _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")
    files = {ROOT / name for name in names}
    rooms = (_beside(room) for room in (KINDS, *WITH_TESTS_OF_THEIR_OWN))
    supports = [path for path in TESTS.rglob("*.py") if path.name != "__init__.py"]
    supports += [path for room in rooms for path in _modules_in(room)]
    tests = {test for path in files if path in supports for test in (path, *_users(path, supports))}
    if TESTS / "asking.py" in files:
        tests = set(supports)
    return [path for path in with_lines() if path in files or tests & set(tests_of(path))]


def _fork_point() -> str | None:
    """Where this branch left main; on main itself the commit before."""
    head = _git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        point = _git("merge-base", "HEAD", main)
        if point and point != head:
            return point[0]
    return "HEAD~1" if _git("rev-parse", "--verify", "--quiet", "HEAD~1") else None


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []
