"""The rules of files and rooms that no linter knows; what fails says which command or line puts it right."""

import ast
import re
import tempfile
from pathlib import Path

from generate.layout import BLANK
from generate.sizes import SNAPSHOT, snapshot
from tests.house.tree import (
    MODULES,
    PACKAGE,
    ROOT,
    TESTS,
    holds_logic,
    imports_of,
    is_ours,
    mirror_of,
    module_name,
    tree_of,
    where,
    written_files,
)

NO_NAMES = {"data", "info", "manager", "helper", "helpers", "utils", "util", "handler", "process", "common", "misc"}
# a clone may stand right in the folder of temporary files, which is not a place on one machine: then the clone's own
PLACE = ROOT if Path(tempfile.gettempdir()) == ROOT.parent else ROOT.parent
NO_ADDRESS = re.compile(
    r"://[\w.-]*(?:py|npm|registry|mirror)[\w.-]*/|-{2}(?:extra-)?index-url|-{2}find-links|/root/|"
    + re.escape(f"{PLACE}/")
)
LOOK_FOR_THEM = {ROOT / "tests" / "house" / "test_rooms.py", ROOT / "generate" / "pins.py"}  # and so they name them
WITH_CODE = [path for path in MODULES if path.name != "__init__.py"]


def test_what_grows_is_seen():
    """Not a limit: whoever reviews a change sees in its diff what became larger, and asks whether it is worth it."""
    assert SNAPSHOT.read_text(encoding="utf-8") == snapshot(), (
        f"sizes changed: run `make fix`, which rewrites {where(SNAPSHOT)}, and look at the difference; a module that "
        "came to stand under long_modules may hold two ideas"
    )


def test_a_module_is_named_by_what_it_is():
    for path in MODULES:
        assert path.stem not in NO_NAMES, f"rename {where(path)}: say what it is"
        assert path.stem.rpartition("_")[2] not in NO_NAMES - {"data"}, f"rename {where(path)}: say what it is"


def test_a_module_says_what_it_is_for():
    for path in MODULES:
        if tree_of(path).body:
            assert ast.get_docstring(tree_of(path)), f"say in a docstring what {where(path)} is for"


def test_nothing_laid_out_is_left_blank():
    blanks = [
        f"{where(path)}:{number}"
        for path in written_files()
        if not path.is_relative_to(ROOT / "generate")
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if BLANK in line
    ]
    assert not blanks, f"fill in {', '.join(blanks)}, then run `make fix`"


def test_every_module_with_logic_is_tested():
    """By the test of its name, by one that imports it, through a tested module, or through its own room."""
    tests = [path for path in TESTS.rglob("*.py") if not path.is_relative_to(TESTS / "house")]
    asked = {name for path in tests for name in imports_of(path)}
    reached = {path for path in WITH_CODE if mirror_of(path).is_file() or module_name(path) in asked}
    reached |= {path for path in WITH_CODE if path.parent.name == "parts"}  # of a tool, tested with it
    waiting, tested = [*reached], {*reached}
    named = {module_name(path): path for path in WITH_CODE}
    while waiting:
        path = waiting.pop()
        for other in {named[name] for name in imports_of(path) & named.keys()} - reached:
            if path in tested or other.parent == path.parent:
                reached.add(other)
                waiting.append(other)
    for path in (
        path for path in WITH_CODE if not path.parent.name.startswith("step")
    ):  # test_checks asks for theirs
        assert path in reached or not holds_logic(path), (
            f"write {where(mirror_of(path))}: no test reaches {where(path)}"
        )


def test_no_file_names_a_download_address_or_a_place_on_one_machine():
    for path in (path for path in written_files() if path not in LOOK_FOR_THEM):
        named = NO_ADDRESS.search(path.read_text(encoding="utf-8", errors="replace"))
        assert named is None, f"take {named and named.group(0)!r} out of {where(path)}"


def test_what_is_written_is_looked_at():
    looked_at = {where(path) for path in written_files()}
    assert {"README.md", "Makefile", ".ci/run", "constraints.txt", "generate/layout.py"} <= looked_at
    assert "tests/house/test_rooms.py" in looked_at
    assert not [name for name in looked_at if not all(map(is_ours, name.split("/")))]
    assert not any(map(is_ours, (".venv", ".venv12", ".git", "ttnn_mcp.egg-info", "__pycache__")))
    assert all(map(is_ours, ("venv", ".gitignore", ".github", "build.py")))
    assert PACKAGE / "wire.py" in written_files()
