"""The reports of one run by path, and the run's id: it comes from their contents, so it survives moves and restarts."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ttnn_mcp.errors import ReportMissing, shown_path
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.records import dataclass

ID_CHARS = 32  # 128 bits: nobody makes a report with the id of another
SHOWN_CHARS = 8  # of them in answers, where no other run begins alike


@dataclass(frozen=True, slots=True)
class Pair:
    """The reports of one run, by path."""

    performance: Path | None
    memory: Path | None
    rank: int | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths that are set."""
        return tuple(path for path in (self.performance, self.memory) if path is not None)


class Stamp(NamedTuple):
    """Properties of a file that change whenever its contents do; times in nanoseconds since 1970."""

    modified: int
    changed: int
    size: int
    inode: int


Stamps: TypeAlias = "tuple[Stamp, ...]"


def identity(pair: Pair, kept: KeptFiles | None = None) -> str:
    """The id of the run, from the contents of its reports. Reads files that it has not seen before, so it blocks.

    Args:
        pair: the reports.
        kept: where checksums of large files are stored.

    Raises:
        ReportMissing: one of them cannot be opened.
    """
    contents = _contents(pair.performance, kept) + _contents(pair.memory, kept)
    contents += str(pair.rank).encode() if pair.rank else b""
    sizes = SHOWN_CHARS // 2, (ID_CHARS - SHOWN_CHARS) // 2  # what is shown, and the rest
    return "".join(blake2b(contents, digest_size=size).hexdigest() for size in sizes)


def _contents(path: Path | None, kept: KeptFiles | None) -> bytes:
    return b"-" if path is None else fingerprint(path, kept).encode()


def stamps_of(pair: Pair) -> Stamps:
    """The stamps of a pair's files.

    Raises:
        ReportMissing: one of them is not there, or may not be looked at.
    """
    return tuple(map(stamp_of, pair.paths))


def stamp_of(path: Path) -> Stamp:
    """The stamp of one file.

    Raises:
        ReportMissing: it is not there, or may not be looked at.
    """
    try:
        state = path.stat()
    except (OSError, ValueError):
        raise ReportMissing(f"{shown_path(path)} is not there any more, or its folder cannot be read.") from None
    return Stamp(state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
