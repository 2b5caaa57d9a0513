"""The steps of a Dockerfile, taken where no Docker is: each stage in a root folder of its own that nothing leaves.

A stage is a layer over this machine's own root, seen by this process and what it starts. What the image's base brings
is modelled by an interpreter of the same version alone. So this proves our steps, and not that base image.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

CLONE_NEWNS = 0x20000  # <linux/sched.h>: mounts of this process's own
PYTHON = "/opt/python"  # where a stage has its interpreter
INSTRUCTIONS = ("FROM", "COPY", "RUN", "USER", "VOLUME", "ENTRYPOINT")
NOT_IN_A_BASE = ("test", "idlelib", "tkinter", "site-packages", "__pycache__")


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, continued lines joined, notes left out."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found = [tuple(line.split(None, 1)) for line in lines.replace("\\\n", " ").splitlines() if line.strip()]
    unknown = [word for word, _ in found if word not in INSTRUCTIONS]
    if unknown:
        raise ValueError(f"teach clients/container.py about {unknown[0]}")
    return found


def mounts_apart() -> bool:
    """Whether this process may mount; if so, what it mounts is its own from here on, and goes with it."""
    if os.geteuid() != 0 or ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        return False
    return subprocess.run(["mount", "--make-rprivate", "/"], check=False).returncode == 0


@dataclass
class Stage:
    """A stage that is being built: its root, and who runs its next step."""

    folder: Path
    user: str = "root"
    entrypoint: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def command(self, words: list[str]) -> list[str]:
        """The words of a command inside, as its user, in an environment like that of an image."""
        home = "/root" if self.user == "root" else f"/home/{self.user}"
        kept = [f"{name}={value}" for name, value in os.environ.items() if name.startswith("PIP_")]
        inside = [
            f"PATH={PYTHON}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            f"LD_LIBRARY_PATH={PYTHON}/lib",
            f"HOME={home}",
        ]
        return [
            "chroot",
            f"--userspec={self.user}:{self.user}",
            str(self.root),
            "env",
            "-i",
            *kept,
            *inside,
            *words,
        ]

    def run(self, line: str) -> None:
        subprocess.run(self.command(["sh", "-ec", line]), check=True, timeout=900)

    def layered(self, interpreter: Path) -> None:
        """Put an empty layer over this machine's root, with an interpreter that has pip and nothing else."""
        parts = [self.folder / name for name in ("layer", "work", "root")]
        for part in parts:
            part.mkdir(parents=True)
        options = f"lowerdir=/,upperdir={parts[0]},workdir={parts[1]}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, str(self.root)], check=True)
        for part in ("dev", "proc"):
            subprocess.run(["mount", "--bind", f"/{part}", str(self.root / part)], check=True)
        home = self.root / PYTHON.lstrip("/")
        shutil.copytree(interpreter, home, symlinks=True, ignore=shutil.ignore_patterns(*NOT_IN_A_BASE))
        self._only_system_users()
        self.run(
            f"{PYTHON}/bin/python3 -m ensurepip && ln -sf pip3 {PYTHON}/bin/pip && ln -sf python3 {PYTHON}/bin/python"
        )

    def _only_system_users(self) -> None:
        for name in ("passwd", "group"):
            path = self.root / "etc" / name
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(line for line in lines if not 1000 <= int(line.split(":")[2]) < 60000))

    def copied(self, line: str, context: Path, earlier: dict[str, Stage]) -> None:
        words = shlex.split(line)
        named = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else None
        source, target = words
        begin = earlier[named].root / source.lstrip("/") if named else context / source
        ignored = patterns(context) if named is None else []

        def left_out(folder: str, names: list[str]) -> list[str]:
            within = Path(folder).relative_to(begin)
            return [name for name in names if is_ignored((within / name).as_posix(), ignored)]

        shutil.copytree(begin, self.root / target.lstrip("/"), symlinks=True, ignore=left_out)


def patterns(context: Path) -> list[str]:
    """What .dockerignore leaves out."""
    lines = (context / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def is_ignored(path: str, ignored: list[str]) -> bool:
    """Whether a path of the context is left out: patterns count from its top, behind `**/` anywhere."""
    parts = path.split("/")
    anywhere = [pattern.removeprefix("**/") for pattern in ignored if pattern.startswith("**/")]
    return any(fnmatch(parts[0], pattern) for pattern in ignored) or any(
        fnmatch(part, pattern) for part in parts for pattern in anywhere
    )


def built(context: Path, folder: Path, interpreters: dict[str, Path]) -> Stage:
    """The last stage of the Dockerfile, with all its steps taken.

    Args:
        context: the folder with the Dockerfile.
        folder: an empty one for the stages.
        interpreters: where an interpreter of each version lies, by "3.13".
    """
    stages: dict[str, Stage] = {}
    stage = Stage(folder)
    for word, rest in instructions((context / "Dockerfile").read_text(encoding="utf-8")):
        if word == "FROM":
            version, name = re.fullmatch(r"python:([\d.]+)-slim(?: AS (\w+))?", rest).groups()
            stage = Stage(folder / (name or "last"))
            stage.layered(interpreters[version])
            stages[name or "last"] = stage
        elif word == "RUN":
            stage.run(rest)
        elif word == "COPY":
            stage.copied(rest, context, stages)
        elif word == "USER":
            stage.user = rest
        elif word == "VOLUME":
            stage.volumes = json.loads(rest)
        else:
            stage.entrypoint = json.loads(rest)
    return stage
