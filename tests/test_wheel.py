"""What a user installs: one top-level name, with the pages inside, and the same pages wherever it runs from."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.house.tree import imports_of, is_ours, where, written_files
from ttnn_mcp import __version__

ROOT = Path(__file__).parents[1]
DIST = f"ttnn_mcp-{__version__}.dist-info"
PAGES = """
import hashlib, json
from ttnn_mcp.served import documents
print(json.dumps([[folder, name, hashlib.sha256(documents.text(folder, name).encode()).hexdigest()]
                  for folder in ("resources", "skills") for name in documents.names(folder)]))
"""
BUILD = """
import os, sys
from hatchling import build
os.chdir(sys.argv[1])
print(getattr(build, sys.argv[2])(sys.argv[3]))
"""

OURS = {"ttnn_mcp", "recorded"}  # the second: a file that runs in the user's Python finds it beside itself
KEPT = (".sqlite", ".png")  # what a commit has beside text
EXTRAS = {"duckdb", "matplotlib"}  # what is imported only where it is asked for

pytestmark = pytest.mark.slow


def built(hook, folder):
    """A wheel made by the build backend, by the path it lies at."""
    ran = subprocess.run(
        [sys.executable, "-c", BUILD, str(ROOT), hook, str(folder)], capture_output=True, text=True, check=True
    )
    return Path(folder, ran.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("build_wheel", tmp_path_factory.mktemp("wheel"))


def pages(python, folder):
    """The pages that a Python serves, run in a folder from which the checkout cannot be seen."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    ran = subprocess.run(
        [str(python), "-c", PAGES], cwd=folder, capture_output=True, text=True, check=True, env=env
    )
    return json.loads(ran.stdout)


@pytest.fixture
def installed(tmp_path):
    """Install a wheel into a new environment that borrows our dependencies, and none of our own code."""

    def install(wheel):
        home = tmp_path / "environment"
        venv.create(home, with_pip=False, symlinks=True)
        site = next(home.glob("lib/python*/site-packages"))
        zipfile.ZipFile(wheel).extractall(site)
        borrowed = [path for path in sys.path if path.endswith("-packages")]
        lines = "\n".join(f"import sys; sys.path.append({path!r})" for path in borrowed)  # no .pth of theirs is run
        (site / "borrowed.pth").write_text(lines + "\n")
        return home / "bin" / "python"

    return install


def test_the_wheel_has_one_top_level_name(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"ttnn_mcp", DIST}
    assert "ttnn_mcp/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_the_wheel_carries_every_page_and_the_demo(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("resources", "skills"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"ttnn_mcp/_served/{path.relative_to(ROOT).as_posix()}" in inside


def test_the_wheel_stays_small(wheel):
    assert wheel.stat().st_size < 2_000_000


def imported():
    """The packages of others that ours imports, by the name under which they are installed."""
    distributions = packages_distributions()
    tops = {name.partition(".")[0] for path in (ROOT / "ttnn_mcp").rglob("*.py") for name in imports_of(path)}
    return {distributions[top][0] for top in tops - sys.stdlib_module_names - OURS - EXTRAS}


def test_the_wheel_asks_for_what_it_imports_and_nothing_else(wheel):
    metadata = zipfile.ZipFile(wheel).read(f"{DIST}/METADATA").decode()
    required = set(
        re.findall(r"^Requires-Dist: ([\w.-]+)(?![\w.-])(?!.*extra ==)", metadata, re.MULTILINE)
    )  # no extras
    assert required == imported(), "write what ttnn_mcp imports into dependencies of pyproject.toml"
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert required <= pinned, "run `make pins`"


def test_the_wheel_offers_one_command(wheel):
    archive = zipfile.ZipFile(wheel)
    assert "ttnn-mcp = ttnn_mcp.shell.cli:main" in archive.read(f"{DIST}/entry_points.txt").decode()


def test_pages_are_served_alike_from_checkout_editable_install_and_wheel(
    wheel, installed, tmp_path, tmp_path_factory
):
    checkout = pages(sys.executable, ROOT)
    assert len(checkout) > 10
    assert pages(installed(wheel), tmp_path) == checkout
    editable = built("build_editable", tmp_path_factory.mktemp("editable"))
    assert pages(installed(editable), tmp_path) == checkout


def test_a_fresh_install_answers_from_the_demo_run(wheel, installed, tmp_path):
    python = installed(wheel)
    ran = subprocess.run(
        [str(python), "-m", "ttnn_mcp", "call", "optimization_check", "run=demo", f"--state={tmp_path}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["findings"]


def test_the_source_distribution_has_all_it_takes_to_run_the_tests(tmp_path):
    shutil.unpack_archive(built("build_sdist", tmp_path), tmp_path)
    tree = tmp_path / f"ttnn_mcp-{__version__}"
    kept = (path for suffix in KEPT for path in ROOT.rglob(f"*{suffix}"))
    files = [*written_files(), *(path for path in kept if all(map(is_ours, path.relative_to(ROOT).parts)))]
    assert [each for each in files if not (tree / where(each)).is_file()] == []
    assert [each for each in files if (tree / where(each)).read_bytes() != each.read_bytes()] == []
