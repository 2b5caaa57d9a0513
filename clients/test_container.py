"""The container (`make container`): its steps taken one by one, and the server in it asked over both doors.

Where a Docker daemon answers, Docker builds and runs it; elsewhere each step runs in a root folder of its own.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from clients.container import INSTRUCTIONS, built, instructions, is_ignored, mounts_apart, patterns
from clients.installed import ROOT
from ttnn_mcp.session.places import demo_reports

OWNER = 1000  # of what the container runs
TOKEN = "lab-" + "t" * 30
PORT = 18765


def has_daemon():
    return (
        shutil.which("docker")
        and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    )


def interpreter(version):
    """The folder of an interpreter of this version: ours, or the first on PATH."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.base_prefix)"
    for name in (sys.executable, f"python{version}", os.environ.get(f"PYTHON{version.replace('.', '')}", "")):
        if name and shutil.which(name):
            ran = subprocess.run([name, "-c", ask], capture_output=True, text=True, check=False)
            found, _, prefix = ran.stdout.strip().partition(" ")
            if ran.returncode == 0 and found == version:
                return Path(prefix)
    return pytest.skip(f"no Python {version} beside ours: name one with PYTHON{version.replace('.', '')}=...")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What is mounted: reports that others may read, and tokens that are the container's."""
    top = tmp_path_factory.mktemp("container")
    for place in (top, *top.parents[:2]):
        place.chmod(0o755)
    shutil.copytree(Path(demo_reports()[0]).parent, top / "reports" / "one")
    (top / "tokens").write_text(f"ada {TOKEN}\n")
    (top / "tokens").chmod(0o600)
    if os.geteuid() == 0:
        os.chown(top / "tokens", OWNER, OWNER)
    return top


@pytest.fixture(scope="module")
def container(folder):
    """The command that runs the container with more words."""
    reports, tokens = folder / "reports", folder / "tokens"
    if has_daemon():
        subprocess.run(["docker", "build", "-t", "ttnn-mcp-tried", str(ROOT)], check=True)
        run = ["docker", "run", "-i", "--rm", "-p", f"{PORT}:{PORT}", "-v", f"{reports}:/reports:ro"]
        return lambda *words: [*run, "-v", f"{tokens}:/tokens:ro", "ttnn-mcp-tried", *words]
    if not mounts_apart():
        pytest.skip("neither a Docker daemon nor the right to mount")
    base = interpreter("3.13")
    stage = built(ROOT, folder / "stages", {"3.13": base})
    for source, target in ((reports, "reports"), (tokens, "tokens")):
        place = stage.root / target
        place.mkdir() if source.is_dir() else place.touch()
        subprocess.run(["mount", "--bind", str(source), str(place)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
    for volume in stage.volumes:
        assert (stage.root / volume.lstrip("/")).stat().st_uid == OWNER, "a volume that its user cannot write"
    assert not (stage.root / "built").exists()
    assert not (stage.root / "source").exists()
    return lambda *words: stage.command([*stage.entrypoint, *words])


@pytest.mark.asyncio
async def test_the_container_answers_over_stdio(container):
    command, *words = container()
    async with Client(stdio_client(StdioServerParameters(command=command, args=words))) as client:
        runs = await client.call_tool("list_runs", {})
        check = await client.call_tool("optimization_check", {"run": "demo"})
        opened = await client.call_tool("open_run", {"run": "/reports/one"})
    assert "/reports" in runs.content[0].text
    assert check.structured_content["findings"]
    assert opened.structured_content["caveats"] is not None
    assert "will be forgotten" not in opened.content[0].text  # the state folder can be written


def test_the_container_serves_a_lab_that_has_a_token(container):
    words = ("serve", "--http", f"0.0.0.0:{PORT}", "--token-file", "/tokens")
    with subprocess.Popen(container(*words), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert f"{PORT}/mcp" in server.stderr.readline()
            url, ask = (
                f"http://127.0.0.1:{PORT}/mcp",
                {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
            )
            head = {"Accept": "application/json, text/event-stream"}
            refused = httpx2.post(url, json=ask, headers=head)
            answered = httpx2.get(f"http://127.0.0.1:{PORT}/", headers={"Authorization": f"Bearer {TOKEN}"})
        finally:
            server.terminate()
        begun = time.monotonic()
        assert server.wait(30) == 0
        assert time.monotonic() - begun < 10
    assert refused.status_code == 401
    assert answered.status_code == 200


def test_the_container_runs_as_nobody_of_weight_and_its_tests_stay_outside(container):
    ran = subprocess.run(container("doctor"), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "/home/ttnn/.local/state/ttnn-mcp" in ran.stdout


def test_every_step_of_the_dockerfile_is_known():
    steps = instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert {word for word, _ in steps} == set(INSTRUCTIONS)
    assert sum(word == "RUN" for word, _ in steps) == 4
    with pytest.raises(ValueError, match="ADD"):
        instructions("FROM a\nADD b c\n")


def test_what_git_ignores_stays_out_of_the_context():
    ignored = patterns(ROOT)
    assert all(
        is_ignored(path, ignored) for path in (".git", ".venv310/x", "ttnn_mcp/__pycache__", ".ruff_cache", "dist")
    )
    assert not any(
        is_ignored(path, ignored) for path in ("ttnn_mcp/cli.py", "constraints.txt", "skills", "resources/demo")
    )
