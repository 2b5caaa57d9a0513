"""Writes the manifest of a run that was profiled here, beside its report."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ttnn_mcp.readers.manifest import NAME
from ttnn_mcp.readers.regular_file import opened
from ttnn_mcp.shell.capture.target import Build

GIT_S = 20  # unmoved: it is how long a git that hangs is waited for
DEVICE_LOG = "profile_log_device.csv"
_HEADER = re.compile(r"ARCH: *(\w+), *CHIP_FREQ\[MHz\]: *(\d+)")


def manifest_of(command: Sequence[str], started: float, status: int, build: Build, folder: Path) -> dict[str, Any]:
    """What is known of a run; `folder` is that of its performance report."""
    commit, dirty = _repository(Path.cwd())
    metal = os.environ.get("TT_METAL_HOME")
    of_metal, changed = _repository(Path(metal)) if metal else (None, None)
    parts = [f"ttnn {build.version}" if build.version else "", f"tt-metal {of_metal[:12]}" if of_metal else ""]
    device, clock = _device(folder / DEVICE_LOG)
    return {
        "command": shlex.join(command),
        "started": datetime.fromtimestamp(started, tz=timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "exit_status": status,
        "commit": commit,
        "dirty": dirty,
        "build": " ".join(filter(None, [*parts, "with changes" if changed else ""])) or None,
        "device": device,
        "clock_mhz": clock,
    }


def write(manifest: dict[str, Any], folder: Path) -> None:
    """Write it beside a report; a folder that cannot be written keeps its report without one."""
    with suppress(OSError):
        (folder / NAME).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _repository(folder: Path) -> tuple[str | None, bool | None]:
    """The commit of a folder's repository, and whether it has changes."""
    outputs = [
        _git(folder, *words) for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
    ]
    return outputs[0], None if outputs[0] is None or outputs[1] is None else bool(outputs[1])


def _git(folder: Path, *words: str) -> str | None:
    command = ["git", "-C", str(folder), "--no-optional-locks", *words]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=GIT_S, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return ran.stdout.strip()


def _device(log: Path) -> tuple[str | None, int | None]:
    """Architecture and clock in the first line of the device's log."""
    try:
        with opened(log) as file:
            header = _HEADER.search(file.readline(1000).decode("utf-8", "replace"))
    except OSError:
        return None, None
    return (header.group(1), int(header.group(2))) if header else (None, None)
