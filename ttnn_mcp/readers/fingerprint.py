"""A report's identity by its contents: a moved report stays the same run, an overwritten one is another run."""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from ttnn_mcp.errors import ReportMissing, shown_path
from ttnn_mcp.readers.checksum import checksum
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.readers.regular_file import opened

SMALL_BYTES = 1 << 22  # files up to 4 MiB are hashed as a whole
WHOLE_BYTES = 1 << 31  # files up to 2 GiB get a checksum of all bytes
SAMPLES = 32  # blocks of a larger file that are hashed, evenly spread, the first and the last included
BLOCK_BYTES = 1 << 16
CHECKSUM_BYTES = 8
KNOWN_AT_MOST = 4096  # fingerprints of the files seen last
# A younger file may change again unseen: within one tick of its file system's clock (FAT: 2 s), or through a mapped
# page that has not been written back since (Linux: after 30 s, dirty_expire_centisecs, looked at every 5 s).
SETTLED_NS = 40_000_000_000

_known: dict[tuple[int, ...], str] = {}


def fingerprint(path: Path, kept: KeptFiles | None = None) -> str:
    """32 hex digits from the file's size and contents.

    Small files are hashed as a whole. Of larger files some blocks are hashed, together with a checksum of all bytes,
    which takes a small part of the time of a hash. Above 2 GiB only the blocks count. No CSV of this size is read, and
    the first block of a database holds the counter that SQLite increases with every change.

    Args:
        path: the report.
        kept: where checksums of larger files are stored, so that a restart need not read all bytes again.

    Raises:
        ReportMissing: the file cannot be opened.
    """
    try:
        with opened(path, buffering=0) as file:
            status = os.fstat(file.fileno())
            stamp = stamp_of(status)
            if stamp in _known:
                return _known[stamp]
            digest = _digest(file, status, kept)
    except OSError as failed:
        raise ReportMissing(f"{shown_path(path)} cannot be opened ({failed.strerror}).") from None
    if _is_settled(status):
        while len(_known) >= KNOWN_AT_MOST:
            _known.pop(next(iter(_known)), None)
        _known[stamp] = digest
    return digest


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """What changes whenever a file's contents do: device, inode, size, and times of the last change."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_settled(status: os.stat_result) -> bool:
    return time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED_NS


def _digest(file: BinaryIO, status: os.stat_result, kept: KeptFiles | None) -> str:
    size = status.st_size
    digest = blake2b(str(size).encode(), digest_size=16)
    if size <= SMALL_BYTES:
        digest.update(file.read(size))
        return digest.hexdigest()
    for sample in range(SAMPLES):
        file.seek(max(size - BLOCK_BYTES, 0) * sample // (SAMPLES - 1))
        digest.update(file.read(BLOCK_BYTES))
    if size <= WHOLE_BYTES:
        digest.update(_known_checksum(file, status, digest.digest(), kept))
    return digest.hexdigest()


def _known_checksum(file: BinaryIO, status: os.stat_result, samples: bytes, kept: KeptFiles | None) -> bytes:
    """The checksum of the whole file: stored before for the same file, times and samples, else computed.

    It misses a change once in 2**64.
    No program can choose the time of the last change (ctime), so that a file changed since has another one.
    """
    if kept is None or not _is_settled(status):
        return checksum(file.fileno(), status.st_size).to_bytes(CHECKSUM_BYTES, "little")
    mark = (*stamp_of(status), samples)
    name = "0-" + blake2b(repr(mark).encode(), digest_size=16).hexdigest()
    stored = kept.read(name)
    if stored is not None and len(stored) == CHECKSUM_BYTES:
        return bytes(stored)
    whole = checksum(file.fileno(), status.st_size).to_bytes(CHECKSUM_BYTES, "little")
    unchanged = os.fstat(file.fileno())
    if (unchanged.st_size, unchanged.st_mtime_ns, unchanged.st_ctime_ns) == mark[2:5]:
        kept.write(name, [whole])
    return whole
