"""A server of ours for others' clients: with a home of its own, in front of the demo run and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from clients.installed import ROOT, node


@pytest.fixture(scope="session")
def environment():
    """What a client finds in its environment: little, and the node that runs it first on PATH."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR", "SYSTEMROOT")}
    return {**kept, "PATH": f"{Path(node()[0]).parent}{os.pathsep}{kept['PATH']}"}


@pytest.fixture
def server(tmp_path, environment):
    """The command that starts the server, the environment to start it in, and an empty folder to start it from."""
    home, roots = tmp_path / "home", tmp_path / "roots"
    for folder in (home, roots):
        folder.mkdir()
    return SimpleNamespace(
        command=started_in(roots),
        env={**environment, "HOME": str(home)},
        folder=home,
    )


@pytest.fixture
def url(server):
    """The address of that server over HTTP; stopped when the test is over, and nothing of it may have crashed."""
    process = subprocess.Popen(
        [*server.command, "serve", "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True, env=server.env
    )
    yield process.stderr.readline().split()[-1]
    process.terminate()
    _, errors = process.communicate(timeout=20)
    assert "Traceback" not in errors


@pytest.fixture
def ran(server):
    """Run a client's command in the server's environment: its exit status, stdout and stderr."""

    def run(words, cwd=server.folder, seconds=120, **more):
        return ran_in(words, cwd, {**server.env, **more}, seconds)

    return run


def started_in(folder):
    """The command that starts the server with its state in a folder; by `env`, since clients pass on few variables."""
    words = ("env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "ttnn_mcp")
    return [*words, "--root", str(folder), "--state", str(folder / "state")]


def ran_in(words, folder, environment, seconds):
    """Run a command in a folder and an environment: its exit status, stdout and stderr."""
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
