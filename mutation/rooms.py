"""Rooms one after the other, each in a process of its own and told in a file: to go on after a break."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING

from mutation import scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ENDED = "room "  # the last line of a file: the digest of what was tried


def tried_by_rooms(folder: Path, paths: Sequence[Path], options: Sequence[str]) -> int:
    """Try the modules of each room whose file is not from the same code and tests; tell all files; 1 if one fails."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for room, modules in groupby(sorted(paths, key=_room), key=_room):
        asked = [*modules]
        name = room.relative_to(scope.ROOT).as_posix()
        note, digest = folder / f"{name.replace('/', '.')}.txt", digest_of(asked, options)
        if not has_ended(note, digest):
            only = ",".join(path.relative_to(scope.ROOT).as_posix() for path in asked)
            done = subprocess.run(
                [sys.executable, "-m", "mutation", "--only", only, *options],
                cwd=scope.ROOT,
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
            note.write_text(f"{done.stdout}{ENDED}{digest} {done.returncode}\n", encoding="utf-8")
        *lines, last = note.read_text(encoding="utf-8").splitlines()
        failed |= not last.endswith(" 0")
        print(f"{name}:", *lines, sep="\n  ", flush=True)
    return int(failed)


def _room(path: Path) -> Path:
    return path.parent


def digest_of(paths: Sequence[Path], options: Sequence[str]) -> str:
    """What changes with the modules, their tests and what is asked."""
    files = sorted({*paths, *(test for path in paths for test in scope.tests_of(path))})
    texts = (file.read_bytes() for file in files)
    return sha256(b"\0".join([" ".join(options).encode(), *texts])).hexdigest()


def has_ended(note: Path, digest: str) -> bool:
    """Whether the room was tried to its end, as it is now."""
    if not note.is_file():
        return False
    return any(line.startswith(f"{ENDED}{digest} ") for line in note.read_text(encoding="utf-8").splitlines()[-1:])
