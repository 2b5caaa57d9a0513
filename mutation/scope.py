"""Which modules hold lines, which tests hold them, and what changed."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ttnn_mcp"
CHECKS = PACKAGE / "checks"
ALL_TESTS = ROOT / "tests"
TESTS = ALL_TESTS / "checks"
SHARED = CHECKS / "shared"
PLAN = CHECKS / "plan"
# what every check tells with
VOCABULARY = {CHECKS / f"{name}.py" for name in ("problem", "wording", "op_config", "expectation")}
ANALYSES = PACKAGE / "analyses"
EXPERIMENTS = PACKAGE / "experiments"
KINDS = ANALYSES / "op_kinds"  # what checks know of a kind of op
PROGRAMS = ANALYSES / "programs"  # what checks and settings know of TTNN's programs
SETTINGS = ANALYSES / "settings"
FROM_GRAPH = ANALYSES / "from_graph"
CAPTURES = ALL_TESTS / "real" / "test_l1_captures.py"  # what real TTNN allocated, by the models of L1
ROOMS_OF_TOOLS = (  # tools ask these
    *("comparison", "dataflow", "devices", "inside_kernel", "layers", "moves", "roofline", "stages", "time_budget"),
    *("settings", "from_graph", "programs"),
)
READERS = PACKAGE / "readers"
# Rooms that the tests of the tools hold too, which ask them; all others are held by their own tests: tools' are slow.
HELD_BY_TOOLS = {
    *(ANALYSES, EXPERIMENTS),
    *(ANALYSES / room for room in ROOMS_OF_TOOLS),
    *(READERS / room for room in ("memory", "graph", "printed")),
}
TOOLS = PACKAGE / "tools"
PARTS = TOOLS / "parts"


def name_of(path: Path) -> str:
    """tests/checks/asking.py -> tests.checks.asking."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def with_lines() -> list[Path]:
    """The modules of the package."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name not in {"__init__.py", "__main__.py"})


@cache
def _modules_of_rooms() -> list[Path]:
    return [path for room in (*CHECKS.glob("*/"), KINDS) for path in _modules_in(room)]


@cache
def _modules_in(room: Path) -> list[Path]:
    return [path for path in room.glob("*.py") if path.name != "__init__.py"]


@cache
def imports_of(path: Path) -> set[str]:
    """The modules that a module imports, those it imports only for types left out."""
    found: set[str] = set()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = name_of(path).split(".")
            package = base if path.name == "__init__.py" else base[:-1]
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join((*above, *([node.module] if node.module else [])))
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All of them, those for types left out."""
    waiting: list[ast.stmt] = [*tree.body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        for name in ("body", "orelse", "finalbody", "handlers"):
            waiting += getattr(node, name, [])


def tests_of(path: Path) -> list[Path]:
    """The tests that hold a module's lines: its own and its step's; of what checks share also those of its users."""
    return [*_tests_of(path)]


@cache  # many modules are held through the same others
def _tests_of(path: Path) -> list[Path]:
    room, beside = path.parent, _beside(path.parent)
    if room in {TOOLS, PARTS}:
        return _of_tools(path)
    if room == PLAN or (room not in {PACKAGE, KINDS} and not room.is_relative_to(CHECKS)):
        glob = beside.glob if room in HELD_BY_TOOLS else beside.rglob
        tests = sorted(glob("test_*.py"), key=lambda test: (test.name != f"test_{path.name}", test.name))
        tests += [CAPTURES] * (room == FROM_GRAPH)
        tests += _tests_of_tools(room) if room in HELD_BY_TOOLS else ()
        if room == PROGRAMS:
            asking = (*_modules_of_rooms(), *_modules_in(PROGRAMS), *_modules_in(SETTINGS))
            tests += _tests_of_users(_users(path, [*asking]))
        return [*dict.fromkeys(tests)]
    own = [test for test in (beside / f"test_{path.name}", TESTS / f"test_{room.name}.py") if test.is_file()]
    if room not in {SHARED, KINDS} and path not in VOCABULARY:
        return own or [test for test in sorted(TESTS.glob("test_step*.py")) if name_of(path) in imports_of(test)]
    if room == KINDS:
        own += [test for test in sorted(beside.glob("test_*.py")) if name_of(path) in imports_of(test)]
    return [*dict.fromkeys((*own, *_tests_of_users(_users(path, _modules_of_rooms()))))]


def _tests_of_users(users: set[Path]) -> list[Path]:
    """The tests of those among them that no others hold."""
    return sorted(
        {test for user in users if user.parent not in {SHARED, KINDS, PROGRAMS} for test in tests_of(user)}
    )


def _of_tools(path: Path) -> list[Path]:
    """Those named after a module; a part's also those of its users, a tool's also those of the door."""
    users = _users(path, _modules_in(PARTS)) if path.parent == PARTS else set[Path]()
    parts = [name_of(part) for part in (path, *users)]
    tools = [tool for tool in _modules_in(TOOLS) if path.parent == PARTS and imports_of(tool) & {*parts}]
    door = () if path.parent == PARTS else (TOOLS / "answering.py",)
    holding = (path, *sorted(users), *sorted(tools), *door)
    return [*dict.fromkeys(test for module in holding for test in _named_after(module))]


def _named_after(module: Path) -> list[Path]:
    """test_check_setting.py, then test_check_setting_paged.py and others like it."""
    beside = _beside(module.parent)
    return sorted((*beside.glob(f"test_{module.stem}.py"), *beside.glob(f"test_{module.stem}_*.py")))


@cache
def _tests_of_tools(room: Path) -> tuple[Path, ...]:
    """The tests of the tools that a room's modules answer."""
    names = {name_of(path) for path in _modules_in(room)}
    tools = (path for path in (ROOT / "ttnn_mcp" / "tools").glob("*.py") if imports_of(path) & names)
    return tuple(
        test for tool in sorted(tools) for test in sorted(_beside(tool.parent).glob(f"test_{tool.stem}*.py"))
    )


def _beside(room: Path) -> Path:
    """Where the tests of a room's modules lie."""
    return ROOT / "tests" / room.relative_to(ROOT / "ttnn_mcp")


def mirrored(path: Path) -> str:
    """Where the test of a module belongs."""
    return (_beside(path.parent) / f"test_{path.name}").relative_to(ROOT).as_posix()


def _users(path: Path, among: list[Path]) -> set[Path]:
    """The modules that import one, directly or through each other."""
    imported = {other: imports_of(other) for other in among}
    users, reached = set(), {path}
    while reached:
        names = {name_of(one) for one in reached}
        reached = {other for other in among if imported[other] & names} - users
        users |= reached
    return users


@dataclass(frozen=True)
class Changed:
    """The modules whose lines a change may have left untested.

    Attributes:
        own: those that changed.
        held: those of which a test changed.
        reached: those whose tests use something that changed.
    """

    own: list[Path]
    held: list[Path]
    reached: list[Path]

    def in_turn(self) -> list[Path]:
        """All, the surest first; alike ones in an order that differs from commit to commit."""
        head = _git("rev-parse", "HEAD")
        return [
            path
            for paths in (self.own, self.held, self.reached)
            for path in sorted(paths, key=lambda path: sha256(f"{head}{path.relative_to(ROOT)}".encode()).digest())
        ]


def changed(since: str | None) -> Changed | None:
    """What changed; None where git cannot tell."""
    base = since or _fork_point()
    if base is None:
        return None
    names = _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")
    files = {ROOT / name for name in names}
    tests = _reached([path for path in files if path.is_relative_to(ALL_TESTS) and path.suffix == ".py"])
    own, held, reached = list[Path](), list[Path](), list[Path]()
    for path in with_lines():
        holding = {*tests_of(path)}
        if path in files:
            own.append(path)
        elif holding & files:
            held.append(path)
        elif holding & tests:
            reached.append(path)
    return Changed(own, held, reached)


def _reached(files: list[Path]) -> set[Path]:
    """The tests that use these files of tests; a conftest.py is used by all tests beside and below it."""
    used = {path for path in files if not path.name.startswith("test_") and path.is_file()}
    if not used:
        return set()
    among = [*ALL_TESTS.rglob("*.py")]
    used |= {user for path in used for user in _users(path, among)}
    beside = [path.parent for path in used if path.name == "conftest.py"]
    return used | {path for path in among if any(path.is_relative_to(folder) for folder in beside)}


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
