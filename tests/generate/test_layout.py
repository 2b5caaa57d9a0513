"""`make new-check` and `make new-tool` lay out files that fit; what is left to do is said in sentences."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from generate.layout import BLANK
from tests.for_all import for_all
from tests.house.tree import ROOT, is_ours

CHECK, TOOL = "bands-too-narrow", "count_bands"
HOUSE = (
    *(f"tests/house/test_{about}.py" for about in ("checks", "documents", "rooms", "tools")),
    "tests/test_skill_documents.py",
)
OWN = ("tests/tools/test_count_bands.py", "tests/checks/step3_memory_sharding/test_bands_too_narrow.py")
NEXT_STEP = re.compile(r"`[^`]+`|[\w/.-]+\.(py|md|json)\b")  # a command, a line to add, or a file to write
LAID_OUT = {
    "README.md",
    "pyproject.toml",
    "skills/optimizing-ttnn-models/quick-reference.md",
    "skills/optimizing-ttnn-models/step-03-memory-sharding.md",
    "tests/checks/step3_memory_sharding/__init__.py",
    "tests/checks/step3_memory_sharding/test_bands_too_narrow.py",
    "tests/tools/test_count_bands.py",
    "tools/count_bands.json",
    "ttnn_mcp/checks/step3_memory_sharding/bands_too_narrow.py",
    "ttnn_mcp/tools/catalogue.py",
    "ttnn_mcp/tools/count_bands.py",
}
REGISTERED = """
import sys
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.tools import TOOLS
assert sys.argv[1] in {check.id for check in CATALOGUE}
assert sys.argv[2] in {tool.name for tool in TOOLS}
assert [check.step for check in CATALOGUE] == sorted(check.step for check in CATALOGUE)
"""

pytestmark = pytest.mark.slow


def python(scratch: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=scratch,
        env={**os.environ, "PYTHONPATH": str(scratch)},
        capture_output=True,
        text=True,
        check=False,
    )


def failures(scratch: Path, *tests: str) -> dict[str, str]:
    """What each failing test says first, by its place as pytest is asked for it."""
    record = scratch / "generated.xml"
    options = ("--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", f"--junitxml={record}")
    python(scratch, "-m", "pytest", *tests, *options)
    failed = {
        f"{(case.get('classname') or '').replace('.', '/')}.py::{case.get('name')}": (
            part.get("message") or part.text or ""
        ).partition("\nassert")[0]
        for case in ET.parse(record).iter("testcase")  # noqa: S314 - written by pytest a moment ago
        for part in case
        if part.tag in ("failure", "error")
    }
    record.unlink()
    return failed


def contents(tree: Path) -> dict[str, bytes]:
    files = (path for path in tree.rglob("*") if path.is_file())
    return {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in files
        if all(map(is_ours, path.relative_to(tree).parts))
    }


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A copy of the tree with a new check and a new tool laid out, and what was said about them."""
    tree = tmp_path_factory.mktemp("scratch") / "tree"
    kept = "__pycache__"  # a copy is as old as its original, so that nothing is compiled anew
    shutil.copytree(
        ROOT, tree, ignore=lambda _, names: {name for name in names if not (name == kept or is_ours(name))}
    )
    check = python(tree, "-m", "generate.new_check", CHECK, "3")
    tool = python(tree, "-m", "generate.new_tool", TOOL)
    assert check.returncode == tool.returncode == 0, check.stderr + tool.stderr
    return tree, check.stdout + tool.stdout


def assert_new_files_one_line_each_and_generated_lists(tree, said):
    before, after = contents(ROOT), contents(tree)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed | {"tests/checks/step3_memory_sharding/__init__.py"} == LAID_OUT
    assert len(said.splitlines()) == 2
    assert all(line.startswith("Left to do: ") for line in said.splitlines())


def assert_imported_and_registered(tree):
    asked = python(tree, "-c", REGISTERED, CHECK, TOOL)
    assert asked.returncode == 0, asked.stderr


def of_ours(failed: dict[str, str]) -> dict[str, str]:
    """The failures that the new check and the new tool bring; others the tree has had before."""
    return {test: sentence for test, sentence in failed.items() if "bands" in f"{test} {sentence}"}


def test_what_is_laid_out_is_registered_and_the_house_asks_for_the_rest_until_it_is_there(scratch):
    tree, said = scratch
    assert_new_files_one_line_each_and_generated_lists(tree, said)
    assert_imported_and_registered(tree)
    failed = of_ours(failures(tree, *HOUSE, *OWN))
    own = {test: failed.pop(test) for test in [*failed] if test.startswith(("tests/tools/", "tests/checks/"))}
    assert len(own) == 3  # a test that nobody has filled in does not pass
    assert "at 1.0: not_applicable" in "".join(own.values())  # the pair is asked; the check knows no op yet
    assert failed
    for test, sentence in failed.items():
        assert NEXT_STEP.search(sentence), f"{test}: {sentence}"
    for path in (tree / name for name in LAID_OUT):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(BLANK, "what bands of the demo take"), encoding="utf-8")
    assert python(tree, "-m", "generate.contracts").returncode == 0
    assert python(tree, "-m", "generate.listings").returncode == 0
    assert of_ours(failures(tree, *failed)) == {}


@for_all(
    ("module", "arguments", "sentence"),
    [
        ("new_check", ("late", "3"), "two words or more"),
        ("new_check", ("Late-Free", "3"), "kebab-case"),
        ("new_check", ("late-free", "8"), "1 to 7"),
        ("new_check", ("late-free", "3"), "exists already"),
        ("new_check", (), "NAME=some-problem STEP=3"),
        ("new_tool", ("list-ops",), "snake_case"),
        ("new_tool", ("list_ops",), "exists already"),
        ("new_tool", (), "NAME=some_tool"),
    ],
)
def test_a_name_that_does_not_fit_is_refused_before_anything_is_written(module, arguments, sentence):
    asked = python(ROOT, "-m", f"generate.{module}", *arguments)
    assert asked.returncode == 1
    assert sentence in asked.stderr
    assert len(asked.stderr.splitlines()) == 1
