"""Every command of the README and of the pages runs as it stands, in a home where nothing was ever set up."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from ttnn_mcp.session.places import demo_reports

BLOCK = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}(ttnn-mcp .*\n)", re.MULTILINE)
ELSEWHERE = {  # what other tests run, and where
    "make ": "the Makefile's own goals: .ci, and tests/house",
    "claude ": "clients/",
    "uv tool ": "tests/test_wheel.py; clients/",
    "uvx ": "clients/",
    "docker ": "clients/test_container.py",
    "git bisect ": "tests/shell/test_gate_command.py",
    "ttnn-mcp archive forget ": "needs a key: tests/shell/test_archive_command.py",
    "ttnn-mcp archive add 's3:": "tests/archive; make cluster",
    "ttnn-mcp archive add '/nightly/**/*.csv' --to /shared/archive --dask": "make cluster",
    "ttnn-mcp profile ": "tests/shell/capture, with a stand-in for Tracy",
    "python -m tracy ": "needs tt-metal",
    "ttnn-mcp capture ": "tests/shell/capture, with a stand-in for TTNN; make real, with TTNN",
    "ttnn-mcp accuracy ": "the same",
    "ttnn-mcp call replay_op ": "tests/replay; make real, with TTNN",
    "python try.py": "needs a device",
    "ttnn-mcp serve ": "tests/server, which end it too",
}
ONE_READING = ("ttnn-mcp gate ", 2)  # the baseline is the candidate here: it cannot judge
FILLED_IN = {  # what a reader puts in the place of the words
    "$PWD/.venv/bin/ttnn-mcp": str(Path(sys.executable).with_name("ttnn-mcp")),
    "RUN": "demo", "LINE": "64", "BEFORE": "demo", "AFTER": "generated/profiler/reports/mine", "PATH": "generated/profiler/reports/mine",
    "/nightly/": "generated/", "/shared/archive": "./archive", "NEW": "generated/profiler/reports/mine", "OLD": "demo",
    "reports/2026_11_20": "reports/mine", "reports/2026_11_21": "reports/mine",
}  # fmt: skip


def commands():
    """The commands of all blocks in their order, without their comments: the README's, then the pages'."""
    pages = [ROOT / "README.md", *sorted((ROOT / "resources").rglob("*.md"))]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    blocks = [block for text in texts for block in (*BLOCK.findall(text), *INDENTED.findall(text))]
    lines = [line for block in blocks for line in block.splitlines()]
    return [re.sub(r"\s+#\s.*$", "", line) for line in lines]


def filled_in(command):
    """A command with the reader's own words in it."""
    for word, own in FILLED_IN.items():
        command = re.sub(rf"\b{word}\b", own, command) if word.isupper() else command.replace(word, own)
    return command


@pytest.fixture
def home(tmp_path):
    """A home with a report of one's own in the current folder, and nothing else."""
    kept = {name: os.environ[name] for name in ("LANG", "LD_LIBRARY_PATH") if name in os.environ}
    folder = tmp_path / "work"
    reports = folder / "generated" / "profiler" / "reports"
    shutil.copytree(demo_reports()[0], reports / "mine")
    environment = {**kept, "HOME": str(tmp_path), "PATH": f"{tmp_path}/.local/bin:/usr/bin:/bin", "TERM": "dumb"}
    return folder, environment


@pytest.mark.slow
def test_every_command_of_readme_and_pages_runs_in_a_fresh_home(home):
    folder, environment = home
    ran = 0
    for command in commands():
        if command.startswith(tuple(ELSEWHERE)):
            continue
        done = subprocess.run(
            ["bash", "-ec", filled_in(command)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        expected = ONE_READING[1] if command.startswith(ONE_READING[0]) else 0
        assert (command, done.returncode, done.stderr if done.returncode else "") == (command, expected, "")
        ran += 1
    assert ran >= 30
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "ops.csv").read_text().startswith("ID,Total %,Bound,OP Code,")
    assert (folder / "comment.md").read_text().startswith("### optimization check: demo\n")


def test_what_runs_elsewhere_is_in_the_readme_or_a_page():
    for beginning in ELSEWHERE:
        assert any(command.startswith(beginning) for command in commands()), beginning
