"""Files that may be lost at any time: results of slow reading, in a folder of bounded size within the state folder.

Each file begins with its mark, its size and a checksum over its name and contents. So a file that is damaged, cut off,
renamed or written by another program counts as absent, and is written again. Writers fill a temporary file and rename
it: two servers never see half a file of each other, and a killed one leaves at most a temporary file, which a later
writer removes. A file is read into memory, not mapped: if another program cut a mapped file off, the server would die
(SIGBUS).
"""

from __future__ import annotations

import os
import re
import struct
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from threading import Thread
from typing import NamedTuple

from xxhash import xxh3_64

from ttnn_mcp.readers.regular_file import opened

UNFINISHED = ".part"
MARK = b"ttnn-mcp kept 2\n"
HEAD = struct.Struct("<16sQQ32x")  # mark, bytes that follow, their checksum; 64 bytes keep what follows aligned
ENDING = ".kept"
OURS = re.compile(rf"[0-9a-f-]{{8,80}}{re.escape(ENDING)}|kept-\w{{1,40}}{re.escape(UNFINISHED)}")
FILES_AT_MOST = 1_000
BLOCK_BYTES = 4096  # the least that a file takes on most disks
ABANDONED_S = (
    600.0  # a temporary file this old has no writer any more: 2 million rows are written in about a second
)


class _Held(NamedTuple):
    """A file of the folder; the one that was used the longest time ago comes first."""

    used_ns: int
    size: int
    path: Path


class KeptFiles:
    """The folder. Whatever goes wrong with it, nothing is raised: a file is absent, or is not written.

    Attributes:
        folder: where the files lie; made when the first one is written.
        most_bytes: how much they may take together; 0 means that nothing is read or written.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self._writer: Thread | None = None

    def read(self, name: str) -> memoryview | None:
        """The contents written under this name; None if there are none, or they are not as they were written."""
        writer = self._writer
        if writer is not None and writer.name == name:
            writer.join()
        path = self.folder / (name + ENDING)
        try:
            contents = contents_of(path, name, self.most_bytes)
            if contents is not None:
                os.utime(path)  # used now: the last to be removed
        except (OSError, ValueError, MemoryError):
            return None
        return contents

    def write(self, name: str, parts: Iterable[bytes | memoryview]) -> bool:
        """Write the parts, one after the other, under this name; whether they can be read from now on."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_at_once(self.folder / (name + ENDING), name, parts, self.most_bytes, self._make_room)
        except (OSError, ValueError):
            return False
        return True

    def write_later(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write the parts in a thread of its own, which computes them; the process does not end before it."""

        def written() -> None:
            with suppress(MemoryError):
                self.write(name, parts)

        self.finish()
        writer = Thread(target=written, name=name)
        writer.start()  # first: nobody can wait for a thread that was not started
        self._writer = writer

    def finish(self) -> None:
        """Wait for what is being written."""
        if self._writer is not None:
            self._writer.join()

    def held_bytes(self) -> int:
        """How much the files take together."""
        return sum(file.size for file in self._held())

    def writable(self) -> bool:
        """Whether files can be written; the folder is made for that."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix="kept-", suffix=UNFINISHED):
                return True
        except (OSError, ValueError):
            return False

    def _make_room(self) -> None:
        """Remove abandoned temporary files, then whatever was not used the longest, until all others fit."""
        files = self._held()
        gone_by = time.time_ns() - int(ABANDONED_S * 1e9)
        abandoned = [file for file in files if file.path.suffix == UNFINISHED and file.used_ns < gone_by]
        finished = [file for file in files if file.path.suffix == ENDING]
        total, count = sum(file.size for file in files), len(files)
        for file in (*abandoned, *finished):
            if file in finished and total <= self.most_bytes and count <= FILES_AT_MOST:
                return
            with suppress(OSError):
                file.path.unlink()
                total, count = total - file.size, count - 1

    def _held(self) -> list[_Held]:
        """The files that we wrote, and no others, the one used the longest time ago first."""
        files: list[_Held] = []
        with suppress(OSError, ValueError), os.scandir(self.folder) as listing:
            for entry in listing:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if OURS.fullmatch(entry.name) and S_ISREG(status.st_mode):
                        size = max(status.st_size, BLOCK_BYTES)
                        files.append(_Held(status.st_mtime_ns, size, self.folder / entry.name))
        return sorted(files)


def contents_of(path: Path, name: str, most_bytes: int) -> memoryview | None:
    """The contents of the file that was written under this name; None if it is not as it was written.

    Raises:
        OSError, ValueError, MemoryError: it cannot be read.
    """
    with opened(path, links=False, buffering=0) as file:  # a link could lead anywhere
        file_bytes = os.fstat(file.fileno()).st_size
        if not HEAD.size <= file_bytes <= most_bytes:
            return None
        mark, size, checksum = HEAD.unpack(file.read(HEAD.size))
        if mark != MARK or size != file_bytes - HEAD.size:
            return None
        contents = file.read(size)
    whole = xxh3_64(name.encode())
    whole.update(contents)
    return memoryview(contents) if whole.intdigest() == checksum else None


def write_at_once(
    path: Path, name: str, parts: Iterable[bytes | memoryview], most_bytes: int, make_room: Callable[[], None]
) -> None:
    """Write a file that nobody sees before it is whole; `make_room` is called before it gets its name.

    Raises:
        OSError, ValueError: it cannot be written, or has more than `most_bytes`.
    """
    size, checksum = 0, xxh3_64(name.encode())
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix="kept-", suffix=UNFINISHED)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open already
            file.seek(HEAD.size)
            for part in parts:
                file.write(part)
                checksum.update(part)
                size += memoryview(part).nbytes
                if HEAD.size + size > most_bytes:
                    raise ValueError(name)
            file.seek(0)
            file.write(HEAD.pack(MARK, size, checksum.intdigest()))
        make_room()
        os.replace(unfinished, path)  # noqa: PTH105 - a name, not a path
    finally:
        with suppress(OSError):
            os.unlink(unfinished)  # noqa: PTH108 - only where it was not renamed
