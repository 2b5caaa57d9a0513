"""The one place that opens a file which somebody else made: a regular file, or none.

Reading a pipe waits for its writer, reading a device never ends, and opening some devices already does something.
"""

from __future__ import annotations

import os
import stat
from errno import EINVAL
from pathlib import Path
from typing import BinaryIO

from ttnn_mcp.errors import ReportMissing, shown_path

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
}
# Between the look and the opening, a pipe may take the place of the file: it is not waited for.
_ELSEWHERE = getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)  # unmoved: of terminals, and of Windows
_FLAGS = getattr(os, "O_NONBLOCK", 0) | _ELSEWHERE  # unmoved: a test waits where it is left out, and 0 is Windows


def opened(path: Path, *, links: bool = True, buffering: int = -1) -> BinaryIO:
    """The file, to be read as bytes; one that is reached by a link only where `links` are followed.

    Raises:
        OSError: it cannot be opened, or is no regular file; its `strerror` says which.
        ValueError: no file can have this name.
    """
    _check(path, path.stat() if links else path.lstat())
    descriptor = os.open(path, _FLAGS | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    try:
        _check(path, os.fstat(descriptor))
        return open(descriptor, "rb", buffering)  # noqa: PTH123 - it is open already
    except BaseException:
        os.close(descriptor)
        raise


def begin_of(path: Path, count: int, *, links: bool = True) -> bytes:
    """The first bytes of a file, at most `count`.

    Raises:
        OSError, ValueError: as `opened`.
    """
    with opened(path, links=links) as file:
        return file.read(count)


def begin_of_named(path: Path, count: int) -> bytes:
    """The same of a file that somebody names in a question.

    Raises:
        ReportMissing: it cannot be read.
    """
    try:
        return begin_of(path, count)
    except (OSError, ValueError) as failed:
        reason = (isinstance(failed, OSError) and failed.strerror) or "no file can have this name"
        raise ReportMissing(f"{shown_path(path)} cannot be read ({reason}). Check the path.") from None


def text_of(path: Path, count: int) -> str:
    """The first bytes as text without a byte order mark, with what is not UTF-8 replaced.

    Raises:
        OSError, ValueError: as `opened`.
    """
    return begin_of(path, count).decode("utf-8-sig", "replace")


def _check(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise OSError(EINVAL, f"it is {kind}, not a regular file", str(path))
