"""One kept file: its mark, its size and a checksum over name and contents, then the contents.

It is read into memory, not mapped: if another program cut a mapped file off, the server would die (SIGBUS).
"""

from __future__ import annotations

import os
import struct
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from xxhash import xxh3_64

from ttnn_mcp.readers.regular_file import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

UNFINISHED = ".part"
MARK = b"ttnn-mcp kept 2\n"
HEAD = struct.Struct("<16sQQ32x")  # mark, bytes that follow, their checksum; 64 bytes keep what follows aligned


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
