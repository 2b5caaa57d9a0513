"""A report's identity by its contents: a moved report stays the same run, an overwritten one is another run."""

from __future__ import annotations

import os
import time
import zlib
from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO

from ttnn_mcp.errors import ReportMissing, shown

if TYPE_CHECKING:
    from pathlib import Path

SMALL_BYTES = 1 << 22  # files up to 4 MiB are hashed as a whole
WHOLE_BYTES = 1 << 31  # files up to 2 GiB get a CRC-32 of all bytes: measured at 0.13 s for 293 MB
SAMPLES = 32  # blocks of a larger file that are hashed, evenly spread, the first and the last included
BLOCK_BYTES = 1 << 16
CHECKED_BYTES = 1 << 20
KNOWN_AT_MOST = 4096  # fingerprints of the files seen last
SETTLED_NS = 2_000_000_000  # a younger file may change again within one tick of its file system's clock (FAT: 2 s)

_known: dict[tuple[int, ...], str] = {}


def fingerprint(path: Path) -> str:
    """32 hex digits from the file's size and contents.

    Small files are hashed as a whole. Of larger files some blocks are hashed, together with a checksum of all bytes,
    which takes a fifth of the time of a hash. Above 2 GiB only the blocks count. No CSV of this size is read, and the
    first block of a database holds the counter that SQLite increases with every change.

    Raises:
        ReportMissing: the file cannot be opened.
    """
    try:
        with path.open("rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            if stamp in _known:
                return _known[stamp]
            digest = _digest(file, status.st_size)
    except OSError as failed:
        raise ReportMissing(f"{shown(path)} cannot be opened ({failed.strerror}).") from None
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > SETTLED_NS:
        while len(_known) >= KNOWN_AT_MOST:
            _known.pop(next(iter(_known)), None)
        _known[stamp] = digest
    return digest


def _digest(file: BinaryIO, size: int) -> str:
    digest = blake2b(str(size).encode(), digest_size=16)
    if size <= SMALL_BYTES:
        digest.update(file.read(size))
        return digest.hexdigest()
    for sample in range(SAMPLES):
        file.seek((size - BLOCK_BYTES) * sample // (SAMPLES - 1))
        digest.update(file.read(BLOCK_BYTES))
    if size <= WHOLE_BYTES:
        digest.update(_checksum(file).to_bytes(4, "little"))
    return digest.hexdigest()


def _checksum(file: BinaryIO) -> int:
    """CRC-32 of the whole file: it misses no change within 32 bits in a row, and others once in 2**32."""
    file.seek(0)
    block, checksum = bytearray(CHECKED_BYTES), 0
    view = memoryview(block)
    while count := file.readinto(block):  # type: ignore[attr-defined]
        checksum = zlib.crc32(view[:count], checksum)
    return checksum
